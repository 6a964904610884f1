"""Times on the command line, and in what it says: `90s`, `30m`, `2h`, `1d`."""

from __future__ import annotations

import re

from tui.cli.errors import UsageError

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s*([smhd]?)", re.ASCII)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_LONGEST_S = 366 * 86_400


def seconds_of(text: str, option: str) -> float:
    """Seconds, of `90`, `90s`, `30m`, `2h` or `1d`. Raises UsageError naming the option."""
    found = _DURATION.fullmatch(text.strip())
    seconds = float(found[1]) * _SECONDS[found[2]] if found else 0.0
    if not 0 < seconds <= _LONGEST_S:
        raise UsageError(f"{option}: write a time such as 90s, 30m, 2h or 1d, not {text!r}.")
    return seconds


def size_of(size_bytes: int) -> str:
    """The size of a file: `812 kB`, `4.1 MB`."""
    return f"{size_bytes / 1e6:,.1f} MB" if size_bytes >= 999_500 else f"{size_bytes / 1e3:,.0f} kB"
