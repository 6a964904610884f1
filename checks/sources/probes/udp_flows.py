"""Send UDP datagrams over every path of the private networks to a closed port, from several source ports.

Pings have no ports, so they show one flow; a link aggregation, a filter or a policer can treat UDP otherwise. All nodes
send at the same time, each one process for all of its paths. Nothing is sent to a port that could have a socket.

The first datagrams of all paths are sent while the paths are pinged: one after the other would double the time of a run
over many nodes. Those that examine a missing answer wait for the pings, which often show the reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event

from checks.model.facts import (
    FlowArrivals,
    FlowPort,
    FlowProbe,
    Flows,
    Node,
    PathProbe,
    PrivateNetwork,
    UnreadNode,
    Verdict,
)
from checks.sources.kernel_files import UDP_ENDS
from checks.sources.nodes.read_only.allow_list import SENDER_TEXT
from checks.sources.nodes.shell import Shell, ShellError
from checks.sources.probes import udp_sender
from checks.sources.probes.path import Path
from checks.sources.probes.paths import all_paths
from checks.sources.probes.probe_hosts import ProbeSession
from checks.sources.probes.safety import assert_private, public_overlap, two_owners
from checks.sources.probes.udp_plan import (
    ANSWER_MS,
    Datagram,
    DatagramAnswer,
    UdpEnds,
    closed_port,
    first_datagrams,
    first_ports,
    is_silent,
    later_datagrams,
    parse_answers,
    parse_ends,
    ports_within,
    with_later,
    word,
)
from checks.sources.registry import UDP_DATAGRAMS

RUN_S = 100.0
"""Seconds for one sender with all of its datagrams; the longest plan takes 70."""
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
    planned: list[Datagram] = field(default_factory=list)
    reason: str = ""

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
) -> Flows:
    """Send the datagrams of every path; `pause` is awaited before those that examine a missing answer.

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
    return await _FlowRun(flows, nodes, session).run(ports, pings, pause)


def _why_not(path: Path) -> str:
    if path.subnet_is_shared:
        return f"two private networks share {path.network.subnet}, so an address does not determine the way"
    return ""


_Take = Callable[[_Flow, Sequence[DatagramAnswer]], None]


class _FlowRun:
    """One run over all paths."""

    def __init__(self, flows: Sequence[_Flow], nodes: Sequence[Node | UnreadNode], session: ProbeSession) -> None:
        self._flows = flows
        self._session = session
        self._unread = {n.name: n.reason for n in nodes if isinstance(n, UnreadNode)}
        self._shells: dict[str, Shell] = {}
        self._sent: dict[str, int] = {}

    async def run(self, most_ports: int, pings: Pings, pause: Callable[[], Awaitable[None]] | None) -> Flows:
        open_flows = [f for f in self._flows if not f.reason]
        names = list(dict.fromkeys(port.node for f in open_flows for port in (f.path.source, f.path.destination)))
        before = await self._ends(names)
        for flow in open_flows:
            self._choose(flow, before)
            flow.planned = first_datagrams(flow.path, most_ports)
        await self._send([f for f in open_flows if not f.reason], before, self._first)
        self._end_after(await pings())
        after = await self._ends(names)
        doubtful = [f for f in open_flows if not f.reason and any(map(is_silent, f.ports))]
        if doubtful and pause is not None:
            await pause()
        for flow in doubtful:
            if (port := closed_port(after.get(flow.path.destination.node, UdpEnds()))) != flow.port:
                flow.reason = f"{flow.path.destination.node}: port {flow.port} is no longer known to be closed ({port})"
            flow.planned = later_datagrams(flow.path, flow.ports)
        if doubtful := [f for f in doubtful if not f.reason]:
            await self._send(doubtful, after, self._later)
            after = await self._ends(names)
        return Flows(tuple(f.probe() for f in self._flows), tuple(self._arrivals(before, after)))

    def _end_after(self, pings: Sequence[PathProbe]) -> None:
        """End the paths on which pings show that more datagrams would show nothing more."""
        verdicts = {(p.network, p.from_node, p.to_node): p.verdict for p in pings}
        for flow in (f for f in self._flows if not f.reason and any(map(is_silent, f.ports))):
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

    async def _ends(self, names: Iterable[str]) -> dict[str, UdpEnds]:
        found = await asyncio.gather(*map(self._end, names))
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
        await asyncio.gather(*(self._of_node(node, own, ends[node].python, take) for node, own in by_node.items()))

    async def _of_node(self, node: str, flows: Sequence[_Flow], python: str, take: _Take) -> None:
        words = [str(ANSWER_MS), *(word(f.path, f.port, f.planned, f.offset_ms) for f in flows)]
        text, failure = "", ""
        with self._session.journal.entry(node, "udp datagrams", UDP_DATAGRAMS.action("udp datagrams")) as entry:
            try:
                async with asyncio.timeout(RUN_S):
                    if node == self._session.local_node:
                        text = await _sent_here(words)
                    else:
                        text = await _sent_there(self._shells[node], python, words)
                entry.text = "\n".join([*words, text])
            except TimeoutError:
                failure = f"the datagrams of {node} were not sent within {RUN_S:g} s"
            except (ShellError, OSError) as error:
                failure = f"{node}: {error}"
            if failure:
                entry.outcome = failure
        answers = parse_answers(text)
        if not failure and not answers:
            failure = (
                f"the Python of {node} did not send: {text.strip().splitlines()[-1] if text.strip() else 'silent'}"
            )
        for number, flow in enumerate(flows):
            own = [answer for answer in answers if answer.path == number]
            took = sum(not answer.what.startswith("unsent:") for answer in own)
            target = flow.path.destination.node
            self._sent[target] = self._sent.get(target, 0) + took
            if failure or not own:
                flow.reason = failure or f"{node} sent no datagram on this path"
            else:
                take(flow, own)

    @staticmethod
    def _first(flow: _Flow, answers: Sequence[DatagramAnswer]) -> None:
        flow.ports = first_ports(flow.planned, answers)

    @staticmethod
    def _later(flow: _Flow, answers: Sequence[DatagramAnswer]) -> None:
        slots = {datagram.slot for datagram in flow.planned}
        flow.ports = tuple(
            with_later(port, [a for a in answers if a.slot == slot], full_payload=flow.path.full_payload)
            if slot in slots
            else port
            for slot, port in enumerate(flow.ports)
        )

    def _arrivals(self, before: Mapping[str, UdpEnds], after: Mapping[str, UdpEnds]) -> Iterable[FlowArrivals]:
        for node, sent in self._sent.items():
            first = before[node].no_ports if node in before else None
            last = after[node].no_ports if node in after else None
            if first is not None and last is not None and last >= first:
                yield FlowArrivals(node, sent, last - first)


async def _sent_here(words: Sequence[str]) -> str:
    """Send from this node, in a thread: the sender waits for times and answers."""
    lines: list[str] = []
    stopped = Event()
    try:
        await asyncio.to_thread(udp_sender.run, words, lines.append, stopped.is_set)
    finally:
        stopped.set()
    return "\n".join(lines)


async def _sent_there(shell: Shell, python: str, words: Sequence[str]) -> str:
    command = ["timeout", "-s", "INT", f"{RUN_S:g}", python, "-E", "-s", "-S", "-c", SENDER_TEXT, *words]
    return (await shell.start(command)).text
