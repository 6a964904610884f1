"""A network namespace with a chosen number of busy interfaces."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from racwire_lab.cluster.holders import needs_user_namespace
from racwire_lab.cluster.processes import Process
from racwire_lab.programs import enter

_PROGRAMS = Path(__file__).with_name("programs")
_ENTER = Path(enter.__file__)
"""The program that enters a practice node: it enters any other namespace as well."""
_TOOLS = ("unshare", "nsenter", "ip", "mount")


class NoNamespace(Exception):  # noqa: N818 - this is a reason not to measure, not an error
    """The namespace cannot be made on this machine. The text is the reason."""


@dataclass(frozen=True)
class Wires:
    """A namespace with interfaces wire0, wire1, ... at 10.99.N.1/24, each with traffic both ways."""

    count: int
    holder: Process

    @property
    def subnets(self) -> list[str]:
        """The subnet of each interface."""
        return [f"10.99.{number}.0/24" for number in range(self.count)]

    def enter(self, command: Sequence[str]) -> list[str]:
        """Return the command line that runs a command in the namespace."""
        return [sys.executable, "-I", "-S", str(_ENTER), str(self.holder.pid), str(self.holder.started), "-", *command]


@contextlib.contextmanager
def wires(count: int) -> Iterator[Wires]:
    """Make a namespace. It ends with the block, and when this process is killed. Raises NoNamespace."""
    if missing := [tool for tool in _TOOLS if shutil.which(tool) is None]:
        raise NoNamespace(f"{missing[0]} is missing on this machine")
    command = ["unshare", *(["--user", "--map-root-user"] if needs_user_namespace() else [])]
    command += ["--pid", "--net", "--mount-proc", "--fork", "--kill-child", "sh", str(_PROGRAMS / "wires.sh")]
    command += [str(count), sys.executable, str(_PROGRAMS / "chatter.py")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as holder:
        assert holder.stdout
        assert holder.stderr
        try:
            if holder.stdout.readline() != b"ready\n":
                holder.kill()
                message = holder.stderr.read().decode(errors="replace").strip().splitlines()
                raise NoNamespace(f"no namespace could be made ({message[-1] if message else 'no reason reported'})")
            [inside] = psutil.Process(holder.pid).children()
            yield Wires(count, Process.of(inside.pid))
        finally:
            # A kill also ends a shell that does not read its stdin yet.
            holder.kill()
