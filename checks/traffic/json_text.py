"""JSON that is safe to print on a terminal: control characters and lone surrogates are escaped."""

from __future__ import annotations

import json

import msgspec

from checks.model.sanitize import json_escaped


def to_json_text(value: object, *, indented: bool = False) -> bytes:
    """Return the value in UTF-8, on one line unless `indented`. Names of files and devices may be invalid Unicode: then
    the whole text is ASCII."""
    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:
        return as_json(value, indent=2 if indented else None).encode()
    if indented:
        encoded = msgspec.json.format(encoded, indent=2)
    return json_escaped(encoded.decode()).encode()


def as_json(value: object, *, indent: int | None = None) -> str:
    """Return JSON in ASCII. Invalid Unicode, as in names of devices, survives a round trip."""
    separators = (",", ":") if indent is None else (",", ": ")
    return json.dumps(msgspec.to_builtins(value), ensure_ascii=True, separators=separators, indent=indent)
