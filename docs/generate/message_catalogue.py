"""The catalogue of messages: every text that racwire and its practice cluster have for people, from the source."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from checks.change.gates import documented
from checks.change.plan import codes
from checks.change.session.vendors_file import load_kinds
from checks.model.check import Kind
from checks.run.check_discovery import discover
from checks.run.engine_findings import KINDS
from docs.generate.source_texts import Text, exception_names, source_tree, texts_of_module, texts_of_template
from racwire_lab import FAULTS
from tui.cli.main import COMMANDS, build_parser

ROOT = Path(__file__).parents[2]
PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
HELP_COLUMNS = "80"
PRINTED_FILES = {
    ("settings",): "checks/model/settings",
    ("grants", "--awr", "--statspack"): "checks/sources/database/grants",
}
"""Commands that print a file with explanations, and the module that has these."""
VENDORS = "checks/model/vendors.toml"
"""The kinds of switch and hypervisor, whose texts are data."""
_LISTED = ("tui/cli/", "lab/", *PRINTED_FILES.values())
"""Where a text may be in a help, a printed file or the list of faults already."""


class Section(NamedTuple):
    """A section of the page, and the files whose texts stand in it."""

    title: str
    about: str
    places: tuple[str, ...] = ()
    """Beginnings of paths; a file is in the section with the longest one that fits."""


CHECKS = Section("Checks and gates", "Each check and gate: its question, its documentation, its kinds of finding.")
REASONS = Section(
    "Reasons and errors",
    "Exceptions, reasons why a fact is not known, and other texts of what reads nodes, databases and files.",
    ("checks/sources", "checks/traffic", "checks/saved", "checks/redact", "checks/whole_files.py"),
)
HELP = Section("Help", f"`--help` of every command as {PYTHON} prints it, and the files that commands print.")
LAB = Section("Practice cluster", "Faults, and what `racwire lab` reports.", ("lab/racwire_lab",))
REPORTS = Section("Reports", "Headings and sentences of the report's formats.", ("checks/report",))
SECTIONS = (
    CHECKS,
    Section("Findings", "Titles, evidence, reasons and next steps.", ("checks", "checks/change/gates")),
    REASONS,
    Section("Change", "Steps, decisions, obstacles and headings of `racwire change`.", ("checks/change",)),
    Section("Commands", "What the commands print, apart from their help.", ("tui/cli", "racwire.py")),
    HELP,
    Section("Screens", "Headings, hints, keys and notices of the console.", ("tui",)),
    LAB,
    REPORTS,
)

NOT_OURS = re.compile(
    r"lab/racwire_lab/(oracle_\w+|programs|history|database)/|"  # the words of Oracle and Linux
    r"lab/racwire_lab/cluster/(wiring|desired|databases|ssh_configuration)\.py|"  # configuration
    r"checks/sources/(nodes/read_only/allow_list|nodes/setup_text|node_setup)\.py|"  # commands, and what they print
    r"checks/model/command_effect\.py|"  # patterns of commands
    r"checks/investigate/outputs/|"  # what switches and nodes print
    r"checks/redact/well_known\.py|"  # names
    r"checks/report/diff_kind\.py"  # values of JSON
)
"""Files whose strings are for programs. Their exceptions are listed all the same."""


@cache
def catalogue() -> dict[Section, dict[str, list[Text]]]:
    """All texts by section and group: a file, a check in its file, or a command. None occurs twice in a group."""
    found: dict[Section, dict[str, list[Text]]] = {section: {} for section in SECTIONS}
    found[CHECKS] = dict(_checks())
    found[HELP] = {command: [Text(line) for line in text.splitlines()] for command, text in _helps()}
    found[LAB]["Faults"] = [Text(f"{f.name}: {f.summary} {f.effect}") for f in FAULTS.values()]
    listed = _squeezed(line.text for groups in (found[HELP], found[LAB]) for texts in groups.values() for line in texts)
    trees = {path: source_tree(ROOT / path) for path in _files("*.py")}
    exceptions = exception_names(trees.values())
    for path, tree in trees.items():
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        names = vars(import_module(module)) if path.startswith("checks/") else {}
        for text in texts_of_module(tree, names, exceptions):
            is_listed = (
                path.startswith(("tui/cli/", "lab/", *PRINTED_FILES.values())) and _squeezed([text.text]) in listed
            )
            if not is_listed and (text.is_reason or not NOT_OURS.match(path)):
                found[REASONS if text.is_reason else _section(path)].setdefault(path, []).append(text)
    found[_section(VENDORS)][VENDORS] = [Text(text) for text in dict.fromkeys(_texts_of_vendors())]
    for path in _files("*.j2"):
        found[REPORTS][path] = texts_of_template((ROOT / path).read_text(encoding="utf-8"))
    return found


def _texts_of_vendors() -> Iterator[str]:
    kinds = load_kinds()
    for kind in (*kinds.switches.values(), *kinds.hypervisors.values()):
        yield from (kind.name, kind.place, kind.scope, *kind.hints)


def messages_page() -> str:
    """The page `docs/reference/messages.md`."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield from ("# Messages", "")
    yield "Every text that racwire has for people, with its codes. Do not edit this page: `make docs`"
    yield "writes it from the source. `{name}` stands for a value, `{one|other}` for one of two texts."
    for section, groups in catalogue().items():
        yield from ("", f"## {section.title}", "", section.about)
        for group, texts in groups.items():
            yield from ("", f"### {escaped(group)}", "")
            if section is HELP:
                yield from ("```text", *(line.text for line in texts), "```")
            else:
                yield from (f"- {''.join(f'**{code}** ' for code in t.codes)}{escaped(t.text)}" for t in texts)


def escaped(text: str) -> str:
    """A text for a line of Markdown, which then shows it as it is."""
    text = re.sub(r"[\\`*~]|<(?=[A-Za-z/!?])|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[])|&(?=#?\w+;)", r"\\\g<0>", text)
    return re.sub(r"^[#+>=|\[-]|(?<=^\d)[.)]", r"\\\g<0>", text)


def _checks() -> Iterator[tuple[str, list[Text]]]:
    for check in (*discover().every, *documented()):
        module = check.judge.__module__
        if module.startswith("checks."):
            about = (" ".join(paragraph.split()) for paragraph in (check.question, *check.page.split("\n\n")))
            yield f"{check.id} in {module.replace('.', '/')}", [*map(Text, about), *_kinds(check.kinds)]
    yield "any check in checks/run/engine", _kinds(KINDS)
    yield "racwire change in checks/change/codes", _kinds(codes.KINDS)


def _kinds(kinds: Iterable[Kind]) -> list[Text]:
    return [Text(": ".join(filter(None, (kind.title, kind.why))), (kind.code,)) for kind in kinds]


def _helps() -> Iterator[tuple[str, str]]:
    with patch.dict(os.environ, {"COLUMNS": HELP_COLUMNS, "NO_COLOR": "1"}):
        yield "racwire", _help()
        for name in COMMANDS:
            yield f"racwire {name}", _help(name)
            parser = _below(build_parser([name]))[name]
            yield from ((f"racwire {name} {below}", _help(name, below)) for below in _below(parser))
    for command, module in PRINTED_FILES.items():
        yield f"racwire {' '.join(command)} in {module}", _printed(command)


def _help(*command: str) -> str:
    return _printed((*command, "--help"))


def _printed(words: Sequence[str]) -> str:
    printed = io.StringIO()
    with redirect_stdout(printed), suppress(SystemExit):  # --help ends in parse_args
        args = build_parser(words).parse_args(words)
        import_module(COMMANDS[words[0]].module).run(args)
    return printed.getvalue()


def _below(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of the commands below a command, by name."""
    found = (action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(next(found, {}))


def _files(pattern: str) -> list[str]:
    tops = (ROOT / "checks", ROOT / "tui", ROOT / "lab/racwire_lab")
    return sorted(path.relative_to(ROOT).as_posix() for top in tops for path in top.rglob(pattern))


def _section(path: str) -> Section:
    fitting = ((len(place), section) for section in SECTIONS for place in section.places if path.startswith(place))
    return max(fitting, key=lambda one: one[0])[1]


def _squeezed(lines: Iterable[str]) -> str:
    return re.sub(r"\s+", "", "".join(lines))
