"""Read this node's interfaces, routes and neighbours from the kernel over netlink.

`dump` queries the kernel, and blocks, so call it in a thread; the other functions convert messages to facts, no I/O.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from checks.model.facts import Address, Interface, Neighbour, Route
from checks.sources.nodes.assembly import PEERED_KINDS, kind_of, mtu_limit, with_members

if TYPE_CHECKING:
    from pyroute2 import IPRoute

_DUMP_ATTEMPTS = 3

# linux/if.h, linux/netlink.h, linux/rtnetlink.h and linux/neighbour.h
_IFF_UP, _IFF_NOARP = 0x1, 0x80
_NLM_F_DUMP_INTR = 0x10
_RT_TABLE_MAIN = 254
_RTN_UNICAST = 1
_RTM_F_CLONED = 0x200
_RTAX_LOCK_MTU = 1 << 2
_NTF_PROXY = 0x08
_TC_H_ROOT = 0xFFFFFFFF
_USER_HZ = 100
"""The kernel reports times in hundredths of a second (include/asm-generic/param.h), on all platforms of Oracle."""
_HARDWARE = {1: "ether", 32: "infiniband", 772: "loopback"}
_NEIGHBOUR_STATES = {
    0x01: "incomplete",
    0x02: "reachable",
    0x04: "stale",
    0x08: "delay",
    0x10: "probe",
    0x20: "failed",
    0x80: "permanent",
}
"""Without NONE and NOARP: entries that need no resolution, such as multicast groups. `ip neigh` hides them too."""


@dataclass(frozen=True, slots=True)
class Dump:
    """Netlink messages as pyroute2 decodes them: fields by name, and `attrs`, a list of name and value."""

    links: Sequence[Mapping[str, Any]] = ()
    addresses: Sequence[Mapping[str, Any]] = ()
    routes: Sequence[Mapping[str, Any]] = ()
    neighbours: Sequence[Mapping[str, Any]] = ()

    @property
    def was_interrupted(self) -> bool:
        """Whether the kernel marked a message: the tables changed meanwhile, entries can be missing or repeated."""
        messages = (*self.links, *self.addresses, *self.routes, *self.neighbours)
        return any(message["header"]["flags"] & _NLM_F_DUMP_INTR for message in messages)


@contextmanager
def _kernel() -> Iterator[IPRoute]:
    """A netlink socket; an error of netlink becomes an OSError."""
    from pyroute2 import IPRoute  # the import takes 0.2 s: only runs that read a node need it
    from pyroute2.netlink.exceptions import NetlinkError

    try:
        with IPRoute() as kernel:
            yield kernel
    except NetlinkError as error:
        raise OSError(error.code, f"netlink: {error}") from error


def dump() -> Dump:
    """Query the kernel for all four tables; needs no privilege. Raises OSError where the kernel does not answer.

    A dump during which the tables changed is repeated up to three times; then the last one is returned.
    """
    for _ in range(_DUMP_ATTEMPTS):
        with _kernel() as kernel:
            read = Dump(
                links=tuple(kernel.get_links()),
                addresses=tuple(kernel.get_addr()),
                routes=(*kernel.get_routes(family=socket.AF_INET), *kernel.get_routes(family=socket.AF_INET6)),
                neighbours=tuple(kernel.get_neighbours()),
            )
        if not read.was_interrupted:
            break
    return read


def queue_drops() -> dict[str, int]:
    """Packets that the root queue discipline of each interface dropped when sending, since it was set up.

    Raises OSError where the kernel does not answer.
    """
    with _kernel() as kernel:
        queues = [q for q in kernel.get_qdiscs() if q["parent"] == _TC_H_ROOT]
    names = {q["index"]: socket.if_indextoname(q["index"]) for q in queues}
    found = {names[q["index"]]: _attributes(q).get("TCA_STATS") for q in queues}
    return {name: statistics["drop"] for name, statistics in found.items() if statistics}


def addresses_and_routes() -> tuple[tuple[Interface, ...], tuple[Route, ...]]:
    """Query the kernel for every interface with its addresses, and for the IPv4 routes of the main table.

    Raises OSError where the kernel does not answer.
    """
    with _kernel() as kernel:
        read = Dump(
            links=tuple(kernel.get_links()),
            addresses=tuple(kernel.get_addr()),
            routes=tuple(kernel.get_routes(family=socket.AF_INET)),
        )
    return interfaces_of(read), routes_of(read)


def interfaces_of(dump: Dump) -> tuple[Interface, ...]:
    """Every interface with its addresses; netlink does not report speed and duplex."""
    names = _names(dump)
    addresses: dict[int, list[Address]] = {}
    for message in sorted(dump.addresses, key=lambda m: m["family"] != socket.AF_INET):
        interface = names.get(message["index"], "")
        addresses.setdefault(message["index"], []).append(_address(message, interface))
    return with_members(_interface(message, names, addresses.get(message["index"], ())) for message in dump.links)


def routes_of(dump: Dump) -> tuple[Route, ...]:
    """The unicast routes of the main table, one Route for each next hop."""
    names = _names(dump)
    return tuple(route for message in dump.routes for route in _routes(message, names))


def neighbours_of(dump: Dump) -> tuple[Neighbour, ...]:
    """The entries of the ARP and neighbour discovery caches."""
    names = _names(dump)
    return tuple(
        Neighbour(
            ip=attributes["NDA_DST"],
            interface=names.get(message["ifindex"], ""),
            mac_address=attributes.get("NDA_LLADDR", ""),
            state=_NEIGHBOUR_STATES[message["state"]],
            confirmed_s=_confirmed_s(attributes),
        )
        for message in dump.neighbours
        if message["state"] in _NEIGHBOUR_STATES and not message["flags"] & _NTF_PROXY
        if message["family"] in (socket.AF_INET, socket.AF_INET6)
        if "NDA_DST" in (attributes := _attributes(message))
    )


def _confirmed_s(attributes: Mapping[str, Any]) -> int | None:
    ticks = attributes.get("NDA_CACHEINFO", {}).get("ndm_confirmed")
    return None if ticks is None else int(ticks) // _USER_HZ


def _names(dump: Dump) -> dict[int, str]:
    return {message["index"]: _attributes(message)["IFLA_IFNAME"] for message in dump.links}


def _attributes(message: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes by name; the first of a repeated attribute, as with pyroute2's own getter."""
    attributes: dict[str, Any] = {}
    for name, value, *_ in message.get("attrs", ()):
        attributes.setdefault(name, value)
    return attributes


def _interface(message: Mapping[str, Any], names: Mapping[int, str], addresses: Iterable[Address]) -> Interface:
    attributes = _attributes(message)
    name = attributes["IFLA_IFNAME"]
    link_info = _attributes(attributes.get("IFLA_LINKINFO", {}))
    own_kind = link_info.get("IFLA_INFO_KIND", "")
    hardware = _HARDWARE.get(message["ifi_type"], "")
    has_parent = own_kind not in PEERED_KINDS and "IFLA_LINK_NETNSID" not in attributes
    return Interface(
        name=name,
        mtu=attributes["IFLA_MTU"],
        kind=kind_of(own_kind, hardware),
        administratively_up=bool(message["flags"] & _IFF_UP),
        operational_state=str(attributes.get("IFLA_OPERSTATE", "unknown")).lower(),
        mac_address=attributes.get("IFLA_ADDRESS", "") if hardware else "",
        master=names.get(attributes.get("IFLA_MASTER", 0), ""),
        parent=names.get(attributes.get("IFLA_LINK", 0), "") if has_parent else "",
        addresses=tuple(addresses),
        min_mtu=mtu_limit("least", name, attributes.get("IFLA_MIN_MTU")),
        max_mtu=mtu_limit("largest", name, attributes.get("IFLA_MAX_MTU")),
        vlan=_attributes(link_info.get("IFLA_INFO_DATA", {})).get("IFLA_VLAN_ID") if own_kind == "vlan" else None,
        noarp=bool(message["flags"] & _IFF_NOARP),
    )


def _address(message: Mapping[str, Any], interface: str) -> Address:
    attributes = _attributes(message)
    label = attributes.get("IFA_LABEL", "")
    # On a point-to-point link IFA_ADDRESS is the far end.
    ip = attributes.get("IFA_LOCAL", attributes.get("IFA_ADDRESS", ""))
    return Address(ip, message["prefixlen"], "" if label == interface else label)


def _routes(message: Mapping[str, Any], names: Mapping[int, str]) -> Iterator[Route]:
    attributes = _attributes(message)
    if (
        attributes.get("RTA_TABLE", message["table"]) != _RT_TABLE_MAIN
        or message["type"] != _RTN_UNICAST
        or message["flags"] & _RTM_F_CLONED
    ):
        return
    metrics = _attributes(attributes.get("RTA_METRICS", {}))
    mtu = metrics.get("RTAX_MTU")
    destination = f"{attributes['RTA_DST']}/{message['dst_len']}" if "RTA_DST" in attributes else "default"
    for hop in attributes.get("RTA_MULTIPATH") or (message,):
        hop_attributes = _attributes(hop)
        index = hop["oif"] if "oif" in hop else hop_attributes.get("RTA_OIF", 0)
        if index in names:
            yield Route(
                destination=destination,
                interface=names[index],
                gateway=hop_attributes.get("RTA_GATEWAY") or hop_attributes.get("RTA_VIA", {}).get("addr", ""),
                mtu=mtu,
                mtu_locked=mtu is not None and bool(metrics.get("RTAX_LOCK", 0) & _RTAX_LOCK_MTU),
                source=attributes.get("RTA_PREFSRC", ""),
                metric=attributes.get("RTA_PRIORITY", 0),
            )
