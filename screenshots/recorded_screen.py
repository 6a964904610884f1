"""The screens of an asciicast: what a terminal shows after each output of racwire's console."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.cells import cell_len
from rich.color import Color

_PARTS = re.compile(r"\x1b\[([?>=<]?)([\d;]*)([$]?[@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1bP.*?\x1b\\|([\s\S])")
_UNFINISHED = re.compile(r"\x1b(?:\[[?>=<\d;$]*|\][^\x07\x1b]*|P[^\x1b]*)?\Z")
_WITHOUT_EFFECT = ("h", "l", "u", "$p", "c")
"""Ends of sequences that switch modes or ask the terminal."""


@dataclass(frozen=True)
class Look:
    """The look of a cell; colours as `#rrggbb`, empty for those of the terminal."""

    colour: str = ""
    ground: str = ""
    is_bold: bool = False
    is_underlined: bool = False
    is_reversed: bool = False


Cell = tuple[str, Look]
"""A character, empty at the right half of a wide one."""
Row = tuple[Cell, ...]
_BLANK: Cell = (" ", Look())


@dataclass(frozen=True)
class Shown:
    """What the terminal shows from a time on."""

    at_s: float
    rows: tuple[Row, ...]
    note: str = ""
    """The newest marker of the recording: what happens."""


@dataclass
class Screen:
    """A terminal with the sequences that the console sends."""

    columns: int
    lines: int
    rows: list[list[Cell]] = field(init=False)
    look: Look = field(default_factory=Look)
    x: int = 0
    y: int = 0
    _rest: str = ""
    """The start of a sequence that goes on in the next output."""

    def __post_init__(self) -> None:
        self.rows = [[_BLANK] * self.columns for _ in range(self.lines)]

    def feed(self, text: str) -> None:
        """Show an output. Raises ValueError for a sequence that is not known here."""
        text = self._rest + text
        self._rest = found[0] if (found := _UNFINISHED.search(text)) else ""
        text = text.removesuffix(self._rest)
        for found in _PARTS.finditer(text):
            private, numbers, end, sign = found.groups()
            if sign:
                self._write(sign)
            elif end and not private and end not in _WITHOUT_EFFECT:
                self._obey(end, [int(number or 0) for number in numbers.split(";")])

    @property
    def lines_of_text(self) -> list[str]:
        """The lines of the screen without their looks."""
        return ["".join(sign for sign, _ in row).rstrip() for row in self.rows]

    def _write(self, sign: str) -> None:
        if sign == "\r":
            self.x = 0
        elif sign == "\n":
            self.y = min(self.y + 1, self.lines - 1)
        elif sign == "\x1b":
            raise ValueError("an escape sequence of this recording is not known")
        elif self.x < self.columns and sign >= " ":
            wide = cell_len(sign)
            for cell in [(sign, self.look), ("", self.look)][:wide]:
                self.rows[self.y][min(self.x, self.columns - 1)] = cell
                self.x += 1

    def _obey(self, end: str, numbers: Sequence[int]) -> None:
        row, count = self.rows[self.y], max(numbers[0], 1)
        if end == "H":
            self.y, self.x = (max(number, 1) - 1 for number in (*numbers, 1)[:2])
        elif end == "C":
            self.x += count
        elif end == "P":
            row[self.x :] = [*row[self.x + count :], *[_BLANK] * count][: self.columns - self.x]
        elif end == "@":
            row[self.x :] = [*[_BLANK] * count, *row[self.x :]][: self.columns - self.x]
        elif end == "J":
            self.rows = [[_BLANK] * self.columns for _ in range(self.lines)]
        elif end == "m":
            self._style(list(numbers))
        else:
            raise ValueError(f"the sequence CSI {numbers} {end} of this recording is not known")

    def _style(self, codes: list[int]) -> None:
        while codes:
            code = codes.pop(0)
            if code in (38, 48):
                kind = codes.pop(0)
                wanted = Color.from_rgb(*codes[:3]) if kind == 2 else Color.from_ansi(codes[0])
                del codes[: 3 if kind == 2 else 1]
                self.look = replace(self.look, **{"colour" if code == 38 else "ground": wanted.get_truecolor().hex})
            elif code == 0:
                self.look = Look()
            elif code in (1, 4, 7):
                name = {1: "is_bold", 4: "is_underlined", 7: "is_reversed"}[code]
                self.look = replace(self.look, **{name: True})  # type: ignore[arg-type]
            elif code not in (2, 3):
                raise ValueError(f"the style {code} of this recording is not known")


def screens_of(cast: Path) -> Iterator[Shown]:
    """Yield the screen after each output of an asciicast 2. Raises ValueError for what is not known here."""
    head, *events = map(json.loads, cast.read_text(encoding="utf-8").splitlines())
    screen = Screen(head["width"], head["height"])
    note = ""
    for at_s, kind, text in events:
        if kind == "o":
            screen.feed(text)
        elif kind == "m":
            note = text
        yield Shown(at_s, tuple(map(tuple, screen.rows)), note)
