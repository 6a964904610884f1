"""Processes that hold namespaces: identify, end and enter them; run jobs."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from racwire_lab.lab_errors import LabError

_ELF = b"\x7fELF"


@dataclass(frozen=True)
class Process:
    """A process: its pid and its start time in clock ticks since boot, so that a later process with the same pid
    differs."""

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> Process:
        """Return the process that has this pid. Raises LabError when it has ended already."""
        started = _start_time(pid)
        if started is None:
            raise LabError(
                f"Process {pid} of the practice cluster ended at its start: see the file `log` in its directory."
            )
        return cls(pid, started)

    def alive(self) -> bool:
        """Whether this process still runs; False for a zombie and for a later process with the same pid."""
        return _start_time(self.pid) == self.started

    def kill(self, timeout_s: float = 10.0) -> bool:
        """End the process with SIGKILL and wait for its end. Return False when it still runs after the timeout.

        The end of the first process of a PID namespace is also the end of all other processes in the namespace.
        """
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return True
        try:
            # The handle fixes the pid to one process: compare the start time only afterwards.
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
    # The command's name is in parentheses and may contain any character: split at the last parenthesis.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])


@dataclass(frozen=True)
class LabJob:
    """One command, the text for its stdin, and its purpose for the error message."""

    argv: Sequence[str]
    stdin: str
    purpose: str


def run_all(jobs: Iterable[LabJob]) -> None:
    """Run the jobs at the same time and wait for all. Raises LabError with the first failed job's message."""
    started = [(job, _start(job)) for job in jobs]
    failures = []
    for job, process in started:
        output, _ = process.communicate(job.stdin)
        if process.returncode:
            failures.append((job, output.strip()))
    for job, output in failures:
        reason = output.splitlines()[0] if output else "no message"
        raise LabError(f"Could not {job.purpose} ({reason}): run `racwire lab down`, then `racwire lab up`.")


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
    """Return the error message for a program that is not installed."""
    packages = {
        "ip": "iproute2 or iproute",
        "tc": "iproute2 or iproute-tc",
        "nft": "nftables",
        "nsenter": "util-linux",
        "unshare": "util-linux",
    }
    packages |= {"flock": "util-linux", "setsid": "util-linux", "cat": "coreutils"}
    return (
        f"The practice cluster needs the program '{name}', which is not installed on this machine: "
        f"install {packages.get(name, name)}."
    )


def into(process: Process, *namespaces: str, rootless: bool) -> list[str]:
    """Return the start of a command line that runs the rest in the specified namespaces of a process."""
    if rootless:
        namespaces = ("user", "preserve-credentials", *namespaces)
    return ["nsenter", "--target", str(process.pid), *(f"--{name}" for name in namespaces)]


def program(name: str) -> str:
    """Return the path of a program of this machine. Raises LabError when it is not installed."""
    path = shutil.which(name)
    if path is None:
        raise LabError(missing_tool(name))
    return path


def waiting_program() -> str:
    """Return the path of a program that can be copied under any name, and then waits until its input ends.

    That is `cat`, the smallest one. It is a shell where `cat` is a script, or is one program of many names that acts by
    its name.

    Raises LabError when the machine has no such program.
    """
    path = Path(program("cat")).resolve()
    with path.open("rb") as file:
        is_itself = path.name == "cat" and file.read(len(_ELF)) == _ELF
    return str(path) if is_itself else program("sh")


def own_python() -> frozenset[Path]:
    """Return the files from which this racwire starts its Python: the nodes need them."""
    files, path = set(), Path(sys.executable)
    for _ in range(10):
        path = path.parent.resolve() / path.name
        files.add(path)
        if not path.is_symlink():
            break
        path = path.parent / os.readlink(path)
    return frozenset(files)
