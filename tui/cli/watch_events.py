"""Prints events of the cluster, live or of a recording: lines to read, or JSON lines for scripts."""

from __future__ import annotations

import asyncio
import math
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from checks.model.cluster_event import ClusterEvent
from checks.model.exit_codes import ExitCode
from checks.model.facts import Cluster
from checks.model.finding import Status
from checks.model.wording import counted, lasting
from checks.report.event_text import headline, outcome, peak, sentence
from checks.run.check_discovery import discover
from checks.situation.events.watching import EventWatch
from checks.situation.examining import checks_about
from checks.traffic.json_text import to_json_text
from checks.traffic.recording import Recording, RecordingError
from checks.traffic.samples import InstancesPace
from tui.cli.errors import UsageError
from tui.cli.status_line import StatusLine
from tui.text.sanitize import for_encoding, sanitize_lines
from tui.widgets.units import clock

if TYPE_CHECKING:
    from tui.cli.sampling import Ending
    from tui.console.batch_writer import Item

    _Sampling = Callable[[Callable[[list[Item]], None]], Coroutine[Any, Any, Ending]]

_LOOK_EVERY_S = 0.25
_TOGETHER_S = 0.3
"""Seconds in which the nodes and instances of one round deliver: what they show is printed as one line."""
_CODES = {
    Status.FAIL: ExitCode.FAILURES,
    Status.UNKNOWN: ExitCode.COULD_NOT_TELL,
    Status.WARN: ExitCode.WARNINGS,
}


class EventLines:
    """Prints the events of a watch as they change. Items come from one thread, lines are printed in any."""

    def __init__(self, watch: EventWatch, *, as_json: bool) -> None:
        self.watch = watch
        self._as_json = as_json
        self._checks = discover().checks if as_json else ()
        self._started: set[int] = set()
        self._held: dict[int, tuple[str, ClusterEvent]] = {}
        """What started or continued in this round, by the number of the event."""
        self._held_at = 0.0
        self._now = 0.0
        self._waiting: list[bytes] = []
        self._printing = threading.Lock()
        self.worst = Status.PASS
        self.count = 0

    def take(self, item: Item) -> None:
        """Take an item of the feed or of a recording."""
        if not isinstance(item, Cluster | InstancesPace):
            self._now = item.at
            self._release(item.at)
        self._add(self.watch.see(item), self._now)

    def pass_time(self, now: float) -> bool:
        """Let time pass without an item. Return whether there are lines to print."""
        self._release(now)
        self._add(self.watch.pass_time(now), now)
        return bool(self._waiting)

    async def during(self, sampling: _Sampling, line: StatusLine) -> Ending:
        """Sample, and print events meanwhile. `sampling` gets what prints, and passes each item to `take`."""
        started_s = time.monotonic()
        looking = asyncio.create_task(self._look())
        try:
            ending = await sampling(lambda _: self.print())
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking
        self.end()
        self.print()
        _conclude(self, line, time.monotonic() - started_s)
        return ending

    async def _look(self) -> None:
        """Let time pass: a source that stops answering delivers nothing."""
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            if self.pass_time(time.time()):
                await asyncio.get_running_loop().run_in_executor(None, self.print)

    def end(self) -> None:
        """Add the events that last."""
        self._release(math.inf)
        for event in self.watch.lasting:
            self._line("lasts", event)

    def print(self) -> None:
        """Print the lines so far. Blocks where the reader of stdout is slow."""
        with self._printing:
            lines, self._waiting = self._waiting, []
            if lines:
                sys.stdout.buffer.write(b"".join(lines))
                sys.stdout.buffer.flush()

    @property
    def exit_code(self) -> ExitCode:
        """The exit code: that of the worst event, in the order of a report; a node that was never seen is UNKNOWN."""
        found = {self.worst, Status.UNKNOWN} if self.watch.never_seen else {self.worst}
        return next((code for status, code in _CODES.items() if status in found), ExitCode.PASS)

    def _add(self, changed: Iterable[ClusterEvent], at: float) -> None:
        for event in changed:
            is_new = event.number not in self._started
            self._started.add(event.number)
            self.count += is_new
            self._held_at = self._held_at if self._held else at
            state, _ = self._held.get(event.number, ("starts" if is_new else "continues", event))
            if not event.is_over:
                self._held[event.number] = (state, event)
                continue
            self._held.pop(event.number, None)
            over = "continues" if event.is_moment else "ends"
            self._line("once" if state == "starts" else over, event)

    def _release(self, at: float) -> None:
        """Add the lines of a round that is over."""
        if self._held and not 0 <= at - self._held_at <= _TOGETHER_S:
            held, self._held = self._held, {}
            for state, event in held.values():
                self._line(state, event)

    def _line(self, state: str, event: ClusterEvent) -> None:
        if event.status.gravity < self.worst.gravity:
            self.worst = event.status
        if self._as_json:
            fields = msgspec.to_builtins(event)
            line = {"fact": fields.pop("fact"), "state": state, "text": sentence(event), **fields}
            self._waiting.append(to_json_text({**line, "checks": checks_about(event.kind, self._checks)}) + b"\n")
            return
        at, text = event.start, headline(event)
        if state in ("starts", "continues") and not event.is_moment:
            text += f", {peak(event, self._now)}" if event.count else ""
        elif extent := outcome(event, self._now):
            at = event.end if event.end is not None and state == "ends" else event.start
            text += f", {extent}"
        if state in ("starts", "once") and event.reason:
            text += f": {event.reason}"
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
            lines.take(event)
            lines.print()
    except RecordingError as error:
        line.announce(str(error))
        return ExitCode.COULD_NOT_TELL
    finally:
        recording.close()
    lines.end()
    lines.print()
    _conclude(lines, line, span[1] - span[0] if span else 0.0)
    return ExitCode.COULD_NOT_TELL if span is None else lines.exit_code


def _conclude(lines: EventLines, line: StatusLine, seconds: float) -> None:
    number = counted(lines.count, "event") if lines.count else "no event"
    unseen = [source.short for source in lines.watch.never_seen]
    blind = f"; never seen: {', '.join(unseen)}" if unseen else ""
    line.print(f"{number} in {lasting(seconds)}{blind}.")
