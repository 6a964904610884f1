"""Functions of all importers: they return values from foreign files only if these have the expected type."""

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
    """Return the value of a JSON text. Raises ImportProblem where the text is not valid JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise ImportProblem(f"{name} is no whole JSON text: {error}.") from error
    except RecursionError as error:
        raise ImportProblem(f"{name} is nested too deeply to be a result.") from error


def table(value: object) -> dict[str, object]:
    """Return a JSON object; an empty one for any other value."""
    return value if isinstance(value, dict) else {}


def tables(value: object) -> list[dict[str, object]]:
    """Return the objects of a JSON array; a single object counts as an array with one object."""
    if isinstance(value, dict):
        return [value]
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def number(value: object) -> float | None:
    """Return a finite number, also from a text such as `1,234.5`; None for anything else."""
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
    """Return a text of one line with at most 400 characters; a number is converted to text."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return " ".join(str(value)[:400].split())
    return ""


def plain(value: float) -> str:
    """Return a number as text: `8192`, `0.5`."""
    return f"{value:.12g}"


def moment(seconds: float | None) -> str:
    """Return a time in seconds since 1970 as ISO 8601; empty for an invalid time."""
    if seconds is None:
        return ""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""


def without_login(connect: str) -> str:
    """Return a connect string without the user and password before its @ or in its parameters."""
    return _LOGIN.sub(r"\1***", word(connect).rpartition("@")[2])


def without_idle_ends(values: Sequence[float]) -> tuple[tuple[float, ...], int, int]:
    """Return the values without the zeros before and after the load, and the numbers of these zeros."""
    busy = [place for place, value in enumerate(values) if value > 0]
    if not busy:
        return (), len(values), 0
    return tuple(values[busy[0] : busy[-1] + 1]), busy[0], len(values) - busy[-1] - 1
