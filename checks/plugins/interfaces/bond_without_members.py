"""A bond that is down though its members have links: the bonding driver uses none of them."""

from __future__ import annotations

from checks.model.check import Kind
from checks.model.facts import Cluster, Interface, Port, PrivateNetwork
from checks.model.finding import Finding, Remedy
from checks.model.wording import listed
from checks.rules.link_states import link_status
from checks.rules.observed.states import state

BOND_DOWN = Kind(
    "IC-IFACE-045",
    "A bond of a private network is down, though links of its members are up",
    "The bonding driver takes no member for usable: LACP agreed no aggregation with the switch, or the target of ARP "
    "monitoring does not answer. HAIP moves the addresses to another private network, if there is one.",
    ("MOS 563566.1, cause 11", "Linux kernel documentation, bonding"),
)


def linked_members(cluster: Cluster, port: Port, interface: Interface) -> tuple[str, ...]:
    """Return the members of a bond whose links are up."""
    node = cluster.node(port.node)
    members = (node.interface(name) for name in interface.members) if node and interface.kind == "bond" else ()
    return tuple(member.name for member in members if member and member.is_up)


def bond_down(network: PrivateNetwork, port: Port, interface: Interface, linked: tuple[str, ...]) -> Finding:
    """Return the finding for a bond that is down, with the members whose links are up."""
    links = f"the link{'s' if len(linked) > 1 else ''} of {listed(linked)} {'are' if len(linked) > 1 else 'is'} up"
    return BOND_DOWN.finding(
        link_status(interface.is_up),
        f"{port.interface} of {port.node} is down though {links}: {port.node} is cut off from {network.name}.",
        subject=f"{port.node} {port.interface} down",
        data={"interface": port.interface, "operational_state": interface.operational_state},
        seen=(f"{port.node}: {port.interface} is {interface.operational_state}", f"{port.node}: {links}"),
        expected=("up",),
        next=[
            Remedy(
                "Read why the bonding driver uses no member.",
                (f"cat /proc/net/bonding/{port.interface}", "racwire check bonding"),
                f"root on {port.node}",
            )
        ],
        evidence=[(port.node, "interfaces")],
        network=network.name,
        nodes=[port.node],
        observed=[state(BOND_DOWN.code, port.node, network.name, port.interface, interface.operational_state)],
    )
