"""`racwire check`: run checks without the full screen. stdout is the report, stderr tells how far it is."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from checks.engine import Engine
from checks.events import CheckConcluded, Event, Gathered, GatherProgress, RunFinished
from checks.plugin import Check, Checks, discover
from checks.report.json_report import to_json
from checks.result import ExitCode, Report, exit_code
from checks.settings import Settings
from tui.errors import UsageError
from tui.files import OutputError, write_whole
from tui.password import password_for
from tui.printable import printable
from tui.streams import give_up_stdout, leave, tell
from tui.text_report import text_report

_INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_check(args: argparse.Namespace, settings: Settings) -> int:
    """Run, print, and return the exit code. Raises UsageError for an unknown check."""
    found = discover()
    chosen = choose(found, args.ids, args.skip)
    output = _output(args.output, replace=args.force)
    password = password_for(settings.database, chosen)
    broken = found.broken if not args.ids else [b for b in found.broken if b.name in args.ids]
    with progress_line(sys.stderr.isatty() and not args.quiet) as told:
        report = _run_in_own_loop(Engine(chosen, settings, broken=broken, password=password), told)
    return leave(_deliver(report, args.format, output, replace=args.force))


def _output(named: str | None, *, replace: bool) -> Path | None:
    """The file to write, looked at before anything is run for it. Raises UsageError."""
    if named is None:
        return None
    output = Path(named)
    if not named or output.is_dir():
        raise UsageError(f"-o needs the name of a file; {named!r} is none.")
    if not output.parent.is_dir():
        raise UsageError(f"{output} cannot be written: there is no directory {output.parent}.")
    if output.is_file() and not replace:
        raise UsageError(f"{output} is already there; name another file, or add --force to replace it.")
    return output


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


def _run_in_own_loop(engine: Engine, told: Progress) -> Report:
    """Run in a loop that is not waited for: `asyncio.run` would join threads that hang in the kernel."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_run(engine, told))
    finally:
        loop.close()


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


def _deliver(report: Report, form: str, output: Path | None, *, replace: bool) -> int:
    """Save or print the report. What cannot be saved is printed, on stderr at last, so that nothing is lost."""
    code: int = exit_code(report)
    if output is not None:
        try:
            write_whole(output, _as_file(report, form), replace=replace)
        except OutputError as error:
            tell(f"{error} The report follows.")
            code = max(code, ExitCode.COULD_NOT_TELL)
        else:
            tell(f"the report is in {output}.")
            return code
    try:
        _write(sys.stdout, report, form)
    except BrokenPipeError:
        give_up_stdout()  # the reader has seen enough; what was found is still so
    except OSError as error:
        tell(f"the report could not be written: {error.strerror}. It follows here.")
        give_up_stdout()
        code = max(code, ExitCode.COULD_NOT_TELL)
        with contextlib.suppress(OSError):
            _write(sys.stderr, report, form)
    return code


def _as_file(report: Report, form: str) -> bytes:
    if form == "json":
        return to_json(report)
    with open("/dev/null", "w", encoding="utf-8") as plain:
        return text_report(report, plain).encode(errors="replace")


def _write(stream: TextIO, report: Report, form: str) -> None:
    stream.flush()
    if form == "json":
        stream.buffer.write(to_json(report))  # JSON is UTF-8, whatever the locale
    else:
        stream.write(text_report(report, stream))
    stream.flush()
