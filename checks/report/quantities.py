"""Figures with their units, as the report writes them. What cannot be told is `?`, never 0."""

from __future__ import annotations

from checks.model.wording import lasting

_MOST = 1e200
"""What is not below it is no figure that anybody counted."""
_PREFIXES = ("", "k", "M", "G", "T", "P")


def bits(value: float | None) -> str:
    """Bits a second, in steps of 1000 as link speeds: `812 Mb/s`."""
    number, prefix = _scaled(value)
    return f"{number} {prefix}b/s"


def rate(value: float | None) -> str:
    """So many a second: `1.2/s`, `61.0 k/s`."""
    number, prefix = _scaled(value)
    return f"{number} {prefix}/s" if prefix else f"{number}/s"


def whole(value: float | None) -> str:
    """A count: `12,400`; one that nobody can count in a row, in short."""
    if value is None or not abs(value) < _MOST:
        return "?"
    return f"{value:,.0f}" if abs(value) < 1e15 else f"{value:.2e}"


def share(part: float, of: float | None) -> str:
    """In percent, never 0 for what is more: `0.3 %`; nothing where there is nothing to share."""
    if of is None or not 0 < of < _MOST or not abs(part) < _MOST:
        return ""
    percent = 100 * part / of
    if 0 < percent < 0.01:
        return "< 0.01 %"
    return f"{percent:.3g} %" if percent < 999.5 else f"{whole(percent)} %"


def milliseconds(value: float | None, least: float | None = None) -> str:
    """`0.42 ms`; nothing to tell where nothing came. `least`: what it is less than where it was counted as 0."""
    if value is None:
        return "–"
    if value == 0 and least is not None and 0 < least < 1e6:
        return f"< {max(least, 0.01):.2g} ms"
    if not abs(value) < _MOST:
        return "?"
    return "< 0.01 ms" if 0 < value < 0.01 else f"{value:.2f} ms" if value < 99.95 else f"{whole(value)} ms"


def seconds(value: float) -> str:
    """A time span: `0.8 s`, `25 s`, `3 h 20 min`."""
    if not 0 <= value < 1e12:
        return "?"
    return f"{value:.1f} s".replace(".0 ", " ") if value < 9.95 else lasting(value)


def speed(mbps: int) -> str:
    """The speed of a link: `25 Gb/s`."""
    return f"{mbps / 1000:g} Gb/s" if mbps >= 1000 else f"{mbps} Mb/s"


def _scaled(value: float | None) -> tuple[str, str]:
    if value is None or not abs(value) < _MOST:
        return "?", ""
    step = 0
    while abs(value) >= 999.5 and step < len(_PREFIXES) - 1:
        value, step = value / 1000, step + 1
    if value >= 999_999:
        return f"{value:.2e}", _PREFIXES[step]
    if 0 < value < 0.01:
        return "< 0.01", _PREFIXES[step]
    written = f"{value:.3g}" if value < 99.95 else f"{value:.0f}"
    return written, _PREFIXES[step]
