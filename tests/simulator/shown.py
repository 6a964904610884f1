"""What each fault shows at its place, for whoever looks there: the truth that an investigation is compared with.

Names are those of `checks.model.signs`; a sign that names packets has those of the fault. Each fault has the forms of
the causes that are right for it, which the same hands fix.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tests.simulator.faults import Fault, Scope


class Shown(NamedTuple):
    """A sign at a place."""

    sign: str
    network: int
    node: str
    """Empty for the switch of the network."""
    protocol: str = ""
    address: str = ""


class Truth(NamedTuple):
    """What a fault is, and what it shows."""

    forms: frozenset[tuple[str, str]]
    """Cause and form."""
    signs: tuple[str, ...]
    protocol: str = ""
    address: str = ""


def _of(cause: int, forms: str | tuple[str, ...], signs: str = "", protocol: str = "", address: str = "") -> Truth:
    every = (forms,) if isinstance(forms, str) else forms
    return Truth(frozenset((f"CAUSE-{cause:02}", form) for form in every), tuple(signs.split()), protocol, address)


TRUTHS = {
    "cable-bad": _of(1, "cable", "PORT_CRC NIC_CRC WITH_CABLE"),
    "port-bad": _of(1, "port", "PORT_CRC NIC_CRC WITH_PORT"),
    "nic-bad": _of(1, "NIC", "PORT_CRC NIC_CRC"),
    "strand-in-bad": _of(1, "cable", "NIC_CRC WITH_CABLE"),
    "strand-in-weak": _of(1, "cable", "NIC_CRC WITH_CABLE"),
    "strand-out-bad": _of(1, "cable", "PORT_CRC WITH_CABLE"),
    "queue-full": _of(20, "port", "PORT_DISCARDS WITH_PORT"),
    "port-policed": _of(21, "port", "PORT_POLICED WITH_PORT"),
    "udp-filtered-at-port": _of(8, "switch port", "PORT_ACL WITH_PORT", protocol="udp"),
    "icmp-filtered-at-port": _of(75, "filter of a switch port", "PORT_ACL WITH_PORT", protocol="icmp"),
    "private-filtered-at-port": _of(8, "switch port, by address", "PORT_ACL WITH_PORT", address="private"),
    "haip-filtered-at-port": _of(69, "switch port", "PORT_ACL WITH_PORT", address="haip"),
    "second-host": _of(39, "behind another port", "SECOND_MAC"),
    "port-dead": _of(85, "down", "PORT_DOWN WITH_PORT"),
    "port-blocked": _of(85, "blocked", "PORT_BLOCKED WITH_PORT"),
    "port-of-another-vlan": _of(85, "VLAN", "PORT_VLAN WITH_PORT"),
    "port-mtu": _of(12, "port", "PORT_MTU WITH_PORT"),
    "one-way-mtu": _of(12, "on the way"),
    "switch-mtu": _of(12, "switch", "SWITCH_MTU"),
    "split-switch": _of(84, "", "TRUNK_DOWN"),
    "split-switch-mtu": _of(12, "trunk", "TRUNK_MTU"),
    "switch-loss": _of(20, "switch", "FABRIC"),
    "lag-member-mtu": _of(70, "", "MEMBER_MTU"),
    "lag-member-loss": _of(71, "dead", "MEMBER_DOWN"),
    "lag-member-share": _of(71, "lossy", "MEMBER_CRC"),
    "icmp-filtered": _of(75, "node", "NODE_RULE", protocol="icmp"),
    "icmp-size-filtered": _of(75, "filter of the network", "PORT_ACL", protocol="icmp"),
    "icmp-policed": _of(75, "policer of the network", "PORT_POLICED", protocol="icmp"),
    "udp-limited-at-node": _of(73, "node's filter", "NODE_RULE", protocol="udp"),
    "udp-policed": _of(73, "network", "PORT_POLICED", protocol="udp"),
    "haip-filtered": _of(69, "network", "PORT_ACL", address="haip"),
    "fragments-filtered": _of(72, "network", "PORT_ACL"),
    "fragments-filtered-to": _of(72, "switch port", "PORT_ACL"),
}
"""By kind of fault. Those with a state that a first report reads are not here: they need no investigation."""


def shown(fault: Fault) -> Iterator[Shown]:
    """Yield what a fault shows."""
    truth = TRUTHS.get(fault.kind)
    if truth is None:
        return
    node = fault.node if fault.of.scope in (Scope.NIC, Scope.NODE) else ""
    for network in (fault.network,) if fault.network else (1, 2):
        for sign in truth.signs:
            yield Shown(sign, network, node, truth.protocol, truth.address)
