"""The run with which a session of guided troubleshooting started: a saved file next to the record, so that a session
can be resumed after any end of the process, with the same questions."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from checks.model.investigation import SessionRecord
from checks.model.report import Report
from checks.run.session_journal import KeptSession, SessionJournal, SessionJournalError, kept_sessions
from checks.saved.manifest import SavedError
from checks.saved.reader import open_saved
from checks.saved.writer import save
from checks.whole_files import OutputError, OutputFile

_ENDING = ".racwire"


def begin_with_run(record: SessionRecord, report: Report) -> SessionJournal:
    """Make the files of a new session: its record, and the run. Blocking. Raises SessionJournalError."""
    journal = SessionJournal.begin(record)
    try:
        save(OutputFile(_run_of(journal.path), replace=True), replace(report, sessions=()), None)
    except (OutputError, SavedError) as error:
        journal.close()
        raise SessionJournalError(f"The session was not kept: {error}") from None
    return journal


def run_of(path: Path) -> Report:
    """Return the run with which the session in a file started. Blocking. Raises SessionJournalError."""
    try:
        with open_saved(_run_of(path), recording=False) as saved:
            return replace(saved.report, saved_at="")
    except SavedError as error:
        raise SessionJournalError(str(error)) from None


def session_named(name: str, *, is_ended: bool = False) -> KeptSession:
    """Return the session of that name; without one, the newest that has not ended, or the newest that has. Blocking.
    Raises SessionJournalError."""
    known = [one for one in kept_sessions() if one.record is not None]
    if name:
        found = next((one for one in known if one.path.stem == name), None)
    else:
        found = next((one for one in known if one.record is not None and one.record.is_ended is is_ended), None)
    if found is None:
        what = f"no session {name[:40]!r}" if name else f"no session that has {'' if is_ended else 'not '}ended"
        raise SessionJournalError(f"There is {what}; `racwire investigate --list` names those that are kept.")
    return found


def newest_session(cluster: str) -> tuple[SessionRecord, ...]:
    """Return the newest session of a cluster that has an answer; none where there is none. Blocking."""
    try:
        records = [one.record for one in kept_sessions(cluster) if one.record is not None]
    except SessionJournalError:
        return ()
    return tuple(record for record in records if record.answers)[:1]


def _run_of(path: Path) -> Path:
    return path.with_suffix(_ENDING)
