"""Sessions of guided troubleshooting on the live cluster, on a saved state, and those that are resumed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checks.model.investigation import SessionRecord
    from checks.model.report import Report
    from checks.model.settings import Settings
    from checks.run.guided import Guided
    from checks.run.investigating import Investigator
    from checks.run.session_journal import SessionJournal


class KeptSessions:
    """Begins sessions whose record is on disk, and resumes one. It loads what it needs at first use."""

    def __init__(self, settings: Settings, *, is_live: bool, resumed: Path | None = None) -> None:
        """`is_live`: racwire may make steps by itself. `resumed`: the record of a session to resume."""
        self._settings = settings
        self._is_live = is_live
        self._resumed = resumed
        self._journal: SessionJournal | None = None
        self._maker: Investigator | None = None

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
            session = new_session(report, time.time())
            if session.question() is not None:
                self._journal = begin_with_run(session.record, report)
        keep = self._journal.keep if self._journal is not None else _forget
        return Guided(session, keep, PasteReader(report.cluster), self._investigator(report, session.record))

    @property
    def id(self) -> str:
        """The name of the session; empty where there is none on disk."""
        return self._journal.path.stem if self._journal is not None else ""

    def _investigator(self, report: Report, record: SessionRecord) -> Investigator | None:
        if not self._is_live:
            return None
        from checks.run.investigating import Budget, Investigator

        self._maker = Investigator(report.cluster, self._settings, Budget.left(self._settings, record))
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
