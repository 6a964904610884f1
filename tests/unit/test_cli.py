"""The command line: its output and its exit codes."""

import importlib.metadata
import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from checks.measure.load_limits import LoadLimits
from checks.model.exit_codes import ExitCode
from checks.model.settings import Settings
from checks.run.check_discovery import discover
from checks.run.settings_file import limits_of
from tui.cli.main import COMMANDS, build_parser, effective_settings, main
from tui.cli.measure.measure_options import usual_measurement
from tui.cli.options import OPTIONS

ROOT = Path(__file__).parents[2]

ALL_CHECKS = tuple(sorted(check.id for check in discover().checks))


def racwire(*words, **env):
    return subprocess.run(
        [sys.executable, "-P", "-m", "racwire", *words],
        capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **env},
    )  # fmt: skip


def test_help_has_examples_and_exit_codes():
    ran = racwire("--help")
    assert ran.returncode == 0
    for word in ("racwire check df-ping", "racwire lab up", "exit codes: 0 all pass", "changes nothing"):
        assert word in ran.stdout


@pytest.mark.parametrize(
    ("command", "has", "lacks"),
    [
        ("", "--lab --settings --grid-home --connect --interval --awr --no-mouse --graphs", ""),
        ("check", "--lab --settings --grid-home --connect --interval --awr --days", "--no-mouse --graphs"),
        (
            "doctor",
            "--lab --settings --grid-home --connect --awr --format --output",
            "--interval --days --no-mouse --from",
        ),
        ("report", "--lab --settings --connect --interval --awr --from --redact --record --format", "--no-mouse"),
        ("save", "--lab --settings --connect --interval --awr --from --redact --record --recording", "--no-mouse"),
        ("diff", "--format", "--lab --settings --connect --from --redact"),
        ("plan", "--lab --settings --grid-home --connect --interval --awr --days", "--no-mouse --graphs --from"),
        ("record", "--lab --settings --grid-home --connect --every --probe", "--interval --awr --days --ascii"),
        ("watch", "--lab --settings --grid-home --connect --every --probe", "--interval --awr --days --ascii"),
        ("open", "--settings --no-mouse --ascii --graphs", "--lab --peer --connect --interval"),
        ("compare", "--same --svg", "--lab --settings --connect --ascii"),
        ("explain", "ID|CODE|KIND --settings", "--lab"),
    ],
)
def test_a_command_lists_the_options_that_affect_it(command, has, lacks, capsys):
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    listed = capsys.readouterr().out.partition("examples:")[0].split()
    assert [option for option in has.split() if option not in listed] == []
    assert [option for option in lacks.split() if option in listed] == []


@pytest.mark.parametrize(
    "words", [["compare", "a", "b", "--lab"], ["record", "--awr", "a.rec"], ["open", "a", "--password=tiger"]]
)
def test_an_option_of_another_command_is_rejected_with_its_name(words, capsys):
    assert main(words) == ExitCode.USAGE
    option = next(word for word in words if word.startswith("--")).partition("=")[0]
    sentence = f"racwire: {words[0]} takes no {option}; see `racwire {words[0]} --help`.\n"
    assert capsys.readouterr().err == sentence


def test_unused_options_before_the_command_are_ignored(capsys):
    """As in an alias: racwire='racwire --connect rac-scan:1521/prod --ascii'."""
    words = ["--connect", "h/p", "--ascii", "--awr", "explain", "df-ping"]
    assert main(words) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("words", [["chekc"], ["check", "--format", "xml"], ["--nonsense"], ["lab", "explode"]])
def test_a_wrong_command_line_is_one_sentence_and_exit_code_64(words):
    ran = racwire(*words)
    assert ran.returncode == ExitCode.USAGE
    assert ran.stdout == ""
    assert ran.stderr.startswith("racwire: ")
    assert "Traceback" not in ran.stderr


def test_an_unknown_check_lists_the_known_checks():
    ran = racwire("check", "zzz")
    assert ran.returncode == ExitCode.USAGE
    known = (*ALL_CHECKS, *(check.id for check in discover().on_request))
    assert ran.stderr == f"racwire: There is no check 'zzz'; the checks are {', '.join(known)}.\n"


def test_skipping_every_check_is_reported():
    words = [w for i in ALL_CHECKS for w in ("--skip", i)]
    assert racwire("check", *words).returncode == ExitCode.USAGE


def test_invalid_settings_are_one_sentence_with_the_line(tmp_path):
    (tmp_path / "s.toml").write_text("[probe]\nintervall = 3\n")
    ran = racwire("check", "--settings", str(tmp_path / "s.toml"))
    assert ran.returncode == ExitCode.USAGE
    assert "s.toml line 2: 'intervall' is not known" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_explain_knows_checks_codes_and_the_whole_list(capsys):
    assert main(["explain", "df-ping"]) == 0
    assert "IC-PATH-003" in capsys.readouterr().out
    assert main(["explain", "ic-path-003"]) == 0
    assert "black hole" in capsys.readouterr().out
    assert main(["explain"]) == 0
    assert "RW-ENGINE-001" in capsys.readouterr().out
    assert main(["explain", "IC-NONE-999"]) == ExitCode.USAGE


def test_the_schema_and_the_settings_template_are_printed(capsys):
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["$id"] == "racwire-report/2"
    assert main(["settings"]) == 0
    assert "max_packets_per_path" in capsys.readouterr().out


@pytest.fixture(scope="module")
def printed_settings():
    with redirect_stdout(io.StringIO()) as printed:
        assert main(["settings"]) == 0
    return printed.getvalue()


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_help_of_an_option_matches_its_setting(option, printed_settings):
    """The help is written before any module is loaded; type, limits, default and choices are those of the setting."""
    section, _, name = option.place.partition(".")
    table = type(getattr(Settings(), section))
    default = getattr(table(), name)
    if option.default is not None:
        assert float(option.default) == default
    if documented := re.search(r": (\d+) to (\d+)", option.help):
        assert limits_of(table, name) == f"from {documented[1]} to {documented[2]}"
    if option.choices:
        assert option.choices == get_args(get_type_hints(table)[name])
    if option.metavar is None and not option.choices:
        assert default is not option.means
    assert option.is_repeatable == (default == () and isinstance(default, tuple))
    assert re.search(rf"# Option: (\S+ or )?{option.name}( or \S+)?\.\n{name} = ", printed_settings)


def test_the_command_line_overrides_the_settings_file(tmp_path):
    (tmp_path / "s.toml").write_text('[cluster]\npeers = ["a"]\ngrid_home = "/x"\n')
    words = ["--settings", str(tmp_path / "s.toml"), "check", "--peer", "b", "--peer", "c"]
    settings = effective_settings(build_parser(words).parse_args(words))
    assert settings.cluster.peers == ("b", "c")
    assert settings.cluster.grid_home == "/x"


def test_without_clusterware_and_peers_the_message_names_the_options_to_add():
    ran = racwire("check", "interfaces", "mtu-consistency")
    assert ran.returncode == ExitCode.COULD_NOT_TELL
    assert "racwire check --network 192.168.10.0/24 --peer HOST" in " ".join(ran.stdout.split())
    assert "Traceback" not in ran.stderr


def test_lab_without_a_lab_says_how_to_get_one(tmp_path):
    ran = racwire("check", "--lab", RACWIRE_LAB_DIR=str(tmp_path / "none"))
    assert ran.returncode == ExitCode.USAGE
    assert "racwire lab up" in ran.stderr


def test_a_reader_that_stops_early_is_not_an_error():
    ran = subprocess.run(
        f"{sys.executable} -P -m racwire explain | head -1",
        shell=True,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.stderr == ""


def by_shell(line, **env):
    return subprocess.run(
        ["bash", "-c", line.replace("racwire", f"{sys.executable} -P -m racwire")],
        capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **env},
    )  # fmt: skip


@pytest.mark.parametrize(
    "command",
    [
        "check interfaces",
        *(
            pytest.param(c, marks=pytest.mark.beyond_sample)
            for c in ("check interfaces --format json", "settings", "--version")
        ),
    ],
)
def test_closed_streams_change_neither_the_exit_code_nor_the_other_stream(command):
    whole = by_shell(f"racwire {command}")
    without_stdout = by_shell(f"racwire {command} >&-")
    without_stderr = by_shell(f"racwire {command} 2>&-")
    assert (without_stdout.returncode, without_stderr.returncode) == (whole.returncode,) * 2
    assert (without_stdout.stdout, without_stdout.stderr) == ("", "")
    assert without_stderr.stdout.splitlines()[-1] == whole.stdout.splitlines()[-1]  # read the whole output


def test_a_report_that_does_not_fit_on_stdout_goes_to_stderr():
    ran = by_shell("racwire check interfaces >/dev/full")
    assert ran.returncode == ExitCode.COULD_NOT_TELL
    assert "No space left on device. The report was printed instead." in ran.stderr
    assert "interfaces could not tell" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_reader_of_a_report_that_stops_early_does_not_make_exit_code_0():
    ran = by_shell("racwire check interfaces --format json | true; echo ${PIPESTATUS[0]}")
    assert (ran.stdout, ran.stderr) == (f"{ExitCode.COULD_NOT_TELL:d}\n", "")


def test_json_is_utf8_in_any_locale_and_with_any_home_directory():
    strange = {"PYTHONIOENCODING": "ascii", "GRID_HOME": os.fsdecode(b"/tmp/\xff\xc3\xa4")}
    ran = by_shell("racwire check clusterware --format json", **strange)
    assert ran.stderr == ""
    assert "/tmp/\\udcff\u00e4" in json.loads(ran.stdout)["cluster"]["clusterware"]["reason"]


@pytest.mark.parametrize(
    "words", [["--peer="], ["--peer=-oX"], ["--network=foo"], ["--network="], ["--grid-home=\x1b[2J"]]
)
def test_an_empty_option_is_rejected_before_anything_runs(words):
    ran = racwire("check", *words)
    assert ran.returncode == ExitCode.USAGE
    assert ran.stderr.startswith(f"racwire: {words[0].partition('=')[0]}: ")
    assert "\x1b" not in ran.stderr


@pytest.mark.parametrize("output", ["", ".", "no/such/directory"])
def test_an_output_that_cannot_be_a_file_is_rejected_before_the_run(output, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["check", "-o", output]) == ExitCode.USAGE
    assert capsys.readouterr().out == ""


def test_the_dry_run_escapes_control_characters_and_reports_a_broken_remote_shell():
    assert "\x1b" not in racwire("plan", GRID_HOME="/tmp/\x1b[2J").stdout
    ran = racwire("plan", RACWIRE_RSH="'rsh")
    assert (ran.returncode, ran.stderr) == (
        ExitCode.USAGE,
        'racwire: RACWIRE_RSH="\'rsh" names no program: unset RACWIRE_RSH to use ssh.\n',
    )


def test_too_little_memory_is_one_sentence_and_not_a_finding_about_the_cluster(monkeypatch, capsys):
    def too_much(*_, is_own_process):
        raise MemoryError

    monkeypatch.setattr("tui.cli.main._run", too_much)
    monkeypatch.setattr("tui.cli.main.give_up_stdout", lambda: None)
    assert main(["diff", "a.json", "b.json"]) == ExitCode.COULD_NOT_TELL
    stderr = capsys.readouterr().err
    assert stderr.startswith("racwire: there is not enough memory")
    assert stderr.count("\n") == 1


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_and_version_import_no_command_and_no_slow_module(word):
    """Users run these most often, on nodes with other work to do."""
    program = (
        "import sys\nfrom tui.cli.main import COMMANDS, main\n"
        f"try:\n    main([{word!r}])\nexcept SystemExit:\n    pass\n"
        "slow = {'msgspec', 'asyncio', 'textual', 'rich', 'importlib.metadata'}\n"
        "loaded = {*slow, *(command.module for command in COMMANDS.values())}\n"
        "sys.exit(str(loaded & set(sys.modules)) if loaded & set(sys.modules) else 0)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=60, check=False,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "racwire" in ran.stdout


def test_the_options_of_a_command_import_only_what_parsing_needs():
    """`racwire check --help` and a mistyped option are answered at once."""
    program = (
        "import sys\nfrom tui.cli.main import COMMANDS, main\n"
        "slow = {'msgspec', 'asyncio', 'textual', 'rich', 'jinja2', 'sqlite3', 'checks.run.engine'}\n"
        "for name in COMMANDS:\n"
        "    for word, expected in (('--help', 0), ('--no-such-option', 64)):\n"
        "        try:\n"
        "            code = main([name, word])\n"
        "        except SystemExit as ended:\n"
        "            code = ended.code or 0\n"
        "        loaded = slow & set(sys.modules)\n"
        "        if code != expected or loaded:\n"
        "            sys.exit(f'{name} {word}: {code} {loaded}')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=60, check=False,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{ROOT}:{ROOT}/lab"},
    )  # fmt: skip
    lines = ran.stderr.splitlines()
    assert (ran.returncode, [line for line in lines if not line.startswith("racwire: ")]) == (0, [])
    assert len(lines) == len(COMMANDS)
    assert all(f"usage: racwire {name}" in ran.stdout for name in COMMANDS)


def test_the_version_is_that_of_the_distribution():
    assert racwire("--version").stdout == f"racwire {importlib.metadata.version('racwire')}\n"


def test_an_option_of_another_subcommand_is_rejected_with_both_names(capsys):
    assert main(["change", "next", "--sudo"]) == ExitCode.USAGE
    assert capsys.readouterr().err == ("racwire: change next takes no --sudo; see `racwire change next --help`.\n")


def test_the_options_of_a_measurement_have_the_defaults_of_its_limits():
    _, _, limits = usual_measurement("sizes")
    assert limits == LoadLimits()


def test_the_directory_of_a_storage_is_not_that_of_the_changes():
    args = build_parser(["measure"]).parse_args(["measure", "storage", "/mnt/backup"])
    assert (args.storage_directory, effective_settings(args).change.directory) == ("/mnt/backup", "")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("sizes --rounds many", "--rounds: 'many' is no whole number."),
        ("sizes --sizes 64,x", "--sizes: 'x' is no size"),
        ("rate --steps 0", "--steps: '0' is no percentage"),
        ("mix --for 5m", "--for needs --beside"),
        ("mix --beside --flows 4", "--flows does not go with --beside"),
        ("mix --beside --turns 2", "--turns does not go with --beside"),
        ("mix --turns 2", "--turns needs --priorities"),
        ("mix --gap x", "--gap: 'x' is no number."),
        ("mix --share 96", "must be more than 0 and at most 95"),
        ("rate --share 81", "must be more than 0 and at most 80"),
        ("storage /mnt --to rac2", "--to does not go with storage"),
    ],
)
def test_a_wrong_option_of_a_measurement_is_named(words, named, capsys):
    assert main(["measure", *words.split()]) == ExitCode.USAGE
    assert named in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["chek"], "argument COMMAND: there is no 'chek' (did you mean check?); see `racwire --help`."),
        (["measure", "sizs"], "argument KIND: there is no 'sizs' (did you mean sizes?); see `racwire measure --help`."),
        (["check", "df-pnig"], "There is no check 'df-pnig'; did you mean df-ping?"),
        (["check", "--formt", "json"], "check takes no --formt; did you mean --format?"),
        (["check", "--pasword=secret"], "check takes no --pasword; did you mean --password-file?"),
        (["help", "chekc"], "There is no check, code or kind of switch 'chekc'; did you mean check?"),
        (["plan", "mesure"], "There is no check 'mesure'; did you mean measure?"),
        (["change", "new", "rp-fliter"], "racwire plans no change of the kind 'rp-fliter'; did you mean rp-filter?"),
        (
            ["change", "new", "--switch", "arsta"],
            "--switch, --hypervisor, --host: racwire does not know the kind of switch arsta. Did you mean arista?",
        ),
        (["help", "jmubo"], "There is no check, code or kind of switch 'jmubo'; did you mean jumbo?"),
    ],
)
def test_a_mistyped_name_is_answered_with_the_one_that_is_most_like_it(words, said, capsys):
    with suppress(SystemExit):
        assert main(words) == ExitCode.USAGE
    assert capsys.readouterr().err.startswith(f"racwire: {said}")


def test_help_explains_commands_and_topics(capsys):
    for words in (["help", "measure", "rate"], ["help", "check"], ["help"]):
        with pytest.raises(SystemExit, match="0"):
            main(words)
        assert f"usage: racwire {' '.join(words[1:])}".rstrip() in capsys.readouterr().out
    assert main(["help", "jumbo"]) == 0
    assert capsys.readouterr().out.startswith("jumbo: What jumbo frames change")
