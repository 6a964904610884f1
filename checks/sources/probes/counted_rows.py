"""Send rows of datagrams on one path, and let the receiver's kernel count those that arrive.

Udp.NoPorts is one counter for all senders and networks of a node. So a row has one sender, one network and one
receiver. Every few seconds, and after each row where others sent lately, an interval without one is counted, too:
where some arrive in it, or more arrive than were sent, the row is sent again. Rows are short, so that what ends them
ends the sending.

Datagrams in fragments that do not arrive hold memory of their receiver for `ipfrag_time`, which the database needs. Few
of them are sent a second, never more than may be incomplete at one time, and the memory in use is read meanwhile.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from checks.model.fragment_memory import FRAGMENT_SHARE, LEAST_FRAGMENT_BYTES
from checks.model.packet_sizes import packet_of
from checks.sources.kernel_files import UDP_ARRIVALS, UDP_ENDS
from checks.sources.nodes.shell import ShellError
from checks.sources.probes.path import Path
from checks.sources.probes.probe_hosts import ProbeSession
from checks.sources.probes.udp_plan import (
    BLOCK_PAYLOAD,
    INCOMPLETE_BYTES,
    Datagram,
    DatagramAnswer,
    Receiver,
    UdpEnds,
    closed_port,
    parse_answers,
    parse_ends,
    word,
)
from checks.sources.probes.udp_sender import COUNTED, CUT_COUNTED
from checks.sources.probes.udp_sending import sent

PER_SECOND = 500
"""Datagrams a second, over all senders: one row is sent at a time."""
MOST_AT_ONCE = 250
"""Datagrams of a row: half a second."""
CUT_PER_SECOND = 20
"""Datagrams in fragments a second to one receiver."""
CUT_AT_ONCE = 4
STOP_SHARE = 0.25
"""The share of a receiver's memory for reassembly, in use by any program, at which no more fragments are sent."""
MEMORY_EVERY_S = 0.1
"""Seconds between two readings of that memory while fragments are sent."""
MEMORY_AGE_S = 0.2
"""The greatest age of a reading with which fragments are sent."""
CONTROL_S = 0.2
"""Seconds without a datagram, in which those of others are counted."""
_CONTROL_EVERY_S = 2.0
"""Seconds after which such an interval follows a row to the same receiver again."""
_STRANGERS_S = 30.0
"""Seconds for which each row has its own, once a datagram of others was counted."""
_SETTLE_S = 0.02
_DISTURBED_TIMES = 5
_JITTER_S = 0.1, 0.5
_ENDS_S = 5.0
"""Seconds for which the table of a receiver's ports is taken as known."""
_BUSY_S = 10.0
"""Seconds to wait for another racwire of the sender, which sends the datagrams of a check."""
_TRIES = 5
_RUN_S = 5.0
"""Seconds for the sender of one row."""


class CannotCountError(Exception):
    """Datagrams cannot be sent or counted on a path. The text is a clause that says why."""


class FragmentsStoppedError(CannotCountError):
    """No more fragments may be sent: the memory for reassembly of the receiver."""


@dataclass(frozen=True, slots=True)
class Row:
    """Datagrams of a path that are alike."""

    path: Path
    payload: int
    number: int
    ports: tuple[int, ...] = (0,)
    """The source ports, in turn; 0 for one that the kernel chooses."""
    is_cut: bool = False
    """Whether the sender's kernel may cut them into fragments."""


@dataclass(frozen=True, slots=True)
class RowCount:
    """What became of a row."""

    sent: int
    arrived: int
    ports: tuple[int, ...] = ()
    """The source ports that it had."""
    held: int = 0
    """Datagrams in fragments that were not sent."""

    @property
    def lost(self) -> int:
        """Those that left and did not arrive."""
        return max(0, self.sent - self.arrived)


@dataclass(frozen=True, slots=True)
class _Receiver:
    """A receiving node as it was read last."""

    ends: UdpEnds
    ends_s: float
    no_ports: int | None
    memory: int | None
    read_s: float


def cut_payload(path: Path) -> int:
    """Return the payload of a datagram that the sender's kernel cuts: a block, where that does not fit."""
    return max(BLOCK_PAYLOAD, path.full_payload + 1000)


def held_bytes(payload: int) -> int:
    """Return the memory that an incomplete datagram holds at most: kernels count the whole buffer of each fragment."""
    return INCOMPLETE_BYTES if payload <= BLOCK_PAYLOAD else 2 * payload


class CountedRows:
    """Sends rows between nodes, one at a time."""

    def __init__(self, session: ProbeSession, fragment_s: float) -> None:
        """`fragment_s`: the longest `ipfrag_time` of the nodes."""
        self._session = session
        self._fragment_s = fragment_s
        self._receivers: dict[str, _Receiver] = {}
        self._incomplete: dict[str, deque[tuple[float, int]]] = defaultdict(deque)
        """By receiver: when datagrams in fragments were sent that did not arrive, and the bytes that they may hold."""
        self._next_cut_s: dict[str, float] = {}
        self._next_control_s: dict[str, float] = {}
        self._control_until_s: dict[str, float] = {}

    async def count(self, row: Row) -> RowCount:
        """Send a row and count it. Raises CannotCountError, and FragmentsStoppedError where no fragment may be sent."""
        for _ in range(_DISTURBED_TIMES):
            found, strangers = await self._once(row)
            if not strangers and found.arrived <= found.sent:
                return found
            await asyncio.sleep(random.uniform(*_JITTER_S))  # noqa: S311 - no secret
        raise CannotCountError(
            f"{row.path.destination.node} counts datagrams of others to closed ports, so racwire cannot count its own"
        )

    def incomplete_until(self) -> float:
        """Return when the last incomplete datagram gives its memory back, by the monotonic clock; 0 for none."""
        return max((at + self._fragment_s for held in self._incomplete.values() for at, _ in held), default=0.0)

    async def _once(self, row: Row) -> tuple[RowCount, int]:
        """Send the row once, and return what arrived, and what others sent meanwhile."""
        node = row.path.destination.node
        port = await self._closed_port(node)
        python = await self._python(row.path.source.node)
        most = 0
        if row.is_cut:
            await asyncio.sleep(max(0.0, self._next_cut_s.get(node, 0.0) - time.monotonic()))
            row = replace(row, number=min(row.number, CUT_AT_ONCE))
        before = await (self._read_soon(node) if row.is_cut else self._read(node))
        if row.is_cut:
            row = replace(row, number=self._cut_room(row, before))
            most = row.number
            self._next_cut_s[node] = time.monotonic() + row.number / CUT_PER_SECOND
            self._note_incomplete(node, row, row.number)
        async with self._memory_watched(node) if row.is_cut else _nothing():
            answers = await self._send(row, port, python, most)
        left = [answer for answer in answers if answer.what == "sent"]
        if not left:
            raise CannotCountError(_why_unsent(row, answers))
        await asyncio.sleep(_SETTLE_S)
        after = await self._read(node)
        if before.no_ports is None or after.no_ports is None:
            raise CannotCountError(f"the Udp.NoPorts of {node} could not be read")
        arrived = after.no_ports - before.no_ports
        if row.is_cut:
            self._incomplete[node].pop()
            self._note_incomplete(node, row, max(0, len(left) - arrived))
        ports = tuple(dict.fromkeys(answer.source_port for answer in left))
        held = sum(answer.what == "held" for answer in answers)
        return RowCount(len(left), arrived, ports, held), await self._strangers(node, after, arrived > len(left))

    async def _strangers(self, node: str, after: _Receiver, is_more: bool) -> int:
        """Return the datagrams of others in an interval without own ones; 0 where none is due."""
        now = time.monotonic()
        if is_more:
            self._control_until_s[node] = now + _STRANGERS_S
        if now < self._next_control_s.get(node, 0.0) and now > self._control_until_s.get(node, 0.0):
            return 0
        await asyncio.sleep(CONTROL_S)
        control = await self._read(node)
        strangers = (control.no_ports or 0) - (after.no_ports or 0)
        self._next_control_s[node] = time.monotonic() + _CONTROL_EVERY_S
        if strangers:
            self._control_until_s[node] = time.monotonic() + _STRANGERS_S
        return strangers

    # --- the sender ---------------------------------------------------------------------------------------------------

    async def _send(self, row: Row, port: int, python: str, most: int) -> list[DatagramAnswer]:
        apart = 1000 // (CUT_PER_SECOND if row.is_cut else PER_SECOND)
        kind = CUT_COUNTED if row.is_cut else COUNTED
        datagrams = [
            Datagram(k * apart, k % len(row.ports), row.ports[k % len(row.ports)], row.payload, kind)
            for k in range(row.number)
        ]
        words = ["0:0:0:1", word(row.path, port, datagrams, Receiver(0, most, None))]
        source, until = row.path.source.node, time.monotonic() + _BUSY_S
        shell = await self._session.shell(source)
        while True:
            text, failure = await sent(self._session, shell, source, python, words, run_s=_RUN_S)
            if failure:
                raise CannotCountError(failure)
            if text.strip() != "busy":
                return parse_answers(text)
            if time.monotonic() >= until:
                raise CannotCountError(f"another racwire of {source} sends")
            await asyncio.sleep(random.uniform(*_JITTER_S))  # noqa: S311 - no secret

    async def _python(self, node: str) -> str:
        if node == self._session.local_node:
            return ""
        if not (python := (await self._known(node)).ends.python):
            raise CannotCountError(f"{node} has no Python in /usr/bin, so it cannot send datagrams")
        return python

    # --- the receiver -------------------------------------------------------------------------------------------------

    async def _closed_port(self, node: str) -> int:
        known = await self._known(node, _ENDS_S)
        port = closed_port(known.ends)
        if isinstance(port, str):
            raise CannotCountError(f"{node}: {port}")
        return port

    async def _known(self, node: str, most_age_s: float = float("inf")) -> _Receiver:
        """Return the ports of a node; they are read again where they are older."""
        known = self._receivers.get(node)
        if known is None or time.monotonic() - known.ends_s > most_age_s:
            at = time.monotonic()
            shell = await self._session.shell(node)
            ends = parse_ends((await shell.run(UDP_ENDS)).text)
            known = self._receivers[node] = _Receiver(ends, at, ends.no_ports, ends.reassembling_bytes, at)
        return known

    async def _read(self, node: str) -> _Receiver:
        at = time.monotonic()
        shell = await self._session.shell(node)
        found = parse_ends((await shell.run(UDP_ARRIVALS)).text)
        known = replace(self._receivers[node], no_ports=found.no_ports, memory=found.reassembling_bytes, read_s=at)
        self._receivers[node] = known
        return known

    # --- the memory for reassembly ------------------------------------------------------------------------------------

    def _cut_room(self, row: Row, receiver: _Receiver) -> int:
        """Return how many datagrams of the row may be sent now. Raises FragmentsStoppedError where none may."""
        node, now = row.path.destination.node, time.monotonic()
        self._demand_memory(node, receiver)
        held = self._incomplete[node]
        while held and held[0][0] + self._fragment_s < now:
            held.popleft()
        most = int(receiver.ends.reassembly_bytes * FRAGMENT_SHARE) - sum(size for _, size in held)
        if (number := min(row.number, most // held_bytes(row.payload))) <= 0:
            raise FragmentsStoppedError(
                f"as many of its datagrams in fragments did not arrive at {node} as may be missing at one time: they "
                f"hold {FRAGMENT_SHARE:.0%} of its memory for reassembly for {self._fragment_s:.0f} s"
            )
        return number

    async def _read_soon(self, node: str) -> _Receiver:
        """Read the memory, and again where that took long. Raises FragmentsStoppedError where it always does."""
        for _ in range(_TRIES):
            receiver = await self._read(node)
            if time.monotonic() - receiver.read_s <= MEMORY_AGE_S:
                return receiver
        raise FragmentsStoppedError(f"the memory for reassembly of {node} could not be read within {MEMORY_AGE_S} s")

    @staticmethod
    def _demand_memory(node: str, receiver: _Receiver) -> None:
        """Raise FragmentsStoppedError where too much of the memory is in use, or that is not known."""
        whole = receiver.ends.reassembly_bytes or LEAST_FRAGMENT_BYTES
        if receiver.memory is None:
            raise FragmentsStoppedError(f"the memory for reassembly of {node} could not be read")
        if receiver.memory > whole * STOP_SHARE:
            share = receiver.memory / whole
            raise FragmentsStoppedError(f"{share:.0%} of the memory for reassembly of {node} is in use")

    def _note_incomplete(self, node: str, row: Row, number: int) -> None:
        self._incomplete[node].append((time.monotonic(), number * held_bytes(row.payload)))

    @asynccontextmanager
    async def _memory_watched(self, node: str) -> AsyncIterator[None]:
        """Read the memory while fragments are sent. Raises FragmentsStoppedError afterwards, where it filled."""
        fault: list[CannotCountError] = []

        async def watch() -> None:
            try:
                while True:
                    self._demand_memory(node, await self._read(node))
                    await asyncio.sleep(MEMORY_EVERY_S)
            except FragmentsStoppedError as error:
                fault.append(error)
            except ShellError as error:
                fault.append(FragmentsStoppedError(str(error)))

        task = asyncio.create_task(watch())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if fault:
            raise fault[0]


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield


def _why_unsent(row: Row, answers: Sequence[DatagramAnswer]) -> str:
    """Return why none of the row was sent, as a clause."""
    sender = row.path.source.node
    errors = [answer.what.removeprefix("unsent:") for answer in answers if answer.is_unsent]
    if "EMSGSIZE" in errors:
        size = packet_of(row.payload, row.path.version)
        return f"the kernel of {sender} refuses to send a packet of {size} bytes"
    return f"{sender} sent no datagram ({errors[0]})" if errors else f"the Python of {sender} did not send"
