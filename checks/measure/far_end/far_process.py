"""Opens a far end on a peer through ssh, keeps it alive, and reads what it counted."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple, Self

from checks.measure.far_end.programs import LOCK_IS_HELD, FarLimits, Interpreter, command_line, message_of
from checks.measure.near_end.control import HEARTBEAT_S
from checks.model.sanitize import sanitize
from checks.model.settings import SshSettings
from checks.model.wording import continued
from checks.sources.nodes.shell import Shell

_READY_S = 5.0
"""Seconds from the program's text to its first line: a Perl from a cold network file system needs seconds."""
_ANSWER_S = 2.0
_MOST_NOISE = 65_536
"""Bytes that a far end may print before its first line: banners of wrappers."""


class FarEndError(Exception):
    """A far end could not be opened, or has ended. The message is one sentence."""


class FarCounts(NamedTuple):
    """What a far end counted since it was opened."""

    packets_in: int
    """Datagrams with the token, and flows received whole."""
    bytes_in: int
    packets_out: int
    bytes_out: int
    refused: int
    """Answers that its kernel did not take."""
    foreign: int
    """Datagrams and connections of others, or without the token."""
    dropped: int
    """Datagrams that its own full socket dropped: not the network's losses."""
    cpu_ns: int
    fragment_bytes: int
    """The memory for reassembly in use on its node."""
    receive_buffer: int
    """The buffers of its socket, in bytes, as the kernel counts them: twice those that were given."""
    send_buffer: int


class FarEnd:
    """A running far end. Always `close` it: it is gone within a second in any case."""

    def __init__(self, node: str, interpreter: Interpreter) -> None:
        self.node = node
        self.interpreter = interpreter
        self.token = secrets.token_hex(16)
        self.udp_port = self.tcp_port = 0
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Resolved with the reason, as a clause, when the far end has ended."""
        self.is_out_of_room = False
        """Whether it ended because too much of its node's memory for reassembly was in use: a sign of harm."""
        self._last: FarCounts | None = None
        self._shell: Shell | None = None
        self._buffer = b""
        self._lines: asyncio.Queue[list[str]] = asyncio.Queue()
        self._heart: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        node: str,
        settings: SshSettings,
        candidates: Sequence[Interpreter],
        own: str,
        peer: str,
        limits: FarLimits,
    ) -> Self:
        """Open a far end with the first interpreter that runs it, bound to the address `own`, for the address `peer`.

        Raises FarEndError where none does, and ShellError where the node cannot be reached.
        """
        reasons = []
        for interpreter in candidates:
            far = cls(node, interpreter)
            try:
                await far._start(settings, own, peer, limits)
                return far
            except FarEndError as error:
                if LOCK_IS_HELD in str(error):
                    raise FarEndError(f"Another measurement runs on {node}: wait for its end.") from None
                reasons.append(f"{interpreter.path}: {error}")
        raise FarEndError(
            f"No far end runs on {node} ({'; '.join(reasons)})."
            if reasons
            else f"{node} has neither Perl nor Python where racwire looks for them, so no far end can run there."
        )

    async def _start(self, settings: SshSettings, own: str, peer: str, limits: FarLimits) -> None:
        self._shell = await Shell.open_ssh(self.node, settings, quick=True)
        started = False
        try:
            line = command_line(self.interpreter, own, peer, limits)
            self._write = self._shell.hand_over(line, self._receive)
            try:
                async with asyncio.timeout(_READY_S):
                    await self._next("text")
                    self._write(message_of(self.interpreter.language, self.token))
                    self._heart = asyncio.create_task(self._beat())
                    words = await self._next("ready")
            except TimeoutError:
                raise FarEndError(f"it did not start within {_READY_S:.0f} s") from None
            try:
                self.udp_port, self.tcp_port = int(words[1]), int(words[2])
            except (IndexError, ValueError):
                raise FarEndError("its first line names no ports") from None
            if not all(0 < port < 65_536 for port in (self.udp_port, self.tcp_port)):
                raise FarEndError("its first line names no ports")
            started = True
        finally:
            if not started:
                await self.close()

    async def counts(self) -> FarCounts:
        """Return what the far end counted so far, or until its end. Raises FarEndError where it does not answer.

        It takes what waits in its socket first: a far end that stood still has not lost it. To a request that waits
        there it sends nothing any more.
        """
        if (last := self._last) is not None:
            return last
        while not self._lines.empty():  # a late or a second answer to an earlier question
            self._lines.get_nowait()
        self._write(b"s")
        try:
            async with asyncio.timeout(_ANSWER_S):
                words = await self._next("state", "done-")
            return _counts(words)
        except TimeoutError:
            raise FarEndError(f"the far end on {self.node} did not answer for {_ANSWER_S:.0f} s") from None
        except (TypeError, ValueError):
            raise FarEndError(f"the far end on {self.node} printed counts that are no numbers") from None

    async def close(self) -> None:
        """End the far end and its connection, in under 0.5 s."""
        if self._heart is not None:
            self._heart.cancel()
        if self._shell is not None:
            if self._shell.ended is None:
                with suppress(OSError):
                    self._write(b"q")
            await self._shell.close()
        if not self.ended.done():
            self.ended.set_result("racwire closed it")

    async def _beat(self) -> None:
        """Write a heartbeat every 250 ms, and notice the end of the connection."""
        while self._shell is not None and (error := self._shell.ended) is None:
            self._write(b".")
            await asyncio.sleep(HEARTBEAT_S)
        self._end(str(error).rstrip("."))

    def _receive(self, data: bytes) -> None:
        *lines, self._buffer = (self._buffer + data)[-_MOST_NOISE:].split(b"\n")
        for line in lines:
            words = line.decode("ascii", errors="replace").split()
            if words[:1] != ["racwire"] or len(words) < 2:
                continue  # a banner of a wrapper
            if words[1].startswith("done-"):
                with suppress(TypeError, ValueError):
                    self._last = _counts(words[1:])
                self.is_out_of_room = words[1] == _OUT_OF_ROOM
                self._end(_ENDS.get(words[1].removeprefix("done-"), sanitize(words[1])))
            self._lines.put_nowait(words[1:])

    def _end(self, reason: str) -> None:
        if not self.ended.done():
            self.ended.set_result(reason)

    async def _next(self, *kinds: str) -> list[str]:
        """Wait for the next line of one of these kinds. Raises FarEndError where the far end ends before."""
        while True:
            waiting = asyncio.create_task(self._lines.get())
            if self._shell is not None and (error := self._shell.ended) is not None:
                self._end(continued(str(error)).rstrip("."))
            try:
                await asyncio.wait((waiting, self.ended), return_when=asyncio.FIRST_COMPLETED)
            finally:
                waiting.cancel()  # where it is not done: it would take the next line
            if not waiting.done():
                raise FarEndError(self.ended.result())
            words = waiting.result()
            if words[0].startswith(kinds):
                return words


def _counts(words: Sequence[str]) -> FarCounts:
    """Return the counts of a line. Raises TypeError and ValueError."""
    return FarCounts(*map(int, words[1:12]))


_OUT_OF_ROOM = "done-memory"
_ENDS = {
    "eof": "its connection was closed",
    "heartbeat": "no heartbeat of racwire arrived for 0.8 s",
    "seconds": "its time was over",
    "bytes": "its limit of bytes was reached",
    "cpu": "its limit of CPU time was reached",
    "quit": "racwire closed it",
    "memory": "incomplete datagrams, of all senders, held more than a quarter of its node's memory for reassembly",
}
