"""Do full-size packets pass between all nodes, both ways? If not, in which direction and where are they lost?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from checks.model.check import check
from checks.model.condition import ConditionKind
from checks.model.effect import Effect
from checks.model.facts import Cluster, PathProbe, PrivateNetwork, Unknown, Verdict
from checks.model.finding import Finding, NextStep, check_again
from checks.model.shell_command import shell
from checks.model.wording import listed
from checks.plugins.df_ping.path_answers import all_pass, others_pass, routed_finding
from checks.plugins.df_ping.path_holes import hole_between
from checks.plugins.df_ping.path_kinds import ALONE, KINDS, LOCAL, NOT_PROBED, RECEIVER, TOO_BIG
from checks.plugins.df_ping.path_places import at_fault, path_data
from checks.plugins.df_ping.unanswered_paths import filtered, ignored, loss, lost_once_finding, not_probed, unreachable
from checks.plugins.shared.engineered_notes import beside_pings, by_the_vendor
from checks.plugins.shared.mtu_remedy import same_mtu
from checks.plugins.shared.path_text import (
    evidence_of,
    matrix,
    pairs_of,
    reasons_of,
    result_lines,
    shared_subnet,
    short_name,
    where,
)
from checks.rules.engineered import is_engineered
from checks.rules.observed.pings import pings
from checks.rules.path_status import lost_once, over_a_router


@check(
    "df-ping",
    question="Do full-size packets pass between all nodes, both ways?",
    needs=("nodes", "networks", "paths"),
    uses=("setups", "effective_routes"),
    shows=(ConditionKind.PATH,),
    kinds=KINDS,
)
def df_ping(cluster: Cluster) -> Iterator[Finding]:
    """Sends pings that must not be fragmented from every node to every other node, on every private network.

    Small pings show whether the path works at all. Full-size pings (MTU - 28 bytes of payload, - 48 for IPv6) show
    whether the path carries the MTU of its network. Pings that are one byte larger show that the sender's own kernel
    limits them. Where full-size pings get no answer, racwire finds the largest that does, to the byte, and counts the
    echo requests that reached the other node: the answer is as large as the request, so either direction may lose it.
    """
    if isinstance(cluster.paths, Unknown) or isinstance(cluster.networks, Unknown):
        return
    concluded = False
    for network in cluster.networks:
        paths = tuple(p for p in cluster.paths if p.network == network.name)
        if paths:
            concluded = True
            yield from _network(cluster, network, paths)
    yield from ignored(cluster, cluster.paths)
    yield from _unread(cluster)
    if not concluded and not cluster.unread_nodes():
        yield ALONE.finding(
            "No two nodes have a port on the same private network, so there is no path to probe.",
            subject="no paths",
            evidence=[(node.name, "interfaces") for node in cluster.read_nodes()],
        )


def _unread(cluster: Cluster) -> Iterator[Finding]:
    """Yield a finding for each node that could not be read: its private addresses, and so its paths, are not known."""
    for node in cluster.unread_nodes():
        yield NOT_PROBED.finding(
            f"No path to or from {node.name} was probed, since racwire could not read {node.name}.",
            subject=f"{node.name}: all paths",
            seen=(node.reason,),
            expected=("Every node probes every other node",),
            next=[check_again("df-ping")],
            evidence=[(node.name, "ssh")],
            nodes=[node.name],
            lacks=[node],
        )


def _network(cluster: Cluster, network: PrivateNetwork, paths: tuple[PathProbe, ...]) -> Iterator[Finding]:
    judged: dict[Verdict, Callable[[Cluster, PrivateNetwork, list[PathProbe]], Iterator[Finding]]] = {
        Verdict.BLACK_HOLE: _black_hole,
        Verdict.TOO_BIG: _too_big,
        Verdict.LOCAL_MTU: _local,
        Verdict.LOSS: loss,
        Verdict.UNREACHABLE: unreachable,
        Verdict.FILTERED: filtered,
        Verdict.UNKNOWN: not_probed,
    }
    findings: list[Finding] = []
    once = lost_once(paths)
    for verdict, judge in judged.items():
        of_verdict = [p for p in paths if p.verdict is verdict]
        if verdict is Verdict.LOSS and of_verdict:
            # Where packets are lost repeatedly, a single loss on another path belongs to the same fault.
            of_verdict, once = [*of_verdict, *once], []
        if of_verdict:
            findings += judge(cluster, network, of_verdict)
    routed = over_a_router(paths)
    if routed:
        findings.append(routed_finding(cluster, network, routed))
    if once:
        findings.append(lost_once_finding(cluster, network, once))
    if not findings:
        findings.append(all_pass(cluster, network, paths))
    elif others := [p for p in paths if p.verdict is Verdict.PASSES and not p.reason and p not in routed]:
        findings.append(others_pass(cluster, network, others))
    table = matrix(network, paths)
    note = (*shared_subnet(cluster, network), *beside_pings(cluster, [port.node for port in network.ports]))
    engineered = is_engineered(cluster, network.interface)
    for finding in findings:
        steps = tuple(by_the_vendor("the MTU") if engineered and step.is_change else step for step in finding.next)
        yield msgspec.structs.replace(finding, table=table, seen=(*finding.seen, *note), next=steps)


# --- each verdict -----------------------------------------------------------------------------------------------------


def _black_hole(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Iterator[Finding]:
    """Yield findings by culprit: an interface of a node whose MTU is below the packet size, or the network between."""
    small = {
        port.node: interface.mtu
        for port in network.ports
        if (interface := cluster.interface(port)) and interface.mtu < max(p.expected_mtu for p in paths)
    }
    at_receiver = [p for p in paths if p.to_node in small]
    between_nodes = [p for p in paths if p.to_node not in small]
    for name in sorted({p.to_node for p in at_receiver}):
        own = [p for p in at_receiver if p.to_node == name]
        yield _receiver(cluster, network, name, small[name], own)
    if between_nodes:
        yield hole_between(cluster, network, between_nodes)


def _receiver(cluster: Cluster, network: PrivateNetwork, node: str, mtu: int, paths: list[PathProbe]) -> Finding:
    interface = port.interface if (port := network.port(node)) else network.interface
    senders = listed(p.from_node for p in paths)
    return RECEIVER.finding(
        f"{node} drops full-size packets from {senders} on {network.name}: its {interface} has MTU {mtu}.",
        subject=f"{node} {interface} {mtu}",
        data={
            "interface": interface,
            "mtu_bytes": mtu,
            "expected_mtu_bytes": paths[0].expected_mtu,
            "paths": len(paths),
        },
        seen=(*result_lines(paths), f"{node}: {interface} has MTU {mtu}"),
        expected=(f"MTU {paths[0].expected_mtu} on {interface} of {node}, as on the other nodes",),
        next=[
            NextStep(
                "Display the interface.", (shell("ip -details link show {nic}", nic=interface),), f"any user on {node}"
            ),
            same_mtu(cluster, paths[0].expected_mtu, [node]),
        ],
        evidence=[*evidence_of(paths), (node, "interfaces")],
        observed=pings(cluster, paths),
        network=network.name,
        nodes=[node],
        extent=(len(paths), "paths"),
    )


def _too_big(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Iterator[Finding]:
    routers = sorted({s.too_big_from for p in paths for s in p.series if s.too_big_from})
    mtus = sorted({s.too_big_mtu for p in paths for s in p.series if s.too_big_mtu})
    router = f"the router {listed(routers)}" if routers else "a router"
    centre = at_fault(cluster, network, pairs_of(paths))
    yield TOO_BIG.finding(
        f"On {network.name} {router} refuses full-size packets "
        f"{where(cluster, network, pairs_of(paths))}"
        f"{f': it carries at most {listed(str(m) for m in mtus)} bytes' if mtus else ''}.",
        subject=f"{short_name(network, centre)}: router in the way",
        data={**path_data(paths), "router_mtu_bytes": min(mtus, default=None)},
        seen=(*reasons_of(paths), *result_lines(paths)),
        expected=(f"One layer 2 network without a router, for packets of {paths[0].expected_mtu} bytes",),
        next=[
            NextStep(
                "Display the route of the packets.",
                (shell("ip route get {to} from {source}", to=paths[0].destination_ip, source=paths[0].source_ip),),
                f"any user on {paths[0].from_node}",
            ),
            NextStep("Ask the network team why there is a router between nodes of a private network."),
        ],
        evidence=evidence_of(paths),
        observed=pings(cluster, paths),
        network=network.name,
        nodes=[centre] if centre else sorted({n for pair in pairs_of(paths) for n in pair}),
        extent=(len(paths), "paths"),
    )


def _local(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Iterator[Finding]:
    for name in sorted({p.from_node for p in paths}):
        own = [p for p in paths if p.from_node == name]
        mtu = next((s.local_mtu for p in own for s in p.series if s.local_mtu), None)
        interface = port.interface if (port := network.port(name)) else network.interface
        has = f"MTU {mtu}" if mtu else "a smaller MTU"
        nic = node.interface(interface) if (node := cluster.node(name)) else None
        by_route = nic is not None and nic.mtu >= own[0].expected_mtu
        yield LOCAL.finding(
            f"{name} cannot send full-size packets on {network.name}: "
            f"{'a route of the node' if by_route else f'its {interface}'} has {has}.",
            subject=f"{name} {'route' if by_route else interface} {mtu or ''}".rstrip(),
            data={**path_data(own), "interface": interface, "mtu_bytes": mtu, "by_route": by_route},
            seen=(*result_lines(own), *([f"{name}: {interface} has MTU {nic.mtu}"] if nic else [])),
            expected=(f"MTU {own[0].expected_mtu}, as on the other nodes",),
            next=[
                NextStep(
                    "Display the interface and the route.",
                    (
                        shell("ip link show {nic}", nic=interface),
                        shell("ip route get {to} from {source}", to=own[0].destination_ip, source=own[0].source_ip),
                    ),
                    f"any user on {name}",
                ),
                NextStep(
                    "Remove the mtu from the route, in the file that sets it, with the safe-change procedure.",
                    where=f"root on {name}",
                    is_change=True,
                    effect=Effect.AT_NEXT_START,
                )
                if by_route
                else same_mtu(cluster, own[0].expected_mtu, [name]),
            ],
            evidence=[*evidence_of(own), (name, "interfaces"), (name, "routes")],
            observed=pings(cluster, own),
            network=network.name,
            nodes=[name],
            extent=(len(own), "paths"),
        )
