"""A process with three pipes, which can be ended at once together with the processes that it started."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from weakref import WeakKeyDictionary

_POLITE_S = 0.2
"""Seconds between SIGTERM and SIGKILL, in which ssh can close a shared connection."""
_LAST_OUTPUT_S = 0.1
"""Seconds after the exit in which the rest of the pipes is read. A process that the ended one left behind (ssh with
ControlPersist leaves one) can hold the pipes open for ever."""
_STDOUT, _STDERR = 1, 2

_TURNS: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
"""One start at a time: a fork blocks the loop for about 20 ms, and the loop must answer keys between eight forks."""


class TalkingProcess(asyncio.SubprocessProtocol):
    """The leader of its own process group, so that the processes that it starts can be ended with it."""

    def __init__(
        self,
        *,
        on_stdout: Callable[[bytes], None],
        on_stderr: Callable[[bytes], None],
        on_exit: Callable[[int], None],
    ) -> None:
        """`on_stdout` and `on_stderr` receive its output; `on_exit` receives its exit status, once, at last."""
        self._on_stdout = on_stdout
        self._on_stderr = on_stderr
        self._on_exit = on_exit
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.SubprocessTransport | None = None
        self._starting: asyncio.Task[tuple[asyncio.SubprocessTransport, TalkingProcess]] | None = None
        self._exited = asyncio.Event()
        self._exit_reported = False

    async def start(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        """Start the process. Raises OSError where the program cannot be started."""
        async with _TURNS.setdefault(self._loop, asyncio.Lock()):
            # Never cancelled: asyncio would then wait for ever for pipes that it has not connected. A cancelled caller
            # closes the process, and `close` waits for the start, which takes no longer than a fork.
            self._starting = asyncio.create_task(
                self._loop.subprocess_exec(lambda: self, *argv, env=dict(env), start_new_session=True)
            )
            await asyncio.shield(self._starting)

    def write(self, data: bytes) -> None:
        """Send data to its stdin; never waits."""
        stdin = self._transport.get_pipe_transport(0) if self._transport is not None else None
        if isinstance(stdin, asyncio.WriteTransport) and not stdin.is_closing():
            stdin.write(data)

    def kill(self) -> None:
        """End the process and its whole group at once, and read no more of its output. Never waits."""
        if self._transport is not None:
            _signal_group(self._transport.get_pid(), signal.SIGKILL)
            # Only the pipes: the transport would take the exit status, for which asyncio waits.
            for pipe in filter(None, map(self._transport.get_pipe_transport, (0, _STDOUT, _STDERR))):
                pipe.close()

    async def close(self) -> None:
        """End the process and its whole group, in under 0.5 s even if it hangs. May be called twice."""
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
            self._on_stdout(data)
        elif fd == _STDERR:
            self._on_stderr(data)

    def process_exited(self) -> None:
        """Called by asyncio, possibly before the last output."""
        self._exited.set()
        if self._transport is not None:
            status = self._transport.get_returncode()
            self._loop.call_later(_LAST_OUTPUT_S, self._report_exit, 255 if status is None else status)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by asyncio when the process has exited and every pipe is closed."""
        status = self._transport.get_returncode() if self._transport is not None else None
        self._report_exit(255 if status is None else status)

    def _report_exit(self, exit_status: int) -> None:
        if not self._exit_reported:
            self._exit_reported = True
            self._on_exit(exit_status)


def _signal_group(leader: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)
