"""What every reader of a node does alike, however it came by the parts: limits of the MTU, kinds, members, wording."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from checks.model.facts import Interface, Neighbour, Route, Unknown

PEERED_KINDS = ("netkit", "veth", "vxcan")
"""Interfaces whose link is their other end, not what lies below them."""

_HARDWARE_KINDS = {"ether": "ethernet", "loopback": "loopback", "infiniband": "infiniband"}


def kind_of(own_kind: str, hardware: str) -> str:
    """The kernel's own word for a virtual interface, else what its hardware type (`ether`, ...) means."""
    if own_kind and not (own_kind == "ipoib" and hardware == "infiniband"):
        return own_kind
    return _HARDWARE_KINDS.get(hardware, "other")


def mtu_limit(which: str, name: str, value: int | None) -> int | Unknown:
    """The least or largest MTU that a driver takes; `value` is None where nothing was said, 0 where it tells none."""
    if value is None:
        return Unknown(f"The {which} MTU of {name} is not told here: the kernel or the ip command is too old for it.")
    return value if value > 0 else Unknown(f"The driver of {name} tells no {which} MTU.")


def with_members(interfaces: Iterable[Interface]) -> tuple[Interface, ...]:
    """The interfaces, each with those whose master it is."""
    known = tuple(interfaces)
    members: dict[str, list[str]] = {}
    for interface in known:
        if interface.master:
            members.setdefault(interface.master, []).append(interface.name)
    return tuple(
        msgspec.structs.replace(i, members=tuple(sorted(members[i.name]))) if i.name in members else i for i in known
    )


def interface_text(interfaces: Iterable[Interface]) -> str:
    """The interfaces in words near to those of `ip -d addr show`."""
    return "\n".join(line for interface in interfaces for line in _interface_lines(interface))


def route_text(routes: Iterable[Route]) -> str:
    """The routes in the words of `ip route show`."""
    lines = []
    for route in routes:
        words = [route.destination]
        words += ["via", route.gateway] if route.gateway else []
        words += ["dev", route.interface]
        words += ["src", route.source] if route.source else []
        words += ["mtu", *(["lock"] if route.mtu_locked else []), str(route.mtu)] if route.mtu is not None else []
        lines.append(" ".join(words))
    return "\n".join(lines)


def neighbour_text(neighbours: Iterable[Neighbour]) -> str:
    """The neighbours in the words of `ip neigh show`."""
    lines = []
    for neighbour in neighbours:
        hardware = ["lladdr", neighbour.mac_address] if neighbour.mac_address else []
        lines.append(" ".join([neighbour.ip, "dev", neighbour.interface, *hardware, neighbour.state.upper()]))
    return "\n".join(lines)


def _interface_lines(interface: Interface) -> Iterable[str]:
    below = f"@{interface.parent}" if interface.parent else ""
    master = f" master {interface.master}" if interface.master else ""
    flag = "UP" if interface.administratively_up else "DOWN"
    state = interface.operational_state.upper()
    yield f"{interface.name}{below}: <{flag}> mtu {interface.mtu}{master} state {state}"
    limits = [
        f" {word} {limit}"
        for word, limit in (("minmtu", interface.min_mtu), ("maxmtu", interface.max_mtu))
        if not isinstance(limit, Unknown)
    ]
    yield f"    {interface.kind} {interface.mac_address}{''.join(limits)}".rstrip()
    if not isinstance(interface.speed_mbps, Unknown):
        duplex = "" if isinstance(interface.duplex, Unknown) else f" duplex {interface.duplex}"
        yield f"    speed {interface.speed_mbps} Mbit/s{duplex}"
    for address in interface.addresses:
        family = "inet6" if ":" in address.ip else "inet"
        yield f"    {family} {address.ip}/{address.prefix_length} {address.label}".rstrip()
