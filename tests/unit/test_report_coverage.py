"""What the second report did not examine is no longer known: it is not gone, and nothing is better."""

import io
from functools import cache

import msgspec
import pytest

from checks.model.exit_codes import ExitCode
from checks.model.facts import UnreadNode
from checks.model.finding import EvidenceRef, Finding, Status
from checks.model.journal import Entry
from checks.model.report import Report
from checks.report.diff import diff, exit_code, verdict
from checks.report.diff_kind import DiffKind
from tests.fixtures.clusters import cluster, clusterware, node
from tests.fixtures.reports import report_of
from tui.cli.diff_text import diff_text

NETWORK = "192.168.10.0/24"


def finding(status: Status = Status.FAIL, **more: object) -> Finding:
    return msgspec.convert({"code": "T-1", "check": "t", "status": status, "title": "?", **more}, Finding)


CALM = finding(Status.PASS, code="T-2")


@cache
def _plain(nodes: int) -> Report:
    return report_of(cluster(nodes))


def report(*findings: Finding, nodes: int = 3, topics: tuple[str, ...] = ("interfaces",), **more: object) -> Report:
    """Return the report of a run that found this, read so many nodes, and read these topics on rac1."""
    journal = tuple(Entry("rac1", topic, "?", "") for topic in topics)
    made = msgspec.structs.replace(_plain(nodes), findings=(CALM, *findings), journal=journal)
    return msgspec.structs.replace(made, **more)


def on(*nodes: str, status: Status = Status.FAIL, **more: object) -> Finding:
    return finding(status, nodes=nodes, **more)


UNREAD = msgspec.structs.replace(
    report(), cluster=cluster([node(1), node(2), UnreadNode("rac3", "ssh asked for a password.")], clusterware(3))
)
AWR = finding(evidence=[EvidenceRef("rac1", "sql awr_losses")])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (report(on("rac3")), report(nodes=2)),
        (report(on("rac2", "rac3")), report(nodes=2)),
        (report(on("rac3")), UNREAD),
        (report(finding(network="192.168.77.0/24")), report()),
        (report(AWR, topics=("interfaces", "sql awr_losses")), report()),
        (report(finding(network=NETWORK)), report(finding(Status.SKIPPED, network=NETWORK))),
        (report(finding(network=NETWORK)), report(finding(Status.SKIPPED, code="T-9", network=NETWORK))),
        (report(on("rac2")), report(on("rac2", status=Status.SKIPPED))),
        (report(on("rac2", "rac3")), report(on("rac2"), nodes=2)),
        (report(on("rac2", "rac3")), report(on("rac2", status=Status.WARN), nodes=2)),
    ],
)
def test_what_the_second_report_did_not_examine_is_no_longer_known(before, after):
    found = diff(before, after)
    (change,) = [c for c in found.findings if c.before and c.before.status is Status.FAIL]
    assert change.change is DiffKind.BECAME_UNKNOWN
    assert exit_code(found) is ExitCode.COULD_NOT_TELL
    assert "gone" not in verdict(found.findings)
    text = io.StringIO()
    text.write(diff_text(found, text))
    assert "Gone" not in text.getvalue()
    assert "no longer known" in " ".join(text.getvalue().split())


def test_what_the_first_report_did_not_examine_is_not_new():
    for first, then in ((report(nodes=2), report(on("rac3"))), (report(), report(finding(network="192.168.77.0/24")))):
        found = diff(first, then)
        assert [c.change for c in found.findings if c.is_problem] == [DiffKind.BECAME_KNOWN]
        assert verdict(found.findings) == "Worse: 1 failure was not known before."
    partly = diff(report(nodes=2), report(on("rac2", "rac3")))
    assert [c.change for c in partly.findings if c.is_problem] == [DiffKind.NEW]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (report(on("rac3")), report()),
        (report(AWR, topics=("interfaces", "sql awr_losses")), report(topics=("sql awr_losses",))),
        (report(finding(network=NETWORK)), report(finding(Status.SKIPPED, network="192.168.11.0/24"))),
        (report(on("rac2")), report(on("rac3", status=Status.SKIPPED))),
        (report(on("node-3"), is_redacted=True), report(nodes=2)),
    ],
)
def test_what_was_examined_again_is_gone(before, after):
    assert {c.change for c in diff(before, after).findings if c.is_problem} == {DiffKind.GONE}


def test_a_tool_of_the_whole_cluster_may_have_run_on_another_node():
    there = report(finding(evidence=[EvidenceRef("rac1", "oifcfg getif")]), topics=("oifcfg getif",))
    other = msgspec.structs.replace(cluster(3), local_node="rac2")
    here = report(cluster=other, journal=(Entry("rac2", "oifcfg getif", "?", ""),))
    assert {c.change for c in diff(there, here).findings if c.is_problem} == {DiffKind.GONE}
    failed = msgspec.structs.replace(here, journal=(Entry("rac2", "oifcfg getif", "?", "", 0.0, "it hangs"),))
    assert {c.change for c in diff(there, failed).findings if c.is_problem} == {DiffKind.BECAME_UNKNOWN}


def test_a_node_that_only_one_report_has_is_not_called_absent():
    facts = {(f.group, f.name): f.after for f in diff(report(), report(nodes=2)).facts}
    assert facts["Nodes", "rac3"] == "not in the report"
