"""Figures with their units, each always equally wide, so that no column moves. What is not known is `?`, never 0.

Network rates count bits in steps of 1000, as link speeds do; sizes count bytes in steps of 1000 too.
"""

from __future__ import annotations

import math
from datetime import datetime, tzinfo

from checks.report import quantities

UNKNOWN = "?"
NONE = "-"
"""Where there is nothing to tell: the mean size of no packets."""

BITS, SHARE, RATE, SIZE, MS, LOAD = 9, 6, 8, 7, 7, 5
"""The columns that each kind of figure takes."""

_PREFIXES = " kMGTPE"


def bits(value: float | None) -> str:
    """Bits per second: ` 812 Mb/s`."""
    number, prefix = _scaled(value)
    return f"{number:>4} {(prefix + 'b/s').strip():<4}"


def rate(value: float | None) -> str:
    """So many a second: `61.0 k/s`, `0.30/s  `."""
    number, prefix = _scaled(value)
    return f"{number:>4}{f' {prefix}' if prefix.strip() else ''}/s".ljust(RATE)


def size(value: float | None, unknown: str = NONE) -> str:
    """Bytes: `9.00 kB`; nothing to tell where there were no packets."""
    number, prefix = _scaled(value, unknown)
    return f"{number:>4} {(prefix + 'B').strip():<2}"


def share(value: float | None) -> str:
    """Percent: ` 8.1 %`."""
    return f"{_fixed(value, 1):>4} %"


def milliseconds(value: float | None) -> str:
    """Milliseconds: `0.42 ms`; nothing to tell where nothing came."""
    if value is not None and value >= 9999.5:
        return f"{_significant(value / 1000):>4} s "
    return f"{NONE if value is None else _significant(value):>4} ms"


def less_than_ms(bound: float) -> str:
    """Milliseconds of which only that is known: `<.14 ms`, `<1.3 ms`, ` <10 ms`."""
    if not 0 < bound < 99.5:
        return f"{UNKNOWN:>4} ms"
    hundredths = max(math.ceil(round(100 * bound, 6)), 1)
    if hundredths < 100:
        return f"<.{hundredths:02} ms"
    return f"{f'<{math.ceil(round(10 * bound, 6)) / 10:g}' if bound < 9.9 else f'<{math.ceil(bound)}':>4} ms"


def load(value: float | None) -> str:
    """A load average: ` 14.2`."""
    return f"{_fixed(value, 1):>{LOAD}}"


def speed(mbps: int | None) -> str:
    """The speed of a link, in few signs: `10 Gb/s`."""
    return "speed not known" if mbps is None else quantities.speed(mbps)


def duration(seconds: float) -> str:
    """A time span, in few signs: `15 s`, `2 min`, `3 h`."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length or (seconds >= length and seconds % length == 0):
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:g} s"


def _scaled(value: float | None, unknown: str = UNKNOWN) -> tuple[str, str]:
    """Three significant digits, and the prefix of the unit that they count."""
    if value is None or not math.isfinite(value):
        return unknown, " "
    step = 0
    # 999.6 would be rounded to the four digits of 1000.
    while abs(value) >= 999.5 and step < len(_PREFIXES) - 1:
        value, step = value / 1000, step + 1
    return _significant(value), _PREFIXES[step]


def _significant(value: float) -> str:
    """At most four signs, a point among them; a whole number has no point unless it is counted in thousands."""
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


def clock(at: float, zone: tzinfo | None = None, *, date: bool = False, told: bool = True) -> str:
    """The time of day in this node's zone, or in another, which is told then, unless it is where that stands already;
    with the date where it may be another day's."""
    try:
        moment = datetime.fromtimestamp(at, zone)
    except (OverflowError, OSError, ValueError):
        return UNKNOWN
    return moment.strftime(f"{'%Y-%m-%d ' if date else ''}%H:%M:%S") + (
        f" {moment.isoformat()[-6:]}" if zone and told else ""
    )
