"""Starts `racwire` without a command: the console on a suitable terminal, otherwise the checks as text.

This module decides what must be decided before Textual is imported: Textual draws to stderr whatever that is, and
reads its environment once.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, TextIO, cast

import msgspec

from checks.model.exit_codes import ExitCode
from checks.model.report import exit_code
from checks.model.settings import Settings
from checks.run.directories import state_directory
from tui.cli.crash import HOW_TO_REPORT
from tui.cli.interrupts import graceful_stop
from tui.cli.log_file import LogFile, log_path
from tui.cli.narration import off_screen
from tui.cli.options import ENTERED
from tui.cli.own_loop import own_loop
from tui.cli.streams import exit_past_hung_threads, print_message, print_message_unless_blocked
from tui.terminal.job_control import is_in_background

if TYPE_CHECKING:
    from checks.model.check import Check
    from checks.run.check_discovery import BrokenPlugin, Checks
    from checks.run.engine import Engine
    from checks.traffic.feed import Feed
    from tui.console.app import ConsoleApp
    from tui.console.past import Past
    from tui.console.sessions import KeptSessions

_LITTLE_GARBAGE = 20_000
"""Objects in cycles that may wait for the garbage collector: a few megabytes."""
LONGEST_GAP_MS = 400
"""Milliseconds between two bytes of one key: a packet that waits for its turn on a line with a latency of 300 ms."""
_SWITCH_S = 0.0005
"""Seconds that a busy thread keeps the interpreter while another one waits for it; Python's default is 5 ms."""
DRAIN_S = 0.3
"""Seconds that running tasks have to end after the screen is closed."""


def run_console(
    settings: Settings, *, first: str = "checks", again: str = "", sessions: KeptSessions | None = None
) -> int:
    """Run the console with that first screen; return the exit code of the last finished report.

    `again` is the command that continues the displayed change, where it differs from `racwire change`. With `sessions`
    the page of guided troubleshooting opens after the first run.
    """
    if reason := no_console(os.environ, sys.__stdin__, sys.__stderr__):
        print_message(f"{reason}, so the checks run as text.")
        return _run_as_text(settings)
    prepare(os.environ)
    return _run_full_screen(settings, first=first, again=again, sessions=sessions)


def run_console_on_recording(path: Path, settings: Settings) -> int:
    """Show a recording in the console; return 0 at the end, whatever it contains. The caller asks `no_console` first.
    Raises RecordingError where the file cannot be read."""
    prepare(os.environ)
    from checks.traffic.recording import Recording
    from tui.console.past import of_recording

    def judge(checks: Sequence[Check], broken: Sequence[BrokenPlugin]) -> Engine:
        from checks.traffic.recording_replay import JudgedRecording

        return JudgedRecording(recording.header, checks, settings, broken=broken)

    recording = Recording.open(path)
    try:
        return _run_full_screen(settings, of_recording(recording), judge, first="traffic")
    finally:
        recording.close()


def run_console_on_saved(
    path: Path, settings: Settings, *, judged_by: Settings | None, sessions: KeptSessions | None = None
) -> int:
    """Show a saved state in the console; return the exit code of its report. The caller asks `no_console` first. With
    `judged_by` the thresholds and waivers of these settings apply, and not those of the run; with `sessions` the page
    of guided troubleshooting opens. Raises SavedError where the file cannot be read."""
    prepare(os.environ)
    from checks.saved import open_saved
    from checks.saved.saved_replay import Replay
    from tui.console.past import of_saved

    def judge(checks: Sequence[Check], broken: Sequence[BrokenPlugin]) -> Engine:
        run = msgspec.structs.replace(saved.report, situation=None)  # the console makes that of its moment
        return Replay(run, checks, broken=broken, settings=judged_by)

    with open_saved(path) as saved:
        return _run_full_screen(settings, of_saved(saved, datetime.now().astimezone()), judge, sessions=sessions)


def no_console(environment: Mapping[str, str], stdin: TextIO | None, stderr: TextIO | None) -> str:
    """Return why the full screen cannot be used; empty when it can."""
    if stdin is None or stderr is None or not stdin.isatty() or not stderr.isatty():
        return "there is no terminal"
    if environment.get("TERM", "") in ("", "dumb", "unknown"):
        return f"the terminal type (TERM) is {environment.get('TERM') or 'not set'}"
    if is_in_background(stdin.fileno()):  # `racwire &`, `timeout 60 racwire`: the kernel would stop it, again and again
        return "racwire is in the background of this terminal"
    return ""


def prepare(environment: dict[str, str] | os._Environ[str]) -> None:
    """Set the environment variables that Textual reads when it is imported."""
    environment.setdefault("TEXTUAL_ANIMATIONS", "none")
    # On a slow line the bytes of an arrow key arrive apart, and the first of them must not count as Esc. After
    # `su - oracle` nothing shows that the line is one of ssh: only a terminal of this machine's own is surely quick.
    is_local = environment.get("TERM") == "linux" or any(name in environment for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    if "SSH_CONNECTION" in environment or not is_local:
        environment.setdefault("ESCDELAY", str(LONGEST_GAP_MS))
    if "STY" in environment and "TMUX" not in environment:
        # GNU screen inherits COLORTERM=truecolor from the terminal around it, but garbles such colours.
        environment.setdefault("TEXTUAL_COLOR_SYSTEM", "256")


def colours_in_doubt(environment: Mapping[str, str]) -> bool:
    """Return whether only the sixteen colours of the terminal are certain (PuTTY sets just `xterm`), or colours are
    unwanted (NO_COLOR)."""
    if environment.get("NO_COLOR"):
        return True
    rich = environment.get("COLORTERM", "") in ("truecolor", "24bit") or "TEXTUAL_COLOR_SYSTEM" in environment
    return not rich and not environment.get("TERM", "").endswith(("256color", "direct"))


def _run_as_text(settings: Settings) -> int:
    from tui.cli import check

    return check.run(check.arguments(), settings)


def _run_full_screen(
    settings: Settings,
    past: Past | None = None,
    judge: Callable[[Sequence[Check], Sequence[BrokenPlugin]], Engine] | None = None,
    *,
    first: str = "checks",
    again: str = "",
    sessions: KeptSessions | None = None,
) -> int:
    """Run the console; with a `past` display that, and let `judge` create the engine that runs the checks on it. With
    `sessions` the page of guided troubleshooting opens after the first run."""
    # The loaded modules stay in memory: searching them for garbage takes a tenth of the start-up time.
    gc.disable()
    # Threads load modules and parse what nodes and databases answer. A key waits this long for each of its steps.
    sys.setswitchinterval(_SWITCH_S)
    from rich.console import Console

    from tui.cli.adviser import adviser
    from tui.cli.password import password_of
    from tui.console.app import ConsoleApp
    from tui.console.hangup import HangupWatcher
    from tui.console.journal_watcher import ClusterChanges
    from tui.console.measure_worker import ClusterMeasurements
    from tui.console.sessions import KeptSessions
    from tui.terminal.driver import console_driver

    log = LogFile(log_path(state_directory()))
    logging.basicConfig(stream=log, format="%(asctime)s %(name)s: %(message)s", level=logging.WARNING)
    password = password_of(settings.database) if past is None else None

    def new_engine(names: Sequence[str]) -> Engine:
        from checks.run.engine import Engine
        from checks.run.stored_measurements import newest_measurements
        from checks.saved.session_run import newest_session

        found = _found()
        possible = found.checks if judge is None and not names else found.every
        checks = [c for c in possible if not names or c.id in names]
        broken = [b for b in found.broken if not names or b.name in names]
        if judge is not None:
            return judge(checks, broken)
        return Engine(
            checks,
            settings,
            broken=broken,
            password=password,
            advise=adviser(settings),
            measurements_of=newest_measurements,
            sessions_of=newest_session,
        )

    def new_feed() -> Feed:
        from checks.traffic.feed import Feed

        return Feed(settings, password=password, share=sampled_by)

    def sampled_by(pid: int) -> None:
        app.state.feed.sampler = pid

    own_sessions = sessions
    if sessions is None and (past is None or past.is_saved):
        own_sessions = KeptSessions(settings, is_live=past is None, password=password)
    hangup = HangupWatcher(sys.__stdin__.fileno() if sys.__stdin__ else 0)
    encoding = encoding_of(settings, sys.__stderr__)
    app = ConsoleApp(
        new_engine,
        new_feed=new_feed,
        settings=settings,
        warm_up=_warm_up,
        state_directory=state_directory(),
        encoding=encoding,
        terminal_colours=colours_in_doubt(os.environ),
        driver_class=console_driver(encoding),
        hangup=hangup,
        past=past,
        changes=ClusterChanges(settings, _found, password) if past is None else None,
        measurements=ClusterMeasurements(settings, password) if past is None else None,
        sessions=own_sessions,
        investigates=sessions is not None,
        first=first,
    )
    app.error_console = Console(file=cast("IO[str]", log), width=120, markup=False, highlight=False)
    with graceful_stop(hangup.end), off_screen():
        _run_in_own_loop(app, mouse=settings.console.mouse)
    broke = app.return_code != 0
    if broke:
        print_message_unless_blocked(f"the console failed; {log.location}; {HOW_TO_REPORT}.")
    elif app.faults.count:
        print_message_unless_blocked(
            f"an internal error occurred while the console ran; {log.location}; {HOW_TO_REPORT}."
        )
    usual = " ".join(("racwire change", *os.environ.get(ENTERED, "").split()))
    farewells = (app.state.measures.farewell(), app.state.changes.farewell(again or usual)) if past is None else ()
    for told in farewells:
        if told:
            print_message_unless_blocked(told)
    if past is not None and not past.is_saved and not broke:
        return exit_past_hung_threads(ExitCode.PASS)
    return exit_past_hung_threads(_code(app, broke=broke))


@cache
def _found() -> Checks:
    from checks.run.check_discovery import discover

    return discover()


def _warm_up() -> None:
    """Load the modules that a run needs. Before the first screen they would delay it by half."""
    try:
        import_module("checks.run.engine")
        _found()
    finally:
        # The collector never searches the loaded modules again, and the rest seldom: keys would have to wait for it.
        gc.freeze()
        gc.set_threshold(_LITTLE_GARBAGE)
        gc.enable()


def encoding_of(settings: Settings, stream: TextIO | None) -> str:
    """Return the encoding for the terminal: that of the stream, which follows the locale and the type of the terminal,
    unless the settings decide."""
    if settings.console.ascii != "auto":
        return "ascii" if settings.console.ascii else "utf-8"
    return getattr(stream, "encoding", None) or "ascii"


def _run_in_own_loop(app: ConsoleApp, *, mouse: bool) -> None:
    with own_loop(DRAIN_S) as loop:
        asyncio.set_event_loop(loop)
        app.run(mouse=mouse, loop=loop)


def _code(app: ConsoleApp, *, broke: bool) -> ExitCode:
    if app.report is not None and (report := app.state.reported) is not None:
        return exit_code(report)  # of the moment of the end
    return ExitCode.COULD_NOT_TELL if broke else ExitCode.INTERRUPTED
