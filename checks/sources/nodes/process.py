"""A process that is talked to over its three streams, and that can be ended at once, with all that it started."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from weakref import WeakKeyDictionary

_POLITE_S = 0.2
"""Seconds between SIGTERM and SIGKILL: ssh uses them to leave a shared connection in order."""
_LAST_WORDS_S = 0.1
"""Seconds after the exit in which what was still in the pipes is read. A process that the dead one left behind
(ssh with ControlPersist does) can hold them open for ever."""
_STDOUT, _STDERR = 1, 2

_TURNS: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
"""One start at a time: a fork blocks the loop for some 20 ms, and between those of eight peers keys are answered."""


class TalkingProcess(asyncio.SubprocessProtocol):
    """The leader of its own process group, so that what it starts can be ended with it."""

    def __init__(
        self,
        *,
        heard: Callable[[bytes], None],
        heard_aside: Callable[[bytes], None],
        ended: Callable[[int], None],
    ) -> None:
        """`heard` is told its stdout, `heard_aside` its stderr, and at last `ended`, once, its exit status."""
        self._heard = heard
        self._heard_aside = heard_aside
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.SubprocessTransport | None = None
        self._starting: asyncio.Task[tuple[asyncio.SubprocessTransport, TalkingProcess]] | None = None
        self._exited = asyncio.Event()
        self._told = False

    async def start(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        """Start it. Raises OSError when the program cannot be started."""
        async with _TURNS.setdefault(self._loop, asyncio.Lock()):
            # Never cancelled on the way: asyncio would then wait for pipes that it has not yet connected, for ever. Who
            # is cancelled here closes the process, and that waits for the start, which takes no longer than a fork.
            self._starting = asyncio.create_task(
                self._loop.subprocess_exec(lambda: self, *argv, env=dict(env), start_new_session=True)
            )
            await asyncio.shield(self._starting)

    def write(self, data: bytes) -> None:
        """Send to its stdin; never waits."""
        stdin = self._transport.get_pipe_transport(0) if self._transport is not None else None
        if isinstance(stdin, asyncio.WriteTransport) and not stdin.is_closing():
            stdin.write(data)

    async def close(self) -> None:
        """End it and all that it started, in well under half a second also when it hangs. Can be called twice."""
        if self._starting is not None:
            await asyncio.wait([self._starting])
        transport, self._transport = self._transport, None
        if transport is None:
            return
        leader = transport.get_pid()
        try:
            if not self._exited.is_set():
                _signal_group(leader, signal.SIGTERM)
                await self._wait_for_exit()
        finally:
            _signal_group(leader, signal.SIGKILL)
            transport.close()
        if not self._exited.is_set():
            await self._wait_for_exit()

    async def _wait_for_exit(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_POLITE_S):
                await self._exited.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Called by asyncio."""
        if fd == _STDOUT:
            self._heard(data)
        elif fd == _STDERR:
            self._heard_aside(data)

    def process_exited(self) -> None:
        """Called by asyncio, perhaps before the last output."""
        self._exited.set()
        if self._transport is not None:
            status = self._transport.get_returncode()
            self._loop.call_later(_LAST_WORDS_S, self._tell_end, 255 if status is None else status)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by asyncio when the process has exited and every pipe is closed."""
        status = self._transport.get_returncode() if self._transport is not None else None
        self._tell_end(255 if status is None else status)

    def _tell_end(self, exit_status: int) -> None:
        if not self._told:
            self._told = True
            self._ended(exit_status)


def _signal_group(leader: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)
