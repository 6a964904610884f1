"""`racwire check`: run checks without the full screen. stdout is the report, stderr tells how far it is."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from checks.engine import Engine
from checks.events import CheckConcluded, Event, Gathered, GatherProgress, RunFinished
from checks.plugin import Check, Checks, discover
from checks.report.json_report import to_json
from checks.result import ExitCode, Report, exit_code
from checks.settings import Settings
from tui.errors import UsageError
from tui.files import OutputError, write_whole
from tui.text_report import text_report


def run_check(args: argparse.Namespace, settings: Settings) -> int:
    """Run, print, and return the exit code. Raises UsageError for an unknown check."""
    found = discover()
    chosen = choose(found, args.ids, args.skip)
    output = Path(args.output) if args.output else None
    if output and output.is_file() and not args.force:
        raise UsageError(f"{output} is already there; name another file, or add --force to replace it.")
    broken = found.broken if not args.ids else [b for b in found.broken if b.name in args.ids]
    with progress_line(sys.stderr.isatty() and not args.quiet) as told:
        report = asyncio.run(_run(Engine(chosen, settings, broken=broken), told))
    return _deliver(report, args.format, output, replace=args.force)


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
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, task.cancel)
    events = engine.events()
    try:
        async for event in events:
            told(event)
            if isinstance(event, RunFinished):
                return event.report
    except asyncio.CancelledError:
        task.uncancel()
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
            case GatherProgress(_, text, done, total):
                self._show(f"{text} {done} of {total}" if total else text)
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
            sys.stderr.write(f"\r\x1b[K{text[:78]}")
            sys.stderr.flush()


@contextlib.contextmanager
def progress_line(shown: bool) -> Iterator[Progress]:
    """A progress line for the time of a run."""
    progress = Progress(shown)
    try:
        yield progress
    finally:
        progress.clear()


def _deliver(report: Report, form: str, output: Path | None, *, replace: bool) -> int:
    """Print or save the report. When it cannot be saved it is printed, so that nothing is lost."""
    if output is not None:
        try:
            write_whole(output, _as_file(report, form), replace=replace)
        except OutputError as error:
            print(f"racwire: {error} The report follows.", file=sys.stderr)
            _print(report, form)
            return max(exit_code(report), ExitCode.COULD_NOT_TELL)
        print(f"racwire: the report is in {output}.", file=sys.stderr)
    else:
        _print(report, form)
    return exit_code(report)


def _as_file(report: Report, form: str) -> bytes:
    if form == "json":
        return to_json(report)
    with open("/dev/null", "w", encoding="utf-8") as plain:
        return text_report(report, plain).encode()


def _print(report: Report, form: str) -> None:
    text = to_json(report).decode() if form == "json" else text_report(report, sys.stdout)
    sys.stdout.write(text)
    sys.stdout.flush()
