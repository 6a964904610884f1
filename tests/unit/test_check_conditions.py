"""What checks declare about conditions, and what their findings show of them: on the facts of the case book."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from checks.model.check import Check, PluginError, check
from checks.model.cluster_event import EventKind, EventPlace
from checks.model.condition import Condition, ConditionKind
from checks.model.facts import Cluster, ClusterMember, ToolMessage, UnaskedInstance
from checks.model.finding import FAULTS, Status
from checks.rules.observed.counted_packets import CONDITIONS
from checks.run.check_discovery import discover
from checks.situation.conditions import rests_on, shown_bad
from checks.situation.events.counted_troubles import _NIC_KINDS
from checks.situation.examining import checks_about
from tests.cases.loading import DIRECTORY, load
from tests.cases.test_fact_cases import report_of
from tests.fixtures.clusters import cluster, clusterware
from tests.fixtures.databases import activity, asked, database

CHECKS = {one.id: one for one in discover()}
OF_EVENTS = {kind: c.kind for kind in EventKind if (c := EventPlace(0.0).condition(kind)) is not None}


@pytest.mark.parametrize(("event", "kind"), OF_EVENTS.items())
def test_the_condition_of_each_event_is_shown_by_a_check_which_examines_the_event_first(
    event: EventKind, kind: ConditionKind
) -> None:
    showing = [one.id for one in CHECKS.values() if kind in one.shows]
    assert showing
    own = [one.id for one in CHECKS.values() if kind in one.about]
    assert set(showing) <= set(own)
    assert set(checks_about(event, CHECKS.values())[: len(own)]) == set(own)


@pytest.mark.parametrize("one", CHECKS.values(), ids=CHECKS)
def test_a_check_rests_on_what_it_shows_and_on_the_setup_where_it_declares_nothing(one: Check) -> None:
    assert one.about
    assert one.about[: len(one.shows)] == one.shows
    assert (ConditionKind.SETUP in one.about) is (one.about == (ConditionKind.SETUP,))


@pytest.mark.parametrize(
    ("case", "code", "shown"),
    [
        ("interface-no-carrier", "IC-IFACE-004", {Condition(ConditionKind.LINK, "rac2", "eth1")}),
        ("bond-member-down", "IC-BOND-002", {Condition(ConditionKind.LINK, "rac2", "p1")}),
        ("mtu-odd-node", "IC-MTU-002", {Condition(ConditionKind.MTU, "rac3", "eth2")}),
        ("mtu-bond-member", "IC-MTU-004", {Condition(ConditionKind.MTU, "rac2", "p1")}),
        (
            "mtu-nothing-tells-which",
            "IC-MTU-003",
            {Condition(ConditionKind.MTU, node, nic) for node in ("rac1", "rac2") for nic in ("eth1", "eth2")},
        ),
        ("speed-and-duplex-of-one-node", "IC-SPEED-003", {Condition(ConditionKind.SPEED, "rac2", "eth2")}),
        ("blocks-lost", "IC-LOST-002", {Condition(ConditionKind.LOST_BLOCKS, "rac2")}),
        ("blocks-lost-in-receive-buffers", "IC-UDP-002", {Condition(ConditionKind.RECEIVE_BUFFERS, "rac2")}),
        ("nic-send-queue", "IC-NIC-005", {Condition(ConditionKind.NIC_DROPS, "rac2", "eth2")}),
        ("nic-corrupt-frames", "IC-NIC-002", {Condition(ConditionKind.NIC_ERRORS, "rac2", "eth2")}),
        (
            "blocks-lost-in-a-black-hole",
            "IC-PATH-003",
            {
                Condition(ConditionKind.PATH, "rac1", "192.168.11.0/24", "rac2"),
                Condition(ConditionKind.PATH, "rac2", "192.168.11.0/24", "rac1"),
            },
        ),
    ],
)
def test_a_fault_shows_the_condition_that_samples_or_a_change_can_show_too(
    case: str, code: str, shown: set[Condition]
) -> None:
    report = report_of(load(DIRECTORY / f"{case}.toml"))
    faults = [f for f in report.findings if f.code == code and f.status in FAULTS]
    assert {c for fault in faults for c in shown_bad(fault)} == shown
    for fault in faults:
        about = CHECKS[fault.check].about
        assert shown_bad(fault) <= rests_on(fault, about, report.cluster)
        assert {c.kind for c in shown_bad(fault)} <= set(about)
    # What passes or is not known is never bad.
    assert not any(shown_bad(f) for f in report.findings if f.status not in FAULTS)


def test_a_pass_rests_on_each_layer_below_a_private_interface_and_on_no_node_that_was_not_read() -> None:
    report = report_of(load(DIRECTORY / "healthy-bond.toml"))
    passed = [f for f in report.findings if f.code == "IC-IFACE-001"]
    on = {c.item for f in passed for c in rests_on(f, [ConditionKind.LINK], report.cluster) if c.node == "rac1"}
    assert on == {"eth1", "eth2", "p1", "p2"}
    report = report_of(load(DIRECTORY / "interface-node-not-read.toml"))
    unread = {node.name for node in report.cluster.unread_nodes()}
    passes = [f for f in report.findings if f.status is Status.PASS and f.check in ("interfaces", "mtu-consistency")]
    assert unread
    assert passes
    for finding in passes:
        on_nodes = {c.node for c in rests_on(finding, CHECKS[finding.check].about, report.cluster)}
        assert on_nodes
        assert on_nodes.isdisjoint(unread)


def test_the_stack_is_bad_where_it_is_not_online_and_on_each_inactive_node_and_no_path_is() -> None:
    down = (ToolMessage("CRS-4639", "Could not contact Oracle High Availability Services"),)
    members = (ClusterMember("rac1", 1, status="Active"), ClusterMember("rac2", 2, status="Inactive"))
    for facts, node in (
        (replace(clusterware(), services=down), "rac1"),
        (replace(clusterware(), members=members), "rac2"),
    ):
        built = replace(cluster(2), clusterware=facts)
        shown = {c for f in CHECKS["clusterware"].run(built) for c in shown_bad(f)}
        assert shown == {Condition(ConditionKind.STACK, node)}


@pytest.mark.parametrize("silent", [(2,), (2, 3)])
def test_an_instance_that_hangs_is_bad_and_the_query_of_all_where_it_is_not_known_which_one_hangs(
    silent: tuple[int, ...],
) -> None:
    late = tuple(UnaskedInstance(n, f"prod{n}", "No answer.", host=f"rac{n}", is_late=True) for n in silent)
    built = asked(3, database=database(1, unasked=late), activity=activity(1))
    hangs = [f for f in CHECKS["instance-ping"].run(built) if f.code == "IC-PING-008"]
    shown = {c for f in hangs for c in shown_bad(f)}
    one = Condition(ConditionKind.INSTANCE, "rac2", "prod2")
    assert shown == ({one} if len(silent) == 1 else {Condition(ConditionKind.DATABASE)})


def test_an_instance_is_at_its_node_by_the_name_of_the_report_whatever_name_its_host_has() -> None:
    facts = database(2)
    longer = tuple(replace(one, host=f"{one.host}.example.com") for one in facts.instances)
    built = asked(2, database=replace(facts, instances=longer), activity=activity(2))
    quick = next(f for f in CHECKS["instance-ping"].run(built) if f.status is not Status.UNKNOWN)
    on = rests_on(replace(quick, nodes=("rac2",)), [ConditionKind.INSTANCE], built)
    assert on >= {Condition(ConditionKind.INSTANCE, "rac2", "prod2")}


def test_the_faults_of_nics_are_of_the_same_kinds_in_a_run_and_in_samples() -> None:
    of_samples = {fault: OF_EVENTS[kind] for fault, kind in _NIC_KINDS.items()}
    assert of_samples == CONDITIONS


def test_a_plugin_that_declares_nothing_rests_on_the_setup_alone() -> None:
    @check("own", question="?", needs=(), kinds=CHECKS["df-ping"].kinds)
    def own(cluster: Cluster):  # type: ignore[no-untyped-def]
        yield from ()

    assert (own.shows, own.about) == ((), (ConditionKind.SETUP,))
    with pytest.raises(PluginError):
        check("Own", question="?", needs=(), kinds=())(own.judge)
