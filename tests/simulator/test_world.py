"""The laws of the simulated cluster: without a fault it is healthy, and each fault alone brings its findings."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import Cluster, Leg, PathProbe, Verdict
from checks.model.finding import PROBLEMS, Finding
from checks.model.hypothesis import Certainty
from checks.model.report import exit_code
from checks.rules.flow_verdicts import FlowVerdict, judge_flow
from tests.cases.loading import cases
from tests.simulator.facts import facts_of, gathered
from tests.simulator.faults import KINDS, NETWORKS, NEWER, Fault, Needs, faults, node_names
from tests.simulator.judging import findings_of, report_of
from tests.simulator.mended import Draw, entries_of, fits
from tests.simulator.packets import Packet, pieces
from tests.simulator.world import World

HERE = Path(__file__).parent
WORLD = ("faults", "packets", "fates", "world", "hosts", "sender", "node_facts", "facts", "shown")
"""The modules that make the facts: what judges and compares them is not among them."""
IN_THE_PRACTICE_CLUSTER = {
    "port-mtu": "switch-mtu", "one-way-mtu": "switch-mtu-one-way", "node-down": "peer-down",
}  # fmt: skip
"""The names of the practice cluster, where they are others; its fault switch-mtu is that of a port."""
OF_THE_OTHER = {"other-network-address"}
"""The kinds whose finding has the network of the address, and not that of the NIC."""
LEADS_ANOTHER_WAY = {"crossed-cables", "haip-wrong-route", "joined-networks", "local-bridge"}
DIFFERENT = {"switch-mtu": "a port there, the whole network here", "split-switch": "of three nodes one is apart"}


def mtu_for(kind: str) -> int:
    return 1500 if KINDS[kind].needs is Needs.FRAGMENTS else 9000


@cache
def alone(fault: Fault, nodes: int = 3) -> tuple[Cluster, tuple[Finding, ...]]:
    made = facts_of([fault], nodes=nodes, mtu=mtu_for(fault.kind))
    return made, findings_of(made)


def places(kind: str) -> tuple[Fault, ...]:
    every = faults([kind], 3, mtu_for(kind))
    return every[0], every[-1]


def path(cluster: Cluster, network: str, here: str, there: str) -> PathProbe:
    assert isinstance(cluster.paths, tuple)
    return next(p for p in cluster.paths if (p.network, p.from_node, p.to_node) == (network, here, there))


@pytest.mark.parametrize("mtu", [9000, 1500])
@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_a_cluster_without_a_fault_is_healthy(nodes, mtu):
    made = facts_of([], nodes=nodes, mtu=mtu)
    assert [f.title for f in findings_of(made) if f.status in PROBLEMS] == []
    assert exit_code(report_of(made)) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_each_fault_alone_brings_its_finding_at_its_place(kind):
    for fault in places(kind):
        _, found = alone(fault)
        problems = [f for f in found if f.status in PROBLEMS and f.code in KINDS[kind].findings]
        assert problems or not KINDS[kind].findings, f"{fault}: {[f.code for f in found if f.status in PROBLEMS]}"
        if fault.network and problems and kind not in OF_THE_OTHER:
            other = f"192.168.1{NETWORKS[-1] - fault.network}.0/24"
            assert all(f.network != other for f in problems), str(fault)
        assert not any(f.code.startswith("RW-") for f in found)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - set(DIFFERENT)))
def test_the_practice_cluster_has_the_same_findings(kind):
    wanted = IN_THE_PRACTICE_CLUSTER.get(kind, kind)
    recorded = [
        case.expect.findings
        for case in cases()
        if case.make.lab and len(case.make.lab) == 1 and case.make.lab[0].split()[0] == wanted
    ]
    _, found = alone(places(kind)[0])
    codes = {f.code for f in found if f.status in PROBLEMS}
    for findings in recorded:
        missing = {f.code for f in findings if f.status in PROBLEMS} - codes
        # That a NIC changed within the week of AWR is not simulated.
        assert missing <= {"IC-DEV-003"}, f"{kind}: {missing}"


# --- packets ----------------------------------------------------------------------------------------------------------


@given(st.integers(28, 65_535), st.integers(576, 9_216))
def test_a_kernel_sends_all_bytes_and_no_packet_above_its_mtu(size, mtu):
    cut = pieces(size, mtu)
    assert all(20 < piece <= mtu for _, piece in cut)
    assert sum(piece - 20 for _, piece in cut) == size - 20
    assert {form for form, _ in cut} == {"whole" if size <= mtu else "fragment"}
    assert all((piece - 20) % 8 == 0 for _, piece in cut[:-1])


packets = st.builds(
    Packet,
    network=st.sampled_from(NETWORKS),
    sender=st.just("rac1"),
    receiver=st.sampled_from(["rac2", "rac3"]),
    address=st.sampled_from(["private", "haip"]),
    protocol=st.sampled_from(["arp", "icmp", "udp"]),
    size=st.integers(28, 9000),
    form=st.sampled_from(["whole", "fragment"]),
    port=st.integers(0, 65_535),
)


@given(packets)
def test_without_a_fault_every_packet_passes_and_nothing_is_counted(packet):
    world = World([])
    assert world.sends(packet)
    assert not world.counted


@given(packets, st.sampled_from(faults(sorted(KINDS), 3, 9000)), st.sampled_from(faults(sorted(KINDS), 3, 9000)))
def test_what_a_fault_loses_is_lost_beside_any_other_fault(packet, one, other):
    """What leads packets another way can lead them past another fault."""
    if not LEADS_ANOTHER_WAY & {one.kind, other.kind}:
        assert World([one]).sends(packet) or not World([one, other]).sends(packet)


def test_chances_of_packets_in_a_row_are_independent():
    world = World([Fault("loss", 1, "rac2")])
    sent = [world.sends(Packet(1, "rac1", "rac2", "private", "icmp", 84)) for _ in range(4000)]
    lost = sent.count(False)
    pairs = sum(not a and not b for a, b in pairwise(sent))
    assert abs(lost - 1200) < 120
    assert abs(pairs - 360) < 90


def test_the_same_draw_gives_the_same_facts():
    loss = [Fault("loss", 1, "rac2"), Fault("icmp-policed", 2)]
    one, other = (facts_of(loss, seed=4) for _ in range(2))
    assert (one.paths, one.flows, one.counters) == (other.paths, other.flows, other.counters)
    assert facts_of(loss, seed=5).paths != one.paths


def test_a_fault_on_the_other_network_leaves_the_losses_of_a_share_as_they_are():
    loss = Fault("loss", 1, "rac2")
    one, other = facts_of([loss]), facts_of([loss, Fault("switch-mtu", 2)])
    assert isinstance(one.paths, tuple)
    assert isinstance(other.paths, tuple)
    on_first = [p.series for p in one.paths if p.network == "192.168.10.0/24"]
    assert on_first == [p.series for p in other.paths if p.network == "192.168.10.0/24"]


# --- what racwire's own probes make of it -----------------------------------------------------------------------------


def test_the_real_search_finds_the_path_mtu_and_the_direction():
    net = "192.168.11.0/24"
    made = facts_of([Fault("one-way-mtu", 2, "rac1", "rac3")])
    there, back = path(made, net, "rac1", "rac3"), path(made, net, "rac3", "rac1")
    assert (there.verdict, there.path_mtu, there.lost_leg) == (Verdict.BLACK_HOLE, 1500, Leg.REQUEST)
    assert (back.verdict, back.path_mtu, back.lost_leg) == (Verdict.BLACK_HOLE, 1500, Leg.REPLY)
    assert path(made, net, "rac1", "rac2").verdict is Verdict.PASSES


def test_a_node_with_a_smaller_mtu_answers_in_fragments_which_the_others_take():
    made = facts_of([Fault("node-mtu", 2, "rac2")])
    net = "192.168.11.0/24"
    assert path(made, net, "rac2", "rac1").verdict is Verdict.LOCAL_MTU
    assert path(made, net, "rac1", "rac2").verdict is Verdict.BLACK_HOLE
    lost = {(t.sender, t.receiver): t.lost for t in made.activity.transfers}
    assert lost[2, 1] == lost[2, 3] == 0 < lost[1, 2]


def test_datagrams_show_the_member_that_pings_miss():
    made = facts_of([Fault("lag-member-mtu", 1)])
    assert all(p.verdict is Verdict.PASSES for p in made.paths)
    verdicts = {judge_flow(p, made.flows).verdict for p in made.flows.probes if p.network == "192.168.10.0/24"}
    assert FlowVerdict.SHORT_MEMBER in verdicts


def test_haips_leave_a_network_on_which_a_nic_has_no_link():
    made = facts_of([Fault("link-down", 2, "rac3")])
    assert {use.name.partition(":")[0] for use in made.database.interconnects} == {"eth1"}
    assert all(t.lost == 0 for t in made.activity.transfers)


def test_crossed_cables_lose_nothing_until_a_node_filters_strictly():
    crossed, strict = Fault("crossed-cables", 0, "rac2"), Fault("strict-rp-filter", 0, "rac2")
    # But for the pings of the node on which racwire runs: answers arrive on the NIC to which its socket is not bound.
    found = [(p.from_node, p.to_node) for p in facts_of([crossed]).paths if p.verdict is not Verdict.PASSES]
    assert set(found) == {("rac1", "rac2")}
    assert all(t.lost == 0 for t in facts_of([crossed]).activity.transfers)
    world = World([crossed, strict])
    made = gathered(world)
    assert world.counted["rac2", "TcpExt.IPReversePathFilter"] > 0
    assert any(p.verdict is not Verdict.PASSES for p in made.paths)


def test_a_rule_with_a_gateway_stops_private_addresses_and_leaves_haips_alone():
    made = facts_of([Fault("policy-gateway", 2, "rac2")])
    net = "192.168.11.0/24"
    there, back = path(made, net, "rac1", "rac2"), path(made, net, "rac2", "rac1")
    assert (there.verdict, back.verdict) == (Verdict.FILTERED, Verdict.UNREACHABLE)
    assert there.series[0].unreachable_from == "" != back.series[0].unreachable_from
    assert all(t.lost == 0 for t in made.activity.transfers)
    vias = {(n.node, r.network, r.gateway) for n in made.effective_routes for r in n.routes if r.gateway}
    assert vias == {("rac2", net, "192.168.11.254")}


def test_frames_that_vanish_from_one_node_leave_it_the_entries_of_those_who_ask():
    for kind, own in (("spoof-check", {"stale"}), ("port-dead", {"failed"}), ("arp-off", set())):
        made = facts_of([Fault(kind, 2, "rac2")])
        states = {
            n.name: {
                e.state for e in n.neighbours if e.interface == "eth2" and (e.ip.endswith(".2") or n.name == "rac2")
            }
            for n in made.read_nodes()
        }
        assert states == {"rac1": {"failed"}, "rac2": own, "rac3": {"failed"}}, kind


@pytest.mark.parametrize("kind", sorted(NEWER))
def test_each_of_the_kinds_that_came_last_is_the_first_cause_where_it_is_alone(kind):
    fault = places(kind)[0]
    draw = Draw((fault,), mtu_for(kind), 1)
    diagnosis = report_of(alone(fault)[0]).diagnosis
    hinted = [h for h in diagnosis.with_standing(Certainty.POSSIBLE) if h.cause in fault.of.causes]
    assert hinted if fault.of.is_silent else any(fits(h, fault, draw) for h in entries_of(diagnosis)[0])


def test_where_two_networks_are_one_each_owner_answers_from_both_nics():
    made = facts_of([Fault("joined-networks")])
    answers = {p.node: p.macs for p in made.owners.probes if p.network == "192.168.10.0/24"}
    assert answers["rac1"] == ()
    assert answers["rac2"] == ("02:72:61:63:01:02", "02:72:61:63:02:02")
    assert all(t.lost == 0 for t in made.activity.transfers)


def test_haips_by_the_other_nic_arrive_and_the_route_in_use_shows_it():
    made = facts_of([Fault("haip-wrong-route", 2, "rac2")])
    assert all(t.lost == 0 for t in made.activity.transfers)
    by = {(n.node, r.interface) for n in made.effective_routes for r in n.routes if r.source_ip == "169.254.138.2"}
    assert by == {("rac2", "eth1")}


def test_every_lost_block_is_in_the_counters_of_the_fault_that_lost_it():
    for fault, counter in (
        (Fault("small-receive-buffer", 0, "rac2"), "Udp.RcvbufErrors"),
        (Fault("nic-errors", 1, "rac2"), "eth1.rx_crc_errors"),
    ):
        world = World([fault])
        made = gathered(world)
        lost = sum(t.lost for t in made.activity.transfers)
        assert lost <= world.counted["rac2", counter] <= lost + 40  # racwire's own packets
    world = World([Fault("drop-fragments", 1)], mtu=1500)
    made = gathered(world)
    for node in node_names(3):
        lost = sum(t.lost for t in made.activity.transfers if t.receiver == int(node[3:]))
        assert lost <= world.counted[node, "Ip.ReasmTimeout"] <= lost + 5


# --- the truth does not come from what it tests -----------------------------------------------------------------------


def test_the_world_does_not_load_the_diagnosis():
    modules = ", ".join(f"tests.simulator.{name}" for name in WORLD)
    program = f"import {modules}, sys; print([m for m in sys.modules if m.startswith('checks.diagnosis')])"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True, cwd=HERE.parents[1]
    )
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize("name", WORLD)
def test_the_world_knows_no_sets_of_packets_and_no_observations(name):
    """Findings, which carry them, are loaded by what reads nodes; the world itself imports neither."""
    barred = ("checks.diagnosis", "checks.model.traffic", "checks.model.observation", "checks.model.hypothesis")
    barred = (*barred, "checks.plugins", "tests.simulator.judging", "tests.simulator.mended", "tests.simulator.losses")
    tree = ast.parse((HERE / f"{name}.py").read_text())
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert [module for module in imported if module.startswith(barred)] == []


def test_every_module_of_the_simulator_is_of_the_world_or_of_what_judges_it():
    others = {"__init__", "__main__", "best_order", "investigating", "judging", "losses", "mended"}
    names = {file.stem for file in HERE.glob("*.py") if not file.stem.startswith("test_")}
    assert names == {*WORLD, *others}
