"""Weigh pings against UDP: where blocks or full-size datagrams arrive, failed pings are a remark about ICMP.

Blocks travel as UDP datagrams of 8 KB, pings as ICMP. A policer or filter of ICMP fails the pings alone, and blocks
that arrive in the same seconds show that the path carries what the interconnect needs. Gates of a change never use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from checks.model.facts import Activity, Cluster, Flows, HaipPaths, PathProbe, PrivateNetwork, Unknown, Verdict
from checks.model.finding import Finding, NextStep, Outweighed, Status
from checks.model.known_instances import interconnects_of, node_of, nodes_of
from checks.model.wording import between, counted
from checks.rules.engineered import is_engineered
from checks.rules.flow_verdicts import FlowJudgement, FlowVerdict, contradicts_pings, judge_flow
from checks.rules.lost_blocks import blocks_against_loss, loss_of, why_no_transfers
from checks.rules.path_status import lost_once, packet_loss

_VERDICTS = {
    "IC-PATH-003": Verdict.BLACK_HOLE,
    "IC-PATH-033": Verdict.BLACK_HOLE,
    "IC-PATH-005": Verdict.LOSS,
    "IC-PATH-006": Verdict.UNREACHABLE,
    "IC-PATH-007": Verdict.FILTERED,
    "IC-PATH-031": Verdict.UNREACHABLE,
}
"""The codes of findings about pings alone, with the verdict on their paths."""
_HAIP_CODE, _HAIP_ALONE_CODE = "IC-HAIP-002", "IC-HAIP-010"
_BLOCK_BYTES = 8192
_MAY_PASS = (FlowVerdict.PASSES, FlowVerdict.UNDECIDED)
"""The verdicts on datagrams that do not contradict blocks which arrive. With any other, blocks took another network."""


@dataclass(frozen=True)
class _Load:
    """The blocks from one node to another in the interval."""

    received: int
    lost: int


Loads = dict[tuple[str, str], _Load]
FlowsByPath = dict[tuple[str, str, str], FlowJudgement]


def outweigh(cluster: Cluster, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings, with those about pings as INFO where UDP passed on each of their paths, both ways.

    That is where blocks arrived without a loss, or where each full-size datagram of racwire was answered.
    """
    before = tuple(as_observed(f) for f in findings)
    loads, flows = _loads(cluster), _flows(cluster)
    return tuple(_weighed(cluster, finding, loads, flows) for finding in before)


def as_observed(finding: Finding) -> Finding:
    """Return the finding as its check made it."""
    if (own := finding.outweighed) is None:
        return finding
    return msgspec.structs.replace(
        finding, status=own.status, title=own.title, why=own.why, next=own.next, outweighed=None
    )


def _weighed(cluster: Cluster, finding: Finding, loads: Loads, flows: FlowsByPath) -> Finding:
    if finding.code in (_HAIP_CODE, _HAIP_ALONE_CODE):
        return _haip_weighed(cluster, finding, loads)
    paths = _paths(cluster, finding)
    network = cluster.network(finding.network)
    if not paths or network is None or any(map(_is_without_arp, paths)):
        return finding  # nothing leaves for the peer now, whatever arrived before; and no filter of ICMP stops ARP
    loss = packet_loss(paths)
    share = (loss.percent if loss else 100.0) / 100
    pings = {
        Verdict.BLACK_HOLE: "Full-size pings get no answer",
        Verdict.LOSS: f"{100 * share:.1f} % of the pings get no answer",
    }.get(_VERDICTS[finding.code], "Pings get no answer")
    ways = {way for p in paths for way in ((p.from_node, p.to_node), (p.to_node, p.from_node))}
    pings += f" on {finding.network} {between(ways, [port.node for port in network.ports], complete=False)}"
    if all(_blocks_pass(cluster, network, path, share, loads) for path in paths):
        blocks = sum(loads[way].received for way in ways)
        return _remark(
            finding,
            f"{pings}, while {counted(blocks, 'block')} arrived there without a loss.",
            "In the same seconds the instances exchanged blocks of 8 KB over UDP in each direction and lost none of "
            "them. A policer or a filter of ICMP fails pings and passes blocks.",
        )
    if all(_datagrams_pass(path, flows) for path in paths):
        return _remark(
            finding,
            f"{pings}, while full-size UDP datagrams are answered there.",
            "racwire sent UDP datagrams of the same size over the same paths, and each was answered. A policer or a "
            "filter of ICMP fails pings and passes blocks.",
        )
    return finding


def _is_without_arp(path: PathProbe) -> bool:
    """Return whether ARP requests for the destination got no answer: then the own kernel answers the pings."""
    return not path.neighbour_mac and any(series.unreachable_from == path.source_ip for series in path.series)


def _haip_weighed(cluster: Cluster, finding: Finding, loads: Loads) -> Finding:
    network, found = cluster.network(finding.network), cluster.haip_paths
    if network is None or not isinstance(found, HaipPaths) or finding.status is Status.INFO:
        return finding
    here = [p for p in found.paths if p.network == finding.network]
    ill = [p for p in here if p.full_answered < p.full_sent or p.small_answered < p.small_sent]
    ways = {way for p in ill for way in ((p.from_node, p.to_node), (p.to_node, p.from_node))}
    is_only = isinstance(cluster.networks, tuple) and len(cluster.networks) == 1  # blocks take no other network
    if not ill or not (is_only or all(_is_silent_below(cluster, finding.network, way) for way in ways)):
        return finding  # pings between the private addresses pass, so ICMP is not the reason
    below = [p for p in cluster.read_paths() if p.network == finding.network and (p.from_node, p.to_node) in ways]
    if not all(_may_carry_blocks(cluster, path) for path in below):
        return finding
    if not all(_flows_without_loss(cluster, network, way, 1.0, loads) for way in ways):
        return finding
    place = between(ways, [port.node for port in network.ports], complete=False)
    return _remark(
        finding,
        f"Pings between HAIP addresses get no answer on {finding.network} {place}, while "
        f"{counted(sum(loads[way].received for way in ways), 'block')} arrived there without a loss.",
        "Blocks travel between the same addresses over UDP. A policer or a filter of ICMP, or a kernel that is set to "
        "answer no pings, fails pings and passes blocks.",
    )


def _is_silent_below(cluster: Cluster, network: str, way: tuple[str, str]) -> bool:
    """Return whether pings fail between the private addresses of two nodes, too."""
    here = [p for p in cluster.read_paths() if p.network == network and {p.from_node, p.to_node} == set(way)]
    return any(p.verdict is not Verdict.PASSES for p in here)


def _is_haip_silent(cluster: Cluster, path: PathProbe) -> bool:
    """Return whether no ping between the HAIP addresses of two nodes was answered while some between their private ones
    are: then the blocks that arrive take another network."""
    found = cluster.haip_paths.paths if isinstance(cluster.haip_paths, HaipPaths) else ()
    ends = {path.from_node, path.to_node}
    sent = [p for p in found if p.network == path.network and {p.from_node, p.to_node} == ends and p.small_sent]
    answers = any(series.received for series in path.series)
    return answers and any(not p.small_answered and not p.full_answered for p in sent)


def _remark(finding: Finding, title: str, why: str) -> Finding:
    return msgspec.structs.replace(
        finding,
        status=Status.INFO,
        title=title,
        why=why,
        next=(
            NextStep(
                "Ask the network team for policers and filters of ICMP on the ports of these nodes on "
                f"{finding.network}."
            ),
            NextStep("Compare with the load over a longer time.", ("racwire check --interval 120",)),
        ),
        outweighed=Outweighed(finding.status, finding.title, finding.why, finding.next),
    )


def _datagrams_pass(path: PathProbe, flows: FlowsByPath) -> bool:
    way = (path.network, path.from_node, path.to_node)
    back = (path.network, path.to_node, path.from_node)
    there = flows.get(way)
    return there is not None and contradicts_pings(there, flows.get(back), path)


def _flows(cluster: Cluster) -> FlowsByPath:
    if not isinstance(cluster.flows, Flows):
        return {}
    return {
        (p.network, p.from_node, p.to_node): judge_flow(p, cluster.flows, cluster.read_paths())
        for p in cluster.flows.probes
    }


def _paths(cluster: Cluster, finding: Finding) -> Sequence[PathProbe]:
    verdict = _VERDICTS.get(finding.code)
    if verdict is None or finding.status is Status.INFO:
        return ()
    here = [p for p in cluster.read_paths() if p.network == finding.network]
    once = lost_once(here) if verdict is Verdict.LOSS else []
    return [p for p in here if p.verdict is verdict or p in once]


def _blocks_pass(cluster: Cluster, network: PrivateNetwork, path: PathProbe, share: float, loads: Loads) -> bool:
    """Return whether enough blocks passed in each direction, and none was lost, on this network."""
    if is_engineered(cluster, network.interface):
        return False  # blocks may travel by RDMA there, which shows nothing about the path of UDP
    if isinstance(path.path_mtu, int) and path.path_mtu > _BLOCK_BYTES:
        return False  # a block fits into what passes, so blocks say nothing about larger packets
    if not _may_carry_blocks(cluster, path) or _is_haip_silent(cluster, path):
        return False
    ways = ((path.from_node, path.to_node), (path.to_node, path.from_node))
    return all(_flows_without_loss(cluster, network, way, share, loads) for way in ways)


def _flows_without_loss(
    cluster: Cluster, network: PrivateNetwork, way: tuple[str, str], share: float, loads: Loads
) -> bool:
    """Return whether more blocks arrived from one node at the other than this share of losses would let pass."""
    load = loads.get(way)
    enough = blocks_against_loss(share, cluster.thresholds)
    flows = load is not None and not load.lost and load.received >= enough
    return flows and all(_uses(cluster, network, node) for node in way)


def _may_carry_blocks(cluster: Cluster, path: PathProbe) -> bool:
    """Return whether the UDP datagrams between the private addresses do not contradict blocks on this network.

    Where no ping of any size returns, they must be answered: blocks travel between the addresses of HAIP, and the
    heartbeats of Clusterware between the private ones.
    """
    flows = cluster.flows.probes if isinstance(cluster.flows, Flows) else ()
    ends = {path.from_node, path.to_node}
    sent = [p for p in flows if p.network == path.network and {p.from_node, p.to_node} == ends and p.ports]
    if not sent or not isinstance(cluster.flows, Flows):
        return path.verdict is not Verdict.UNREACHABLE
    verdicts = {judge_flow(probe, cluster.flows, cluster.read_paths()).verdict for probe in sent}
    if path.verdict in (Verdict.UNREACHABLE, Verdict.FILTERED):
        return verdicts == {FlowVerdict.PASSES}
    return verdicts <= {*_MAY_PASS}


def _uses(cluster: Cluster, network: PrivateNetwork, node: str) -> bool:
    """Return whether each instance of the node reports an interconnect address that this port has."""
    port = network.port(node)
    interface = cluster.interface(port) if port else None
    activity = cluster.activity
    if port is None or interface is None or not isinstance(activity, Activity) or not interface.is_up:
        return False
    own = {port.ip, *(address.ip for address in interface.addresses)}
    here = [a.instance for a in activity.instances if node_of(cluster, a.instance) == node]
    return bool(here) and all(any(i.ip in own for i in interconnects_of(cluster, n)) for n in here)


def _loads(cluster: Cluster) -> Loads:
    """Return the blocks of the interval by (sending node, receiving node); empty where they are not known in full.

    A loss without a known sender counts for each sender of its receiver.
    """
    activity = cluster.activity
    if not isinstance(activity, Activity) or isinstance(activity.transfers, Unknown) or why_no_transfers(activity):
        return {}
    lost: dict[int, int] = {}
    for one in activity.instances:
        own = activity.of(one.instance)
        loss = loss_of(activity, own) if own else None
        if loss is None or not nodes_of(cluster, [one.instance]):
            return {}
        lost[one.instance] = loss.lost - sum(loss.senders.values())
    found: dict[tuple[str, str], _Load] = {}
    for t in activity.transfers:
        way = (node_of(cluster, t.sender), node_of(cluster, t.receiver))
        before = found.get(way, _Load(0, 0))
        unassigned = max(0, lost.get(t.receiver, 0))
        found[way] = _Load(before.received + t.cr_blocks + t.current_blocks, before.lost + max(0, t.lost) + unassigned)
    return found
