"""The report as JSON, its published schema, and reading one back.

The schema's name changes when a reader of it could no longer understand a report; fields that are added do not change
it: a reader passes over those it does not know, and takes a missing one for its default.

Some things JSON does not have. Half characters, as names of files can hold, are written out as `\\udcff`. A number
without end, as a threshold can be, is written as the largest one there is, which compares alike; what is no number at
all (NaN) as 0: no reader of facts gives one. What a terminal would obey stands as `\\u009b`, so that a report can be
looked at as it is.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import msgspec

from checks.model.report import SCHEMA, Report
from checks.model.sanitize import json_escaped, shown

_NOT_ONE = "This is not a racwire report"


def to_json(report: Report) -> bytes:
    """The report as indented JSON with a final newline."""
    try:
        encoded = msgspec.json.encode(report)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(_writable(msgspec.to_builtins(report)))
    if b"null" in encoded:  # which is also how a number that JSON has not is encoded
        encoded = msgspec.json.encode(_writable(msgspec.to_builtins(report)))
    return json_escaped(msgspec.json.format(encoded, indent=2).decode()).encode() + b"\n"


def _writable(value: Any) -> Any:
    """Plain data without what JSON does not have."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", errors="backslashreplace").decode("utf-8")
    if isinstance(value, float) and not math.isfinite(value):
        return 0.0 if math.isnan(value) else math.copysign(sys.float_info.max, value)
    if isinstance(value, dict):
        return {_writable(key): _writable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_writable(item) for item in value]
    return value


def schema() -> bytes:
    """The JSON Schema (2020-12) of the report."""
    described = msgspec.json.schema(Report)
    described = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": "racwire report",
        "description": "All that a run of racwire found out and concluded. Later versions of racwire can add fields; "
        "a reader passes over those it does not know.",
        **described,
    }
    return msgspec.json.format(msgspec.json.encode(described), indent=2) + b"\n"


def from_json(data: bytes) -> Report:
    """Read a report back. Raises ValueError with one sentence when it is not one, or not of this schema."""
    try:
        report = msgspec.json.decode(data, type=Report)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ValueError(f"{_NOT_ONE}: {shown(str(error))}.") from error
    except RecursionError:
        raise ValueError(f"{_NOT_ONE}: its parts lie too deep in one another.") from None
    if report.schema != SCHEMA:
        raise ValueError(f"This report has the schema {shown(report.schema)[:60]}; this racwire reads {SCHEMA}.")
    return report
