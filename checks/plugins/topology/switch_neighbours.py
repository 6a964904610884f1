"""What LLDP shows between the nodes: no switch, one switch for all private NICs, or a chain of switches."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.model.check import InfoKind, WarnKind
from checks.model.effect import Effect
from checks.model.facts import Cluster, LldpNeighbour, PrivateNetwork, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.networks import nics_of
from checks.model.wording import listed
from checks.plugins.shared.grouping import briefly, named, some
from checks.rules.observed.states import state, states

_GUIDE = "Grid Infrastructure Installation Guide, private networks"
DIRECT = WarnKind(
    "IC-TOPO-007",
    "A cable connects two nodes directly",
    "Oracle does not support a crossover cable as interconnect: when one node goes down, the other one loses its link "
    "too, and Clusterware cannot tell which side failed.",
    ("MOS 220970.1, RAC frequently asked questions", _GUIDE),
)
ONE_SWITCH = InfoKind(
    "IC-TOPO-008",
    "The private NICs of the nodes are plugged into one switch",
    "When it fails or restarts, each node loses its whole interconnect, and Clusterware evicts nodes.",
    (_GUIDE,),
)
CHAIN = WarnKind(
    "IC-TOPO-009",
    "More than two switches are between two nodes",
    "Each switch adds a queue in which blocks wait, a link that the nodes share, and a place where the MTU can be "
    "smaller.",
    ("TruCluster Server, LAN interconnects", _GUIDE),
)


@dataclass(frozen=True)
class _Plug:
    """A private NIC of a node, and what announces itself at the other end of its cable."""

    node: str
    network: str
    nic: str
    seen: tuple[LldpNeighbour, ...]

    @property
    def switches(self) -> frozenset[str]:
        """The chassis that announce themselves here: several where a switch in between forwards LLDP."""
        return frozenset(n.chassis or n.switch for n in self.seen)

    @property
    def line(self) -> str:
        return f"{self.node}: {self.nic}: {listed(f'{n.switch or n.chassis} {n.port}'.strip() for n in self.seen)}"


def plugs_of(cluster: Cluster) -> list[_Plug]:
    """Return each private NIC that has LLDP neighbours, once for each of its networks."""
    found = []
    for network in cluster.read_networks():
        for port in network.ports:
            setup = cluster.setup(port.node)
            seen = () if setup is None or isinstance(setup.lldp, Unknown) else setup.lldp
            for nic in nics_of(cluster, port):
                if here := tuple(n for n in seen if n.interface == nic and (n.chassis or n.switch)):
                    found.append(_Plug(port.node, network.name, nic, here))
    return found


def switch_findings(cluster: Cluster) -> Iterator[Finding]:
    """Yield the findings about switches and cables; without LLDP neighbours none."""
    plugs = plugs_of(cluster)
    direct = [(plug, peer) for plug in plugs if (peer := _peer(cluster, plug))]
    if direct:
        yield _direct(direct)
    through = [plug for plug in plugs if plug not in [plug for plug, _ in direct]]
    yield from _one_switch(cluster, through)
    for network in cluster.read_networks():
        yield from _chain(network, [plug for plug in through if plug.network == network.name])


def _peer(cluster: Cluster, plug: _Plug) -> str:
    """Return the node at the other end of a cable, where nothing else announces itself there; empty without one."""
    if len(plug.seen) != 1:
        return ""
    (there,) = plug.seen
    for node in cluster.read_nodes():
        macs = {i.mac_address.casefold() for i in node.interfaces if i.mac_address}
        if node.name != plug.node and not macs.isdisjoint((there.chassis, there.port_mac)):
            return node.name
    return ""


def _direct(direct: Sequence[tuple[_Plug, str]]) -> Finding:
    nodes = sorted({name for plug, peer in direct for name in (plug.node, peer)})
    nics = dict.fromkeys(f"{plug.nic} of {plug.node}" for plug, _ in direct)
    return DIRECT.finding(
        f"LLDP shows a node and no switch at the other end of the cable of {named(nics, 'NIC')}: "
        f"{listed(f'{plug.nic} of {plug.node} ends at {peer}' for plug, peer in direct[:2])}.",
        subject=f"{briefly(nodes, 'node')}: direct cable",
        data={"interfaces": len(nics)},
        seen=some([plug.line for plug, _ in direct]),
        expected=("A switch between the nodes",),
        next=[
            NextStep(
                "Ask the network team whether a switch is there that forwards LLDP instead of receiving it.",
                ("lldpctl",),
                f"root on {named(nodes, 'node')}",
            ),
            NextStep(
                "Plan a switch for each private network, in a maintenance window.",
                is_change=True,
                effect=Effect.NODE_OUT_FIRST,
            ),
        ],
        evidence=[(node, "lldp") for node in dict.fromkeys(plug.node for plug, _ in direct)],
        nodes=nodes,
        extent=(len(nics), "NICs"),
        observed=[state(DIRECT.code, plug.node, plug.network, plug.nic, peer) for plug, peer in direct],
    )


def _one_switch(cluster: Cluster, plugs: Sequence[_Plug]) -> Iterator[Finding]:
    networks = cluster.read_networks()
    wanted = {(port.node, nic) for network in networks for port in network.ports for nic in nics_of(cluster, port)}
    switches = {switch for plug in plugs for switch in plug.switches}
    nics = {nic for _, nic in wanted}
    if len(switches) != 1 or len(nics) < 2 or wanted != {(plug.node, plug.nic) for plug in plugs}:
        return
    name = plugs[0].seen[0].switch or plugs[0].seen[0].chassis
    nodes = list(dict.fromkeys(plug.node for plug in plugs))
    yield ONE_SWITCH.finding(
        f"{named(sorted(nics), 'NIC')} of {named(nodes, 'node')} are plugged into one switch, {name}.",
        subject=f"{name}: one switch",
        data={"switch": name, "interfaces": len(plugs)},
        seen=some([plug.line for plug in plugs]),
        expected=("Two switches, or a stack whose switches restart in turn",),
        evidence=[(node, "lldp") for node in nodes],
        nodes=nodes,
        observed=[state(ONE_SWITCH.code, plug.node, plug.network, plug.nic, name) for plug in plugs],
    )


def _chain(network: PrivateNetwork, plugs: Sequence[_Plug]) -> Iterator[Finding]:
    """Yield a finding for the pairs of nodes with at least three switches between them.

    LLDP shows the switch at each end. Two ends at different switches have two in between or more: that is no fault.
    Where several switches announce themselves at a NIC, a switch in between forwards LLDP: that is a third one, if no
    switch announces itself at both ends.
    """
    far = [
        (a, b)
        for a, b in itertools.combinations(plugs, 2)
        if a.node != b.node and a.switches.isdisjoint(b.switches) and max(len(a.switches), len(b.switches)) > 1
    ]
    if not far:
        return
    nodes = list(dict.fromkeys(plug.node for pair in far for plug in pair))
    a, b = far[0]
    yield CHAIN.finding(
        f"At least three switches are between {a.node} and {b.node} on {network.name}"
        f"{'' if len(far) == 1 else f', and between {len(far) - 1} more pairs'}.",
        subject=f"{network.interface} {a.node} - {b.node}: three switches",
        data={"pairs": len(far)},
        seen=some(list(dict.fromkeys(plug.line for pair in far for plug in pair))),
        expected=("Two switches at most",),
        next=[
            NextStep(
                "Ask the network team for the switches between the ports of these nodes; a switch that forwards LLDP "
                "has no name in the output.",
                ("lldpctl",),
                f"root on {named(nodes, 'node')}",
            )
        ],
        evidence=[(node, "lldp") for node in nodes],
        network=network.name,
        nodes=nodes,
        extent=(len(far), "pairs"),
        observed=states(CHAIN.code, nodes, network.name),
    )
