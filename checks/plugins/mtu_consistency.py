"""Do all parts of a private network have the same MTU: NICs, bond members, VLANs, bridges and routes?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from checks.model.check import FailKind, Kind, PassKind, UnknownKind, WarnKind, check
from checks.model.condition import ConditionKind
from checks.model.effect import Effect
from checks.model.facts import Cluster, Port, PrivateNetwork, Unknown
from checks.model.finding import FAULTS, Finding, NextStep
from checks.model.networks import layers_below, subnet_of
from checks.model.observation import Observation
from checks.model.shell_command import for_each, shell
from checks.model.wording import counted, listed
from checks.plugins.shared.engineered_notes import by_the_vendor
from checks.plugins.shared.mtu_remedy import same_mtu
from checks.plugins.shared.path_text import short_name
from checks.plugins.shared.route_remedy import without_mtu
from checks.rules.engineered import is_engineered
from checks.rules.link_states import layer_mtu_status, mtu_status
from checks.rules.observed.states import read_on, state

_CAUSE_5 = "MOS 563566.1, causes 5 and 12"

AGREE = PassKind("IC-MTU-001", "All interfaces, layers and routes of a private network have the same MTU")
ODD_ONE = FailKind(
    "IC-MTU-002",
    "A node's interface has a different MTU than the rest of its private network",
    "A node with the larger MTU sends packets that a node with the smaller MTU drops silently: blocks are lost, and "
    "the node may be evicted or fail to join.",
    (_CAUSE_5,),
)
NO_MAJORITY = FailKind(
    "IC-MTU-003",
    "The MTU of a private network differs between nodes, and no value has a majority",
    "Large packets pass in one direction and are dropped in the other. The nodes do not show which MTU is intended.",
    (_CAUSE_5,),
)
LAYER_BELOW = Kind(
    "IC-MTU-004",
    "A layer below a private interface has a smaller MTU than the interface",
    "The interface accepts packets that the bond member, VLAN parent or bridge port below it cannot send. They are "
    "dropped inside the node; with a bond, only while that member is in use.",
    ("PRVE-00468", "MOS 563566.1, causes 11 and 12"),
)
ROUTE = FailKind(
    "IC-MTU-005",
    "A route sets a smaller MTU than the private network has",
    "The kernel limits packets to the route's MTU, even if the NICs and the switch can carry larger ones.",
    ("ip-route(8), mtu",),
)
NOT_KNOWN = UnknownKind(
    "IC-MTU-006",
    "The MTU of a node is not known",
    "The MTU may differ from that of the other nodes. Read the node, or run df-ping, to find out.",
)
NETWORKS_DIFFER = WarnKind(
    "IC-MTU-007",
    "The private networks do not have the same MTU",
    "A HAIP address moves to another private network when its network fails, and the instances keep the packet size "
    "of the failed network.",
    ("MOS 1210883.1",),
)


@check(
    "mtu-consistency",
    question="Does every layer of every node have the same MTU on each private network?",
    needs=("nodes", "networks"),
    uses=("setups",),
    shows=(ConditionKind.MTU,),
    kinds=(AGREE, ODD_ONE, NO_MAJORITY, LAYER_BELOW, ROUTE, NOT_KNOWN, NETWORKS_DIFFER),
)
def mtu_consistency(cluster: Cluster) -> Iterator[Finding]:
    """Compares the MTU of each private network over all nodes and layers.

    The MTU of the network is the MTU of most of its ports. The interface of each node must have this MTU; bond
    members, the parent of a VLAN and the ports of a bridge must have at least this MTU; no route to the subnet may set
    a smaller one. This check cannot read the switches between the nodes; df-ping tests them.
    """
    if isinstance(cluster.networks, Unknown):
        return
    concluded = False
    for network in cluster.networks:
        if isinstance(network.mtu, Unknown):
            continue
        faults = [*_ports(cluster, network, network.mtu), *_below(cluster, network), *_routes(cluster, network)]
        yield from faults
        concluded = True
        if not faults:
            yield _agree(cluster, network, network.mtu)
    yield from _networks_differ(cluster.networks)
    yield from _unread(cluster)
    if not concluded:
        yield NOT_KNOWN.finding(
            "No node that could be read has a port on a private network, so there is no MTU to compare.",
            subject="no ports",
            next=[NextStep("Read the findings of the check interfaces on the private networks first.")],
            evidence=[(node.name, "interfaces") for node in cluster.read_nodes()],
        )


def _agree(cluster: Cluster, network: PrivateNetwork, mtu: int) -> Finding:
    larger = [
        f"{node.name}: {lower.name}, {relation}, {lower.mtu}"
        for port in network.ports
        if (node := cluster.node(port.node)) and (top := node.interface(port.interface))
        for relation, lower in layers_below(node, top)
        if lower.mtu > mtu
    ]
    verb = "carries" if larger else "has"
    return AGREE.finding(
        f"Every layer of {counted(len(network.ports), 'node')} {verb} MTU {mtu} on {network.name}.",
        subject=f"{short_name(network)} {mtu}",
        seen=(*(f"{p.node}: {p.interface} {_mtu_of(cluster, p)}" for p in network.ports), *larger),
        evidence=_evidence(network),
        network=network.name,
        observed=read_on("mtu", [port.node for port in network.ports], network.name, mtu),
    )


def _ports(cluster: Cluster, network: PrivateNetwork, usual: int) -> Iterator[Finding]:
    by_mtu: dict[int, list[Port]] = defaultdict(list)
    for port in network.ports:
        if (mtu := _mtu_of(cluster, port)) is not None:
            by_mtu[mtu].append(port)
    if mtu_status(by_mtu) not in FAULTS:
        return
    seen = tuple(f"{p.node}: {p.interface} {_mtu_of(cluster, p)}" for p in network.ports)
    if _undecided(cluster, network, usual, by_mtu):
        groups = listed(f"{mtu} on {listed(p.node for p in ports)}" for mtu, ports in sorted(by_mtu.items()))
        yield NO_MAJORITY.finding(
            f"The nodes do not agree on the MTU of {network.name}: {groups}.",
            subject=f"{short_name(network)}: {groups}",
            data={
                "smallest_mtu_bytes": min(by_mtu),
                "largest_mtu_bytes": max(by_mtu),
                "interfaces": len(network.ports),
            },
            seen=seen,
            expected=("The same MTU on every node",),
            next=[
                _inspect(network.ports),
                _set_mtu(
                    cluster, usual, [p for ports in by_mtu.values() for p in ports if _mtu_of(cluster, p) != usual]
                ),
            ],
            evidence=_evidence(network),
            network=network.name,
            nodes=[p.node for p in network.ports],
            extent=(len(network.ports) - len(by_mtu[usual]), "interfaces"),
            observed=[_observed(network, port, mtu) for mtu, ports in by_mtu.items() for port in ports],
        )
        return
    for mtu, ports in sorted(by_mtu.items()):
        if mtu == usual:
            continue
        others = [p.node for p in by_mtu[usual]]
        yield ODD_ONE.finding(
            f"{listed(f'{p.interface} of {p.node}' for p in ports)} {'has' if len(ports) == 1 else 'have'} MTU {mtu} "
            f"on {network.name}; "
            f"{listed(others) if len(others) < 4 else f'the other {len(others)} nodes'} "
            f"{'has' if len(others) == 1 else 'have'} {usual}.",
            subject=f"{listed(p.node for p in ports)} {ports[0].interface} {mtu}",
            data={"interface": ports[0].interface, "mtu_bytes": mtu, "expected_mtu_bytes": usual},
            seen=seen,
            expected=(f"MTU {usual}, as on {listed(others)}",),
            next=[_inspect(ports), _set_mtu(cluster, usual, ports)],
            evidence=_evidence(network),
            network=network.name,
            nodes=[p.node for p in ports],
            extent=(len(ports), "interfaces"),
            observed=[_observed(network, port, mtu) for port in ports],
        )


def _observed(network: PrivateNetwork, port: Port, mtu: int) -> Observation:
    return state("mtu", port.node, network.name, port.interface, mtu, condition=ConditionKind.MTU)


def _undecided(cluster: Cluster, network: PrivateNetwork, usual: int, by_mtu: dict[int, list[Port]]) -> bool:
    """Return whether neither most ports nor the other private networks show which MTU is intended."""
    equals = [mtu for mtu, ports in by_mtu.items() if mtu != usual and len(ports) == len(by_mtu[usual])]
    others = cluster.read_networks()
    elsewhere = [_mtu_of(cluster, port) for other in others if other is not network for port in other.ports]
    return any(elsewhere.count(usual) <= elsewhere.count(mtu) for mtu in equals)


def _below(cluster: Cluster, network: PrivateNetwork) -> Iterator[Finding]:
    for port in network.ports:
        node = cluster.node(port.node)
        top = node.interface(port.interface) if node else None
        if node is None or top is None:
            continue
        for relation, lower in layers_below(node, top):
            status = layer_mtu_status(lower.mtu, [top.mtu])
            if status in FAULTS:
                yield LAYER_BELOW.finding(
                    f"{lower.name}, {relation} on {node.name}, has MTU {lower.mtu}; "
                    f"{top.name} on {network.name} has {top.mtu}.",
                    status=status,
                    subject=f"{node.name} {lower.name} {lower.mtu}",
                    data={
                        "interface": lower.name,
                        "mtu_bytes": lower.mtu,
                        "upper_interface": top.name,
                        "expected_mtu_bytes": top.mtu,
                    },
                    seen=(f"{node.name}: {lower.name} {lower.mtu}", f"{node.name}: {top.name} {top.mtu}"),
                    expected=(f"{lower.name} with at least MTU {top.mtu}",),
                    next=[_inspect([port]), _set_mtu(cluster, top.mtu, [Port(node.name, lower.name, port.ip)])],
                    evidence=[(node.name, "interfaces")],
                    network=network.name,
                    nodes=[node.name],
                    observed=[_observed(network, Port(node.name, lower.name, port.ip), lower.mtu)],
                )


def _routes(cluster: Cluster, network: PrivateNetwork) -> Iterator[Finding]:
    for port in network.ports:
        node = cluster.node(port.node)
        mtu = network.mtu
        if node is None or isinstance(mtu, Unknown):
            continue
        for route in node.routes:
            smaller = route.mtu is not None and route.mtu < mtu
            if smaller and route.interface == port.interface and _covers(route.destination, network.subnet):
                yield ROUTE.finding(
                    f"A route of {node.name} limits {network.name} to MTU {route.mtu}; the network has {mtu}.",
                    subject=f"{node.name} route {route.mtu}",
                    data={"destination": route.destination, "mtu_bytes": route.mtu, "expected_mtu_bytes": mtu},
                    seen=(
                        f"{node.name}: {route.destination} dev {route.interface} mtu "
                        f"{'lock ' if route.mtu_locked else ''}{route.mtu}",
                    ),
                    expected=(f"No mtu on the route, or mtu {mtu}",),
                    next=[
                        NextStep(
                            "Display the route and its origin.",
                            (
                                shell("ip route show {subnet}", subnet=network.subnet),
                                shell("nmcli -f GENERAL.CONNECTION,IP4 device show {nic}", nic=route.interface),
                            ),
                            f"any user on {node.name}",
                        ),
                        without_mtu(cluster, node, route),
                    ],
                    evidence=[(node.name, "routes")],
                    network=network.name,
                    nodes=[node.name],
                    observed=[state("mtu", node.name, network.name, route.interface, route.mtu)],
                )


def _covers(destination: str, subnet: str) -> bool:
    return destination == subnet or (subnet_of(destination) is not None and subnet_of(destination) == subnet_of(subnet))


def _unread(cluster: Cluster) -> Iterator[Finding]:
    for node in cluster.unread_nodes():
        yield NOT_KNOWN.finding(
            f"The MTUs of {node.name} are not known, since racwire could not read the node.",
            subject=f"{node.name} not read",
            seen=(node.reason,),
            expected=("The MTU of the other nodes on each private network",),
            next=[NextStep(f"Read the MTUs on {node.name} itself.", ("ip link show",), f"any user on {node.name}")],
            evidence=[(node.name, "ssh")],
            nodes=[node.name],
            lacks=[node],
        )


def _networks_differ(networks: tuple[PrivateNetwork, ...]) -> Iterator[Finding]:
    known = [(n.name, n.mtu) for n in networks if isinstance(n.mtu, int)]
    if len({mtu for _, mtu in known}) > 1:
        yield NETWORKS_DIFFER.finding(
            f"The private networks do not have the same MTU: {listed(f'{mtu} on {name}' for name, mtu in known)}.",
            subject="networks differ",
            data={
                "smallest_mtu_bytes": min(mtu for _, mtu in known),
                "largest_mtu_bytes": max(mtu for _, mtu in known),
            },
            seen=tuple(f"{name}: {mtu}" for name, mtu in known),
            expected=("The same MTU on all private networks, since a HAIP can move to any of them",),
            next=[
                NextStep(
                    "Ask which MTU is intended; set it on the others with the safe-change procedure.",
                    ("racwire change new --to MTU",),
                    is_change=True,
                    effect=Effect.CLUSTER_DOWN_FIRST,
                )
            ],
            evidence=list(dict.fromkeys(entry for network in networks for entry in _evidence(network))),
            observed=[state("mtu", "", name, value=mtu) for name, mtu in known],
        )


def _mtu_of(cluster: Cluster, port: Port) -> int | None:
    interface = cluster.interface(port)
    return interface.mtu if interface else None


def _evidence(network: PrivateNetwork) -> list[tuple[str, str]]:
    return [(port.node, "interfaces") for port in network.ports]


def _inspect(ports: tuple[Port, ...] | list[Port]) -> NextStep:
    commands = for_each("ip -details link show {nic}", nic=(p.interface for p in ports))
    return NextStep("Display the interface and its layers.", commands, f"any user on {listed(p.node for p in ports)}")


def _set_mtu(cluster: Cluster, mtu: int, ports: list[Port]) -> NextStep:
    if any(is_engineered(cluster, port.interface) for port in ports):
        return by_the_vendor("the MTU")
    return same_mtu(cluster, mtu, (port.node for port in ports))
