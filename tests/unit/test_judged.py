"""A recording judged by the checks that need no other facts."""

from __future__ import annotations

import msgspec

from checks.model.facts import NotGathered, Unknown
from checks.model.finding import Status
from checks.model.report import Report
from checks.model.settings import Settings
from checks.report.json_report import from_json, to_json
from checks.run.check_discovery import discover
from checks.traffic.recording import Header
from checks.traffic.recording_replay import JudgedRecording
from tests.fixtures.clusters import cluster, node, with_interface

AT = "2026-11-20T14:02:31.000+01:00"


async def judged(**instead: object) -> Report:
    built = cluster([node(1), node(2), with_interface(node(3), "eth1", mtu=1500)])
    built = msgspec.structs.replace(built, paths=NotGathered(), counters=NotGathered(), **instead)
    header = Header(racwire_version="1", started_at=AT, interval_s=1, cluster=built)
    return await JudgedRecording(header, discover(), Settings()).run()


async def test_a_fault_in_recorded_facts_is_found_and_dated_with_the_recording() -> None:
    report = await judged()
    worst = report.findings[0]
    assert (worst.check, worst.status) == ("mtu-consistency", Status.FAIL)
    assert report.started_at == AT
    assert report.cluster.local_node == "rac1"


async def test_a_check_that_needs_more_facts_is_skipped_and_the_facts_have_the_reason() -> None:
    report = await judged()
    assert "df-ping" not in {f.check for f in report.findings}
    assert isinstance(report.cluster.paths, Unknown)
    assert "recording" in report.cluster.paths.reason
    assert from_json(to_json(report)) == report


async def test_a_fact_that_was_unknown_in_the_recording_is_unknown() -> None:
    report = await judged(nodes=Unknown("The nodes could not be read."))
    statuses = {f.status for f in report.findings if f.check == "interfaces"}
    assert statuses == {Status.UNKNOWN}
