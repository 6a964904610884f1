"""Sanitized text of unknown origin: control characters that a terminal or viewer would execute are escaped."""

from __future__ import annotations

import codecs
import re
from functools import cache

_CONTROL = (
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f"  # control characters: escape sequences, carriage returns, backspaces
    "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"  # characters that change the direction of writing
    "\\u2028\\u2029\\ufeff"  # line ends of some readers only, and the mark of byte order
    "\\ud800-\\udfff"  # halves of characters: no Unicode text has them, names of files can
    "\\ufdd0-\\ufdef" + "".join(f"\\U{plane:04x}fffe\\U{plane:04x}ffff" for plane in range(17))  # no characters
)


_LONG_NUMBER = re.compile(rb"[0-9]{21}")
_TEXT_OR_NUMBER = re.compile(rb'"(?:[^"\\]+|\\.)*+"|(?<![0-9.])[0-9]{21,}')
"""A text, whose digits do not count, or a number with more digits before its point than 64 bits have."""
_WITHOUT_WEIGHT = b" \t\r\n[]{}"
"""Characters between texts and numbers that are removed before the search; there can be megabytes of them."""


@cache
def _control(keep_lines: bool) -> re.Pattern[str]:
    return re.compile(f"[{_CONTROL}]" if keep_lines else f"[{_CONTROL}\\t\\n]")  # takes milliseconds: only when needed


def sanitize(text: str, keep_lines: bool = False) -> str:
    """Return the text with all control characters escaped, as `\\x1b`; the result is valid Unicode.

    With `keep_lines`, line ends and tabs stay, as in the output of a command; otherwise they are escaped, too, so that
    the text is one line.
    """
    return _control(keep_lines).sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def json_escaped(document: str) -> str:
    """Return a JSON document with the same characters escaped in JSON syntax (`\\u009b`): its values do not change."""
    return _control(keep_lines=True).sub(_json_escape, document)


def _json_escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", errors="surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def as_utf8(data: bytes) -> bytes:
    """Return a text as UTF-8 without a byte order mark; other bytes are returned unchanged.

    A shell or an editor of Windows adds the mark, or saves a copy as UTF-16 with one."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace").encode(errors="replace")
    return data.removeprefix(codecs.BOM_UTF8)


def has_a_number_without_end(document: bytes) -> bool:
    """Return whether a JSON document has a number larger than any that a kernel, a clock or a database counts:
    arithmetic with it has no limit."""
    if not _LONG_NUMBER.search(document):
        return False
    texts_and_numbers = _TEXT_OR_NUMBER.finditer(document.translate(None, _WITHOUT_WEIGHT))
    return any(found[0][:1] != b'"' for found in texts_and_numbers)
