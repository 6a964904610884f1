"""Ask the kernel of a node which route it uses between private addresses: `ip route get`, and parse the answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from checks.model.facts import Cluster, NodeRoutes, RouteInUse, Unknown
from checks.model.journal import Journal
from checks.rules.private_ways import private_ways
from checks.sources.kernel_files import ROUTE_MARK, ROUTES_IN_USE, RULES_MARK, UNBOUND_MARK
from checks.sources.nodes.ip_text import ip_of, word_after
from checks.sources.nodes.proc import number
from checks.sources.nodes.shell import Shell

MOST_PEERS = 64
"""Most destinations that one answer has: each takes two short-lived processes."""
_REFUSED = "RTNETLINK answers: "
_RULE = re.compile(r"(?P<priority>\d+):\s+(?P<words>(?:not )?(?:from|to|iif|oif|fwmark)\s.*)")
_OWN_RULES = (
    "0: from all lookup local", "32766: from all lookup main", "32767: from all lookup default",
)  # fmt: skip
_NO_WAY = ("unreachable", "prohibit", "blackhole", "throw")


@dataclass(frozen=True)
class Query:
    """One source address of a node, and the addresses of its peers on the same network."""

    network: str
    source: str
    peers: tuple[tuple[str, str], ...]
    """Node and address."""


def queries(cluster: Cluster, node: str) -> list[Query]:
    """Return the queries for a node: for each own private address, HAIP included, the peers' (`private_ways`)."""
    asked: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for way in private_ways(cluster, node):
        asked.setdefault((way.network.name, way.source_ip), []).append((way.to_node, way.destination_ip))
    return [Query(network, source, tuple(peers[:MOST_PEERS])) for (network, source), peers in asked.items()]


async def read_routes_in_use(shell: Shell, journal: Journal, asked: Sequence[Query], node: str) -> NodeRoutes:
    """Ask the kernel of a node. Raises ShellError where the node does not answer in time."""
    found: list[RouteInUse] = []
    rules: dict[str, None] = {}
    with journal.entry(node, "routes in use", ROUTES_IN_USE.action("routes in use")) as entry:
        texts = []
        for query in asked:
            arguments = (query.source, *(ip for _, ip in query.peers))
            texts.append((await shell.run(ROUTES_IN_USE, *arguments)).text)
            found += parse_routes_in_use(texts[-1], query)
            rules |= dict.fromkeys(parse_rules(texts[-1]))
        entry.text = "\n".join(texts)
        wanted = sum(len(query.peers) for query in asked)
        if wanted and not found:
            said = next((line.strip() for text in texts for line in text.split("\n") if _is_message(line)), "no answer")
            return NodeRoutes(node, Unknown(f"`ip route get` shows no route there: {said[:120]}"))
    return NodeRoutes(node, tuple(found), tuple(rules))


def _is_message(line: str) -> bool:
    return bool(line.strip()) and not line.startswith((ROUTE_MARK, UNBOUND_MARK, RULES_MARK)) and not _RULE.match(line)


def parse_rules(text: str) -> list[str]:
    """Return the policy rules of an answer, without those that each Linux has: `32765: from 192.168.10.2 lookup 100`.

    Raises nothing: lines that are no rule are left out.
    """
    found = [_RULE.fullmatch(line.strip()) for line in text.partition(f"{RULES_MARK}\n")[2].split("\n")]
    rules = [f"{rule['priority']}: {' '.join(rule['words'].split())}" for rule in found if rule]
    return [rule for rule in rules if rule not in _OWN_RULES]


def parse_routes_in_use(text: str, query: Query) -> list[RouteInUse]:
    """Parse the output of the program. Peers without an answer that can be parsed are left out; raises nothing."""
    owners = {ip: node for node, ip in query.peers}
    found: list[RouteInUse] = []
    answers = f"\n{text}".partition(f"\n{RULES_MARK}")[0]
    for part in answers.split(f"\n{ROUTE_MARK}")[1:]:
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
    interface = word_after("dev", words)
    if (
        not interface
        or ip_of(words[1] if words[0] in ("local", "broadcast", "multicast", "unicast") else words[0]) is None
    ):
        return None
    locked = word_after("mtu", words) == "lock"
    expires = number(word_after("expires", words).removesuffix("sec"))
    mtu = _positive(word_after("lock" if locked else "mtu", words))
    # Old kernels also print entries that have expired, and do not use their MTU.
    is_over = expires is not None and expires <= 0
    gateway = word_after("via", words)
    return replace(
        empty,
        interface=interface,
        gateway=word_after(gateway, words) if gateway in ("inet", "inet6") else gateway,
        mtu=None if is_over else mtu,
        mtu_locked=locked,
        advmss=_positive(word_after("advmss", words)),
        expires_s=None if is_over else expires,
        unbound_source=word_after("src", words),
        table=word_after("table", words),
    )


def _positive(word: str) -> int | None:
    value = number(word)
    return value if value is not None and 0 < value < 2**31 else None
