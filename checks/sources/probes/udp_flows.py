"""Send UDP datagrams over every path of the private networks to a closed port, from several source ports.

Pings have no ports, so they show one flow; a link aggregation, a filter or a policer can treat UDP otherwise. All nodes
send at the same time, each one process for all of its paths. Nothing is sent to a port that could have a socket.

The first datagrams of all paths are sent while the paths are pinged: one after the other would double the time of a run
over many nodes. Those that examine a missing answer wait for the pings, which often show the reason. On each node one
racwire sends at a time, and others use its results. Where a target counted datagrams of others all the same, and the
counts do not decide, those that examine are sent once more.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from checks.model.facts import (
    FlowArrivals,
    FlowPort,
    FlowProbe,
    Flows,
    Held,
    Node,
    OtherSender,
    PathProbe,
    PortTurn,
    PrivateNetwork,
    SmallDatagrams,
    Unknown,
    UnreadNode,
    Verdict,
)
from checks.rules.fragment_verdicts import is_disturbed
from checks.sources.kernel_files import UDP_ENDS
from checks.sources.nodes.shell import Shell, ShellError
from checks.sources.probes.path import Path
from checks.sources.probes.paths import all_paths
from checks.sources.probes.port_turns import paths_to_count, ports_to_count, take_turns
from checks.sources.probes.probe_hosts import ProbeSession
from checks.sources.probes.safety import assert_private, public_overlap, two_owners
from checks.sources.probes.small_datagrams import SmallSenders, passes_large, small_way
from checks.sources.probes.udp_plan import (
    AGE_MS,
    ANSWER_MS,
    WAIT_MS,
    Datagram,
    DatagramAnswer,
    Receiver,
    UdpEnds,
    closed_port,
    doubtful,
    first_datagrams,
    first_ports,
    later_datagrams,
    parse_answers,
    parse_began,
    parse_ends,
    parse_first_answers,
    parse_others,
    parse_used,
    ports_within,
    record,
    room_for_fragments,
    shares,
    with_later,
    word,
)
from checks.sources.probes.udp_sending import sent

JITTER_S = 1.0, 4.0
"""Seconds until the one repetition: racwires on two nodes that wait equally long would meet again."""
_WITHOUT = {
    Verdict.UNREACHABLE: "no ping of any size passes",
    Verdict.LOCAL_MTU: "the sender's own kernel refuses full-size packets",
    Verdict.TOO_BIG: "a router refuses full-size packets",
}
"""The results of pings after which more datagrams would show nothing more."""

Pings = Callable[[], Awaitable[Sequence[PathProbe]]]
"""The results of the pings, as soon as they are known."""


@dataclass(slots=True)
class _Flow:
    """A path, and its datagrams so far."""

    path: Path
    offset_ms: int = 0
    port: int = 0
    ports: tuple[FlowPort, ...] = ()
    firsts: tuple[FlowPort, ...] = ()
    """The ports after their first datagram."""
    planned: list[Datagram] = field(default_factory=list)
    first_planned: list[Datagram] = field(default_factory=list)
    reason: str = ""
    held: Held | None = None
    turns: tuple[PortTurn, ...] = ()
    small: SmallDatagrams | Unknown | None = None

    def probe(self) -> FlowProbe:
        path = self.path
        return FlowProbe(
            network=path.network.name,
            from_node=path.source.node,
            to_node=path.destination.node,
            source_ip=path.source.ip,
            destination_ip=path.destination.ip,
            expected_mtu=path.mtu,
            destination_port=self.port,
            ports=self.ports,
            reason=self.reason,
            held=self.held if any(port.held for port in self.ports) else None,
            turns=self.turns,
            small=self.small,
        )


async def send_flows(
    networks: Sequence[PrivateNetwork],
    nodes: Sequence[Node | UnreadNode],
    pings: Pings,
    session: ProbeSession,
    *,
    interval_s: float,
    public_subnets: Iterable[str] = (),
    pause: Callable[[], Awaitable[None]] | None = None,
    oldest_ms: int = AGE_MS,
) -> Flows:
    """Send the datagrams of every path, or use results of another racwire up to the age `oldest_ms`.

    `pause` is awaited before those that examine a missing answer.

    Raises UnsafePathError, and sends nothing, for a path that would leave the private networks.
    """
    subnets = tuple(public_subnets)
    flows: list[_Flow] = []
    for number, path in enumerate(all_paths(networks)):
        # Spread over the time between two datagrams, since a kernel limits its answers to all senders too.
        flow = _Flow(path, offset_ms=number * 7 % 500)
        if reason := public_overlap(path.network, subnets) or two_owners(path) or _why_not(path):
            flow.reason = reason
        else:
            assert_private(path, subnets)
        flows.append(flow)
    ports = ports_within(interval_s, session.settings.probe.source_ports)
    return await _FlowRun(flows, nodes, session, oldest_ms).run(ports, pings, pause)


def _why_not(path: Path) -> str:
    if path.subnet_is_shared:
        return f"two private networks share {path.network.subnet}, so an address does not determine the way"
    return ""


_Take = Callable[[_Flow, Sequence[DatagramAnswer]], None]


class _FlowRun:
    """One run over all paths."""

    def __init__(
        self, flows: Sequence[_Flow], nodes: Sequence[Node | UnreadNode], session: ProbeSession, oldest_ms: int
    ) -> None:
        self._flows = flows
        self._oldest_ms = oldest_ms
        self._session = session
        self._unread = {n.name: n.reason for n in nodes if isinstance(n, UnreadNode)}
        self._shells: dict[str, Shell] = {}
        self._names: list[str] = []
        self._counts: list[tuple[dict[str, int], dict[str, int | None]]] = []
        """For each time that datagrams were sent: how many to each node, and its Udp.NoPorts before."""
        self._others: list[OtherSender] = []
        self._records: dict[str, str] = {}
        """The first datagrams of a node and their answers, for another racwire."""
        self._waited_s: dict[str, float] = {}

    async def run(self, most_ports: int, pings: Pings, pause: Callable[[], Awaitable[None]] | None) -> Flows:
        open_flows = [f for f in self._flows if not f.reason]
        self._names = list(dict.fromkeys(p.node for f in open_flows for p in (f.path.source, f.path.destination)))
        ends = await self._ends()
        for flow in open_flows:
            self._choose(flow, ends)
            flow.planned = first_datagrams(flow.path, most_ports)
        await self._send([f for f in open_flows if not f.reason], ends, self._first)
        self._end_after(await pings())
        ends = await self._ends()
        if silent := [f for f in open_flows if not f.reason and doubtful(f.ports)]:
            if pause is not None:
                await pause()
                ends = await self._ends()
            ends = await self._examine(silent, ends)
        flows = self._result(ends)
        if again := [f for f in open_flows if not f.reason and doubtful(f.ports) and is_disturbed(flows, f.probe())]:
            await asyncio.sleep(random.uniform(*JITTER_S))  # noqa: S311 - no secret
            ends = await self._ends()
            for flow in again:
                pairs = zip(flow.firsts, flow.ports, strict=True)
                flow.ports = tuple(port if port.answered else first for first, port in pairs)
            ends = await self._examine(again, ends)
            flows = self._result(ends)
        await self._count_small(flows, ends)
        to_count = paths_to_count(flows)
        for flow in (f for f in open_flows if f.probe() in to_count):
            await self._count_by_port(flow)
        return msgspec.structs.replace(flows, probes=tuple(f.probe() for f in self._flows))

    async def _count_small(self, flows: Flows, before: Mapping[str, UdpEnds]) -> None:
        """Send small datagrams where full-size ones arrive."""
        passing = passes_large(flows)
        own = [f for f in self._flows if (f.path.network.name, f.path.source.node, f.path.destination.node) in passing]
        if own:
            ways = [small_way(f.path, f.port, f.ports) for f in own]
            senders = SmallSenders(self._session, self._shells, self._ends, before)
            for flow, found in zip(own, await senders.count(ways), strict=True):
                flow.small = found

    async def _count_by_port(self, flow: _Flow) -> None:
        here, there = flow.path.source.node, flow.path.destination.node

        async def ends() -> UdpEnds | None:
            return (await self._end(there))[1]

        if own := (await self._end(here))[1]:
            ports, shell = ports_to_count(flow.ports), self._shells[here]
            flow.turns = await take_turns(flow.path, flow.port, ports, ends, self._session, shell, own.python)

    async def _examine(self, flows: Sequence[_Flow], ends: Mapping[str, UdpEnds]) -> dict[str, UdpEnds]:
        """Send the later datagrams of these paths, and return the tables of the nodes afterwards."""
        for flow in flows:
            if (port := closed_port(ends.get(flow.path.destination.node, UdpEnds()))) != flow.port:
                flow.reason = f"{flow.path.destination.node}: port {flow.port} is no longer known to be closed ({port})"
            flow.planned = later_datagrams(flow.path, flow.ports)
        await self._send([f for f in flows if not f.reason and f.planned], ends, self._later)
        return await self._ends()

    def _result(self, after: Mapping[str, UdpEnds]) -> Flows:
        later = self._counts[-1:] if len(self._counts) > 1 else []
        return Flows(
            tuple(f.probe() for f in self._flows),
            tuple(self._arrivals(self._counts, after)),
            tuple(self._arrivals(later, after)),
            tuple(dict.fromkeys(self._others)),
        )

    def _end_after(self, pings: Sequence[PathProbe]) -> None:
        """End the paths on which pings show that more datagrams would show nothing more."""
        verdicts = {(p.network, p.from_node, p.to_node): p.verdict for p in pings}
        for flow in (f for f in self._flows if not f.reason and doubtful(f.ports)):
            path = flow.path
            verdict = verdicts.get((path.network.name, path.source.node, path.destination.node))
            flow.reason = _WITHOUT.get(verdict, "") if verdict else ""

    def _choose(self, flow: _Flow, ends: Mapping[str, UdpEnds]) -> None:
        here, there = flow.path.source.node, flow.path.destination.node
        for node in (here, there):
            if node not in ends:
                flow.reason = f"{node} could not be read: {self._unread.get(node, 'its shell did not answer')}"
                return
        port = closed_port(ends[there])
        if isinstance(port, str):
            flow.reason = f"{there}: {port}"
        elif here != self._session.local_node and not ends[here].python:
            flow.reason = f"{here} has no Python in /usr/bin, so it cannot send datagrams"
        else:
            flow.port = port

    async def _ends(self) -> dict[str, UdpEnds]:
        found = await asyncio.gather(*map(self._end, self._names))
        return {name: ends for name, ends in found if ends}

    async def _end(self, name: str) -> tuple[str, UdpEnds | None]:
        if name in self._unread:
            return name, None
        with self._session.journal.entry(name, "udp ends", UDP_ENDS.action("udp ends")) as entry:
            try:
                shell = self._shells[name] = await self._session.shell(name)
                entry.text = (await shell.run(UDP_ENDS)).text
            except ShellError as error:
                entry.outcome = str(error)
                return name, None
        return name, parse_ends(entry.text)

    async def _send(self, flows: Sequence[_Flow], ends: Mapping[str, UdpEnds], take: _Take) -> None:
        """Send the planned datagrams, all nodes at the same time, and let `take` record the answers of each path."""
        by_node: dict[str, list[_Flow]] = {}
        for flow in flows:
            by_node.setdefault(flow.path.source.node, []).append(flow)
        if not by_node:
            return
        receivers = {name: self._receiver(name, flows, ends) for name in self._names}
        self._counts.append(({}, {name: e.no_ports for name, e in ends.items()}))
        await asyncio.gather(
            *(
                self._of_node(
                    node, own, ends[node].python, {name: r[node] for name, r in receivers.items() if node in r}, take
                )
                for node, own in by_node.items()
            )
        )

    def _receiver(self, name: str, flows: Sequence[_Flow], ends: Mapping[str, UdpEnds]) -> dict[str, Receiver]:
        """Return a receiving node as each of its senders sees it."""
        own = ends.get(name, UdpEnds())
        to_it = [f for f in flows if f.path.destination.node == name]
        unanswered = sum(p.sent - p.answered for f in to_it for p in f.ports if not p.whole)
        room = room_for_fragments(own, unanswered)
        for flow in to_it:
            flow.held = Held.SHARE if room else Held.MEMORY
        senders = list(dict.fromkeys(f.path.source.node for f in to_it))
        number = self._names.index(name)
        each = shares(room, senders, self._names, name)
        return {sender: Receiver(number, each[sender], own.no_ports) for sender in senders}

    async def _of_node(
        self, node: str, flows: Sequence[_Flow], python: str, receivers: Mapping[str, Receiver], take: _Take
    ) -> None:
        wait_ms = max(0, WAIT_MS - round(self._waited_s.get(node, 0.0) * 1000))
        earlier = [self._records[node]] if node in self._records else []
        words = [f"{ANSWER_MS}:{wait_ms}:{self._oldest_ms}"]
        words += [word(f.path, f.port, f.planned, receivers[f.path.destination.node], f.offset_ms) for f in flows]
        text, failure = await sent(self._session, self._shells[node], node, python, [*words, *earlier])
        answers = parse_answers(text)
        firsts = parse_first_answers(text)
        if not failure and not answers and not firsts:
            failure = (
                f"the Python of {node} did not send: {text.strip().splitlines()[-1] if text.strip() else 'silent'}"
            )
        self._note_others(node, flows, text)
        if (began_s := parse_began(text)) is not None and not earlier:
            self._records[node] = record(began_s, words, answers)
        for number, flow in enumerate(flows):
            own = [answer for answer in answers if answer.path == number]
            self._count_sent(flow, own, -1)
            if taken := [answer for answer in firsts if answer.path == number]:
                self._count_sent(flow, taken, 0)
                flow.ports = flow.firsts = first_ports(flow.first_planned, taken)
                self._later(flow, own)
            elif failure or not own:
                flow.reason = failure or f"{node} sent no datagram on this path"
            else:
                take(flow, own)

    def _count_sent(self, flow: _Flow, answers: Sequence[DatagramAnswer], when: int) -> None:
        sent, _ = self._counts[when]
        target = flow.path.destination.node
        sent[target] = sent.get(target, 0) + sum(not answer.is_unsent for answer in answers)

    def _note_others(self, node: str, flows: Sequence[_Flow], text: str) -> None:
        """Note who else sent from a node. Where their results are used, their counts before count as well."""
        others = parse_others(text, node)
        self._others += others
        if waited := [other for other in others if other.age_s is None]:
            in_vain_s = sum(other.waited_s for other in waited if other.is_still)
            self._waited_s[node] = self._waited_s.get(node, 0.0) + in_vain_s
            for flow in flows:
                flow.held = Held.OTHERS
        whole = {answer.path for answer in parse_first_answers(text)}
        for used in parse_used(text):
            if used.path < len(flows):
                target = flows[used.path].path.destination.node
                _, before = self._counts[0 if used.path in whole else -1]
                own = before.get(target)
                before[target] = None if own is None or used.no_ports is None else min(own, used.no_ports)

    @staticmethod
    def _first(flow: _Flow, answers: Sequence[DatagramAnswer]) -> None:
        flow.first_planned = flow.planned
        flow.ports = flow.firsts = first_ports(flow.planned, answers)

    @staticmethod
    def _later(flow: _Flow, answers: Sequence[DatagramAnswer]) -> None:
        slots = {answer.slot for answer in answers}
        flow.ports = tuple(
            with_later(port, [a for a in answers if a.slot == slot], full_payload=flow.path.full_payload)
            if slot in slots
            else port
            for slot, port in enumerate(flow.ports)
        )

    @staticmethod
    def _arrivals(
        counts: Sequence[tuple[Mapping[str, int], Mapping[str, int | None]]], after: Mapping[str, UdpEnds]
    ) -> Iterable[FlowArrivals]:
        """Return what the nodes counted from the first of these times until afterwards."""
        for node in dict.fromkeys(node for to_node, _ in counts for node in to_node):
            befores = [before.get(node) for _, before in counts]
            known = [before for before in befores if before is not None]
            last = after[node].no_ports if node in after else None
            if last is not None and len(known) == len(befores) and last >= min(known):
                yield FlowArrivals(node, sum(to_node.get(node, 0) for to_node, _ in counts), last - min(known))
