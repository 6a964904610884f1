"""Pictures of the report: one strip for each node, interface or instance, one below the other, all with one scale.

The text next to a strip is text of the page, so that it stays readable at every width and on paper. The strip itself is
SVG without text, stretched to the available width. Colour only repeats what the shape of a line or a label says.
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
"""The height of a strip and the distance of the top value from its upper edge, in units. A slot is one unit wide."""
_LEAST = 4
"""The height of the smallest value above 0, in units: it must be visible."""

Values = Sequence[float | None]
"""The values of one figure in equal steps of time. None is an unknown value, which is never drawn as 0."""

CurveStyle = Literal["area", "line", "bars"]


@dataclass(frozen=True)
class Curve:
    """One figure in a strip."""

    values: Values
    style: CurveStyle
    """An `area` with its edge, a dashed `line`, or filled `bars` for losses and failures."""


@dataclass(frozen=True)
class Strip:
    """A picture in one row, with its name and its caption."""

    name: str
    picture: Markup
    caption: str
    """The main figures of the picture."""


@dataclass(frozen=True)
class Figure:
    """Strips with one scale."""

    title: str
    sentence: str
    """The subject of the picture and its scale."""
    strips: tuple[Strip, ...]
    legend: tuple[tuple[str, str], ...] = ()
    """The CSS classes of the signs in the picture, and the meaning of each."""
    axis: tuple[str, ...] = ()
    """The times from the left to the right edge."""


def strip(name: str, curves: Sequence[Curve], top: float, title: str, caption: str) -> Strip:
    """Return a picture of figures over time. `top` is the value of the full height; values must be finite."""
    parts = [*_gaps(curves)]
    for curve in curves:
        parts += _curve(curve, top)
    return _made(name, len(curves[0].values), parts, title, caption)


def bar(name: str, value: float, top: float, title: str, caption: str) -> Strip:
    """Return a bar whose length is one figure of the whole time. `top` is the value of the full length."""
    length = 0.0 if value <= 0 or top <= 0 else max(100 * min(value / top, 1.0), 0.4)
    return _made(name, 100, [svg.box(0, _HEIGHT / 4, length, _HEIGHT / 2, "bars")] if length else [], title, caption)


def nice_top(highest: float) -> float:
    """Return the smallest of 1, 2, 5, 10, ... that is not below `highest`, as a scale that is easy to read. 1 for 0."""
    if not 0 < highest < 1e200:
        return 1.0
    power = 10.0 ** math.floor(math.log10(highest))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0, 20.0) if step * power >= highest)


def _made(name: str, width: int, parts: Sequence[svg.Markup], title: str, caption: str) -> Strip:
    floor = svg.path(f"M0,{_HEIGHT}h{width}", "rule")
    # Without visible text, it can be stretched to the available room.
    drawn = svg.picture(width, _HEIGHT, title, caption, [*parts, floor], preserveAspectRatio="none")
    return Strip(name, Markup(drawn), caption)  # noqa: S704 - the writer of SVG escapes all text


def _gaps(curves: Sequence[Curve]) -> Iterator[svg.Markup]:
    """Yield a box for each time in which every curve is unknown."""
    unknown = [all(curve.values[place] is None for curve in curves) for place in range(len(curves[0].values))]
    for begin, end in _runs(unknown):
        yield svg.box(begin, 0, end - begin, _HEIGHT, "gap")


def _curve(curve: Curve, top: float) -> Iterator[svg.Markup]:
    """Yield one stepped line for each span without a gap. Lines are stepped because a value is the mean of its slot."""
    for begin, end in _runs([value is not None for value in curve.values]):
        heights = [_height(value or 0.0, top) for value in curve.values[begin:end]]
        if curve.style == "line":
            yield svg.path(f"M{begin},{heights[0]}{_steps(heights)}", "line")
        else:
            yield svg.path(f"M{begin},{_HEIGHT}V{heights[0]}{_steps(heights)}V{_HEIGHT}Z", curve.style)


def _steps(heights: Sequence[int]) -> str:
    """The SVG path from slot to slot: `h` to the right, `v` up or down; equal heights are one step."""
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
    """The distance of a value from the upper edge, in units."""
    if value <= 0:
        return _HEIGHT
    return _HEIGHT - max(round((_HEIGHT - _TOP) * min(value / top, 1.0)), _LEAST)


def _runs(flags: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield start and end of each run of set flags, the end excluded."""
    begin: int | None = None
    for place, flag in enumerate([*flags, False]):
        if flag and begin is None:
            begin = place
        elif not flag and begin is not None:
            yield begin, place
            begin = None
