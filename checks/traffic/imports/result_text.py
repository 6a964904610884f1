"""What the importers share: values from files that others wrote, taken only where they are what they should be."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from checks.traffic.compare.run import ImportProblem

_LOGIN = re.compile(
    r"""(\w*(?:passw(?:or)?d|pwd|passphrase|secret|token|user(?:_?name)?|uid)\w*\s*=\s*)("[^"]*"?|'[^']*'?|[^)&;,\s]+)""",
    re.IGNORECASE,
)


def decoded(text: str, name: str) -> object:
    """The value of a JSON text. Raises ImportProblem."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise ImportProblem(f"{name} is no whole JSON text: {error}.") from error
    except RecursionError as error:
        raise ImportProblem(f"{name} is nested too deeply to be a result.") from error


def table(value: object) -> dict[str, object]:
    """A JSON object; an empty one where it is something else."""
    return value if isinstance(value, dict) else {}


def tables(value: object) -> list[dict[str, object]]:
    """The objects of a JSON array, or the one that stands where an array should."""
    if isinstance(value, dict):
        return [value]
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def number(value: object) -> float | None:
    """A finite number, also where it is written as text (`1,234.5`); None for anything else."""
    if isinstance(value, str):
        try:
            value = float(value.replace(",", "").strip())
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def word(value: object) -> str:
    """A text of one line and of sensible length; numbers as they would be written."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return " ".join(str(value)[:400].split())
    return ""


def plain(value: float) -> str:
    """A number in words: `8192`, `0.5`."""
    return f"{value:.12g}"


def moment(seconds: float | None) -> str:
    """A time in seconds since 1970 as ISO 8601; empty where it is none."""
    if seconds is None:
        return ""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""


def without_login(connect: str) -> str:
    """A connect string without the user and password that may stand before its @ or among its parameters."""
    return _LOGIN.sub(r"\1***", word(connect).rpartition("@")[2])


def without_idle_ends(values: Sequence[float]) -> tuple[tuple[float, ...], int, int]:
    """Values without the zeros before the load began and after it ended, and how many these were."""
    busy = [place for place, value in enumerate(values) if value > 0]
    if not busy:
        return (), len(values), 0
    return tuple(values[busy[0] : busy[-1] + 1]), busy[0], len(values) - busy[-1] - 1
