"""`racwire check --lab` with the practice database: findings of the instances together with those of the network and
kernels.

The tests share clusters. Each cluster is checked while healthy before it loses blocks, because its AWR keeps the
losses.
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

import msgspec
import pytest

from checks.model.facts import Activity
from checks.model.finding import Finding, Status
from checks.model.journal import Entry
from checks.model.report import Report
from checks.report.json_report import from_json
from tests.cases.loading import Case, parameters
from tests.cases.outcomes import PROPERTY, outcome_of
from tests.lab.lab_support import needs_namespaces, needs_nft
from tests.lab.practice_command import Practice

NOISE = ("IC-PATH-012", "IC-PING-002", "IC-PING-003", "IC-STORE-009")
"""Codes that a small machine causes by itself: a packet lost of many sent at once, a ping that waited for the CPU. And
the role of ASM, which the installer gives the private networks."""

pytestmark = [
    needs_namespaces,
    needs_nft,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("duckdb", "sqlglot", "cryptography")),
        reason="THE CHECKS OF THE DATABASE WERE NOT TESTED: the extra `lab` is not installed",
    ),
]

DATABASE_CHECKS = {"gc-blocks-lost", "gc-receive-time", "interconnect-in-use", "instance-ping", "device-mtu"}
NOT_OF_THE_NODES = {"bonding", "bond-balance", "oracle-processes", "packet-sizes", "storage-mtu", "virtualisation"}
"""The nodes have no bonds, no processes with the names of LMS, and no hypervisor of their own."""
NETWORK_2 = "192.168.11.0/24"
FAIL, WARN, UNKNOWN = Status.FAIL, Status.WARN, Status.UNKNOWN
Pair = tuple[str, str]
"""Receiver and sender."""
BY_A_LOSS = {"IC-TIME-006", "IC-FLOW-017"}
"""Further findings where blocks are lost: most of the wait time is for lost blocks, or small datagrams are lost too."""
REMEMBERED = "IC-LOST-009"
"""Blocks lost under an earlier fault that has been fixed: AWR has them."""


@pytest.fixture(scope="module", params=[(3, 1500)])
def practice(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Practice]:
    """A cluster of so many nodes with that MTU, one at a time: its instances keep the machine busy."""
    practice = Practice(tmp_path_factory.mktemp("lab") / "lab", *request.param, database=True, ping_every_s=1.25)
    yield practice
    practice.down()


@pytest.fixture
def cluster(practice: Practice) -> Iterator[Practice]:
    practice.until_blocks_flow()
    yield practice
    practice.lab("mend")


def problems(report: Report) -> dict[tuple[str, str], Status]:
    """Return the FAIL, WARN and UNKNOWN findings by check and code, without noise and without earlier faults."""
    return {
        (f.check, f.code): f.status
        for f in report.findings
        if f.status in (FAIL, WARN, UNKNOWN) and f.code not in (REMEMBERED, *NOISE)
    }


def with_code(report: Report, code: str) -> list[Finding]:
    return [f for f in report.findings if f.code == code]


def lost_pairs(report: Report) -> set[Pair]:
    """Return receiver and sender of lost blocks, from the matrix of the findings."""
    pairs = set()
    for finding in with_code(report, "IC-LOST-002"):
        assert finding.table
        for receiver, *cells in finding.table.rows:
            senders = zip(finding.table.columns[1:], cells, strict=True)
            pairs |= {(receiver, sender) for sender, cell in senders if cell not in ("·", "0")}
    return pairs


def assert_lost_by(report: Report, receivers: set[str]) -> None:
    """The titles name only the receivers before the number of lost blocks; the nodes are those of the pairs."""
    findings = with_code(report, "IC-LOST-002")
    heads = " ".join(f.title.partition(" lost ")[0] for f in findings)
    assert {name for name in ("prac1", "prac2", "prac3") if name in heads} == receivers, heads
    nodes = {node for f in findings for node in f.nodes}
    assert nodes == {name.replace("prac", "rac") for pair in lost_pairs(report) for name in pair}


# --- a healthy cluster ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "practice", [pytest.param((3, 9000), marks=pytest.mark.beyond_sample), (3, 1500)], indirect=True
)
def test_a_healthy_database_passes_all_checks_and_loses_no_block(cluster: Practice) -> None:
    assert_healthy(cluster.check())


@pytest.mark.beyond_sample
@pytest.mark.parametrize("practice", [(2, 9000)], indirect=True)
def test_network_and_database_are_read_concurrently_with_progress(cluster: Practice) -> None:
    report, progress = check_on_a_terminal(cluster)
    assert_healthy(report)
    # The database is reached for before the first packet is sent, and sampled again when all paths are under way.
    paths = [entry for entry in report.journal if entry.topic.startswith("path ")]
    samples = [began(entry) for entry in report.journal if entry.topic == "sql sysstat"]
    assert len(paths) == 4
    assert len(samples) in (2, 3)  # a third one where the probes end well before the interval does
    assert min(began(e) for e in report.journal if e.topic == "sql connect") < min(began(e) for e in paths)
    assert max(began(e) for e in paths) < max(samples)
    # The history is read, and the kernels' counters grow, between the two samples of the instances.
    history = [entry for entry in report.journal if entry.topic.startswith("sql awr_")]
    assert min(samples) < min(began(e) for e in history) < max(samples)
    kernels = [began(e) for e in report.journal if e.topic == "counters over time" and e.node == "rac1"]
    assert max(min(samples), kernels[0]) < min(max(samples), kernels[1])  # the two intervals overlap
    for text in ("AWR: ", "checks concluded"):
        assert text in progress, progress
    # A busy machine may miss one of the four seconds.
    assert len(set(re.findall("sampling the instances [1-4] of 4", progress))) >= 2, progress


def assert_healthy(report: Report) -> None:
    # On a small machine, one of many concurrent packets may be lost: it is not reported as a fault.
    well = (Status.PASS, Status.SKIPPED)
    assert [(f.status, f.title) for f in report.findings if f.status not in well and f.code not in NOISE] == []
    concluded = {f.check for f in report.findings if f.status is Status.PASS or f.code in NOISE}
    assert concluded >= DATABASE_CHECKS
    assert {f.check for f in report.findings} - concluded <= NOT_OF_THE_NODES
    (finding,) = with_code(report, "IC-LOST-001")
    assert re.search(r"blocks in [\d.]+ s and lost none", finding.title)
    activity = report.cluster.activity
    assert isinstance(activity, Activity)
    assert isinstance(activity.transfers, tuple)
    pairs = {(t.receiver, t.sender) for t in activity.transfers}
    names = {f"prac{receiver}": receiver for receiver, _ in pairs}
    assert pairs == {(to, source) for to in names.values() for source in names.values() if to != source}
    for transfer in activity.transfers:
        assert transfer.lost == 0
        assert transfer.cr_blocks + transfer.current_blocks > 50


def check_on_a_terminal(cluster: Practice) -> tuple[Report, str]:
    """The report, and the output on its stderr, which is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "racwire", "check", "--lab", "--format", "json"],
        env=cluster.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs,
    ) as running:  # fmt: skip
        os.close(theirs)
        assert running.stdout
        report = from_json(running.stdout.read())
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    return report, shown


def began(entry: Entry) -> datetime:
    return datetime.fromisoformat(entry.started_at)


# --- faults of the database, and of the network below it --------------------------------------------------------------


NOT_OF_PRAC2 = {
    ("gc-blocks-lost", "IC-LOST-004"): UNKNOWN,
    ("gc-receive-time", "IC-TIME-005"): UNKNOWN,
    ("instance-ping", "IC-PING-004"): UNKNOWN,
    ("instance-ping", "IC-PING-008"): Status.WARN,
    ("interconnect-in-use", "IC-USE-008"): UNKNOWN,
}


def broken(cluster: Practice, faults: Iterable[str], interval_s: int, *words: str) -> Report:
    for fault in faults:
        cluster.lab("break", *fault.split())
    return cluster.check("--interval", str(interval_s), *words)


@pytest.mark.case
@pytest.mark.parametrize(("practice", "case"), parameters(database=True), indirect=["practice"])
def test_a_case_has_exactly_its_expected_findings_within_one_interval(
    cluster: Practice, case: Case, record_property: Callable[[str, object], None]
) -> None:
    assert case.make.lab is not None
    report = broken(cluster, case.make.lab, case.make.interval_s, *case.make.checks)
    record_property(PROPERTY, msgspec.to_builtins(outcome_of(case, report)))
    titles = [(f.code, f.title) for f in report.findings]
    assert case.faults_of(report, noise=(REMEMBERED, *NOISE)) == [], titles
    assert lost_pairs(report) == set(case.expect.lost), titles
    assert_lost_by(report, {receiver for receiver, _ in case.expect.lost})


@pytest.mark.beyond_sample
def test_an_instance_that_hangs_costs_one_time_limit_and_the_others_are_judged(
    cluster: Practice, tmp_path: Path
) -> None:
    settings = Path(cluster.environment["RACWIRE_LAB_DIR"], "settings.toml").read_text()
    (tmp_path / "s.toml").write_text(settings.replace("call_timeout_s = 4", "call_timeout_s = 3"))
    assert "call_timeout_s = 3" in (tmp_path / "s.toml").read_text()
    report = broken(cluster, ["hung-instance"], 1, "--settings", str(tmp_path / "s.toml"))
    assert problems(report) == NOT_OF_PRAC2, [(f.code, f.title) for f in report.findings]
    assert lost_pairs(report) == set()
    assert "GV$INSTANCE did not answer in time" in "\n".join(str(finding) for finding in report.findings)
    assert [e.topic for e in report.journal if "exceeded its time limit" in e.outcome] == ["sql instances"]
    # The SCAN led to one of the others, which has only its own rows.
    (judged,) = with_code(report, "IC-LOST-001")
    assert [name for name in ("prac1", "prac2", "prac3") if name in judged.title] in (["prac1"], ["prac3"])


@pytest.mark.beyond_sample
def test_blocks_that_12_1_counts_as_lost_by_mistake_are_not_a_fault(cluster: Practice) -> None:
    report = broken(cluster, ["false-lost-12.1"], 2)
    assert problems(report) == {}, [(f.code, f.title, f.why) for f in report.findings]
    findings = with_code(report, "IC-LOST-006")
    assert {node for f in findings for node in f.nodes} == {"rac1", "rac2", "rac3"}
    assert {f.status for f in findings} == {Status.INFO}


@pytest.mark.beyond_sample
def test_lost_fragments_lost_blocks_and_the_mtu_are_in_one_finding(cluster: Practice) -> None:
    report = broken(cluster, ["drop-fragments"], 5)
    found = problems(report)
    assert {key[1] for key in found} - BY_A_LOSS == {"IC-LOST-002", "IC-REASM-002"}
    assert found["gc-blocks-lost", "IC-LOST-002"] is FAIL
    assert_lost_by(report, {receiver for receiver, _ in lost_pairs(report)})
    assert {receiver for receiver, _ in lost_pairs(report)} == {"prac1", "prac2", "prac3"}
    for finding in with_code(report, "IC-LOST-002"):
        lines = "\n".join(finding.seen)
        assert "by timeout, with a fragment missing" in lines
        assert f"{NETWORK_2} has MTU 1500: a block of 8 KB is 6 fragments" in lines
        assert finding.why.startswith(
            "At MTU 1500 a block of 8 KB is 6 fragments, and one lost fragment loses the block"
        )
        assert "IC-REASM-002" in {other.code for other in report.joined_with(finding)}
        assert any(e.topic == "counters over time" for e in finding.evidence)
        assert any(e.topic == "sql cache_transfer" for e in finding.evidence)


@pytest.mark.beyond_sample
@pytest.mark.parametrize("practice", [(3, 9000)], indirect=True)
def test_a_network_that_loses_packets_loses_blocks(cluster: Practice) -> None:
    report = broken(cluster, ["loss"], 3)
    # By chance, a path may lose no ping but a datagram, or a ping between HAIP addresses.
    by_chance = {"IC-DEV-003", "IC-FLOW-005", "IC-HAIP-002"}
    assert {key[1] for key in problems(report)} - BY_A_LOSS - by_chance == {"IC-LOST-002", "IC-PATH-005"}
    assert_lost_by(report, {receiver for receiver, _ in lost_pairs(report)})
    for finding in with_code(report, "IC-LOST-002"):
        assert f"df-ping: packets are lost on {NETWORK_2}" in "\n".join(finding.seen)
