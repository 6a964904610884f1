"""Graphs in one line of text or in several: the newest value at the right, a gap where a value is not known.

The lowest mark stands for 0 only; a gap is blank. A line is one string, because each piece with its own style costs
some forty bytes on the wire.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

Style = Literal["blocks", "braille", "ascii"]

GAP = " "
_RAMPS = {"blocks": "▁▂▃▄▅▆▇█", "ascii": "_.,-=+*#"}
_BRAILLE = 0x2800
_LEFT, _RIGHT = (0x40, 0x44, 0x46, 0x47), (0x80, 0xA0, 0xB0, 0xB8)
"""Dots from the lowest one up, in the two columns of a braille sign."""

_SHRINK_BELOW = 0.35
"""Share of the scale below which a smaller scale replaces it, so that not every change of the values rescales."""

Values = Sequence[float | None]


def graph(values: Values, width: int, top: float | None = None, style: Style = "blocks") -> str:
    """Return a graph of the newest `points(width, style)` values in exactly `width` columns.

    `top` is the value that fills a column; without it, a round number at or above all values. A value above `top` is
    drawn as `top`, a value below 0 as 0, and NaN as a gap.
    """
    if width <= 0:
        return ""
    shown = _last(values, points(width, style))
    scale = nice_top(shown) if top is None else top
    if style == "braille":
        pairs = zip(shown[::2], shown[1::2], strict=True)
        return "".join(_braille(left, right, scale) for left, right in pairs)
    ramp = _RAMPS[style]
    return "".join(GAP if value is None else ramp[_level(value, scale, len(ramp) - 1)] for value in shown)


def tall_graph(values: Values, width: int, height: int, top: float | None = None, style: Style = "blocks") -> list[str]:
    """Return a graph that is `height` lines high, the highest line first."""
    if height <= 1 or width <= 0:
        return [graph(values, width, top, style)] * min(height, 1)
    shown = _last(values, points(width, style))
    scale = nice_top(shown) if top is None else top
    if style == "braille":
        pairs = zip(shown[::2], shown[1::2], strict=True)
        columns = [
            "".join(_braille(left, right, scale, below, height) for below in range(height - 1, -1, -1))
            for left, right in pairs
        ]
    else:
        columns = [column(value, height, scale, style) for value in shown]
    return ["".join(line) for line in zip(*columns, strict=True)]


def column(value: float | None, height: int, top: float, style: Style) -> str:
    """Return the characters of one value in a graph of blocks or ASCII, from the highest line to the lowest one."""
    if value is None or not math.isfinite(value):
        return GAP * height
    ramp = _RAMPS["ascii" if style == "ascii" else "blocks"]
    steps = len(ramp)
    level = 1 + _level(value, top, height * steps - 1)
    return "".join(
        GAP if level <= below else ramp[min(level - below, steps) - 1]
        for below in range((height - 1) * steps, -1, -steps)
    )


def points(width: int, style: Style) -> int:
    """Return how many values fit."""
    return 2 * width if style == "braille" else width


def nice_top(values: Values, before: float | None = None) -> float:
    """Return a round number (1, 2 or 5 times a power of ten) at or above all values; `before`, while that still
    fits."""
    highest = max(filter(None, values), default=0.0)
    if not math.isfinite(sum(filter(None, values))):
        highest = max((v for v in map(_number, values) if v is not None), default=0.0)
    if before is not None and highest <= before and highest >= _SHRINK_BELOW * before:
        return before
    if highest <= 0:
        return 1.0 if before is None else before
    unit = 10.0 ** math.floor(math.log10(highest))
    return next((unit * step for step in (1, 2, 5) if unit * step >= highest), unit * 10) or highest


def _last(values: Values, count: int) -> list[float | None]:
    newest = [_number(value) for value in values[-count:]]
    return [None] * (count - len(newest)) + newest


def _number(value: float | None) -> float | None:
    """Return a value that can be drawn: None, or a finite number of at least 0."""
    return None if value is None or not math.isfinite(value) else max(value, 0.0)


def _level(value: float, top: float, highest: int) -> int:
    """Return 0 for 0, otherwise a level from 1 to `highest`."""
    if value <= 0:
        return 0
    share = min(value / top, 1.0) if top > 0 else 1.0
    return min(max(math.ceil(share * highest), 1), highest)


def _braille(left: float | None, right: float | None, top: float, below: int = 0, height: int = 1) -> str:
    """Return the sign of two values in the line that has `below` lines below it, of `height` lines."""
    dots = 0
    for value, marks in ((left, _LEFT), (right, _RIGHT)):
        if value is not None and (filled := 1 + _level(value, top, 4 * height - 1) - 4 * below) > 0:
            dots |= marks[min(filled, 4) - 1]
    return chr(_BRAILLE + dots) if dots else GAP
