"""The console: which screens there are, what they are told, and how it is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.driver import Driver
from textual.filter import LineFilter
from textual.screen import Screen

from checks.engine import Engine
from checks.events import Gathered, GatherProgress, RunFinished
from checks.result import Report
from checks.traffic.feed import Feed
from tui.actions import QUIT, SHOW, TABS, bindings
from tui.clipboard import commands_text
from tui.known import Change, FeedState, Known
from tui.lifeline import Lifeline
from tui.live import Live
from tui.messages import EngineTold, FeedFailed, RunFailed, SamplesTold
from tui.run import Run
from tui.screens.base import ConsoleScreen
from tui.screens.checks import ChecksScreen
from tui.screens.reader import HelpScreen
from tui.takeaway import export_report, keep_commands
from tui.theme import DARK, TERMINAL, filters_for

STOP_WITHIN_S = 0.4
"""How long leaving waits for a run to close its connections; what hangs longer is left behind."""

_FOLLOWED = frozenset({"nodes", "networks", "database"})
"""Groups of facts that tell the live feed what there is to sample."""


class ConsoleApp(App[None]):
    """The full-screen form of racwire."""

    TITLE = "racwire"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings([*SHOW, QUIT])]

    def __init__(
        self,
        new_engine: Callable[[], Engine],
        *,
        new_feed: Callable[[], Feed],
        state_directory: Path,
        encoding: str = "utf-8",
        terminal_colours: bool = False,
        driver_class: type[Driver] | None = None,
        lifeline: Lifeline | None = None,
    ) -> None:
        super().__init__(driver_class=driver_class, ansi_color=terminal_colours)
        self.report: Report | None = None
        """The report of the last finished run."""
        self.known = Known()
        self._run = Run(self, new_engine)
        self._live = Live(self, new_feed)
        self._state_directory = state_directory
        self._lifeline = lifeline
        self._filters_for_terminal = filters_for(encoding)
        self.register_theme(DARK)
        self.register_theme(TERMINAL)
        self.theme = TERMINAL.name if terminal_colours else DARK.name
        for mode in TABS:
            self.add_mode(mode, lambda mode=mode: self._new_screen(mode))  # type: ignore[misc]

    def _new_screen(self, mode: str) -> Screen[None]:
        """A main screen, made when it is first shown: what it alone needs is imported then."""
        return ChecksScreen(self.known)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What is applied to every line before it is drawn."""
        return [*super().get_line_filters(), *self._filters_for_terminal]

    async def on_mount(self) -> None:
        """Show the checks, and run them."""
        if self._lifeline is not None:
            self._lifeline.watch(self._leave_soon)
        await self.switch_mode("checks")
        self._start()

    async def action_show(self, mode: str) -> None:
        """Change to a main screen."""
        if mode in ("traffic", "database"):
            self._live.begin(self.known.cluster)
        await self.switch_mode(mode)

    @property
    def _shown(self) -> ConsoleScreen | None:
        """The main screen that is shown, if one is."""
        return self.screen if isinstance(self.screen, ConsoleScreen) else None

    def _tell(self, change: Change | None = None) -> None:
        if self._shown is not None:
            self._shown.refresh_known(change)

    def _notice(self, text: str) -> None:
        if self._shown is not None:
            self._shown.notice(text)

    # --- what the workers tell ----------------------------------------------------------------------------------------

    def on_engine_told(self, message: EngineTold) -> None:
        """Take over what the current run tells."""
        if message.run != self._run.number:
            return
        event = message.event
        self.known.board.tell(event, message.report)
        if isinstance(event, RunFinished):
            self.report = event.report
        if isinstance(event, Gathered) and event.group in _FOLLOWED:
            self._live.follow(message.report.cluster)
        self._tell(Change.PROGRESS if isinstance(event, GatherProgress) else Change.RUN)

    def on_run_failed(self, message: RunFailed) -> None:
        """Take over that the current run broke down."""
        if message.run == self._run.number:
            self.known.board.fail(message.reason)
            self._tell(Change.RUN)

    def on_samples_told(self, message: SamplesTold) -> None:
        """Take over samples."""
        self.known.timeline.add(message.events)
        self._tell(Change.SAMPLES)

    def on_feed_failed(self, message: FeedFailed) -> None:
        """Take over that the live feed broke down."""
        self.known.feed = FeedState(self.known.feed.interval_s, trouble=message.reason)
        self._tell(Change.SAMPLES)

    # --- what the screens want ----------------------------------------------------------------------------------------

    def _start(self) -> None:
        self.known.board.begin()
        self._run.start()
        self._tell()

    async def on_checks_screen_run_wanted(self) -> None:
        """Run again; a run that is going on is ended first."""
        await self._run.stop(STOP_WITHIN_S)
        self._start()

    def on_checks_screen_copy_wanted(self, message: ChecksScreen.CopyWanted) -> None:
        """Give the commands to the terminal's clipboard, and write them to a file in any case."""
        text = commands_text(message.row.finding)
        if not text:
            self._notice("This finding has no commands.")
            return
        self._notice(keep_commands(text, self._state_directory))
        self.copy_to_clipboard(text)

    def on_checks_screen_export_wanted(self, message: ChecksScreen.ExportWanted) -> None:
        """Write the report to a file."""
        self._notice(export_report(message.report, self._state_directory))

    # --- leaving ------------------------------------------------------------------------------------------------------

    def action_help(self) -> None:
        """Show the keys and the signs."""
        self.push_screen(HelpScreen())

    @property
    def running(self) -> bool:
        """Whether a run of the checks is going on."""
        return self._run.is_going_on

    def _leave_soon(self) -> None:
        self.call_later(self.action_quit)

    async def action_quit(self) -> None:
        """Leave: end the run and the feed, close what they hold open, give the terminal back."""
        await self._run.stop(STOP_WITHIN_S)
        await self._live.stop(STOP_WITHIN_S)
        self.exit()
