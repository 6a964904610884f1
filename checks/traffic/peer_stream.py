"""Samples a peer: reads its counters through one open ssh shell, one request at a time."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

from checks.model.facts import Unknown
from checks.model.wording import lasting
from checks.sources.kernel_files import LINKS_MOST, LINKS_WITHIN_S, PEER, SAMPLE
from checks.sources.nodes.remote import parse_node
from checks.sources.nodes.session import Session
from checks.sources.nodes.shell import Shell, ShellError
from checks.traffic.links import LinkBook
from checks.traffic.node_counter import NodeCounter
from checks.traffic.node_text import NodeReading, parse_peer
from checks.traffic.pace import Backoff, Pace
from checks.traffic.samples import Event, Gap, GapCause
from checks.traffic.source_id import SourceId

_UPTIME_STEP_S = 0.01
_SILENCE_S = 2.0
"""Seconds after which a peer that has not answered yet is a gap: a login of a second or two is usual. Ours."""


class SameNodeError(Exception):
    """A peer is the same node as another one, `sampled_as`, that racwire samples already. The message is one
    sentence."""

    def __init__(self, node: str, sampled_as: str) -> None:
        super().__init__(f"{node} is another name of {sampled_as}: racwire samples this node as {sampled_as}.")
        self.sampled_as = sampled_as


async def sample_peer(
    node: str,
    session: Session,
    book: LinkBook,
    pace: Pace,
    emit: Callable[[Event], None],
    silence_s: float = 0.0,
) -> None:
    """Emit a sample of a peer at each tick, until cancelled. A lost peer is a gap, and so is a peer that has not
    answered yet after `silence_s` seconds (0: 2 s); racwire tries a lost peer again after 2 s, then after growing waits
    of up to a minute."""
    backoff, boot = Backoff(), Boot(node)

    def report(reason: str) -> None:
        emit(Gap(SourceId.node(node), time.time(), reason))

    # Only the first attempt: later the peer is a gap with the reason of the last failure.
    silence = asyncio.get_running_loop().call_later(silence_s or _SILENCE_S, report, _not_yet(node))
    try:
        while True:
            peer = Peer(node, session.settings.ssh.read_timeout_s, book, emit, silence.cancel, boot)
            try:
                await peer.sample(await session.shell(node), pace, backoff.succeeded)
            except ShellError as error:
                report(_gap_reason(error))
            except SameNodeError as error:
                source = SourceId.node(node)
                emit(Gap(source, time.time(), str(error), SourceId.node(error.sampled_as), GapCause.ALIAS))
                await session.forget(node)
                return
            finally:
                silence.cancel()
            await session.forget(node)
            await asyncio.sleep(backoff.next_s())
    finally:
        silence.cancel()


class Peer:
    """Samples of a peer over one connection."""

    def __init__(
        self,
        node: str,
        links_timeout_s: float,
        book: LinkBook,
        emit: Callable[[Event], None],
        answered: Callable[[], None] = lambda: None,
        boot: Boot | None = None,
    ) -> None:
        """`answered` is called after each answer. `boot`: the boot of the node as earlier connections read it."""
        self._node = node
        self._links_timeout_s = links_timeout_s
        self._book = book
        self._emit = emit
        self._answered = answered
        self._boot = boot or Boot(node)
        self._counter = NodeCounter()
        self._clock = PeerClock()
        self._names: set[str] = set()
        """The interfaces and their states at the last reading."""
        self._links_text = ""
        self._read_s = float("-inf")
        self._changes_s: deque[float] = deque(maxlen=LINKS_MOST)
        """When the last readings for a change were."""

    async def sample(self, shell: Shell, pace: Pace, succeeded: Callable[[], None]) -> None:
        """Emit samples without end. Raises ShellError where the connection fails, and SameNodeError where the peer is
        another sampled node."""
        await self._take(shell)
        async for _ in pace.ticks():
            await self._take(shell)
            succeeded()

    async def _take(self, shell: Shell) -> None:
        asked_s = time.monotonic()
        answer = await shell.run(SAMPLE)
        answered_s, at = time.monotonic(), time.time()
        self._answered()
        reading = parse_peer(answer.text)
        uptime_s = None if isinstance(reading, Unknown) else reading.uptime_s
        if isinstance(reading, NodeReading) and (restarted := self._boot.restart(reading, at)):
            self._emit(restarted)
        sample = self._counter.sample(self._node, reading, self._clock.read_s(asked_s, answered_s, uptime_s), at)
        if sample is not None:
            self._emit(sample)
        if isinstance(reading, NodeReading):
            await self._look_at_links(shell, reading)

    async def _look_at_links(self, shell: Shell, reading: NodeReading) -> None:
        """Read the interfaces again if one changed, appeared or disappeared, and from time to time anyway."""
        names, links_text = reading.interfaces.all_names, reading.links_text
        now_s = time.monotonic()
        changed = names != self._names or links_text != self._links_text
        is_rare = len(self._changes_s) < LINKS_MOST or now_s - self._changes_s[0] >= LINKS_WITHIN_S
        if changed and is_rare:
            self._changes_s.append(now_s)
        elif now_s - self._read_s < (PEER.every_s or 0):
            return
        self._names, self._links_text, self._read_s = names, links_text, now_s
        found = parse_node(self._node, (await shell.run(PEER, timeout_s=self._links_timeout_s)).text)
        if found.interfaces:  # none where the peer lacks `ip`: its counters are still sampled
            self._book.know(self._node, found.interfaces)
        if other := self._book.same_node(self._node):
            raise SameNodeError(self._node, other)


class Boot:
    """The boot of a peer, which stays known when a connection is lost."""

    def __init__(self, node: str) -> None:
        self._node = node
        self._id = ""

    def restart(self, reading: NodeReading, at: float) -> Gap | None:
        """Return the gap of a node that was booted since the last reading; None for one that was not."""
        before, self._id = self._id, reading.boot_id or self._id
        if before in ("", self._id):
            return None
        ago = "" if reading.uptime_s is None else f" {lasting(reading.uptime_s)} ago"
        reason = f"It has another boot id: it was booted{ago}."
        return Gap(SourceId.node(self._node), at, reason, cause=GapCause.RESTARTED, up_s=reading.uptime_s)


class PeerClock:
    """The estimated time at which a peer's counters were read.

    The time is between the request and the answer. Where these are far apart, on a network in trouble, the peer's own
    uptime gives the time since the last reading, to a hundredth of a second.
    """

    def __init__(self) -> None:
        self._before: tuple[float, float] | None = None

    def read_s(self, asked_s: float, answered_s: float, uptime_s: float | None) -> float:
        """Return the moment of the reading. Moments of one peer can be compared with each other."""
        moment_s = (asked_s + answered_s) / 2
        if uptime_s is None:
            self._before = None
            return moment_s
        if self._before is not None:
            since_s = uptime_s - self._before[1]
            moment_s = self._before[0] + min(
                max(moment_s - self._before[0], since_s - _UPTIME_STEP_S), since_s + _UPTIME_STEP_S
            )
        self._before = moment_s, uptime_s
        return moment_s


def _not_yet(node: str) -> str:
    return f"{node} has not answered yet: racwire waits for the ssh login and the first counters."


def _gap_reason(error: ShellError) -> str:
    return str(error).replace(": run racwire again.", "; racwire connects again by itself.")
