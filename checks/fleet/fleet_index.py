"""The index of a fleet: what was in each saved file, so that a second run reads only new files.

One SQLite file, in racwire's cache directory or where the operator says. Nothing depends on it: it is made again where
it is broken, or was written by another version of racwire, whose words would be others. A file is known by its path,
size, and times of change; the kernel sets the last of these (ctime) and no program can set it back, so a file that was
written again is read again. The index has at most `MOST_ROWS` files, and none that no run has used for `MOST_DAYS`.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from pathlib import Path

from checks.run.directories import cache_directory
from checks.run.versions import versions
from checks.traffic.recording_file import connect, sqlite_reason
from checks.whole_files import OutputError, trusted_target

MOST_ROWS, MOST_DAYS = 50_000, 400
_ID = 0x7277666C
"""`rwfl`: the application id of SQLite."""
_VERSION = 1
_TABLES = (
    "CREATE TABLE made_by (version TEXT NOT NULL)",
    "CREATE TABLE files (path BLOB PRIMARY KEY, stamp TEXT NOT NULL, used INTEGER NOT NULL, body BLOB NOT NULL)",
)
_EACH = 200
"""Files after which they are written: an interrupted run has to read no more than these again."""
_DAY_S = 86_400


class IndexFileError(Exception):
    """The index cannot be used. The text is one sentence: which file and why."""


def usual_place() -> Path:
    """Return the path of the index in racwire's cache directory."""
    return cache_directory() / "fleet.index"


class FleetIndex:
    """An open index. Close it, or use it in a `with`."""

    def __init__(self, path: Path, *, is_named: bool) -> None:
        """Open the index, or make it. `is_named`: the operator named the file, and only an index is replaced.

        Blocking. Raises IndexFileError where it cannot be used.
        """
        self._path = path
        self._waiting: list[tuple[bytes, str, int, bytes]] = []
        self._today = int(time.time() // _DAY_S)
        try:
            trusted_target(path)
            if not is_named:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = self._opened(is_named=is_named)
        except (OutputError, OSError, sqlite3.Error) as error:
            raise self._unusable(error) from None

    def body(self, path: Path, status: os.stat_result) -> bytes | None:
        """Return what was in a file; None where the index does not know the file as it is now. Raises
        IndexFileError."""
        try:
            wanted = "SELECT stamp, used, body FROM files WHERE path = ?"
            row = self._file.execute(wanted, (os.fsencode(path),)).fetchone()
            if row is None or row[0] != _stamp(status) or not isinstance(row[2], bytes):
                return None
        except sqlite3.Error as error:
            raise self._unusable(error) from None
        if row[1] != self._today:
            self.keep(path, status, row[2])
        return row[2]

    def keep(self, path: Path, status: os.stat_result, body: bytes) -> None:
        """Keep what is in a file. Raises IndexFileError."""
        self._waiting.append((os.fsencode(path), _stamp(status), self._today, body))
        if len(self._waiting) >= _EACH:
            try:
                self._write()
            except sqlite3.Error as error:
                raise self._unusable(error) from None

    def close(self) -> None:
        """Keep the index within its limits, and close it. May be called twice."""
        with contextlib.suppress(sqlite3.Error):
            self._write()
            self._file.execute("DELETE FROM files WHERE used < ?", (self._today - MOST_DAYS,))
            self._file.execute(
                "DELETE FROM files WHERE path IN (SELECT path FROM files ORDER BY used DESC LIMIT -1 OFFSET ?)",
                (MOST_ROWS,),
            )
        self._file.close()

    def _write(self) -> None:
        """Write what waits, in a moment: another run may use the index, too. Raises sqlite3.Error."""
        if self._waiting:
            self._file.execute("BEGIN IMMEDIATE")
            self._file.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", self._waiting)
            self._file.commit()
            self._waiting = []

    def _opened(self, *, is_named: bool) -> sqlite3.Connection:
        """Open the file; make it again where it is no index of this racwire. Raises IndexFileError, OSError and
        sqlite3.Error."""
        if self._path.exists() and self._path.stat().st_size:
            found, is_index = connect(self._path, "rw"), False
            try:
                is_index = found.execute("PRAGMA application_id").fetchone() == (_ID,)
                if is_index and _made_here(found):
                    return found
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                    found.close()
                    raise
            found.close()
            if is_named and not is_index:
                raise IndexFileError(f"{self._path} is no index of racwire; name another file.")
            self._path.unlink()
        os.close(os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        file = connect(self._path, "rw")
        file.execute("BEGIN IMMEDIATE")
        file.execute(f"PRAGMA application_id = {_ID}")
        file.execute(f"PRAGMA user_version = {_VERSION}")
        for statement in _TABLES:
            file.execute(statement)
        file.execute("INSERT INTO made_by VALUES (?)", (versions()["racwire"],))
        file.commit()
        return file

    def _unusable(self, error: Exception) -> IndexFileError:
        why = error.strerror if isinstance(error, OSError) else sqlite_reason(error)
        return IndexFileError(f"The index {self._path} is not used: {why}.")


def _made_here(file: sqlite3.Connection) -> bool:
    """Whether this version of racwire made the index. Raises sqlite3.Error where it is broken."""
    if file.execute("PRAGMA user_version").fetchone() != (_VERSION,):
        return False
    if file.execute("SELECT version FROM made_by").fetchall() != [(versions()["racwire"],)]:
        return False
    return bool(file.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))


def _stamp(status: os.stat_result) -> str:
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"
