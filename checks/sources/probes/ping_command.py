"""Send DF pings with the system's own `ping` in a shell: on a peer, or on this node without an ICMP socket."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass

from checks.model.facts import PingSeries
from checks.model.packet_sizes import ICMP_HEADER, SMALL_PAYLOAD, packet_of
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


def parse_ping(text: str, *, payload: int, requested: int, source_ip: str) -> Tally:
    """Parse the output of `ping -n -s payload -c requested`.

    Each answer counts once (`DUP!` does not count), and only with the size that was sent. If ping ended without its
    summary, `requested` packets count as sent, unless ping failed before it sent any.
    """
    tally = Tally(payload)
    seen: set[int] = set()
    sent: int | None = None
    started = False
    for line in (raw.strip() for raw in text.splitlines()):
        started = started or line.startswith("PING ")
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
        sent = requested if started or seen else 0
    tally.sent = max(min(sent, requested), len(seen), min(tally.refused, requested))
    tally.refused = min(tally.refused, tally.sent - len(seen))
    return tally


def _note_icmp_error(tally: Tally, sender: str, what: str, source_ip: str) -> None:
    """Record a line `From ADDRESS icmp_seq=N ...`."""
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
    """The number; 0 for a number of more than 18 digits, which no ping prints."""
    return int(digits) if len(digits) <= 18 else 0


RUN = 3
"""Packets of one ping process, sent at once (`-l`): as many as every release of iputils permits to every user."""
INTERVAL_S = 0.2
"""The shortest interval that every release permits to every user. Packets sent at once have no interval, but after an
answer ping waits this time for the missing answers."""

SINCE_FRACTIONAL_WAIT = 20200821
"""The iputils release from which `-W 0.3` always means 0.3 s; some older releases read it as 0."""
SINCE_PING_6 = 20151218
"""The iputils release in which ping6 became `ping -6`."""

LEAST_WAIT_S = 0.5
"""The shortest wait for answers: on a busy node ping reads an answer late, and none after its end."""
END_S = 1.0
"""Seconds after its expected end at which a ping is interrupted."""
GIVE_UP_S = 5.0
"""Seconds after its expected end at which a running ping means that the node hangs, not the network."""


class Slots:
    """Limit the number of racwire's pings that run on a node at the same time.

    A raw ICMP socket receives the answers to all pings of the node until ping has set its filter. Several pings of 9000
    bytes that start together fill each other's receive buffers, which would look like loss on the wire. So they run one
    after the other, a few milliseconds each. A ping without an answer lets the next one start, because nothing arrives
    that could disturb it. The pings of a search run at the same time, because the search repeats its tests.
    """

    SIDE_BY_SIDE = 24
    ALONE_S = 0.25

    def __init__(self) -> None:
        self._alone = asyncio.Semaphore(1)
        self._together = asyncio.Semaphore(self.SIDE_BY_SIDE)

    async def start(
        self, ping: Callable[[], asyncio.Future[Completed]], *, alone: bool, patience_s: float
    ) -> asyncio.Future[Completed]:
        """Start a ping at its turn, and return after its end or after `patience_s` seconds."""
        turn_s = min(patience_s, self.ALONE_S) if alone else patience_s
        async with self._alone if alone else self._together:
            future = ping()
            await asyncio.wait((future,), timeout=turn_s)
        if not future.done() and patience_s > turn_s:
            await asyncio.wait((future,), timeout=patience_s - turn_s)
        return future


@dataclass(frozen=True, slots=True)
class PingTool:
    """The features of the `ping` of one node."""

    release: int
    """The release date of iputils as a number; 0 where ping does not print it."""
    can_probe: bool
    """Whether it has `-M probe`, which sets DF and ignores a remembered path MTU."""
    can_time_out: bool
    """Whether the node has `timeout`: without carrier, ping repeats its attempts to send for many seconds."""

    def wait_s(self, timeout_s: float) -> float:
        """The value of `-W` for a time-out, in seconds."""
        return max(LEAST_WAIT_S, timeout_s) if self.release >= SINCE_FRACTIONAL_WAIT else max(1, round(timeout_s))

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


async def detect_ping(shell: Shell) -> PingTool:
    """Detect the features of a node's ping. Raises CannotPingError where it cannot send DF pings, and ShellError."""
    return read_ping_tool((await shell.run(PING_TOOL)).text, shell.node)


def read_ping_tool(text: str, node: str) -> PingTool:
    """Parse the answer of the program PING_TOOL. Raises CannotPingError where the ping cannot send DF pings."""
    if "BusyBox" in text:
        raise CannotPingError(
            f"the ping of {node} is from BusyBox, which cannot forbid fragmentation (it has no -M): install iputils"
        )
    if "PING " not in text:
        first = text.strip().splitlines()[0] if text.strip() else "ping printed nothing"
        raise CannotPingError(f"the ping of {node} does not work: {first}")
    if not re.search(r"^dont-fragment: PING ", text, re.MULTILINE):
        raise CannotPingError(
            f"the ping of {node} cannot forbid fragmentation, because it has no -M do: install a newer iputils"
        )
    release = re.search(r"iputils[ -]s?(\d{8})\b", text, re.ASCII)
    return PingTool(
        release=int(release[1]) if release else 0,
        can_probe=re.search(r"^probe: PING ", text, re.MULTILINE) is not None,
        can_time_out="timeout: yes" in text,
    )


class CommandPinger:
    """Send pings on one path with the node's own ping."""

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
        """Run the pings at the same time within the limits, and return a series for each request.

        Raises CannotPingError, ShellError and BudgetSpentError as Pinger.ping does.
        """
        self._limits.demand(sum(r.count for r in requests))
        tallies = [Tally(r.payload) for r in requests]
        await _together(
            self._send(request, tally, timeout_s, hurry) for request, tally in zip(requests, tallies, strict=True)
        )
        return [t.series() for t in tallies]

    async def _send(self, request: Request, tally: Tally, timeout_s: float, hurry: bool) -> None:
        """Send one size. If the first run is refused, the rest is not sent: a refused size is refused every time."""
        parts = list(self._parts(request))
        # Packets that the kernel refuses, and packets without an answer, do not disturb other pings.
        alone = not hurry and request.payload <= self.path.full_payload
        if not hurry:
            await self._run(parts.pop(0), tally, timeout_s, alone=alone)
            if tally.refused or tally.too_big_mtu is not None:
                return
            self._limits.receiver.has_lost |= tally.lost > 0 and request.payload > SMALL_PAYLOAD
            alone = alone and bool(tally.rtts_ms)
            parts = list(self._parts(Request(request.payload, request.count - tally.sent)))
        await _together(self._run(part, tally, timeout_s, alone=alone) for part in parts)

    def _parts(self, request: Request) -> Iterator[Request]:
        """Yield the request in runs of ping, each within the limit of bytes in flight."""
        receiver = self._limits.receiver
        most_bytes = receiver.AT_ONCE if receiver.has_lost else self._limits.max_bytes_in_flight
        most = most_bytes // packet_of(request.payload, self.path.version)
        run = max(1, min(RUN, most))
        for sent in range(0, request.count, run):
            yield Request(request.payload, min(run, request.count - sent))

    async def _enter(self, part: Request) -> None:
        size = self._bytes(part)
        await self._pace.take(part.count)
        await self._limits.receiver.take(size)
        async with self._room:
            await self._room.wait_for(lambda: self._window.admits(size))
            self._window.add(size)

    def _bytes(self, part: Request) -> int:
        return part.count * packet_of(part.payload, self.path.version)

    async def _run(self, part: Request, tally: Tally, timeout_s: float, *, alone: bool) -> None:
        await self._enter(part)
        try:
            found = await self._answer(part, timeout_s, alone=alone)
            self._limits.spend(part.count - found.refused, packet_of(part.payload, self.path.version))
            tally.absorb(found)
        finally:
            async with self._room:
                self._window.remove(self._bytes(part))
                self._room.notify_all()

    async def _answer(self, part: Request, timeout_s: float, *, alone: bool) -> Tally:
        """The result of one ping. Raises CannotPingError where it does not end."""
        ends_s = self._tool.wait_s(timeout_s)
        # Interrupted, ping still prints its summary.
        ending = ["timeout", "-s", "INT", f"{ends_s + END_S:.1f}"] if self._tool.can_time_out else []
        command = ["env", "LC_ALL=C", *ending, *self._tool.command(self.path, part, timeout_s)]
        patience_s = ends_s + GIVE_UP_S
        future = await self._slots.start(lambda: self._shell.start(command), alone=alone, patience_s=patience_s)
        if not future.done():
            future.cancel()
            raise CannotPingError(f"a ping on {self._shell.node} did not end within {patience_s:.1f} s: the node hangs")
        return parse_ping(
            future.result().text, payload=part.payload, requested=part.count, source_ip=self.path.source.ip
        )


async def _together(works: Iterable[Coroutine[None, None, None]]) -> None:
    """Run all coroutines at the same time; after a failure or a cancellation, cancel the others."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
