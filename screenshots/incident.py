"""Record an incident in the console as an asciicast: from the alarm over the cause to the proof that it is fixed.

`make screenshots` writes it. `asciinema play` plays it, and so does the player of asciinema.org.
"""

from __future__ import annotations

import codecs
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from recorded_screen import Screen

from bench.home import RACWIRE, new_user
from bench.practice import outside, practice_cluster
from bench.terminal import SMALL, Terminal, TerminalError

LONGEST_PAUSE_S = 2.5
"""Longer pauses of the recording are cut to this: nobody watches a cluster that is well."""
READ_S = 4.0
"""Seconds in which a viewer can read a screen."""


class RecordedTerminal(Terminal):
    """A terminal that keeps each output with its time."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.events: list[tuple[float, str, str]] = []
        """The time, the kind and the text of each output and marker, as an asciicast has them."""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._screen = Screen(*SMALL)
        self._cut_s = 0.0
        self._last_s = time.perf_counter()
        super().__init__(command, environment, SMALL)

    def _read(self, within_s: float) -> bytes:
        data = super()._read(within_s)
        if data:
            text = self._decoder.decode(data)
            self._screen.feed(text)
            self.events.append((self._at_s(), "o", text))
        return data

    def wait_for(self, text: str, within_s: float = 60) -> None:
        """Wait until a line of the screen has this text, however it was drawn. Raises TerminalError."""
        end = time.perf_counter() + within_s
        while not any(text in line for line in self._screen.lines_of_text):
            if time.perf_counter() > end:
                shown = "\n".join(self._screen.lines_of_text)
                raise TerminalError(f"'{text}' was not shown within {within_s:g} s; the screen was:\n{shown}")
            self._read(1.0)

    def mark(self, note: str) -> None:
        """Note what happens from here on, for the line below the animation."""
        self.events.append((self._at_s(), "m", note))

    def _at_s(self) -> float:
        """The seconds since the start, without what was cut from longer pauses."""
        now_s = time.perf_counter()
        self._cut_s += max(now_s - self._last_s - LONGEST_PAUSE_S, 0.0)
        self._last_s = now_s
        return now_s - self.started_at - self._cut_s

    def hold(self, seconds: float) -> None:
        """Leave the screen as it is for a reader."""
        self.read_for(seconds)

    def as_cast(self, title: str) -> str:
        """Return the recording in the format asciicast 2."""
        header = {
            "version": 2,
            "width": SMALL[0],
            "height": SMALL[1],
            "title": title,
            "env": {"TERM": "xterm-256color"},
        }
        return "\n".join([json.dumps(header), *(json.dumps([round(at, 3), *what]) for at, *what in self.events)]) + "\n"


def record_incident(target: Path) -> None:
    """Play the incident on a practice cluster, and write the recording."""
    with new_user() as environment, practice_cluster(nodes=3) as lab:
        with RecordedTerminal([RACWIRE, "--lab", "--interval", "1"], outside(lab, environment)) as terminal:
            _play(terminal, lambda: lab.break_("switch-mtu"), lambda: lab.mend())
        text = terminal.as_cast("racwire: a switch port with the wrong MTU, from the alarm to the proof")
    with tempfile.NamedTemporaryFile("w", dir=target.parent, delete=False, encoding="utf-8") as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    Path(file.name).replace(target)


def _play(terminal: RecordedTerminal, break_it: Callable[[], object], mend_it: Callable[[], object]) -> None:
    """Do what an operator does."""
    terminal.wait_for("No problem was found")
    terminal.mark("A cluster that is well")
    terminal.hold(READ_S)
    terminal.mark("The switch port of rac2 now drops large packets")
    break_it()
    terminal.wait_for("looks for the cause")
    terminal.mark("The alarm, in the line above the keys")
    terminal.hold(READ_S)
    terminal.mark("r: the checks look for its cause")
    terminal.send("r")
    terminal.wait_for("CAUSE-12")
    terminal.mark("The cause, with what to do next")
    terminal.hold(2 * READ_S)
    terminal.mark("Enter: the cause in full, and its evidence")
    terminal.send("\r")
    terminal.hold(READ_S)
    terminal.send(" ")
    terminal.hold(READ_S)
    terminal.send("\x1b")
    terminal.hold(1.0)
    terminal.mark("3: the traffic, live")
    terminal.send("3")
    terminal.hold(READ_S)
    terminal.mark("The network team corrects the port")
    mend_it()
    terminal.hold(2 * READ_S)
    terminal.send("1")
    terminal.hold(1.0)
    terminal.mark("v: the same checks prove that it is fixed")
    terminal.send("v")
    terminal.wait_for("Verified")
    terminal.mark("Verified: it is over")
    terminal.hold(2 * READ_S)
    terminal.mark("!: the events, with their start, end and peak")
    terminal.send("!")
    terminal.hold(READ_S)
    terminal.send("q")
    terminal.hold(1.0)
