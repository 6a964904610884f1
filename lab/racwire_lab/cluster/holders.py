"""Start the processes that hold the cluster's namespaces, and explain why the machine forbids it."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from racwire_lab.cluster.processes import Process, into, missing_tool
from racwire_lab.cluster.topology import Shape
from racwire_lab.lab_errors import LabError

_TIMEOUT_S = 20.0
_CAP_SYS_ADMIN = 21
_KNOBS = (
    ("/proc/sys/user/max_user_namespaces", "0", "user.max_user_namespaces=15000"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
    ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "kernel.apparmor_restrict_unprivileged_userns=0"),
)


@dataclass(frozen=True)
class Holders:
    """The processes that hold the namespaces: the first one, which is also the switch, and one for each node."""

    init: Process
    nodes: dict[str, Process]


def needs_user_namespace() -> bool:
    """Whether this process lacks the right to make namespaces (CAP_SYS_ADMIN)."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    effective = next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff:"))
    return not int(effective, 16) >> _CAP_SYS_ADMIN & 1


@contextlib.contextmanager
def booted(directory: Path, shape: Shape, *, rootless: bool) -> Iterator[Holders]:
    """Start all holders. They continue after a successful block; they end when the block raises and when this process
    is killed.

    Raises LabError when a program is missing or the machine forbids namespaces.
    """
    user = ["--user", "--map-root-user"] if rootless else []
    script = str(directory / "scripts" / "init.sh")
    privilege = "rootless" if rootless else "root"
    argv = ["unshare", *user, "--fork", "--kill-child", "--pid", "--mount", "--propagation=slave", "--net", "--uts"]
    argv += ["sh", script, str(directory), privilege, *shape.nodes]
    with (directory / "log").open("wb") as log:
        try:
            launcher = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, cwd="/", start_new_session=True
            )
        except FileNotFoundError as error:
            raise LabError(missing_tool(argv[0])) from error
    if launcher.stdin is None or launcher.stdout is None:
        raise RuntimeError("subprocess made no pipes")
    try:
        with launcher.stdout as reports:
            pids = _read_reports(reports, {"switch", *shape.nodes})
        if pids is None:
            raise LabError(_why_not(directory, rootless=rootless))
        yield Holders(Process.of(pids["switch"]), {node: Process.of(pids[node]) for node in shape.nodes})
        launcher.stdin.write(b"go\n")
        launcher.stdin.close()
    except BaseException:
        # --kill-child: the first process dies with its launcher, and all others with it.
        launcher.kill()
        launcher.wait()
        with contextlib.suppress(BrokenPipeError):
            launcher.stdin.close()
        raise
    # The launcher continues without this process; without a return code, Python warns at exit that nothing waited for
    # it.
    launcher.returncode = 0


def spawn(directory: Path, init: Process, kind: Literal["router", "hypervisor"], *, rootless: bool) -> Process:
    """Start the holder of a new namespace inside the cluster. Raises LabError when it does not start."""
    # In the background, so that the holder becomes a child of the cluster's first process and not of this one.
    background = 'unshare --net sh "$1" </dev/null 2>>"$2" &'
    log = directory / "log"
    argv = [*into(init, "pid", rootless=rootless), "sh", "-c", background, "sh"]
    argv += [str(directory / "scripts" / f"{kind}.sh"), str(log)]
    result = subprocess.run(argv, capture_output=True, text=True, check=False)
    if not result.stdout.strip().isdigit():
        raise LabError(f"Could not start a {kind} in the practice cluster: its messages are in {log}.")
    return Process.of(int(result.stdout))


def _read_reports(reports: IO[bytes], expected: set[str]) -> dict[str, int] | None:
    """Return the pid of each expected process; None when one failed, the launcher ended, or the time ran out."""
    pids: dict[str, int] = {}
    pending = b""
    deadline = time.monotonic() + _TIMEOUT_S
    while expected - pids.keys():
        ready, _, _ = select.select([reports], [], [], max(0.0, deadline - time.monotonic()))
        chunk = os.read(reports.fileno(), 4096) if ready else b""
        if not chunk:
            return None
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            name, pid = line.decode("ascii").split()
            if pid == "failed":
                return None
            pids[name] = int(pid)
    return pids


def _why_not(directory: Path, *, rootless: bool) -> str:
    reason = _first_line((directory / "log").read_text(encoding="utf-8", errors="replace"))
    if rootless:
        for path, forbidding, setting in _KNOBS:
            with contextlib.suppress(OSError):
                if Path(path).read_text(encoding="ascii").strip() == forbidding:
                    return (
                        f"This machine forbids namespaces to ordinary users ({path} is {forbidding}): run "
                        f"`sudo sysctl -w {setting}`, or racwire as root."
                    )
        return (
            f"An ordinary user could not make the practice cluster's namespaces on this machine ({reason}): "
            "run racwire as root."
        )
    return (
        f"Root could not make the practice cluster's namespaces on this machine ({reason}): "
        "inside a container, start the container with --privileged."
    )


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason reported")
