"""Run one program on this node, with limits of time and output, and always end it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from checks.model.system_limits import limit_reached
from checks.sources.nodes.read_only import demand_read_only_command

OUTPUT_LIMIT_BYTES = 4_000_000
_REAP_TIMEOUT_S = 0.5
_STDERR = 2

# Messages are matched in English, whatever the operator's own language is.
_ENGLISH = {"LC_ALL": "C", "NLS_LANG": "AMERICAN_AMERICA"}


class CommandError(Exception):
    """A command did not run to completion. The text names the program and what happened."""


class NotPermittedError(CommandError):
    """The operating system does not let this user execute the program."""


class TimedOutError(CommandError):
    """The program did not end within its time limit, and racwire killed it."""


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """The result of a command: its exit status (negative: the signal that ended it), and its output."""

    exit_status: int
    stdout: str
    stderr: str

    @property
    def text(self) -> str:
        """The whole output: Oracle's tools print messages to either stream, depending on the release."""
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
    """Run a program, never a shell line, and return its output.

    The program has no input, English messages, `/` as its directory, and `env` instead of this process's environment.
    It leads its own session, so that racwire can kill it together with its children: on time-out, on cancellation, and
    when stdout or stderr exceeds `limit_bytes`.

    Raises CommandError where the program does not exist, may not be executed (NotPermittedError), does not end within
    `timeout_s` seconds (TimedOutError), or prints too much. A failing exit status is an answer, not an error. Raises
    ChangingCommandError, and starts nothing, for a command that the allow-list does not have.
    """
    demand_read_only_command(argv, "this node")
    loop = asyncio.get_running_loop()
    program = argv[0]
    # Never cancelled: asyncio would then wait for pipes that it has not connected, until all their holders have ended.
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
        raise NotPermittedError(f"this user may not execute {program}") from None
    except (OSError, ValueError) as error:
        why = limit_reached(error) or getattr(error, "strerror", None) or error
        raise CommandError(f"{program} could not be started: {why}") from None
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
    """Collect the output of a process."""

    def __init__(self, program: str, limit_bytes: int) -> None:
        self._program = program
        self._limit_bytes = limit_bytes
        self._printed = {1: bytearray(), _STDERR: bytearray()}
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the process has exited and both streams are closed."""
        self.exited = asyncio.Event()

    @property
    def ran_to_completion(self) -> bool:
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
    """Kill a process that did not run to completion, and collect its exit status."""
    if not capture.ran_to_completion:
        _kill_group(transport.get_pid())
    try:
        # A process that hangs in the kernel (dead storage) must not delay racwire.
        with suppress(TimeoutError):
            async with asyncio.timeout(_REAP_TIMEOUT_S):
                await capture.exited.wait()
    finally:
        transport.close()


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
