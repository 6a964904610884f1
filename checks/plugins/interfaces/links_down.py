"""Private interfaces that are down: without a link, switched off, or a bond that takes no member for usable."""

from __future__ import annotations

from checks.model.check import Kind
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster, Interface, Port, PrivateNetwork
from checks.model.finding import Finding, NextStep
from checks.model.observation import Observation
from checks.model.shell_command import for_each, shell
from checks.model.wording import listed
from checks.plugins.interfaces.oifcfg_lines import is_haip_unused
from checks.rules.link_states import link_status
from checks.rules.observed.states import state

NOT_UP = Kind(
    "IC-IFACE-004",
    "The interface of a node on a private network is down",
    "The HAIP of the interface moves to another private network, if there is one, and all traffic of the node shares "
    "that network. With only one network, the node is evicted after misscount seconds.",
    ("MOS 1210883.1", "MOS 563566.1, cause 1"),
)
BOND_DOWN = Kind(
    "IC-IFACE-045",
    "A bond of a private network is down, though links of its members are up",
    "The bonding driver takes no member for usable: LACP agreed no aggregation with the switch, or the target of ARP "
    "monitoring does not answer. HAIP moves the addresses to another private network, if there is one.",
    ("MOS 563566.1, cause 11", "Linux kernel documentation, bonding"),
)
KINDS = (NOT_UP, BOND_DOWN)


_WITHOUT_HAIP = (
    "HAIP is not in use, so Clusterware moves no address to another private network. Without another path for the "
    "heartbeat, the node is evicted after misscount seconds."
)


def not_up(cluster: Cluster, network: PrivateNetwork, port: Port, interface: Interface) -> Finding:
    """Return the finding for an interface that carries no packets."""
    if interface.administratively_up and (linked := _linked_members(cluster, port, interface)):
        return _bond_down(network, port, interface, linked)
    no_cable = interface.administratively_up
    what = "has no link" if no_cable else "is switched off"
    return NOT_UP.finding(
        f"{port.interface} of {port.node} {what}: {port.node} is cut off from {network.name}.",
        status=link_status(interface.is_up),
        subject=f"{port.node} {port.interface} down",
        data={
            "interface": port.interface,
            "operational_state": interface.operational_state,
            "administratively_up": no_cable,
        },
        seen=(f"{port.node}: {port.interface} is {interface.operational_state}",),
        expected=("up",),
        why=_WITHOUT_HAIP if is_haip_unused(cluster) else "",
        next=[
            NextStep(
                "Check the link.",
                for_each("ip link show {nic}", "ethtool {nic}", nic=(port.interface,)),
                f"any user on {port.node}",
            ),
            NextStep(
                "Check cable, optics and switch port with the network team."
                if no_cable
                else "Find out who switched the interface off, and why, before you switch it on."
            ),
        ],
        evidence=[(port.node, "interfaces")],
        network=network.name,
        nodes=[port.node],
        observed=[_no_link(NOT_UP, network, port, interface)],
    )


def _no_link(kind: Kind, network: PrivateNetwork, port: Port, interface: Interface) -> Observation:
    return state(
        kind.code,
        port.node,
        network.name,
        port.interface,
        interface.operational_state,
        condition=ConditionKind.LINK,
    )


def _linked_members(cluster: Cluster, port: Port, interface: Interface) -> tuple[str, ...]:
    """Return the members of a bond whose links are up."""
    node = cluster.node(port.node)
    members = (node.interface(name) for name in interface.members) if node and interface.kind == "bond" else ()
    return tuple(member.name for member in members if member and member.is_up)


def _bond_down(network: PrivateNetwork, port: Port, interface: Interface, linked: tuple[str, ...]) -> Finding:
    """Return the finding for a bond that is down, with the members whose links are up."""
    links = f"the link{'s' if len(linked) > 1 else ''} of {listed(linked)} {'are' if len(linked) > 1 else 'is'} up"
    return BOND_DOWN.finding(
        f"{port.interface} of {port.node} is down though {links}: {port.node} is cut off from {network.name}.",
        status=link_status(interface.is_up),
        subject=f"{port.node} {port.interface} down",
        data={"interface": port.interface, "operational_state": interface.operational_state},
        seen=(f"{port.node}: {port.interface} is {interface.operational_state}", f"{port.node}: {links}"),
        expected=("up",),
        next=[
            NextStep(
                "Read why the bonding driver uses no member.",
                (shell("cat /proc/net/bonding/{nic}", nic=port.interface), "racwire check bonding"),
                f"any user on {port.node}",
            )
        ],
        evidence=[(port.node, "interfaces")],
        network=network.name,
        nodes=[port.node],
        observed=[_no_link(BOND_DOWN, network, port, interface)],
    )
