"""Pictures of the report: strips below each other, one for each node, interface or instance, all to one scale.

Words and figures stand beside a strip as text of the page, so that they stay readable at every width and on paper; the
strip itself is SVG without text, stretched to its room. Colour only repeats what a line's shape or a word says.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from checks.report import svg

_HEIGHT, _TOP = 100, 2
"""A strip is so many units high, the highest value just below its upper edge; each place is one unit wide."""
_LEAST = 4
"""How high the smallest value is that is more than 0: it must be seen."""

Values = Sequence[float | None]
"""One figure in the course of time, at equal steps; None where nothing is known of it, which is never drawn as 0."""

Look = Literal["area", "line", "bars"]


@dataclass(frozen=True)
class Curve:
    """One figure in a strip."""

    values: Values
    look: Look
    """An `area` with its edge, a dashed `line`, or filled `bars` of what ought not to be."""


@dataclass(frozen=True)
class Strip:
    """A picture in one row, and what stands beside it."""

    name: str
    picture: Markup
    told: str
    """What it shows, in figures."""


@dataclass(frozen=True)
class Figure:
    """Strips to one scale."""

    title: str
    sentence: str
    """What is drawn, and to which scale."""
    strips: tuple[Strip, ...]
    legend: tuple[tuple[str, str], ...] = ()
    """Classes of signs that occur, and what they mean."""
    axis: tuple[str, ...] = ()
    """The times at the left and the right edge, and in between."""


def strip(name: str, curves: Sequence[Curve], top: float, title: str, told: str) -> Strip:
    """Figures over time. `top` is what the full height stands for; values must be finite."""
    parts = [*_gaps(curves)]
    for curve in curves:
        parts += _curve(curve, top)
    return _made(name, len(curves[0].values), parts, title, told)


def level(name: str, value: float, top: float, title: str, told: str) -> Strip:
    """One figure over the whole time: a bar as long as it is large."""
    length = 0.0 if value <= 0 or top <= 0 else max(100 * min(value / top, 1.0), 0.4)
    return _made(name, 100, [svg.box(0, _HEIGHT / 4, length, _HEIGHT / 2, "bars")] if length else [], title, told)


def nice_top(highest: float) -> float:
    """The next of 1, 2, 5, 10, ... that is not below it: a full height that people can divide. 1 where nothing is."""
    if not 0 < highest < 1e200:
        return 1.0
    power = 10.0 ** math.floor(math.log10(highest))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0, 20.0) if step * power >= highest)


def _made(name: str, width: int, parts: Sequence[svg.Markup], title: str, told: str) -> Strip:
    floor = svg.path(f"M0,{_HEIGHT}h{width}", "rule")
    drawn = svg.stretched(width, _HEIGHT, title, told, [*parts, floor])
    return Strip(name, Markup(drawn), told)  # noqa: S704 - the writer of SVG escapes all text


def _gaps(curves: Sequence[Curve]) -> Iterator[svg.Markup]:
    """What nothing is known of in any curve."""
    unknown = [all(curve.values[place] is None for curve in curves) for place in range(len(curves[0].values))]
    for begin, end in _runs(unknown):
        yield svg.box(begin, 0, end - begin, _HEIGHT, "gap")


def _curve(curve: Curve, top: float) -> Iterator[svg.Markup]:
    """Each stretch without a gap as a line of its own, in steps: a value is the mean of its time."""
    for begin, end in _runs([value is not None for value in curve.values]):
        heights = [_height(value or 0.0, top) for value in curve.values[begin:end]]
        if curve.look == "line":
            yield svg.path(f"M{begin},{heights[0]}{_steps(heights)}", "line")
        else:
            yield svg.path(f"M{begin},{_HEIGHT}V{heights[0]}{_steps(heights)}V{_HEIGHT}Z", curve.look)


def _steps(heights: Sequence[int]) -> str:
    """From place to place: `h` to the right, `v` up or down; heights that repeat are one step."""
    steps: list[str] = []
    width = 1
    for before, height in itertools.pairwise(heights):
        if height == before:
            width += 1
        else:
            steps.append(f"h{width}v{height - before}")
            width = 1
    return "".join([*steps, f"h{width}"])


def _height(value: float, top: float) -> int:
    """Where a value lies, from above."""
    if value <= 0:
        return _HEIGHT
    return _HEIGHT - max(round((_HEIGHT - _TOP) * min(value / top, 1.0)), _LEAST)


def _runs(flags: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Where flags are set: beginnings and ends, the end excluded."""
    begin: int | None = None
    for place, flag in enumerate([*flags, False]):
        if flag and begin is None:
            begin = place
        elif not flag and begin is not None:
            yield begin, place
            begin = None
