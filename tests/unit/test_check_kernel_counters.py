"""The checks of the kernels' counters over time: `reassembly`, `udp-receive-buffers`, `rp-filter`."""

import msgspec
import pytest

from checks.model.facts import CounterChange, KernelCounters, SystemCounters, TrackedConnections, Unknown, UnreadNode
from checks.model.finding import Status
from checks.plugins.packet_filter import packet_filter
from checks.plugins.reassembly import reassembly
from checks.plugins.rp_filter import rp_filter
from checks.plugins.udp_receive_buffers import udp_receive_buffers
from checks.rules.node_counts import counts_of
from tests.fixtures.clusters import cluster, interface, node, with_interface
from tests.fixtures.databases import asked, change, counters, database, losing, with_sysctls

CHECKS = (reassembly, udp_receive_buffers, rp_filter, packet_filter)


def found(check, base=2, nodes=2, **counted):
    return {f.code: f for f in check.run(asked(base, counters=counters(nodes, change("rac2", **counted))))}


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.id)
def test_healthy_kernels_pass_in_one_finding(check):
    assert [f.status for f in check.run(asked(3))] == [Status.PASS]


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.id)
def test_a_node_without_facts_is_unknown_and_the_others_pass(check):
    base = cluster([node(1), node(2), UnreadNode("rac3", "ssh refused")])
    known = counters(1, unread={"rac2": Unknown("rac2 did not answer within 10 s: it may hang.")})
    statuses = {f.nodes: f.status for f in check.run(asked(base, counters=known))}
    assert statuses == {(): Status.PASS, ("rac2", "rac3"): Status.UNKNOWN}


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.id)
def test_a_counter_that_fell_or_is_missing_does_not_pass(check):
    bare = CounterChange("rac2", 30.0, KernelCounters({"Ip": {"InReceives": 5}}), ("Ip.ReasmFails",))
    statuses = {f.nodes: f.status for f in check.run(asked(2, counters=counters(2, bare)))}
    assert statuses[("rac2",)] is Status.UNKNOWN


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.id)
def test_several_unknown_nodes_are_one_finding_with_their_reasons(check):
    silent = counters(1, unread={"rac2": Unknown("rac2 hangs."), "rac3": Unknown("rac3 hangs.")})
    finding = check.run(asked(3, counters=silent))[-1]
    assert finding.seen == ("rac2: rac2 hangs.", "rac3: rac3 hangs.")
    assert "rac2 and rac3" in finding.title
    alike = counters(1, unread={"rac2": Unknown("ssh refused."), "rac3": Unknown("ssh refused.")})
    assert check.run(asked(3, counters=alike))[-1].title.endswith("is not known: ssh refused.")


# --- reassembly -------------------------------------------------------------------------------------------------------


def test_reassembly_failures_after_timeouts_are_lost_fragments():
    base = cluster([node(1, 1500), node(2, 1500)])
    finding = found(reassembly, base, Ip_ReasmFails=212, Ip_ReasmTimeout=212)["IC-REASM-002"]
    assert finding.title == "rac2 dropped 212 packets in 30 s because fragments were missing."
    assert finding.status is Status.FAIL
    assert finding.nodes == ("rac2",)
    assert "192.168.10.0/24 has MTU 1500: a block of 8 KB is 6 fragments" in finding.seen


def test_nodes_with_one_cause_share_a_finding_with_the_worst_status():
    failing = [change(f"rac{n}", Ip_ReasmFails=n * 40, Ip_ReasmTimeout=n * 40) for n in (1, 2)]
    finding, _ = reassembly.run(asked(3, counters=counters(3, *failing)))
    assert finding.title == (
        "rac1 and rac2 dropped 120 packets in 30 s because fragments were missing, most of them at rac2."
    )
    assert (finding.status, finding.nodes) == (Status.FAIL, ("rac1", "rac2"))
    assert finding.seen[0] == "rac2: 80 reassemblies failed, all by timeout; 6,000 fragments arrived (1.3 %)"


def test_lost_fragments_and_lack_of_memory_are_separate_findings():
    failing = [change("rac1", Ip_ReasmFails=9, Ip_ReasmTimeout=9), change("rac2", Ip_ReasmFails=9)]
    assert {f.code for f in reassembly.run(asked(2, counters=counters(2, *failing)))} == {
        "IC-REASM-002",
        "IC-REASM-005",
    }


# Failures far above the timeouts, with enough memory: more memory "didn't help" where it was tried (2011).
MOSTLY_OTHER = {"Ip_ReasmFails": 4_233, "Ip_ReasmTimeout": 1_718}


def test_failures_without_timeouts_do_not_claim_a_lack_of_memory():
    base = cluster([node(1), with_sysctls(node(2), net_ipv4_ipfrag_high_thresh=4_194_304)])
    finding = found(reassembly, base, **MOSTLY_OTHER)["IC-REASM-005"]
    assert "out of order, overlapping, or without memory" in finding.title
    assert not any("sysctl -w" in command for command in commands(finding))


@pytest.mark.parametrize(("used", "code"), [(3_355_444, "IC-REASM-003"), (3_355_442, "IC-REASM-005")])
def test_memory_is_named_where_it_came_near_its_limit(used, code):
    base = cluster([node(1), with_sysctls(node(2), net_ipv4_ipfrag_high_thresh=4_194_304)])
    full = msgspec.structs.replace(change("rac2", **MOSTLY_OTHER), fragment_memory_bytes=used)
    (finding,) = (f for f in reassembly.run(asked(base, counters=counters(2, full))) if f.code == code)
    assert f"rac2: {used:,} bytes in reassembly at a reading" in finding.seen


def test_overlaps_are_named_where_the_kernel_counted_them():
    finding = found(reassembly, Ip_ReasmFails=40, IpExt_ReasmOverlaps=40)["IC-REASM-005"]
    assert finding.title == "rac2 dropped 40 packets in 30 s because fragments overlapped."


def test_with_a_very_small_limit_failures_without_timeouts_are_lack_of_memory():
    base = cluster([node(1), with_sysctls(node(2), net_ipv4_ipfrag_high_thresh=262_144)])
    finding = found(reassembly, base, Ip_ReasmFails=34, Ip_ReasmTimeout=1)["IC-REASM-003"]
    assert finding.title == "rac2 dropped 34 packets in 30 s because there was no memory to reassemble the fragments."
    assert "rac2: net.ipv4.ipfrag_high_thresh is 262,144 bytes" in finding.seen
    assert any("ipfrag_high_thresh=16777216" in c for remedy in finding.next for c in remedy.commands)


@pytest.mark.parametrize(("failed", "status"), [(1, Status.WARN), (59, Status.WARN), (60, Status.FAIL)])
def test_one_failure_per_hundred_fragments_is_a_failure(failed, status):
    assert found(reassembly, Ip_ReasmFails=failed)["IC-REASM-005"].status is status


def test_failures_without_any_fragment_in_the_interval_are_reported():
    assert found(reassembly, Ip_ReasmFails=5, Ip_ReasmTimeout=5, Ip_ReasmReqds=0)["IC-REASM-002"].status is Status.FAIL


# --- udp-receive-buffers ----------------------------------------------------------------------------------------------


def test_full_receive_buffers_fail_with_their_sizes_and_the_minimum():
    base = cluster([node(1), with_sysctls(node(2), net_core_rmem_max=212_992, net_core_rmem_default=262_144)])
    finding = found(udp_receive_buffers, base, Udp_RcvbufErrors=193, Udp_InErrors=193)["IC-UDP-002"]
    assert finding.status is Status.FAIL
    assert finding.title == "rac2 dropped 193 datagrams in 30 s: the receive buffers of their sockets were full."
    assert "rac2: net.core.rmem_max is 212,992 bytes, less than the minimum of 4,194,304" in finding.seen
    assert "rac2: net.core.rmem_default is 262,144 bytes" in finding.seen
    assert ("sysctl -w net.core.rmem_max=4194304",) in [remedy.commands for remedy in finding.next]
    assert {"IC-UDP-005"}.isdisjoint(found(udp_receive_buffers, base, Udp_RcvbufErrors=193, Udp_InErrors=193))


@pytest.mark.parametrize(
    ("counted", "code", "status"),
    [
        ({"Udp_MemErrors": 4, "Udp_InErrors": 4}, "IC-UDP-002", Status.FAIL),
        ({"Udp_InCsumErrors": 4, "Udp_InErrors": 4}, "IC-UDP-003", Status.WARN),
        ({"Softnet_Dropped": 4}, "IC-UDP-004", Status.WARN),
        ({"Udp_InErrors": 4}, "IC-UDP-005", Status.WARN),
    ],
)
def test_each_kind_of_error_is_reported_once(counted, code, status):
    codes = found(udp_receive_buffers, **counted)
    assert {c: f.status for c, f in codes.items() if f.status is not Status.PASS} == {code: status}


def test_small_sufficient_buffers_pass_with_a_note():
    base = cluster([node(1), with_sysctls(node(2), net_core_rmem_max=212_992)])
    (finding,) = found(udp_receive_buffers, base).values()
    assert finding.status is Status.PASS
    assert "rac2: net.core.rmem_max is 212,992 bytes, less than the minimum of 4,194,304" in finding.seen


def test_nodes_with_overflowing_buffers_share_one_finding():
    full = [change(f"rac{n}", Udp_RcvbufErrors=n, Udp_InErrors=n) for n in range(1, 7)]
    (finding,) = udp_receive_buffers.run(asked(6, counters=counters(6, *full)))
    assert finding.title == "6 nodes dropped 21 datagrams in 30 s: the receive buffers of their sockets were full."
    assert finding.seen[0] == "rac6: Udp RcvbufErrors grew by 6"


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.id)
def test_no_change_is_recommended_before_a_diagnosis(check):
    counted = {"Udp_RcvbufErrors": 9, "Udp_InCsumErrors": 9, "Ip_ReasmFails": 9, "TcpExt_IPReversePathFilter": 9}
    for finding in found(check, filtering("1", "1"), **counted).values():
        changes = [remedy.is_change for remedy in finding.next]
        assert changes == sorted(changes)
        assert not any(changes) or not all(changes)


# --- which NICs to look at --------------------------------------------------------------------------------------------


def commands(finding):
    return [command for remedy in finding.next for command in remedy.commands]


def test_the_commands_name_the_private_nics_of_the_node():
    finding = found(reassembly, Ip_ReasmFails=9, Ip_ReasmTimeout=9)["IC-REASM-002"]
    assert commands(finding)[1:] == [
        *("ip -s -s link show eth1", "ip -s -s link show eth2"),
        *("ethtool -S eth1", "ethtool -S eth2"),
        *("ethtool -g eth1", "ethtool -g eth2"),
    ]


def test_a_change_is_tried_on_one_nic():
    finding = found(udp_receive_buffers, Udp_InCsumErrors=4, Udp_InErrors=4)["IC-UDP-003"]
    assert commands(finding)[-1] == "ethtool -K eth1 rx off tx off"
    assert sum("-K" in command for command in commands(finding)) == 1


def test_below_a_bond_its_members_are_checked():
    members = tuple(interface(nic, "", master="eth2") for nic in ("ens2f0", "ens3f0"))
    second = with_interface(node(2), "eth2", kind="bond", members=("ens2f0", "ens3f0"))
    second = msgspec.structs.replace(second, interfaces=(*second.interfaces, *members))
    finding = found(udp_receive_buffers, cluster([node(1), second]), Udp_InCsumErrors=4)["IC-UDP-003"]
    assert commands(finding)[:3] == ["ethtool -S eth1", "ethtool -S ens2f0", "ethtool -S ens3f0"]


def test_where_no_nic_is_known_the_placeholder_is_explained():
    unknown = msgspec.structs.replace(cluster(2), networks=Unknown("No Clusterware."))
    finding = found(udp_receive_buffers, unknown, Udp_InCsumErrors=4)["IC-UDP-003"]
    assert "ethtool -S ETH" in commands(finding)
    assert all("ETH stands for each private NIC." in r.text for r in finding.next)


# --- engineered systems -----------------------------------------------------------------------------------------------


def on_port(base, nic):
    """All ports of the cluster's first private network on an interface of that name."""
    first = base.networks[0]
    ports = tuple(msgspec.structs.replace(port, interface=nic) for port in first.ports)
    return msgspec.structs.replace(base, networks=(msgspec.structs.replace(first, ports=ports), *base.networks[1:]))


@pytest.mark.parametrize("check", [reassembly, udp_receive_buffers], ids=lambda c: c.id)
def test_a_pass_on_engineered_nics_says_what_these_counters_do_not_cover(check):
    (finding,) = check.run(asked(on_port(cluster(2), "stre0")))
    assert finding.status is Status.PASS
    assert finding.seen[-1] == (
        "rac1 and rac2: NICs as on engineered systems (stre0); these counters do not include traffic over RDS"
    )
    (plain,) = check.run(asked(on_port(cluster(2), "ens1f0")))
    assert not any("RDS" in line for line in plain.seen)


# --- rp-filter --------------------------------------------------------------------------------------------------------


def filtering(everywhere, own):
    sysctls = {"net.ipv4.conf.all.rp_filter": everywhere, "net.ipv4.conf.eth2.rp_filter": own}
    return cluster([node(1), msgspec.structs.replace(node(2), sysctls=sysctls)])


@pytest.mark.parametrize(
    ("everywhere", "own", "status"), [("1", "0", Status.FAIL), ("1", "2", Status.WARN), ("0", "0", Status.WARN)]
)
def test_the_larger_of_both_settings_applies(everywhere, own, status):
    finding = found(rp_filter, filtering(everywhere, own), TcpExt_IPReversePathFilter=7)["IC-RPF-002"]
    assert finding.status is status
    assert finding.title.startswith("rp_filter dropped 7 packets on rac2 in 30 s")
    assert ("; it is strict on eth2." in finding.title) is (status is Status.FAIL)


def test_nodes_with_the_same_filter_share_one_finding():
    sysctls = {"net.ipv4.conf.all.rp_filter": "1", "net.ipv4.conf.eth2.rp_filter": "0"}
    base = cluster([msgspec.structs.replace(node(n), sysctls=sysctls) for n in (1, 2)])
    dropping = counters(2, *(change(f"rac{n}", TcpExt_IPReversePathFilter=7) for n in (1, 2)))
    (finding,) = rp_filter.run(asked(base, counters=dropping))
    assert finding.title == "rp_filter dropped 14 packets on rac1 and rac2 in 30 s; it is strict on eth2."


# --- settings that are wrong by themselves ----------------------------------------------------------------------------


def test_strict_filtering_on_several_private_interfaces_is_a_warning_before_anything_is_dropped():
    finding = found(rp_filter, filtering("1", "1"))["IC-RPF-004"]
    assert (finding.status, finding.nodes) == (Status.WARN, ("rac2",))
    assert "rp_filter is strict on eth2 of rac2" in finding.title
    assert "IC-RPF-004" not in found(rp_filter, filtering("1", "1"), TcpExt_IPReversePathFilter=5)
    assert "IC-RPF-004" not in found(rp_filter, filtering("2", "2"))


def test_strict_filtering_is_reported_of_a_node_whose_counters_were_not_read_too():
    silent = counters(1, unread={"rac2": Unknown("rac2 did not answer twice.")})
    made = {f.code: f for f in rp_filter.run(asked(filtering("1", "1"), counters=silent))}
    assert made["IC-RPF-004"].nodes == ("rac2",)
    assert made["IC-RPF-004"].title.endswith("; whether it drops packets was not counted.")
    assert made["IC-RPF-003"].nodes == ("rac2",)


@pytest.mark.parametrize(
    ("sizes", "proposed"),
    [
        ((134_217_728, 16_777_216), ("rmem_max=268435456", "rmem_default=33554432")),
        ((4_194_304, 262_144), ("rmem_max=16777216", "rmem_default=4194304")),
        ((212_992, 16_777_216), ("rmem_max=4194304",)),
    ],
)
def test_a_remedy_never_lowers_a_buffer(sizes, proposed):
    base = cluster([node(1), with_sysctls(node(2), net_core_rmem_max=sizes[0], net_core_rmem_default=sizes[1])])
    finding = found(udp_receive_buffers, base, Udp_RcvbufErrors=9, Udp_InErrors=9)["IC-UDP-002"]
    assert tuple(c.removeprefix("sysctl -w net.core.") for c in commands(finding) if "sysctl -w" in c) == proposed


# --- packets that vanish ----------------------------------------------------------------------------------------------


def test_packets_that_are_neither_delivered_nor_counted_vanished():
    finding = found(packet_filter, Ip_InReceives=90_233)["IC-FILTER-002"]
    assert finding.title == "233 packets arrived at rac2 in 30 s and vanished there, as behind a packet filter."
    assert (finding.status, finding.nodes, finding.data["vanished_packets"]) == (Status.WARN, ("rac2",), 233)


@pytest.mark.parametrize("counted", ["IpExt_InMcastPkts", "TcpExt_IPReversePathFilter"])
def test_packets_with_a_counted_reason_did_not_vanish(counted):
    assert "IC-FILTER-002" not in found(packet_filter, Ip_InReceives=90_233, **{counted: 233})


def test_packets_that_the_table_of_connections_dropped_did_not_vanish():
    table = TrackedConnections(262_144, 262_144, dropped=233)
    full = msgspec.structs.replace(change("rac2", Ip_InReceives=90_233), machine=SystemCounters(connections=table))
    assert counts_of(full).vanished == 0


@pytest.mark.parametrize("more", [0, 9, 89])
def test_a_few_packets_between_the_readings_are_no_finding(more):
    findings = found(packet_filter, Ip_InReceives=90_000 + more)
    assert set(findings) == {"IC-FILTER-001"}
    assert findings["IC-FILTER-001"].title.endswith(f"and {more or 'no'} packet{'s' * (more > 0)} vanished there.")


@pytest.mark.parametrize(("lost", "code"), [(8, "IC-FILTER-002"), (14, "IC-FILTER-002"), (40, "IC-FILTER-001")])
def test_a_few_packets_that_are_half_of_the_lost_blocks_are_a_finding(lost, code):
    counted = change("rac2", Ip_InReceives=90_008)
    built = asked(2, database=database(2), activity=losing(2, lost, {1: lost}), counters=counters(2, counted))
    assert code in {f.code for f in packet_filter.run(built)}
    assert ("IC-FILTER-002" in {f.code for f in packet_filter.run(built)}) is (code == "IC-FILTER-002")
