"""What a result is written with: headings, sentences and tables. A format decides what each looks like."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from checks.model.facts import Unknown
from checks.model.finding import Table

Look = Literal["", "faint", "pass", "warn", "fail", "unknown"]


@dataclass(frozen=True)
class Heading:
    """The path, or the part of a result, that the following parts are of."""

    kind: ClassVar[str] = "heading"

    text: str


@dataclass(frozen=True)
class Prose:
    """One or more sentences."""

    kind: ClassVar[str] = "prose"

    text: str
    look: Look = ""
    is_of_all: bool = False
    """Whether it is about the whole result, not about the part under the last heading."""


@dataclass(frozen=True)
class Grid:
    """A table with its title. Figures are aligned to the right, the first `words` columns to the left."""

    kind: ClassVar[str] = "grid"

    title: str
    table: Table
    words: int = 0
    minor: tuple[str, ...] = ()
    """The heads of the columns that a narrow screen can do without, first the one to leave out first."""


Part = Heading | Prose | Grid


def grid(
    title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 0, minor: Sequence[str] = ()
) -> Grid:
    """Return a table."""
    return Grid(title, Table(tuple(heads), tuple(tuple(row) for row in rows)), words, tuple(minor))


def figure(value: float | Unknown | None, places: int = 0) -> str:
    """Return a figure for a cell: `too few` where there were too few samples, `-` where there is none."""
    if isinstance(value, Unknown):
        return "too few"
    return "-" if value is None else f"{value:,.{places}f}"
