"""DF pings by the system's own `ping`, through a shell: from a peer, or from here where we may open no ICMP socket."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass

from checks.model.facts import PingSeries
from checks.model.packet_sizes import ICMP_HEADER, packet_of
from checks.sources.kernel_files import PING_TOOL
from checks.sources.nodes.shell import Completed, Shell
from checks.sources.probes.limits import PacketPace, PathLimits, Window
from checks.sources.probes.path import Path
from checks.sources.probes.pinger import CannotPingError, Request, Tally

_REPLY = re.compile(
    r"^(?P<bytes>\d+) bytes from (?P<from>\S+?)(?: \([^)]*\))?[:,]? icmp_[rs]eq=(?P<seq>\d+)"
    r"(?: ttl=(?P<ttl>\d+))?(?: time=(?P<ms>\d+(?:\.\d+)?) ms)?(?P<rest>.*)$",
    re.ASCII,
)
_FROM = re.compile(r"^From (?P<from>\S+?)(?: \([^)]*\))?[:,]? icmp_[rs]eq=\d+ (?P<what>.+)$", re.ASCII)
_TOO_BIG = re.compile(r"(?:frag needed and df set \(mtu = |packet too big: mtu=)(?P<mtu>\d+)", re.IGNORECASE | re.ASCII)
_LOCAL = re.compile(r"message too long(?:, mtu[ =:]+(?P<mtu>\d+))?", re.IGNORECASE | re.ASCII)
_UNREACHABLE = re.compile(r"unreachable|prohibited|no route|filtered|isolated|unknown code", re.IGNORECASE)
_SUMMARY = re.compile(r"^(?P<sent>\d+) packets transmitted, (?P<received>\d+) (?:packets )?received", re.ASCII)
_COMPLAINT = re.compile(r"^(?:ping6?: |connect: |sendmsg: |bind: |setsockopt)(?P<what>.*)$")


def parse_ping(text: str, *, payload: int, asked: int, source_ip: str) -> Tally:
    """What a `ping -n -s payload -c asked` printed about.

    Answers count once (`DUP!` does not add), and only at the size that was sent. Where ping ended without its summary,
    `asked` packets are taken as sent, unless it complained before it sent anything.
    """
    tally = Tally(payload)
    seen: set[int] = set()
    sent: int | None = None
    begun = False
    for line in (raw.strip() for raw in text.splitlines()):
        begun = begun or line.startswith("PING ")
        if reply := _REPLY.match(line):
            sequence = _number(reply["seq"])
            if _number(reply["bytes"]) != payload + ICMP_HEADER:
                tally.error(f"an answer of another size: {line}")
            elif "truncated" in reply["rest"] or "DIFFERENT ADDRESS" in reply["rest"]:
                tally.error(line)
            elif sequence not in seen:
                seen.add(sequence)
                tally.answered(float(reply["ms"] or 0.0), _number(reply["ttl"]) if reply["ttl"] else None)
        elif answer := _FROM.match(line):
            _note_icmp_error(tally, answer["from"], answer["what"], source_ip)
        elif summary := _SUMMARY.match(line):
            sent = _number(summary["sent"])
        elif refusal := _LOCAL.search(line):
            tally.refuse(_number(refusal["mtu"]) if refusal["mtu"] else None)
        elif complaint := _COMPLAINT.match(line):
            tally.error(complaint["what"].strip() or line)
    if sent is None:
        sent = asked if begun or seen else 0
    tally.sent = max(min(sent, asked), len(seen), min(tally.refused, asked))
    tally.refused = min(tally.refused, tally.sent - len(seen))
    return tally


def _note_icmp_error(tally: Tally, sender: str, what: str, source_ip: str) -> None:
    """A `From ADDRESS icmp_seq=N ...` line."""
    if too_big := _TOO_BIG.search(what):
        if sender == source_ip:
            tally.refuse(_number(too_big["mtu"]))
        else:
            tally.too_big(_number(too_big["mtu"]), sender)
        return
    if _UNREACHABLE.search(what):
        tally.unreachable_from = sender
    tally.error(what)


def _number(digits: str) -> int:
    """The number; one of absurd length, which no ping prints, is as good as none."""
    return int(digits) if len(digits) <= 18 else 0


RUN = 3
"""Packets of one ping process, sent at once (`-l`): as many as iputils of any age allows to every user."""
INTERVAL_S = 0.2
"""The shortest interval that any age allows to every user. Between packets sent at once there is none; but after an
answer ping waits so long for those still missing."""

SINCE_FRACTIONAL_WAIT = 20200821
"""The iputils release from which `-W 0.3` surely means 0.3 s; some older ones read it as 0."""
SINCE_PING_6 = 20151218
"""The iputils release in which ping6 became `ping -6`."""

START_S = 0.25
"""What starting a ping and hearing of its end may take on a peer that is well."""
END_S = 1.0
"""How long after its own end a ping is interrupted."""
GIVE_UP_S = 5.0
"""After so long beyond its own end a ping that has not ended speaks of a node that hangs, not of a network."""


class Slots:
    """How many pings of racwire may run on a node at one time.

    A raw ICMP socket is handed the answers to everybody's pings until ping has set its filter. Several pings of 9000
    bytes started together fill each other's receive buffers, and that would look like loss on the wire. So they run one
    after the other, a few milliseconds each; one that hears nothing makes way, for nothing comes that could disturb
    others. Those of a search run side by side: it asks again before it settles on anything.
    """

    SIDE_BY_SIDE = 24
    ALONE_S = 0.25

    def __init__(self) -> None:
        self._alone = asyncio.Semaphore(1)
        self._together = asyncio.Semaphore(self.SIDE_BY_SIDE)

    async def start(
        self, ping: Callable[[], asyncio.Future[Completed]], *, alone: bool, patience_s: float
    ) -> asyncio.Future[Completed]:
        """Start a ping when it is its turn, and return when it has ended or `patience_s` have passed."""
        turn_s = min(patience_s, self.ALONE_S) if alone else patience_s
        async with self._alone if alone else self._together:
            future = ping()
            await asyncio.wait((future,), timeout=turn_s)
        if not future.done() and patience_s > turn_s:
            await asyncio.wait((future,), timeout=patience_s - turn_s)
        return future


@dataclass(frozen=True, slots=True)
class PingTool:
    """What the `ping` of one node can do for its user."""

    release: int
    """iputils' release date as a number, 0 where it tells none."""
    can_probe: bool
    """Whether it has `-M probe`, which sets DF and does not heed a remembered path MTU."""
    can_time_out: bool
    """Whether the node has `timeout`: without carrier, ping tries again and again to send, for many seconds."""

    def wait_s(self, timeout_s: float) -> float:
        """What `-W` must be for a time-out."""
        return timeout_s if self.release >= SINCE_FRACTIONAL_WAIT else max(1, round(timeout_s))

    def command(self, path: Path, request: Request, timeout_s: float) -> list[str]:
        """The command line for so many packets of a size."""
        name = ["ping"]
        if path.version == 6:
            name = ["ping", "-6"] if self.release >= SINCE_PING_6 else ["ping6"]
        pace = ["-l", str(request.count), "-i", f"{INTERVAL_S:g}"] if request.count > 1 else []
        return [
            *name,
            *("-n", "-M", "probe" if self.can_probe else "do", "-s", str(request.payload)),
            *("-c", str(request.count), *pace, "-W", f"{self.wait_s(timeout_s):g}"),
            *(("-I", path.source.interface) if path.subnet_is_shared else ()),
            *("-I", path.source.ip, path.destination.ip),
        ]


async def ask_ping(shell: Shell) -> PingTool:
    """Find out what a node's ping can do. Raises CannotPingError when it cannot send DF pings, and ShellError."""
    return read_ping_tool((await shell.run(PING_TOOL)).text, shell.node)


def read_ping_tool(text: str, node: str) -> PingTool:
    """What the answer of the program PING_TOOL says. Raises CannotPingError."""
    if "BusyBox" in text:
        raise CannotPingError(f"the ping of {node} is BusyBox's, which cannot forbid fragmentation (it has no -M)")
    if "PING " not in text:
        first = text.strip().splitlines()[0] if text.strip() else "it printed nothing"
        raise CannotPingError(f"the ping of {node} does not work: {first}")
    if not re.search(r"^dont-fragment: PING ", text, re.MULTILINE):
        raise CannotPingError(f"the ping of {node} cannot forbid fragmentation: it has no -M do")
    release = re.search(r"iputils[ -]s?(\d{8})\b", text, re.ASCII)
    return PingTool(
        release=int(release[1]) if release else 0,
        can_probe=re.search(r"^probe: PING ", text, re.MULTILINE) is not None,
        can_time_out="timeout: yes" in text,
    )


class CommandPinger:
    """Sends on one path with the node's own ping."""

    sent_by = "ping"

    def __init__(
        self, path: Path, limits: PathLimits, pace: PacketPace, *, shell: Shell, tool: PingTool, slots: Slots
    ) -> None:
        """`slots` is shared by all paths of the node."""
        self.path = path
        self._limits = limits
        self._pace = pace
        self._shell = shell
        self._tool = tool
        self._slots = slots
        self._window = Window(limits.max_bytes_in_flight)
        self._room = asyncio.Condition()

    async def ping(self, requests: Sequence[Request], *, timeout_s: float, hurry: bool = False) -> list[PingSeries]:
        """Run the pings side by side as far as the limits let them, and return a series for each request."""
        self._limits.demand(sum(r.count for r in requests))
        tallies = [Tally(r.payload) for r in requests]
        await _together(
            self._send(request, tally, timeout_s, hurry) for request, tally in zip(requests, tallies, strict=True)
        )
        return [t.series() for t in tallies]

    async def _send(self, request: Request, tally: Tally, timeout_s: float, hurry: bool) -> None:
        """Send one size. The first run tells how to go on: a size that was refused is refused every time."""
        parts = list(self._parts(request))
        # What the kernel refuses is never answered, so it disturbs nobody; nor does what goes unanswered.
        alone = not hurry and request.payload <= self.path.full_payload
        if not hurry:
            await self._run(parts.pop(0), tally, timeout_s, hurry=False, alone=alone)
            if tally.refused or tally.too_big_mtu is not None:
                return
            alone = alone and bool(tally.rtts_ms)
        await _together(self._run(part, tally, timeout_s, hurry=hurry, alone=alone) for part in parts)

    def _parts(self, request: Request) -> Iterator[Request]:
        """The request in runs of ping, each of which fits in flight."""
        most = self._limits.max_bytes_in_flight // packet_of(request.payload, self.path.version)
        run = max(1, min(RUN, most))
        for sent in range(0, request.count, run):
            yield Request(request.payload, min(run, request.count - sent))

    async def _enter(self, part: Request) -> None:
        size = self._bytes(part)
        await self._pace.take(part.count)
        async with self._room:
            await self._room.wait_for(lambda: self._window.admits(size))
            self._window.add(size)

    def _bytes(self, part: Request) -> int:
        return part.count * packet_of(part.payload, self.path.version)

    async def _run(self, part: Request, tally: Tally, timeout_s: float, *, hurry: bool, alone: bool) -> None:
        await self._enter(part)
        try:
            answer = await self._answer(part, timeout_s, hurry=hurry, alone=alone)
            found = answer or Tally(part.payload, sent=part.count)
            self._limits.spend(part.count - found.refused, packet_of(part.payload, self.path.version))
            tally.absorb(found)
        finally:
            async with self._room:
                self._window.remove(self._bytes(part))
                self._room.notify_all()

    async def _answer(self, part: Request, timeout_s: float, *, hurry: bool, alone: bool) -> Tally | None:
        """What one ping found; None when, in a hurry, it was given up: then none of its packets was answered."""
        ends_s = self._tool.wait_s(timeout_s)
        # Interrupted, ping still prints its summary.
        ending = ["timeout", "-s", "INT", f"{ends_s + END_S:.1f}"] if self._tool.can_time_out else []
        command = ["env", "LC_ALL=C", *ending, *self._tool.command(self.path, part, timeout_s)]
        patience_s = timeout_s + START_S if hurry else ends_s + GIVE_UP_S
        future = await self._slots.start(lambda: self._shell.start(command), alone=alone, patience_s=patience_s)
        if not future.done():
            future.cancel()
            if hurry:
                return None
            raise CannotPingError(f"a ping on {self._shell.node} did not end within {patience_s:.1f} s: the node hangs")
        return parse_ping(future.result().text, payload=part.payload, asked=part.count, source_ip=self.path.source.ip)


async def _together(works: Iterable[Coroutine[None, None, None]]) -> None:
    """Do all at once; when one fails, or this is cancelled, the others end too."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
