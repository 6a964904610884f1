"""The man pages: one for each command, with its options, examples and exit codes as `--help` has them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from textwrap import dedent

from argparse_manpage.manpage import Manpage

from docs.share.parsers import complete_parser
from tui import __version__

_SETTINGS = Path(__file__).parents[1] / "settings.md"
_AS_TYPED = str.maketrans({"`": r"\(ga", "'": r"\(aq", "~": r"\(ti", "^": r"\(ha"})
"""What a formatter would print as a typographic sign, which no shell understands."""


def man_pages() -> Iterator[tuple[str, str]]:
    """Return the name and the text of the page of each command."""
    root = complete_parser()
    extra = {"FILES": _table("Files of racwire"), "ENVIRONMENT": _table("Environment")}
    yield from _pages(root, "find what is wrong with the private interconnect of an Oracle RAC cluster", [], extra)


def _pages(
    parser: argparse.ArgumentParser, summary: str, parent: list[str], extra: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    name, related = parser.prog.replace(" ", "-"), [*parent]
    parser._positionals.title = "arguments"
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            parser._positionals.title = "commands"
            for command in action._choices_actions:
                child = action.choices[command.dest]
                yield from _pages(child, str(command.help), [name], {})
                related.append(child.prog.replace(" ", "-"))
            action.choices.clear()  # else this page would have theirs in it
    sections = {**_texts(parser), **extra, "SEE ALSO": ",\n".join(f".BR {_escaped(one)} (1)" for one in related)}
    parser.description = parser.epilog = None
    yield name, _page(parser, name, summary, sections)


def _page(parser: argparse.ArgumentParser, name: str, summary: str, sections: Mapping[str, str]) -> str:
    page = Manpage(parser, {"project_name": "racwire", "version": __version__, "manual_title": "racwire"})
    page.prog, page.description = name, summary
    words = len(parser.prog.split())
    page.synopsis = [parser.prog, *(_escaped(word) for word in page.synopsis[words:] if word != "[-h]")]
    for heading, content in sections.items():
        page.add_section(heading, "=", content)
    header, _, body = str(page).partition("\n")
    header = header.replace(_escaped(page.date), page.date)
    # Neither justified nor hyphenated: a command stays as it is typed. A macro follows each blank line, and makes its own.
    return f"{header}\n.ad l\n.nh\n{body}".replace("\n\n", "\n").translate(_AS_TYPED)


def _texts(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Return the description and the epilog as sections. The epilog has its examples and exit codes in paragraphs."""
    sections = {"DESCRIPTION": [parser.description or ""], "EXAMPLES": [], "NOTES": [], "EXIT STATUS": []}
    for paragraph in (parser.epilog or "").split("\n\n"):
        start = paragraph.partition(":")[0].partition(",")[0]
        heading = {"examples": "EXAMPLES", "exit codes": "EXIT STATUS"}.get(start, "NOTES")
        sections[heading].append(paragraph.removeprefix("examples:\n").removeprefix("exit codes: "))
    return {heading: "\n.PP\n".join(map(_paragraph, texts)) for heading, texts in sections.items() if any(texts)}


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
    return re.sub(r"`([^`]*)`", r"\\fB\1\\fR", _escaped(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", markdown)))


def _escaped(text: str) -> str:
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", r"\e").replace("-", r"\-"), flags=re.MULTILINE)
