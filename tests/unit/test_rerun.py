"""A report judged again on what a later run read: facts, findings, evidence and next steps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from checks.model.check import Check, FailKind, PassKind, check
from checks.model.facts import Cluster, NotGathered, ToolMessage, UnaskedInstance
from checks.model.finding import Finding, NextStep, Status
from checks.model.journal import Entry, Journal
from checks.model.report import Report, make_report
from checks.model.run_record import RunRecord
from checks.report.coverage import coverage_text
from checks.report.json_report import from_json, to_json
from checks.rules.change_under_way import step_instead
from checks.run.check_discovery import discover
from checks.run.engine import needed_groups
from checks.run.judgement import judged
from checks.run.rerun import comparable, judged_again, judged_by
from tests.cases.loading import DIRECTORY, load
from tests.cases.test_fact_cases import report_of
from tests.fixtures.clusters import cluster, clusterware
from tests.fixtures.databases import asked, database, losing
from tui.console.finding_rows import FindingRow, RowMark
from tui.widgets.run_text import amounts_text

CHECKS = {one.id: one for one in discover()}
SAMPLE = (
    "healthy-9000", "healthy-without-a-database", "mtu-odd-node", "blocks-lost-in-receive-buffers",
    "pings-filtered-while-blocks-flow", "run-mtu-changed-meanwhile", "interface-node-not-read",
    "path-one-way-and-router", "logs-evicted-and-back", "nic-link-flaps-with-drops",
)  # fmt: skip


@pytest.mark.parametrize("case", SAMPLE)
def test_a_run_of_all_checks_judged_again_on_its_own_facts_gives_the_same_report(case: str) -> None:
    whole = report_of(load(DIRECTORY / f"{case}.toml"))
    again = judged_again(whole, RunRecord(report=whole, ended=0.0), CHECKS)
    assert again.reruns[0].judged
    assert replace(again, reruns=(), journal=whole.journal) == whole


# --- real checks ------------------------------------------------------------------------------------------------------


def only(cluster_: Cluster, *groups: str) -> Cluster:
    """A cluster of which only these groups were gathered."""
    left = [group for group in cluster_.gathered_groups() if group not in groups]
    return replace(cluster_, **dict.fromkeys(left, NotGathered()))


def run_of(built: Cluster, *checks: str, at: str = "14:05:00", **more: object) -> RunRecord:
    """The record of a run of some checks, with the groups that they need."""
    report = report_from(built, [CHECKS[name] for name in checks], at, **more)
    return RunRecord(report=report, ended=0.0, checks=checks)


def report_from(
    built: Cluster, checks: list[Check], at: str = "14:00:00", entries: tuple[Entry, ...] = (), **more: object
) -> Report:
    """What these checks find, each topic of their evidence with an entry that has the time as its text."""
    facts = only(built, *needed_groups(checks))
    findings = [f for one in checks for f in one.run(facts)]
    topics = dict.fromkeys((ref.node, ref.topic) for f in findings for ref in f.evidence)
    read = entries or tuple(Entry(*place, "read", f"2026-11-20T{at}", text=at) for place in topics)
    return make_report(
        version="1", started_at=f"2026-11-20T{at}+01:00", duration_s=2.5, cluster=facts, findings=findings, journal=read
    )


def of(report: Report, check_id: str) -> list[tuple[str, Status]]:
    return [(f.code, f.status) for f in report.findings if f.check == check_id]


STOPPED = replace(
    cluster(2),
    clusterware=replace(clusterware(), services=(ToolMessage("CRS-4639", "Could not contact Oracle HAS"),)),
)


def test_a_part_run_that_reads_clusterware_again_judges_its_check_again_though_it_did_not_run() -> None:
    """The automatic run fell inside a stop of Clusterware; the next run left the check out."""
    whole = report_from(STOPPED, [CHECKS["clusterware"], CHECKS["df-ping"]])
    assert of(whole, "clusterware") == [("IC-GRID-004", Status.FAIL)]
    after = judged_again(whole, run_of(cluster(2), "df-ping"), CHECKS)
    assert of(after, "clusterware") == [("IC-GRID-001", Status.PASS)]
    assert after.found_at("clusterware") == after.found_at("df-ping") == "2026-11-20T14:05:00+01:00"
    assert {e.text for f in after.findings if f.check == "df-ping" for e in after.evidence(f)} == {"14:05:00"}
    assert after.cluster.taken_at == whole.cluster.taken_at
    assert from_json(to_json(after)) == after


def test_a_gate_brings_its_facts_and_none_of_its_own_verdicts() -> None:
    whole = report_from(STOPPED, [CHECKS["clusterware"], CHECKS["interfaces"]])
    record = run_of(cluster(2), "clusterware", "interfaces")
    gate = replace(record.report, findings=(replace(record.report.findings[0], check="stack-up"),))
    after = judged_again(whole, replace(record, report=gate, checks=("stack-up",), is_gate=True), CHECKS)
    assert {f.check for f in after.findings} == {"clusterware", "interfaces"}
    assert of(after, "clusterware") == [("IC-GRID-001", Status.PASS)]
    assert (after.reruns[0].check, set(after.reruns[0].judged)) == ("", {"clusterware", "interfaces"})


def test_a_gate_that_had_no_need_of_clusterware_leaves_its_facts_and_the_private_networks_named_by_it() -> None:
    whole = report_from(cluster(3), [CHECKS["clusterware"], CHECKS["mtu-consistency"]])
    named = [replace(network, interface="*", named_by="settings") for network in cluster(3).read_networks()]
    read = only(replace(cluster(3), networks=tuple(named)), "nodes", "networks", "setups")
    gate = RunRecord(report=replace(whole, cluster=read, findings=()), ended=0.0, is_gate=True)
    after = judged_again(whole, gate, CHECKS)
    assert (after.cluster.clusterware, after.cluster.networks) == (whole.cluster.clusterware, whole.cluster.networks)
    assert "clusterware" not in after.reruns[0].judged


def test_what_one_run_sent_is_not_weighed_against_what_another_counted() -> None:
    """Blocks that flowed before a path broke do not outweigh the pings that got no answer since."""
    whole = report_of(load(DIRECTORY / "pings-filtered-while-blocks-flow.toml"))
    assert {f.check for f in whole.findings if f.outweighed} == {"df-ping"}
    read = only(whole.cluster, *needed_groups([CHECKS["df-ping"]]))
    record = RunRecord(report=replace(whole, cluster=read, findings=()), ended=0.0, is_gate=True)
    after = judged_again(whole, record, CHECKS)
    assert "df-ping" in after.reruns[0].judged
    assert not [f for f in after.findings if f.outweighed]
    facts = comparable(CHECKS["df-ping"], whole.cluster, after.read_by())
    assert [facts.is_gathered(g) for g in ("paths", "activity", "counters", "flows")] == [True, False, False, False]


def test_a_check_is_judged_again_only_with_all_that_it_compares_of_one_time() -> None:
    whole = report_of(load(DIRECTORY / "blocks-lost-in-receive-buffers.toml"))

    def again(*checks: str) -> set[str]:
        read = only(whole.cluster, *needed_groups([CHECKS[name] for name in checks]))
        return {*judged_by(whole, RunRecord(report=replace(whole, cluster=read), ended=0.0, checks=checks), CHECKS)}

    # Nodes are read again: what is a setting or a state there, and no count, no packet of before.
    of_nodes = again("interfaces")
    assert {"mtu-consistency", "link-speed", "clusterware"} <= of_nodes
    assert {"df-ping", "nic-counters", "gc-blocks-lost", "udp-path", "interfaces"}.isdisjoint(of_nodes)
    # Setups too: lost blocks of before still tell how severe a small ring is.
    assert "driver-settings" in again("bonding")
    # Counters too: not what is compared with the datagrams of before.
    of_counters = again("nic-counters")
    assert {"packet-filter", "cpu-pressure", "udp-receive-buffers"} <= of_counters
    assert {"reassembly", "gc-blocks-lost"}.isdisjoint(of_counters)


def test_a_value_that_changed_between_two_runs_did_not_change_during_one() -> None:
    whole = report_of(load(DIRECTORY / "run-mtu-changed-meanwhile.toml"))
    during = {f.code for f in whole.findings if "value_changed_during_run" in f.data}
    record = run_of(whole.cluster, "mtu-consistency")
    after = judged_again(whole, record, CHECKS)
    again = {*after.reruns[0].judged, "mtu-consistency"}
    assert during
    assert not [f.code for f in after.findings if f.check in again and "value_changed_during_run" in f.data]


def test_amounts_name_the_instances_that_were_read_and_are_not_compared_with_those_of_others() -> None:
    """A peer came back: its share had not been read before."""

    def lost(instances: int) -> Finding:
        unasked = () if instances == 3 else (UnaskedInstance(3, "prod3", "No answer.", host="rac3"),)
        facts = asked(3, database=database(instances, unasked=unasked), activity=losing(2, 37, {1: 37}, instances))
        return next(f for f in judged(CHECKS["gc-blocks-lost"], facts, Journal()) if f.code == "IC-LOST-002")

    fewer, all_ = lost(2), lost(3)
    assert (fewer.covers, all_.covers) == (("prod1", "prod2"), ("prod1", "prod2", "prod3"))
    assert coverage_text(fewer, all_) == "prod3 not read before"
    assert coverage_text(all_, fewer) == "prod3 not read"
    assert coverage_text(all_, all_) == coverage_text(replace(all_, covers=()), fewer) == ""
    row = FindingRow(("", "", "", (), 0), fewer, RowMark.NONE, report_from(cluster(3), []), before=all_)
    assert amounts_text(row) == "prod3 not read"


# --- next steps, evidence, size ---------------------------------------------------------------------------------------

FINE, BAD = PassKind("T-NODES-001", "Fine"), FailKind("T-NODES-002", "Three nodes")


@check("nodes", question="?", needs=("nodes",), kinds=(FINE, BAD))
def nodes_check(built: Cluster) -> Iterator[Finding]:
    """Three nodes are too many."""
    steps = [NextStep("Change it.", ("racwire change new --to 9000",), is_change=True)]
    is_bad = len(built.all_nodes()) > 2
    evidence = [("rac1", "nic"), ("rac1", "ssh")]
    yield (BAD if is_bad else FINE).finding("Nodes.", next=steps if is_bad else (), evidence=evidence)


@check("setups", question="?", needs=("setups",), uses=("nodes",), kinds=(PassKind("T-SETUPS-001", "Fine"),))
def setups_check(built: Cluster) -> Iterator[Finding]:
    """All is well."""
    evidence = [("rac1", "ping"), ("rac1", "nic")]
    yield setups_check.kinds[0].finding(f"{len(built.all_nodes())} nodes.", evidence=evidence)


TOYS = {one.id: one for one in (nodes_check, setups_check)}


def toy_run(number: int, at: str, *checks: str, topics: tuple[str, ...], groups: tuple[str, ...]) -> RunRecord:
    built = only(cluster(number), *groups)
    findings = [f for name in checks for f in TOYS[name].run(built)]
    entries = [Entry("rac1", topic, topic, f"2026-11-20T{at}", text=f"{topic} {at}") for topic in topics]
    report = make_report(
        version="1", started_at=f"2026-11-20T{at}", duration_s=2.5, cluster=built, findings=findings, journal=entries
    )
    return RunRecord(report=report, ended=0.0, checks=checks)


WHOLE = toy_run(2, "14:00", "nodes", "setups", topics=("nic", "ssh", "ping"), groups=("nodes", "setups")).report
AGAIN = toy_run(3, "14:05", "nodes", topics=("nic",), groups=("nodes",))


def test_each_finding_has_of_each_reference_what_the_newest_run_read_of_those_it_was_judged_on() -> None:
    after = judged_again(WHOLE, AGAIN, TOYS)
    text = {f.check: [e.text for e in after.evidence(f)] for f in after.findings}
    assert text == {"nodes": ["ssh 14:00", "nic 14:05"], "setups": ["ping 14:00", "nic 14:05"]}
    assert [f.title for f in after.findings if f.check == "setups"] == ["3 nodes."]


def test_the_journal_keeps_of_later_runs_what_a_finding_refers_to() -> None:
    after = WHOLE
    for number in range(10, 40):
        gate = toy_run(2 + number % 2, f"14:{number}", topics=("nic", "unused"), groups=("nodes",))
        after = judged_again(after, replace(gate, is_gate=True), TOYS)
    assert [e.text for e in after.journal] == ["nic 14:00", "ssh 14:00", "ping 14:00", "nic 14:39"]
    assert [again.started_at for again in after.reruns] == ["2026-11-20T14:39"]
    assert after.started_at == WHOLE.started_at


def test_a_check_that_did_not_use_what_was_read_stays_with_its_own_evidence() -> None:
    setups = toy_run(3, "14:06", "setups", topics=("ping", "nic"), groups=("setups",))
    after = judged_again(WHOLE, setups, TOYS)
    assert [e.text for f in after.findings if f.check == "nodes" for e in after.evidence(f)] == [
        "nic 14:00",
        "ssh 14:00",
    ]
    assert after.found_at("nodes") == WHOLE.started_at


CONTINUE = step_instead("A change is open: continue it.")


@pytest.mark.parametrize("named_by", ["this run", "the run before", "neither"])
def test_findings_that_are_judged_again_continue_the_change_that_is_under_way(named_by: str) -> None:
    def naming(report: Report) -> Report:
        return replace(report, findings=tuple(replace(f, next=(CONTINUE,)) for f in report.findings))

    setups = toy_run(3, "14:06", "setups", topics=("ping",), groups=("setups", "nodes"))
    whole = naming(WHOLE) if named_by == "the run before" else WHOLE
    record = replace(setups, report=naming(setups.report)) if named_by == "this run" else setups
    after = judged_again(whole, record, TOYS)
    (bad,) = [f for f in after.findings if f.code == "T-NODES-002"]
    assert [step.commands for step in bad.next] == [
        ("racwire change new --to 9000",) if named_by == "neither" else CONTINUE.commands
    ]


def test_a_change_that_is_closed_by_the_later_run_is_not_continued() -> None:
    whole = replace(WHOLE, findings=tuple(replace(f, next=(CONTINUE,)) for f in WHOLE.findings))
    record = replace(AGAIN, is_gate=True)  # its own finding proposes a change: none is open
    (bad,) = [f for f in judged_again(whole, record, TOYS).findings if f.code == "T-NODES-002"]
    assert [step.commands for step in bad.next] == [("racwire change new --to 9000",)]


def test_facts_that_were_not_read_again_stay() -> None:
    after = judged_again(WHOLE, AGAIN, TOYS).cluster
    assert after.nodes == AGAIN.report.cluster.nodes
    assert after.setups == WHOLE.cluster.setups
    assert after.taken_at == WHOLE.cluster.taken_at
