"""The console app: its parts, the current screen, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import BindingType
from textual.driver import Driver

from checks.model.settings import Settings
from tui.cli.log_file import log_path
from tui.console.actions import EVERYWHERE, KeysInOrder, bindings
from tui.console.app_state import AppState, FeedState, News
from tui.console.change_worker import ChangeWorker
from tui.console.command_line import CommandLine
from tui.console.error_guard import FaultLog, GuardedApp
from tui.console.event_follower import LOOK_EVERY_S, EventFollower
from tui.console.export_worker import ExportWorker
from tui.console.hangup import HangupWatcher
from tui.console.investigation_worker import InvestigationWorker, SessionSource
from tui.console.journal_watcher import ChangeSource
from tui.console.live import SAMPLED, LiveFeed
from tui.console.main_screens import HelpMixin, MainScreens
from tui.console.measure_worker import MeasureSource, MeasureWorker
from tui.console.messages import (
    CopyWanted,
    PresetChosen,
)
from tui.console.presets import PresetFile
from tui.console.run_worker import HistoryWorker, RunWorker
from tui.console.theme import ROLE_RULES, ThemeMixin, theme_of
from tui.console.working import STOP_WITHIN_S, WorkingMixin
from tui.screens.base import ConsoleScreen
from tui.terminal.clipboard import save_commands

if TYPE_CHECKING:
    from checks.run.engine import Engine
    from checks.traffic.feed import Feed
    from tui.console.past import Past


class ConsoleApp(KeysInOrder, GuardedApp, HelpMixin, CommandLine, ThemeMixin, WorkingMixin):
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
        sessions: SessionSource | None = None,
        investigates: bool = False,
        first: str = "checks",
    ) -> None:
        """Create the app.

        `new_engine` creates an engine for the named checks, or for all where none is named. A thread calls `warm_up`
        before that, to load the modules that the engine needs. With a `past` the console displays that and samples
        nothing. `changes` gives access to the journals of changes, `measurements` to what can be sent,
        `sessions` to guided troubleshooting, whose page opens after the first run where it `investigates`. `first` is
        the mode of the first screen."""
        self.DEFAULT_MODE = first  # type: ignore[misc]
        self._presets = PresetFile(state_directory, self.notice)
        presets = self._presets.load()
        self.usual_theme, terminal_colours = theme_of(presets.theme, terminal_colours)
        super().__init__(driver_class=driver_class, ansi_color=terminal_colours)
        self.faults = FaultLog()
        self.log_path = log_path(state_directory)
        self.report = None
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
        self._investigating = InvestigationWorker(self, sessions)
        self._investigates = investigates
        self.state.investigation.consent = partial(_consent, settings)
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

    # --- requests of the screens --------------------------------------------------------------------------------------

    def on_copy_wanted(self, message: CopyWanted) -> None:
        """Copy a text to the clipboard of the terminal, and write it to a file in any case."""
        self.notice(save_commands(message.text, self._state_directory))
        self.copy_to_clipboard(message.text)

    def on_preset_chosen(self, message: PresetChosen) -> None:
        """Remember how the operator wants the console to look."""
        self._presets.keep(**message.chosen)

    # --- quitting -----------------------------------------------------------------------------------------------------

    @property
    def is_ending(self) -> bool:
        """Whether a signal requested the end, which may not be handled yet."""
        return self._hangup is not None and self._hangup.is_lost

    def _quit_soon(self) -> None:
        self.call_later(self.action_quit)

    async def action_quit(self) -> None:
        """Quit: stop all workers at the same time, close their connections and files, restore the terminal."""
        parts = (
            self._measuring, self._investigating, self._run, self._live, self._changing, self._exporting, self._presets,
            self.subshell,
        )  # fmt: skip
        ending = [asyncio.create_task(part.stop(STOP_WITHIN_S)) for part in parts if part is not None]
        try:
            await asyncio.wait(ending, timeout=STOP_WITHIN_S)
        finally:
            self.exit()


def _consent(settings: Settings) -> tuple[str, ...]:
    from tui.text.consent_lines import consent_sentences

    return consent_sentences(settings)
