"""racwire's measurements and other instruments in turns, on the nodes of a practice cluster."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from racwire_lab import Lab
from racwire_lab.cluster.networks import PRIVATE
from racwire_lab.cluster.processes import into

_ROOT = Path(__file__).parents[1]
NEAR, FAR = "rac1", "rac2"
SOURCE, TARGET = PRIVATE[0].address(1), PRIVATE[0].address(2)
"""The addresses of the near and the far end."""
_END_S = 10.0


class NoInstrument(Exception):  # noqa: N818 - this is a reason not to measure, not an error
    """A program to hold racwire against is missing, or failed. The text is the reason."""


def demand(*tools: str) -> None:
    """Raise NoInstrument where a program is missing on this machine."""
    if missing := [tool for tool in tools if shutil.which(tool) is None]:
        raise NoInstrument(f"{missing[0]} is not installed here")


def set_apart(lab: Lab) -> str:
    """Let all near ends run on one CPU and all far ends on another, and return that as a note; empty with one CPU.

    Where the scheduler places two programs decides half of a round trip: on one CPU, or with a wake-up of another.
    """
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        return ""
    for process in processes(lab, FAR):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(process, {cpus[1]})
    return "near ends on one CPU, far ends on another, for both instruments"


def processes(lab: Lab, node: str, mark: bytes = b"") -> list[int]:
    """Return the processes of a node whose command lines contain the mark."""
    wanted, found = _namespace(lab.state.nodes[node].pid), []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # it has ended
            if process.name.isdigit() and mark in (process / "cmdline").read_bytes():
                number = int(process.name)
                if _namespace(number) == wanted:
                    found.append(number)
    return found


def far_ends(lab: Lab) -> list[int]:
    """Return the far ends of a measurement that run on the far node."""
    return processes(lab, FAR, b"racwire text")


def near(lab: Lab, program: str, **options: Any) -> Any:
    """Run `python -m bench.programs.PROGRAM` on the near node with these options, and return what it prints as JSON.

    Raises NoInstrument with its last line where it fails.
    """
    cpus = sorted(os.sched_getaffinity(0))
    command = ["taskset", "-c", str(cpus[0]), sys.executable, "-m", f"bench.programs.{program}", json.dumps(options)]
    done = subprocess.run(
        lab.enter(NEAR, command), cwd=_ROOT, env=_environment(lab, NEAR), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise NoInstrument(f"{program}: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")
    return json.loads(done.stdout)


@contextlib.contextmanager
def running(lab: Lab, node: str, command: Sequence[str], ready: str = "") -> Iterator[subprocess.Popen[str]]:
    """Run a program on a node until the end of the block. Waits for a line with the text `ready` where there is one.

    Raises NoInstrument where the program ends first.
    """
    cpus = sorted(os.sched_getaffinity(0))
    pinned = ["taskset", "-c", str(cpus[1 % len(cpus)] if node == FAR else cpus[0]), *command]
    with subprocess.Popen(
        lab.enter(node, pinned), env=_environment(lab, node), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            while ready and ready not in (line := process.stdout.readline()):
                if not line:
                    raise NoInstrument(f"{command[0]} ended")
            yield process
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_END_S)
            process.kill()


def measure(lab: Lab, *words: str) -> tuple[int, Any]:
    """Run `racwire measure ...` on the near node, and return its exit code and its result. Raises NoInstrument."""
    command = [sys.executable, "-P", "-m", "racwire", "measure", *words, "--format", "json", "--go", "practice"]
    done = subprocess.run(
        lab.enter(NEAR, command), cwd=_ROOT, env=_environment(lab, NEAR), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if not done.stdout:
        raise NoInstrument(f"racwire measure: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")
    return done.returncode, json.loads(done.stdout)


def entered(lab: Lab, node: str, command: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of `subprocess.Popen` for a command on a node."""
    return {"args": lab.enter(node, command), "cwd": _ROOT, "env": _environment(lab, node)}


def on_node(lab: Lab, node: str, *command: str) -> str:
    """Return the output of a command on a node."""
    return subprocess.run(
        lab.enter(node, command), env=_environment(lab, node), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip


def in_switch(lab: Lab, *command: str) -> str:
    """Return the output of a command in the switches' namespace. Raises NoInstrument where it fails."""
    entered = [*into(lab.state.init, "net", rootless=lab.state.rootless), *command]
    done = subprocess.run(entered, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoInstrument(f"{command[0]} in the switch: {done.stderr.strip()}")
    return done.stdout


def halves_differ(values: Sequence[float]) -> float:
    """Return by how much the medians of every other value differ, 0 to 1 of the smaller: the noise of an instrument."""
    if len(values) < 2:
        return 0.0
    first, second = sorted((median(values[::2]), median(values[1::2])))
    return second / first - 1 if first else 0.0


def _environment(lab: Lab, node: str) -> dict[str, str]:
    return {**os.environ, **lab.environment(node), "PYTHONPATH": str(_ROOT)}


def _namespace(pid: int) -> str:
    return os.readlink(f"/proc/{pid}/ns/net")
