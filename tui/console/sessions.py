"""Sessions of guided troubleshooting on the live cluster, on a saved state, and those that are resumed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checks.model.investigation import SessionRecord
    from checks.model.report import Report
    from checks.model.settings import Settings
    from checks.run.guided import Guided
    from checks.run.investigating import Investigator
    from checks.saved.session_files import SessionFiles


class KeptSessions:
    """Begins sessions whose record is on disk, and resumes one. It loads what it needs at first use."""

    def __init__(self, settings: Settings, *, is_live: bool, files: SessionFiles | None = None) -> None:
        """`is_live`: racwire may make steps by itself. `files`: of a session to resume."""
        self._settings = settings
        self._is_live = is_live
        self._resumed = files
        self._files = files
        self._maker: Investigator | None = None

    def begin(self, report: Report) -> Guided:
        """Return a session about what a report leaves open; at first the one that is resumed, about its own run.
        Blocking. Raises SessionFileError."""
        from checks.investigate.pasted_signs import PasteReader
        from checks.run.guided import Guided, new_session, resumed_session
        from checks.saved.session_files import SessionFiles

        resumed, self._resumed = self._resumed, None
        if resumed is not None:
            self._files, report = resumed, resumed.run()
            session = resumed_session(report, resumed.record())
        else:
            if self._files is not None:
                self._files.close()
            session = new_session(report, time.time())
            self._files = SessionFiles.new(report) if session.question() is not None else None
        keep = self._files.keep if self._files is not None else _forget
        return Guided(session, keep, PasteReader(report.cluster), self._investigator(report, session.record))

    def resumed_run(self) -> Report | None:
        """Return the run of the session that is to be resumed; None without one. Raises SessionFileError."""
        return self._resumed.run() if self._resumed is not None else None

    @property
    def id(self) -> str:
        """The name of the session; empty where there is none on disk."""
        return self._files.id if self._files is not None else ""

    def _investigator(self, report: Report, record: SessionRecord) -> Investigator | None:
        if not self._is_live:
            return None
        from checks.run.investigating import Budget, Investigator

        self._maker = Investigator(report.cluster, self._settings, Budget.left(self._settings, record))
        return self._maker

    async def close(self) -> None:
        """Close the connections of the steps, and free the files."""
        maker, self._maker = self._maker, None
        if self._files is not None:
            self._files.close()
        if maker is not None:
            await maker.close()


def _forget(record: SessionRecord) -> None:
    """Keep nothing: nothing is open."""
