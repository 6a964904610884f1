"""The worker of the Change screen: it checks gates, makes plans, writes decisions, and reports to the app."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App
from textual.worker import Worker

from tui.console.app_state import AppState
from tui.console.change_state import (
    Cancel,
    ChangeNews,
    ChangeRequest,
    CheckGate,
    Decide,
    Decision,
    Doing,
    Follow,
    MakePlan,
    Notice,
    Refused,
    StartStep,
    WorkEnded,
    WorkProgressed,
    WorkStarted,
    WriteChangeReport,
)
from tui.console.journal_watcher import ChangeSource, JournalWatcher
from tui.console.messages import ChangeReported

if TYPE_CHECKING:
    from checks.change.progress.change_events import AnyEvent, JournalLine
    from checks.change.progress.state import Change
    from checks.change.session.change_session import ChangeSession

log = logging.getLogger(__name__)

_CANCELLED = "Cancelled; nothing was written."


class ChangeWorker:
    """Does one piece of work on a change at a time."""

    def __init__(self, app: App[None], state: AppState, source: ChangeSource | None, elsewhere: Path) -> None:
        """Create the worker; without a `source`, as for a recording, it does nothing. Reports go to the working
        directory, or to `elsewhere` where that is not writable."""
        self._app = app
        self._elsewhere = elsewhere
        self._source = source
        self._watcher = JournalWatcher(app, state, source) if source is not None else None
        self._worker: Worker[None] | None = None
        self._doing = Doing.NOTHING
        self._closed = asyncio.Event()

    def do(self, want: ChangeRequest) -> None:
        """Carry out a request of the operator, or report why that is not possible now."""
        source, following = self._source, self._watcher
        if source is None or following is None:
            return
        match want:
            case Follow():
                following.follow(want)
            case Cancel():
                self._cancel()
            case _ if self._is_working:
                self._post(Notice("Other work on the change is still running; Esc cancels it."))
            case CheckGate():
                self._work(self._check_gate(following), Doing.VERIFYING)
            case StartStep():
                self._work(self._start_step(following, want), Doing.STARTING)
            case WriteChangeReport():
                self._work(self._write_report(following), Doing.WRITING)
            case MakePlan():
                self._work(self._make_plan(source, following, want), Doing.PLANNING)
            case Decide():
                self._work(self._decide(following, want), Doing.WRITING)

    async def stop(self, within_s: float) -> None:
        """Cancel the work and wait until it has closed its connections; what hangs longer is abandoned."""
        if self._watcher is not None:
            self._watcher.stop()
        if self._is_working:
            self._cancel()
            with suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    await self._closed.wait()

    @property
    def _is_working(self) -> bool:
        return self._worker is not None and not self._worker.is_finished

    def _cancel(self) -> None:
        """Cancel a check of the gate or a plan. A decision is always written to its end."""
        if self._worker is not None and self._is_working and self._doing is not Doing.WRITING:
            self._worker.cancel()

    def _work(self, work: Coroutine[None, None, WorkEnded], doing: Doing) -> None:
        self._closed, self._doing = asyncio.Event(), doing
        reported = self._reported(work, doing, self._closed)
        self._worker = self._app.run_worker(reported, group="change", exit_on_error=False)

    async def _reported(self, work: Coroutine[None, None, WorkEnded], doing: Doing, closed: asyncio.Event) -> None:
        """Run the work and report how it ended, after its connections are closed."""
        from checks.change.plan.obstacles import PlanError
        from checks.change.progress.state import ChangeError
        from checks.change.record.change_journal import ChangeJournalError
        from checks.whole_files import OutputError
        from tui.text.own_keys import KEYS

        self._post(WorkStarted(doing))
        ended = WorkEnded(_CANCELLED)
        try:
            ended = await work
        except ChangeError as error:
            ended = WorkEnded(KEYS.text(error.text))
        except (ChangeJournalError, OutputError, PlanError) as error:
            ended = WorkEnded(str(error))
        except Exception as error:
            log.exception("work on a change failed")
            ended = WorkEnded(f"The work failed: {error or type(error).__name__}. The details are in the log.")
        finally:
            closed.set()
            self._post(ended)
            if self._watcher is not None:
                self._watcher.poll()

    async def _check_gate(self, following: JournalWatcher) -> WorkEnded:
        from checks.change.session.verifying import Concluded

        if following.session is None:
            return WorkEnded("There is no change to verify.")
        concluded = None
        events = following.session.verify()
        try:
            async for event in events:
                if isinstance(event, Concluded):
                    concluded = event
                else:
                    self._post(WorkProgressed(event))
        finally:
            await events.aclose()
        await following.read()
        if concluded is None or following.session is None:
            return WorkEnded()
        return WorkEnded(_outcome(concluded.events, following.session.change), concluded.report)

    async def _start_step(self, following: JournalWatcher, want: StartStep) -> WorkEnded:
        from checks.change.progress.change_events import JournalLine

        if following.session is None:
            return WorkEnded("There is no change with a step to start.")
        started = None
        events = following.session.begin(want.step)
        try:
            async for event in events:
                if isinstance(event, JournalLine):
                    started = event
                else:
                    self._post(WorkProgressed(event))
        finally:
            await events.aclose()
        await following.read()
        return WorkEnded(_start_notice(started, following.session.change) if started and following.session else "")

    async def _write_report(self, following: JournalWatcher) -> WorkEnded:
        from tui.text.home_path import short

        if following.session is None:
            return WorkEnded("There is no change to report.")
        path = await asyncio.to_thread(_write_report, following.session, self._elsewhere)
        return WorkEnded(f"Report: {short(path)}")

    async def _make_plan(self, source: ChangeSource, following: JournalWatcher, want: MakePlan) -> WorkEnded:
        from checks.change.plan.obstacles import PlanError
        from checks.change.session.opening import OpeningResult

        events = source.begin(want.plan, want.accepted)
        try:
            async for event in events:
                if isinstance(event, OpeningResult):
                    following.take(event.session)
                else:
                    self._post(WorkProgressed(event))
        except PlanError as error:
            return WorkEnded(refused=Refused(want.plan, error.obstacles, want.accepted))
        finally:
            await events.aclose()
        await following.read()
        return WorkEnded("The change is open. Nothing was changed on the cluster.")

    async def _decide(self, following: JournalWatcher, want: Decide) -> WorkEnded:
        if following.session is None:
            return WorkEnded("There is no change to decide about.")
        await asyncio.to_thread(_carry_out, following.session, want)
        await following.read()
        return WorkEnded(want.decision.value)

    def _post(self, news: ChangeNews) -> None:
        self._app.post_message(ChangeReported(news))


def _outcome(events: Sequence[AnyEvent], change: Change) -> str:
    """Return a notice on how a check of the gate ended, and the next step; empty where the screen displays that."""
    from checks.change.progress.change_events import Surprised, Verified

    verified = next((event for event in events if isinstance(event, Verified)), None)
    if verified is None or not verified.passed or any(isinstance(event, Surprised) for event in events):
        return ""
    if not verified.results:
        return "Checked: nothing changed unexpectedly on the cluster."
    step = change.current
    if step is None or step.id == verified.step:
        return "The gate passed."
    return f"The gate passed. Next: step {change.plan.position(step.id) + 1}, {step.title}."


def _start_notice(line: JournalLine, change: Change) -> str:
    """Return a notice on the start of a step: which nodes were read, so that what falls there is planned."""
    from checks.change.progress.change_events import Begun
    from checks.change.progress.change_text import read_nodes
    from checks.model.wording import listed

    event = line.event
    read = read_nodes(event.look) if isinstance(event, Begun) else ()
    unread = [node for node in change.plan.nodes if node not in read]
    if not read:
        return "Started, but no node could be read: what falls now is an alarm."
    missing = f"; not read: {listed(unread)}" if unread else ""
    return f"Started at {line.at[11:16]}: {listed(read)} read{missing}."


def _write_report(session: ChangeSession, elsewhere: Path) -> Path:
    """Runs in a thread."""
    from checks.change.board.board_html import to_html
    from checks.change.board.change_report import ReportedFile, report_of
    from checks.change.session.open_here import peers_of
    from checks.whole_files import OutputFile, write_whole
    from tui.console.report_file import to_new_file

    session.refresh()
    change = session.change
    report = report_of(change, ReportedFile(session.path, session.seal, peers_of(change.opened, session.node)))
    data, stem = to_html(report), f"racwire-{change.opened.noun}-{change.opened.id}"
    return to_new_file(stem, ".html", elsewhere, lambda path: write_whole(OutputFile(path), data))


def _carry_out(session: ChangeSession, want: Decide) -> None:
    carry_out: dict[Decision, Callable[[], object]] = {
        Decision.ATTEST: lambda: session.attest(want.by, want.text, want.host),
        Decision.OVERRIDE: lambda: session.override(want.by, want.text),
        Decision.NOTE: lambda: session.note(want.text),
        Decision.ROLL_BACK: lambda: session.roll_back(want.by, want.text),
        Decision.ABANDON: lambda: session.abandon(want.by, want.text),
        Decision.SIGN_OFF: lambda: _sign_off(session, want),
    }
    carry_out[want.decision]()


def _sign_off(session: ChangeSession, want: Decide) -> None:
    """Attest the last step where that is missing, and close the change."""
    if session.change.current is not None:
        session.attest(want.by, want.text)
    if session.change.is_open:
        session.close(want.by)
