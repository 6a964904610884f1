"""Hosts in the neighbour tables of the nodes, on a private network, that are none of the nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.model.check import InfoKind, Kind, WarnKind
from checks.model.facts import Cluster, Neighbour, Node, PrivateNetwork, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.networks import layers_of
from checks.model.observation import Observation
from checks.model.shell_command import shell
from checks.model.wording import counted, few, listed
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.rules.engineered import is_engineered
from checks.rules.neighbour_entries import IN_USE
from checks.rules.observed.states import state

FOREIGN = WarnKind(
    "IC-TOPO-002",
    "A host that is no node of the cluster is on a private network",
    "The private networks are for the nodes alone. Another host can fill the queues of the switch, take an address of "
    "a node, or send what the instances receive.",
    ("Grid Infrastructure Installation Guide, private networks", "MOS 563566.1, cause 6"),
)
KNOWN = InfoKind(
    "IC-TOPO-003", "A neighbour on a private network is no node that was read, and no fault is seen in that"
)

_ANSWERED = (*IN_USE, "stale")
"""States of an entry whose address a host has answered for."""
_VIRTUAL_ROUTER = re.compile(r"00:00:5e:00:0[12]:|00:00:0c:07:ac:|00:00:0c:9f:f|00:05:73:a0:0|00:07:b4:")
"""The MAC addresses of VRRP (RFC 5798), HSRP and GLBP: of a router, not of a NIC."""


@dataclass(frozen=True)
class _Stranger:
    """A neighbour of one node that no node that was read has."""

    node: str
    network: PrivateNetwork
    entry: Neighbour
    who: str
    """The kind of neighbour, where it is known; empty for another host."""

    @property
    def mac(self) -> str:
        return self.entry.mac_address.casefold()

    @property
    def line(self) -> str:
        return f"{self.node}: {self.entry.ip} has {self.mac} ({self.entry.state}) on {self.entry.interface}" + (
            f": {self.who}" if self.who else ""
        )


def nodes_with_entries(cluster: Cluster) -> list[str]:
    """Return the nodes that have an answered neighbour on a private network, which the check can judge."""
    return list(dict.fromkeys(node.name for node, _, _ in _entries(cluster)))


def foreign_hosts(cluster: Cluster) -> Iterator[Finding]:
    """Yield a finding for each private network with neighbours that are no nodes.

    An address is a node's where a node has it now, or where a NIC of a node answers for it, such as a HAIP or a VIP
    that has moved. Entries that got no answer are left out.
    """
    strangers = [
        _Stranger(node.name, network, entry, _who(cluster, node, entry))
        for node, network, entry in _entries(cluster)
        if entry.mac_address.casefold() not in _macs(cluster) and entry.ip not in _addresses(cluster)
    ]
    for same in alike(strangers, lambda one: (one.network.name, bool(one.who))):
        yield _known(cluster, same) if same[0].who else _foreign(same)


def _entries(cluster: Cluster) -> Iterator[tuple[Node, PrivateNetwork, Neighbour]]:
    for network in cluster.read_networks():
        for port in network.ports:
            node, interface = cluster.node(port.node), cluster.interface(port)
            if node is None or interface is None:
                continue
            # The default route has a gateway here: private-routes finds it, and every client is a neighbour.
            if any(r.interface == port.interface and r.destination == "default" for r in node.routes):
                continue
            yield from (
                (node, network, entry)
                for entry in node.neighbours
                if entry.interface == port.interface and entry.state in _ANSWERED and entry.mac_address.strip("0:")
            )


def _macs(cluster: Cluster) -> set[str]:
    return {i.mac_address.casefold() for node in cluster.read_nodes() for i in node.interfaces if i.mac_address}


def _addresses(cluster: Cluster) -> set[str]:
    return {a.ip for node in cluster.read_nodes() for i in node.interfaces for a in i.addresses}


def _who(cluster: Cluster, node: Node, entry: Neighbour) -> str:
    mac = entry.mac_address.casefold()
    if _VIRTUAL_ROUTER.match(mac):
        return "the virtual address of a router (VRRP, HSRP or GLBP)"
    if any(r.gateway == entry.ip for r in node.routes):
        return "the gateway of a route of the node"
    if switch := _switch(cluster, node, entry, mac):
        return f"the management address of the switch {switch}"
    if is_engineered(cluster, entry.interface):
        return "a server of the engineered system, whose storage is on this network"
    if entry.state == "stale":
        return "not seen in the last seconds; the entry may be of a host or a NIC that is gone"
    if cluster.unread_nodes():
        return f"{listed(n.name for n in cluster.unread_nodes())} could not be read and may have it"
    return ""


def _switch(cluster: Cluster, node: Node, entry: Neighbour, mac: str) -> str:
    """Return the name of the switch that announces this address or MAC address by LLDP; empty where none does."""
    setup, top = cluster.setup(node.name), node.interface(entry.interface)
    if setup is None or isinstance(setup.lldp, Unknown) or top is None:
        return ""
    below = {layer.name for layer in layers_of(node, top)}
    return next(
        (
            n.switch or n.chassis
            for n in setup.lldp
            if n.interface in below and (entry.ip in n.management_ips or mac in (n.chassis, n.port_mac))
        ),
        "",
    )


def _foreign(same: Sequence[_Stranger]) -> Finding:
    network, nodes = same[0].network, list(dict.fromkeys(one.node for one in same))
    hosts = list(dict.fromkeys(one.mac for one in same))
    places = few(dict.fromkeys(f"{one.entry.ip} ({one.mac})" for one in same), 3)
    what = "A host that is no node of the cluster is" if len(hosts) == 1 else "Hosts that are no nodes are"
    return FOREIGN.finding(
        f"{what} on the private network {network.name}: {places}.",
        subject=f"{network.interface}: {counted(len(hosts), 'foreign host')}",
        data={"hosts": len(hosts), "address": same[0].entry.ip, "mac": same[0].mac},
        seen=some([one.line for one in same]),
        expected=(f"The {counted(len(network.ports), 'node')} of the cluster, and no other host",),
        next=[
            NextStep(
                "Find out which host it is: its names in DNS, and the services that answer.",
                (
                    shell("getent hosts {ip}", ip=same[0].entry.ip),
                    shell("ip neigh show dev {nic}", nic=same[0].entry.interface),
                ),
                f"any user on {named(nodes, 'node')}",
            ),
            NextStep(f"Ask the network team for the switch ports that learned {few(hosts, 3)}, and for their VLAN."),
        ],
        evidence=[(node, topic) for node in nodes for topic in ("neighbours", "interfaces")],
        network=network.name,
        nodes=nodes,
        extent=(len(hosts), "hosts"),
        observed=_observed(FOREIGN, same),
    )


def _known(cluster: Cluster, same: Sequence[_Stranger]) -> Finding:
    network, nodes = same[0].network, list(dict.fromkeys(one.node for one in same))
    places = list(dict.fromkeys(one.entry.ip for one in same))
    # An address that racwire did not see on a node can be that of a node that it did not read.
    none = "no node that was read" if cluster.unread_nodes() else "no node"
    return KNOWN.finding(
        f"{named(nodes, 'node')} {'has' if len(nodes) == 1 else 'have'} {counted(len(places), 'neighbour')} on "
        f"{network.name} that {none} has: {few(places, 3)}.",
        subject=f"{network.interface} {briefly(nodes, 'node')}: {counted(len(places), 'other neighbour')}",
        data={"neighbours": len(places)},
        seen=some([one.line for one in same]),
        evidence=[(node, "neighbours") for node in nodes],
        network=network.name,
        nodes=nodes,
        observed=_observed(KNOWN, same),
    )


def _observed(kind: Kind, same: Sequence[_Stranger]) -> list[Observation]:
    return [state(kind.code, one.node, one.network.name, one.entry.interface, one.entry.ip) for one in same]
