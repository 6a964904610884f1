"""Sessions of guided troubleshooting on disk: the run that each began with, and its record after each answer.

A session is a directory `sessions/ID` in the state directory: `run.racwire`, a saved file, and `session.json`, which is
written whole after each answer. So a session can be resumed after any end of the process, also on another machine.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from checks.model.investigation import FORMAT, SessionRecord
from checks.model.report import Report
from checks.model.sanitize import has_a_number_without_end, sanitize
from checks.run.directories import state_directory
from checks.saved.manifest import SavedError
from checks.saved.reader import open_saved
from checks.saved.writer import save
from checks.whole_files import OutputError, OutputFile, write_whole

_RECORD, _RUN, _LOCK = "session.json", "run.racwire", ".lock"
_NAME = re.compile(r"[0-9]{8}-[0-9]{6}(?:-[0-9]{1,3})?")
_MOST_BYTES = 50_000_000
_MOST_ALIKE = 100
"""Sessions that began in the same second."""
_MOST_READ = 200
"""The most sessions that are listed, the newest first."""


class SessionFileError(Exception):
    """A session could not be written, read, or is open elsewhere: one sentence with the reason."""


@dataclass(frozen=True, slots=True)
class KnownSession:
    """A session on disk."""

    id: str
    record: SessionRecord


class SessionFiles:
    """The files of one session. They are locked until `close`: no second racwire goes on with it."""

    def __init__(self, directory: Path) -> None:
        """Open the files in a directory. Raises SessionFileError where another racwire has them open."""
        self.directory = directory
        self._lock = _locked(directory)

    @property
    def id(self) -> str:
        """The name of the session."""
        return self.directory.name

    @classmethod
    def new(cls, report: Report) -> SessionFiles:
        """Create the files of a session about a run. Blocking. Raises SessionFileError."""
        directory = _new_directory()
        files = cls(directory)
        try:
            save(OutputFile(directory / _RUN), replace(report, sessions=()), None)
        except (OutputError, SavedError) as error:
            files.close()
            raise SessionFileError(f"The session cannot be kept: {error}") from None
        return files

    @classmethod
    def open(cls, id_: str = "") -> SessionFiles:
        """Open a session by its name; without one, the newest that has not ended. Raises SessionFileError."""
        if id_:
            if not _NAME.fullmatch(id_) or not (directory := _directory() / id_).is_dir():
                raise SessionFileError(
                    f"There is no session {sanitize(id_)[:40]}; `racwire investigate --list` names them."
                )
            return cls(directory)
        known = next((one for one in known_sessions() if not one.record.is_ended), None)
        if known is None:
            raise SessionFileError("There is no session that has not ended; `racwire investigate --list` names all.")
        return cls(_directory() / known.id)

    def keep(self, record: SessionRecord) -> None:
        """Write the record, whole. Blocking. Raises SessionFileError."""
        data = msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"
        try:
            write_whole(OutputFile(self.directory / _RECORD, replace=True), data)
        except OutputError as error:
            raise SessionFileError(f"The answer was not kept: {error}") from None

    def record(self) -> SessionRecord:
        """Read the record. Blocking. Raises SessionFileError."""
        return _record(self.directory / _RECORD)

    def run(self) -> Report:
        """Read the run that it began with. Blocking. Raises SessionFileError."""
        try:
            with open_saved(self.directory / _RUN, recording=False) as saved:
                return replace(saved.report, saved_at="")
        except SavedError as error:
            raise SessionFileError(str(error)) from None

    def close(self) -> None:
        """Give the files free. May be called twice."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def known_sessions(cluster: str = "") -> tuple[KnownSession, ...]:
    """Return the sessions of a cluster, or of all, the newest first. Blocking. What cannot be read is left out."""
    return tuple(one for one in _known() if not cluster or one.record.cluster == cluster)


def newest_session(cluster: str) -> tuple[SessionRecord, ...]:
    """Return the newest session of a cluster that has an answer; none where there is none. Blocking."""
    return tuple(one.record for one in known_sessions(cluster) if one.record.answers)[:1]


def session_in(data: bytes, name: object) -> SessionRecord:
    """Return the record in the bytes of the file `name`. Raises SessionFileError."""
    try:
        if has_a_number_without_end(data):
            raise SessionFileError(f"{name} could not be read: a number in it is larger than anything counted.")
        found = msgspec.json.decode(data, type=SessionRecord)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise SessionFileError(f"{name} is no session that this racwire reads: {sanitize(str(error))[:200]}.") from None
    if found.format > FORMAT:
        raise SessionFileError(
            f"{name} was written by a newer racwire (format {found.format}; this one reads {FORMAT})."
        )
    return found


def _known() -> Iterator[KnownSession]:
    try:
        names = sorted((p.name for p in _directory().iterdir() if _NAME.fullmatch(p.name)), reverse=True)
    except OSError:
        return
    for name in names[:_MOST_READ]:
        try:
            yield KnownSession(name, _record(_directory() / name / _RECORD))
        except SessionFileError:
            continue


def _record(path: Path) -> SessionRecord:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise SessionFileError(f"{path} has more than {_MOST_BYTES // 1_000_000} MB, more than any session.")
        return session_in(path.read_bytes(), path)
    except OSError as error:
        raise SessionFileError(f"{path} could not be read: {error.strerror}.") from None


def _directory() -> Path:
    return state_directory() / "sessions"


def _new_directory() -> Path:
    stem = time.strftime("%Y%m%d-%H%M%S")
    for name in (stem, *(f"{stem}-{number}" for number in range(2, _MOST_ALIKE))):
        path = _directory() / name
        try:
            path.mkdir(mode=0o700, parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise SessionFileError(f"The session cannot be kept: {path} could not be made: {error.strerror}.") from None
        return path
    raise SessionFileError(f"{_directory()} has {_MOST_ALIKE} sessions of this second.")


def _locked(directory: Path) -> int:
    try:
        handle = os.open(directory / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise SessionFileError(f"{directory} could not be opened: {error.strerror}.") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise SessionFileError(f"Another racwire has the session {directory.name} open: go on there.") from None
    except OSError:  # some shared file systems have no locks
        pass
    return handle
