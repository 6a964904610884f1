"""The places on one private network at which the steps of an entry are made, and what they need to know of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import ceil, log

from checks.investigate.suspects import SuspectEntry
from checks.model.facts import Cluster, Clusterware, Port
from checks.model.hypothesis import Place
from checks.model.investigation import By, Fared, NotOffered, Probe, SessionStep, StepAnswer
from checks.model.networks import nics_of
from checks.model.packet_sizes import BLOCK_HEADER_BYTES, USUAL_BLOCK_BYTES, packet_of
from checks.model.traffic import Address, Traffic
from checks.rules.observed.packets import legs, route_mtu
from checks.rules.observed.pings import Trip

SMALL_BYTES = 84
"""A small packet on the wire: a ping of 56 bytes."""
BLOCK_BYTES = packet_of(USUAL_BLOCK_BYTES + BLOCK_HEADER_BYTES, 4)
"""A block of 8 KB with its header, as one IP packet."""
FEWEST, MOST_OF_A_PROBE = 40, 3000
_USUAL_SHARE = 0.3
_LEAST_SHARE = 0.003
"""The smallest share that a probe looks for: rarer losses are placed, path by path (`placing`)."""
_EXPECTED = 14
"""The losses that are expected of a probe at the share that is looked for: two or fewer come once in 10,000 times."""
_RARE = 1e-3
_OTHER_NODES = 2
"""Nodes that no suspect names and that take part, for contrast."""
MOST_NODES = 6


@dataclass(frozen=True, eq=False)
class Scene:
    """The nodes of an entry on one private network."""

    cluster: Cluster
    network: str
    nodes: tuple[str, ...]
    named: tuple[str, ...]
    """Those at which a suspect is."""
    share: float
    """The share of losses that is looked for."""
    forms: frozenset[str]
    """The forms of packets that the suspects tell apart, if any does."""
    addresses: frozenset[str]
    answers: tuple[StepAnswer, ...] = ()

    @property
    def pairs(self) -> Iterator[tuple[str, str]]:
        """Each node with each other, both ways, of which a suspect can be at one at least."""
        here = set(self.named or self.nodes)
        return ((s, r) for s, r in permutations(self.nodes, 2) if {s, r} & here)

    def place(self, *nodes: str, to: str = "") -> Place:
        """Return a place on the network."""
        return Place(networks=(self.network,), nodes=nodes, to=(to,) if to else ())

    def key(self, declared: str, *parts: object) -> str:
        """Return the key of a step here."""
        return " ".join(map(str, (declared, self.network, *parts)))

    def mtu(self, sender: str, receiver: str) -> int:
        """Return the MTU of the route from one node to another, in bytes."""
        known = self.cluster.network(self.network)
        usual = known.mtu if known and isinstance(known.mtu, int) else 1500
        return route_mtu(self.cluster, sender, receiver, self.network) or usual

    def sizes(self, sender: str, receiver: str) -> tuple[int, int]:
        """Return a small size and the largest that the sender can send in one packet."""
        return SMALL_BYTES, self.mtu(sender, receiver)

    def port(self, node: str) -> Port | None:
        """Return the port of a node on the network."""
        known = self.cluster.network(self.network)
        return known.port(node) if known else None

    def nics(self, node: str) -> tuple[str, ...]:
        """Return the NICs of a node on the network: the members, of a bond."""
        port = self.port(node)
        return tuple(nics_of(self.cluster, port)) if port else ()

    # --- probes -------------------------------------------------------------------------------------------------------

    @cached_property
    def sent(self) -> int:
        """How many packets of a kind show the share that is looked for, and are not all lost by it."""
        of_share = _EXPECTED / self.share
        not_all = log(_RARE) / log(self.share) if self.share < 1 else FEWEST
        return min(MOST_OF_A_PROBE, max(FEWEST, ceil(of_share), ceil(not_all)))

    def udp(self, s: str, r: str, size: int, *, address: Address = "private", ports: int = 1) -> Probe:
        """Return datagrams of one size, each in one packet."""
        return self._probe(self._udp(s, r, size, address, df=True), ports=ports)

    def fragments(self, s: str, r: str) -> Probe:
        """Return datagrams that the sender's kernel cuts into fragments: of a block, or larger than its MTU."""
        return self._probe(self._udp(s, r, max(BLOCK_BYTES, self.mtu(s, r) + 1000), "private", df=False))

    def ping(self, s: str, r: str, size: int, address: Address = "private") -> Probe:
        """Return pings of one size, with Don't Fragment."""
        return self._probe(Trip(self.cluster, self.network, s, r, address).both(size))

    def _udp(self, s: str, r: str, size: int, address: Address, *, df: bool) -> tuple[Traffic, ...]:
        return legs(
            self.cluster, s, r, self.network, size, df=df, addresses=(address,), protocols=("udp",), ends=("kernel",)
        )

    def _probe(self, found: tuple[Traffic, ...], *, ports: int = 1) -> Probe:
        return Probe(legs=found, sent=self.sent, ports=ports, share=self.share)

    # --- whether hands may touch a place ------------------------------------------------------------------------------

    def hinders(self, step: SessionStep) -> NotOffered | None:
        """Return why a step by hand is not offered; None where it is, or where it is not by hand.

        It is offered where the stack of each node that it touches is stopped, or another private network was not seen
        to lose packets of them: that it carries them is proved just before (`carries`).
        """
        if step.by is not By.HANDS or self.is_stopped(step.place.nodes):
            return None
        others = self.others(step.place.nodes)
        if not others:
            return NotOffered.NO_OTHER_NETWORK
        fine = [name for name in others if not self._loses(name, step.place.nodes)]
        return None if fine else NotOffered.OTHER_NETWORK_LOSES

    def others(self, nodes: Sequence[str]) -> tuple[str, ...]:
        """Return the other private networks on which each of these nodes and a peer have a port."""
        every = self.cluster.read_networks()
        return tuple(
            n.name for n in every if n.name != self.network and len(n.ports) > 1 and all(n.port(one) for one in nodes)
        )

    def is_stopped(self, nodes: Sequence[str]) -> bool:
        """Return whether Clusterware is stopped on each of these nodes: then hands disturb no user there."""
        grid = self.cluster.clusterware
        members = grid.members if isinstance(grid, Clusterware) else ()
        known = {m.name: m.status for m in members} if isinstance(members, tuple) else {}
        return all(known.get(node) == "Inactive" for node in nodes)

    def _loses(self, network: str, nodes: Sequence[str]) -> bool:
        own = [a for a in self.answers if a.step.declared == CARRIES and network in a.step.place.networks]
        last = next((a for a in reversed(own) if set(a.step.place.nodes) == set(nodes)), None)
        if last is not None:
            return any(one is not Fared.NONE_LOST for one in last.fared)
        return any(loses(self.cluster, network, node) for node in nodes)


CARRIES = "carries"
"""The name of the step that proves that another network carries the nodes that a step by hand touches."""


def loses(cluster: Cluster, network: str, node: str) -> bool:
    """Return whether pings to or from a node were lost on a network in the run."""
    return any(
        series.received < series.sent
        for path in cluster.read_paths()
        if path.network == network and node in (path.from_node, path.to_node)
        for series in path.series
        if not series.local_mtu
    )


def scenes(entry: SuspectEntry, cluster: Cluster, answers: Sequence[StepAnswer]) -> Iterator[Scene]:
    """Yield the places of an entry by private network."""
    share = min(_USUAL_SHARE, max(_LEAST_SHARE, entry.share / 2)) if entry.share else _USUAL_SHARE
    networks = dict.fromkeys(n for one in entry.alternatives for n in one.place.networks)
    if not entry.is_placed:
        networks = dict.fromkeys(n.name for n in cluster.read_networks())
    for name in networks:
        here = [one for one in entry.alternatives if name in one.place.networks]
        narrow = [one.place for one in here if len(one.place.nodes) == 1]
        named = tuple(dict.fromkeys(node for place in narrow for node in (*place.nodes, *place.to)))
        known = cluster.network(name)
        every = tuple(port.node for port in known.ports) if known else ()
        sides = [node for one in here if len(one.place.nodes) > 1 for node in one.place.nodes]
        others = [node for node in dict.fromkeys((*sides, *every)) if node not in named]
        count = _OTHER_NODES if named else MOST_NODES
        traffic = [f.traffic for one in here for f in one.footprint]
        yield Scene(
            cluster=cluster,
            network=name,
            nodes=tuple(sorted((*named[:MOST_NODES], *others[:count]))),
            named=named[:MOST_NODES],
            share=share,
            forms=frozenset(form for t in traffic for form in t.forms or ()),
            addresses=frozenset(a for t in traffic for a in t.addresses or ()),
            answers=tuple(answers),
        )
