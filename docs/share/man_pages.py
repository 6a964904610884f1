"""The man pages: one for each command, with its options, examples and exit codes as `--help` has them."""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from textwrap import dedent

from docs.share.parsers import complete_parser
from tui import __version__

_SETTINGS = Path(__file__).parents[1] / "settings.md"
_AS_TYPED = str.maketrans({"`": r"\(ga", "'": r"\(aq", "~": r"\(ti", "^": r"\(ha"})
"""What a formatter would print as a typographic sign, which no shell understands."""


def man_pages() -> Iterator[tuple[str, str]]:
    """Return the name and the text of the page of each command."""
    extra = {"FILES": _table("Files of racwire"), "ENVIRONMENT": _table("Environment")}
    summary = "find what is wrong with the private interconnect of an Oracle RAC cluster"
    yield from _pages(complete_parser(), summary, [], extra)


def _pages(
    parser: argparse.ArgumentParser, summary: str, related: list[str], extra: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    name, others = parser.prog.replace(" ", "-"), [*related]
    for child, about in _commands(parser):
        yield from _pages(child, about, [name], {})
        others.append(child.prog.replace(" ", "-"))
    texts = _texts(parser)
    sections = {
        "NAME": f"{_escaped(name)} \\- {_escaped(summary)}",
        "SYNOPSIS": _synopsis(parser),
        "DESCRIPTION": texts.pop("DESCRIPTION"),
        **_options(parser),
        **texts,
        **extra,
        "SEE ALSO": ",\n".join(f".BR {_escaped(one)} (1)" for one in others),
    }
    header = f'.TH {name.upper()} 1 {_date()} "racwire {__version__}" racwire'
    body = "\n".join(f".SH {heading}\n{content}" for heading, content in sections.items() if content)
    # Neither justified nor hyphenated: a command stays as it is typed.
    yield name, f"{header}\n.ad l\n.nh\n{body}\n".translate(_AS_TYPED)


def _date() -> str:
    """Return the day of SOURCE_DATE_EPOCH, by which a wheel that is built again is the same; without it today."""
    return datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())), UTC).date().isoformat()


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[argparse.ArgumentParser, str]]:
    """Return the parser of each command directly below a parser, with its line of help."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from ((action.choices[command.dest], str(command.help)) for command in action._choices_actions)


def _synopsis(parser: argparse.ArgumentParser) -> str:
    words = parser.format_usage().split()[1 + len(parser.prog.split()) :]
    return f"{_bold(parser.prog)}\n{_escaped(' '.join(word for word in words if word != '[-h]'))}"


def _options(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Return a section for each group of options, and one for the commands."""
    sections = {}
    for group in parser._action_groups:
        title = str(group.title).removeprefix("positional ").upper()
        entries = [_paragraph(group.description)] if group.description else []
        for action in group._group_actions:
            if isinstance(action, argparse._SubParsersAction):
                title = "COMMANDS"
                entries += [_entry(_bold(child.prog), about) for child, about in _commands(parser)]
            elif action.help != argparse.SUPPRESS and "--help" not in action.option_strings:
                entries.append(_entry(_typed(parser, action), parser._get_formatter()._expand_help(action)))
        if entries:
            sections[title] = "\n".join(entries)
    return sections


def _typed(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """Return an option with its value, or an argument, as it is typed."""
    value = "" if action.nargs == 0 else parser._get_formatter()._format_args(action, action.dest.upper())
    return f"{', '.join(map(_bold, action.option_strings))} \\fI{_escaped(value)}\\fR".strip()


def _entry(tag: str, text: str) -> str:
    return f".TP\n{tag}\n{_escaped(text)}"


def _texts(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Return the description and the epilog as sections. The epilog has its examples and exit codes in paragraphs."""
    sections: dict[str, list[str]] = {"DESCRIPTION": [parser.description or ""]}
    sections |= {"EXAMPLES": [], "NOTES": [], "EXIT STATUS": []}
    for paragraph in (parser.epilog or "").split("\n\n"):
        start = re.split("[:,]", paragraph, maxsplit=1)[0]
        heading = {"examples": "EXAMPLES", "exit codes": "EXIT STATUS"}.get(start, "NOTES")
        sections[heading].append(paragraph.removeprefix("examples:\n").removeprefix("exit codes: "))
    return {
        heading: "\n.PP\n".join(_paragraph(part) for text in texts for part in text.split("\n\n"))
        for heading, texts in sections.items()
    }


def _paragraph(text: str) -> str:
    """Return the lines of a text, those with an indent as they are."""
    lines = []
    for is_indented, group in groupby(text.splitlines(), lambda line: line.startswith(" ")):
        block = _escaped(dedent("\n".join(group)))
        lines.append(f".nf\n.in 2n\n{block}\n.in\n.fi" if is_indented else block)
    return "\n".join(lines)


def _table(heading: str) -> str:
    """Return a table of two columns of docs/settings.md."""
    section = _SETTINGS.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.*) \| (.*) \|$", section, re.MULTILINE)[1:]
    return "\n".join(f".TP\n{_plain(name)}\n{_plain(text)}" for name, text in rows)


def _plain(markdown: str) -> str:
    without_links = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", markdown)
    return re.sub(r"`([^`]*)`", r"\\fB\1\\fR", _escaped(without_links))


def _bold(text: str) -> str:
    return f"\\fB{_escaped(text)}\\fR"


def _escaped(text: str) -> str:
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", r"\e").replace("-", r"\-"), flags=re.MULTILINE)
