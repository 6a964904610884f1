"""One check run again: the parts of the full report that it replaces, and those that stay."""

from __future__ import annotations

import msgspec

from checks.model.facts import Cluster
from checks.model.finding import EvidenceRef, Finding, Status
from checks.model.journal import Entry
from checks.model.report import Report, make_report
from checks.report.json_report import from_json, to_json
from checks.run.rerun import merged
from tests.fixtures.clusters import cluster


def entry(topic: str, text: str) -> Entry:
    return Entry("rac1", topic, topic, "2026-11-20T14:02:31.100+01:00", 1.0, text=text)


def finding(check: str, status: Status, topic: str = "nic") -> Finding:
    evidence = (EvidenceRef("rac1", topic),)
    return Finding(code=f"X-{check}", check=check, status=status, title=f"{check}.", evidence=evidence)


def report(at: str, built: Cluster, findings: list[Finding], entries: list[Entry]) -> Report:
    return make_report(
        version="1", started_at=f"2026-11-20T{at}", duration_s=2.5, cluster=built, findings=findings, journal=entries
    )


WHOLE = report(
    "14:00:00",
    cluster(2),
    [finding("mtu", Status.FAIL), finding("ping", Status.WARN), finding("calm", Status.PASS)],
    [entry("nic", "mtu 1500"), entry("ping", "lost")],
)
AGAIN = report("14:05:00", cluster(3), [finding("mtu", Status.PASS)], [entry("nic", "mtu 9000")])


def test_the_findings_of_the_rerun_check_are_replaced_and_the_others_stay_sorted() -> None:
    found = merged(WHOLE, AGAIN, ["mtu"], ["nodes"]).findings
    assert [(f.check, f.status) for f in found] == [
        ("ping", Status.WARN),
        ("calm", Status.PASS),
        ("mtu", Status.PASS),
    ]


def test_only_the_facts_gathered_again_are_replaced() -> None:
    after = merged(WHOLE, AGAIN, ["mtu"], ["nodes"]).cluster
    assert after.nodes == AGAIN.cluster.nodes
    assert after.paths == WHOLE.cluster.paths
    assert after.taken_at == WHOLE.cluster.taken_at


def test_each_finding_has_the_evidence_that_was_read_for_it() -> None:
    after = merged(WHOLE, AGAIN, ["mtu"], ["nodes"])
    text = {f.check: [e.text for e in after.evidence(f)] for f in after.findings}
    assert text == {"mtu": ["mtu 9000"], "ping": ["mtu 1500"], "calm": ["mtu 1500"]}
    assert after.found_at("mtu") > after.found_at("ping") == WHOLE.started_at


def test_the_journal_has_both_runs_and_of_repeated_reruns_only_the_last() -> None:
    third = msgspec.structs.replace(AGAIN, journal=(entry("nic", "mtu 4000"), entry("nic", "mtu 9000 again")))
    ping = report("14:07:00", cluster(2), [finding("ping", Status.PASS, "ping")], [entry("ping", "5/5")])
    after = merged(
        merged(merged(WHOLE, AGAIN, ["mtu"], ["nodes"]), ping, ["ping"], ["paths"]), third, ["mtu"], ["nodes"]
    )
    assert [e.text for e in after.journal] == ["mtu 1500", "lost", "5/5", "mtu 4000", "mtu 9000 again"]
    assert [again.check for again in after.reruns] == ["ping", "mtu"]
    assert [e.text for f in after.findings if f.check == "ping" for e in after.evidence(f)] == ["5/5"]


def test_a_merged_report_lists_its_reruns_and_round_trips() -> None:
    after = merged(WHOLE, AGAIN, ["mtu"], ["nodes"])
    assert after.started_at == WHOLE.started_at
    assert [(again.check, again.started_at, again.duration_s) for again in after.reruns] == [
        ("mtu", "2026-11-20T14:05:00", 2.5)
    ]
    assert from_json(to_json(after)) == after


def test_a_rerun_check_without_findings_removes_its_earlier_ones() -> None:
    nothing = msgspec.structs.replace(AGAIN, findings=())
    assert [f.check for f in merged(WHOLE, nothing, ["mtu"], []).findings] == ["ping", "calm"]
