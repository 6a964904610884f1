"""Renders lines for a stream: coloured on a terminal (not with NO_COLOR), else plain (not with FORCE_COLOR)."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterable
from typing import TextIO

from rich.console import Console
from rich.text import Text

from tui.colours import ROLES
from tui.text.line import Line
from tui.text.sanitize import for_encoding

_WITHOUT_TERMINAL = 100
"""Columns of a text where stdout is not a terminal."""


def columns_of(stream: TextIO, *, narrowest: int = 0, widest: int = 160) -> int:
    """The number of columns for a text on this stream: of the terminal, else of the variable COLUMNS, else 100."""
    named = os.environ.get("COLUMNS", "")
    columns = _WITHOUT_TERMINAL
    if stream.isatty():
        columns = shutil.get_terminal_size((_WITHOUT_TERMINAL, 24)).columns
    elif named.isascii() and named.isdigit() and int(named[:9]):
        columns = int(named[:9])
    return min(max(columns, narrowest), widest)


def render(lines: Iterable[Line], stream: TextIO) -> str:
    """The text of the lines, in characters that the stream can encode. The lines are wrapped already."""
    is_coloured = stream.isatty() or _is_forced()
    written = io.StringIO()
    console = Console(
        file=written,
        width=columns_of(stream),
        force_terminal=is_coloured and os.environ.get("TERM") != "dumb",
        no_color=None if is_coloured else True,
        highlight=False,
        soft_wrap=True,
    )
    for line in lines:
        console.print(_rich(line))
    return for_encoding(written.getvalue(), getattr(stream, "encoding", None))


def _is_forced() -> bool:
    """Whether a pipe or a file gets colours too: FORCE_COLOR (force-color.org) or CLICOLOR_FORCE (bixense.com)."""
    return any(os.environ.get(name, "") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE"))


def _rich(line: Line) -> Text:
    """The line for rich, which knows the colours of the terminal and NO_COLOR."""
    text = Text.assemble(*((span, ROLES.get(role, ("",))[0]) for span, role in line))
    text.rstrip()
    return text
