"""Run one program on this node: bounded in time and output, and never left behind."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from checks.sources.nodes.read_only import demand_read_only_command

OUTPUT_LIMIT_BYTES = 4_000_000
_REAP_TIMEOUT_S = 0.5
_STDERR = 2

# Messages are matched as the English manuals print them, whatever the operator's own language.
_ENGLISH = {"LC_ALL": "C", "NLS_LANG": "AMERICAN_AMERICA"}


class CommandError(Exception):
    """A command could not be run to its end: one sentence that names the program and what happened."""


class NotPermittedError(CommandError):
    """The operating system does not let this user execute the program."""


class TimedOutError(CommandError):
    """The program did not end in its time and was killed."""


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """How a command ended: its exit status (negative: the signal that ended it), and what it printed."""

    exit_status: int
    stdout: str
    stderr: str

    @property
    def text(self) -> str:
        """All that it printed: Oracle's tools put messages on either stream, and differ by release."""
        if self.stdout and self.stderr and not self.stdout.endswith("\n"):
            return f"{self.stdout}\n{self.stderr}"
        return self.stdout + self.stderr


async def run_command(
    argv: Sequence[str],
    *,
    timeout_s: float,
    env: Mapping[str, str] | None = None,
    limit_bytes: int = OUTPUT_LIMIT_BYTES,
) -> CommandOutput:
    """Run a program, never a shell line, and return what it printed.

    It gets no input, English messages, `/` as its directory, and `env` in place of this process's environment. It
    leads a session of its own, so that it and what it started can be killed together: at once on time-out, on
    cancellation, and when stdout or stderr grows past `limit_bytes`.

    Raises CommandError when the program is not there, may not be executed (NotPermittedError), does not end in
    `timeout_s` seconds (TimedOutError), or prints too much. A failing exit status is an answer, not an error. Raises
    ChangingCommandError, and starts nothing, for a command that is not known to change nothing.
    """
    demand_read_only_command(argv, "this node")
    loop = asyncio.get_running_loop()
    program = argv[0]
    # Never cancelled on the way: asyncio would then wait for pipes that it has not yet connected, until all who hold
    # them open have ended by themselves.
    starting = asyncio.create_task(
        loop.subprocess_exec(
            lambda: _Capture(program, limit_bytes),
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**(os.environ if env is None else env), **_ENGLISH},
            cwd="/",
            start_new_session=True,
        )
    )
    try:
        transport, capture = await asyncio.shield(starting)
    except asyncio.CancelledError:
        await asyncio.wait([starting])  # no longer than a fork
        if starting.exception() is None:
            await _end(*starting.result())
        raise
    except FileNotFoundError:
        raise CommandError(f"{program} was not found") from None
    except PermissionError:
        raise NotPermittedError(f"{program} may not be executed by this user") from None
    except (OSError, ValueError) as error:
        raise CommandError(f"{program} could not be started: {getattr(error, 'strerror', None) or error}") from None
    try:
        async with asyncio.timeout(timeout_s):
            await capture.ended
    except TimeoutError:
        raise TimedOutError(f"{program} timed out after {timeout_s:g} s") from None
    finally:
        await _end(transport, capture)
    exit_status = transport.get_returncode()
    if exit_status is None:
        raise CommandError(f"{program} ended without an exit status")
    return CommandOutput(exit_status, capture.decoded(1), capture.decoded(_STDERR))


class _Capture(asyncio.SubprocessProtocol):
    """Collects what a process prints."""

    def __init__(self, program: str, limit_bytes: int) -> None:
        self._program = program
        self._limit_bytes = limit_bytes
        self._printed = {1: bytearray(), _STDERR: bytearray()}
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the process has exited and both streams are closed."""
        self.exited = asyncio.Event()

    @property
    def ran_to_its_end(self) -> bool:
        return self.ended.done() and not self.ended.cancelled() and self.ended.exception() is None

    def decoded(self, stream: int) -> str:
        return self._printed[stream].decode("utf-8", errors="replace")

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._printed[fd] += data
        if len(self._printed[fd]) > self._limit_bytes and not self.ended.done():
            self.ended.set_exception(CommandError(f"{self._program} printed more than {self._limit_bytes:,} bytes"))

    def process_exited(self) -> None:
        self.exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(None)


async def _end(transport: asyncio.SubprocessTransport, capture: _Capture) -> None:
    """Kill what did not run to its end, and collect it."""
    if not capture.ran_to_its_end:
        _kill_group(transport.get_pid())
    try:
        # One that hangs in the kernel (dead storage) must not hold us up.
        with suppress(TimeoutError):
            async with asyncio.timeout(_REAP_TIMEOUT_S):
                await capture.exited.wait()
    finally:
        transport.close()


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
