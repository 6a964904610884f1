"""Text of unknown origin, made harmless for a terminal."""

from __future__ import annotations

from checks.model.sanitize import shown

_PLAIN = str.maketrans(
    {"·": ".", "→": ">", "←": "<", "─": "-", "│": "|", "▶": ">", "✓": "v", "✗": "x", "…": "...", "±": "~"}
)


def sanitize_lines(text: str) -> str:
    """The text with control characters (escape sequences, bidirectional tricks) shown instead of obeyed."""
    return shown(text.expandtabs(8), keep_lines=True)


def for_encoding(text: str, encoding: str | None) -> str:
    """The text in what an output stream can carry: plain signs for drawn ones where it is not Unicode."""
    encoding = encoding or "ascii"
    if encoding.lower().replace("-", "") == "utf8":
        return text.encode("utf-8", errors="backslashreplace").decode("utf-8")
    return text.translate(_PLAIN).encode(encoding, errors="replace").decode(encoding)
