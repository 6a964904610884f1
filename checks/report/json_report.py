"""The report as JSON, its published schema, and reading one back."""

from __future__ import annotations

import msgspec

from checks.result import SCHEMA, Report


def to_json(report: Report) -> bytes:
    """The report as indented JSON with a final newline."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"


def schema() -> bytes:
    """The JSON Schema (2020-12) of the report."""
    described = msgspec.json.schema(Report)
    described = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": "racwire report",
        **described,
    }
    return msgspec.json.format(msgspec.json.encode(described), indent=2) + b"\n"


def from_json(data: bytes) -> Report:
    """Read a report back. Raises ValueError with one sentence when it is not one, or not of this schema."""
    try:
        report = msgspec.json.decode(data, type=Report)
    except msgspec.MsgspecError as error:
        raise ValueError(f"This is not a racwire report: {error}.") from error
    if report.schema != SCHEMA:
        raise ValueError(f"This report has the schema {report.schema}; this racwire reads {SCHEMA}.")
    return report
