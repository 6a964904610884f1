"""Text of unknown origin, made harmless for a terminal."""

from __future__ import annotations

import re
from functools import cache

_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
_PLAIN = str.maketrans(
    {"·": ".", "→": ">", "←": "<", "─": "-", "│": "|", "▶": ">", "✓": "v", "✗": "x", "…": "...", "±": "~"}
)


@cache
def _control() -> re.Pattern[str]:
    return re.compile(_CONTROL)  # takes a millisecond or two, which the first screen need not wait for


def printable(text: str) -> str:
    """The text with control characters (escape sequences, bidirectional tricks) shown instead of obeyed."""
    return _control().sub(lambda found: f"\\x{ord(found[0]):02x}", text.expandtabs(8))


def for_encoding(text: str, encoding: str | None) -> str:
    """The text in what an output stream can carry: plain signs for drawn ones where it is not Unicode."""
    encoding = encoding or "ascii"
    if encoding.lower().replace("-", "") == "utf8":
        return text.encode("utf-8", errors="backslashreplace").decode("utf-8")
    return text.translate(_PLAIN).encode(encoding, errors="replace").decode(encoding)
