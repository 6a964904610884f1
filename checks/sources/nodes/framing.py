"""Frame commands and their answers in the three streams of one `sh`: text in, answers out, no I/O.

Programs go to the shell's stdin. A foreground program answers on stdout between two marker lines. A background command
answers on stderr, each line labelled with its number, so that the reader can separate simultaneous answers and ssh's
own messages. The markers start with a token that is random for each connection.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from checks.sources.nodes.sections import exit_status

NOISE_LIMIT_BYTES = 16_384
"""Bytes that are stored of the output of ssh and of commands that is no answer."""


FLOOD_LIMIT_BYTES = 1_000_000
"""Bytes that are no answer, from one answer to the next, after which racwire reads no more of a node. Ours."""


class TooMuchOutput(Exception):  # noqa: N818 - an outcome, caught by that name
    """A program printed more than was allowed."""


@dataclass(frozen=True, slots=True)
class Completed:
    """The result of a command: its exit status, and its output as printed."""

    exit_status: int
    text: str


# The shell joins the token from two halves, so that the echo of a login is not taken for an answer.
# The loop has only builtins. It writes line by line: a line is one write() to a pipe and cannot be split, as several
# kilobytes could be.
_SETUP = """\
racwire_token={half}-{other_half}
racwire_newline='
'
racwire_background() {{
    racwire_number=$1
    shift
    racwire_text=$("$@" </dev/null 2>&1)
    racwire_status=$?
    while :; do
        printf '%s %s:%s\\n' "$racwire_token" "$racwire_number" "${{racwire_text%%"$racwire_newline"*}}"
        case $racwire_text in
            *"$racwire_newline"*) racwire_text=${{racwire_text#*"$racwire_newline"}} ;;
            *) break ;;
        esac
    done >&2
    printf '%s %s=%s\\n' "$racwire_token" "$racwire_number" "$racwire_status" >&2
}}
printf '\\n%s ready\\n' "$racwire_token"
"""


def setup(token: str) -> bytes:
    """The first input of the shell, which the shell answers with the start marker."""
    half, _, other_half = token.partition("-")
    return _SETUP.format(half=half, other_half=f'"{other_half}"').encode()


def start_marker(token: str) -> bytes:
    """The line by which the shell reports its start."""
    return f"\n{token} ready\n".encode()


def foreground(number: int, program: str, arguments: Sequence[str] = ()) -> bytes:
    """The input that runs a program in the shell itself. Its positional arguments are quoted, so they are only data.

    `command` prevents a syntax error from ending the shell; /dev/null prevents the program from reading later input.
    """
    return (
        f"printf '\\n%s %s{{\\n' \"$racwire_token\" {number}\n"
        f"set -- {shlex.join(arguments)}\n"
        f"command eval {shlex.quote(program)} </dev/null\n"
        f"printf '\\n%s %s}}%s\\n' \"$racwire_token\" {number} $?\n"
    ).encode()


def background(number: int, command: Sequence[str]) -> bytes:
    """The input that starts a command in the background."""
    return f"racwire_background {number} {shlex.join(command)} >/dev/null &\n".encode()


@dataclass(slots=True)
class ForegroundReader:
    """Extract the answer of one program from stdout."""

    token: str
    number: int
    limit_bytes: int
    _received: bytearray = field(default_factory=bytearray)
    _scanned: int = 0

    @property
    def has_begun(self) -> bool:
        """Whether the answer was started: what came before is of no program."""
        return self._begin_marker in self._received

    @property
    def _begin_marker(self) -> bytes:
        return f"\n{self.token} {self.number}{{\n".encode()

    def feed(self, data: bytes) -> Completed | None:
        """Add received data and return the answer once it is complete. Raises TooMuchOutput above `limit_bytes`."""
        self._received += data
        marker = f"\n{self.token} {self.number}}}".encode()
        end = self._received.find(marker, max(0, self._scanned - len(marker)))
        if end < 0:
            self._scanned = len(self._received)
            if len(self._received) > self.limit_bytes:
                raise TooMuchOutput
            return None
        status, newline, _ = bytes(self._received[end + len(marker) :]).partition(b"\n")
        if not newline:
            self._scanned = end
            return None
        # The text before the begin marker is from an abandoned program.
        begin = self._received.find(self._begin_marker, 0, end + 1)
        text = bytes(self._received[begin + len(self._begin_marker) : end]) if begin >= 0 else b""
        return Completed(exit_status(status), text.decode("utf-8", errors="replace"))


@dataclass(slots=True)
class BackgroundReader:
    """Separate stderr into the answers of background commands and other output."""

    token: str
    limit_bytes: int = 1_000_000
    noise: bytearray = field(default_factory=bytearray)
    """The last NOISE_LIMIT_BYTES of the output of ssh and of foreground programs."""
    noise_bytes: int = 0
    """The size of all of that output."""
    _line: bytearray = field(default_factory=bytearray)
    _texts: dict[int, bytearray] = field(default_factory=dict)

    def feed(self, data: bytes) -> list[tuple[int, Completed]]:
        """Add received data and return the answers that it completes, with their numbers."""
        lines, newline, rest = (bytes(self._line) + data).rpartition(b"\n")
        self._line = bytearray(rest[-self.limit_bytes :])
        self.noise_bytes += len(rest) - len(self._line)
        if self.token.encode() not in lines:
            self._note(lines + newline)
            return []
        answers = (self._take(line) for line in lines.split(b"\n"))
        return [answer for answer in answers if answer is not None]

    def other_output(self) -> str:
        """The output that is no answer, as text."""
        return (self.noise + self._line)[-NOISE_LIMIT_BYTES:].decode("utf-8", errors="replace").strip()

    def _note(self, noise: bytes) -> None:
        self.noise_bytes += len(noise)
        self.noise += noise
        del self.noise[:-NOISE_LIMIT_BYTES]

    def _take(self, line: bytes) -> tuple[int, Completed] | None:
        noise, label, labelled = line.partition(self.token.encode() + b" ")
        if noise or not label:
            self._note(noise + b"\n")
        digits = labelled[: len(labelled) - len(labelled.lstrip(b"0123456789"))]
        if not digits or len(digits) > len(str(2**63)):
            return None
        number, sign, content = int(digits), labelled[len(digits) : len(digits) + 1], labelled[len(digits) + 1 :]
        if sign == b":":
            text = self._texts.setdefault(number, bytearray())
            if len(text) < self.limit_bytes:
                text += content + b"\n"
        elif sign == b"=":
            text = self._texts.pop(number, bytearray())
            output = text.decode("utf-8", errors="replace")
            return number, Completed(exit_status(content), "" if output == "\n" else output)
        return None
