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
    engine = JudgedRecording(header, discover(), Settings())
    async for _ in engine.events():
        pass
    return engine.report()


async def test_what_is_wrong_in_its_facts_is_found_and_dated_when_it_was_recorded() -> None:
    report = await judged()
    worst = report.findings[0]
    assert (worst.check, worst.status) == ("mtu-consistency", Status.FAIL)
    assert report.started_at == AT
    assert report.cluster.local_node == "rac1"


async def test_a_check_that_would_need_more_is_left_out_and_the_facts_say_why() -> None:
    report = await judged()
    assert "df-ping" not in {f.check for f in report.findings}
    assert isinstance(report.cluster.paths, Unknown)
    assert "recording" in report.cluster.paths.reason
    assert from_json(to_json(report)) == report


async def test_what_could_not_be_found_out_then_is_not_known_now() -> None:
    report = await judged(nodes=Unknown("The nodes could not be read."))
    told = {f.status for f in report.findings if f.check == "interfaces"}
    assert told == {Status.UNKNOWN}
