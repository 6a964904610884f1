"""Sessions of guided troubleshooting on the live cluster, on a saved state, and those that are resumed."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checks.model.investigation import SessionRecord, SessionStep, StepAnswer
    from checks.model.report import Report
    from checks.model.settings import Settings
    from checks.run.guided import Guided
    from checks.run.investigating import Investigator
    from checks.run.session_journal import SessionJournal
    from tui.cli.password import Secret


class _WatchedSteps:
    """Makes the steps of a session, watched for harm from the first one on."""

    def __init__(self, report: Report, settings: Settings, record: SessionRecord, password: Secret | None) -> None:
        self._report, self._settings, self._record, self._password = report, settings, record, password
        self._open: AsyncExitStack | None = None
        self._investigator: Investigator | None = None

    async def make(self, step: SessionStep, progress: Callable[[str], None]) -> StepAnswer:
        """Make a step, and return its answer."""
        if self._investigator is None:
            from checks.measure.session_harm import open_investigator

            progress("watching the cluster before anything is sent")
            self._open = AsyncExitStack()
            opened = open_investigator(self._report.cluster, self._settings, self._record, self._password)
            self._investigator = await self._open.enter_async_context(opened)
        return await self._investigator.make(step, progress)

    async def close(self) -> None:
        """End the watch, and close the connections."""
        opened, self._open = self._open, None
        if opened is not None:
            await opened.aclose()


class KeptSessions:
    """Starts sessions whose record is on disk, and resumes one. It loads what it needs at first use."""

    def __init__(
        self, settings: Settings, *, is_live: bool, resumed: Path | None = None, password: Secret | None = None
    ) -> None:
        """`is_live`: racwire may make steps by itself. `resumed`: the record of a session to resume."""
        self._settings, self._password = settings, password
        self._is_live = is_live
        self._resumed = resumed
        self._journal: SessionJournal | None = None
        self._maker: _WatchedSteps | None = None

    def begin(self, report: Report) -> Guided:
        """Return a session about what a report leaves open; at first the one that is resumed, about its own run.
        Blocking. Raises SessionJournalError."""
        from checks.investigate.paste_reader import PasteReader
        from checks.run.guided import Guided, new_session, resumed_session
        from checks.run.session_journal import SessionJournal
        from checks.saved.session_run import begin_with_run, run_of

        resumed, self._resumed = self._resumed, None
        if self._journal is not None:
            self._journal.close()
            self._journal = None
        if resumed is not None:
            report = run_of(resumed)
            self._journal, record = SessionJournal.resume(resumed)
            session = resumed_session(report, record)
        else:
            session = new_session(report, time.time(), is_of_file=not self._is_live)
            if session.question() is not None:
                self._journal = begin_with_run(session.record, report)
        keep = self._journal.keep if self._journal is not None else _forget
        return Guided(session, keep, PasteReader(report.cluster), self._steps(report, session.record))

    @property
    def id(self) -> str:
        """The name of the session; empty where there is none on disk."""
        return self._journal.path.stem if self._journal is not None else ""

    def _steps(self, report: Report, record: SessionRecord) -> _WatchedSteps | None:
        if self._is_live and not record.is_of_file:
            self._maker = _WatchedSteps(report, self._settings, record, self._password)
        return self._maker

    async def close(self) -> None:
        """Close the connections of the steps, and free the session."""
        maker, self._maker = self._maker, None
        if self._journal is not None:
            self._journal.close()
        if maker is not None:
            await maker.close()


def _forget(record: SessionRecord) -> None:
    """Keep nothing: nothing is open."""
