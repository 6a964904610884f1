"""Lines of text as data: spans with a role each. What a role looks like stands in `app.tcss`.

All text from outside passes through `clean` on its way in; a span is never read as markup.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

# Textual measures with these: a line is as wide here as it is drawn. They are a table of widths and draw nothing.
from rich.cells import cell_len as cell_len
from rich.cells import chop_cells

from tui.text.sanitize import sanitize_lines

Span = tuple[str, str]
"""A text and its role: a key of `ROLES`, or nothing."""
Line = Sequence[Span]

ROLES = frozenset(
    {"fail", "warn", "unknown", "info", "pass", "skipped", "title", "label", "command", "change", "faint", "accent"}
)


def sanitize_line(text: str) -> str:
    """A text from outside on one line, with nothing in it that a terminal would obey."""
    return sanitize_lines(" ".join(text.split()))


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
    lines = textwrap.wrap(sanitize_line(text), width, break_long_words=False, break_on_hyphens=False) or [""]
    return [part for line in lines for part in chopped(line, width)]


def chopped(text: str, width: int) -> list[str]:
    """The text in pieces of at most that many columns, for words that are longer than a line."""
    return chop_cells(text, width) if cell_len(text) > width else [text]


def hanging(start: Line, text: str, width: int, role: str = "", *, indent: int | None = None) -> Iterator[Line]:
    """A paragraph after what starts its first line; its further lines are indented to the same column, or `indent`."""
    begin = width_of(start)
    indent = begin if indent is None else indent
    first, *rest = wrapped(text, width - max(begin, indent))
    yield [*start, (first, role)]
    for line in rest:
        yield [(" " * indent, ""), (line, role)] if indent else [(line, role)]


def command_lines(command: str, indent: int, width: int) -> Iterator[Line]:
    """A command to be typed: a long one continues after a backslash, so that it can be taken from the screen as is."""
    room = max(width - indent - 4, 10)
    for statement in command.splitlines():
        text = sanitize_lines(statement).rstrip()
        if cell_len(text) <= width - indent:
            yield [(" " * indent, ""), (text, "command")]
        elif text.lstrip().startswith("#"):
            for number, part in enumerate(textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)):
                yield [(" " * indent, ""), (f"# {part}" if number else part, "command")]
        else:
            yield from _continued(_broken_between_words(text, room), indent, max(width, 10))


def _continued(parts: list[str], indent: int, width: int) -> Iterator[Line]:
    for number, part in enumerate(parts):
        margin = " " * (indent + (2 if number else 0))
        end = " \\" if number < len(parts) - 1 else ""
        if cell_len(margin + part + end) > width:  # one word: it goes on at the very beginning of the next line
            pieces = chopped(margin + part, width - 2)
            for piece in pieces[:-1]:
                yield [(piece + "\\", "command")]
            yield [(pieces[-1] + end, "command")]
        else:
            yield [(margin, ""), (part + end, "command")]


def _broken_between_words(text: str, room: int) -> list[str]:
    """A line of shell in parts that are no longer than that where it can be: inside of quotes, a backslash at the end
    of a line would be part of the word. A comment at its end stays in one part, since nothing continues it."""
    begins = [found.start() for found in _shell_word().finditer(text)]
    comment = next((at for at in begins[1:] if text[at] == "#"), len(text))
    begins = [at for at in begins if at <= comment]
    parts: list[str] = []
    for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
        word = text[begin:end]
        if parts and cell_len(parts[-1] + word.rstrip()) <= room:
            parts[-1] += word
        else:
            parts.append(word)
    return [part.rstrip() for part in parts] or [""]


@cache
def _shell_word() -> re.Pattern[str]:
    """A word of the shell, its quoted parts included; a quote that never ends is a letter like any other."""
    return re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\]|['"\\])+""")


def folded(text: str, indent: int, width: int) -> Iterator[Line]:
    """A text as it was read, line by line; what is too long goes on in the next line, further in."""
    room = max(width - indent, 12)
    for line in sanitize_lines(text).splitlines():
        parts = textwrap.wrap(line, room, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        for part in parts or [""]:
            for piece in chopped(part, room):
                yield [(" " * indent, ""), (piece, "")]


def plain(lines: Iterable[Line]) -> str:
    """The lines without their roles."""
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)
