"""Count small datagrams on the paths where each full-size one was answered: messages of the instances can get lost
where blocks pass.

The source ports are those of the full-size ones. A target's kernel limits its answers and counts all datagrams
(Udp.NoPorts), so answers are not awaited: all paths send at the same time, and the count is read afterwards. Only where
a target counts fewer than were sent, its paths send a row each, one after the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from checks.model.facts import FlowPort, Flows, SmallDatagrams, Unknown
from checks.rules.flow_verdicts import FlowVerdict, judge_flow, who_sent
from checks.sources.nodes.shell import Shell
from checks.sources.probes.path import Path
from checks.sources.probes.probe_hosts import ProbeSession
from checks.sources.probes.udp_plan import (
    ANSWER_MS,
    Datagram,
    DatagramAnswer,
    Receiver,
    UdpEnds,
    closed_port,
    parse_answers,
    parse_others,
    word,
)
from checks.sources.probes.udp_sender import COUNTED
from checks.sources.probes.udp_sending import sent

MESSAGE_PAYLOAD = 200
"""Bytes of a usual message of the instances: AWR estimates the traffic with it (sprepins.sql)."""
SMALL_PORTS = 6
"""Source ports of a path that send a small datagram each."""
SMALL_ROW = 18
"""Small datagrams of a path that is counted by itself."""
MOST_ROWS = 8
"""Paths to a target that are counted by themselves."""
SMALL_APART_MS = 20
"""Between small datagrams of a path."""
_OTHERS = "another racwire sent at the same time, so the counts of {} are of both"

Ends = Mapping[str, UdpEnds]


@dataclass(frozen=True, slots=True, eq=False)
class SmallWay:
    """A path with its closed port and the source ports of its full-size datagrams."""

    path: Path
    port: int
    source_ports: tuple[int, ...]

    @property
    def target(self) -> str:
        """The receiving node."""
        return self.path.destination.node


def small_way(path: Path, port: int, ports: Sequence[FlowPort]) -> SmallWay:
    """Return a path as its small datagrams take it."""
    known = [p.source_port for p in ports if p.whole and p.answered and p.source_port]
    return SmallWay(path, port, tuple(known[:SMALL_PORTS]))


def passes_large(flows: Flows) -> frozenset[tuple[str, str, str]]:
    """Return the paths on which full-size datagrams are answered; none where another racwire sends.

    Where a target counted fewer than were answered, on all paths together, the small ones show on which path.
    """
    judged = [judge_flow(p, flows) for p in flows.probes if not p.reason and not who_sent(flows)]
    passing = [j.probe for j in judged if j.verdict in (FlowVerdict.PASSES, FlowVerdict.OTHER_HOST)]
    return frozenset((p.network, p.from_node, p.to_node) for p in passing)


_Left = tuple[int, str]
"""How many datagrams left, and the error of those that did not."""


def _left(answers: Iterable[DatagramAnswer]) -> _Left:
    known = list(answers)
    errors = [answer.what.removeprefix("unsent:") for answer in known if answer.is_unsent]
    return sum(answer.what == "sent" for answer in known), next(iter(errors), "")


class SmallSenders:
    """The nodes that send small datagrams, and their counts."""

    def __init__(
        self, session: ProbeSession, shells: Mapping[str, Shell], read: Callable[[], Awaitable[Ends]], before: Ends
    ) -> None:
        self._session, self._shells, self._read, self._before = session, shells, read, before

    async def count(self, ways: Sequence[SmallWay]) -> list[SmallDatagrams | Unknown]:
        """Send on all paths, then one by one on those to a target that missed some; `before` are the nodes' counts."""
        found = await self._row(ways, SMALL_PORTS)
        left: dict[str, list[int]] = {}
        for place, (way, one) in enumerate(zip(ways, found, strict=True)):
            if isinstance(one, SmallDatagrams) and one.counted < one.sent:
                left.setdefault(way.target, []).append(place)
        for places in left.values():
            for place in places[MOST_ROWS:]:
                found[place] = Unknown(f"{ways[place].target} missed some, and {MOST_ROWS} paths to it were counted")
        for turn in range(min(MOST_ROWS, max(map(len, left.values()), default=0))):
            places = [own[turn] for own in left.values() if turn < len(own)]
            for place, one in zip(places, await self._row([ways[p] for p in places], SMALL_ROW), strict=True):
                found[place] = one
        return found

    async def _row(self, ways: Sequence[SmallWay], number: int) -> list[SmallDatagrams | Unknown]:
        """Send so many on each path at the same time. Of several paths to a target that missed some, each has the count
        of all of them."""
        before = self._before
        open_ways = [way for way in ways if closed_port(before.get(way.target, UdpEnds())) == way.port]
        by_node: dict[str, list[SmallWay]] = {}
        for way in open_ways:
            by_node.setdefault(way.path.source.node, []).append(way)
        results = await asyncio.gather(*(self._of_node(node, own, number) for node, own in by_node.items()))
        left = {way: one for result in results if result is not None for way, one in result.items()}
        after = self._before = await self._read()
        is_disturbed = None in results
        return [self._result(way, left, before, after, is_disturbed=is_disturbed) for way in ways]

    async def _of_node(self, node: str, ways: Sequence[SmallWay], number: int) -> dict[SmallWay, _Left] | None:
        """Return what left a node on each path; None where another racwire may have sent meanwhile."""
        words = [f"{ANSWER_MS}:{ANSWER_MS}:0"]
        for way in ways:
            ports = way.source_ports or (0,)
            rows = [
                Datagram(k * SMALL_APART_MS, k % len(ports), ports[k % len(ports)], MESSAGE_PAYLOAD, COUNTED)
                for k in range(number)
            ]
            words.append(word(way.path, way.port, rows, Receiver(0, 0, None)))
        text, _ = await sent(self._session, self._shells[node], node, self._before[node].python, words)
        if parse_others(text, node):
            return None
        answers = parse_answers(text)
        return {way: _left(answer for answer in answers if answer.path == place) for place, way in enumerate(ways)}

    @staticmethod
    def _result(
        way: SmallWay, left: Mapping[SmallWay, _Left], before: Ends, after: Ends, *, is_disturbed: bool
    ) -> SmallDatagrams | Unknown:
        if is_disturbed:
            return Unknown(_OTHERS.format(way.target))
        own, error = left.get(way, (0, ""))
        if not own:
            refused = SmallDatagrams(MESSAGE_PAYLOAD, way.source_ports, 0, 0, error)
            return refused if error else Unknown(f"{way.path.source.node} sent none")
        ends = [at[way.target].no_ports if way.target in at else None for at in (before, after)]
        if ends[0] is None or ends[1] is None:
            return Unknown(f"the Udp.NoPorts of {way.target} could not be read")
        sent_there = sum(many for other, (many, _) in left.items() if other.target == way.target)
        missed = sent_there - (ends[1] - ends[0])
        if missed < 0:
            return Unknown(f"{way.target} counted more datagrams to closed ports than racwire sent")
        return SmallDatagrams(MESSAGE_PAYLOAD, way.source_ports, own, max(0, own - missed))
