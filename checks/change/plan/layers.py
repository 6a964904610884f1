"""The layers of a change of MTU on each node: the ports on the private networks, and all interfaces below them.

Bond members take the MTU of the bond, a VLAN cannot exceed the MTU of its parent, and a bridge that of its smallest
port. So layers are raised from the bottom to the top, and lowered from the top to the bottom (ip-link(8),
MOS 563566.1, cause 12).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from checks.change.plan.change_plan import ChangeKind, Layer
from checks.model.facts import (
    Cluster,
    Interface,
    KeptMtu,
    MtuByDhcp,
    NetworkService,
    Node,
    NodeSetup,
    Port,
    PrivateNetwork,
    Unknown,
)

PORT, MEMBER, PARENT, BOND, BRIDGE_PORT = "port", "member", "parent", "bond", "bridge port"
"""The roles of a layer; `BOND` is a bond below an interface that is not a VLAN."""
OTHER = "other"
"""The role of an interface that is above a layer of the plan, but is no layer itself."""
_BONDS = ("bond", "team")


@dataclass
class _Found:
    """An interface below a port, before its planned MTU is known."""

    interface: Interface
    role: str
    networks: dict[str, None]
    equal_to: str
    """The bond whose MTU the interface must have as its member; empty if it may have a larger MTU."""


def networks_of(cluster: Cluster) -> tuple[PrivateNetwork, ...]:
    """Return the private networks; none if they are not known."""
    return cluster.networks if isinstance(cluster.networks, tuple) else ()


def kind_of(cluster: Cluster, target: int) -> ChangeKind:
    """Return RAISE if the target is above the MTU of any port, else LOWER."""
    mtus = [i.mtu for n in networks_of(cluster) for p in n.ports if (i := cluster.interface(p))]
    return ChangeKind.RAISE if any(mtu < target for mtu in mtus) else ChangeKind.LOWER


def layers_of(cluster: Cluster, target: int) -> tuple[Layer, ...]:
    """Return every layer of every node that was read: by node, from the bottom to the top."""
    kind = kind_of(cluster, target)
    return tuple(layer for node in cluster.read_nodes() for layer in _of_node(cluster, node, target, kind))


def layers_as_they_are(cluster: Cluster) -> tuple[Layer, ...]:
    """Return the layers of a change that leaves every MTU as it is."""
    return tuple(msgspec.structs.replace(layer, mtu_after=layer.mtu_before) for layer in layers_of(cluster, 0))


def interface_of(cluster: Cluster, layer: Layer) -> Interface | None:
    """Return the interface of a layer as it is now; None where its node could not be read, or has none."""
    return cluster.interface(Port(layer.node, layer.interface, ""))


def is_shared(node: Node, interface: Interface, ours: frozenset[str]) -> bool:
    """Whether the interface has an address, or carries an interface that is not private: then it is never lowered."""
    above = (i.name for i in node.interfaces if i.parent == interface.name or interface.name in i.members)
    return has_address(interface) or any(name not in ours for name in above)


def has_address(interface: Interface) -> bool:
    """Whether the interface has an address of its own that is neither link-local nor HAIP."""
    return any(not a.ip.casefold().startswith("fe80:") and not a.is_link_local for a in interface.addresses)


def inheriting(cluster: Cluster, layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
    """Return the VLANs on a raised layer that are not private and have no MTU in their boot configuration.

    At boot a VLAN takes the MTU of its parent (ip-link(8)): raising the parent also raises the VLAN at the next boot,
    unless its file sets its present MTU. Each result is a layer whose MTU stays the same.
    """
    raised = {(one.node, one.interface) for one in layers if one.mtu_after > one.mtu_before}
    planned = {(one.node, one.interface) for one in layers}
    found = []
    for node in cluster.read_nodes():
        setup = cluster.setup(node.name)
        for interface in node.interfaces:
            above_ours = (node.name, interface.parent) in raised and (node.name, interface.name) not in planned
            kept = setup.kept_mtu(interface.name) if setup else None
            if above_ours and not (kept and isinstance(kept.mtu, int)):
                one = _Found(interface, OTHER, {}, "")
                found.append(_layer(node, setup, interface.name, one, 0, interface.mtu))
    return tuple(found)


def is_tagged(cluster: Cluster, layer: Layer) -> bool:
    """Whether packets of a private network leave the layer with a VLAN tag: it is a VLAN, or is below one."""
    node, interface = cluster.node(layer.node), interface_of(cluster, layer)
    ports = {p.interface for p in ports_of(cluster) if p.node == layer.node}
    return (
        node is not None
        and interface is not None
        and any(
            i.kind == "vlan" and i.name in ports and interface.name in _all_below(node, i, {}) for i in node.interfaces
        )
    )


def _all_below(node: Node, interface: Interface, seen: dict[str, None]) -> dict[str, None]:
    """Return the names of the interface and all interfaces below it."""
    seen[interface.name] = None
    for name in (*interface.members, interface.parent):
        if name not in seen and (below := node.interface(name)):
            _all_below(node, below, seen)
    return seen


def _of_node(cluster: Cluster, node: Node, target: int, kind: ChangeKind) -> Iterator[Layer]:
    found: dict[str, _Found] = {}
    for network in networks_of(cluster):
        port = network.port(node.name)
        top = node.interface(port.interface) if port else None
        if port and top:
            _descend(node, top, PORT, "", network.name, found)
    ours = frozenset(found)
    setup = cluster.setup(node.name)
    layers = []
    for name, one in found.items():
        after = _after(node, one, found, target, kind, ours)
        layers.append(_layer(node, setup, name, one, _level(node, name, ours), after))
    yield from sorted(layers, key=lambda layer: layer.level)


def _descend(
    node: Node, interface: Interface, role: str, equal_to: str, network: str, found: dict[str, _Found]
) -> None:
    known = found.get(interface.name)
    if known is None:
        known = found[interface.name] = _Found(interface, role, {}, equal_to)
    elif network in known.networks:
        return
    known.networks[network] = None
    if role == PORT:
        known.role, known.equal_to = PORT, ""
    is_bond = interface.kind in _BONDS
    for name in interface.members:
        if below := node.interface(name):
            member = MEMBER if is_bond else BOND if below.kind in _BONDS else BRIDGE_PORT
            _descend(node, below, member, interface.name if is_bond else "", network, found)
    if interface.parent and (below := node.interface(interface.parent)):
        _descend(node, below, PARENT, "", network, found)


def _level(node: Node, name: str, ours: frozenset[str]) -> int:
    interface = node.interface(name)
    below = [] if interface is None else [n for n in (*interface.members, interface.parent) if n in ours and n != name]
    return 1 + max(_level(node, lower, ours - {name}) for lower in below) if below else 0


def _after(
    node: Node, one: _Found, found: dict[str, _Found], target: int, kind: ChangeKind, ours: frozenset[str]
) -> int:
    if one.role == PORT:
        return target
    if one.equal_to:
        return _after(node, found[one.equal_to], found, target, kind, ours)
    before = one.interface.mtu
    if before <= target:
        return target
    return before if kind is ChangeKind.RAISE or is_shared(node, one.interface, ours) else target


def _layer(node: Node, setup: NodeSetup | None, name: str, one: _Found, level: int, after: int) -> Layer:
    kept = setup.kept_mtu(name) if setup else None
    return Layer(
        node=node.name,
        interface=name,
        role=one.role,
        level=level,
        networks=tuple(one.networks),
        mtu_before=one.interface.mtu,
        mtu_after=after,
        kind=one.interface.kind,
        network_service=str(kept.network_service if kept else NetworkService.UNKNOWN),
        file=kept.file if kept else "",
        connection=kept.connection if kept else "",
        kept_before=_kept_before(kept, one.interface.mtu),
    )


def by_dhcp(kept: KeptMtu | None) -> bool:
    """Whether no file sets the MTU, but DHCP may."""
    return kept is not None and isinstance(kept.mtu, MtuByDhcp)


def _kept_before(kept: KeptMtu | None, running: int) -> int | None:
    if kept is None or by_dhcp(kept):
        return None
    # For a file that could not be read, a rollback restores the running MTU.
    return running if isinstance(kept.mtu, Unknown) else kept.mtu


def ports_of(cluster: Cluster) -> tuple[Port, ...]:
    """Return every port on every private network."""
    return tuple(port for network in networks_of(cluster) for port in network.ports)


def haip_addresses(cluster: Cluster) -> dict[str, list[Port]]:
    """Return the link-local addresses that the NICs of each private network have: with Clusterware up, its HAIP.

    A private network is left out if fewer than two nodes have such an address there.
    """
    found: dict[str, list[Port]] = {}
    for network in networks_of(cluster):
        own = [
            Port(port.node, port.interface, address.ip)
            for port in network.ports
            if (interface := cluster.interface(port)) is not None
            for address in interface.addresses
            if address.is_link_local
        ]
        if len({port.node for port in own}) > 1:
            found[network.name] = own
    return found
