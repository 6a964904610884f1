"""Nodes behind a hypervisor: a bridge that no node sees, between each private NIC and its cable.

The bridges of a node are in a namespace of their own, as on the machine that runs a virtual machine or a container. The
switch port keeps its name and its faults; the uplink of the hypervisor is plugged into it. So a node keeps its carrier
when the cable is pulled.
"""

from __future__ import annotations

from collections.abc import Iterable

from racwire_lab.cluster import wiring
from racwire_lab.cluster.hypervisor_faults import ends
from racwire_lab.cluster.nics import Nic
from racwire_lab.cluster.topology import SWITCH_MTU, PortId, Shape, node_named

ALL_NODES = "all"


def behind(names: Iterable[str], shape: Shape) -> tuple[str, ...]:
    """Return the nodes with these names or numbers, or all for `all`, in the order of their numbers.

    Raises LabUsageError when the cluster has no such node.
    """
    found = {node for name in names for node in (shape.nodes if name == ALL_NODES else (node_named(name, shape),))}
    return tuple(node for node in shape.nodes if node in found)


def hidden_port(port: PortId, nic: Nic, node_pid: int) -> list[str]:
    """Return the commands that make a healthy NIC, its port and its bridge, in the hypervisor's namespace.

    The NIC appears in the node. The uplink is there already.
    """
    (guest, uplink), bridge = ends(port), f"br-eth{port.network}"
    return [
        *wiring.bridge(bridge),
        f"link add {guest} mtu {SWITCH_MTU} type veth peer name {nic.name} address {nic.mac} mtu {nic.mtu} "
        f"netns {node_pid}",
        *(f"link set {end} master {bridge} up" for end in (guest, uplink)),
    ]


def new_uplink(port: PortId, bridge: str, hypervisor_pid: int) -> list[str]:
    """Return the commands that make a switch port and the uplink of a hypervisor, in the switch's namespace."""
    _, uplink = ends(port)
    return [
        f"link add {port.name} mtu {SWITCH_MTU} type veth peer name {uplink} mtu {SWITCH_MTU} netns {hypervisor_pid}",
        f"link set {port.name} master {bridge} up",
    ]
