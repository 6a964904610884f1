"""The text of the far end, for Perl and for Python, and the interpreters that can run it on a node. No I/O but the
package's own files."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from checks.sources.probes.cluster_turn import SENDING

KERNEL = "kernel"
"""No program: the far node's kernel answers pings."""
PERL, PYTHON = "perl", "python"
LOCK = SENDING
"""The name of the abstract socket that a measurement holds on each node: it cannot collide with a port of Oracle."""
LOCK_IS_HELD = "another measure runs"
"""What a far end prints where another measurement holds the lock."""
_FILES = {PERL: "reflector.pl", PYTHON: "reflector.py"}
_LOADER = {
    # Asks for the text, since some shells read ahead of the line that they run. Reads no byte more than the text: the
    # heartbeats follow it. The token comes after the text: all users of the peer can read the arguments of a program.
    PERL: (
        '$|=1;print"racwire text\\n";$n=32+shift;$p="";'
        'while(length($p)<$n){sysread(STDIN,$p,$n-length($p),length($p))or die "no text\\n"}'
        'splice@ARGV,2,0,substr($p,-32,32,"");eval $p;die $@ if $@'
    ),
    PYTHON: (
        'import os,sys;n=32+int(sys.argv.pop(1));b=b"";os.write(1,b"racwire text\\n")\n'
        "while len(b)<n:\n"
        " d=os.read(0,n-len(b));b+=d\n"
        ' d or sys.exit("no text")\n'
        'sys.argv.insert(3,b[-32:].decode());exec(compile(b[:-32].decode(),"racwire","exec"))'
    ),
}
_OPTIONS = {PERL: ("-e",), PYTHON: ("-E", "-s", "-S", "-c")}


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A program of a node that can run the far end."""

    language: str
    """`PERL` or `PYTHON`."""
    path: str


def interpreter_at(path: str) -> Interpreter:
    """Return the interpreter at a path."""
    return Interpreter(PERL if path.endswith("/perl") else PYTHON, path)


SYSTEM = tuple(
    interpreter_at(path)
    for path in (
        "/usr/bin/perl",
        "/usr/bin/python3",
        "/usr/libexec/platform-python",
        "/usr/bin/python2",
        "/usr/bin/python",
    )
)
"""The interpreters of the system, in the order in which racwire tries them.

The Perl of the Grid home comes before: every Grid home has one (rootcrs.pl runs with it).
"""


@cache
def text_of(language: str) -> str:
    """Return the program's text."""
    return files(__package__).joinpath(_FILES[language]).read_text(encoding="ascii")


def sha256_of(language: str) -> str:
    """Return the SHA-256 of the program's text, in hex."""
    return hashlib.sha256(text_of(language).encode()).hexdigest()


def message_of(language: str, token: str) -> bytes:
    """Return what a far end reads first: its text, and the token as 32 hex digits."""
    return text_of(language).encode() + token.encode()


@dataclass(frozen=True, slots=True)
class FarLimits:
    """What the far end enforces by itself."""

    seconds: float
    most_bytes: int
    cpu_seconds: float
    lock: str = LOCK
    """The abstract socket that it holds. A second far end of the same measurement on a node holds another one."""
    most_fragment_bytes: int = 0
    """The memory for reassembly in use on its node, by all senders, above which it ends; 0 for no limit."""


def command_line(interpreter: Interpreter, own: str, peer: str, limits: FarLimits) -> str:
    """Return the line of `sh` that replaces the shell by the far end. Every word is quoted.

    The far end asks for `message_of`.
    """
    text = text_of(interpreter.language)
    words = (
        interpreter.path,
        *_OPTIONS[interpreter.language],
        _LOADER[interpreter.language],
        str(len(text)),
        own,
        peer,
        f"{limits.seconds:.1f}",
        str(limits.most_bytes),
        f"{limits.cpu_seconds:.1f}",
        limits.lock,
        str(limits.most_fragment_bytes),
    )
    # The kernel ends the program should its own limit of CPU time fail.
    return f"ulimit -t {int(limits.cpu_seconds) + 2}; exec {shlex.join(words)}"
