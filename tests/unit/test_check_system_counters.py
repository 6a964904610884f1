"""nic-counters, link-saturation, cpu-pressure and memory-pressure: what each counter means, and what is no fault."""

import msgspec
import pytest

from checks.model.facts import CounterChanges, Interface, SystemCounters, Unknown
from checks.model.finding import Status
from checks.plugins.cpu_pressure import cpu_pressure
from checks.plugins.gc_blocks_lost import gc_blocks_lost
from checks.plugins.link_saturation import link_saturation
from checks.plugins.memory_pressure import memory_pressure
from checks.plugins.nic_counters import nic_counters
from tests.fixtures.clusters import cluster, interface, node, with_interface
from tests.fixtures.databases import asked, change, counters, losing, system

CHECKS = (nic_counters, link_saturation, cpu_pressure, memory_pressure)


def built(changed=None, on="rac2", nodes=2, **groups):
    """A cluster in which some counters of one node differ."""
    new = msgspec.structs.replace(change(on), machine=system(changed))
    return asked(nodes, counters=counters(nodes, new), **groups)


def only(check, facts):
    """The findings of the check that are no PASS."""
    return [f for f in check.run(facts) if f.status is not Status.PASS]


def test_a_healthy_cluster_passes_each_check_and_says_what_was_counted():
    for check in CHECKS:
        assert [f.status for f in check.run(asked(2))] == [Status.PASS], check.id
    (quiet,) = nic_counters.run(asked(2))
    assert quiet.title.endswith("eth2 of rac1 and eth2 of rac2 counted no error and no drop in 30 s.")


@pytest.mark.parametrize("name", ["rx_crc_errors", "rx_frame_errors", "tx_carrier_errors"])
def test_damaged_frames_are_a_failure_at_the_nic(name):
    (found,) = only(nic_counters, built({"eth2": {name: 9, f"{name[:2]}_errors": 9}}))
    assert (found.code, found.status, found.nodes) == ("IC-NIC-002", Status.FAIL, ("rac2",))
    assert found.network == "192.168.11.0/24"
    assert found.title.startswith("eth2 of rac2 on 192.168.11.0/24 ")


def test_a_lack_of_buffers_is_a_failure_only_where_blocks_were_lost():
    changed = {"eth2": {"rx_missed_errors": 40, "rx_fifo_errors": 40, "rx_errors": 40}}
    (found,) = only(nic_counters, built(changed))
    assert (found.code, found.status, found.data["number"]) == ("IC-NIC-003", Status.WARN, 40)
    (found,) = only(nic_counters, built(changed, activity=losing(2, 12, {1: 12})))
    assert found.status is Status.FAIL
    (found,) = only(nic_counters, built(changed, activity=losing(1, 12, {2: 12})))
    assert found.status is Status.WARN, "the other node lost them"


@pytest.mark.parametrize(
    ("dropped", "packets", "is_fault"), [(15, 500, False), (61, 60_000, True), (61, 6_000_000, False)]
)
def test_packets_that_no_protocol_wants_are_no_fault(dropped, packets, is_fault):
    found = only(nic_counters, built({"eth2": {"rx_dropped": dropped, "rx_packets": packets}}))
    assert [f.code for f in found] == (["IC-NIC-004"] if is_fault else [])
    if not is_fault:
        (quiet,) = nic_counters.run(built({"eth2": {"rx_dropped": dropped, "rx_packets": packets}}))
        assert f"counted no error and dropped {dropped} packets, as few as is usual, in 30 s." in quiet.title


def test_frames_too_large_for_a_nic_with_a_small_mtu_are_an_effect():
    odd = cluster([node(1), with_interface(node(2), "eth2", mtu=1500)])
    grown = msgspec.structs.replace(change("rac2"), machine=system({"eth2": {"rx_dropped": 900}}))
    (found,) = only(nic_counters, asked(odd, counters=counters(2, grown)))
    assert (found.code, found.status) == ("IC-NIC-004", Status.INFO)
    assert found.title.endswith("had received in 30 s; another node has a larger MTU.")


def test_drops_in_the_send_queue_name_the_sender_and_not_the_network():
    changed = {"eth2": {"qdisc_drops": 30}}
    facts = built(changed, activity=losing(1, 12, {2: 12}))
    (found,) = only(nic_counters, facts)
    assert (found.code, found.status, found.nodes) == ("IC-NIC-005", Status.FAIL, ("rac2",))
    assert "rac2 dropped 30 packets in the send queue of eth2 to 192.168.11.0/24 in 30 s" in found.title
    (lost,) = [f for f in gc_blocks_lost.run(facts) if f.code == "IC-LOST-002"]
    assert "rac2 dropped packets before they left the node" in lost.why
    assert not any("network team" in step.text for step in lost.next)
    (found,) = only(nic_counters, built(changed))
    assert found.status is Status.WARN
    assert only(nic_counters, built({"eth2": {"qdisc_drops": 3}})) == [], "fq_codel drops some packets by design"


def test_without_tc_the_discards_of_the_kernel_show_the_send_queue():
    quiet = system()
    assert isinstance(quiet.nics, tuple)
    nics = tuple(
        msgspec.structs.replace(n, counts={k: v for k, v in n.counts.items() if k != "qdisc_drops"}) for n in quiet.nics
    )
    grown = change("rac2")
    groups = {**grown.counters.groups}
    groups["Udp"], groups["Ip"] = {**groups["Udp"], "SndbufErrors": 7}, {**groups["Ip"], "OutDiscards": 9}
    blind = msgspec.structs.replace(
        grown,
        counters=msgspec.structs.replace(grown.counters, groups=groups),
        machine=msgspec.structs.replace(quiet, nics=nics),
    )
    (found,) = only(nic_counters, asked(2, counters=counters(2, blind)))
    assert (found.code, found.status) == ("IC-NIC-005", Status.WARN)
    assert "discarded 9 packets when sending" in found.title
    assert only(nic_counters, asked(2, counters=counters(2, msgspec.structs.replace(blind, machine=quiet)))) == []


def test_a_nic_without_a_link_drops_what_is_sent_and_only_the_link_is_reported():
    down = cluster([node(1), with_interface(node(2), "eth2", operational_state="down")])
    grown = msgspec.structs.replace(change("rac2"), machine=system({"eth2": {"tx_dropped": 900, "carrier_changes": 1}}))
    found = only(nic_counters, asked(down, counters=counters(2, grown)))
    assert [(f.code, f.status) for f in found] == [("IC-NIC-006", Status.WARN)]
    assert found[0].title == "The link of eth2 of rac2 on 192.168.11.0/24 went down or came up once in 30 s."


def test_errors_without_a_kind_are_reported_once():
    (found,) = only(nic_counters, built({"eth2": {"rx_errors": 5}}))
    assert (found.code, found.status) == ("IC-NIC-007", Status.WARN)
    (found,) = only(nic_counters, built({"eth2": {"rx_errors": 5, "rx_length_errors": 5}}))
    assert found.title.endswith("counted 5 errors in 30 s: frames of a wrong length.")


def test_members_of_a_bond_are_judged_and_the_bond_does_not_repeat_them():
    members = ("p1p1", "p2p1")
    bonded = with_interface(node(2), "eth2", kind="bond", members=members)
    nics: tuple[Interface, ...] = tuple(interface(name, "", master="eth2") for name in members)
    bonded = msgspec.structs.replace(bonded, interfaces=(*bonded.interfaces, *nics))
    grown = msgspec.structs.replace(
        change("rac2"),
        machine=system({"eth2": {"rx_crc_errors": 4}, "p2p1": {"rx_crc_errors": 4}}, nics=("eth1", "eth2", *members)),
    )
    (found,) = only(nic_counters, asked(cluster([node(1), bonded]), counters=counters(2, grown)))
    assert found.title == "p2p1 of rac2 on 192.168.11.0/24 received 4 corrupt frames in 30 s."


# --- traffic ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "percent", "status"),
    [("rx", 69, Status.PASS), ("rx", 75, Status.WARN), ("tx", 95, Status.FAIL), ("tx", 85, Status.WARN)],
)
def test_a_link_near_its_speed_is_named_with_its_direction(way, percent, status):
    size = int(10_000e6 / 8 * 30 * percent / 100)
    findings = link_saturation.run(built({"eth2": {f"{way}_bytes": size}}))
    worst = min(findings, key=lambda f: f.status.gravity)
    assert worst.status is status
    if status is not Status.PASS:
        verb = {"rx": "receives", "tx": "sends"}[way]
        assert worst.title == (
            f"eth2 of rac2 on 192.168.11.0/24 {verb} at {percent} % of its 10,000 Mbit/s, averaged over 30 s."
        )


def test_a_nic_without_a_known_speed_is_skipped_with_the_reason():
    mute = cluster(
        [node(1), with_interface(node(2), "eth2", speed_mbps=Unknown("The driver of eth2 reports no speed."))]
    )
    (found,) = only(link_saturation, asked(mute))
    assert (found.code, found.status) == ("IC-LOAD-003", Status.SKIPPED)
    assert found.title == "The traffic of eth2 of rac2 was not examined: the driver of eth2 reports no speed."


# --- CPUs and memory --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("steal", "status"), [(500, None), (800, Status.WARN), (1_600, Status.FAIL)])
def test_steal_is_judged_as_a_share_of_all_time(steal, status):
    found = only(cpu_pressure, built({"cpu": {"steal": steal}}))
    assert [(f.code, f.status) for f in found] == ([("IC-CPU-002", status)] if status else [])


def test_a_short_interval_with_a_few_stolen_ticks_is_no_finding():
    short = msgspec.structs.replace(
        change("rac2"),
        seconds=1.0,
        machine=system({"cpu": {"user": 50, "system": 0, "idle": 130, "softirq": 0, "steal": 12}}),
    )
    assert only(cpu_pressure, asked(2, counters=counters(2, short))) == []


def test_one_cpu_full_of_soft_interrupts_is_a_warning_with_ways_to_spread_them():
    busy = {"cpu2": {"user": 0, "system": 100, "idle": 50, "softirq": 2_850}}
    (found,) = only(cpu_pressure, built(busy))
    assert (found.code, found.status) == ("IC-CPU-003", Status.WARN)
    assert found.title == "cpu2 of rac2 spent 95 % of 30 s in soft interrupts."
    assert any("irqbalance" in step.text and "RPS" in step.text for step in found.next)


def test_a_busy_node_is_no_fault_and_a_hint_where_it_lost_blocks():
    busy = {"stalled cpu": {"some": 27_000_000}, "cpu": {"idle": 0, "user": 11_000}, "cpu0": {"squeezed": 900}}
    assert only(cpu_pressure, built(busy)) == []
    (found,) = only(cpu_pressure, built(busy, activity=losing(2, 12, {1: 12})))
    assert (found.code, found.status) == ("IC-CPU-004", Status.INFO)


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        ({"pswpout": 900_000}, []),
        ({"pswpout": 30_000, "pswpin": 9_000}, [("IC-MEM-002", Status.WARN)]),
        ({"pswpout": 300_000, "pswpin": 90_000}, [("IC-MEM-002", Status.FAIL)]),
        ({"allocstall": 299}, []),
        ({"allocstall": 300}, [("IC-MEM-003", Status.WARN)]),
        ({"oom_kill": 1}, [("IC-MEM-003", Status.FAIL)]),
    ],
)
def test_memory_is_judged_by_pages_both_ways_stalls_and_killed_processes(memory, expected):
    assert [(f.code, f.status) for f in only(memory_pressure, built({"memory": memory}))] == expected


def test_time_in_which_all_tasks_waited_for_memory_is_a_warning():
    (found,) = only(memory_pressure, built({"stalled memory": {"full": 3_000_000}}))
    assert found.title == "On rac2 all tasks waited for memory in 10 % of the time, averaged over 30 s."


# --- what is not known ------------------------------------------------------------------------------------------------


def test_files_of_older_versions_are_skipped_and_nodes_that_were_not_read_are_unknown():
    old = asked(2)
    assert isinstance(old.counters, CounterChanges)
    nodes = tuple(msgspec.structs.replace(c, machine=SystemCounters()) for c in old.counters.nodes)
    old = msgspec.structs.replace(old, counters=msgspec.structs.replace(old.counters, nodes=nodes))
    lost = msgspec.structs.replace(old, counters=counters(0, unread={"rac2": Unknown("rac2 did not answer.")}))
    for check in CHECKS:
        assert {f.status for f in check.run(old)} == {Status.SKIPPED}, check.id
        assert {f.status for f in check.run(lost)} == {Status.UNKNOWN}, check.id
