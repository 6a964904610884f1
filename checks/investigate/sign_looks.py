"""What one reading shows of one sign at one place, for switches and nodes alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from checks.investigate.port_places import LeadingPort, NodePlace
from checks.model.pasted import Counter, DeviceSystem, FilterRule, Pasted, PortReading
from checks.model.signs import Sign, SignAt
from checks.model.traffic import MOST, Address, Protocol, Traffic
from checks.rules.optical_power import DARK_DBM

_PROTOCOLS: Mapping[str, Protocol] = {"udp": "udp", "icmp": "icmp", "tcp": "tcp", "arp": "arp"}


class PastePlaces(msgspec.Struct, frozen=True, kw_only=True):
    """Where a paste was made, and what its ports are."""

    nodes: tuple[NodePlace, ...]
    """All nodes on all private networks."""
    ports: dict[tuple[str, str], tuple[LeadingPort, ...]] = msgspec.field(default_factory=dict)
    """By network and node: the ports that lead there (`port_of_node`)."""
    trunks: tuple[tuple[str, str], ...] = ()
    """By device and name: ports between switches, as a person named them."""
    network: str = ""
    """The private network whose switch printed the paste; empty: several, or not known."""
    node: str = ""
    """The node on which the command ran, where the paste has no prompt."""


class SignLook(NamedTuple):
    """One sign that was examined; `is_there` is None where what was read does not decide."""

    sign: SignAt
    is_there: bool | None


def as_sign(at: SignAt, sign: Sign, packets: Traffic | None = None) -> SignAt:
    """Return another sign at the same place."""
    return SignAt(sign=sign, network=at.network, node=at.node, packets=packets or Traffic())


def has_moved(counts: Mapping[Counter, int], *counters: Counter) -> bool | None:
    """Return whether one of the counters grew; None where none of them was read twice."""
    read = [counts[counter] for counter in counters if counter in counts]
    return any(read) if read else None


def is_light_out(port: PortReading) -> bool | None:
    """Return whether the light of a transceiver is outside its alarm thresholds; None without either.

    Lanes of a divided port that are not in use are dark, and some modules have thresholds of no light at all.
    """
    limits = port.limits
    lit = [lane for lane in port.optics if any(p is not None and p > DARK_DBM for p in (lane.rx_dbm, lane.tx_dbm))]
    out = [
        power < least or power > most
        for lane in lit or port.optics
        for power, least, most in (
            (lane.rx_dbm, limits.rx_least_dbm, limits.rx_most_dbm),
            (lane.tx_dbm, limits.tx_least_dbm, limits.tx_most_dbm),
        )
        if power is not None and least is not None and most is not None and least < most
    ]
    return any(out) if out else None


def reading_of(pasted: Pasted, key: tuple[str, str]) -> PortReading | None:
    """Return the port with this device and name."""
    return next((port for port in pasted.ports if port.key == key), None)


_ETHERNET_HEADER = 14
"""Junos counts it in the MTU of a port."""


def carried_by(port: PortReading, platform: DeviceSystem) -> int | None:
    """Return the largest IP packet that a port carries by its MTU; None where that is not known."""
    if port.mtu is None or port.is_mtu_by_class:
        return None
    return port.mtu - _ETHERNET_HEADER if platform is DeviceSystem.JUNOS else port.mtu


def packets_of(
    rule: FilterRule,
    *,
    receivers: tuple[str, ...] = (),
    senders: tuple[str, ...] = (),
    private: frozenset[str] = frozenset(),
) -> Traffic:
    """Return the packets that a rule drops, as far as its fields show them; `private`: the private addresses that are
    no HAIP."""
    protocols = tuple(sorted({known for name in rule.protocols if (known := _PROTOCOLS.get(name.removesuffix("v6")))}))
    named = {text.partition("/")[0] for text in (*rule.sources, *rule.destinations)}
    addresses: tuple[Address, ...] | None = None
    if named and all(text.startswith("169.254.") for text in named):
        addresses = ("haip",)
    elif named and named <= private:
        addresses = ("private",)
    return Traffic(
        receivers=receivers or None,
        senders=senders or None,
        addresses=addresses,
        protocols=protocols or None,
        forms=("fragment",) if rule.is_of_fragments else None,
        sizes=rule.lengths or (0, MOST),
    )
