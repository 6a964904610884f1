"""Shared functions of all readers of a node: limits of the MTU, kinds, members, and text for the journal."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from checks.model.facts import Interface, Neighbour, Route, Unknown

PEERED_KINDS = ("netkit", "veth", "vxcan")
"""Kinds of interfaces whose link is their other end, not a lower interface."""

_HARDWARE_KINDS = {"ether": "ethernet", "loopback": "loopback", "infiniband": "infiniband"}


def kind_of(own_kind: str, hardware: str) -> str:
    """The kernel's name for the kind of a virtual interface, else the kind of its hardware type (`ether`, ...)."""
    if own_kind and not (own_kind == "ipoib" and hardware == "infiniband"):
        return own_kind
    return _HARDWARE_KINDS.get(hardware, "other")


def mtu_limit(which: str, name: str, value: int | None) -> int | Unknown:
    """The least or largest MTU that a driver accepts; `value` is None where it was not reported, 0 where unset."""
    if value is None:
        return Unknown(f"The {which} MTU of {name} is not reported: the kernel or the ip command is too old for it.")
    return value if value > 0 else Unknown(f"The driver of {name} reports no {which} MTU.")


def with_members(interfaces: Iterable[Interface]) -> tuple[Interface, ...]:
    """The interfaces, each with the names of its members: the interfaces whose master it is."""
    known = tuple(interfaces)
    members: dict[str, list[str]] = {}
    for interface in known:
        if interface.master:
            members.setdefault(interface.master, []).append(interface.name)
    return tuple(
        msgspec.structs.replace(i, members=tuple(sorted(members[i.name]))) if i.name in members else i for i in known
    )


def interface_text(interfaces: Iterable[Interface]) -> str:
    """The interfaces as text similar to the output of `ip -d addr show`."""
    return "\n".join(line for interface in interfaces for line in _interface_lines(interface))


def address_lines(interfaces: Iterable[Interface]) -> list[str]:
    """The addresses in the format of `ip -o addr show`, a line each."""
    return [
        f"0: {interface.name} {'inet6' if ':' in a.ip else 'inet'} {a.ip}/{a.prefix_length} scope global "
        f"{a.label or interface.name}"
        for interface in interfaces
        for a in interface.addresses
    ]


def route_text(routes: Iterable[Route]) -> str:
    """The routes in the format of `ip route show`."""
    lines = []
    for route in routes:
        words = [route.destination]
        words += ["via", route.gateway] if route.gateway else []
        words += ["dev", route.interface]
        words += ["src", route.source] if route.source else []
        words += ["metric", str(route.metric)] if route.metric else []
        words += ["mtu", *(["lock"] if route.mtu_locked else []), str(route.mtu)] if route.mtu is not None else []
        lines.append(" ".join(words))
    return "\n".join(lines)


def neighbour_text(neighbours: Iterable[Neighbour]) -> str:
    """The neighbours in the format of `ip -s neigh show`."""
    lines = []
    for neighbour in neighbours:
        hardware = ["lladdr", neighbour.mac_address] if neighbour.mac_address else []
        age = [] if neighbour.confirmed_s is None else ["confirmed", f"{neighbour.confirmed_s}s", "ago"]
        lines.append(" ".join([neighbour.ip, "dev", neighbour.interface, *hardware, *age, neighbour.state.upper()]))
    return "\n".join(lines)


def _interface_lines(interface: Interface) -> Iterable[str]:
    below = f"@{interface.parent}" if interface.parent else ""
    master = f" master {interface.master}" if interface.master else ""
    flag = ("UP" if interface.administratively_up else "DOWN") + (",NOARP" if interface.noarp else "")
    state = interface.operational_state.upper()
    yield f"{interface.name}{below}: <{flag}> mtu {interface.mtu}{master} state {state}"
    limits = [
        f" {word} {limit}"
        for word, limit in (("minmtu", interface.min_mtu), ("maxmtu", interface.max_mtu))
        if not isinstance(limit, Unknown)
    ]
    vlan = "" if interface.vlan is None else f" id {interface.vlan}"
    yield f"    {interface.kind}{vlan} {interface.mac_address}{''.join(limits)}".rstrip()
    if not isinstance(interface.speed_mbps, Unknown):
        duplex = "" if isinstance(interface.duplex, Unknown) else f" duplex {interface.duplex}"
        yield f"    speed {interface.speed_mbps} Mbit/s{duplex}"
    for address in interface.addresses:
        family = "inet6" if ":" in address.ip else "inet"
        yield f"    {family} {address.ip}/{address.prefix_length} {address.label}".rstrip()
