"""The console: which screens there are, the run of the checks behind them, and how it is left."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.driver import Driver
from textual.filter import LineFilter
from textual.worker import Worker

from checks.engine import Engine
from checks.events import RunFinished
from checks.report.json_report import to_json
from checks.result import Report
from tui.actions import QUIT, bindings
from tui.clipboard import LIMIT, commands_text, save_commands
from tui.files import OutputError, write_whole
from tui.lifeline import Lifeline
from tui.messages import EngineTold, RunFailed
from tui.screens.checks import ChecksScreen
from tui.screens.reader import HelpScreen
from tui.theme import DARK, TERMINAL, filters_for

STOP_WITHIN_S = 0.4
"""How long leaving waits for a run to close its connections; what hangs longer is left behind."""

log = logging.getLogger(__name__)


class ConsoleApp(App[None]):
    """The full-screen form of racwire."""

    TITLE = "racwire"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings([QUIT])]

    def __init__(
        self,
        new_engine: Callable[[], Engine],
        *,
        state_directory: Path,
        encoding: str = "utf-8",
        terminal_colours: bool = False,
        driver_class: type[Driver] | None = None,
        lifeline: Lifeline | None = None,
    ) -> None:
        super().__init__(driver_class=driver_class, ansi_color=terminal_colours)
        self.report: Report | None = None
        """The report of the last finished run."""
        self._new_engine = new_engine
        self._state_directory = state_directory
        self._lifeline = lifeline
        self._filters_for_terminal = filters_for(encoding)
        self._checks = ChecksScreen()
        self._run = 0
        self._worker: Worker[None] | None = None
        self._run_closed = asyncio.Event()
        self.register_theme(DARK)
        self.register_theme(TERMINAL)
        self.theme = TERMINAL.name if terminal_colours else DARK.name

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What is applied to every line before it is drawn."""
        return [*super().get_line_filters(), *self._filters_for_terminal]

    async def on_mount(self) -> None:
        """Show the checks, and run them."""
        if self._lifeline is not None:
            self._lifeline.watch(self._leave_soon)
        await self.push_screen(self._checks)
        self._start()

    # --- the run ------------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._run += 1
        self._run_closed = asyncio.Event()
        self._checks.begin()
        self._worker = self.run_worker(
            self._work(self._run, self._run_closed), group="run", exclusive=True, exit_on_error=False
        )

    async def _work(self, run: int, closed: asyncio.Event) -> None:
        """Run the checks and only tell of it. However this ends, the engine has closed its connections by then."""
        try:
            engine = self._new_engine()
            events = engine.events()
            try:
                async for event in events:
                    self.post_message(EngineTold(run, event, engine.report()))
            finally:
                await events.aclose()
        except Exception as error:
            log.exception("the run of the checks broke down")
            self.post_message(RunFailed(run, f"The run broke down: {error or type(error).__name__}. r runs it again."))
        finally:
            closed.set()

    def on_engine_told(self, message: EngineTold) -> None:
        """Pass on what the current run tells, and keep its report."""
        if message.run == self._run:
            if isinstance(message.event, RunFinished):
                self.report = message.event.report
            self._checks.take(message.event, message.report)

    def on_run_failed(self, message: RunFailed) -> None:
        """Pass on that the current run broke down."""
        if message.run == self._run:
            self._checks.take_failure(message.reason)

    @property
    def running(self) -> bool:
        """Whether a run is going on."""
        return self._worker is not None and not self._worker.is_finished

    async def _stop(self) -> None:
        """End a run that is going on, and let it close its connections, within a time that nobody notices."""
        if self._worker is not None and self.running:
            self._worker.cancel()
            with suppress(TimeoutError):
                async with asyncio.timeout(STOP_WITHIN_S):
                    await self._run_closed.wait()

    async def on_checks_screen_run_wanted(self) -> None:
        """Run again; a run that is going on is ended first."""
        await self._stop()
        self._start()

    # --- what the operator takes along --------------------------------------------------------------------------------

    def on_checks_screen_copy_wanted(self, message: ChecksScreen.CopyWanted) -> None:
        """Give the commands to the terminal's clipboard, and write them to a file in any case."""
        text = commands_text(message.row.finding)
        if not text:
            self._checks.notice("This finding has no commands.")
            return
        try:
            path = _short(save_commands(text, self._state_directory))
        except (OutputError, OSError) as error:
            self._checks.notice(f"Copied if the terminal allows; not saved: {error}")
        else:
            fits = len(text.encode()) <= LIMIT
            self._checks.notice(f"Copied if the terminal allows; also in {path}" if fits else f"Saved in {path}")
        self.copy_to_clipboard(text)

    def on_checks_screen_export_wanted(self, message: ChecksScreen.ExportWanted) -> None:
        """Write the report to a file in the working directory, or where state is kept when that cannot be written."""
        name = f"racwire-{datetime.now():%Y%m%d-%H%M%S}.json"
        for directory in (Path.cwd(), self._state_directory):
            try:
                directory.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_whole(directory / name, to_json(message.report), replace=False)
            except (OutputError, OSError) as error:
                self._checks.notice(str(error))
            else:
                self._checks.notice(f"The report is in {_short(directory / name)}")
                return

    # --- leaving ------------------------------------------------------------------------------------------------------

    def action_help(self) -> None:
        """Show the keys and the signs."""
        self.push_screen(HelpScreen())

    def _leave_soon(self) -> None:
        self.call_later(self.action_quit)

    async def action_quit(self) -> None:
        """Leave: end the run, close what it holds open, give the terminal back."""
        await self._stop()
        self.exit()


def _short(path: Path) -> str:
    """The path as one would type it."""
    with suppress(ValueError, RuntimeError):
        return f"~/{path.relative_to(Path.home())}"
    return str(path)
