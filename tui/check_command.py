"""`racwire check`: run checks without the full screen. stdout is the report, stderr tells how far it is."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from collections.abc import Iterator

from checks.engine import Engine
from checks.events import CheckConcluded, Event, Gathered, GatherProgress, RunFinished
from checks.plugin import Check, Checks, discover
from checks.report.json_report import to_json
from checks.result import Report, exit_code
from checks.settings import Settings
from tui.document import Document, output_file
from tui.errors import UsageError
from tui.own_loop import run_in_own_loop
from tui.password import password_for
from tui.printable import printable
from tui.streams import leave
from tui.text_report import text_report

_INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_check(args: argparse.Namespace, settings: Settings) -> int:
    """Run, print, and return the exit code. Raises UsageError for an unknown check."""
    found = discover()
    chosen = choose(found, args.ids, args.skip)
    output = None if args.output is None else output_file(args.output, replace=args.force)
    password = password_for(settings.database, chosen)
    broken = found.broken if not args.ids else [b for b in found.broken if b.name in args.ids]
    with progress_line(sys.stderr.isatty() and not args.quiet) as told:
        report = run_in_own_loop(_run(Engine(chosen, settings, broken=broken, password=password), told))
    document = Document(
        "report", args.format, json=lambda: to_json(report), text=lambda stream: text_report(report, stream)
    )
    return leave(document.deliver(output, exit_code(report), replace=args.force))


def choose(found: Checks, wanted: list[str], skipped: list[str]) -> list[Check]:
    """The checks asked for, in their own order; all of them when none is named. Raises UsageError."""
    known = [c.id for c in found] + [b.name for b in found.broken]
    for name in (*wanted, *skipped):
        if name not in known:
            raise UsageError(f"There is no check {name!r}; there are {', '.join(known)}.")
    chosen = [c for c in found if (not wanted or c.id in wanted) and c.id not in skipped]
    if not chosen and not any(b.name in wanted for b in found.broken):
        raise UsageError("No check is left to run: all were skipped.")
    return chosen


async def _run(engine: Engine, told: Progress) -> Report:
    """Run to the end; an interrupt (Ctrl-C, TERM, HUP) ends it early with what there is."""
    task = asyncio.current_task()
    assert task is not None
    loop = asyncio.get_running_loop()
    interrupts = iter((task.cancel,))

    def interrupt() -> None:
        for cancel in interrupts:  # once: a second Ctrl-C must not cut off the closing, and with it the report
            cancel()

    for number in _INTERRUPTS:
        loop.add_signal_handler(number, interrupt)
    events = engine.events()
    try:
        async for event in events:
            told(event)
            if isinstance(event, RunFinished):
                return event.report
    except asyncio.CancelledError:
        task.uncancel()
        for number in _INTERRUPTS:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN)  # sent again, it must not cut the report short
        return engine.report(interrupted=True)
    finally:
        await events.aclose()
    raise AssertionError("the engine ended without a report")


class Progress:
    """One line on stderr that says what is going on, overwritten as it goes, gone at the end."""

    def __init__(self, shown: bool) -> None:
        self._shown = shown
        self._concluded = 0

    def __call__(self, event: Event) -> None:
        """Tell an event."""
        match event:
            case GatherProgress():
                self._show(f"{event.text} {event.measure}".rstrip())
            case Gathered(group, _, problem) if not problem:
                self._show(f"{group} known")
            case CheckConcluded():
                self._concluded += 1
                self._show(f"{self._concluded} checks concluded")

    def clear(self) -> None:
        """Leave the line empty for what comes after."""
        self._show("")

    def _show(self, text: str) -> None:
        if self._shown:
            sys.stderr.write(f"\r\x1b[K{printable(text)[:78]}")
            sys.stderr.flush()


@contextlib.contextmanager
def progress_line(shown: bool) -> Iterator[Progress]:
    """A progress line for the time of a run."""
    progress = Progress(shown)
    try:
        yield progress
    finally:
        progress.clear()
