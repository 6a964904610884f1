"""Writes SVG: one self-contained file without scripts, external pictures or external fonts. All text is escaped.

One style sheet has the colours for light and for dark surroundings. Print always uses the light colours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from xml.sax.saxutils import escape, quoteattr

from checks.model.sanitize import sanitize

Markup = str
"""Finished SVG. Only `element` and `text` convert other text to it."""
Scale = Callable[[float], float]
"""The position of a value on an axis, in pixels."""


def linear_scale(low: float, high: float, begin: float, end: float) -> Scale:
    """Return the axis from `begin`, where `low` is, to `end`, where `high` is."""
    return lambda value: begin + (value - low) / ((high - low) or 1.0) * (end - begin)


def log_scale(low: float, high: float, begin: float, end: float) -> Scale:
    """Return a logarithmic axis; all values must be above 0."""
    scale = linear_scale(math.log(low), math.log(high), begin, end)
    return lambda value: scale(math.log(value))


def log_ticks(low: float, high: float) -> tuple[float, ...]:
    """Return round values, from the last one not above `low` to the first one not below `high`: 10, 20, 50, 100 ...

    Both must be above 0. Over more than three decades, only powers of ten.
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1.0, 2.0, 5.0) if last - first <= 3 else (1.0,)
    every = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    begin = max(tick for tick in every if tick <= low * (1 + 1e-9))
    end = min((tick for tick in every if tick >= high * (1 - 1e-9)), default=every[-1])
    return tuple(tick for tick in every if begin <= tick <= end)


def text(content: str) -> Markup:
    """Return text of any origin as SVG: escaped, and sanitized of characters that XML forbids or that change the text
    direction."""
    return escape(sanitize(content))


def element(tag: str, *children: Markup, **attributes: str | float) -> Markup:
    """Return an element. In attribute names `_` stands for `-`, and `class_` for `class`; lengths are in pixels."""
    written = "".join(
        f" {name.rstrip('_').replace('_', '-')}={quoteattr(_value(value))}" for name, value in attributes.items()
    )
    return f"<{tag}{written}>{''.join(children)}</{tag}>" if children else f"<{tag}{written}/>"


def label(x: float, y: float, content: str, class_: str = "", *, anchor: str = "start", tip: str = "") -> Markup:
    """Return a line of text. `anchor` says whether x is its `start`, `middle` or `end`; `tip` is its tooltip."""
    inner = (text(content), element("title", text(tip))) if tip else (text(content),)
    return element("text", *inner, x=x, y=y, text_anchor=anchor, class_=class_)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """Return a straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def dot(x: float, y: float, radius: float, class_: str) -> Markup:
    """Return a circle; its class says whether it is filled or hollow."""
    return element("circle", cx=x, cy=y, r=radius, class_=class_)


def polyline(points: Iterable[tuple[float, float]], class_: str) -> Markup:
    """Return straight lines from point to point."""
    return element("polyline", points=" ".join(f"{_value(x)},{_value(y)}" for x, y in points), class_=class_)


def path(steps: str, class_: str) -> Markup:
    """Return a line or an area from SVG path commands such as `M0,40V12H2V14H4`. The line keeps its width in a
    stretched picture."""
    return element("path", d=steps, class_=class_, vector_effect="non-scaling-stroke")


def box(x: float, y: float, width: float, height: float, class_: str) -> Markup:
    """Return a filled rectangle."""
    return element("rect", x=x, y=y, width=width, height=height, class_=class_)


def picture(
    width: float, height: float, title: str, description: str, children: Iterable[Markup], **attributes: str
) -> Markup:
    """Return a picture for an HTML page, drawn in these units and in the colours of the page's style sheet. Screen
    readers read the title and the description."""
    return element(
        "svg",
        element("title", text(title)),
        element("desc", text(description)),
        *children,
        viewBox=f"0 0 {_value(width)} {_value(height)}",
        **attributes,
        role="img",
    )


def document(width: float, height: float, title: str, description: str, children: Iterable[Markup]) -> str:
    """Return a whole SVG file. Screen readers and searches read the title and the description."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        + element(
            "svg",
            element("title", text(title), id="title"),
            element("desc", text(description), id="desc"),
            element("style", _STYLE),
            element("rect", width=width, height=height, class_="paper"),
            *(f"\n{child}" for child in children),
            "\n",
            xmlns="http://www.w3.org/2000/svg",
            width=width,
            height=height,
            viewBox=f"0 0 {_value(width)} {_value(height)}",
            role="img",
            aria_labelledby="title desc",
        )
        + "\n"
    )


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return sanitize(value)
    return f"{value:.1f}".removesuffix(".0")


_STYLE = """
text { font: 12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1b1f24 }
.title { font-size: 17px; font-weight: 600 }
.heading { font-size: 13px; font-weight: 600 }
.faint { fill: #57606a; font-size: 11px }
.paper { fill: #ffffff }
.rule { stroke: #d0d7de; stroke-width: 1 }
.before { fill: none; stroke: #0072b2; stroke-width: 1.3 }
.after { fill: #d55e00; stroke: #d55e00; stroke-width: 1.3 }
.same { fill: none; stroke: #6e7781; stroke-width: 1.3 }
.before-line { fill: none; stroke: #0072b2; stroke-width: 1.5; stroke-dasharray: 5 3 }
.after-line { fill: none; stroke: #d55e00; stroke-width: 1.5 }
.before-bar { stroke: #0072b2; stroke-width: 3.5; stroke-opacity: 0.55 }
.after-bar { stroke: #d55e00; stroke-width: 3.5; stroke-opacity: 0.55 }
.worse { fill: #b3261e; font-weight: 600 }
.better { fill: #1a7f37; font-weight: 600 }
.differs { fill: #0550ae; font-weight: 600 }
.shifted { fill: #8250df; font-weight: 600 }
.silence { fill: #b3261e }
.mark { stroke: #8250df; stroke-width: 1.3; stroke-dasharray: 6 3 }
@media screen and (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.faint { fill: #9198a1 }
.paper { fill: #0d1117 }
.rule { stroke: #3d444d }
.before { stroke: #56b4e9 }
.after { fill: #f0883e; stroke: #f0883e }
.same { stroke: #9198a1 }
.before-line { stroke: #56b4e9 }
.after-line { stroke: #f0883e }
.before-bar { stroke: #56b4e9 }
.after-bar { stroke: #f0883e }
.worse { fill: #ff7b72 }
.better { fill: #3fb950 }
.differs { fill: #79c0ff }
.shifted { fill: #d2a8ff }
.silence { fill: #ff7b72 }
.mark { stroke: #d2a8ff }
}
"""
