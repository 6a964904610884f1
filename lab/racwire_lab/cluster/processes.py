"""Processes that hold namespaces: told apart from later ones with the same pid, ended for certain, entered."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from racwire_lab.lab_errors import LabError

_ELF = b"\x7fELF"


@dataclass(frozen=True)
class Process:
    """A pid together with its start time in clock ticks since boot, so that a recycled pid is never mistaken for it."""

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> Process:
        """The process that has this pid now; LabError when it has ended already."""
        started = _start_time(pid)
        if started is None:
            raise LabError(f"Process {pid} of the practice cluster ended as it started: see the log in its directory.")
        return cls(pid, started)

    def alive(self) -> bool:
        """Whether this very process still runs (a zombie does not)."""
        return _start_time(self.pid) == self.started

    def kill(self, timeout_s: float = 10.0) -> bool:
        """End it with SIGKILL and wait until it is gone; False when it is still there after the timeout.

        For the first process of a PID namespace, gone means that everything in the namespace is gone too.
        """
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return True
        try:
            # Only after the handle is held can the pid no longer change hands.
            if not self.alive():
                return True
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            poller = select.poll()
            poller.register(handle, select.POLLIN)
            return bool(poller.poll(timeout_s * 1000))
        finally:
            os.close(handle)


def _start_time(pid: int) -> int | None:
    """Field 22 of /proc/PID/stat; None for no process and for a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command's name stands in parentheses and may contain any character: count from the last one.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])


@dataclass(frozen=True)
class LabJob:
    """One command, what it reads on stdin, and what it is for (for the error message)."""

    argv: Sequence[str]
    stdin: str
    purpose: str


def run_all(jobs: Iterable[LabJob]) -> None:
    """Run the jobs side by side and wait for all; LabError with the first one's complaint when any fails."""
    started = [(job, _start(job)) for job in jobs]
    failures = []
    for job, process in started:
        output, _ = process.communicate(job.stdin)
        if process.returncode:
            failures.append((job, output.strip()))
    for job, output in failures:
        said = output.splitlines()[0] if output else "it said nothing"
        raise LabError(f"Could not {job.purpose} ({said}): `racwire lab down` clears the practice cluster away.")


def _start(job: LabJob) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            job.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    except FileNotFoundError as error:
        raise LabError(missing_tool(job.argv[0])) from error


def missing_tool(name: str) -> str:
    """The sentence for a program that is not installed."""
    packages = {"ip": "iproute2 or iproute", "nft": "nftables", "nsenter": "util-linux", "unshare": "util-linux"}
    packages |= {"flock": "util-linux", "setsid": "util-linux", "cat": "coreutils"}
    return (
        f"The practice cluster needs the program '{name}', which is not on this machine: "
        f"install {packages.get(name, name)}."
    )


def into(process: Process, *namespaces: str, rootless: bool) -> list[str]:
    """The start of a command line that runs the rest in the named namespaces of a process."""
    if rootless:
        namespaces = ("user", "preserve-credentials", *namespaces)
    return ["nsenter", "--target", str(process.pid), *(f"--{name}" for name in namespaces)]


def program(name: str) -> str:
    """The path of a program of this machine. Raises LabError when it is not installed."""
    path = shutil.which(name)
    if path is None:
        raise LabError(missing_tool(name))
    return path


def waiting_program() -> str:
    """A program that can be copied under any name, and waits for as long as its input says nothing.

    That is `cat`, the smallest there is; but a shell where `cat` is a script, or one of many names of one program that
    goes by the name it is called by.
    """
    path = Path(program("cat")).resolve()
    with path.open("rb") as file:
        is_itself = path.name == "cat" and file.read(len(_ELF)) == _ELF
    return str(path) if is_itself else program("sh")
