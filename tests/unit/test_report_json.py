"""The report as JSON: it comes back as it was, older and later ones open, and its schema is published."""

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import jsonschema
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from checks.model.facts import FACT_GROUPS, Cluster, NotGathered, Unknown
from checks.model.finding import Finding, Magnitude, Status
from checks.model.journal import Entry
from checks.model.report import SCHEMA, Report, Rerun, WaiverStanding
from checks.report.json_report import from_json, schema, to_json
from tests.fixtures.clusters import cluster
from tests.fixtures.databases import asked
from tests.fixtures.reports import black_hole, report_of
from tests.fixtures.structs import any_of

OLDER = Path(__file__).parent.parent / "fixtures" / "report-0.1.0.json"
TYPES = {field.name: field.type for field in msgspec.structs.fields(Cluster)}
thorough = settings(suppress_health_check=list(HealthCheck))


def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(schema()))


def carrying(**fields: object) -> Report:
    """A small report with these fields."""
    bare = report_of(Cluster("rac1", "2026-11-20T14:02:31+01:00"))
    return msgspec.structs.replace(bare, **fields)


def test_a_report_round_trips():
    for built in (black_hole(4), asked(2)):
        report = report_of(built)
        assert from_json(to_json(report)) == report


@pytest.mark.parametrize("group", [*FACT_GROUPS, "changing", "thresholds", "named_networks"])
@given(data=st.data())
@settings(thorough, max_examples=12)
def test_any_facts_round_trip(group, data):
    facts = Cluster("rac1", "", **{group: data.draw(any_of(TYPES[group]))})
    report = carrying(cluster=facts)
    assert from_json(to_json(report)) == report


@given(finding=any_of(Finding), entry=any_of(Entry), rerun=any_of(Rerun), waiver=any_of(WaiverStanding))
@thorough
def test_any_findings_journal_and_waivers_round_trip(finding, entry, rerun, waiver):
    report = carrying(findings=(finding,), journal=(entry,), reruns=(rerun,), waivers=(waiver,))
    assert from_json(to_json(report)) == report


@given(settings_of=any_of(dict[str, Any]), versions=any_of(dict[str, str]), text=st.text())
@thorough
def test_any_settings_and_versions_round_trip(settings_of, versions, text):
    report = carrying(settings=settings_of, versions=versions, saved_at=text, is_redacted=True, interrupted=True)
    assert from_json(to_json(report)) == report


def test_a_report_matches_the_published_schema():
    for built in (cluster(1), cluster(4), black_hole(), asked(2)):
        validator().validate(json.loads(to_json(report_of(built))))


def test_the_schema_has_its_name_and_description():
    published = json.loads(schema())
    assert (published["$id"], published["title"]) == (SCHEMA, "racwire report")
    described = published["$defs"]
    assert all(described[name]["description"] for name in ("ReportDocument", "Finding", "Cluster", "Node", "PathProbe"))


def test_a_report_of_an_older_version_is_readable_and_matches_the_schema():
    older = OLDER.read_bytes()
    assert b"waivers" not in older
    validator().validate(json.loads(older))
    report = from_json(older)
    assert report.count(Status.FAIL) == 1
    assert (report.settings, report.versions, report.waivers, report.saved_at) == ({}, {}, (), "")
    assert not report.is_redacted
    assert all(finding.extent is finding.waived is None for finding in report.findings)


def test_fields_of_a_later_version_are_ignored():
    def added_to(value):
        if isinstance(value, dict):
            return {**{key: added_to(item) for key, item in value.items()}, "added_later": {"by": ["whom"]}}
        return [added_to(item) for item in value] if isinstance(value, list) else value

    report = from_json(OLDER.read_bytes())
    later = json.loads(OLDER.read_bytes())
    for part in ("findings", "journal"):
        later[part] = added_to(later[part])
    later["cluster"]["nodes"] = added_to(later["cluster"]["nodes"])
    for node in later["cluster"]["nodes"]:  # these mappings are by name of counters and of kernel settings
        node["counters"] = json.loads(OLDER.read_bytes())["cluster"]["nodes"][0]["counters"]
        node.pop("sysctls", None)
    later["added_later"] = 1
    assert from_json(json.dumps(later).encode()) == report


def test_another_schema_is_refused_in_one_sentence():
    other = OLDER.read_bytes().replace(b"racwire-report/1", b"racwire-report/2\\u001b[2J")
    with pytest.raises(
        ValueError, match=re.escape(f"has the schema racwire-report/2\\x1b[2J; this racwire reads {SCHEMA}.")
    ):
        from_json(other)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"schema": "racwire-report/1"}',
        b"\xff",
        b'"\xed\xa0\x80"',
        b'{"racwire_version": "\xed\xa0\x80"}',
        b'{"settings": {"x": ' + b"[" * 100_000,
        b'{"duration_s": 1e999}',
        b'{"\x1b[2J": 1',
    ],
)
def test_a_file_that_is_not_a_report_is_one_sentence(data):
    with pytest.raises(ValueError, match="not a racwire report") as refused:
        from_json(data)
    assert "\x1b" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_numbers_that_json_lacks_are_written_as_values_that_compare_alike():
    def extents(*values: float) -> Report:
        return carrying(
            findings=tuple(
                Finding(code="A-B-001", check="x", status=Status.FAIL, title="?", extent=Magnitude(value, "paths"))
                for value in values
            )
        )

    written = to_json(extents(math.inf, -math.inf, math.nan, 1.5))
    validator().validate(json.loads(written))
    largest = sys.float_info.max
    assert from_json(written) == extents(largest, -largest, 0.0, 1.5)
    settings_of = {"thresholds": {"receive_fail_ms": math.inf, "nothing": None}}
    read = from_json(to_json(carrying(settings=settings_of)))
    assert read.settings == {"thresholds": {"receive_fail_ms": largest, "nothing": None}}


def test_unpaired_surrogates_are_written_as_escapes():
    report = report_of(msgspec.structs.replace(cluster(2), local_node="rac1\udcff"))
    assert from_json(to_json(report)).cluster.local_node == "rac1\\udcff"


def test_control_characters_are_escaped_and_round_trip():
    report = carrying(saved_at="\x1b[2J\x7f\x9b\u202e\u2028\uffff\U0001fffe é")
    written = to_json(report).decode()
    assert re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028\uffff\U0001fffe]", written) == []
    assert "é" in written
    assert from_json(written.encode()) == report


def test_an_unrequested_group_has_its_own_type():
    written = json.loads(to_json(carrying(cluster=Cluster("rac1", ""))))
    assert "paths" not in written["cluster"]
    written["cluster"]["paths"] = {"fact": "NotGathered"}
    read = from_json(json.dumps(written).encode())
    assert read.cluster.paths == NotGathered()
    assert "paths" not in json.loads(to_json(read))["cluster"]
    written["cluster"]["paths"] = {"fact": "Unknown", "reason": "no ping"}
    assert from_json(json.dumps(written).encode()).cluster.paths == Unknown("no ping")
