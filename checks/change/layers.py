"""What of each node a change of MTU is about: the ports on the private networks, and all that they stand on.

A bond's members take the bond's MTU, a VLAN cannot exceed its parent's, a bridge not that of its smallest port: so
they are raised from the bottom to the top, and lowered from the top to the bottom (ip-link(8), MOS 563566.1, cause 12).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checks.change.change_plan import ChangeKind, Layer
from checks.model.facts import Cluster, Interface, Keeper, KeptMtu, Node, NodeSetup, Port, PrivateNetwork, Unknown

PORT, MEMBER, PARENT, BOND, BRIDGE_PORT = "port", "member", "parent", "bond", "bridge port"
"""The roles of a layer; `BOND` is one that stands under something else than a VLAN."""
OTHER = "other"
"""What is no layer of a plan: it only stands on one."""
_BONDS = ("bond", "team")


@dataclass
class _Found:
    """An interface on the way down from a port, before it is known what it is to become."""

    interface: Interface
    role: str
    networks: dict[str, None]
    equal_to: str
    """The bond that it is a member of, which it must be like; empty where it need only carry as much."""


def networks_of(cluster: Cluster) -> tuple[PrivateNetwork, ...]:
    """The private networks, as far as they are known."""
    return cluster.networks if isinstance(cluster.networks, tuple) else ()


def kind_of(cluster: Cluster, target: int) -> ChangeKind:
    """Whether the target is above what some port has, or not."""
    mtus = [i.mtu for n in networks_of(cluster) for p in n.ports if (i := cluster.interface(p))]
    return ChangeKind.RAISE if any(mtu < target for mtu in mtus) else ChangeKind.LOWER


def layers_of(cluster: Cluster, target: int) -> tuple[Layer, ...]:
    """Every layer of every node that was read: by node, from the bottom to the top."""
    kind = kind_of(cluster, target)
    return tuple(layer for node in cluster.read_nodes() for layer in _of_node(cluster, node, target, kind))


def is_shared(node: Node, interface: Interface, ours: frozenset[str]) -> bool:
    """Whether something stands on it that is no part of a private network: then it is never lowered."""
    above = (i.name for i in node.interfaces if i.parent == interface.name or interface.name in i.members)
    return has_address(interface) or any(name not in ours for name in above)


def has_address(interface: Interface) -> bool:
    """Whether it has an address of its own, one that is more than link-local."""
    return any(not a.ip.casefold().startswith("fe80:") and not a.is_haip for a in interface.addresses)


def inheriting(cluster: Cluster, layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
    """What stands on a raised layer, is not private, and has no MTU of its own in its file.

    A VLAN that is made at boot takes the MTU of its parent (ip-link(8)): unless its file says what it has now, raising
    the parent raises it too, at the next boot. Each is a layer that stays as it is.
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
    """Whether packets of a private network leave it with a VLAN tag: it is a VLAN, or stands below one."""
    node = cluster.node(layer.node)
    interface = node.interface(layer.interface) if node else None
    ports = {p.interface for p in ports_of(cluster) if p.node == layer.node}
    return (
        node is not None
        and interface is not None
        and any(
            i.kind == "vlan" and i.name in ports and interface.name in _stands_on(node, i, {}) for i in node.interfaces
        )
    )


def _stands_on(node: Node, interface: Interface, seen: dict[str, None]) -> dict[str, None]:
    """The interface and all below it, by name."""
    seen[interface.name] = None
    for name in (*interface.members, interface.parent):
        if name not in seen and (below := node.interface(name)):
            _stands_on(node, below, seen)
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
        keeper=str(kept.keeper if kept else Keeper.UNKNOWN),
        file=kept.file if kept else "",
        connection=kept.connection if kept else "",
        kept_before=_kept_before(kept, one.interface.mtu),
    )


def by_dhcp(kept: KeptMtu | None) -> bool:
    """Whether no file sets the MTU, while DHCP can bring one (option 26): a file's own setting is stronger."""
    return kept is not None and isinstance(kept.mtu, Unknown) and "DHCP" in kept.mtu.reason


def _kept_before(kept: KeptMtu | None, running: int) -> int | None:
    if kept is None or by_dhcp(kept):
        return None
    # A file that could not be read is taken to set what runs: on the way back that is what must be there again.
    return running if isinstance(kept.mtu, Unknown) else kept.mtu


def ports_of(cluster: Cluster) -> tuple[Port, ...]:
    """Every port on every private network."""
    return tuple(port for network in networks_of(cluster) for port in network.ports)
