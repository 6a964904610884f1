"""Sanitizes text of unknown origin for a terminal."""

from __future__ import annotations

from checks.model.sanitize import sanitize

_PLAIN = str.maketrans(
    {"·": ".", "→": ">", "←": "<", "─": "-", "│": "|", "▶": ">", "✓": "v", "✗": "x", "…": "...", "±": "~"}
)


def sanitize_lines(text: str) -> str:
    """Return the text with control characters (escape sequences, bidirectional marks) replaced by visible text."""
    return sanitize(text.expandtabs(8), keep_lines=True)


def for_encoding(text: str, encoding: str | None) -> str:
    """Return the text with only characters of an encoding: ASCII replaces line-drawing characters where needed."""
    encoding = encoding or "ascii"
    if encoding.lower().replace("-", "") == "utf8":
        return text.encode("utf-8", errors="backslashreplace").decode("utf-8")
    return text.translate(_PLAIN).encode(encoding, errors="replace").decode(encoding)
