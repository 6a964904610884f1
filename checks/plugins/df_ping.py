"""Do full-size packets pass between all nodes, both ways; and if not, which way and where do they get lost?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from checks.facts import Cluster, Leg, PathProbe, PrivateNetwork, Unknown, Verdict
from checks.finding import Finding, Remedy, Status
from checks.plugin import check
from checks.plugins._path_kinds import (
    ALONE,
    BLACK_HOLE,
    BLOCKS,
    FILTERED,
    LOCAL,
    LOSS,
    LOST_ONCE,
    NOT_PROBED,
    PASS,
    RECEIVER,
    ROUTED,
    TOO_BIG,
    UNREACHABLE,
)
from checks.plugins._paths import evidence_of, full_payload, lost_ways, matrix, ping_commands, seen_lines, short_name
from checks.wording import Way, all_nodes, between, counted, hub, listed


@check(
    "df-ping",
    question="Do full-size packets pass between all nodes, both ways?",
    needs=("nodes", "networks", "paths"),
    kinds=(
        PASS,
        LOCAL,
        BLACK_HOLE,
        TOO_BIG,
        LOSS,
        UNREACHABLE,
        FILTERED,
        NOT_PROBED,
        ROUTED,
        RECEIVER,
        ALONE,
        LOST_ONCE,
    ),
)
def df_ping(cluster: Cluster) -> Iterator[Finding]:
    """Sends pings that must not be fragmented from every node to every other, on every private network.

    Small ones tell whether the path lives, full-size ones (MTU - 28 bytes of payload, 48 for IPv6) whether it carries
    what it is meant to, and ones a byte larger that the sender's own kernel really limits them. Where full-size
    packets do not come back, the largest that do are found to the byte, and the echo requests that reached the other
    node are counted, since an answer is as large as its question and either way may be the one that loses.
    """
    if isinstance(cluster.paths, Unknown) or isinstance(cluster.networks, Unknown):
        return
    concluded = False
    for network in cluster.networks:
        paths = tuple(p for p in cluster.paths if p.network == network.name)
        if paths:
            concluded = True
            yield from _network(cluster, network, paths)
    yield from _unread(cluster)
    if not concluded and not cluster.unread_nodes():
        yield ALONE.finding(
            Status.SKIPPED,
            "There are no two nodes with a port on the same private network, so there is no path to probe.",
            subject="no paths",
        )


def _unread(cluster: Cluster) -> Iterator[Finding]:
    """A node that could not be read has no known address on a private network: its paths are not known either."""
    for node in cluster.unread_nodes():
        yield NOT_PROBED.finding(
            Status.UNKNOWN,
            f"No path to or from {node.name} was probed, since {node.name} could not be read.",
            subject=f"{node.name}: all paths",
            seen=(node.reason,),
            expected=("Every node probes every other",),
            next=[Remedy("Mend the reason named above, then run this check again.", ("racwire check df-ping",))],
            evidence=[(node.name, "ssh")],
            nodes=[node.name],
        )


def _network(cluster: Cluster, network: PrivateNetwork, paths: tuple[PathProbe, ...]) -> Iterator[Finding]:
    judged: dict[Verdict, Callable[[Cluster, PrivateNetwork, list[PathProbe]], Iterator[Finding]]] = {
        Verdict.BLACK_HOLE: _black_hole,
        Verdict.TOO_BIG: _too_big,
        Verdict.LOCAL_MTU: _local,
        Verdict.LOSS: _loss,
        Verdict.UNREACHABLE: _unreachable,
        Verdict.FILTERED: _filtered,
        Verdict.UNKNOWN: _not_probed,
    }
    findings: list[Finding] = []
    for verdict, judge in judged.items():
        of_verdict = [p for p in paths if p.verdict is verdict]
        if of_verdict:
            findings += judge(cluster, network, of_verdict)
    routed = [p for p in paths if p.hops and p.verdict is not Verdict.TOO_BIG]
    if routed:
        findings.append(_routed(network, routed))
    if once := [p for p in paths if p.verdict is Verdict.PASSES and p.reason]:
        findings.append(_lost_once(network, once))
    if not findings:
        findings.append(_pass(network, paths))
    table = matrix(network, paths)
    yield from (msgspec.structs.replace(f, table=table) for f in findings)


# --- each verdict -----------------------------------------------------------------------------------------------------


def _pass(network: PrivateNetwork, paths: tuple[PathProbe, ...]) -> Finding:
    packets = sum(s.sent for p in paths for s in p.series if not s.refused_locally)
    slowest = max((s.rtt_ms_median for p in paths for s in p.series if s.rtt_ms_median is not None), default=None)
    return PASS.finding(
        Status.PASS,
        f"Full-size packets of {network.mtu} bytes pass on {network.name} between "
        f"{all_nodes(len(network.ports))}, both ways.",
        subject=f"{short_name(network)} {network.mtu}",
        seen=(
            f"{counted(len(paths), 'path')}, {counted(packets, 'packet')}, none lost",
            *([f"slowest median round trip {slowest:.2f} ms"] if slowest is not None else []),
        ),
        evidence=evidence_of(paths),
        network=network.name,
    )


def _lost_once(network: PrivateNetwork, paths: list[PathProbe]) -> Finding:
    ways = {(p.from_node, p.to_node) for p in paths}
    return LOST_ONCE.finding(
        Status.INFO,
        f"Packets got lost once on {network.name} {between(ways, [p.node for p in network.ports])}, and not again.",
        subject=f"{short_name(network)}: lost once",
        seen=[f"{p.from_node} -> {p.to_node}: {p.reason}" for p in paths],
        expected=("None lost",),
        next=[Remedy("Run this check again, more than once.", ("racwire check df-ping",))],
        evidence=evidence_of(paths),
        network=network.name,
    )


def _black_hole(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Iterator[Finding]:
    """Split by what is at fault: an interface of a node that is smaller than the packets, or what lies between."""
    small = {
        port.node: interface.mtu
        for port in network.ports
        if (node := cluster.node(port.node))
        and (interface := node.interface(port.interface))
        and interface.mtu < max(p.expected_mtu for p in paths)
    }
    at_receiver = [p for p in paths if p.to_node in small]
    between_nodes = [p for p in paths if p.to_node not in small]
    for name in sorted({p.to_node for p in at_receiver}):
        yield _receiver(network, name, small[name], [p for p in at_receiver if p.to_node == name])
    if between_nodes:
        yield _switch(cluster, network, between_nodes)


def _receiver(network: PrivateNetwork, node: str, mtu: int, paths: list[PathProbe]) -> Finding:
    interface = port.interface if (port := network.port(node)) else network.interface
    senders = listed(p.from_node for p in paths)
    return RECEIVER.finding(
        Status.FAIL,
        f"{node} throws away full-size packets from {senders} on {network.name}: its {interface} has MTU {mtu}.",
        subject=f"{node} {interface} {mtu}",
        seen=(*seen_lines(paths), f"{node}: {interface} has MTU {mtu}"),
        expected=(f"{paths[0].expected_mtu} on {interface} of {node}, as on the other nodes",),
        next=[
            Remedy("Look at the interface.", (f"ip -details link show {interface}",), f"any user on {node}"),
            Remedy(
                "Bring it to the MTU of the others under the safe-change procedure, Clusterware down on all nodes. "
                "Changing one node live evicts nodes.",
                (f"ip link set dev {interface} mtu {paths[0].expected_mtu}",),
                f"root on {node}",
                is_change=True,
            ),
        ],
        evidence=[*evidence_of(paths), (node, "interfaces")],
        network=network.name,
        nodes=[node],
    )


def _switch(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Finding:
    nodes = [p.node for p in network.ports]
    lost = lost_ways(paths)
    told = bool(lost) and all(p.lost_leg is not Leg.UNKNOWN for p in paths)
    ways = lost if told else {(p.from_node, p.to_node) for p in paths}
    one_way = told and not any((b, a) in lost for a, b in lost)
    where = between(ways, nodes)
    if not told:
        where += "; which way loses them could not be told"
    elif one_way:
        where += "; the other way they arrive"
    centre = _at_fault(cluster, network, ways)
    culprit = (
        f"the switch port of {centre} or a link between it and the others" if centre else "a switch port on the path"
    )
    return BLACK_HOLE.finding(
        Status.FAIL,
        f"Jumbo frames vanish on {network.name} {where}.",
        subject=f"{short_name(network, centre)}: black hole",
        seen=seen_lines(paths),
        expected=(f"{full_payload(paths[0])} bytes to pass: the NICs at both ends are set to {paths[0].expected_mtu}",),
        why=f"The NICs at both ends agree, so the smaller MTU lies between them, at {culprit}: what is larger is "
        f"dropped there without a word. {BLOCKS}",
        next=[
            Remedy(
                f"Ask the network team for the MTU and the giants or oversize counters of {culprit}, on the VLAN of "
                f"{network.name}.",
                ("show interface ETH counters errors", "show interface ETH | include MTU"),
                "the network team, on the switch",
            ),
            Remedy("See it with your own eyes.", ping_commands(paths), f"any user on {paths[0].from_node}"),
            Remedy(
                "Have the switch raised to its platform's maximum (9216 or so), in a window, since some platforms need "
                "a reload: a larger MTU does no harm to nodes at 1500. Do not lower the MTU of one node; that needs "
                "Clusterware down on all nodes.",
                is_change=True,
            ),
        ],
        evidence=evidence_of(paths),
        network=network.name,
        nodes=[centre] if centre else sorted({n for way in ways for n in way}),
    )


def _too_big(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Iterator[Finding]:
    nodes = [p.node for p in network.ports]
    routers = sorted({s.too_big_from for p in paths for s in p.series if s.too_big_from})
    mtus = sorted({s.too_big_mtu for p in paths for s in p.series if s.too_big_mtu})
    router = f"the router {listed(routers)}" if routers else "a router"
    where = between({(p.from_node, p.to_node) for p in paths}, nodes)
    yield TOO_BIG.finding(
        Status.FAIL,
        f"On {network.name} {router} refuses full-size packets {where}: "
        f"it carries {listed(str(m) for m in mtus)} bytes.",
        subject=f"{short_name(network)}: router in the way",
        seen=seen_lines(paths),
        expected=(f"One layer 2 network without a router, carrying {paths[0].expected_mtu}",),
        next=[
            Remedy("See the way the packets take.", (f"ip route get {paths[0].destination_ip}",), paths[0].from_node),
            Remedy("Ask the network team why a router stands between nodes of a private network."),
        ],
        evidence=evidence_of(paths),
        network=network.name,
        nodes=sorted({_at_fault(cluster, network, {(p.from_node, p.to_node) for p in paths}) or paths[0].to_node}),
    )


def _local(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Iterator[Finding]:
    for node in sorted({p.from_node for p in paths}):
        own = [p for p in paths if p.from_node == node]
        mtu = next((s.local_mtu for p in own for s in p.series if s.local_mtu), None)
        interface = port.interface if (port := network.port(node)) else network.interface
        has = f"MTU {mtu}" if mtu else "a smaller MTU"
        yield LOCAL.finding(
            Status.FAIL,
            f"{node} cannot send full-size packets on {network.name}: its {interface} or the route has {has}.",
            subject=f"{node} {interface} {mtu or ''}".rstrip(),
            seen=seen_lines(own),
            expected=(f"{own[0].expected_mtu}, as on the other nodes",),
            next=[
                Remedy(
                    "Look at the interface and at the route.",
                    (f"ip link show {interface}", f"ip route get {own[0].destination_ip}"),
                    f"any user on {node}",
                ),
                Remedy(
                    "Bring it to the MTU of the others under the safe-change procedure, Clusterware down on all nodes.",
                    (f"ip link set dev {interface} mtu {own[0].expected_mtu}",),
                    f"root on {node}",
                    is_change=True,
                ),
            ],
            evidence=[*evidence_of(own), (node, "interfaces"), (node, "routes")],
            network=network.name,
            nodes=[node],
        )


def _loss(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Iterator[Finding]:
    nodes = [p.node for p in network.ports]
    sent = sum(s.sent for p in paths for s in p.series if not s.refused_locally)
    lost = sum(s.sent - s.received for p in paths for s in p.series if not s.refused_locally)
    percent = 100 * lost / sent if sent else 0.0
    ways = {(p.from_node, p.to_node) for p in paths}
    centre = _at_fault(cluster, network, ways)
    yield LOSS.finding(
        Status.FAIL if percent >= cluster.thresholds.loss_fail_percent else Status.WARN,
        f"{percent:.1f} % of the pings of any size get lost on {network.name} {between(ways, nodes)}.",
        subject=f"{short_name(network)}: {percent:.1f} % lost",
        seen=(f"{lost:,} of {sent:,} packets got no answer", *seen_lines(paths)),
        expected=("None lost",),
        next=[
            Remedy(
                "Look for errors and drops on the NICs.",
                tuple(f"ip -s -s link show {i}" for i in sorted({p.interface for p in network.ports})),
                "root on each node",
            ),
            Remedy(
                "Ask the network team for errors, discards and queue drops of the ports"
                + (f", that of {centre} first." if centre else ".")
            ),
        ],
        evidence=evidence_of(paths),
        network=network.name,
        nodes=[centre] if centre else [],
    )


def _unreachable(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Iterator[Finding]:
    nodes = [p.node for p in network.ports]
    ways = {(p.from_node, p.to_node) for p in paths}
    centre = _at_fault(cluster, network, ways)
    reasons = tuple(dict.fromkeys(p.reason for p in paths if p.reason))
    yield UNREACHABLE.finding(
        Status.FAIL,
        f"Nothing passes on {network.name} {between(ways, nodes)}.",
        subject=f"{short_name(network, centre)}: unreachable",
        seen=(*reasons, *seen_lines(paths)),
        expected=("Answers to small and full-size pings",),
        next=[
            Remedy("Look at the link on both sides.", ("ip -brief link", "ip neighbour"), "any user on both nodes"),
            Remedy("Check that the node is up; then cable, switch port and VLAN with the network team."),
        ],
        evidence=evidence_of(paths),
        network=network.name,
        nodes=[centre] if centre else sorted({n for way in ways for n in way}),
    )


def _filtered(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Iterator[Finding]:
    nodes = [p.node for p in network.ports]
    ways = {(p.from_node, p.to_node) for p in paths}
    targets = sorted({p.to_node for p in paths})
    yield FILTERED.finding(
        Status.UNKNOWN,
        f"Pings are filtered on {network.name} {between(ways, nodes)}, so it is not known whether full-size packets "
        "pass.",
        subject=f"{short_name(network)}: pings filtered",
        seen=(*dict.fromkeys(p.reason for p in paths if p.reason), *seen_lines(paths)),
        expected=("Answers to pings; no packet filter on a private network",),
        next=[
            Remedy(
                "Look for a packet filter on the node that does not answer.",
                (
                    "nft list ruleset",
                    "iptables -S",
                    "systemctl is-active firewalld",
                    "sysctl net.ipv4.icmp_echo_ignore_all",
                ),
                f"root on {listed(targets)}",
            ),
        ],
        evidence=evidence_of(paths),
        network=network.name,
        nodes=targets,
    )


def _not_probed(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Iterator[Finding]:
    nodes = [p.node for p in network.ports]
    ways = {(p.from_node, p.to_node) for p in paths}
    reasons = tuple(dict.fromkeys(p.reason for p in paths if p.reason))
    yield NOT_PROBED.finding(
        Status.UNKNOWN,
        f"{counted(len(paths), 'path')} on {network.name} could not be probed: {between(ways, nodes)}.",
        subject=f"{short_name(network)}: {counted(len(paths), 'path')} unknown",
        seen=reasons,
        expected=("Every node probes every other",),
        next=[Remedy("Mend the reason named above, then run this check again.", ("racwire check df-ping",))],
        evidence=evidence_of(paths),
        network=network.name,
    )


def _at_fault(cluster: Cluster, network: PrivateNetwork, ways: set[Way]) -> str:
    """The node that all these ways begin or end at, if paths between the others were measured and are not so too."""
    centre = hub(ways, [p.node for p in network.ports])
    paths = () if isinstance(cluster.paths, Unknown) else cluster.paths
    between_others = [p for p in paths if p.network == network.name and centre not in (p.from_node, p.to_node)]
    return centre if any(p.verdict is not Verdict.UNKNOWN for p in between_others) else ""


def _routed(network: PrivateNetwork, paths: list[PathProbe]) -> Finding:
    nodes = [p.node for p in network.ports]
    ways = {(p.from_node, p.to_node) for p in paths}
    return ROUTED.finding(
        Status.FAIL,
        f"There is a router on {network.name} {between(ways, nodes)}.",
        subject=f"{short_name(network)}: routed",
        seen=[
            f"{p.from_node} -> {p.to_node}: answers passed {counted(p.hops or 0, 'router')} (TTL "
            f"{next((s.ttl for s in p.series if s.ttl), '?')})"
            for p in paths
        ],
        expected=("One layer 2 network: no router between any two nodes",),
        next=[
            Remedy("See the way.", (f"traceroute -n {paths[0].destination_ip}",), f"any user on {paths[0].from_node}")
        ],
        evidence=evidence_of(paths),
        network=network.name,
    )
