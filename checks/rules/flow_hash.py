"""Rules for the fields of UDP that choose a queue (`ethtool -n NIC rx-flow-hash udp4`): may the ports be among them?

A fragment has no ports but for the first of its packet. Where the ports are hashed, fragments of one packet can take
two queues and arrive out of order. Where none arrives, the ports spread the packets of two nodes over several CPUs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum

from checks.model.facts import Cluster, HostSetup, NicDriver, Unknown
from checks.model.networks import private_nics_of
from checks.model.packet_sizes import USUAL_BLOCK_BYTES
from checks.rules.node_counts import lacks

HYPER_V = "hv_netvsc"
"""The driver of Hyper-V and Azure, which hashes what it sends. Linux, Documentation/networking/device_drivers/ethernet/
microsoft/netvsc.rst: on Azure, UDP in fragments is lost often where the ports are hashed."""
_PORTS = frozenset("fn")
_FRAGMENTS = ("Ip", "ReasmReqds")


class PortsInHash(Enum):
    """What is known of the ports in the hash of UDP of a NIC."""

    FIT = "they are not hashed, and no fragment arrived"
    PRESENT = "they are hashed, and no fragment arrived"
    UNFIT = "they are not hashed, and blocks travel in fragments"
    APART = "they are hashed, and blocks travel in fragments"
    BY_SENDER = "the hash of the sender decides"
    NOT_OFFERED = "the NIC offers no such hash"
    NOT_KNOWN = "not known"


@dataclass(frozen=True)
class CarryingNic:
    """A NIC that carries the packets of a private network; where Hyper-V gave the node a virtual function that is up,
    the virtual function does, and not the interface above it."""

    node: str
    name: str
    driver: str
    udp_hash: str | Unknown | None
    is_of_hyper_v: bool

    @property
    def hashes_ports(self) -> bool:
        """Whether the ports are hashed; false where it is not known."""
        return isinstance(self.udp_hash, str) and bool(_PORTS & set(self.udp_hash))


def carrying_nics(cluster: Cluster, nodes: Collection[str]) -> list[CarryingNic]:
    """Return the NICs that carry the private networks of these nodes, with what is known of their hash."""
    return [_carrying(cluster, node, name) for node in nodes for name in private_nics_of(cluster, node)]


def _carrying(cluster: Cluster, node: str, name: str) -> CarryingNic:
    read, setup = cluster.node(node), cluster.setup(node)
    host = setup.host if setup and isinstance(setup.host, HostSetup) else HostSetup()
    nic = read.interface(name) if read else None
    upper = nic.master if nic and nic.master and _driver(host, nic.master) == HYPER_V else ""
    carrying = upper if upper and nic and not nic.is_up else name
    known = _asked(host, carrying)
    return CarryingNic(
        node,
        carrying,
        _driver(host, carrying),
        known.udp_hash if known else Unknown("not read"),
        bool(upper) or _driver(host, carrying) == HYPER_V,
    )


def _asked(host: HostSetup, nic: str) -> NicDriver | None:
    return None if isinstance(host.drivers, Unknown) else next((d for d in host.drivers if d.interface == nic), None)


def _driver(host: HostSetup, nic: str) -> str:
    asked = _asked(host, nic)
    return host.drivers_in_use.get(nic, "") or (asked.driver if asked else "")


def ports_in_hash(cluster: Cluster, nic: CarryingNic) -> PortsInHash:
    """Judge whether the ports may be hashed. They may where no fragment arrived at the node in this run, and a block is
    no longer than a packet; a node at rest gets none."""
    if nic.is_of_hyper_v:
        return PortsInHash.BY_SENDER
    if nic.udp_hash is None:
        return PortsInHash.NOT_OFFERED
    arrived = _fragments(cluster, nic.node)
    if isinstance(nic.udp_hash, Unknown) or isinstance(arrived, Unknown):
        return PortsInHash.NOT_KNOWN
    if arrived or not _is_whole(cluster):
        return PortsInHash.APART if nic.hashes_ports else PortsInHash.UNFIT
    return PortsInHash.PRESENT if nic.hashes_ports else PortsInHash.FIT


def _fragments(cluster: Cluster, node: str) -> int | Unknown:
    changes = cluster.counters
    if isinstance(changes, Unknown):
        return changes
    missing = dict(lacks(changes, (".".join(_FRAGMENTS),)))
    if node in missing:
        return missing[node]
    found = next((change.counters.value(*_FRAGMENTS) for change in changes.nodes if change.node == node), None)
    return Unknown("the counters of the node were not read") if found is None else found


def _is_whole(cluster: Cluster) -> bool:
    """Return whether each private network has an MTU of a block and more."""
    networks = cluster.read_networks()
    return bool(networks) and all(isinstance(n.mtu, int) and n.mtu > USUAL_BLOCK_BYTES for n in networks)


def hashing_ports(cluster: Cluster, failing: Sequence[str], *, only_hyper_v: bool) -> list[CarryingNic]:
    """Return the NICs whose hash has the ports, and that can be why these nodes cannot reassemble fragments.

    With Hyper-V these are those of the senders; else those of the nodes themselves, which get fragments out of order
    but lose none of them, and are left out with `only_hyper_v`.
    """
    senders = [node.name for node in cluster.read_nodes() if len(set(failing)) > 1 or node.name not in failing]
    of_senders = [nic for nic in carrying_nics(cluster, senders) if nic.is_of_hyper_v]
    own = [] if only_hyper_v else [nic for nic in carrying_nics(cluster, failing) if not nic.is_of_hyper_v]
    return [nic for nic in (*of_senders, *own) if nic.hashes_ports]
