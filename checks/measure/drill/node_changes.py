"""What changed on a node between two readings, as events of the timeline. Text and facts in, events out; no I/O."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from checks.model.drill_result import DrillEvent, InterfaceTimers
from checks.model.facts import Cluster
from checks.model.networks import private_layers
from checks.rules.drill_causes import TimelineKind
from checks.sources.nodes.ip_text import parse_neighbours
from checks.sources.nodes.proc import parse_values
from checks.sources.nodes.sections import sections

Event = Callable[..., DrillEvent]
"""Makes an event of the two readings."""
_UNANSWERED = ("incomplete", "failed", "")


@dataclass(frozen=True, slots=True)
class NodeState:
    """One reading of a node."""

    carrier: dict[str, bool] = field(default_factory=dict)
    """Whether each interface has its link; a NIC that is set down is not in it."""
    changes: dict[str, int] = field(default_factory=dict)
    """How often the carrier of each interface changed."""
    active: dict[str, str] = field(default_factory=dict)
    """The active slave of each bond."""
    addresses: dict[str, str] = field(default_factory=dict)
    """The interface of each IPv4 address."""
    neighbours: dict[tuple[str, str], str] = field(default_factory=dict)
    """The MAC address by interface and address; empty where the kernel asks and has no answer."""


def parse_state(text: str) -> NodeState | None:
    """Parse the answer of the program DRILL_STATE; None where it is cut. Never raises."""
    parts = sections(text)
    if "links" not in parts or "neighbours" not in parts:
        return None
    state = NodeState()
    for path, value in parse_values(parts["links"].text).items():
        interface, _, name = path.partition("/")
        if name == "carrier":
            state.carrier[interface] = value == "1"
        elif name == "carrier_changes" and value.isascii() and value.isdigit():
            state.changes[interface] = int(value[:18])
        elif name == "bonding/active_slave":
            state.active[interface] = value
    for line in parts["addresses"].text.splitlines() if "addresses" in parts else ():
        words = line.split()
        if len(words) > 3 and words[2] == "inet":
            state.addresses[words[3].partition("/")[0]] = words[1]
    for one in parse_neighbours(parts["neighbours"].text):
        state.neighbours[one.interface, one.ip] = "" if one.state in _UNANSWERED else one.mac_address
    return state


def parse_timers(node: str, text: str, carried: dict[str, tuple[str, ...]]) -> tuple[tuple[InterfaceTimers, ...], str]:
    """Parse the answer of DRILL_TIMERS: the timers of the private interfaces, and the node's clock as it printed it.

    `carried`: the private interfaces with the layers below each.
    """
    parts = sections(text)
    arp = parse_values(parts["arp"].text) if "arp" in parts else {}
    bonds = parse_values(parts["bonds"].text) if "bonds" in parts else {}
    found = tuple(
        InterfaceTimers(
            node,
            interface,
            retrans_time_ms=_number(arp.get(f"{interface}/retrans_time_ms")),
            members=below,
            is_bond=f"{interface}/bonding/miimon" in bonds,
            miimon_ms=_number(bonds.get(f"{interface}/bonding/miimon")),
            updelay_ms=_number(bonds.get(f"{interface}/bonding/updelay")),
            downdelay_ms=_number(bonds.get(f"{interface}/bonding/downdelay")),
        )
        for interface, below in carried.items()
    )
    return found, parts["clock"].text.strip() if "clock" in parts else ""


def carried_links(cluster: Cluster) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return by node its private interfaces, with the layers below each that carry its link."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for node in cluster.read_nodes():
        for network in cluster.read_networks():
            for port in network.ports:
                if port.node == node.name:
                    layers = private_layers([network], [node])[node.name]
                    found.setdefault(node.name, {})[port.interface] = tuple(x for x in layers if x != port.interface)
    return found


@dataclass(frozen=True, slots=True)
class Watched:
    """What belongs on the timeline of a node."""

    node: str
    links: Collection[str]
    """Its private interfaces, and the layers below them."""
    addresses: Collection[str]
    """The private addresses and HAIPs of all nodes."""


def changes(
    watched: Watched, before: NodeState, after: NodeState, earliest_at: float, at: float
) -> Iterator[DrillEvent]:
    """Yield what happened between two readings."""

    def event(kind: TimelineKind, what: str, interface: str = "", address: str = "", detail: str = "") -> DrillEvent:
        return DrillEvent(at, watched.node, what, kind, interface, address, detail, earliest_at)

    for link in watched.links:
        had, has = before.carrier.get(link, False), after.carrier.get(link, False)
        turns = after.changes.get(link, 0) - before.changes.get(link, 0)
        if had and not has:
            yield event(TimelineKind.LINK_LOST, f"{link} lost its link", link)
        elif has and not had:
            yield event(TimelineKind.LINK_BACK, f"{link} has its link again", link)
        elif has and turns >= 2:
            yield event(TimelineKind.LINK_BLINKED, f"{link} lost its link, and has it again", link)
    for bond in before.active | after.active:
        was, slave = before.active.get(bond, ""), after.active.get(bond, "")
        if bond in watched.links and slave != was:
            told = f"the active slave of {bond} is now {slave or 'none'}, not {was or 'none'}"
            yield event(TimelineKind.ACTIVE_SLAVE, told, bond, detail=slave)
    for address in watched.addresses:
        yield from _address(before.addresses.get(address), after.addresses.get(address), address, event)
    for key in before.neighbours | after.neighbours:
        if key[1] in watched.addresses and key[0] in watched.links:
            yield from _neighbour(before.neighbours.get(key), after.neighbours.get(key), *key, event)


def _address(was: str | None, now: str | None, address: str, event: Event) -> Iterator[DrillEvent]:
    if was is not None and now is None:
        yield event(TimelineKind.ADDRESS_GONE, f"{address} is gone from {was}", was, address)
    elif was is None and now is not None:
        yield event(TimelineKind.ADDRESS_BACK, f"{address} is on {now}", now, address)
    elif was is not None and now is not None and was != now:
        yield event(TimelineKind.ADDRESS_MOVED, f"{address} moved from {was} to {now}", now, address)


def _neighbour(was: str | None, now: str | None, interface: str, address: str, event: Event) -> Iterator[DrillEvent]:
    where = f"{address} on {interface}"
    if was and now is None:
        yield event(TimelineKind.NEIGHBOUR_DROPPED, f"forgot the MAC address of {where}", interface, address)
    elif now == "" and was != "":
        yield event(TimelineKind.NEIGHBOUR_ASKED, f"asks by ARP for {where}, without an answer", interface, address)
    elif now and now != was:
        told = f"learned a new MAC address of {where}" if was else f"learned the MAC address of {where}"
        yield event(TimelineKind.NEIGHBOUR_LEARNED, told, interface, address, now)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 10 else None
