"""Ask the kernel of a node which route it uses between private addresses: `ip route get`, and parse the answers."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from msgspec.structs import replace

from checks.model.facts import Cluster, NodeRoutes, Port, PrivateNetwork, RouteInUse, Unknown
from checks.model.journal import Journal
from checks.sources.kernel_files import ROUTE_MARK, ROUTES_IN_USE, UNBOUND_MARK
from checks.sources.nodes.proc import number
from checks.sources.nodes.shell import Shell

MOST_PEERS = 64
"""Most destinations that one answer has: each takes two short-lived processes."""
_REFUSED = "RTNETLINK answers: "
_NO_WAY = ("unreachable", "prohibit", "blackhole", "throw")


@dataclass(frozen=True)
class Query:
    """One source address of a node, and the addresses of its peers on the same network."""

    network: str
    source: str
    peers: tuple[tuple[str, str], ...]
    """Node and address."""


def queries(cluster: Cluster, node: str) -> list[Query]:
    """Return the queries for a node: for each own private address, HAIP included, the peers' in its subnet."""
    networks = () if isinstance(cluster.networks, Unknown) else cluster.networks
    return [query for network in networks for query in _queries(cluster, network, node)]


def _queries(cluster: Cluster, network: PrivateNetwork, node: str) -> Iterator[Query]:
    port, read = network.port(node), cluster.node(node)
    interface = cluster.interface(port) if port else None
    if port is None or read is None or interface is None:
        return
    own = {a.ip for i in read.interfaces for a in i.addresses}
    for address in interface.addresses:
        if address.ip != port.ip and not address.is_link_local:
            continue
        peers = tuple(
            (peer.node, ip)
            for peer in network.ports
            if peer.node != node
            for ip in _ips(cluster, peer)
            if ip not in own and ipaddress.ip_address(ip) in address.network
        )
        if peers:
            yield Query(network.name, address.ip, peers[:MOST_PEERS])


def _ips(cluster: Cluster, peer: Port) -> list[str]:
    interface = cluster.interface(peer)
    haip = [a.ip for a in interface.addresses if a.is_link_local] if interface else []
    return [peer.ip, *haip]


async def read_routes_in_use(shell: Shell, journal: Journal, asked: Sequence[Query], node: str) -> NodeRoutes:
    """Ask the kernel of a node. Raises ShellError where the node does not answer in time."""
    found: list[RouteInUse] = []
    with journal.entry(node, "routes in use", ROUTES_IN_USE.action("routes in use")) as entry:
        texts = []
        for query in asked:
            arguments = (query.source, *(ip for _, ip in query.peers))
            texts.append((await shell.run(ROUTES_IN_USE, *arguments)).text)
            found += parse_routes_in_use(texts[-1], query)
        entry.text = "\n".join(texts)
        wanted = sum(len(query.peers) for query in asked)
        if wanted and not found:
            said = next((line.strip() for text in texts for line in text.split("\n") if _is_message(line)), "no answer")
            return NodeRoutes(node, Unknown(f"`ip route get` shows no route there: {said[:120]}"))
    return NodeRoutes(node, tuple(found))


def _is_message(line: str) -> bool:
    return bool(line.strip()) and not line.startswith((ROUTE_MARK, UNBOUND_MARK))


def parse_routes_in_use(text: str, query: Query) -> list[RouteInUse]:
    """Parse the output of the program. Peers without an answer that can be parsed are left out; raises nothing."""
    owners = {ip: node for node, ip in query.peers}
    found: list[RouteInUse] = []
    for part in f"\n{text}".split(f"\n{ROUTE_MARK}")[1:]:
        ip, _, answer = part.partition("\n")
        bound, _, unbound = answer.partition(f"\n{UNBOUND_MARK}")
        if ip.strip() in owners and (route := _route(bound)) is not None:
            free = _route(unbound)
            found.append(
                replace(
                    route,
                    network=query.network,
                    source_ip=query.source,
                    to_node=owners[ip.strip()],
                    destination_ip=ip.strip(),
                    unbound_source=free.unbound_source if free else "",
                )
            )
    return found


def _route(text: str) -> RouteInUse | None:
    """Parse one answer: a line with the route, and `cache` with its metrics, in the words of any release.

    Old kernels print `mtu` and `advmss` in each answer, new ones where the route has them. A path MTU that was learned
    comes with `expires`.
    """
    empty = RouteInUse("", "", "", "")
    for line in text.split("\n"):
        if line.startswith(_REFUSED):
            return replace(empty, refusal=line.removeprefix(_REFUSED).strip())
    words = text.split()
    if words and words[0] in _NO_WAY:
        return replace(empty, refusal=words[0])
    interface = _after("dev", words)
    if (
        not interface
        or _ip(words[1] if words[0] in ("local", "broadcast", "multicast", "unicast") else words[0]) is None
    ):
        return None
    locked = _after("mtu", words) == "lock"
    expires = number(_after("expires", words).removesuffix("sec"))
    mtu = _positive(_after("lock" if locked else "mtu", words))
    # Old kernels also print entries that have expired, and do not use their MTU.
    is_over = expires is not None and expires <= 0
    gateway = _after("via", words)
    return replace(
        empty,
        interface=interface,
        gateway=_after(gateway, words) if gateway in ("inet", "inet6") else gateway,
        mtu=None if is_over else mtu,
        mtu_locked=locked,
        advmss=_positive(_after("advmss", words)),
        expires_s=None if is_over else expires,
        unbound_source=_after("src", words),
    )


def _positive(word: str) -> int | None:
    value = number(word)
    return value if value is not None and 0 < value < 2**31 else None


def _ip(word: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(word)
    except ValueError:
        return None


def _after(key: str, words: Sequence[str]) -> str:
    """The word that follows `key`, or nothing."""
    return next((value for word, value in pairwise(words) if word == key), "")
