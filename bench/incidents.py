"""Measure how an idle console reports a new fault: seconds until the first line shows it, and keys until the next step
is on the screen."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from types import TracebackType
from typing import Self

from bench.home import RACWIRE, new_user
from bench.pace import Pace
from bench.practice import outside, practice_cluster
from bench.rows import Row
from bench.terminal import SMALL, TerminalError
from racwire_lab import Lab

INTERVALS, KEYS = 2.0, 3
"""The most intervals of sampling until the first line shows a fault, and the most keys until its next step."""
_WITHIN_S = 90.0
_COUNT = count()
_RUN_WITHIN_S = 25.0
"""Seconds that a run of the checks can take while a node does not answer."""
_MARKED = re.compile(r"(rac\d\*?|prac [\d.]+[^?]*)[!?]")


@dataclass(frozen=True)
class Incident:
    """A fault, and the text of the next step that a careful DBA would take."""

    fault: str
    node: str
    network: str
    step: str
    """A regular expression for a part of the step, over the screen's words."""


INCIDENTS = (
    Incident("switch-mtu", "rac2", "eth2", r"network team|MTU of the port"),
    Incident("link-down", "rac3", "eth2", r"cable|link|port"),
    Incident("peer-down", "rac2", "", r"CSS evicted"),
    Incident("small-receive-buffer", "rac3", "", r"rmem|receive buffer"),
    Incident("hung-instance", "rac2", "", r"hang"),
)


class TmuxScreen:
    """A program in a window of a tmux server of its own, whose screen can be read. Always close it."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], size: tuple[int, int] = SMALL) -> None:
        self._socket = f"racwire-bench-{os.getpid()}-{next(_COUNT)}"
        self._environment = {**environment}
        words = " ".join(f"'{word}'" for word in command)
        self._tmux("-f", os.devnull, "new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), words)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def text(self) -> str:
        """Return the screen."""
        return self._tmux("capture-pane", "-p")

    def press(self, key: str) -> None:
        """Press a key, by its name in tmux."""
        self._tmux("send-keys", key)

    def until(self, so: Callable[[str], object], within_s: float = _WITHIN_S) -> float:
        """Wait until the screen satisfies the condition. Return the time. Raises TerminalError."""
        end = time.perf_counter() + within_s
        while not so(screen := self.text()):
            if time.perf_counter() > end:
                raise TerminalError(f"not drawn within {within_s:g} s; the screen is:\n{screen}")
            time.sleep(0.05)
        return time.perf_counter()

    def close(self) -> None:
        """End the program and its tmux server."""
        subprocess.run(["tmux", "-L", self._socket, "kill-server"], check=False, capture_output=True, timeout=20)

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._socket, *words], env=self._environment, capture_output=True, text=True, timeout=20
        )
        if done.returncode:
            raise TerminalError(f"tmux {words[0]}: {done.stderr.strip()}")
        return done.stdout


def measure(pace: Pace) -> Iterator[Row]:
    """Yield two rows for each incident."""
    if not shutil.which("tmux"):
        yield Row("incidents", why_not="tmux is not installed here")
        return
    for incident in INCIDENTS:  # each on a cluster of its own: instances report old losses for a while
        with new_user() as environment, practice_cluster(nodes=3) as lab:
            yield from _rows(incident, lab, outside(lab, environment))


def _rows(incident: Incident, lab: Lab, environment: Mapping[str, str]) -> Iterator[Row]:
    title = f"incident {incident.fault}"
    with TmuxScreen([RACWIRE, "--lab", "--interval", "1"], environment) as screen:
        screen.until(lambda text: "live 1 s" in text.splitlines()[0] and " s ─" in text)
        time.sleep(5)  # a console that is open for a while
        healthy = screen.text().splitlines()[0]
        if _MARKED.search(healthy):
            yield Row(title, why_not=f"the cluster is not healthy before: {healthy}")
            return
        lab.break_(incident.fault, incident.node or None, incident.network or None)
        broken_at = time.perf_counter()
        shown = screen.until(lambda text: _MARKED.search(text.splitlines()[0]))
        line = next(line for line in reversed(screen.text().splitlines()) if "─" in line).strip("─ ")
        yield Row(f"{title}: until the first line shows it", "s", shown - broken_at, INTERVALS, notes=(line,))
        keys = 0
        for key, within_s in (("r", _RUN_WITHIN_S), ("Home", 2.0), ("Enter", 2.0), ("Tab", 2.0)):
            screen.press(key)
            keys += 1
            with suppress(TerminalError):
                screen.until(lambda text: _has_step(text, incident), within_s)
                break
        yield Row(f"{title}: keys until the next step", "keys", keys, KEYS, notes=tuple(_excerpt(screen.text())))


def _has_step(text: str, incident: Incident) -> bool:
    right = " ".join(line.partition("│")[2].strip() for line in text.splitlines())
    return bool(re.search(r"Next .*(" + incident.step + ")", right))


def _excerpt(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()[3:16]]
