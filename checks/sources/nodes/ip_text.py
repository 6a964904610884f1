"""Parse the output of `ip` (iproute2, any release since OL6) word by word. Text in, facts out; raises nothing.

Unknown words are skipped, because each release adds some. A line that cannot be parsed is left out.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from checks.model.facts import Address, Interface, Neighbour, NicAddresses, Route
from checks.sources.nodes.assembly import PEERED_KINDS, kind_of, mtu_limit, with_members
from checks.sources.nodes.proc import number

_INTERFACE = re.compile(r"[0-9]+: (?P<name>\S+?)(?:@(?P<link>\S+))?: <(?P<flags>[^>]*)>(?P<words>.*)")

_NOT_A_KIND = ("alias", "altname", "inet", "inet6", "prog/xdp", "valid_lft", "vf")
"""First words of the lines that can follow where an interface has no kind of its own."""

_ADDRESS_FLAGS = frozenset(
    (
        *("autojoin", "dadfailed", "deprecated", "dynamic", "home", "mngtmpaddr", "nodad", "noprefixroute"),
        *("optimistic", "permanent", "secondary", "stable-privacy", "temporary", "tentative"),
    )
)
_OTHER_ROUTES = frozenset(
    ("anycast", "blackhole", "broadcast", "local", "multicast", "nat", "prohibit", "throw", "unreachable", "xresolve")
)
_NEIGHBOUR_STATES = frozenset(("DELAY", "FAILED", "INCOMPLETE", "PERMANENT", "PROBE", "REACHABLE", "STALE"))


def parse_interfaces(text: str) -> tuple[Interface, ...]:
    """Parse `ip -d addr show`: every interface with its addresses."""
    found = (_interface(block) for block in _blocks(text))
    return with_members(interface for interface in found if interface is not None)


def parse_routes(text: str) -> tuple[Route, ...]:
    """Parse `ip -4 route show` and `ip -6 route show`: the unicast routes, one Route for each next hop."""
    return tuple(route for block in _blocks(text) for route in _routes(block))


def parse_addresses(lines: Iterable[str]) -> tuple[NicAddresses, ...]:
    """Parse `ip -o addr show`: the interfaces that have addresses."""
    found: dict[str, list[Address]] = {}
    for line in lines:
        words = line.partition("\\")[0].split()
        name = words[1].partition("@")[0] if len(words) > 2 else ""
        if name and (address := _address(words[2:], name)) is not None:
            found.setdefault(name, []).append(address)
    return tuple(NicAddresses(name, tuple(addresses)) for name, addresses in found.items())


def parse_neighbours(text: str) -> tuple[Neighbour, ...]:
    """Parse `ip -s neigh show`."""
    found = (_neighbour(line.split()) for line in text.splitlines())
    return tuple(neighbour for neighbour in found if neighbour is not None)


def _blocks(text: str) -> Iterator[list[str]]:
    """Yield each unindented line with the indented lines that follow it."""
    block: list[str] = []
    for line in text.splitlines():
        if not line.strip():
            continue
        if not line[0].isspace() and block:
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _interface(block: Sequence[str]) -> Interface | None:
    header = _INTERFACE.fullmatch(block[0].rstrip())
    words = header["words"].split() if header else []
    mtu = number(word_after("mtu", words))
    if header is None or mtu is None:
        return None
    name, link = header["name"], header["link"] or ""
    lines = [line.split() for line in block[1:]]
    hardware = next((line for line in lines if line[0].startswith("link/")), ["link/"])
    own_kind = _own_kind(lines)
    return Interface(
        name=name,
        mtu=mtu,
        kind=kind_of(own_kind, hardware[0].removeprefix("link/")),
        administratively_up="UP" in header["flags"].split(","),
        operational_state=word_after("state", words).lower() or "unknown",
        mac_address=hardware[1] if len(hardware) > 1 and ":" in hardware[1] else "",
        master=word_after("master", words),
        parent="" if own_kind in PEERED_KINDS or _lies_elsewhere(link, hardware) else link,
        addresses=tuple(address for line in lines if (address := _address(line, name)) is not None),
        min_mtu=mtu_limit("least", name, number(word_after("minmtu", hardware))),
        max_mtu=mtu_limit("largest", name, number(word_after("maxmtu", hardware))),
        vlan=next((number(word_after("id", line)) for line in lines if line[0] == "vlan"), None),
        noarp="NOARP" in header["flags"].split(","),
    )


def _own_kind(lines: Sequence[Sequence[str]]) -> str:
    """The first word of the line after `link/...`, where that line is about the kind."""
    for line, following in pairwise(lines):
        if line[0].startswith("link/"):
            word = following[0]
            return "" if word in _NOT_A_KIND or word.endswith(("_slave", ":")) else word
    return ""


def _lies_elsewhere(link: str, hardware: Sequence[str]) -> bool:
    """Whether the interface that this one is linked to is in another network namespace, or is none."""
    return link == "NONE" or "link-netnsid" in hardware or "link-netns" in hardware or bool(re.match(r"if\d+$", link))


def _address(words: Sequence[str], interface: str) -> Address | None:
    if len(words) < 2 or words[0] not in ("inet", "inet6"):
        return None
    # For the far end of a point-to-point link, ip prints `inet 10.0.0.1 peer 10.0.0.2/32`.
    with_prefix = word_after("peer", words) or words[1]
    prefix_length = number(with_prefix.partition("/")[2])
    ip = ip_of(words[1].partition("/")[0])
    if ip is None:
        return None
    if prefix_length is None:
        prefix_length = ip.max_prefixlen
    if not 0 <= prefix_length <= ip.max_prefixlen:
        return None
    label = words[-1] if words[0] == "inet" and "scope" in words[:-2] else ""
    return Address(str(ip), prefix_length, "" if label == interface or label in _ADDRESS_FLAGS else label)


def _routes(block: Sequence[str]) -> Iterator[Route]:
    words = block[0].split()
    if words[0] == "unicast":
        words = words[1:]
    destination = _destination(words[0]) if words and words[0] not in _OTHER_ROUTES else None
    if destination is None:
        return
    hops = [line.split() for line in block[1:] if line.split()[0] == "nexthop"]
    locked = word_after("mtu", words) == "lock"
    mtu = number(word_after("lock" if locked else "mtu", words))
    metric = number(word_after("metric", words)) or 0
    for hop in hops or [words]:
        gateway = word_after("via", hop)
        if gateway in ("inet", "inet6"):
            gateway = word_after(gateway, hop)
        interface = word_after("dev", hop)
        if interface:
            is_locked = locked and mtu is not None
            yield Route(destination, interface, gateway, mtu, is_locked, word_after("src", words), metric)


def _destination(word: str) -> str | None:
    if word == "default":
        return word
    try:
        return str(ipaddress.ip_network(word))
    except ValueError:
        return None


def _neighbour(words: Sequence[str]) -> Neighbour | None:
    ip = ip_of(words[0]) if words else None
    interface = word_after("dev", words)
    if ip is None or not interface or "proxy" in words:
        return None
    state = next((word.lower() for word in words if word in _NEIGHBOUR_STATES), "")
    # `used 35/31/35probes 1`: seconds since it was used, confirmed and updated.
    ages = re.match(r"\d{1,9}/(\d{1,9})/\d{1,9}", word_after("used", words), re.ASCII)
    return Neighbour(str(ip), interface, word_after("lladdr", words), state, int(ages[1]) if ages else None)


def ip_of(word: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a word is; None where it is none."""
    try:
        return ipaddress.ip_address(word)
    except ValueError:
        return None


def word_after(key: str, words: Sequence[str]) -> str:
    """The word that follows `key`, or nothing."""
    return next((value for word, value in pairwise(words) if word == key), "")
