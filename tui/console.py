"""`racwire` without a command: the console where there is a terminal for it, else the checks as text.

What must be decided before Textual is imported is decided here: Textual draws to stderr whatever that is, and reads
its environment once.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, TextIO, cast

from checks.result import ExitCode, exit_code
from checks.settings import Settings
from tui.log import LogFile
from tui.streams import leave, tell

if TYPE_CHECKING:
    from tui.app import ConsoleApp

DRAIN_S = 0.3
"""How long what is still running may take to end once the screen is closed."""


def run_console(settings: Settings) -> int:
    """Run the console; returns the exit code of the last finished report."""
    if reason := no_console(os.environ, sys.__stdin__, sys.__stderr__):
        tell(f"{reason}, so the checks run as text.")
        return _run_as_text(settings)
    prepare(os.environ)
    return _run_full_screen(settings)


def no_console(environment: Mapping[str, str], stdin: TextIO | None, stderr: TextIO | None) -> str:
    """Why the full screen cannot be shown; nothing when it can."""
    if stdin is None or stderr is None or not stdin.isatty() or not stderr.isatty():
        return "no terminal here"
    if environment.get("TERM", "") in ("", "dumb", "unknown"):
        return f"the terminal type (TERM) is {environment.get('TERM') or 'not set'}"
    return ""


def prepare(environment: dict[str, str] | os._Environ[str]) -> None:
    """Set what Textual reads from the environment when it is imported."""
    environment.setdefault("TEXTUAL_ANIMATIONS", "none")
    if "SSH_CONNECTION" in environment:
        # The bytes of an arrow key can arrive apart on a slow line; one that is cut in two must not count as Esc.
        environment.setdefault("ESCDELAY", "300")
    if "STY" in environment and "TMUX" not in environment:
        # GNU screen inherits COLORTERM=truecolor from the terminal around it and garbles what it then is sent.
        environment.setdefault("TEXTUAL_COLOR_SYSTEM", "256")


def colours_in_doubt(environment: Mapping[str, str]) -> bool:
    """Whether only the terminal's own sixteen colours are sure: PuTTY says `xterm` and nothing more. Or none wanted."""
    if environment.get("NO_COLOR"):
        return True
    rich = environment.get("COLORTERM", "") in ("truecolor", "24bit") or "TEXTUAL_COLOR_SYSTEM" in environment
    return not rich and not environment.get("TERM", "").endswith(("256color", "direct"))


def state_directory(environment: Mapping[str, str]) -> Path:
    """Where the log and copied commands are kept."""
    base = environment.get("XDG_STATE_HOME", "")
    return Path(base if base.startswith("/") else Path.home() / ".local" / "state") / "racwire"


def _run_as_text(settings: Settings) -> int:
    from tui.check_command import run_check
    from tui.cli import build_parser

    return run_check(build_parser().parse_args(["check"]), settings)


def _run_full_screen(settings: Settings) -> int:
    from rich.console import Console

    from checks.engine import Engine
    from checks.plugin import discover
    from checks.traffic.feed import Feed
    from tui.app import ConsoleApp
    from tui.clipboard import clipboard_driver
    from tui.lifeline import Lifeline
    from tui.password import password_for

    log = LogFile(state_directory(os.environ) / "racwire.log")
    logging.basicConfig(stream=log, format="%(asctime)s %(name)s: %(message)s", level=logging.WARNING)
    found = discover()
    password = password_for(settings.database, found.checks)
    app = ConsoleApp(
        lambda: Engine(found.checks, settings, broken=found.broken, password=password),
        new_feed=lambda: Feed(settings, password=password),
        state_directory=state_directory(os.environ),
        encoding=getattr(sys.__stderr__, "encoding", None) or "ascii",
        terminal_colours=colours_in_doubt(os.environ),
        driver_class=clipboard_driver(),
        lifeline=Lifeline(sys.__stdin__.fileno() if sys.__stdin__ else 0),
    )
    app.error_console = Console(file=cast("IO[str]", log), width=120, markup=False, highlight=False)
    _run_in_own_loop(app)
    broke = app.return_code != 0
    if broke:
        tell(f"the console broke down; {log.told}.")
    return leave(_code(app, broke=broke))


def _run_in_own_loop(app: ConsoleApp) -> None:
    """Run the app in a loop that is not waited for: `asyncio.run` would join threads that hang in the kernel."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        app.run(mouse=False, loop=loop)
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=DRAIN_S))


def _code(app: ConsoleApp, *, broke: bool) -> ExitCode:
    if app.report is not None:
        return exit_code(app.report)
    return ExitCode.COULD_NOT_TELL if broke else ExitCode.INTERRUPTED
