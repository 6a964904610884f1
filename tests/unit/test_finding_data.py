"""The data of findings: named scalars in addition to the text, in the JSON report, redacted like other text."""

from __future__ import annotations

import json
import re

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from checks.model.check import Kind
from checks.model.finding import FAULTS, Finding, Status
from checks.plugins.df_ping import df_ping
from checks.plugins.gc_blocks_lost import gc_blocks_lost
from checks.report.json_report import from_json, schema, to_json
from checks.run.check_discovery import discover
from tests.fixtures.clusters import cluster
from tests.fixtures.databases import asked, losing
from tests.fixtures.reports import black_hole, report_of
from tests.unit.redact_support import site
from tests.unit.test_agreement import path_clusters
from tests.unit.test_check_any_facts import clusters
from tests.unit.test_redact import redactor

CHECKS = tuple(discover())
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def holds(findings):
    for finding in findings:
        if finding.status in FAULTS or finding.status is Status.INFO:
            assert finding.data, finding.title
        for name, value in finding.data.items():
            assert NAME.fullmatch(name)
            assert type(value) in (str, int, float, bool)


@given(clusters())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_findings_about_any_database_and_kernels_have_data(built):
    for check in CHECKS:
        holds(check.judge(built))


@given(path_clusters())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_findings_about_any_paths_have_data(case):
    holds(df_ping.run(case.built))


@pytest.mark.parametrize("built", [black_hole(4), cluster(1), asked(3)])
def test_findings_of_all_checks_have_data(built):
    for check in CHECKS:
        holds(check.judge(built))


def test_numbers_match_the_text_and_have_their_unit_in_the_name():
    (lost,) = [f for f in gc_blocks_lost.run(asked(2, activity=losing(2, 37, {1: 37}))) if f.status in FAULTS]
    assert lost.data == {
        "instances": "prod2",
        "lost_blocks": 37,
        "received_blocks": 12_400,
        "worst_lost_percent": pytest.approx(100 * 37 / 12_437),
        "seconds": 30.0,
        "likely_false": False,
    }
    (hole,) = [f for f in df_ping.run(black_hole(2)) if f.status is Status.FAIL]
    assert hole.data["expected_mtu_bytes"] == 9000
    assert hole.data["path_mtu_bytes"] == 1500


def test_unknown_values_are_left_out_and_empty_data_is_not_written():
    kind = Kind("ACME-X-001", "?")
    assert kind.finding("?", status=Status.WARN, data={"paths": 2, "mtu_bytes": None}).data == {"paths": 2}
    assert b"data" not in msgspec.json.encode(kind.finding("Well.", status=Status.PASS))


def test_a_report_without_data_is_readable_and_one_with_data_matches_the_schema():
    written = json.loads(to_json(report_of(black_hole())))
    assert any(f.get("data") for f in written["findings"])
    for finding in written["findings"]:
        finding.pop("data", None)
    assert all(f.data == {} for f in from_json(json.dumps(written).encode()).findings)
    described = json.loads(schema())["$defs"]["Finding"]["properties"]["data"]
    assert {kind["type"] for kind in described["additionalProperties"]["anyOf"]} == {
        "string",
        "integer",
        "number",
        "boolean",
    }


def test_names_in_data_are_redacted_and_keys_stay():
    original = Finding(code="X-001", check="x", status=Status.WARN, title="?", data={"seconds": 3.0, "rac1": "rac1"})
    whole = msgspec.structs.replace(report_of(cluster(2)), findings=(original,))
    made = redactor()
    made.learn(whole)
    (redacted,) = made.report(whole).findings
    assert list(redacted.data) == ["seconds", "rac1"]
    assert redacted.data["seconds"] == 3.0
    assert redacted.data["rac1"] != "rac1"
    assert [list(f.data) for f in made.report(site()).findings] == [list(f.data) for f in site().findings]
