"""A POSIX shell on this node or on a peer, open for the whole run.

Readers and probes use `Shell`, and do not know whether it is local or behind ssh. Foreground programs run one after the
other and answer on stdout between unique markers. Background commands run at the same time and answer on stderr, each
in one piece, so that a ping that waits for a lost packet delays nothing.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from checks.model.facts import MissingRight
from checks.model.settings import SshSettings
from checks.model.shell_command import shell
from checks.model.system_limits import limit_reached
from checks.sources.entries import Program
from checks.sources.nodes import framing
from checks.sources.nodes.considerate_ssh import guest_place, login_turn, overrides
from checks.sources.nodes.framing import Completed, TooMuchOutput
from checks.sources.nodes.niceness import QuickProcess
from checks.sources.nodes.process import TalkingProcess
from checks.sources.nodes.read_only import demand_read_only_command, demand_registered_program
from checks.sources.nodes.ssh import (
    AUTHENTICATED,
    LOGIN_ENDED,
    SHELL_PATH,
    other_system,
    ssh_command,
    without_narration,
)
from checks.sources.nodes.ssh_failure import (
    FailedLogin,
    endless_output,
    login_limit_s,
    missing_right,
    no_guest_place,
    no_host_answered,
    not_started,
    not_supported,
    ssh_failure,
    ssh_silence,
)

__all__ = ["Completed", "Shell", "ShellError"]

_LOCAL_START_TIMEOUT_S = 5.0
_PROFILE_LIMIT_BYTES = 65_536
"""Bytes of a login's output before its shell starts that are stored: the last ones."""


class ShellError(Exception):
    """A shell could not be opened, or did not answer in time. The text says what happened, where and what to do."""

    def __init__(
        self, sentence: str, detail: str = "", right: MissingRight | None = None, *, is_silent: bool = False
    ) -> None:
        super().__init__(sentence)
        self.is_silent = is_silent
        """Whether no host answered: nothing accepted the connection, and nothing refused it."""
        self.right = right
        """The missing right, where one is missing."""
        self.detail = detail
        """The unchanged output of ssh and the login, for the journal."""


@dataclass(frozen=True, slots=True)
class _Ended:
    """The end of a shell, or of the attempt to open it."""

    exit_status: int | None
    """None where racwire itself ended the shell."""
    other_system: str = ""
    """The system of a peer that does not run Linux, for which racwire ended the login."""
    is_flood: bool = False
    """Whether racwire ended the shell because it printed without an end."""


class Shell:
    """An open shell on one node.

    The directory and the variables that a program sets persist. Programs therefore change nothing but variables that
    they set before they read them.
    """

    node: str

    def __init__(self, node: str, *, quick: bool = False) -> None:
        self.node = node
        self._token = f"{secrets.token_hex(6)}-{secrets.token_hex(6)}"
        kind = QuickProcess if quick else TalkingProcess
        self._process = kind(on_stdout=self._on_stdout, on_stderr=self._on_stderr, on_exit=self._on_exit)
        self._greeting: asyncio.Future[_Ended | None] = asyncio.get_running_loop().create_future()
        """Resolved with None when the shell answers, or with its end."""
        self._before_greeting = bytearray()
        self._login_output = bytearray()
        """The output of the login up to LOGIN_ENDED, that line included; empty before."""
        self._opening: asyncio.Timeout | None = None
        """The time limit of a login that the peer has not accepted yet."""
        self._turn_to_log_in: socket.socket | None = None
        """Held until the peer has accepted the login."""
        self._guest_place: socket.socket | None = None
        """Held until the end of a session through the user's own connection."""
        self._start_limit_s = 0.0
        """The limit for the start of the shell after the peer has accepted the login."""
        self._ended: _Ended | None = None
        self._unasked_bytes = 0
        """Bytes since the last answer that are of none."""
        self._number = 0
        self._turn = asyncio.Lock()
        self._foreground: tuple[framing.ForegroundReader, asyncio.Future[Completed]] | None = None
        self._background_reader = framing.BackgroundReader(self._token)
        self._background: dict[int, asyncio.Future[Completed]] = {}
        self._successor: Callable[[bytes], None] | None = None
        """Receives stdout once another program has replaced the shell."""

    @classmethod
    async def open_local(cls, node: str) -> Shell:
        """Open a shell on this node. Raises ShellError where it does not start or does not answer."""
        shell = cls(node)
        environment = {"PATH": SHELL_PATH, "LC_ALL": "C"}
        try:
            outcome = await shell._open(["sh"], environment, _LOCAL_START_TIMEOUT_S, is_login=False)
        except TimeoutError:
            raise ShellError(
                f"sh on {node} did not answer within {_LOCAL_START_TIMEOUT_S:g} s: check the load of this node."
            ) from None
        except OSError as error:
            limit = limit_reached(error)
            raise ShellError(
                f"racwire could not start sh on {node}: "
                + (f"{limit}." if limit else f"{error.strerror}. Check that one of {SHELL_PATH} has sh.")
            ) from None
        if outcome is not None:
            raise ShellError(f"sh on {node} ended before it answered: try `sh` on {node} by hand.", shell._output())
        return shell

    @classmethod
    async def open_ssh(cls, node: str, settings: SshSettings, *, quick: bool = False) -> Shell:
        """Open a shell on a peer, with the system's ssh and the operator's own configuration. The shell and what it
        runs give way to all others there, and ssh does here, unless it is `quick`.

        Raises ShellError where ssh cannot be started, fails, or starts no shell in time.
        """
        try:
            argv = ssh_command(node, settings, os.environ, quick=quick)
        except ValueError as error:
            raise ShellError(str(error)) from None
        shell = cls(node, quick=quick)
        # ssh's messages are matched in English, whatever the operator's own language is.
        environment = {**os.environ, "LC_ALL": "C"}
        shell._start_limit_s = settings.connect_timeout_s

        def login(exit_status: int | None = None) -> FailedLogin:
            messages, printed = shell._background_reader.other_output(), shell._printed_at_login()
            return FailedLogin(node, settings, messages, printed, exit_status)

        try:
            if not os.environ.get("RACWIRE_RSH"):
                undone = await overrides(node, settings, os.environ)
                argv = ssh_command(node, settings, os.environ, undone, quick=quick)
            shell._turn_to_log_in = await login_turn(node)
            if settings.use_master:
                shell._guest_place = guest_place(node)
                if shell._guest_place is None:
                    raise ShellError(no_guest_place(node))
            outcome = await shell._open(argv, environment, login_limit_s(settings), is_login=True)
        except TimeoutError:
            raise ShellError(ssh_silence(login()), shell._output()) from None
        except OSError as error:
            raise ShellError(not_started(node, argv[0], error)) from None
        finally:
            shell._end_turn()
        if outcome is not None and outcome.other_system:
            raise ShellError(not_supported(node, outcome.other_system), shell._output())
        if outcome is not None and outcome.is_flood:
            raise shell._lost()
        if outcome is not None:
            failed = login(outcome.exit_status)
            is_silent = no_host_answered(failed)
            raise ShellError(ssh_failure(failed), shell._output(), missing_right(failed), is_silent=is_silent)
        return shell

    async def run(self, program: Program, *arguments: str, timeout_s: float | None = None) -> Completed:
        """Run a program of the registry and return its stdout and exit status.

        Its stderr is stored with ssh's own messages. `timeout_s` replaces the program's own limit. If a program exceeds
        its limit of time or output, the shell is closed. If its caller is cancelled, the program continues, and its
        answer is dropped.

        Raises ShellError where the node does not answer in time or the connection is lost. Raises ChangingCommandError,
        and sends nothing, for a program that is not registered, or for an argument that the program does not accept.
        """
        demand_registered_program(program, arguments, self.node)
        limit_s, limit_bytes = timeout_s if timeout_s is not None else program.limit_s, program.limit_bytes
        async with self._turn:
            if self._ended is not None:
                raise self._lost()
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
                    f"{self.node} did not answer within {limit_s:g} s, and racwire closed the connection: the node may "
                    f"hang. Try `{shell('ssh {node} date', node=self.node)}`.",
                    self._output(),
                ) from None
            except TooMuchOutput:
                await self.close()
                raise ShellError(
                    f"{self.node} printed more than {limit_bytes:,} bytes while it answered the program "
                    f"{program.name!r}, and racwire closed the connection."
                ) from None
            finally:
                self._foreground = None

    def start(self, command: Sequence[str]) -> asyncio.Future[Completed]:
        """Start a command in the background; every argument is quoted.

        The future resolves with stdout and stderr together, and fails with ShellError when the connection is lost. The
        caller may abandon it: the command ends by itself. Raises ChangingCommandError, and starts nothing, for a
        command that the allow-list does not have.
        """
        demand_read_only_command(command, self.node)
        answer: asyncio.Future[Completed] = asyncio.get_running_loop().create_future()
        if self._ended is not None:
            _fail(answer, self._lost())
            return answer
        self._number += 1
        self._background[self._number] = answer
        self._process.write(framing.background(self._number, command))
        return answer

    def hand_over(self, line: str, receive: Callable[[bytes], None]) -> Callable[[bytes], None]:
        """Replace the shell by the program of a line (`exec ...`), and return the function that writes to its stdin.

        `receive` gets the program's stdout. The guard does not judge the line: only the far end of a measurement and
        the trace of dropped packets, which import contracts confine, may call this.
        """
        self._successor = receive
        self._process.write(f"{line}\n".encode())
        return self._process.write

    @property
    def ended(self) -> ShellError | None:
        """The error that calls raise now that the shell has ended; None while it is open."""
        return None if self._ended is None else self._lost()

    async def close(self) -> None:
        """End the shell and the commands that it still runs."""
        self._on_exit(None)
        await self._process.close()

    async def _open(
        self, argv: Sequence[str], environment: Mapping[str, str], timeout_s: float, *, is_login: bool
    ) -> _Ended | None:
        """Start the shell and wait for its answer; return its end if it ends first. Raises OSError, TimeoutError."""
        opened = False
        try:
            async with asyncio.timeout(timeout_s) as self._opening:
                await self._process.start(argv, environment)
                if not is_login:
                    self._process.write(framing.setup(self._token))
                outcome = await self._greeting
            opened = outcome is None
        finally:
            self._opening = None
            if not opened:
                await self.close()
        return outcome

    def _printed_at_login(self) -> str:
        return (self._login_output + self._before_greeting).decode("utf-8", errors="replace").strip()

    def _output(self) -> str:
        """The output that is no answer: ssh's own messages first, then the output of the login."""
        texts = (self._background_reader.other_output(), self._printed_at_login())
        return "\n".join(text.replace("\r\n", "\n") for text in texts if text)

    def _lost(self) -> ShellError:
        if self._ended is not None and self._ended.is_flood:
            return ShellError(endless_output(self.node, framing.FLOOD_LIMIT_BYTES), self._output())
        messages = without_narration(self._background_reader.other_output())
        last_line = messages.rpartition("\n")[2].rstrip(".")
        if self._ended is None or self._ended.exit_status is None:
            return ShellError(f"The connection to {self.node} is closed: run racwire again.", self._output())
        how = f"last message: {last_line}" if last_line else f"its shell ended with status {self._ended.exit_status}"
        return ShellError(f"The connection to {self.node} was lost ({how}): run racwire again.", self._output())

    def _on_stdout(self, data: bytes) -> None:
        """Receive stdout: the start marker, then the answers of foreground programs."""
        if not self._greeting.done():
            self._before_greeting += data
            if not self._login_output:
                self._end_login()
            if framing.start_marker(self._token) in self._before_greeting:
                self._greeting.set_result(None)
                self._before_greeting.clear()
                # A banner is no message about the end of the connection.
                self._background_reader.noise.clear()
            del self._before_greeting[:-_PROFILE_LIMIT_BYTES]
            self._note_unasked(len(data))
        elif self._successor is not None:
            self._successor(data)
        elif self._foreground is not None:
            reader, answer = self._foreground
            if answer.done():
                return
            try:
                completed = reader.feed(data)
            except TooMuchOutput as error:
                if not reader.has_begun:
                    self._note_unasked(framing.FLOOD_LIMIT_BYTES)
                _fail(answer, error)
                return
            if completed is not None:
                answer.set_result(completed)
                self._unasked_bytes = 0
        else:
            self._note_unasked(len(data))

    def _end_login(self) -> None:
        """Send the first input once the login has ended; end the shell where the peer does not run Linux."""
        before, line, after = self._before_greeting.partition(f"{LOGIN_ENDED}\n".encode())
        if not line:
            return
        self._login_output, self._before_greeting = before + line, after
        if system := other_system(before.decode("utf-8", errors="replace")):
            self._greeting.set_result(_Ended(None, system))
        else:
            self._process.write(framing.setup(self._token))

    def _on_stderr(self, data: bytes) -> None:
        """Receive stderr: the answers of background commands, and ssh's own messages."""
        noise_bytes = self._background_reader.noise_bytes
        answers = self._background_reader.feed(data)
        self._note_unasked(self._background_reader.noise_bytes - noise_bytes)
        for number, completed in answers:
            self._unasked_bytes = 0
            answer = self._background.pop(number, None)
            if answer is not None and not answer.done():
                answer.set_result(completed)
        self._limit_start()

    def _note_unasked(self, size: int) -> None:
        """Count output that is no answer, and end the shell where it is too much."""
        self._unasked_bytes += size
        if self._unasked_bytes >= framing.FLOOD_LIMIT_BYTES:
            self._end(_Ended(None, is_flood=True))
            self._process.kill()

    def _limit_start(self) -> None:
        """Shorten the time limit when the peer has accepted the user: the rest of a login takes no look-ups."""
        if self._opening is not None and AUTHENTICATED.search(self._background_reader.other_output()):
            self._end_turn()
            limit, self._opening = self._opening, None
            ends_s = asyncio.get_running_loop().time() + self._start_limit_s
            if not limit.expired():
                limit.reschedule(min(ends_s, limit.when() or ends_s))

    def _end_turn(self) -> None:
        """Let another racwire log in on the peer."""
        if self._turn_to_log_in is not None:
            self._turn_to_log_in.close()

    def _on_exit(self, exit_status: int | None) -> None:
        self._end(_Ended(exit_status))

    def _end(self, ended: _Ended) -> None:
        """Record the end of the shell, and fail every call that still waits for an answer."""
        if self._ended is not None:
            return
        self._ended = ended
        if self._guest_place is not None:
            self._guest_place.close()
        if not self._greeting.done():
            self._greeting.set_result(self._ended)
        waiting = list(self._background.values())
        self._background.clear()
        if self._foreground is not None:
            waiting.append(self._foreground[1])
        for answer in waiting:
            _fail(answer, self._lost())


def _fail(answer: asyncio.Future[Completed], error: Exception) -> None:
    """Fail a future without asyncio's warning: its caller may have abandoned it."""
    if not answer.done():
        answer.set_exception(error)
        answer.exception()
