"""Times and sizes on the command line: `90s`, `30m`, `2h`, `1d`; `4.1 MB`."""

from __future__ import annotations

import re

from tui.cli.errors import UsageError

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s*([smhd]?)", re.ASCII)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_LONGEST_S = 366 * 86_400


def seconds_of(text: str, option: str) -> float:
    """The seconds in `90`, `90s`, `30m`, `2h` or `1d`. Raises UsageError, which names the option, else."""
    found = _DURATION.fullmatch(text.strip())
    seconds = float(found[1]) * _SECONDS[found[2]] if found else 0.0
    if not 0 < seconds <= _LONGEST_S:
        raise UsageError(f"{option}: {text!r} is not a time; use one such as 90s, 30m, 2h or 1d.")
    return seconds


def size_of(size_bytes: int) -> str:
    """The size of a file as text: `812 kB`, `4.1 MB`."""
    return f"{size_bytes / 1e6:,.1f} MB" if size_bytes >= 999_500 else f"{size_bytes / 1e3:,.0f} kB"
