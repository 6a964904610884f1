"""JSON that is also safe to look at: what a terminal would obey is escaped, and so is what is no Unicode."""

from __future__ import annotations

import json

import msgspec

from checks.model.sanitize import json_escaped


def to_json_text(value: object, *, indented: bool = False) -> bytes:
    """The value in UTF-8, on one line unless `indented`. Names of files and devices need not be Unicode: then all is
    written in ASCII."""
    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:
        return as_json(value, indent=2 if indented else None).encode()
    if indented:
        encoded = msgspec.json.format(encoded, indent=2)
    return json_escaped(encoded.decode()).encode()


def as_json(value: object, *, indent: int | None = None) -> str:
    """JSON in ASCII: text that is no Unicode, as names of devices can be, comes back as it was."""
    separators = (",", ":") if indent is None else (",", ": ")
    return json.dumps(msgspec.to_builtins(value), ensure_ascii=True, separators=separators, indent=indent)
