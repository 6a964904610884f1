"""The console app: its screens, the reports of its workers, and how it ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import BindingType
from textual.driver import Driver

from checks.model.report import Report
from checks.model.run_record import RunRecord, as_run
from checks.model.settings import Settings
from checks.run.events import Gathered, GatherProgress, NodesSoFar, RunFinished, RunStarted
from tui.cli.log_file import log_path
from tui.console.actions import EVERYWHERE, KeysInOrder, bindings
from tui.console.app_state import AppState, FeedState, News
from tui.console.change_state import CheckGate, Follow, MakePlan, WorkEnded
from tui.console.change_worker import ChangeWorker
from tui.console.command_line import CommandLine
from tui.console.error_guard import FaultLog, GuardedApp
from tui.console.event_follower import LOOK_EVERY_S, EventFollower
from tui.console.export_worker import ExportWorker
from tui.console.hangup import HangupWatcher
from tui.console.journal_watcher import ChangeSource
from tui.console.live import SAMPLED, LiveFeed
from tui.console.live_sampling import SamplingMixin
from tui.console.main_screens import HelpMixin, MainScreens
from tui.console.measure_state import Send, SendingEnded
from tui.console.measure_worker import MeasureSource, MeasureWorker
from tui.console.messages import (
    ChangeReported,
    ChangeWanted,
    CopyWanted,
    EngineReported,
    ExportReported,
    ExportWanted,
    HistoryGrown,
    MeasureReported,
    MeasureWanted,
    PresetChosen,
    RunFailed,
)
from tui.console.presets import PresetFile
from tui.console.run_worker import HistoryWorker, RunWorker
from tui.console.theme import ROLE_RULES, ThemeMixin, theme_of
from tui.screens.base import ConsoleScreen
from tui.terminal.clipboard import save_commands

if TYPE_CHECKING:
    from checks.run.engine import Engine
    from checks.traffic.feed import Feed
    from tui.console.finding_rows import FindingRow
    from tui.console.past import Past

STOP_WITHIN_S = 0.4
"""How long quitting waits for a run to close its connections; racwire abandons what hangs longer."""

_DISTURBS = "The packets of the checks would disturb the measurement: stop it first (7, then s)."

_FOLLOWED = frozenset({"nodes", "networks", "database"})
"""Groups of facts from which the live feed knows what to sample."""


class ConsoleApp(KeysInOrder, GuardedApp, HelpMixin, CommandLine, ThemeMixin, SamplingMixin):
    """The full-screen console of racwire."""

    TITLE = "racwire"
    CSS_PATH = "app.tcss"
    CSS = ROLE_RULES
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    DEFAULT_MODE = "checks"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(EVERYWHERE)]

    def __init__(
        self,
        new_engine: Callable[[Sequence[str]], Engine],
        *,
        new_feed: Callable[[], Feed],
        state_directory: Path,
        settings: Settings = Settings(),  # noqa: B008 - settings are frozen
        warm_up: Callable[[], None] | None = None,
        encoding: str = "utf-8",
        terminal_colours: bool = False,
        driver_class: type[Driver] | None = None,
        hangup: HangupWatcher | None = None,
        past: Past | None = None,
        changes: ChangeSource | None = None,
        measurements: MeasureSource | None = None,
        first: str = "checks",
    ) -> None:
        """Create the app.

        `new_engine` creates an engine for the named checks, or for all where none is named. A thread calls `warm_up`
        before that, to load the modules that the engine needs. With a `past` the console displays that and samples
        nothing. `changes` gives access to the journals of changes, `measurements` to what can be sent. `first` is the
        mode of the first screen."""
        self.DEFAULT_MODE = first  # type: ignore[misc]
        self._presets = PresetFile(state_directory, self.notice)
        presets = self._presets.load()
        self.usual_theme, terminal_colours = theme_of(presets.theme, terminal_colours)
        super().__init__(driver_class=driver_class, ansi_color=terminal_colours)
        self.faults = FaultLog()
        self.log_path = log_path(state_directory)
        self.report: Report | None = None
        """The report of the last finished run."""
        graphs = presets.graphs or "blocks" if settings.console.graphs == "auto" else settings.console.graphs
        self.state = AppState(feed=FeedState(settings.traffic.interval_s, past), graphs=graphs, presets=presets)
        self._screens = MainScreens(self, self.state, past, self.broke)
        # The modules of the engine load after the screens are made: a key then waits for neither.
        self._run = RunWorker(self, new_engine, warm_up, self._screens.made)
        self._live = LiveFeed(self, new_feed, past)
        self._changing = ChangeWorker(self, self.state, changes, state_directory)
        self._history = HistoryWorker(self, self.state)
        self._events = EventFollower(self.state, settings.console, self.notice)
        self._measuring = MeasureWorker(self, self.state, measurements)
        self._exporting = ExportWorker(self, self.state, settings, state_directory, past.recording if past else None)
        self._state_directory = state_directory
        self._settings = settings
        self._past = past
        self._hangup = hangup
        self._unseen: set[News] = set()
        self.put_on(terminal_colours=terminal_colours, encoding=encoding)

    def get_default_screen(self) -> ConsoleScreen:
        """Return the first screen. It is no mode like the others: for a mode Textual reads all style sheets again."""
        return self._screens.new(self.DEFAULT_MODE)

    def on_mount(self) -> None:
        """Start the checks; where a recording is open, they judge the recording."""
        if self._hangup is not None:
            self._hangup.watch(self._quit_soon)
        self._screens.add_modes()
        self.goes_on_after_faults = True
        self.call_after_refresh(self._start_up)

    def _start_up(self) -> None:
        """Handle early keys, make the other screens, and start the checks, once the first screen exists."""
        self.take_early_keys()
        self.run_worker(self._screens.make_ahead(), group="screens", exit_on_error=False)
        if self._past is None:
            self._start()
            self.set_interval(LOOK_EVERY_S, self._look_for_events)
            return
        from tui.console.past_moments import read_events, read_runs

        self.run_worker(read_events(self, self._past), group="events", exit_on_error=False)
        self.run_worker(read_runs(self, self._past, self._run.prepare), group="history", exit_on_error=False)

    # --- the current screen -------------------------------------------------------------------------------------------

    async def action_show(self, mode: str) -> None:
        """Change to a main screen."""
        if mode != self.current_mode:
            self.state.before_events = self.current_mode or ""
        await self.switch_mode(mode)
        if mode in SAMPLED and self._live.start(self.state):
            self._show_news()

    @property
    def _shown(self) -> ConsoleScreen | None:
        """The current main screen, once its widgets exist; None before that, since a screen draws itself when it
        resumes, and once racwire is quitting, since its widgets go in any order."""
        if not self.is_running:
            return None
        screen = self.screen
        return screen if isinstance(screen, ConsoleScreen) and screen.is_mounted and screen.children else None

    def is_held(self, event: events.Key | events.Paste) -> bool:
        """Return whether the current main screen keeps a key for later."""
        return self._shown is not None and self._shown.hold(event)

    def _show_news(self, news: News | None = None) -> None:
        if self._shown is not None:
            self._shown.refresh_state(news)

    def _show_soon(self, news: News) -> None:
        """Show the news after the messages that are waiting: many checks conclude at once, and are drawn once."""
        if not self._unseen:
            self.call_later(self._show_unseen)
        self._unseen.add(news)

    def _show_unseen(self) -> None:
        unseen, self._unseen = self._unseen, set()
        self._show_news(News.RUN if News.RUN in unseen else News.PROGRESS)

    def notice(self, text: str) -> None:
        """Display a notice on the current main screen, if there is one; below a page it waits for its end."""
        main = next((s for s in reversed(self.screen_stack) if isinstance(s, ConsoleScreen)), None)
        if self.is_running and main is not None and main.is_mounted and main.children:
            main.notice(text)

    # --- reports of the workers ---------------------------------------------------------------------------------------

    def on_engine_reported(self, message: EngineReported) -> None:
        """Apply an event of the current run."""
        if message.run != self._run.number:
            return
        event = message.event
        is_first = not self.state.run.is_whole  # later, half-read facts would make the samples forget what they watch
        if isinstance(event, NodesSoFar):
            if is_first:
                self._follow(event.cluster)
            return
        self.state.run.apply(event, message.report)
        if isinstance(event, RunStarted):  # later than the first screen and the modules of the engine
            self._changing.do(Follow())
        if isinstance(event, RunFinished):
            self.report = self.report or event.report
            alone, clock_s = self.state.run.checks_alone, self.state.events.clock_s
            record = RunRecord(report=event.report, ended=time.time(), checks=alone, clock_s=clock_s)
            if self._past is not None:  # it ended in the past
                record = as_run(event.report)
            self._history.add(record, message.run)
        if is_first and isinstance(event, Gathered) and event.group in _FOLLOWED and self.state.cluster is not None:
            self._follow(self.state.cluster)
        self._show_soon(News.PROGRESS if isinstance(event, GatherProgress) else News.RUN)

    def on_history_grown(self, message: HistoryGrown) -> None:
        """Apply that a finished run, or what gates have read, counts."""
        self._live.add([message.record])
        if message.run and message.run == self._run.number:
            self.state.run.finish(message.trouble)
            self.report = self.state.run.report
            self._events.run_finished(message.record.report)
            self._sample_always()
        if self.state.cluster is not None:
            self._follow(self.state.cluster)
        self._show_news(News.RUN)

    def on_run_failed(self, message: RunFailed) -> None:
        """Apply that the current run failed."""
        if message.run == self._run.number:
            self.state.run.fail(message.reason)
            self._show_news(News.RUN)
            self._sample_always()

    def on_change_reported(self, message: ChangeReported) -> None:
        """Apply news of the work on a change."""
        before = self.state.changes.change
        if notice := self.state.changes.apply(message.news):
            self.notice(notice)
        self._live.add(self.state.changes.lines_since(before))
        if isinstance(message.news, WorkEnded) and message.news.report is not None:
            clock_s = self.state.events.clock_s
            gates = RunRecord(report=message.news.report, ended=time.time(), is_gate=True, clock_s=clock_s)
            self._history.add(gates)
        self._show_news(News.CHANGE)

    def on_export_reported(self, message: ExportReported) -> None:
        """Apply news of the work on a file of the report."""
        if notice := self.state.exports.apply(message.news):
            self.notice(notice)
        self._show_news(News.REPORT)

    def on_measure_reported(self, message: MeasureReported) -> None:
        """Apply news of the work on a measurement."""
        notice = self.state.measures.apply(message.news)
        if isinstance(message.news, SendingEnded) and message.news.measurement is not None:
            self.state.run.add_measurement(message.news.measurement)
        if notice and self.current_mode != "measure":  # which has it in a line of its own
            self.notice(notice)
        self._show_news(News.MEASURE)

    # --- requests of the screens --------------------------------------------------------------------------------------

    def _start(self, checks: Sequence[str] = (), verified: FindingRow | None = None) -> None:
        self.state.run.start(checks, verified)
        self._run.start(checks)
        self._show_news()

    async def on_console_screen_run_wanted(self, message: ConsoleScreen.RunWanted) -> None:
        """Run all checks or some of them again; a run in progress is stopped first."""
        if message.checks and not self.state.run.is_whole:
            self.notice("A single check can run again after all checks have concluded; r runs all of them.")
            return
        if self._measuring.is_sending:
            self.notice(_DISTURBS)
            return
        await self._run.stop(STOP_WITHIN_S)
        self._start(message.checks, message.verified)

    def on_copy_wanted(self, message: CopyWanted) -> None:
        """Copy a text to the clipboard of the terminal, and write it to a file in any case."""
        self.notice(save_commands(message.text, self._state_directory))
        self.copy_to_clipboard(message.text)

    def on_preset_chosen(self, message: PresetChosen) -> None:
        """Remember how the operator wants the console to look."""
        self._presets.keep(**message.chosen)

    def on_export_wanted(self, message: ExportWanted) -> None:
        """Pass a request about a file of the report to its worker."""
        if notice := self._exporting.do(message.want):
            self.notice(notice)

    def on_change_wanted(self, message: ChangeWanted) -> None:
        """Pass a request about a change to its worker."""
        if self._measuring.is_sending and isinstance(message.want, CheckGate | MakePlan):
            self.notice(_DISTURBS)
        else:
            self._changing.do(message.want)

    def on_measure_wanted(self, message: MeasureWanted) -> None:
        """Pass a request about a measurement to its worker; nothing is sent while the checks send."""
        if isinstance(message.want, Send) and self.running:
            self.notice("The checks have started meanwhile; their packets would disturb the measurement.")
        elif notice := self._measuring.do(message.want):
            self.notice(notice)

    # --- quitting -----------------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether a run of the checks is in progress."""
        return self._run.is_in_progress

    @property
    def is_ending(self) -> bool:
        """Whether a signal requested the end, which may not be handled yet."""
        return self._hangup is not None and self._hangup.is_lost

    @property
    def can_start(self) -> bool:
        """Whether checks may start now: neither other checks nor a measurement send packets."""
        return not (self.running or self._measuring.is_sending)

    def _quit_soon(self) -> None:
        self.call_later(self.action_quit)

    async def action_quit(self) -> None:
        """Quit: stop all workers at the same time, close their connections and files, restore the terminal."""
        parts = (self._measuring, self._run, self._live, self._changing, self._exporting, self._presets, self.subshell)
        ending = [asyncio.create_task(part.stop(STOP_WITHIN_S)) for part in parts if part is not None]
        try:
            await asyncio.wait(ending, timeout=STOP_WITHIN_S)
        finally:
            self.exit()
