"""Figures with their units, each with a fixed width, so that no column moves. An unknown value is `?`, never 0.

Network rates count bits in units of 1000, as link speeds do; sizes count bytes in units of 1000 too.
"""

from __future__ import annotations

import math
from datetime import datetime, tzinfo

from checks.report import quantities

UNKNOWN = "?"
NONE = "-"
"""A figure without a value, such as the mean size of no packets."""

BITS, SHARE, RATE, SIZE, MS, LOAD, SCALE = 9, 6, 8, 7, 7, 5, 5
"""The width of each kind of figure."""

_PREFIXES = " kMGTPE"


def bits(value: float | None) -> str:
    """Return bits per second: ` 812 Mb/s`."""
    number, prefix = _scaled(value)
    return f"{number:>4} {(prefix + 'b/s').strip():<4}"


def rate(value: float | None) -> str:
    """Return a rate per second: `61.0 k/s`, `0.30/s  `."""
    number, prefix = _scaled(value)
    return f"{number:>4}{f' {prefix}' if prefix.strip() else ''}/s".ljust(RATE)


def size(value: float | None, unknown: str = NONE) -> str:
    """Return bytes: `9.00 kB`; `unknown` where there is no value."""
    number, prefix = _scaled(value, unknown)
    return f"{number:>4} {(prefix + 'B').strip():<2}"


def share(value: float | None) -> str:
    """Return percent: ` 8.1 %`."""
    return f"{_fixed(value, 1):>4} %"


def milliseconds(value: float | None) -> str:
    """Return milliseconds: `0.42 ms`; `-` where there is no value."""
    if value is not None and value >= 9999.5:
        return f"{_significant(value / 1000):>4} s "
    return f"{NONE if value is None else _significant(value):>4} ms"


def less_than_ms(bound: float) -> str:
    """Return an upper bound in milliseconds: `<.14 ms`, `<1.3 ms`, ` <10 ms`."""
    if not 0 < bound < 99.5:
        return f"{UNKNOWN:>4} ms"
    hundredths = max(math.ceil(round(100 * bound, 6)), 1)
    if hundredths < 100:
        return f"<.{hundredths:02} ms"
    return f"{f'<{math.ceil(round(10 * bound, 6)) / 10:g}' if bound < 9.9 else f'<{math.ceil(bound)}':>4} ms"


def load(value: float | None) -> str:
    """Return a load average: ` 14.2`."""
    return f"{_fixed(value, 1):>{LOAD}}"


def scale(top: float) -> str:
    """Return the value at the top of a graph, without its unit: `500M`, `20`, `0.05`. Such values are round numbers."""
    number, step = top, 0
    while number >= 999.5 and step < len(_PREFIXES) - 1:
        number, step = number / 1000, step + 1
    return f"{number:.3g}{_PREFIXES[step].strip()}"[:SCALE]


def speed(mbps: int | None) -> str:
    """Return the speed of a link: `10 Gb/s`."""
    return "speed not known" if mbps is None else quantities.speed(mbps)


def duration(seconds: float) -> str:
    """Return a time span: `15 s`, `2 min`, `3 h`."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length or (seconds >= length and seconds % length == 0):
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:g} s"


def _scaled(value: float | None, unknown: str = UNKNOWN) -> tuple[str, str]:
    """Return three significant digits, and the prefix of their unit."""
    if value is None or not math.isfinite(value):
        return unknown, " "
    step = 0
    # 999.6 would be rounded to the four digits of 1000.
    while abs(value) >= 999.5 and step < len(_PREFIXES) - 1:
        value, step = value / 1000, step + 1
    return _significant(value), _PREFIXES[step]


def _significant(value: float) -> str:
    """Return at most four characters, with a decimal point among them for values below 100."""
    if not math.isfinite(value):
        return UNKNOWN
    if value <= 0:
        return "0"
    if value < 0.005:
        return "<.01"
    if value < 9.995:
        return f"{value:.2f}"
    if value < 99.95:
        return f"{value:.1f}"
    return f"{min(value, 9999):.0f}"


def _fixed(value: float | None, digits: int) -> str:
    if value is None or not math.isfinite(value):
        return UNKNOWN
    least = 10**-digits
    if value >= 9999.5:
        return ">1e4"
    if 0 < value < least / 2:
        return f"<{least:g}"
    return f"{max(value, 0.0):.{digits if value < 100 - least / 2 else 0}f}"


def clock(at: float, zone: tzinfo | None = None, *, date: bool = False, has_zone: bool = True) -> str:
    """Return the time of day in this node's zone, or in `zone` with the name of the zone, unless `has_zone` is false;
    with `date` also the date."""
    try:
        moment = datetime.fromtimestamp(at, zone)
    except (OverflowError, OSError, ValueError):
        return UNKNOWN
    return moment.strftime(f"{'%Y-%m-%d ' if date else ''}%H:%M:%S") + (
        f" {moment.isoformat()[-6:]}" if zone and has_zone else ""
    )
