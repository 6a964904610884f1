"""Lines of text as data: spans with a role each. `tui/colours.py` has the style of each role.

All text from outside passes through `sanitize_line` or `sanitize_lines`; a span is never read as markup.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import zip_longest

# Textual measures with these functions, so that a line has the same width here as on the screen.
from rich.cells import cell_len as cell_len
from rich.cells import chop_cells

from tui.text.sanitize import sanitize_lines

Span = tuple[str, str]
"""A text and its role: of `tui/colours.py`, or empty."""
Line = Sequence[Span]

LINK = "link"
"""The role of the sign before what Enter opens."""


def sanitize_line(text: str) -> str:
    """Return a text from outside on one line, without characters that a terminal would interpret."""
    return sanitize_lines(" ".join(text.split()))


def has_words(text: str, query: str) -> bool:
    """Return whether every word of a query occurs in a text, in either case, also as a part of a word."""
    text = text.casefold()
    return all(word in text for word in query.casefold().split())


def width_of(line: Line) -> int:
    """Return the number of columns of a line."""
    return sum([len(text) if text.isascii() else cell_len(text) for text, _ in line])


def side_by_side(left: Sequence[Line], right: Sequence[Line], column: int, beyond: Line = ()) -> list[Line]:
    """Return the lines with those at the right from that column on; `beyond` is there where these end earlier."""
    found: list[Line] = []
    for one, other in zip_longest(left, right):
        one = one or ()
        found.append([*one, (" " * (column - width_of(one)), ""), *(beyond if other is None else other)])
    return found


def cut(text: str, width: int) -> str:
    """Return the text in at most that many columns, cut between words with ` …` at the end.

    Within a word it is cut only where the first one is longer than that and has only letters: `wor…`. A name, a code or
    a figure is whole or not there. Of a path at the end, its last names are there: `…/racwire/racwire.log`."""
    if cell_len(text) <= width:
        return text
    if width < 1 or text.isspace():
        return ""
    kept = _start(text, width - 2)
    if not text[len(kept)].isspace():
        kept = kept[: len(kept) - len(_LAST_WORD.findall(kept)[0])]
    rest = text[len(kept) :].strip()
    kept = kept.rstrip()
    if rest.startswith(("/", "~/")) and (end := _end_of_path(rest, width - cell_len(f"{kept} "))):
        return f"{kept} {end}"
    if kept:
        return f"{kept} …"
    word = text.split()[0]
    margin = " " * min(len(text) - len(text.lstrip()), width - 1)
    return f"{margin}{_start(word, width - 1 - len(margin)) if word.isalpha() else ''}…"


_LAST_WORD = re.compile(r"\S*$")


def _end_of_path(path: str, width: int) -> str:
    """Return as many of the last names of a path as fit, after `…`; empty for more than a path, or where none fits."""
    ends = (f"…{path[at:]}" for at, sign in enumerate(path) if sign == "/" and at)
    return "" if " " in path else next((end for end in ends if cell_len(end) <= width), "")


def _start(text: str, width: int) -> str:
    """Return as many characters of the start of a text as fit."""
    start = chop_cells(text, width)[0] if width > 0 else ""
    return start if cell_len(start) <= width else ""


def fitted(text: str, width: int) -> str:
    """Return the text in exactly that many columns: padded, or cut between words."""
    return padded(cut(text, width), width)


def clipped(name: str, width: int) -> str:
    """Return a name in exactly that many columns: padded, or cut with `…` at the end."""
    return padded(name if cell_len(name) <= width else _start(name, width - 1) + "…"[:width], width)


def padded(text: str, width: int) -> str:
    """Return the text with spaces up to that many columns."""
    return text + " " * (width - cell_len(text))


def wrapped(text: str, width: int) -> list[str]:
    """Return a paragraph in lines of at most that many columns; at least one line."""
    width = max(width, 1)
    lines = textwrap.wrap(sanitize_line(text), width, break_long_words=False, break_on_hyphens=False) or [""]
    return [part for line in lines for part in chopped(line, width)]


def chopped(text: str, width: int) -> list[str]:
    """Return the text in pieces of at most that many columns, for words longer than a line."""
    return chop_cells(text, width) if cell_len(text) > width else [text]


def hanging(start: Line, text: str, width: int, role: str = "", *, indent: int | None = None) -> Iterator[Line]:
    """Yield a paragraph after the start of its first line; further lines are indented to the same column, or to
    `indent`."""
    begin = width_of(start)
    indent = begin if indent is None else indent
    first, *rest = wrapped(text, width - max(begin, indent))
    yield [*start, (first, role)]
    for line in rest:
        yield [(" " * indent, ""), (line, role)] if indent else [(line, role)]


def flowing(start: Line, text: str, width: int, role: str = "", *, indent: int = 2) -> Iterator[Line]:
    """Yield a paragraph after the start of its first line; further lines start at `indent`, further left than the
    first: the form of a narrow pane."""
    begin = width_of(start)
    room = max(width, begin + 1, indent + 1)
    lines = textwrap.wrap(
        sanitize_line(text),
        room,
        initial_indent=" " * begin,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [" " * begin]
    first, *rest = lines
    head, *more = chopped(first[begin:], max(room - begin, 1))
    yield [*start, (head, role)]
    for part in (*more, *(piece for line in rest for piece in chopped(line[indent:], room - indent))):
        yield [(" " * indent, ""), (part, role)]


def command_lines(command: str, indent: int, width: int) -> Iterator[Line]:
    """Yield a command; a long one continues after a backslash, so that it can be copied from the screen."""
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
    """Return a line of shell in parts of at most `room` columns where possible.

    A part never ends inside quotes, where a backslash at the end of a line would belong to the word. A comment at the
    end stays in one part, because a backslash does not continue it."""
    starts = [found.start() for found in _shell_word().finditer(text)]
    comment = next((at for at in starts[1:] if text[at] == "#"), len(text))
    starts = [at for at in starts if at <= comment]
    parts: list[str] = []
    for begin, end in zip(starts, [*starts[1:], len(text)], strict=True):
        word = text[begin:end]
        if parts and cell_len(parts[-1] + word.rstrip()) <= room:
            parts[-1] += word
        else:
            parts.append(word)
    return [part.rstrip() for part in parts] or [""]


@cache
def _shell_word() -> re.Pattern[str]:
    """Return the pattern of a shell word with its quoted parts; a quote without an end counts as a letter."""
    return re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\]|['"\\])+""")


def folded(text: str, indent: int, width: int) -> Iterator[Line]:
    """Yield an original text line by line; a long line continues in the next one, further indented."""
    room = max(width - indent, 12)
    for line in sanitize_lines(text).splitlines():
        parts = textwrap.wrap(line, room, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        for part in parts or [""]:
            for piece in chopped(part, room):
                yield [(" " * indent, ""), (piece, "")]


def plain(lines: Iterable[Line]) -> str:
    """Return the text of the lines, without roles."""
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)
