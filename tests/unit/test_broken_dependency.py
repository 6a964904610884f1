"""One sentence names a dependency that cannot be loaded, or the practice cluster when it is not installed."""

import os
import pty
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from checks.model.broken_dependency import DEPENDENCIES
from checks.model.exit_codes import ExitCode
from tests.support.sampling import sampled

ROOT = Path(__file__).parents[2]
HEALTHY = ROOT / "tests" / "golden" / "v0_2_0" / "healthy.racwire"
CHECK = ("check", "interfaces")
READ = ("check", "interfaces", "--network", "10.0.0.0/8")
ASK = ("check", "gc-blocks-lost", "--interval", "1", "--connect", "localhost:1/none", "--user", "racwire")
HTML = ("report", "--format", "html", "--record", "0s", "interfaces")
ENDED_BY = {
    "rich": CHECK, "psutil": CHECK, "icmplib": CHECK, "msgspec": CHECK, "platformdirs": CHECK, "jinja2": HTML,
    "textual": (),
}  # fmt: skip
"""Commands that need a dependency, by dependency."""
UNKNOWN_BY = {"pyroute2": READ, "oracledb": ASK}
"""Commands that report less without a dependency, by dependency."""


def racwire(directory, *words, **how):
    return subprocess.run(
        [sys.executable, "-P", "-m", "racwire", *words], text=True, timeout=60, check=False, cwd=directory,
        env={
            "PATH": "/usr/bin:/bin", "HOME": str(directory), "TERM": "xterm", "RACWIRE_DB_PASSWORD": "x",
            "PYTHONPATH": f"{directory / 'broken'}:{ROOT}",
        }, **how,
    )  # fmt: skip


def run(directory, *words):
    return racwire(directory, *words, capture_output=True, stdin=subprocess.DEVNULL)


def break_(directory, name, how):
    package = directory / "broken" / name
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(how)


def on_a_terminal(directory):
    """The console on a terminal of its own: its output, and its exit code."""
    ours, theirs = pty.openpty()
    try:
        ran = racwire(directory, stdin=theirs, stdout=theirs, stderr=theirs)
        return os.read(ours, 10_000).decode(), ran.returncode
    finally:
        os.close(ours)
        os.close(theirs)


def test_every_required_package_has_a_test():
    required = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {requirement.partition("=")[0].rstrip("><~ ") for requirement in required}
    assert names == set(DEPENDENCIES) == {*ENDED_BY, *UNKNOWN_BY}


WAYS = {
    "ImportError": ("raise ImportError('half of it is missing')", "half of it is missing"),
    "OSError": ("raise OSError('libnone.so.1: cannot open shared object file')", "libnone.so.1: cannot open shared"),
}


@pytest.mark.parametrize(
    ("name", "way"),
    sampled(
        [*((name, "ImportError") for name in ENDED_BY), ("psutil", "OSError")],
        [("rich", "ImportError"), ("psutil", "OSError")],
    ),
)
def test_a_broken_package_that_every_command_needs_ends_the_command(name, way, tmp_path):
    how, why = WAYS[way]
    break_(tmp_path, name, how)
    if name == "textual":
        output, code = on_a_terminal(tmp_path)
    else:
        ran = run(tmp_path, *ENDED_BY[name])
        assert ran.stdout == ""
        output, code = ran.stderr, ran.returncode
    assert (code, output.count("\n")) == (ExitCode.COULD_NOT_TELL, 1)
    assert output.startswith(f"racwire: {name} could not be loaded: {why}")


@pytest.mark.parametrize(("name", "way"), [("pyroute2", "ImportError"), ("oracledb", "OSError")])
def test_a_broken_package_of_a_source_makes_its_facts_unknown_and_is_named(name, way, tmp_path):
    how, why = WAYS[way]
    break_(tmp_path, name, how)
    ran = run(tmp_path, *UNKNOWN_BY[name])
    assert "UNKNOWN" in ran.stdout
    assert f"{name} could not be loaded: {why}" in " ".join(ran.stdout.split())
    assert "Traceback" not in ran.stderr


NO_LAB = (
    "racwire: The practice cluster is not installed, which is right on a production node. On another machine, "
    "install it with `pip install ./lab` in a checkout of racwire.\n"
)


WORDS_OF_THE_LAB = [["lab", "up"], ["lab"], ["lab", "break", "loss", "--node", "rac1"], ["check", "--lab"]]


@pytest.mark.parametrize("words", WORDS_OF_THE_LAB)
def test_without_the_practice_cluster_one_line_says_how_to_install_it(words, tmp_path):
    break_(tmp_path, "racwire_lab", "raise ModuleNotFoundError(\"No module named 'racwire_lab'\", name='racwire_lab')")
    ran = run(tmp_path, *words)
    assert (ran.returncode, ran.stdout, ran.stderr) == (ExitCode.USAGE, "", NO_LAB)


def test_without_the_practice_cluster_all_other_commands_work(tmp_path):
    break_(tmp_path, "racwire_lab", "raise ModuleNotFoundError(\"No module named 'racwire_lab'\", name='racwire_lab')")
    assert run(tmp_path, "explain", "df-ping").returncode == 0
    assert run(tmp_path, "--help").returncode == 0
    assert run(tmp_path, "explain", "lab").returncode == 0


@pytest.mark.parametrize("words", [["settings"], ["check", "interfaces"]])
def test_packages_of_the_current_directory_are_not_imported(words, tmp_path):
    for name in ("checks", "tui", "rich"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the package of the current directory')")
    ran = run(tmp_path, *words)
    assert "the package of the current directory" not in ran.stderr
    assert ran.stdout


@pytest.mark.parametrize("words", [["--version"], ["settings"], ["check", "--from", str(HEALTHY)]])
def test_packages_of_other_distributions_with_the_same_names_are_not_imported(words, tmp_path):
    for name in ("checks", "tui"):
        break_(tmp_path, name, "raise SystemExit('the package of others')")
    ran = run(tmp_path, *words)
    assert "the package of others" not in ran.stderr
    assert (ran.returncode, bool(ran.stdout)) == (0, True)


@pytest.mark.parametrize("text", ["", "def nothing(): pass", "raise OSError('no file')", "import no_such_module"])
def test_a_distribution_that_was_installed_over_racwire_is_one_sentence(text, tmp_path):
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "__init__.py").write_text(text)
    entry = tmp_path / "racwire.py"
    entry.write_text((ROOT / "racwire.py").read_text())
    words = [sys.executable, str(entry), "--version"]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (3, "", 1)
    assert f"{tmp_path}/checks is not racwire's" in ran.stderr
