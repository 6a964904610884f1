"""Text of unknown origin, made harmless for whatever shows it: what would be obeyed is shown instead."""

from __future__ import annotations

import re
from functools import cache

_OBEYED = (
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f"  # control characters: escape sequences, carriage returns, backspaces
    "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"  # what turns the direction of writing
    "\\u2028\\u2029\\ufeff"  # line ends of some readers only, and the mark of byte order
    "\\ud800-\\udfff"  # halves of characters: no Unicode text has them, names of files can
    "\\ufdd0-\\ufdef" + "".join(f"\\U{plane:04x}fffe\\U{plane:04x}ffff" for plane in range(17))  # no characters
)


@cache
def _obeyed(keep_lines: bool) -> re.Pattern[str]:
    return re.compile(f"[{_OBEYED}]" if keep_lines else f"[{_OBEYED}\\t\\n]")  # takes milliseconds: only when needed


def shown(text: str, keep_lines: bool = False) -> str:
    """The text with everything that a reader would obey written out, as `\\x1b`; it is all Unicode then.

    `keep_lines`: ends of lines and tabs stay what they are, as in the output of a command; else they are written out
    too, so that the text is one line.
    """
    return _obeyed(keep_lines).sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def json_escaped(document: str) -> str:
    """A JSON document with the same things in its texts escaped as JSON does it (`\\u009b`): it says the same."""
    return _obeyed(keep_lines=True).sub(_json_escape, document)


def _json_escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", errors="surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
