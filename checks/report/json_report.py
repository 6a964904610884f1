"""Writes the report as JSON, reads such a report back, and writes the published JSON Schema.

docs/reports-and-evidence.md promises what may change while the name of the schema stays. In `racwire-report/2` the
diagnosis refers to findings by their keys: check, code, network, nodes, and a number.

JSON cannot hold everything. A half character (lone surrogate), which a file name can contain, is written as `\\udcff`.
An infinite number, which a threshold can be, is written as the largest float, which compares the same. NaN is written
as 0; no reader of facts returns NaN. Terminal control characters are written as `\\u009b`, so that the report can be
printed on a terminal.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import msgspec

from checks.model.facts import NotAsked, NotGathered, Unknown
from checks.model.interconnect_load import InterconnectLoad
from checks.model.link_traffic import LinkTraffic
from checks.model.measurement import Measurement
from checks.model.report import SCHEMA, Report
from checks.model.sanitize import json_escaped, sanitize
from checks.report.situation_words import incident_line
from checks.rules.link_users import link_traffic
from checks.rules.load_of_run import interconnect_load
from checks.rules.measured_moment import misfit, moment_of


class ReportDocument(Report, frozen=True, kw_only=True):
    """The report in JSON: with what follows from its facts and its situation, for readers without racwire's rules."""

    incident: str = ""
    """The incident that lasted when the report was written, a sentence; empty where none did. The second field of the
    file, after its schema."""
    interconnect_load: InterconnectLoad | NotAsked | NotGathered | Unknown = Unknown("not calculated by that version")
    """What the load of the interval asks of the interconnect: no pass and no fail."""
    link_traffic: tuple[LinkTraffic, ...] = ()
    """Who uses each private link in its busier direction: the database, connections by address and port, and the rest
    that is not known."""
    measurements_left_out: tuple[Measurement, ...] = ()
    """Kept results whose paths have another MTU, speed or address at the run: they say nothing of this cluster."""


class _ReportRead(Report, frozen=True, kw_only=True):
    measurements_left_out: tuple[Measurement, ...] = ()


SCHEMA_OF_0_2_0 = "racwire-report/1"
"""Its diagnosis refers to findings by their titles, and is left out: a replay makes it again from the facts."""
_NOT_ONE = "This is not a racwire report"


class _Outline(msgspec.Struct, frozen=True):
    schema: str = SCHEMA


class _ReportOf020(Report, frozen=True, kw_only=True):
    diagnosis: msgspec.Raw = msgspec.Raw()  # type: ignore[assignment]


def to_json(report: Report) -> bytes:
    """Return the report as indented JSON with a final newline."""
    fields = {name: getattr(report, name) for name in Report.__struct_fields__}
    moment = moment_of(report.cluster)
    fields["measurements"] = tuple(one for one in report.measurements if misfit(one, moment) is None)
    document = {
        "schema": fields.pop("schema"),
        "incident": incident_line(report),
        **fields,
        "interconnect_load": interconnect_load(report.cluster),
        "measurements_left_out": tuple(one for one in report.measurements if misfit(one, moment) is not None),
        "link_traffic": link_traffic(report.cluster),
    }
    try:
        encoded = msgspec.json.encode(document)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(_writable(msgspec.to_builtins(document)))
    if b"null" in encoded:  # msgspec also writes null for infinite numbers and NaN
        encoded = msgspec.json.encode(_writable(msgspec.to_builtins(document)))
    return json_escaped(msgspec.json.format(encoded, indent=2).decode()).encode() + b"\n"


def _writable(value: Any) -> Any:
    """Return plain data without the values that JSON does not have."""
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
    """Return the JSON Schema (2020-12) of the report."""
    described = msgspec.json.schema(ReportDocument)
    described = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": "racwire report",
        "description": "The facts and findings of a run of racwire. Later versions can add fields, and values of "
        "enumerations and tags; a reader ignores fields that it does not know.",
        **described,
    }
    return msgspec.json.format(msgspec.json.encode(described), indent=2) + b"\n"


def from_json(data: bytes) -> Report:
    """Read a report back. Raises ValueError with one sentence when `data` is no report, or has another schema."""
    try:
        schema = msgspec.json.decode(data, type=_Outline).schema
        report = msgspec.json.decode(data, type=_ReportOf020 if schema == SCHEMA_OF_0_2_0 else _ReportRead)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ValueError(f"{_NOT_ONE}: {sanitize(str(error))}.") from error
    except RecursionError:
        raise ValueError(f"{_NOT_ONE}: its JSON is nested too deeply.") from None
    if schema == SCHEMA_OF_0_2_0:
        kept = {name: getattr(report, name) for name in Report.__struct_fields__ if name != "diagnosis"}
        return Report(**{**kept, "schema": SCHEMA})
    if schema != SCHEMA:
        raise ValueError(f"This report has the schema {sanitize(schema)[:60]}; this racwire reads {SCHEMA}.")
    left_out = report.measurements_left_out if isinstance(report, _ReportRead) else ()
    kept = {name: getattr(report, name) for name in Report.__struct_fields__}
    return Report(**{**kept, "measurements": (*report.measurements, *left_out)})
