"""Completion and man pages, made from the parsers: in the shells themselves, where they are installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from checks.run.check_discovery import discover
from docs.share.__main__ import write
from docs.share.completion import SHELLS
from docs.share.parsers import below, complete_parser
from racwire_lab import FAULTS
from tui.cli.main import COMMANDS
from tui.cli.report_formats import FORMATS

LINES = {
    "": [*COMMANDS, "help"],
    "che": ["check"],
    "check --fo": ["--force", "--format"],
    "--lab check df": ["df-ping"],
    "check df-ping boo": ["boot-mtu"],
    "check --skip df-ping boo": ["boot-mtu"],
    "report --format ": [*FORMATS],
    "report --mode ": ["0600", "0640", "0644"],
    "plan inv": ["investigate"],
    "explain CAUSE-1": [f"CAUSE-1{number}" for number in range(10)],
    "explain IC-PATH-003": ["IC-PATH-003"],
    "waive IC-PATH-003": ["IC-PATH-003"],
    "help jum": ["jumbo"],
    "lab ": ["break", "down", "faults", "hand", "load", "mend", "reboot", "shell", "status", "switch", "up"],
    "lab break ": [*FAULTS],
    "lab up --like p": ["plain"],
    "change new rec": ["receive-buffers"],
    "change new --switch nexus-9": ["nexus-9000"],
    "change new --hypervisor non": ["none"],
    "measure si": ["sizes"],
    "drill ": ["link", "node"],
    "experiment new --load ": ["swingbench", "hammerdb", "own"],
    "open ": ["a b.rec", "night.racwire", "reports"],
    "check -o n": ["night.racwire", "notes.txt"],
    "check --oracle-home r": ["reports"],
}
"""What comes after `racwire`, and what TAB offers, in a directory with the files and folders of `place`."""


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        made = tmp_path_factory.mktemp("share")
        write(made)
        yield made


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("night.racwire", "a b.rec", "notes.txt"):
        (tmp_path / name).touch()
    (tmp_path / "reports").mkdir()
    return tmp_path


def offered(argv: list[str], program: str, place: Path) -> list[list[str]]:
    """Return what a shell offers for each line: its output, one offer a line, and a line `=` after each."""
    if shutil.which(argv[0]) is None:
        pytest.skip(f"{argv[0]} is not installed: its completion was not tried")
    done = subprocess.run([*argv, program], cwd=place, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    *parts, rest = re.split(r"^=\n", done.stdout, flags=re.MULTILINE)
    assert rest == ""
    return [sorted(line.partition("\t")[0].rstrip("/") for line in part.splitlines()) for part in parts]


def test_bash_offers_what_fits(share: Path, place: Path) -> None:
    lines = "\n".join(
        f"COMP_WORDS=(racwire {line.rpartition(' ')[0]} '{line.rpartition(' ')[2]}')\n"
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _shtab_racwire; printf '%s\\n' \"${COMPREPLY[@]}\" ="
        for line in LINES
    )
    found = offered(["bash", "--norc", "-c"], f". {share / SHELLS['bash']}\n{lines}", place)
    assert dict(zip(LINES, found, strict=True)) == {line: sorted(fits) for line, fits in LINES.items()}


def test_fish_offers_what_fits(share: Path, place: Path) -> None:
    lines = "\n".join(f"complete -C 'racwire {line}'; echo =" for line in LINES)
    found = offered(["fish", "--no-config", "-c"], f"source {share / SHELLS['fish']}\n{lines}", place)
    assert dict(zip(LINES, found, strict=True)) == {line: sorted(fits) for line, fits in LINES.items()}


def test_zsh_accepts_its_script_which_offers_several_checks(share: Path, place: Path) -> None:
    script = share / SHELLS["zsh"]
    assert script.read_text(encoding="utf-8").startswith("#compdef racwire\n")
    assert '"(*)::' not in script.read_text(encoding="utf-8")
    assert offered(["zsh", "-f", "-n"], str(script), place) == []


def test_scripts_are_small_and_have_no_name_of_who_built_them(share: Path) -> None:
    for path in SHELLS.values():
        text = (share / path).read_text(encoding="utf-8")
        assert len(text) < 250_000
        assert str(Path.home()) not in text
        assert all(check.id in text for check in discover())


def test_every_command_has_a_page_with_its_options_and_its_sections(share: Path) -> None:
    parsers = {parser.prog.replace(" ", "-"): parser for parser in below(complete_parser())}
    pages = {file.stem: file.read_text(encoding="utf-8") for file in (share / "man/man1").iterdir()}
    assert pages.keys() == parsers.keys()
    for name, page in pages.items():
        assert page.startswith(f".TH {name.upper()} 1 2023-11-14 ")
        headings = re.findall(r"^\.SH (.*)$", page, re.MULTILINE)
        assert headings[:3] == ["NAME", "SYNOPSIS", "DESCRIPTION"]
        assert headings[-1] == "SEE ALSO"
        epilog = str(parsers[name].epilog)
        assert ("EXAMPLES" in headings, "EXIT STATUS" in headings) == ("examples:" in epilog, "exit codes" in epilog)
        options = [option for action in parsers[name]._actions for option in action.option_strings if action.help]
        missing = [option for option in options if option.replace("-", r"\-") not in page]
        assert [*filter(lambda option: option not in ("-h", "--help"), missing)] in ([], ["--interval"], ["--password"])
    assert ".SH FILES" in pages["racwire"]
    assert "RACWIRE_DB_PASSWORD" in pages["racwire"]


@pytest.mark.parametrize(
    "checker", [["mandoc", "-T", "lint", "-W", "warning"], ["groff", "-ww", "-man", "-T", "utf8", "-z"]]
)
def test_formatters_have_no_warning(share: Path, checker: list[str]) -> None:
    if shutil.which(checker[0]) is None:
        pytest.skip(f"{checker[0]} is not installed: the man pages were not formatted by it")
    pages = sorted(map(str, (share / "man/man1").iterdir()))
    done = subprocess.run([*checker, *pages], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
