"""Figures with their units for the reports. An unknown figure is `?`, never 0."""

from __future__ import annotations

from checks.model.wording import lasting

_MOST = 1e200
"""Values from this one on are no real measurements."""
_PREFIXES = ("", "k", "M", "G", "T", "P")


def bits(value: float | None) -> str:
    """Return bits per second, in steps of 1000 like link speeds: `812 Mb/s`."""
    number, prefix = _scaled(value)
    return f"{number} {prefix}b/s"


def rate(value: float | None) -> str:
    """Return a rate per second: `1.2/s`, `61.0 k/s`."""
    number, prefix = _scaled(value)
    return f"{number} {prefix}/s" if prefix else f"{number}/s"


def byte_rate(value: float | None) -> str:
    """Return bytes per second: `1.65 MB/s`."""
    number, prefix = _scaled(value)
    return f"{number} {prefix}B/s" if number != "?" else number


def whole(value: float | None) -> str:
    """Return a count: `12,400`; from 1e15 on in scientific notation."""
    if value is None or not abs(value) < _MOST:
        return "?"
    return f"{value:,.0f}" if abs(value) < 1e15 else f"{value:.2e}"


def share(part: float, of: float | None) -> str:
    """Return a share in percent: `0.3 %`; never 0 for a larger share, and empty where the whole is 0 or unknown."""
    if of is None or not 0 < of < _MOST or not abs(part) < _MOST:
        return ""
    percent = 100 * part / of
    if 0 < percent < 0.01:
        return "< 0.01 %"
    return f"{percent:.3g} %" if percent < 999.5 else f"{whole(percent)} %"


def milliseconds(value: float | None, least: float | None = None) -> str:
    """Return a time such as `0.42 ms`, and `–` for None. `least`: the limit to print (`< 0.3 ms`) where `value` is 0
    because the counter is too coarse."""
    if value is None:
        return "–"
    if value == 0 and least is not None and 0 < least < 1e6:
        return f"< {max(least, 0.01):.2g} ms"
    if not abs(value) < _MOST:
        return "?"
    return "< 0.01 ms" if 0 < value < 0.01 else f"{value:.2f} ms" if value < 99.95 else f"{whole(value)} ms"


def seconds(value: float) -> str:
    """Return a time span: `0.8 s`, `25 s`, `3 h 20 min`."""
    if not 0 <= value < 1e12:
        return "?"
    return f"{value:.1f} s".replace(".0 ", " ") if value < 9.95 else lasting(value)


def speed(mbps: int) -> str:
    """Return the speed of a link: `25 Gb/s`."""
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
