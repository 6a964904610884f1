"""The options that select the database; and a password, from any source, which is stored nowhere."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from checks.model.exit_codes import ExitCode
from checks.model.settings import DatabaseSettings, SamplingSettings, Settings
from checks.run.check_discovery import discover
from checks.run.dry_run import plan_checks
from racwire_lab.oracle_net.verifier import Verifier
from tests.fixtures.oracle import USER, Witness, serving
from tests.support.sampling import sampled
from tui.cli.errors import UsageError
from tui.cli.interrupts import STOPPING
from tui.cli.main import build_parser, effective_settings, main
from tui.cli.password import password_for


def effective(*words, file=None):
    where = ["--settings", str(file)] if file else []
    line = [*where, "check", *words]
    return effective_settings(build_parser(line).parse_args(line))


# --- options ----------------------------------------------------------------------------------------------------------


def test_each_option_overrides_its_setting(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    settings = effective(
        *("--connect", "rac-scan:1521/prod", "--user", "racwire", "--password-file", "/p", "--sysdba", "--thick"),
        *("--oracle-home", "/o", "--wallet", "/w", "--tns-admin", "/t", "--interval", "2.5", "--awr", "--days", "30"),
    )
    assert settings.database == DatabaseSettings(
        connect="rac-scan:1521/prod",
        user="racwire",
        password_file="/p",
        sysdba=True,
        thick=True,
        oracle_home="/o",
        wallet="/w",
        tns_admin="/t",
        diagnostics_pack=True,
        history_days=30,
    )
    assert settings.sampling == SamplingSettings(interval_s=2.5, interval_without_database_s=2.5)


def test_an_option_before_the_command_counts_too(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    words = ["--connect", "h/p", "check"]
    assert effective_settings(build_parser(words).parse_args(words)).database.connect == "h/p"


def test_a_connection_option_replaces_the_one_in_the_file(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text('[database]\nconnect = "h/p"\nuser = "racwire"\n')
    local = effective("--os-auth", "--sysdba", file=file).database
    assert (local.connect, local.user, local.os_authentication) == ("", "", True)
    file.write_text("[database]\nos_authentication = true\n")
    assert effective("--connect", "h/q", file=file).database == DatabaseSettings(connect="h/q")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--interval", "0"], "--interval must be a number >= 1.0."),
        (["--interval", "soon"], "--interval must be a number, got text."),
        (["--days", "-1"], "--days must be a number > 0.0."),
        (["--user", "racwire"], "--user: no database is named; add --connect HOST:1521/SERVICE or --os-auth."),
        (["--sysdba"], "--sysdba: no database is named; add --connect HOST:1521/SERVICE or --os-auth."),
        (
            ["--connect", "h/p", "--os-auth"],
            "--os-auth logs in to the instance of this node, --connect to another one",
        ),
        (["--connect", "h/p", "--user", "sys"], "--user: SYS can only log in as SYSDBA"),
        (["--connect", "h/p", "--user", "scott/tiger"], "--user: it seems to contain a password"),
        (["--connect", "h/p", "--user", '"scott"/tiger'], "--user: it seems to contain a password"),
        (
            ["--connect", "config-azure://h?azure_client_secret=tiger"],
            "--connect: it seems to contain a user or a passw",
        ),
        (["--connect", "scott/tiger@h/p"], "--connect: it seems to contain a user or a password"),
        (["--connect", "h/p", "--wallet", "\x1b[2J"], "--wallet: "),
    ],
)
def test_an_invalid_option_is_reported_by_name_and_nothing_runs(words, sentence, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert main(["check", *words]) == ExitCode.USAGE
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"racwire: {sentence}")
    assert "tiger" not in captured.err
    assert "\x1b" not in captured.err


# --- the plan ---------------------------------------------------------------------------------------------------------


def planned(**database):
    return "\n".join(plan_checks(discover().checks, Settings(database=DatabaseSettings(**database))))


def test_the_dry_run_has_the_login_and_every_statement_with_purpose_grants_and_licence():
    from checks.sources.database.statements import statements
    from checks.sources.registry import queries

    text = planned(connect="rac-scan:1521/prod", user="racwire", diagnostics_pack=True)
    of_a_change = {query.name for query in queries() if query.groups == ("changing",)}
    assert of_a_change == {"sql pluggables", "sql recovery_area", "sql restore_points"}
    assert "connect racwire to rac-scan:1521/prod" in text
    assert "SET TRANSACTION READ ONLY" in text
    for statement in statements().values():
        if statement.topic in of_a_change:
            continue
        assert f"{statement.topic}: {statement.purpose}" in text
        assert ", ".join(statement.grants) in text
        for line in statement.text.splitlines():
            assert line in text


@pytest.mark.parametrize(
    ("settings", "mode"),
    [
        ({"connect": "h/p", "user": "racwire"}, "thin"),
        ({"connect": "h/p", "user": "racwire", "thick": True}, "thick"),
        ({"os_authentication": True}, "thick"),
        ({"connect": "h/p", "wallet": "/etc/wallet"}, "thick"),
    ],
)
def test_the_dry_run_names_the_mode_of_the_login(settings, mode):
    assert f"(python-oracledb, {mode}; " in planned(**settings)


def test_the_dry_run_omits_awr_unless_it_is_enabled():
    text = planned(connect="h/p", user="racwire")
    assert "sql awr_" not in text
    assert "Diagnostics Pack, and --awr to state that you have it" in text


def test_the_dry_run_without_a_database_says_that_none_is_queried():
    text = planned()
    assert "No database is configured, so none is queried" in text
    assert "SELECT" not in text


# --- the password -----------------------------------------------------------------------------------------------------


@pytest.fixture
def password():
    return f"Pw{os.urandom(10).hex()}"


@pytest.fixture
def server(password):
    with serving(Witness(), users={USER: Verifier.of(password, vgen_count=16)}) as running:
        yield running


CHECK = ("check", "gc-blocks-lost", "--interval", "1")


def run(server, tmp_path, *words, env=None, **how):
    """Run `racwire check` with a home directory of its own; the database accepts the login and has no grants."""
    home = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONFAULTHANDLER": "1", **(env or {})}
    command = [sys.executable, "-P", "-m", "racwire", *words, "--connect", server.dsn, "--user", USER]
    return subprocess.Popen(command, env=home, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)


def assert_it_came_in(out):
    assert "may not read V$INSTANCE (ORA-00942)" in out


def assert_nowhere(password, tmp_path, *texts):
    written = [file.read_text(errors="replace") for file in Path(tmp_path).rglob("*") if file.is_file()]
    assert not [text for text in (*texts, *written) if password in text]


@pytest.mark.parametrize("form", sampled(["text", "json"]))
def test_the_environment_has_the_password_and_no_output_shows_it(form, server, password, tmp_path):
    output = tmp_path / "report"
    words = (*CHECK, "--format", form, "-o", str(output))
    ran = run(server, tmp_path, *words, env={"RACWIRE_DB_PASSWORD": password}, stdin=subprocess.DEVNULL)
    out, err = ran.communicate(timeout=60)
    assert_it_came_in(" ".join(output.read_text().split()))
    assert_nowhere(password, tmp_path, out, err)


def test_a_file_has_the_password_and_no_output_shows_it(server, password, tmp_path):
    file = tmp_path / "elsewhere"
    file.touch(0o600)
    file.write_text(f"{password}\n")
    ran = run(server, tmp_path, *CHECK, "--password-file", str(file), stdin=subprocess.DEVNULL)
    out, err = ran.communicate(timeout=60)
    assert_it_came_in(" ".join(out.split()))
    file.unlink()
    assert_nowhere(password, tmp_path, out, err)


@contextlib.contextmanager
def prompt_on_a_terminal(server, tmp_path):
    """Start `racwire check` on a terminal of its own up to the prompt.

    Yield the process, the terminal, and its output.
    """
    ours, theirs = pty.openpty()
    become = f"import os, fcntl, termios; os.setsid(); fcntl.ioctl({theirs}, termios.TIOCSCTTY, 0)"
    racwire = f"[{sys.executable!r}, '-P', '-m', 'racwire', *__import__('sys').argv[1:]]"
    start = f"{become}; os.execv({sys.executable!r}, {racwire})"
    command = [sys.executable, "-c", start, *CHECK, "--connect", server.dsn, "--user", USER]
    home = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    ran = subprocess.Popen(
        command, env=home, pass_fds=[theirs], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        shown = b""
        while not shown.endswith(b": "):
            shown += os.read(ours, 1000)
        yield ran, ours, shown.decode()
    finally:
        ran.kill()
        ran.wait()
        os.close(ours)
        os.close(theirs)


def echoes(terminal):
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


def test_the_terminal_prompts_without_echo_and_no_output_shows_the_password(server, password, tmp_path):
    with prompt_on_a_terminal(server, tmp_path) as (ran, terminal, shown):
        assert shown == f"Password of {USER} at {server.dsn}: "
        assert not echoes(terminal)
        os.write(terminal, f"{password}\n".encode())
        out, err = ran.communicate(timeout=60)
        os.set_blocking(terminal, False)
        shown = os.read(terminal, 1000).decode()
        assert echoes(terminal)
    assert_it_came_in(" ".join(out.split()))
    assert_nowhere(password, tmp_path, out, err, shown)


def test_repeated_signals_do_not_truncate_the_report(server, password, tmp_path):
    server.backend.hang_on.add("V$INSTANCE")
    ran = run(server, tmp_path, *CHECK, env={"RACWIRE_DB_PASSWORD": password}, stdin=subprocess.DEVNULL)
    assert server.backend.hanging.wait(30)
    for _ in range(200):
        ran.terminate()
    out, err = ran.communicate(timeout=10)
    assert (ran.returncode, err) == (ExitCode.INTERRUPTED, f"racwire: {STOPPING}\n")
    assert "The run was interrupted before gc-blocks-lost finished." in out


@pytest.mark.parametrize("number", sampled([signal.SIGTERM, signal.SIGHUP, signal.SIGINT]))
def test_a_process_terminated_during_the_prompt_restores_the_terminal(number, server, tmp_path):
    with prompt_on_a_terminal(server, tmp_path) as (ran, terminal, _):
        ran.send_signal(number)
        out, err = ran.communicate(timeout=60)
        assert (ran.returncode, out, err) == (ExitCode.INTERRUPTED, "", "")
        assert echoes(terminal)


def test_an_undecodable_password_is_reported_without_showing_it(server, tmp_path):
    with prompt_on_a_terminal(server, tmp_path) as (ran, terminal, _):
        os.write(terminal, b"tig\xe9r\n")
        out, err = ran.communicate(timeout=60)
    assert (ran.returncode, out) == (ExitCode.USAGE, "")
    assert err == "racwire: The password that was typed is not text in the terminal's encoding; set the locale.\n"


def test_a_password_as_an_argument_is_refused_and_not_repeated(password, capsys):
    for words in (("--password", password), (f"--password={password}",), ("--password",)):
        assert main(["check", "--connect", "h/p", "--user", USER, *words]) == ExitCode.USAGE
        stderr = capsys.readouterr().err
        assert stderr.startswith(
            "racwire: There is no option --password: every user of this machine can see an argument (ps)."
        )
        assert password not in stderr


def test_while_racwire_runs_the_kernel_shows_no_password_and_a_hung_query_does_not_block(server, password, tmp_path):
    witness = server.backend
    witness.hang_on.add("V$INSTANCE")
    ran = run(server, tmp_path, *CHECK, env={"RACWIRE_DB_PASSWORD": password}, stdin=subprocess.DEVNULL)
    try:
        assert witness.hanging.wait(30)
        shown = Path(f"/proc/{ran.pid}/environ").read_text()
        assert "RACWIRE_DB_PASSWORD=***" in shown
        assert password not in shown + Path(f"/proc/{ran.pid}/cmdline").read_text()
    finally:
        ran.terminate()
        out, err = ran.communicate(timeout=10)
    assert ran.returncode == ExitCode.INTERRUPTED
    assert "The run was interrupted before gc-blocks-lost finished." in out
    assert witness.broken_off.wait(5)
    assert_nowhere(password, tmp_path, out, err)


def test_a_wrong_password_is_reported_without_showing_it(server, password, tmp_path):
    ran = run(server, tmp_path, *CHECK, env={"RACWIRE_DB_PASSWORD": f"{password}x"}, stdin=subprocess.DEVNULL)
    out, err = ran.communicate(timeout=60)
    assert "the user or the password is wrong (ORA-01017)" in " ".join(out.split())
    assert ran.returncode == ExitCode.COULD_NOT_TELL
    assert_nowhere(password, tmp_path, out, err)


def test_without_a_terminal_there_is_no_prompt_and_the_report_says_so(server, tmp_path):
    ran = run(server, tmp_path, *CHECK, stdin=subprocess.DEVNULL, start_new_session=True)
    out, err = ran.communicate(timeout=60)
    assert "needs a password: enter it at the prompt, or use $RACWIRE_DB_PASSWORD" in " ".join(out.split())
    assert err == ""


def test_a_password_file_readable_by_others_stops_the_run_with_a_remedy(server, password, tmp_path):
    file = tmp_path / "password"
    file.write_text(f"{password}\n")
    file.chmod(0o644)
    ran = run(server, tmp_path, *CHECK, "--password-file", str(file), stdin=subprocess.DEVNULL)
    out, err = ran.communicate(timeout=60)
    assert (ran.returncode, out) == (ExitCode.USAGE, "")
    assert (
        err
        == f"racwire: The password file {file} has mode 0644, so other users may access it: run `chmod 0600` on it.\n"
    )


def test_no_prompt_appears_if_no_check_or_login_needs_a_password(monkeypatch):
    monkeypatch.setattr("tui.cli.password._prompted", lambda prompt: pytest.fail("asked"))
    checks = discover().checks
    network_only = [check for check in checks if check.id == "df-ping"]
    with_user = DatabaseSettings(connect="h/p", user="racwire")
    assert password_for(with_user, network_only) is None
    assert password_for(DatabaseSettings(user="racwire"), checks) is None
    assert password_for(DatabaseSettings(connect="h/p", wallet="/w"), checks) is None
    assert password_for(DatabaseSettings(os_authentication=True), checks) is None


def test_the_environment_is_cleared_even_where_the_password_is_not_needed(monkeypatch):
    monkeypatch.setenv("RACWIRE_DB_PASSWORD", "tiger")
    assert password_for(DatabaseSettings(), discover().checks) is None
    assert "RACWIRE_DB_PASSWORD" not in os.environ
    with pytest.raises(UsageError, match="could not read the password file"):
        password_for(DatabaseSettings(connect="h/p", user="u", password_file="/nowhere"), discover().checks)
