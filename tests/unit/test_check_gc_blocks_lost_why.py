"""The cause of lost blocks in the check: the evidence of paths and kernels of the same nodes."""

import msgspec
import pytest

from checks.model.facts import FlowPort, Unknown, UnreadNode, Verdict
from checks.plugins.gc_blocks_lost import gc_blocks_lost
from tests.fixtures.clusters import cluster, node, path, with_paths
from tests.fixtures.databases import asked, change, counters, losing, with_sysctls
from tests.fixtures.probed import probed


def found(built):
    return {f.code: f for f in gc_blocks_lost.run(built)}


def lost(built):
    return found(built)["IC-LOST-002"]


SMALL = cluster([node(1, 1500), node(2, 1500)])


def test_a_black_hole_between_both_instances_explains_the_loss_and_one_elsewhere_does_not():
    def with_hole(a, b):
        base = cluster(3)
        return asked(
            with_paths(base, path(base.networks[1], a, b, Verdict.BLACK_HOLE)), activity=losing(2, 37, {1: 37}, 3)
        )

    finding = lost(with_hole("rac1", "rac2"))
    assert "df-ping: jumbo frames vanish on 192.168.11.0/24, rac1 -> rac2" in finding.seen
    assert "carries less than its MTU of 9000 bytes, 1500 bytes at most" in finding.why
    assert ("rac1", "path 192.168.11.0/24 rac1 rac2") in {(e.node, e.topic) for e in finding.evidence}
    assert lost(with_hole("rac1", "rac3")).why.startswith("Pings and kernel counters do not show this loss")


def test_passing_pings_do_not_rule_out_udp_loss():
    finding = lost(asked(2, activity=losing(2, 37, {1: 37})))
    assert "racwire did not test UDP" in finding.why
    assert "a packet filter that drops UDP" in finding.why
    assert finding.why.startswith(
        "Pings and kernel counters do not show this loss: full-size pings pass between the nodes and the loss counters "
        "that racwire reads did not rise on rac2"
    )
    assert any("lms" in command for remedy in finding.next for command in remedy.commands)


def flows_with(built, *, lost_to="", unsent_to="", unsent_from=""):
    """Return the cluster with datagrams on each path: lost on the way to a node, or not sent there, or not from one."""
    built = probed(built)
    silent = tuple(FlowPort(40000 + n, 8972, answered=0) for n in range(12))
    probes = []
    for probe in built.flows.probes:
        if probe.to_node == lost_to:
            probe = msgspec.structs.replace(probe, ports=silent)
        elif probe.to_node == unsent_to or probe.from_node == unsent_from:
            probe = msgspec.structs.replace(probe, ports=(), reason="no port was free")
        probes.append(probe)
    arrivals = tuple(msgspec.structs.replace(a, counted=0) if a.node == lost_to else a for a in built.flows.arrivals)
    return msgspec.structs.replace(
        built, flows=msgspec.structs.replace(built.flows, probes=tuple(probes), arrivals=arrivals)
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "Datagrams of racwire arrived at rac2, full-size ones too. Possible"),
        ({"unsent_from": "rac3"}, "full-size ones too, and racwire did not test 2 other paths. Possible"),
        ({"unsent_to": "rac2"}, "racwire did not test UDP to rac2. Possible"),
        (
            {"lost_to": "rac2"},
            "Some datagrams of racwire were not seen to arrive at rac2: the check udp-path has them. Possible",
        ),
        ({"lost_to": "rac1"}, "Datagrams of racwire arrived at rac2"),
    ],
)
def test_what_the_datagrams_of_racwire_show_is_said_of_the_paths_to_the_receiver(changes, said):
    finding = lost(asked(flows_with(cluster(3), **changes), activity=losing(2, 37, {1: 20, 3: 17}, 3)))
    assert said in finding.why
    assert ("did not test" in finding.why) is any(name.startswith("unsent") for name in changes)


@pytest.mark.parametrize(
    "counted",
    [
        {"Ip_ReasmFails": 9, "Ip_ReasmTimeout": 9},
        {"Ip_ReasmFails": 9},
        {"Udp_RcvbufErrors": 9, "Udp_InErrors": 9},
        {"Udp_InCsumErrors": 9, "Udp_InErrors": 9},
        {"TcpExt_IPReversePathFilter": 9},
        {"Softnet_Dropped": 9},
    ],
)
def test_the_first_step_needs_no_racwire_and_names_the_node(counted):
    read = counters(2, change("rac2", **counted))
    first = lost(asked(2, activity=losing(2, 37, {1: 37}), counters=read)).next[0]
    assert first.commands
    assert not any("racwire" in command or "ETH" in command for command in first.commands)
    assert first.where.endswith(" on rac2")


def test_the_first_step_for_a_bad_path_is_a_ping_command():
    base = cluster(2)
    hole = with_paths(base, path(base.networks[1], "rac1", "rac2", Verdict.BLACK_HOLE))
    first = lost(asked(hole, activity=losing(2, 37, {1: 37}))).next[0]
    assert first.commands[0] == "ping -c 3 -M do -I 192.168.11.1 -s 8972 192.168.11.2"
    assert first.where == "any user on rac1"


def test_kernel_counters_of_another_time_do_not_clear_a_kernel():
    def counted(started_at, ended_at):
        read = counters(2, begun_at=started_at, ended_at=ended_at)
        return lost(asked(2, activity=losing(2, 37, {1: 37}), counters=read)).why

    before = counted("2026-11-20T14:01:00.000+01:00", "2026-11-20T14:02:10.000+01:00")
    assert "since the kernel's counters of the same time of rac2 could not be checked" in before
    most = counted("2026-11-20T14:01:00.000+01:00", "2026-11-20T14:02:20.000+01:00")
    assert most.startswith("Pings and kernel counters do not show this loss")
    assert "could not be checked" in counted("some time", "later")


def test_an_unread_source_is_never_called_clean():
    finding = lost(asked(2, activity=losing(2, 37, {1: 37}), counters=Unknown("not read")))
    assert finding.why.startswith("The cause is not known, since the kernel's counters of rac2 could not be checked")
    unread = cluster([node(1), UnreadNode("rac2", "ssh refused")])
    finding = lost(asked(unread, activity=losing(2, 37, {1: 37})))
    assert "the paths of rac2" in finding.why


def test_fragments_still_in_reassembly_are_reported():
    waiting = cluster([node(1, 1500), with_sysctls(node(2, 1500), net_ipv4_ipfrag_time=30)])
    finding = lost(asked(waiting, activity=losing(2, 37, {1: 37})))
    assert any("an incomplete block is counted only after 30 s" in line for line in finding.seen)
