"""The ladder of silence: why a ping gets no answer, from the cable upwards. The first rung that fails is the place.

Silence has many reasons, and "filtered" is the last of them: it needs all the others to be answered first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.model.facts import Cluster, Leg, PathProbe, PrivateNetwork, Verdict
from checks.model.wording import listed
from checks.rules.neighbour_entries import Whose, neighbour_entries
from checks.rules.node_counts import sysctl

_ECHO_IGNORED = "net.ipv4.icmp_echo_ignore_all"


@dataclass(frozen=True)
class Rung:
    """One question of the ladder."""

    holds: bool | None
    """None where the answer is not known."""
    text: str
    """The answer as a clause: `both links are up`."""


def ladder(cluster: Cluster, network: PrivateNetwork, path: PathProbe) -> tuple[Rung, ...]:
    """Return the rungs for one path, from its links to the answers of its target."""
    return tuple(_rungs(cluster, network, path))


def ladder_line(cluster: Cluster, network: PrivateNetwork, path: PathProbe) -> str:
    """Return `rac1 -> rac2: both links are up; ...; not known: whether ...`, up to the first rung that fails."""
    held: list[str] = []
    unknown: list[str] = []
    for rung in ladder(cluster, network, path):
        if rung.holds is None:
            unknown.append(rung.text)
        else:
            held.append(rung.text)
        if rung.holds is False:
            break
    parts = ["; ".join(held), f"not known: {'; '.join(unknown)}" if unknown else ""]
    return f"{path.from_node} -> {path.to_node}: {'; '.join(part for part in parts if part)}"


def hears_alone(cluster: Cluster, network: PrivateNetwork, node: str) -> tuple[str, ...]:
    """Return the peers of which a node has the MAC address after its pings got no answer, while no peer has its own:
    requests of these peers reach the node, and what it sends vanishes. Without answers and requests such an entry fails
    within seconds. Empty where a peer hears the node."""
    own = {(e.node, e.peer) for e in neighbour_entries(cluster) if e.network == network.name and e.whose is Whose.OWN}
    paths = [p for p in cluster.read_paths() if p.network == network.name]
    lost = {(p.from_node, p.to_node) for p in paths if p.from_node == node and not p.neighbour_mac}
    to_it = [p for p in paths if p.to_node == node]
    if any((p.from_node, node) in own or p.verdict is Verdict.PASSES for p in to_it):
        return ()
    asking = [p.from_node for p in to_it if p.verdict is Verdict.UNREACHABLE and not p.neighbour_mac]
    return tuple(peer for peer in asking if (node, peer) in own - lost)


def heard_lines(cluster: Cluster, network: PrivateNetwork, paths: Sequence[PathProbe]) -> tuple[str, ...]:
    """Return a line for each end of these paths that hears peers, none of which hears it."""
    return tuple(
        f"{node} has the MAC address of {listed(peers)}, and no peer has that of {node}: ARP requests reach "
        f"{node}, and what it sends vanishes"
        for node in dict.fromkeys(n for p in paths for n in (p.from_node, p.to_node))
        if (peers := hears_alone(cluster, network, node))
    )


def _rungs(cluster: Cluster, network: PrivateNetwork, path: PathProbe) -> Iterator[Rung]:
    here, there = path.from_node, path.to_node
    links = {node: _is_up(cluster, network, node) for node in (here, there)}
    if down := [node for node, up in links.items() if up is False]:
        yield Rung(False, f"the link of {' and '.join(down)} is down")
    elif None in links.values():
        yield Rung(None, "whether both links are up")
    else:
        yield Rung(True, "both links are up")
    yield _address(cluster, path)
    yield _neighbour(cluster, network, path)
    ignored = sysctl(cluster, there, _ECHO_IGNORED)
    if ignored is None:
        yield Rung(None, f"whether the kernel of {there} answers pings")
    else:
        answers = "answers no pings" if ignored else "is set to answer pings"
        yield Rung(not ignored, f"the kernel of {there} {answers} ({_ECHO_IGNORED} {ignored})")
    yield {
        Leg.REPLY: Rung(True, f"{there} counted the requests, and their answers did not return"),
        Leg.REQUEST: Rung(False, f"{there} did not count the requests"),
        Leg.BOTH: Rung(False, f"{there} counted a part of the requests"),
    }.get(path.lost_leg, Rung(None, f"whether the requests arrived at {there}"))


def _is_up(cluster: Cluster, network: PrivateNetwork, node: str) -> bool | None:
    port = network.port(node)
    interface = cluster.interface(port) if port else None
    return interface.is_up if interface else None


def _address(cluster: Cluster, path: PathProbe) -> Rung:
    nodes = cluster.read_nodes()
    owners = [n.name for n in nodes if any(path.destination_ip == a.ip for i in n.interfaces for a in i.addresses)]
    if path.to_node not in {n.name for n in nodes}:
        return Rung(None, f"whether {path.to_node} has {path.destination_ip}")
    if others := [name for name in owners if name != path.to_node]:
        return Rung(False, f"{' and '.join(others)} has {path.destination_ip}, too")
    where = "alone among the nodes that were read has" if path.to_node in owners else "does not have"
    return Rung(path.to_node in owners, f"{path.to_node} {where} {path.destination_ip}")


def _neighbour(cluster: Cluster, network: PrivateNetwork, path: PathProbe) -> Rung:
    own = [
        e
        for e in neighbour_entries(cluster)
        if (e.network, e.node, e.ip) == (network.name, path.from_node, path.destination_ip)
    ]
    if not own:
        return Rung(None, f"which MAC address {path.from_node} has for {path.destination_ip}")
    if own[0].whose is Whose.OWN:
        return Rung(True, f"{path.from_node} has the MAC address of that NIC")
    return Rung(False, f"{path.from_node} has {own[0].mac} for it, {own[0].whose.value}")
