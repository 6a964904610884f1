"""The record of a session of guided troubleshooting on disk: `investigations/CLUSTER/TIME.json` in the state directory.

It is written whole after each answer, so a session goes on where it was after kill -9. One racwire at a time has a
session: it holds the lock of a file next to the record, which ends with its process.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from checks.model.investigation import FORMAT, SessionRecord
from checks.model.sanitize import as_utf8, has_a_number_without_end, sanitize
from checks.run.directories import state_directory
from checks.whole_files import OutputError, OutputFile, write_whole

MOST_BYTES = 50_000_000
"""Most bytes of a record: a larger one is not read."""
MOST_LISTED = 200
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_ENDING, _LOCK = ".json", ".lock"
_MOST_ALIKE = 100
"""Sessions that started in the same second."""


class SessionJournalError(Exception):
    """A session could not be kept, read or continued. The message is one sentence with the file and the reason."""


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A file of the directory of sessions."""

    path: Path
    record: SessionRecord | None
    """None where it could not be read."""
    problem: str = ""
    """Why it could not be read, as a sentence."""


def sessions_directory() -> Path:
    """Return the directory of the records of all clusters."""
    return state_directory() / "investigations"


class SessionJournal:
    """The file of one session, which no other racwire has open. Call `close`, or use it in a `with`."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def begin(cls, record: SessionRecord) -> SessionJournal:
        """Make the file of a new session. Blocking. Raises SessionJournalError."""
        directory = sessions_directory() / (_UNSAFE.sub("_", record.cluster) or "_")
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise SessionJournalError(f"{directory} could not be made: {error.strerror}.") from None
        name = datetime.fromtimestamp(record.started_at).strftime("%Y%m%d-%H%M%S")
        for number in range(1, _MOST_ALIKE):
            path = directory / f"{name}{'' if number == 1 else f'-{number}'}{_ENDING}"
            if path.exists():
                continue
            try:
                lock = _locked(path)
            except SessionJournalError:
                continue
            journal = cls(path, lock)
            if not path.exists():
                try:
                    journal.keep(record)
                except SessionJournalError:
                    journal.close()
                    raise
                return journal
            journal.close()
        raise SessionJournalError(f"{directory} has too many sessions of the same second: try again.")

    @classmethod
    def resume(cls, path: Path) -> tuple[SessionJournal, SessionRecord]:
        """Open the file of a session to go on with it. Blocking. Raises SessionJournalError, also where another racwire
        has it open."""
        read_session(path)
        lock = _locked(path)
        try:
            return cls(path, lock), read_session(path)  # it may have changed until it was locked
        except SessionJournalError:
            os.close(lock)
            raise

    def keep(self, record: SessionRecord) -> None:
        """Write the record whole. Blocking. Raises SessionJournalError; the record before is then still there."""
        try:
            write_whole(OutputFile(self.path, replace=True), to_json(record))
        except OutputError as error:
            raise SessionJournalError(f"The session was not kept: {error}") from None

    def close(self) -> None:
        """Let another racwire have the session."""
        if self._lock >= 0:
            _lock_file(self.path).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def to_json(record: SessionRecord) -> bytes:
    """Return a record as indented JSON in UTF-8, with a final newline."""
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


def session_in(data: bytes, name: object) -> SessionRecord:
    """Return the record in the bytes of the file `name`. Raises SessionJournalError."""
    try:
        outline = msgspec.json.decode(data, type=_Outline)
        if outline.format > FORMAT:
            raise SessionJournalError(
                f"{name} has the format {outline.format} of a session, and this racwire reads {FORMAT}: use the "
                "racwire that wrote it."
            )
        if has_a_number_without_end(data):
            raise SessionJournalError(f"{name} could not be read: a number in it is larger than anything measured.")
        return msgspec.json.decode(data, type=SessionRecord)
    except msgspec.ValidationError as error:
        raise SessionJournalError(
            f"{name} is no session that this racwire can read: {sanitize(str(error))[:200].rstrip('.')}."
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise SessionJournalError(f"{name} is damaged: its JSON is not whole.") from None
    except RecursionError:
        raise SessionJournalError(f"{name} is nested too deeply to be a session.") from None


class _Outline(msgspec.Struct, frozen=True):
    format: int = FORMAT


def read_session(path: Path) -> SessionRecord:
    """Read a record. Blocking. Raises SessionJournalError."""
    try:
        if not path.is_file():
            raise SessionJournalError(f"{path} is no file: `racwire investigate --list` names the sessions.")
        if path.stat().st_size > MOST_BYTES:
            raise SessionJournalError(f"{path} has more than the {MOST_BYTES / 1e6:.0f} MB that a session can have.")
        data = as_utf8(path.read_bytes())
    except OSError as error:
        raise SessionJournalError(f"{path} could not be read: {error.strerror}.") from None
    return session_in(data, path)


def kept_sessions(cluster: str = "") -> list[KeptSession]:
    """Return the sessions of a cluster, or of all, the newest first. Blocking. Raises SessionJournalError."""
    directory = sessions_directory()
    try:
        found = sorted(_files(directory, cluster), key=lambda path: path.name, reverse=True)[:MOST_LISTED]
    except OSError as error:
        raise SessionJournalError(f"{directory} could not be read: {error.strerror}.") from None
    return [_kept(path) for path in found]


def _files(directory: Path, cluster: str) -> Iterator[Path]:
    if not directory.is_dir():
        return
    for own in directory.iterdir():
        if own.is_dir() and (not cluster or own.name == _UNSAFE.sub("_", cluster)):
            yield from (path for path in own.iterdir() if path.suffix == _ENDING and path.is_file())


def _kept(path: Path) -> KeptSession:
    try:
        return KeptSession(path, read_session(path))
    except SessionJournalError as error:
        return KeptSession(path, None, str(error))


def _lock_file(path: Path) -> Path:
    return path.with_suffix(_LOCK)


def _locked(path: Path) -> int:
    """Return the open lock of a session. Raises SessionJournalError where another racwire holds it."""
    handle = -1
    try:
        while True:
            handle = os.open(_lock_file(path), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_same(handle, _lock_file(path)):
                return handle
            os.close(handle)  # who held it has removed it meanwhile
    except BlockingIOError:
        os.close(handle)
        raise SessionJournalError(f"Another racwire has the session {path} open: close it there first.") from None
    except OSError as error:
        if handle >= 0:
            os.close(handle)
        raise SessionJournalError(f"{_lock_file(path)} could not be locked: {error.strerror}.") from None


def _is_same(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
