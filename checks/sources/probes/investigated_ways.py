"""The way of the packets of a step: two ports of one private network, or two HAIP addresses in use on it, and a size.

Raises instead of guessing: nothing is sent where the way is not certain to be between private addresses of two nodes.
"""

from __future__ import annotations

from checks.model.facts import Cluster, PrivateNetwork
from checks.model.packet_sizes import IP_HEADER, overhead
from checks.model.traffic import Address, Traffic
from checks.rules.observed.packets import route_mtu
from checks.sources.probes.haip_pings import haip_ports
from checks.sources.probes.path import Path
from checks.sources.probes.safety import assert_private, public_overlap, public_subnets, two_owners


class NoWayError(Exception):
    """The packets of a step cannot be sent here. The text is a clause that says why."""


def way_of(cluster: Cluster, leg: Traffic) -> tuple[Path, bool, int]:
    """Return the path of a leg, whether its datagrams are cut into fragments, and the bytes of a whole packet.

    Raises NoWayError, also for a packet that the sender cannot send, and UnsafePathError.
    """
    name, sender, receiver = (_one(values) for values in (leg.networks, leg.senders, leg.receivers))
    network = next((one for one in cluster.read_networks() if one.name == name), None)
    if network is None or not isinstance(network.mtu, int):
        raise NoWayError(f"{name} is no private network with a known MTU")
    if overlap := public_overlap(network, public_subnets(cluster)):
        raise NoWayError(overlap)
    if sum(one.subnet == network.subnet for one in cluster.read_networks()) > 1:
        raise NoWayError(f"two private networks share {network.subnet}, so an address does not determine the way")
    if _one(leg.addresses or ("private",)) == "haip":
        path = _between_haips(cluster, network, sender, receiver)
    else:
        path = _between_ports(cluster, network, sender, receiver)
        assert_private(path, public_subnets(cluster))
    if doubled := two_owners(path):
        raise NoWayError(doubled)
    is_cut, size = leg.forms == ("fragment",), leg.sizes[0]
    kind: Address = "haip" if leg.addresses == ("haip",) else "private"
    most = route_mtu(cluster, sender, receiver, network.name, kind) or network.mtu
    if is_cut:
        if size < _largest_fragment(most, path.version):
            raise NoWayError(f"the kernel of {sender} cuts fragments of {most} bytes, not of {size}")
        return path, True, size
    if not overhead(path.version) < size <= most:
        raise NoWayError(f"the kernel of {sender} refuses to send a packet of {size} bytes: its MTU is {most}")
    return path, False, size


def _one(values: tuple[str, ...] | None) -> str:
    if values is None or len(values) != 1:
        raise NoWayError("the step does not name one network, one sender and one receiver")
    return values[0]


def _largest_fragment(mtu: int, version: int) -> int:
    """Return the bytes of the IP packet of a fragment that is not the last: its data are a multiple of 8 (RFC 791)."""
    header = IP_HEADER[version]
    return header + (mtu - header) // 8 * 8


def _between_ports(cluster: Cluster, network: PrivateNetwork, sender: str, receiver: str) -> Path:
    source, target = network.port(sender), network.port(receiver)
    if source is None or target is None:
        raise NoWayError(f"{receiver if source else sender} has no port on {network.name}")
    assert isinstance(network.mtu, int)
    return Path(network, source, target, network.mtu)


def _between_haips(cluster: Cluster, network: PrivateNetwork, sender: str, receiver: str) -> Path:
    """Return the path between HAIP addresses that GV$CLUSTER_INTERCONNECTS lists and a NIC of the network has."""
    ports = haip_ports(cluster).get(network.name, [])
    source, target = (next((p for p in ports if p.node == node), None) for node in (sender, receiver))
    if source is None or target is None:
        raise NoWayError(f"{receiver if source else sender} has no HAIP address in use on {network.name}")
    assert isinstance(network.mtu, int)
    return Path(network, source, target, network.mtu)
