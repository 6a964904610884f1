"""JSON that is safe to print on a terminal: control characters and lone surrogates are escaped."""

from __future__ import annotations

import json

import msgspec

from checks.model.sanitize import json_escaped
from checks.traffic.source_id import SourceId


def to_json_text(value: object, *, indented: bool = False) -> bytes:
    """Return the value in UTF-8, on one line unless `indented`. Names of files and devices may be invalid Unicode: then
    the whole text is ASCII."""
    try:
        encoded = msgspec.json.encode(value, enc_hook=_as_text)
    except UnicodeEncodeError:
        return as_json(value, indent=2 if indented else None).encode()
    if indented:
        encoded = msgspec.json.format(encoded, indent=2)
    return json_escaped(encoded.decode()).encode()


def as_json(value: object, *, indent: int | None = None) -> str:
    """Return JSON in ASCII. Invalid Unicode, as in names of devices, survives a round trip."""
    separators = (",", ":") if indent is None else (",", ": ")
    return json.dumps(
        msgspec.to_builtins(value, enc_hook=_as_text), ensure_ascii=True, separators=separators, indent=indent
    )


def _as_text(value: object) -> str:
    """Return the text of a source in JSON."""
    if isinstance(value, SourceId):
        return str(value)
    raise NotImplementedError


def read_hook(kind: type, value: object) -> object:
    """Return the source that a text in JSON names, and other values as they are. Raises ValueError where it names
    none."""
    return SourceId.parse(value) if kind is SourceId and isinstance(value, str) else value
