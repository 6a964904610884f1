"""The MTU that an interface will have after the next boot of its node: a pure function of facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from checks.model.facts import (
    Cluster,
    FragileMtu,
    Interface,
    KeptMtu,
    NetworkService,
    Node,
    NodeSetup,
    PrivateNetwork,
    Unknown,
)
from checks.model.networks import layers_of

KERNEL_DEFAULT_MTU = 1500
"""The MTU of Ethernet where no file sets another (ETH_DATA_LEN of linux/if_ether.h)."""
_BONDS = ("bond", "team")
_NO_IPOIB_DEFAULT = Unknown("its file sets no MTU, and the default of IPoIB depends on its mode and on the fabric")


@dataclass(frozen=True)
class AtBoot:
    """One interface of a node: its running state and its state after the next boot."""

    node: str
    network: PrivateNetwork
    interface: Interface
    mtu: int | Unknown | None
    """None where no network service that racwire knows configures the interface."""
    kept: KeptMtu | None
    fragile: tuple[FragileMtu, ...]
    """Lines of scripts and udev rules that set its MTU outside the network service, or may set it: some name no
    interface."""
    address: str = ""
    """The private address with its prefix length; empty for the layers below."""

    @property
    def name(self) -> str:
        """`eth1 of rac1`, as a sentence uses it."""
        return f"{self.interface.name} of {self.node}"

    @property
    def by_script(self) -> FragileMtu | None:
        """The script that sets the MTU last: the last that names the interface, else one that sets the running MTU."""
        named = [line for line in self.fragile if line.interface and line.mtu is not None]
        unnamed = [line for line in self.fragile if not line.interface and line.mtu == self.interface.mtu]
        return next(iter((*reversed(named), *unnamed)), None)


class AtNextBoot(Enum):
    """The effect of the next boot on the MTU of an interface."""

    KEPT = "kept"
    OTHER = "different"
    BY_SCRIPT = "set by a script"
    UNKNOWN = "not known"
    NO_KEEPER = "no known network service"


def verdict(at: AtBoot) -> AtNextBoot:
    """Return the effect of the next boot. A script wins where its MTU differs from that of the network service."""
    if at.by_script is not None and at.by_script.mtu != at.mtu:
        return AtNextBoot.BY_SCRIPT
    if isinstance(at.mtu, Unknown):
        return AtNextBoot.UNKNOWN
    if at.mtu is None:
        return AtNextBoot.NO_KEEPER
    return AtNextBoot.KEPT if at.mtu == at.interface.mtu else AtNextBoot.OTHER


def interfaces_at_boot(cluster: Cluster) -> Iterator[AtBoot]:
    """Yield every port on a private network and every layer below it once, on the nodes whose setup is known."""
    seen = set()
    for network in cluster.read_networks():
        for port in network.ports:
            node, setup = cluster.node(port.node), cluster.setup(port.node)
            top = node.interface(port.interface) if node else None
            if node is None or setup is None or top is None:
                continue
            for interface in layers_of(node, top):
                if (node.name, interface.name) not in seen:
                    seen.add((node.name, interface.name))
                    address = next((a for a in top.addresses if a.ip == port.ip), None) if interface is top else None
                    written = f"{address.ip}/{address.prefix_length}" if address else ""
                    yield replace(_at_boot(node, setup, network, interface), address=written)


def mtu_at_boot(node: Node, setup: NodeSetup, interface: Interface) -> int | Unknown | None:
    """Return the MTU that the interface's file sets, else the MTU that it inherits.

    A member of a bond inherits from the bond, a VLAN from its parent (ip-link(8)); a VLAN cannot have a larger MTU
    than its parent. None where no network service that racwire knows configures the interface.
    """
    return _mtu(node, setup, interface, frozenset())


def _at_boot(node: Node, setup: NodeSetup, network: PrivateNetwork, interface: Interface) -> AtBoot:
    lines = tuple(line for line in setup.fragile if line.interface in ("", interface.name))
    mtu = mtu_at_boot(node, setup, interface)
    return AtBoot(node.name, network, interface, mtu, setup.kept_mtu(interface.name), lines)


def _mtu(node: Node, setup: NodeSetup, interface: Interface, above: frozenset[str]) -> int | Unknown | None:
    if isinstance(setup.kept, Unknown):
        return setup.kept
    kept = setup.kept_mtu(interface.name)
    seen = above | {interface.name}

    def other(name: str) -> int | Unknown | None:
        found = node.interface(name) if name and name not in seen else None
        return _mtu(node, setup, found, seen) if found else None

    own = kept.mtu if kept else None
    master = node.interface(interface.master) if interface.master else None
    bonds = other(interface.master) if master and master.kind in _BONDS else None
    if own is None and bonds is not None:
        return bonds
    parents = other(interface.parent)
    if isinstance(own, int):
        return min(own, parents) if isinstance(parents, int) else own
    if own is not None or kept is None or (kept.network_service is NetworkService.UNKNOWN and own is None):
        return own
    if interface.parent:
        return parents
    if interface.kind == "bridge":
        ports = [mtu for name in interface.members if isinstance(mtu := other(name), int)]
        return min(ports, default=KERNEL_DEFAULT_MTU)
    return _NO_IPOIB_DEFAULT if interface.kind == "infiniband" else KERNEL_DEFAULT_MTU
