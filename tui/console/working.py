"""The work of the console, as a part of the app: it passes what the screens want to the workers, and applies what these
report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from checks.model.report import Report
from checks.model.run_record import RunRecord, as_run
from checks.run.events import Gathered, GatherProgress, NodesSoFar, RunFinished, RunStarted
from tui.console.app_state import News
from tui.console.change_state import CheckGate, Follow, MakePlan, WorkEnded
from tui.console.change_worker import ChangeWorker
from tui.console.export_worker import ExportWorker
from tui.console.investigation_state import Asked, BeginSession, StepSent
from tui.console.investigation_worker import InvestigationWorker
from tui.console.live_sampling import SamplingMixin
from tui.console.measure_state import Send, SendingEnded
from tui.console.measure_worker import MeasureWorker
from tui.console.messages import (
    ChangeReported,
    ChangeWanted,
    EngineReported,
    ExportReported,
    ExportWanted,
    HistoryGrown,
    InvestigateWanted,
    InvestigationReported,
    InvestigationWanted,
    MeasureReported,
    MeasureWanted,
    RunFailed,
)
from tui.console.run_worker import HistoryWorker, RunWorker
from tui.screens.base import ConsoleScreen

if TYPE_CHECKING:
    from tui.console.finding_rows import FindingRow
    from tui.console.past import Past

STOP_WITHIN_S = 0.4
"""How long quitting waits for a run to close its connections; racwire abandons what hangs longer."""

_DISTURBS = "The packets of the checks would disturb the measurement: stop it first (7, then s)."

_FOLLOWED = frozenset({"nodes", "networks", "database"})
"""Groups of facts from which the live feed knows what to sample."""


class WorkingMixin(SamplingMixin):
    """An app with workers for runs, changes, files and measurements. The app itself defines the method that raises
    here."""

    report: Report | None
    """The report of the last finished run."""
    _run: RunWorker
    _history: HistoryWorker
    _changing: ChangeWorker
    _exporting: ExportWorker
    _measuring: MeasureWorker
    _investigating: InvestigationWorker
    _investigates: bool
    """Whether the page of guided troubleshooting opens after the first run."""
    _past: Past | None

    def _show_soon(self, news: News) -> None:
        raise NotImplementedError

    @property
    def running(self) -> bool:
        """Whether a run of the checks is in progress."""
        return self._run.is_in_progress

    @property
    def can_start(self) -> bool:
        """Whether checks may start now: neither other checks nor a measurement send packets."""
        return not (self.running or self._measuring.is_sending or self._investigating.is_sending)

    def action_investigate(self) -> None:
        """Open the page of guided troubleshooting."""
        self.post_message(InvestigateWanted())

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
        if self._investigates and message.run:
            self._investigates = False
            self.post_message(InvestigateWanted())

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

    def on_investigation_reported(self, message: InvestigationReported) -> None:
        """Apply news of a session of guided troubleshooting, and draw its page, if that is open."""
        from tui.screens.investigate.screen import InvestigateScreen

        state, news = self.state.investigation, message.news
        state.apply(news)
        if state.record is not None:
            self.state.run.add_session(state.record)
        page = next((one for one in reversed(self.screen_stack) if isinstance(one, InvestigateScreen)), None)
        if page is not None:
            page.refresh_state(is_new=isinstance(news, Asked))
            if isinstance(news, StepSent):
                page.after_sending()

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
        if self._investigating.is_sending:
            self.notice("A step of the investigation is being made; the packets of the checks would disturb it.")
            return
        await self._run.stop(STOP_WITHIN_S)
        self._start(message.checks, message.verified)

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

    def on_investigation_wanted(self, message: InvestigationWanted) -> None:
        """Pass a request about a session to its worker."""
        if notice := self._investigating.do(message.want):
            self.notice(notice)

    async def on_investigate_wanted(self, message: InvestigateWanted) -> None:
        """Open the page of guided troubleshooting, with a session about the last finished run."""
        from checks.run.guided import run_time
        from tui.screens.investigate.screen import InvestigateScreen

        report, record = self.state.run.report, self.state.investigation.record
        if self.running or report is None or not self.state.run.is_whole:
            self.notice("The checks are running: the investigation starts with what they find.")
            return
        is_due = record is None or (record.is_ended and record.run_at != run_time(report))
        if is_due and (notice := self._investigating.do(BeginSession(report))):
            self.notice(notice)
            return
        await self.push_screen(InvestigateScreen(self.state))
