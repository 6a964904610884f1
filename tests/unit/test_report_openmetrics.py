"""The report as metrics: accepted by the parsers of both formats, and equal to the facts."""

import re
from collections.abc import Iterable

import msgspec
import prometheus_client.openmetrics.parser as openmetrics
import prometheus_client.parser as prometheus
import pytest

from checks.model.cluster_event import ClusterEvent, EventKind
from checks.model.exit_codes import ExitCode
from checks.model.facts import (
    ActivityGap,
    Cluster,
    NotAsked,
    PathProbe,
    PingSeries,
    UnaskedInstance,
    Unknown,
    UnreadNode,
    Verdict,
)
from checks.model.finding import Finding, Status, Waived, keyed
from checks.model.hypothesis import Certainty, Diagnosis, Hypothesis, Place
from checks.model.report import Report, exit_code
from checks.model.situation import Episode, Situation
from checks.report.openmetrics import METRICS, to_openmetrics
from tests.fixtures.clusters import cluster, clusterware, node, path, with_paths
from tests.fixtures.databases import activity, asked, change, counters, database, loaded, losing, own_activity
from tests.fixtures.hostile import hostile_report
from tests.fixtures.reports import black_hole, report_of, waiver_standing
from tests.unit.measurement_support import EVERY

Labels = frozenset[tuple[str, str]]


def samples(report: Report) -> dict[tuple[str, Labels], float]:
    """Every sample by its series; both parsers take the text, agree on it, and find no series twice."""
    text = to_openmetrics(report).decode()
    families = list(openmetrics.text_string_to_metric_families(text))
    assert [(f.name, f.samples) for f in families] == [
        (f.name, f.samples) for f in prometheus.text_string_to_metric_families(text)
    ]
    assert {family.type for family in families} == {"gauge"}
    assert [family.name for family in families] == [name for name in METRICS if name in {f.name for f in families}]
    found = [sample for family in families for sample in family.samples]
    series = {(sample.name, frozenset(sample.labels.items())): sample.value for sample in found}
    assert len(series) == len(found)
    assert len(found) == sum(not line.startswith("#") for line in text.splitlines())
    assert all(sample.timestamp is None for sample in found)
    return series


def values(report: Report, name: str, **labels: str) -> list[float]:
    """The values of a metric's samples that have these labels."""
    return [value for (of, own), value in samples(report).items() if of == name and labels.items() <= dict(own).items()]


def value(report: Report, name: str, **labels: str) -> float | None:
    """The value of the only such sample; None where there is none."""
    found = values(report, name, **labels)
    assert len(found) <= 1
    return found[0] if found else None


def of(facts: Cluster | None = None, findings: Iterable[Finding] = (), **more: object) -> Report:
    report = report_of(cluster(2))
    return msgspec.structs.replace(report, cluster=facts or report.cluster, findings=tuple(findings), **more)


def finding(status: Status, **more: object) -> Finding:
    fields = {"code": "T-OM-001", "check": "df-ping", "title": "?", **more}
    return Finding(status=status, **fields)  # type: ignore[arg-type]


FITTING = tuple(
    msgspec.structs.replace(one, paths=tuple(msgspec.structs.replace(path, mtu=9000) for path in one.paths))
    for one in EVERY
)
"""Of the MTU that the cluster has: a report has no figures of another."""
ALL = msgspec.structs.replace(
    report_of(asked(black_hole(3), activity=loaded(losing(2, 37, {1: 37}, 3)))), measurements=FITTING
)


@pytest.mark.parametrize("report", [ALL, report_of(cluster(1)), of(Cluster("", "")), hostile_report()])
def test_both_parsers_accept_the_output(report):
    assert samples(report)
    assert to_openmetrics(report).endswith(b"\n# EOF\n")


def test_every_metric_is_documented_with_its_labels_and_unit():
    unknown = msgspec.structs.replace(ALL.cluster, history=NotAsked("no licence"))
    event = ClusterEvent(number=1, kind=EventKind.LINK_DOWN, status=Status.FAIL, places=(), start=1.0)
    waivers, now = (waiver_standing("lifted"),), Situation(at=1.0, episodes=(Episode(event=event, as_of=1.0),))
    key, failed = next((key, one) for key, one in keyed(ALL.findings) if one.status is Status.FAIL)
    place = Place(networks=("192.168.10.0/24",), nodes=("rac1",))
    cause = Hypothesis(
        cause="CAUSE-12",
        name="c",
        standing=Certainty.SUPPORTED,
        entry=1,
        headline=failed.title,
        place=place,
        shown_by=(key,),
    )
    found = Diagnosis(hypotheses=(cause,))
    seen = samples(msgspec.structs.replace(ALL, cluster=unknown, waivers=waivers, situation=now, diagnosis=found))
    assert {name for name, _ in seen} == set(METRICS)
    assert all({label for label, _ in labels} <= set(METRICS[name].labels) for name, labels in seen)
    labels_by_name = {name: {label for of, labels in seen if of == name for label, _ in labels} for name in METRICS}
    assert labels_by_name == {name: set(METRICS[name].labels) for name in METRICS}
    text = to_openmetrics(ALL).decode()
    units = dict(re.findall(r"# UNIT (\w+) (\w+)", text))
    assert units.keys() == {
        name for name in METRICS if name.endswith(("_seconds", "_bytes", "_ratio")) and name in text
    }
    assert all(name.endswith(f"_{unit}") for name, unit in units.items())


def test_the_load_has_its_share_of_the_wire_its_kind_and_the_users_of_the_interconnect():
    assert value(ALL, "racwire_load_cluster_wait_ratio") == pytest.approx(0.02)
    low, likely, high = (value(ALL, "racwire_load_wire_ratio", limit=limit) for limit in ("low", "likely", "high"))
    assert 0 < low <= likely <= high <= 0.021
    assert value(ALL, "racwire_load_kind", kind="independent") == 1
    name = "racwire_interconnect_user_bytes_per_second"
    assert value(ALL, name, user="cache", direction="sent", db_instance="prod1", basis="counted") == 3e6
    assert value(ALL, "racwire_service_cluster_wait_ratio", service="orders") == pytest.approx(0.02)
    assert value(report_of(cluster(2)), "racwire_load_cluster_wait_ratio") is None


def test_the_newest_results_of_measurements_have_metrics():
    way = {"network": "192.168.10.0/24", "from": "rac1", "to": "rac2"}
    name = "racwire_measured_round_trip_seconds"
    median = value(ALL, name, size="8192", pace="one_at_a_time", quantile="0.5", **way)
    assert median == pytest.approx(112.5e-6, rel=0.01)
    assert value(ALL, name, size="8192", pace="one_at_a_time", quantile="0.99", **way) is None
    assert value(ALL, "racwire_measured_lost_ratio", kind="rate", **way) == pytest.approx(10 / 40_000)
    assert value(ALL, "racwire_measured_source_ports", state="dead", **way) == 31
    assert value(ALL, "racwire_measured_silence_seconds", protocol="icmp") == 1.02
    assert len(values(ALL, "racwire_measured_timestamp_seconds", ended="as_planned")) == len(EVERY)


def test_the_run_has_metrics():
    assert value(ALL, "racwire_info", version="1.2.3", cluster="prodrac", node="rac1") == 1
    assert value(ALL, "racwire_run_timestamp_seconds") == 1795179751
    assert value(ALL, "racwire_run_duration_seconds") == 1.234
    assert value(ALL, "racwire_run_exit_code") == exit_code(ALL) == ExitCode.FAILURES
    assert value(of(started_at="yesterday"), "racwire_run_timestamp_seconds") is None


def test_waived_findings_are_counted_separately_with_a_label():
    waived = Waived("The switch is replaced.", "Ann Lee", "2027-01-31")
    place = {"network": "192.168.11.0/24", "nodes": ("rac1", "rac2")}
    report = of(
        findings=[finding(Status.FAIL, **place), finding(Status.FAIL, waived=waived, **place), finding(Status.PASS)]
    )
    assert value(report, "racwire_findings", status="FAIL") == 1
    assert value(report, "racwire_findings_waived", status="FAIL") == 1
    assert value(report, "racwire_findings", status="WARN") == 0
    labels = {"code": "T-OM-001", "network": "192.168.11.0/24", "nodes": "rac1,rac2"}
    assert value(report, "racwire_finding", waived="false", **labels) == 1
    assert value(report, "racwire_finding", waived="true", **labels) == 1
    assert values(report, "racwire_finding", status="PASS") == []
    alone = of(findings=[finding(Status.FAIL, waived=waived)])
    assert value(alone, "racwire_run_exit_code") == value(alone, "racwire_check_exit_code", check="df-ping") == 0


@pytest.mark.parametrize("standing", ["in force", "expired", "lifted", "not needed", "not checked"])
def test_each_waiver_has_a_metric_with_its_status(standing):
    labels = {"code": "IC-BOOT-002", "check": "boot-mtu", "subject": "eth2 rac1"}
    report = of(waivers=(waiver_standing(standing),))
    assert value(report, "racwire_waiver", standing=standing.replace(" ", "_"), **labels) == 1
    assert len(values(report, "racwire_waiver")) == 1


def test_a_saved_state_is_marked_with_the_time_of_its_checks():
    saved = of(saved_at="2026-11-21T22:00:00+01:00")
    assert value(saved, "racwire_saved") == 1
    assert value(saved, "racwire_run_timestamp_seconds") == 1795179751
    assert value(of(), "racwire_saved") == 0


def test_an_empty_label_is_left_out():
    [(_, labels)] = [of_ for of_ in samples(of(findings=[finding(Status.FAIL)])) if of_[0] == "racwire_finding"]
    assert {name for name, _ in labels} == {"code", "check", "status", "waived"}


def test_problems_with_one_code_and_subject_are_added_up():
    report = of(findings=[finding(Status.WARN, subject=f"{n} lost") for n in range(3)])
    assert values(report, "racwire_finding") == [3]


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        ("PASS INFO", 0),
        ("PASS WARN", 1),
        ("WARN FAIL UNKNOWN", 2),
        ("WARN UNKNOWN PASS", 3),
        ("SKIPPED PASS", 0),
        ("SKIPPED", None),
    ],
)
def test_a_check_has_the_exit_code_of_a_run_of_this_check_only(statuses, code):
    findings = [finding(Status(status)) for status in statuses.split()]
    assert value(of(findings=findings), "racwire_check_exit_code", check="df-ping") == code


def test_paths_have_metrics_for_size_loss_and_latency():
    way = {"network": "192.168.11.0/24", "from": "rac1", "to": "rac2"}
    assert value(ALL, "racwire_path_expected_mtu_bytes", **way) == 9000
    assert value(ALL, "racwire_path_mtu_bytes", **way) == 1500
    assert value(ALL, "racwire_path_verdict", verdict="black hole", **way) == 1
    assert value(ALL, "racwire_path_loss_ratio", size="full", **way) == 1
    assert value(ALL, "racwire_path_loss_ratio", size="small", **way) == 0
    assert value(ALL, "racwire_path_rtt_seconds", size="small", **way) == 0.00008
    assert value(ALL, "racwire_path_rtt_seconds", size="full", **way) is None


def with_path(**changes: object) -> tuple[Report, PathProbe]:
    """One path of a healthy cluster changed."""
    base = cluster(2)
    assert isinstance(base.networks, tuple)
    probe = path(base.networks[0], "rac1", "rac2", **changes)  # type: ignore[arg-type]
    return of(with_paths(base, probe)), probe


def test_a_passing_path_has_the_sent_size_even_if_no_larger_size_was_probed():
    report, probe = with_path(path_mtu=None)
    way = {"network": probe.network, "from": "rac1", "to": "rac2"}
    assert value(report, "racwire_path_mtu_bytes", **way) == probe.expected_mtu == 9000


def test_packets_refused_by_the_local_kernel_are_not_lost():
    report, probe = with_path(verdict=Verdict.LOCAL_MTU, series=(PingSeries(8972, 20, 0, refused_locally=20),))
    assert values(report, "racwire_path_loss_ratio", **{"network": probe.network, "from": "rac1", "to": "rac2"}) == []


def test_unknown_values_have_no_sample_and_are_counted():
    report, probe = with_path(verdict=Verdict.UNKNOWN, path_mtu=Unknown("too much loss"), series=())
    assert value(report, "racwire_path_mtu_bytes", **{"network": probe.network, "from": "rac1", "to": "rac2"}) is None
    assert value(report, "racwire_unknown", what="path_mtu", reason="not_found") == 1
    assert value(report, "racwire_unknown", what="path", reason="not_told") == 1
    assert values(of(), "racwire_unknown") == []


def test_each_kind_of_unknown_has_its_own_metric():
    built = cluster([node(1), UnreadNode("rac2", "no ssh")], clusterware(2))
    facts = msgspec.structs.replace(
        built,
        paths=Unknown("no ICMP socket"),
        counters=counters(1, unread={"rac2": Unknown("no ssh")}),
        database=database(1, unasked=(UnaskedInstance(2, "prod2", "it hangs"),)),
        activity=activity(2, ActivityGap(2, "restarted")),
        history=NotAsked("no licence"),
    )
    unknown = {
        tuple(dict(labels)[name] for name in ("what", "reason")): count
        for (name, labels), count in samples(of(facts)).items()
        if name == "racwire_unknown"
    }
    assert unknown == {
        ("paths", "not_gathered"): 1,
        ("history", "not_asked"): 1,
        ("node", "not_read"): 1,
        ("node_counters", "not_read"): 1,
        ("instance", "not_asked"): 1,
        ("instance_counters", "not_told"): 1,
    }


def test_nodes_have_rates_of_their_kernel_counters():
    facts = asked(2, counters=counters(2, change("rac2", Ip_ReasmFails=60, Udp_RcvbufErrors=15)))
    report = of(facts)
    assert value(report, "racwire_node_interval_seconds", node="rac2") == 30
    assert value(report, "racwire_node_reassembly_failures_per_second", node="rac2") == 2
    assert value(report, "racwire_node_reassembly_failure_ratio", node="rac2") == 0.01
    assert value(report, "racwire_node_udp_receive_buffer_errors_per_second", node="rac2") == 0.5
    assert value(report, "racwire_node_reassembly_failures_per_second", node="rac1") == 0
    assert values(report, "racwire_interface_mtu_bytes", node="rac1") == [9000, 9000]


def test_instances_have_metrics_for_received_and_lost_blocks_and_times():
    instance = {"db_instance": "prod2", "node": "rac2"}
    assert value(ALL, "racwire_instance_blocks_received_per_second", **instance) == pytest.approx(12_400 / 30)
    assert value(ALL, "racwire_instance_blocks_lost_per_second", **instance) == pytest.approx(37 / 30)
    assert value(ALL, "racwire_instance_blocks_lost_ratio", **instance) == pytest.approx(37 / 12_437)
    assert value(ALL, "racwire_instance_block_receive_seconds", kind="cr", **instance) == 0.0004
    few = {"gc cr blocks received": 10, "gc current blocks received": 0, "gc blocks lost": 30}
    mostly_lost = of(asked(2, activity=activity(2, own_activity(2, few))))
    assert value(mostly_lost, "racwire_instance_blocks_lost_ratio", **instance) == 0.75
    nothing = of(asked(2, activity=activity(2, own_activity(1, {"gc cr blocks received": 0}))))
    assert value(nothing, "racwire_instance_block_receive_seconds", kind="cr", db_instance="prod1") is None


def test_names_equal_after_truncation_do_not_duplicate_a_series():
    long = [msgspec.structs.replace(node(n), name="x" * 500 + str(n)) for n in (1, 2)]
    facts = msgspec.structs.replace(cluster(2), counters=counters(0))
    changes = tuple(msgspec.structs.replace(change("rac1"), node=n.name) for n in long)
    report = of(msgspec.structs.replace(facts, counters=msgspec.structs.replace(counters(1), nodes=changes)))
    assert values(report, "racwire_node_interval_seconds", node="x" * 127 + "…") == [30]


def test_labels_keep_quotes_backslashes_and_line_ends_as_data():
    evil = 'rac1"} 0\n# EOF\\'
    report = of(msgspec.structs.replace(cluster(1), local_node=evil))
    assert value(report, "racwire_info", node='rac1"} 0\\x0a# EOF\\') == 1


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), 10**400])
def test_an_invalid_number_has_no_sample(odd):
    assert value(of(duration_s=odd), "racwire_run_duration_seconds") is None


def test_sixteen_nodes_stay_within_a_few_thousand_series():
    assert len(samples(report_of(asked(16)))) < 4000
