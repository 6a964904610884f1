"""One POSIX shell, here or on a peer, held for the run.

`Shell` is what readers and probes talk to; they do not know whether it is local or behind ssh. Foreground programs run
one after the other and answer on stdout between unique markers. Background commands run beside them and answer on
stderr, each in one piece, so that a ping that waits for a lost packet holds up nothing.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checks.model.settings import SshSettings
from checks.sources.entries import Program
from checks.sources.nodes import framing
from checks.sources.nodes.framing import Completed, TooMuchOutput
from checks.sources.nodes.process import TalkingProcess
from checks.sources.nodes.read_only import demand_read_only_command, demand_registered_program
from checks.sources.nodes.ssh import SHELL_PATH, ssh_command, ssh_failure, ssh_silence

__all__ = ["Completed", "Shell", "ShellError"]

_LOCAL_START_TIMEOUT_S = 5.0
_PROFILE_LIMIT_BYTES = 65_536
"""How much a login may print before its shell is there; only the last of it is kept."""


class ShellError(Exception):
    """The shell could not be had, or did not answer in time: one sentence that names the node and what to do."""

    def __init__(self, sentence: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.detail = detail
        """What ssh and the login printed, as it came, for the journal."""


@dataclass(frozen=True, slots=True)
class _Ended:
    """Why there is no shell any more, or never was."""

    exit_status: int | None
    """None where it was racwire that ended it."""


class Shell:
    """A held shell on one node. It keeps what a program sets (directory, variables): programs leave it as it was, but
    for variables that they set before they read them."""

    node: str

    def __init__(self, node: str) -> None:
        self.node = node
        self._token = f"{secrets.token_hex(6)}-{secrets.token_hex(6)}"
        self._process = TalkingProcess(heard=self._heard, heard_aside=self._heard_aside, ended=self._has_ended)
        self._greeting: asyncio.Future[_Ended | None] = asyncio.get_running_loop().create_future()
        """None once the shell has answered."""
        self._before_greeting = bytearray()
        self._ended: _Ended | None = None
        self._number = 0
        self._turn = asyncio.Lock()
        self._foreground: tuple[framing.ForegroundReader, asyncio.Future[Completed]] | None = None
        self._aside = framing.BackgroundReader(self._token)
        self._background: dict[int, asyncio.Future[Completed]] = {}

    @classmethod
    async def open_local(cls, node: str) -> Shell:
        """A shell on this node. Raises ShellError."""
        shell = cls(node)
        environment = {"PATH": SHELL_PATH, "LC_ALL": "C"}
        try:
            outcome = await shell._open(["sh"], environment, _LOCAL_START_TIMEOUT_S)
        except TimeoutError:
            raise ShellError(f"sh on {node} did not answer within {_LOCAL_START_TIMEOUT_S:g} s.") from None
        except OSError as error:
            raise ShellError(f"sh could not be started on {node}: {error.strerror}.") from None
        if outcome is not None:
            raise ShellError(f"sh on {node} ended before it answered.", shell._said())
        return shell

    @classmethod
    async def open_ssh(cls, node: str, settings: SshSettings) -> Shell:
        """A shell on a peer, by the system's ssh and the operator's own configuration. Raises ShellError."""
        try:
            argv = ssh_command(node, settings, os.environ)
        except ValueError as error:
            raise ShellError(str(error)) from None
        shell = cls(node)
        # ssh's words are matched as its manual prints them, whatever the operator's own language.
        environment = {**os.environ, "LC_ALL": "C"}
        try:
            outcome = await shell._open(argv, environment, settings.connect_timeout_s)
        except TimeoutError:
            raise ShellError(ssh_silence(node, settings), shell._said()) from None
        except OSError as error:
            raise ShellError(
                f"{node} could not be asked, {argv[0]} cannot be run here ({error.strerror}): "
                "install openssh-clients, or mend the PATH.",
            ) from None
        if outcome is not None:
            said = shell._said()
            raise ShellError(ssh_failure(node, settings, outcome.exit_status or 0, said), said)
        return shell

    async def run(self, program: Program, *arguments: str, timeout_s: float | None = None) -> Completed:
        """Run a program of the registry and return its stdout and exit status.

        What it prints on stderr is kept with ssh's own messages. `timeout_s` stands in place of the program's own
        limit. A program that takes longer or prints more than its limits allow costs the shell: it is closed. One whose
        caller was cancelled runs on and its answer is thrown away.

        Raises ShellError when the node does not answer in time or the connection is gone, and ChangingCommandError,
        before anything of it is sent, for a program that is not registered, or an argument of a kind that it does not
        take.
        """
        demand_registered_program(program, arguments, self.node)
        limit_s, limit_bytes = timeout_s if timeout_s is not None else program.limit_s, program.limit_bytes
        async with self._turn:
            if self._ended is not None:
                raise self._gone()
            self._number += 1
            answer: asyncio.Future[Completed] = asyncio.get_running_loop().create_future()
            self._foreground = framing.ForegroundReader(self._token, self._number, limit_bytes), answer
            self._process.write(framing.foreground(self._number, program.text, arguments))
            try:
                async with asyncio.timeout(limit_s):
                    return await answer
            except TimeoutError:
                await self.close()
                raise ShellError(
                    f"{self.node} did not answer within {limit_s:g} s: it may hang; the connection was closed.",
                    self._said(),
                ) from None
            except TooMuchOutput:
                await self.close()
                raise ShellError(
                    f"{self.node} answered with more than {limit_bytes:,} bytes: the connection was closed."
                ) from None
            finally:
                self._foreground = None

    def start(self, command: Sequence[str]) -> asyncio.Future[Completed]:
        """Start a command in the background; every word is quoted.

        The future can be abandoned, the command ends itself. It resolves with stdout and stderr together, and fails
        with ShellError when the connection is gone. Raises ChangingCommandError, and starts nothing, for a command that
        is not known to change nothing.
        """
        demand_read_only_command(command, self.node)
        answer: asyncio.Future[Completed] = asyncio.get_running_loop().create_future()
        if self._ended is not None:
            _fail(answer, self._gone())
            return answer
        self._number += 1
        self._background[self._number] = answer
        self._process.write(framing.background(self._number, command))
        return answer

    async def close(self) -> None:
        """End the shell and what it still runs."""
        self._has_ended(None)
        await self._process.close()

    async def _open(self, argv: Sequence[str], environment: Mapping[str, str], timeout_s: float) -> _Ended | None:
        """Start it and wait for its answer; how it ended where it did before. Raises OSError, TimeoutError."""
        opened = False
        try:
            async with asyncio.timeout(timeout_s):
                await self._process.start(argv, environment)
                self._process.write(framing.setup(self._token))
                outcome = await self._greeting
            opened = outcome is None
        finally:
            if not opened:
                await self.close()
        return outcome

    def _said(self) -> str:
        """What was printed that is no answer: ssh's own words first, then what the login printed."""
        printed = self._before_greeting.decode("utf-8", errors="replace").strip()
        return "\n".join(words for words in (self._aside.said(), printed) if words)

    def _gone(self) -> ShellError:
        words = self._aside.said().rpartition("\n")[2].rstrip(".")
        if self._ended is None or self._ended.exit_status is None:
            return ShellError(f"The connection to {self.node} is closed.", self._said())
        how = f"last heard: {words}" if words else f"its shell ended with status {self._ended.exit_status}"
        return ShellError(f"The connection to {self.node} was lost ({how}): run racwire again.", self._said())

    def _heard(self, data: bytes) -> None:
        """Stdout: the start marker, then the answers of foreground programs."""
        if not self._greeting.done():
            self._before_greeting += data
            if framing.start_marker(self._token) in self._before_greeting:
                self._greeting.set_result(None)
                self._before_greeting.clear()
            del self._before_greeting[:-_PROFILE_LIMIT_BYTES]
        elif self._foreground is not None:
            reader, answer = self._foreground
            if answer.done():
                return
            try:
                completed = reader.feed(data)
            except TooMuchOutput as error:
                _fail(answer, error)
                return
            if completed is not None:
                answer.set_result(completed)

    def _heard_aside(self, data: bytes) -> None:
        """Stderr: the answers of background commands, and ssh's own messages."""
        for number, completed in self._aside.feed(data):
            answer = self._background.pop(number, None)
            if answer is not None and not answer.done():
                answer.set_result(completed)

    def _has_ended(self, exit_status: int | None) -> None:
        """The shell is gone: whatever still waits for an answer fails."""
        if self._ended is not None:
            return
        self._ended = _Ended(exit_status)
        if not self._greeting.done():
            self._greeting.set_result(self._ended)
        waiting = list(self._background.values())
        self._background.clear()
        if self._foreground is not None:
            waiting.append(self._foreground[1])
        for answer in waiting:
            _fail(answer, self._gone())


def _fail(answer: asyncio.Future[Completed], error: Exception) -> None:
    """Fail it without a warning when nobody looks: an answer may have been abandoned."""
    if not answer.done():
        answer.set_exception(error)
        answer.exception()
