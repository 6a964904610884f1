"""Build the `ip -batch` input that changes one desired cluster into another. Nothing is run here."""

from __future__ import annotations

from collections.abc import Iterable

from racwire_lab.cluster.desired import Cable, Router, uplink
from racwire_lab.cluster.layer2 import Trunk
from racwire_lab.cluster.networks import Network
from racwire_lab.cluster.nics import Nic
from racwire_lab.cluster.topology import STANDARD_MTU, SWITCH_MTU, PortId

_FORGET = ("neigh flush all", "route flush cache")
"""Entries learnt before a change, neighbours and path MTUs, would stay for seconds to minutes after it."""

_ROOM_FOR_A_TAG = 4
"""Bytes by which the kernel lets a frame exceed the MTU of the link that it is forwarded to."""


def bridges(networks: Iterable[Network]) -> list[str]:
    """Return the commands that make the switches of all networks, in the switch's namespace."""
    names = dict.fromkeys(network.bridge for network in networks if network.bridge)
    return [line for name in names for line in bridge(name)]


def new_port(port: PortId, switch: str, nic: Nic, node_pid: int) -> list[str]:
    """Return the commands that make a healthy NIC and its switch port, in the switch's namespace.

    The NIC appears in the node.
    """
    master = f"master {switch} " if switch else ""
    return [
        f"link add {port.name} mtu {SWITCH_MTU} type veth peer name {nic.name} address {nic.mac} "
        f"mtu {nic.mtu} netns {node_pid}",
        f"link set {port.name} {master}up",
    ]


def new_nic(network: Network, nic: Nic) -> list[str]:
    """Return the commands that set a new NIC up, in the node's namespace."""
    lines = [f"link set {nic.name} up", _address(nic)]
    if network.is_fast:
        # One segment at a time: otherwise veth passes TCP packets of 64 KB, whatever the MTU of the path.
        lines.append(f"link set {nic.name} gso_max_segs 1")
    elif network.bridge:
        lines += quick_answers(network, nic)
    return lines


def quick_answers(network: Network, nic: Nic) -> list[str]:
    """Return the commands that make the node acknowledge packets of the public network at once.

    An ssh login waits for two delayed acknowledgements of 40 ms each; without them it takes 50 ms instead of 130 ms.
    """
    source = nic.address.partition("/")[0]
    return [f"route replace {network.cidr} dev {nic.name} scope link src {source} quickack 1"]


def changed_nic(before: Nic, after: Nic, *, has_haip: bool) -> list[str]:
    """Return the commands that change one NIC into another, in the node's namespace.

    has_haip says whether Clusterware has added the HAIP to the NIC.
    """
    lines = []
    if before.name != after.name:
        lines += [
            f"link set {before.name} down",
            f"link set {before.name} name {after.name}",
            f"link set {after.name} up",
        ]
    if before.mac != after.mac:
        lines.append(f"link set {after.name} address {after.mac}")
    if before.mtu != after.mtu:
        lines.append(f"link set {after.name} mtu {after.mtu}")
    if before.address != after.address:
        lines += [f"address flush dev {after.name}", _address(after)]
        if has_haip and after.haip:
            # Clusterware adds its address as an alias of the NIC, such as eth1:1.
            lines.append(f"address add {after.haip} brd + dev {after.name} label {after.name}:1")
    is_flushed = before.address != after.address
    for was, wanted, label in (
        (before.link_local, after.link_local, f" label {after.name}:avahi"),
        (before.other, after.other, ""),
    ):
        if was and was != wanted and not is_flushed:
            lines.append(f"address delete {was} dev {after.name}")
        if wanted and (was != wanted or is_flushed):
            lines.append(f"address add {wanted} brd + dev {after.name}{label}")
    if before.has_arp != after.has_arp:
        lines.append(f"link set {after.name} arp {'on' if after.has_arp else 'off'}")
    # A NIC loses its entries while it is down for a new name.
    if before.set_neighbour and (before.name == after.name or after.set_neighbour):
        lines.append(f"neigh flush to {before.set_neighbour[0]} dev {after.name} nud permanent")
    if after.set_neighbour:
        ip, mac = after.set_neighbour
        lines.append(f"neigh replace {ip} lladdr {mac} dev {after.name} nud permanent")
    return lines


def forget() -> list[str]:
    """Return the commands that drop the neighbours and routes that a namespace has learnt."""
    return list(_FORGET)


def split(trunks: Iterable[Trunk]) -> list[str]:
    """Return the commands that make the second halves of switches, with their links to the first halves."""
    lines = []
    for trunk in trunks:
        up, down = trunk.ends
        mtu = (trunk.mtu or SWITCH_MTU) - _ROOM_FOR_A_TAG
        lines += [
            *bridge(trunk.second),
            f"link add {up} mtu {mtu} type veth peer name {down} mtu {mtu}",
            f"link set {up} master {trunk.bridge} {'up' if trunk.mtu else 'down'}",
            f"link set {down} master {trunk.second} up",
        ]
    return lines


def join(trunks: Iterable[Trunk]) -> list[str]:
    """Return the commands that remove the second halves of switches."""
    return [line for t in trunks for line in (f"link delete {t.second}-up", f"link delete {t.second}")]


def unwire(port: PortId, cable: Cable) -> list[str]:
    """Return the commands that remove everything between a port and its network's switch, in the switch's namespace."""
    lines = []
    if cable.router:
        lines += [f"link delete {port.name}-{part}" for part in ("rf", "rn", "rt")]
    if cable.uplink_mtu:
        lines += [f"link delete {port.name}-{part}" for part in ("up", "sw")]
    return lines


def wire(port: PortId, cable: Cable, router_pid: int | None) -> list[str]:
    """Return the commands that insert the cable between a port and its network's switch, in the switch's namespace."""
    lines = []
    toward = cable.bridge
    if cable.uplink_mtu:
        # The small MTU is on a link between two switches. On the port itself, the node's own sender would notice it: a
        # veth pair with two MTUs refuses a large packet instead of losing it.
        small, (up, down) = f"{port.name}-sw", uplink(port)
        mtu = cable.uplink_mtu - _ROOM_FOR_A_TAG
        lines += [
            *bridge(small),
            f"link add {up} mtu {mtu} type veth peer name {down} mtu {mtu}",
            f"link set {up} master {toward} up",
            f"link set {down} master {small} up",
        ]
        toward = small
    if cable.router and router_pid is not None:
        near = f"{port.name}-rt"
        lines += [
            *bridge(near),
            *_router_leg(f"{port.name}-rf", "far", toward, router_pid),
            *_router_leg(f"{port.name}-rn", "near", near, router_pid),
        ]
        toward = near
    lines.append(f"link set {port.name} master {toward} {'up' if cable.plugged else 'down'}")
    return lines


def route(router: Router) -> list[str]:
    """Return the commands for the router's own addresses and routes, in its namespace."""
    lines = []
    for leg in ("near", "far"):
        lines += [
            f"link set {leg} up",
            f"address add {router.address}/32 dev {leg}",
            # By default the kernel waits up to 0.8 s before it answers for another host.
            f"ntable change name arp_cache dev {leg} proxy_delay 0",
        ]
    # The MTU is on the routes, not on the links, so that the router reports it to senders on both sides. A packet too
    # large for its incoming link would be lost without an error.
    lines += [f"route add {host}/32 dev near mtu lock {STANDARD_MTU}" for host in router.behind]
    lines += [f"route add {subnet} dev far mtu lock {STANDARD_MTU}" for subnet in router.before]
    return lines


def bridge(name: str) -> list[str]:
    """Return the commands that make a bridge, in the namespace where it is."""
    return [
        f"link add {name} mtu {SWITCH_MTU} type bridge stp_state 0 forward_delay 0 mcast_snooping 0",
        f"link set {name} up",
    ]


def _router_leg(port: str, leg: str, switch: str, router_pid: int) -> list[str]:
    return [
        f"link add {port} mtu {SWITCH_MTU} type veth peer name {leg} mtu {SWITCH_MTU} netns {router_pid}",
        f"link set {port} master {switch} up",
    ]


def _address(nic: Nic) -> str:
    return f"address add {nic.address} brd + dev {nic.name}"
