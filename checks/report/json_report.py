"""The report as JSON, its published schema, and reading one back."""

from __future__ import annotations

from typing import Any

import msgspec

from checks.result import SCHEMA, Report


def to_json(report: Report) -> bytes:
    """The report as indented JSON with a final newline. What is no Unicode, as names of files can be, is escaped."""
    try:
        encoded = msgspec.json.encode(report)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(_escaped(msgspec.to_builtins(report)))
    return msgspec.json.format(encoded, indent=2) + b"\n"


def _escaped(value: Any) -> Any:
    """Plain data with each lone surrogate as `\\udcff` in its text."""
    if isinstance(value, str):
        return value.encode("utf-8", errors="backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_escaped(key): _escaped(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_escaped(item) for item in value]
    return value


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
