"""Lines as they are printed on a stream: coloured on a terminal (unless NO_COLOR), plain in a pipe or a file."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterable
from typing import TextIO

from rich.console import Console
from rich.text import Text

from tui.text.line import Line
from tui.text.sanitize import for_encoding

_ELSEWHERE = 100
"""Columns where there is no terminal to ask."""

_STYLES = {
    "pass": "green",
    "info": "cyan",
    "warn": "yellow",
    "fail": "bold red",
    "unknown": "magenta",
    "skipped": "dim",
    "title": "bold",
    "label": "dim",
    "faint": "dim",
    "command": "cyan",
    "change": "bold yellow",
    "accent": "bold",
}
"""The style of each role. Colour only repeats what a word already says."""


def columns_of(stream: TextIO, *, narrowest: int = 0, widest: int = 110) -> int:
    """How many columns a text for that stream may use."""
    columns = shutil.get_terminal_size((_ELSEWHERE, 24)).columns if stream.isatty() else _ELSEWHERE
    return min(max(columns, narrowest), widest)


def render(lines: Iterable[Line], stream: TextIO) -> str:
    """The lines for that stream, in signs that it can carry. None is broken: that was done where they were made."""
    terminal = stream.isatty()
    written = io.StringIO()
    console = Console(
        file=written,
        width=columns_of(stream),
        force_terminal=terminal and os.environ.get("TERM") != "dumb",
        no_color=True if not terminal else None,
        highlight=False,
        soft_wrap=True,
    )
    for line in lines:
        console.print(_rich(line))
    return for_encoding(written.getvalue(), getattr(stream, "encoding", None))


def _rich(line: Line) -> Text:
    """The line as rich prints it: rich knows which colours the terminal has, and whether any are wanted."""
    text = Text.assemble(*((span, _STYLES.get(role, "")) for span, role in line))
    text.rstrip()
    return text
