"""JSON that is also safe to look at: what a terminal would obey is escaped, and so is what is no Unicode."""

from __future__ import annotations

import re

import msgspec

from checks.traffic.recording_events import as_json

_OBEYED = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]")
"""In UTF-8: DEL, the control characters from 128 on (CSI is one of them), and what turns the direction of writing.
JSON itself escapes those below 32."""


def to_json_text(value: object, *, indented: bool = False) -> bytes:
    """The value in UTF-8, on one line unless `indented`. Names of files and devices need not be Unicode: then all is
    written in ASCII."""
    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:
        return as_json(value, indent=2 if indented else None).encode()
    if indented:
        encoded = msgspec.json.format(encoded, indent=2)
    return _OBEYED.sub(lambda found: b"\\u%04x" % ord(found[0].decode()), encoded)
