"""Prints events of the cluster, live or of a recording: lines to read, or JSON lines for scripts."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from checks.model.cluster_event import ClusterEvent
from checks.model.exit_codes import ExitCode
from checks.model.wording import counted, lasting
from checks.report.event_text import change, sentence
from checks.run.check_discovery import discover
from checks.situation.events.watching import EventWatch
from checks.situation.examining import checks_about
from checks.traffic.json_text import to_json_text
from checks.traffic.recording import Recording, RecordingError
from tui.cli.errors import UsageError
from tui.cli.event_states import EventStates, Tell, passing_time
from tui.cli.status_line import StatusLine
from tui.text.sanitize import for_encoding, sanitize_lines
from tui.widgets.units import clock

if TYPE_CHECKING:
    from tui.cli.sampling import Ending
    from tui.console.batch_writer import Item

    _Sampling = Callable[[Callable[[list[Item]], None]], Coroutine[Any, Any, Ending]]


class EventLines:
    """Prints the events of a watch as they change. Lines are printed in any thread."""

    def __init__(self, watch: EventWatch, *, as_json: bool, tell: Tell | None = None) -> None:
        """`tell` gets each change too."""
        self.states = EventStates(watch, self._line)
        self._tell = tell
        self._as_json = as_json
        self._checks = discover().checks if as_json else ()
        self._waiting: list[bytes] = []
        self._printing = threading.Lock()

    async def during(self, sampling: _Sampling, line: StatusLine) -> Ending:
        """Sample, and print events meanwhile. `sampling` gets what prints, and passes each item to `states.take`."""
        started_s = time.monotonic()
        async with passing_time(self.states, self._print_aside):
            ending = await sampling(lambda _: self.print())
        self.print()
        _conclude(self.states, line, time.monotonic() - started_s)
        return ending

    async def _print_aside(self) -> None:
        if self._waiting:
            await asyncio.get_running_loop().run_in_executor(None, self.print)

    def print(self) -> None:
        """Print the lines so far. Blocks where the reader of stdout is slow."""
        with self._printing:
            lines, self._waiting = self._waiting, []
            if lines:
                sys.stdout.buffer.write(b"".join(lines))
                sys.stdout.buffer.flush()

    def _line(self, state: str, event: ClusterEvent, now: float) -> None:
        if self._tell is not None:
            self._tell(state, event, now)
        if self._as_json:
            fields = msgspec.to_builtins(event)
            line = {"fact": fields.pop("fact"), "state": state, "text": sentence(event), **fields}
            self._waiting.append(to_json_text({**line, "checks": checks_about(event.kind, self._checks)}) + b"\n")
            return
        at = event.end if event.end is not None and state == "ends" else event.start
        text = change(state, event, now)
        line_text = sanitize_lines(f"{clock(at, date=True)}  {event.status.letter}  {state:<9}  {text}")
        self._waiting.append(f"{for_encoding(line_text, sys.stdout.encoding)}\n".encode(sys.stdout.encoding, "replace"))


def print_events_of(path: Path, *, as_json: bool, quiet: bool) -> int:
    """Print the events of a recording, and return the exit code. Raises UsageError where it cannot be opened."""
    try:
        recording = Recording.open(path)
    except RecordingError as error:
        raise UsageError(str(error)) from None
    lines, line = EventLines(EventWatch(recording.header.cluster), as_json=as_json), StatusLine(quiet=quiet)
    try:
        span = recording.span()
        for event in recording.events():
            lines.states.take(event)
            lines.print()
    except RecordingError as error:
        line.announce(str(error))
        return ExitCode.COULD_NOT_TELL
    finally:
        recording.close()
    lines.states.end()
    lines.print()
    _conclude(lines.states, line, span[1] - span[0] if span else 0.0)
    return ExitCode.COULD_NOT_TELL if span is None else lines.states.exit_code


def _conclude(states: EventStates, line: StatusLine, seconds: float) -> None:
    number = counted(states.count, "event") if states.count else "no event"
    unseen = [source.short for source in states.watch.never_seen]
    blind = f"; never seen: {', '.join(unseen)}" if unseen else ""
    line.print(f"{number} in {lasting(seconds)}{blind}.")
