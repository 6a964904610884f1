"""Lines of text as data: spans with a role each. What a role looks like stands in `app.tcss`.

All text from outside passes through `clean` on its way in; a span is never read as markup.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len, chop_cells

from tui.printable import printable

Span = tuple[str, str]
"""A text and its role: a key of `ROLES`, or nothing."""
Line = Sequence[Span]

ROLES = frozenset(
    {"fail", "warn", "unknown", "info", "pass", "skipped", "title", "label", "command", "change", "faint", "accent"}
)


def clean(text: str) -> str:
    """A text from outside on one line, with nothing in it that a terminal would obey."""
    return printable(" ".join(text.split()))


def width_of(line: Line) -> int:
    """The columns that a line takes."""
    return sum(cell_len(text) for text, _ in line)


def fitted(text: str, width: int) -> str:
    """The text in exactly that many columns: padded, or cut with a sign that it is."""
    if cell_len(text) > width:
        text = chop_cells(text, width - 1)[0] + "…" if width > 1 else "…"[:width]
    return text + " " * (width - cell_len(text))


def wrapped(text: str, width: int) -> list[str]:
    """A paragraph in lines of at most that many columns; at least one line."""
    width = max(width, 1)
    lines = textwrap.wrap(clean(text), width, break_long_words=False, break_on_hyphens=False) or [""]
    return [part for line in lines for part in chopped(line, width)]


def chopped(text: str, width: int) -> list[str]:
    """The text in pieces of at most that many columns, for words that are longer than a line."""
    return chop_cells(text, width) if cell_len(text) > width else [text]


def hanging(start: Line, text: str, width: int, role: str = "") -> Iterator[Line]:
    """A paragraph after what starts its first line; its further lines are indented to the same column."""
    indent = width_of(start)
    first, *rest = wrapped(text, width - indent)
    yield [*start, (first, role)]
    for line in rest:
        yield [(" " * indent, ""), (line, role)]


def command_lines(command: str, indent: int, width: int) -> Iterator[Line]:
    """A command to be typed: a long one continues after a backslash, so that it can be taken from the screen as is."""
    room = max(width - indent - 4, 10)
    for statement in command.splitlines():
        text = printable(statement).rstrip()
        if cell_len(text) <= width - indent:
            parts = [text]
        else:
            parts = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
        for number, part in enumerate(parts):
            continued = " \\" if number < len(parts) - 1 else ""
            yield [(" " * (indent + (2 if number else 0)), ""), (part + continued, "command")]


def folded(text: str, indent: int, width: int) -> Iterator[Line]:
    """A text as it was read, line by line; what is too long goes on in the next line, further in."""
    room = max(width - indent, 12)
    for line in printable(text).splitlines():
        parts = textwrap.wrap(line, room, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        for part in parts or [""]:
            for piece in chopped(part, room):
                yield [(" " * indent, ""), (piece, "")]


def plain(lines: Iterable[Line]) -> str:
    """The lines without their roles."""
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)
