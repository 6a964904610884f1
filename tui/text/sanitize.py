"""Sanitizes text of unknown origin for a terminal, and replaces signs that its encoding lacks."""

from __future__ import annotations

import codecs

from checks.model.sanitize import sanitize

_PLAIN = {
    **{ord(sign): plain for sign, plain in zip("·→←─│▶▸▾✓✗±↑↓█", ".><-|>>vvx~^v#", strict=True)},
    **{ord(sign): plain for sign, plain in zip("µμ×°²³–—−‘’“”≤≥≠≈∞Ø", "uux^23---''\"\"<>!~8O", strict=True)},
    ord("…"): "...",
}
"""The ASCII for each sign of racwire's texts."""

PLAIN_SIGNS = "racwire-plain-signs"
"""The error handler that replaces a sign by its ASCII, or by `?`."""


def _plain_signs(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_PLAIN.get(ord(sign), "?") for sign in error.object[error.start : error.end]), error.end


codecs.register_error(PLAIN_SIGNS, _plain_signs)


def sanitize_lines(text: str) -> str:
    """Return the text with control characters (escape sequences, bidirectional marks) replaced by visible text."""
    return sanitize(text.expandtabs(8), keep_lines=True)


def for_encoding(text: str, encoding: str | None) -> str:
    """Return the text with only characters of an encoding: ASCII replaces the signs that it lacks."""
    encoding = encoding or "ascii"
    if encoding.lower().replace("-", "") == "utf8":
        return text.encode("utf-8", errors="backslashreplace").decode("utf-8")
    return text.encode(encoding, errors=PLAIN_SIGNS).decode(encoding)
