"""Values of private interfaces that changed during the run: what was read first says nothing about the end."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import msgspec

from checks.model.facts import (
    Address,
    Cluster,
    CounterChange,
    CounterChanges,
    Interface,
    IPNetwork,
    NicState,
    Node,
    PrivateNetwork,
    Route,
    Unknown,
)
from checks.model.finding import FAULTS, Finding, Status
from checks.model.networks import is_haip, layers_of, subnet_of
from checks.model.observation import Fate
from checks.model.wording import listed

_OUTDATED = "value_changed_during_run"
"""The datum of a finding about a value that had changed at the end of the run."""
_NOWHERE = "no interface"


class ReadAgain(Enum):
    """A value that is read at the beginning of a run, and again with the second counters."""

    MTU = "MTU"
    LINK = "link"
    MAC = "MAC address"
    ADDRESS = "address"
    ROUTE = "route"
    HAIP = "HAIP"


_STATED_BY = {
    ReadAgain.MTU: "IC-RUN-001",
    ReadAgain.LINK: "IC-RUN-002",
    ReadAgain.HAIP: "IC-RUN-003",
    ReadAgain.MAC: "IC-RUN-004",
    ReadAgain.ADDRESS: "IC-RUN-004",
    ReadAgain.ROUTE: "IC-RUN-004",
}
CHANGED_CODES = tuple(dict.fromkeys(_STATED_BY.values()))
"""The findings that a value changed: they are about no other question of their check."""
_ABOUT = {
    ReadAgain.MTU: ("IC-MTU-", "IC-EROUTE-", "IC-BOOT-"),
    ReadAgain.LINK: ("IC-IFACE-",),
    ReadAgain.MAC: ("IC-NEIGH-", "IC-OWNER-"),
    ReadAgain.ADDRESS: ("IC-IFACE-", "IC-ROUTE-", "IC-EROUTE-", "IC-BOOT-", "IC-USE-", "IC-NEIGH-", "IC-OWNER-"),
    ReadAgain.ROUTE: ("IC-ROUTE-", "IC-EROUTE-"),
    ReadAgain.HAIP: ("IC-HAIP-", "IC-EROUTE-", "IC-IFACE-", "IC-USE-", "IC-OWNER-"),
}
"""The findings that judge the value as it was read first."""


@dataclass(frozen=True)
class ChangedValue:
    """One value of one private interface, or of a layer below it."""

    node: str
    network: str
    nic: str
    what: ReadAgain
    before: str
    after: str
    """Of a HAIP, `before` is its address, and `after` the interface that has it now."""
    least: int = 0
    """The smaller of two MTUs, in bytes."""

    @property
    def is_moved(self) -> bool:
        """Whether a HAIP is on another interface now."""
        return self.what is ReadAgain.HAIP and self.after != _NOWHERE

    @property
    def text(self) -> str:
        """What changed, without the node."""
        if self.what is ReadAgain.HAIP:
            return f"HAIP {self.before} was on {self.nic} at first, and on {self.after} at the end of this run"
        return f"{self.nic} had {self.before} at first, and {self.after} at the end of this run"


def haip_moved_status(changed: ChangedValue) -> Status:
    """Return the status of a HAIP that left its interface: Clusterware moves it; on no interface it is missing."""
    return Status.INFO if changed.is_moved else Status.WARN


def changed_values(cluster: Cluster) -> Iterator[ChangedValue]:
    """Yield the values that differ between the first reading of a node and the second of its counters."""
    changes = cluster.counters
    told: set[tuple[str, str, str]] = set()
    for network in cluster.read_networks():
        for port in network.ports:
            node, top = cluster.node(port.node), cluster.interface(port)
            change = changes.of(port.node) if isinstance(changes, CounterChanges) else None
            if node is None or top is None or change is None or isinstance(change.machine.states, Unknown):
                continue
            own = [*_of_nics(network, node, top, change.machine.states)]
            own += _of_addresses(network, node, top, change)
            if not any(c.what in (ReadAgain.LINK, ReadAgain.ADDRESS) for c in own):  # routes come and go with them
                routes = [*_of_routes(network, node, top, change)]
                own += [c for c in routes if (c.node, c.before, c.after) not in told]
                told |= {(c.node, c.before, c.after) for c in routes}
            yield from own


def _of_nics(network: PrivateNetwork, node: Node, top: Interface, states: Sequence[NicState]) -> Iterator[ChangedValue]:
    now = {state.name: state for state in states}
    for nic in layers_of(node, top):
        state = now.get(nic.name)
        if state is None:
            continue
        at = (node.name, network.name, nic.name)
        if state.mtu is not None and state.mtu != nic.mtu:
            least = min(nic.mtu, state.mtu)
            yield ChangedValue(*at, ReadAgain.MTU, f"MTU {nic.mtu}", f"MTU {state.mtu}", least)
        if state.operational_state and nic.administratively_up and state.is_up != nic.is_up:
            yield ChangedValue(*at, ReadAgain.LINK, _link(up=nic.is_up), _link(up=state.is_up))
        if state.mac_address and nic.mac_address and state.mac_address.lower() != nic.mac_address.lower():
            yield ChangedValue(*at, ReadAgain.MAC, f"the MAC address {nic.mac_address}", f"{state.mac_address}")


def _of_addresses(network: PrivateNetwork, node: Node, top: Interface, change: CounterChange) -> Iterator[ChangedValue]:
    """Yield the addresses of a private network that its NIC had or has, and the HAIP addresses that left it."""
    if isinstance(change.addresses, Unknown):
        return
    now = {nic.name: nic.addresses for nic in change.addresses}
    at = (node.name, network.name, top.name)
    before, after = (_in_network(a, network) for a in (top.addresses, now.get(top.name, ())))
    if before != after:
        yield ChangedValue(*at, ReadAgain.ADDRESS, _addresses(before), _addresses(after))
    places = {a.ip: nic for nic, addresses in now.items() for a in addresses}
    for haip in _haips(top.addresses, network):
        if (place := places.get(haip, _NOWHERE)) != top.name:
            yield ChangedValue(*at, ReadAgain.HAIP, haip, place)


def _of_routes(network: PrivateNetwork, node: Node, top: Interface, change: CounterChange) -> Iterator[ChangedValue]:
    """Yield the destinations whose routes lead, or led, over the NIC of a private network or into the network."""
    if isinstance(change.routes, Unknown):
        return
    before, after = _by_destination(node.routes), _by_destination(change.routes)
    for destination in dict.fromkeys((*before, *after)):
        old, new = before.get(destination, ()), after.get(destination, ())
        concerns = any(route.interface == top.name for route in (*old, *new)) or _is_inside(destination, network)
        if concerns and set(old) != set(new):
            texts = [_routes(destination, routes) for routes in (old, new)]
            yield ChangedValue(node.name, network.name, top.name, ReadAgain.ROUTE, texts[0], texts[1])


def _by_destination(routes: Iterable[Route]) -> dict[str, list[Route]]:
    """Group IPv4 routes, without those to HAIP: they move with its addresses."""
    found: dict[str, list[Route]] = {}
    for route in routes:
        if ":" not in route.destination + route.gateway and not route.destination.startswith("169.254."):
            found.setdefault(route.destination, []).append(route)
    return found


def _is_inside(destination: str, network: PrivateNetwork) -> bool:
    subnet, inside = subnet_of(network.subnet), subnet_of(destination)
    return (
        isinstance(subnet, ipaddress.IPv4Network)
        and isinstance(inside, ipaddress.IPv4Network)
        and inside.subnet_of(subnet)
    )


def _routes(destination: str, routes: Iterable[Route]) -> str:
    words = [f"the route {' '.join(r.words)}{'' if r.mtu is None else f' mtu {r.mtu}'}" for r in routes]
    return listed(words) or f"no route to {destination}"


def _in_network(addresses: Iterable[Address], network: PrivateNetwork) -> list[str]:
    return sorted(
        f"{a.ip}/{a.prefix_length}" for a in addresses if not is_haip(a, network.subnet) and _is_of(a, network)
    )


def _is_of(address: Address, network: PrivateNetwork) -> bool:
    subnet, ip = subnet_of(network.subnet), ipaddress.ip_address(address.ip)
    return ip in subnet if isinstance(subnet, IPNetwork) else ip == subnet


def _haips(addresses: Iterable[Address], network: PrivateNetwork) -> list[str]:
    return [a.ip for a in addresses if is_haip(a, network.subnet)]


def _addresses(addresses: Sequence[str]) -> str:
    if not addresses:
        return "no address"
    return f"the {'address' if len(addresses) == 1 else 'addresses'} {listed(addresses)}"


def _link(*, up: bool) -> str:
    return "a link" if up else "no link"


def is_outdated(finding: Finding) -> bool:
    """Return whether a finding is about a value that had changed at the end of the run: then it proves nothing."""
    return finding.data.get(_OUTDATED) is True


def is_of_change(finding: Finding, changes: Iterable[Finding]) -> bool:
    """Return whether a finding is about a value that one of these findings states to have changed."""
    codes = {change.code for change in changes}
    own = [what for what, code in _STATED_BY.items() if code in codes]
    return is_outdated(finding) and any(finding.code.startswith(_ABOUT[what]) for what in own)


def without_outdated(cluster: Cluster, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings; those about values that changed meanwhile are no PASS, prove nothing, and lead to no change
    of the cluster."""
    changed = tuple(changed_values(cluster))
    return tuple(_marked(finding, changed) for finding in findings)


def _marked(finding: Finding, changed: Iterable[ChangedValue]) -> Finding:
    own = [c for c in changed if finding.code.startswith(_ABOUT[c.what]) and _is_at(finding, c)]
    if not own or finding.status not in (Status.PASS, *FAULTS):
        return finding
    lines = (f"{c.node}: {c.text}" for c in own)
    return msgspec.structs.replace(
        finding,
        status=Status.INFO if finding.status is Status.PASS else finding.status,
        data={**finding.data, _OUTDATED: True},
        seen=(*lines, *finding.seen),
        next=tuple(step for step in finding.next if not step.is_change),
    )


def _is_at(finding: Finding, changed: ChangedValue) -> bool:
    """Return whether a finding read the value of this interface, or of its node on this network."""
    return any(
        one.fate is Fate.STATE
        and one.network in ("", changed.network)
        and (changed.node in one.nodes or not one.nodes)
        and one.nic in ("", changed.nic)
        for one in finding.observed
    )
