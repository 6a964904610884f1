"""Whole reports compared: their facts, paths, nodes and settings, and cautions about the comparison."""

from __future__ import annotations

import json

import msgspec
import pytest

from checks.model.exit_codes import ExitCode
from checks.model.facts import Clusterware, UnreadNode, Verdict
from checks.model.report import Report
from checks.report.diff import ReportDiff, diff, exit_code, to_json
from checks.report.diff_kind import DiffKind
from tests.fixtures.clusters import cluster, clusterware, node, path, with_interface, with_paths
from tests.fixtures.databases import asked, losing
from tests.fixtures.reports import black_hole, report_of
from tests.unit.test_report_diff import FAIL, UNKNOWN, WARN, finding


def later(report: Report, **more: object) -> Report:
    return msgspec.structs.replace(report, started_at="2026-11-21T09:00:00.000+01:00", **more)


def facts_of(difference: ReportDiff) -> dict[tuple[str, str], tuple[str, str]]:
    return {(f.group, f.name): (f.before, f.after) for f in difference.facts}


WELL = report_of(asked(cluster(3)))


def test_any_report_has_no_difference_to_itself():
    same = diff(WELL, WELL)
    assert (same.facts, same.cautions) == ((), ())
    assert exit_code(same) is ExitCode.PASS


def test_changed_facts_explain_changed_findings():
    smaller = cluster([node(1), node(2), with_interface(node(3), "eth1", mtu=1500)])
    losing_now = report_of(asked(smaller, activity=losing(2, 37, {1: 37}, 3)))
    facts = facts_of(diff(WELL, later(losing_now)))
    assert facts["Interfaces", "eth1 of rac3"] == ("MTU 9000", "MTU 1500")
    assert facts["Rates", "prod2 lost blocks"] == ("0/s", "1.23/s")
    assert {group for group, _ in facts} == {"Interfaces", "Rates"}


def test_a_finding_that_became_unknown_gives_exit_code_3():
    of = {status: msgspec.structs.replace(WELL, findings=(finding(status),)) for status in (WARN, UNKNOWN)}
    assert exit_code(diff(of[WARN], of[UNKNOWN])) is ExitCode.COULD_NOT_TELL
    assert exit_code(diff(of[UNKNOWN], of[WARN])) is ExitCode.WARNINGS
    assert exit_code(diff(of[UNKNOWN], of[UNKNOWN])) is ExitCode.PASS


def test_a_path_that_became_a_black_hole_is_reported_with_its_largest_packet():
    hole = report_of(asked(black_hole(3)))
    found = facts_of(diff(WELL, later(hole)))
    assert found == {
        ("Paths", f"192.168.11.0/24 {a} -> {b}"): ("passes (9000 bytes)", "black hole, 1500 bytes pass")
        for a, b in (("rac1", "rac2"), ("rac2", "rac1"))
    }
    assert exit_code(diff(WELL, later(hole))) is ExitCode.FAILURES
    assert exit_code(diff(hole, later(WELL))) is ExitCode.PASS


def test_loss_that_only_varies_is_not_another_path():
    base = cluster(2)
    network = base.networks[0]
    reports = [
        report_of(with_paths(base, path(network, "rac1", "rac2", Verdict.LOSS, path_mtu=9000, reason=reason)))
        for reason in ("1 of 20", "2 of 20")
    ]
    assert facts_of(diff(*reports)) == {}


def test_nodes_and_instances_that_come_go_or_cannot_be_read_are_reported():
    unread = report_of(cluster([node(1), node(2), UnreadNode("rac3", "ssh asked for a password.")], clusterware(3)))
    assert facts_of(diff(report_of(cluster(3)), unread))["Nodes", "rac3"] == ("read", "could not be read")
    assert facts_of(diff(report_of(cluster(2)), report_of(cluster(3))))["Nodes", "rac3"] == (
        "not in the report",
        "read",
    )
    fewer = facts_of(diff(WELL, report_of(asked(cluster(2)))))
    assert fewer["Instances", "prod3"][1] == "not in the report"


def test_a_group_not_requested_in_one_of_the_reports_is_not_called_gone():
    without_database = report_of(cluster(3))
    assert not any(f.group in ("Instances", "Rates") for f in diff(WELL, without_database).facts)


def test_different_versions_and_settings_are_reported():
    one = msgspec.structs.replace(
        WELL,
        settings={
            "thresholds": {"few_blocks": 100},
            "console": {"mouse": True},
            "cluster": {"nodes": [], "sudo": True, "name": ""},
        },
        versions={"oracledb": "26.0"},
    )
    other = later(
        one,
        settings={
            "thresholds": {"few_blocks": 5},
            "console": {"mouse": False},
            "cluster": {"nodes": ["rac1", "rac2"], "sudo": False, "name": "practice"},
        },
        versions={"oracledb": "26.1"},
        racwire_version="2.0",
    )
    assert facts_of(diff(one, other)) == {
        ("Versions", "oracledb"): ("26.0", "26.1"),
        ("Versions", "racwire"): ("1.2.3", "2.0"),
        ("Settings", "thresholds.few_blocks"): ("100", "5"),
        ("Settings", "cluster.nodes"): ("none", "rac1 and rac2"),
        ("Settings", "cluster.sudo"): ("yes", "no"),
        ("Settings", "cluster.name"): ("not set", "practice"),
    }


def named(report: Report, name: str) -> Report:
    clusterware = report.cluster.clusterware
    assert isinstance(clusterware, Clusterware)
    other = msgspec.structs.replace(clusterware, cluster_name=name)
    return msgspec.structs.replace(report, cluster=msgspec.structs.replace(report.cluster, clusterware=other))


@pytest.mark.parametrize(
    ("before", "after", "caution"),
    [
        (WELL, named(WELL, "testrac"), "The reports are not of the same cluster: A is of prodrac, B of testrac."),
        (later(WELL), WELL, "B is older than A: worse means better here. Name the earlier report first."),
        (WELL, later(WELL, is_redacted=True), "B has pseudonyms and A does not, so racwire cannot match names"),
        (
            later(WELL, is_redacted=True),
            later(WELL, is_redacted=True),
            "Both reports have pseudonyms: a pseudonym means the same in both only if both used the same mapping.",
        ),
        (WELL, later(WELL, interrupted=True), "The run of B was interrupted"),
    ],
)
def test_cautions_about_the_comparison_come_first(before, after, caution):
    assert diff(before, after).cautions[0].startswith(caution)


def test_pseudonyms_in_only_one_report_are_not_compared():
    hole = report_of(asked(black_hole(3)))
    renamed = tuple(msgspec.structs.replace(f, network="net1", nodes=("node-1", "node-2")) for f in hole.findings)
    plain = msgspec.structs.replace(hole, settings={"cluster": {"nodes": ["rac1"]}}, racwire_version="1.0")
    cautions = diff(plain, later(hole, findings=renamed, is_redacted=True, settings={"cluster": {"nodes": ["node-1"]}}))
    assert {c.change for c in cautions.findings} == {DiffKind.SAME}
    assert facts_of(cautions) == {("Versions", "racwire"): ("1.0", "1.2.3")}


def test_json_has_the_documented_structure():
    document = json.loads(to_json(diff(WELL, later(report_of(asked(black_hole(3)))), ("a.racwire", "b\x1b.json"))))
    assert document["schema"] == "racwire-diff/1"
    assert list(document) == ["schema", "before", "after", "cautions", "findings", "facts"]
    assert document["after"]["name"] == "b\\x1b.json"
    assert (document["findings"][0]["change"], document["findings"][0]["after"]["code"]) == ("new", "IC-PATH-003")
    assert msgspec.convert(document, ReportDiff).findings[0].worse is FAIL
