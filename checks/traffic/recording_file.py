"""The SQLite file of a recording: its layout, how it is opened, and what its errors mean in words.

The journal is SQLite's rollback journal, deleted at the end of each transaction: then all there is lies in one file,
also after kill -9, and it can be copied at any time. (A write-ahead log would hold the last minutes in a second file.)
A crash in the middle of a transaction leaves the journal behind; whoever opens the file next takes that transaction
back. Each transaction is synced to the disk (synchronous=FULL): a node that is evicted loses no more than a killed
process does.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path
from urllib.parse import quote

SCHEMA = 1
"""The version of the file's layout. Files of an older one are read; a newer one is refused in one sentence."""
APPLICATION_ID = 0x72777265
"""`rwre`, at byte 68 of the file: what `file` and SQLite know a recording by."""
LAYOUT = {
    "header": "CREATE TABLE header (body TEXT NOT NULL)",
    "shapes": "CREATE TABLE shapes (id INTEGER PRIMARY KEY, source TEXT NOT NULL, body TEXT NOT NULL UNIQUE)",
    "samples": "CREATE TABLE samples (until INTEGER PRIMARY KEY, body BLOB NOT NULL)",
    "links": ("CREATE TABLE links (id INTEGER PRIMARY KEY, node TEXT NOT NULL, at REAL NOT NULL, body TEXT NOT NULL)"),
}
"""A row of `samples` holds the events of one write: for each the number of its shape, its length, and its bytes
(`recording_events`). Its key is the time of the last of them in microseconds since 1970, or the next one that is free:
so rows are found by time without an index, which would take as much as the rows' own times again."""
LONGEST = 16_000_000
"""Bytes of the longest value that is read: a header of 255 nodes has some 3 MB."""

_PAGE_BYTES = 8192
_WAIT_S = 5.0
"""For another process that has the file in use: each needs it for milliseconds."""


class RecordingError(Exception):
    """A recording could not be written or read: one sentence with which file, why and what to do."""


def create_file(path: Path, *, replace: bool) -> sqlite3.Connection:
    """A new file of mode 0600 with the layout in it. Raises RecordingError; then nothing is left there."""
    try:
        if replace:
            _remove_recording(path)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        raise RecordingError(f"{path} is already there; name another file, or add --force to replace it.") from None
    except (OSError, ValueError) as error:
        raise RecordingError(f"{path} could not be written: {_why(error)}.") from None
    file = None
    try:
        file = _connect(path)
        file.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        file.execute("PRAGMA journal_mode = DELETE")
        file.execute("PRAGMA synchronous = FULL")
        file.execute("BEGIN IMMEDIATE")
        file.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        file.execute(f"PRAGMA user_version = {SCHEMA}")
        for statement in LAYOUT.values():
            file.execute(statement)
        file.execute("COMMIT")
    except sqlite3.Error as error:
        if file is not None:
            file.close()
        path.unlink(missing_ok=True)
        raise RecordingError(f"{path} could not be written: {in_words(error)}.") from None
    return file


def open_file(path: Path) -> sqlite3.Connection:
    """A recording, to be read. Raises RecordingError."""
    try:
        kind = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise RecordingError(f"{path} could not be read: {_why(error)}.") from None
    if not stat.S_ISREG(kind):
        raise RecordingError(f"{path} is no file; name a recording.")
    file = None
    try:
        file = _connect(path)
        _recognise(file, path)
    except (sqlite3.Error, ValueError, TypeError, RecordingError) as error:
        if file is not None:
            file.close()
        raise error if isinstance(error, RecordingError) else unreadable(path, error) from None
    return file


def unreadable(path: Path, error: Exception) -> RecordingError:
    """What SQLite, or a parser of what it found, says, in words."""
    if isinstance(error, sqlite3.Error) and "not a database" in str(error):
        return _foreign(path)
    return RecordingError(f"{path} could not be read: {in_words(error)}.")


def in_words(error: Exception) -> str:
    """Why SQLite refused, as the end of a sentence."""
    said = str(error)
    if not isinstance(error, sqlite3.Error) or any(word in said for word in ("malformed", "too big", "decode")):
        return "it is damaged, or was not copied whole"
    if "full" in said:
        return "the disk is full"
    if "locked" in said or "busy" in said:
        return f"another process has it in use for over {_WAIT_S:.0f} s"
    if "unable to open" in said:
        return "it cannot be opened here; look at its permissions and its directory's"
    if "readonly" in said:
        return "it can only be read here, or was replaced while in use"
    if "I/O" in said:
        return "the disk or its file system failed, or allows no larger file"
    return said


def _connect(path: Path) -> sqlite3.Connection:
    # mode=rw: a file that is only to be read is opened so; but where a crash left a journal, it must be rolled back.
    file = sqlite3.connect(
        f"file:{quote(os.fsencode(path.absolute()))}?mode=rw",
        uri=True,
        timeout=_WAIT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    file.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    return file


def _recognise(file: sqlite3.Connection, path: Path) -> None:
    """Refuse what is no recording, or one of a layout that is not known. Raises RecordingError."""
    file.execute("PRAGMA query_only = ON")
    file.execute("PRAGMA cell_size_check = ON")
    if file.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
        raise _foreign(path)
    (version,) = file.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA:
        raise RecordingError(
            f"{path} was recorded by a newer racwire (layout {version}; this one reads {SCHEMA}): open it with that."
        )
    # Statements and all: a view or a computed column under these names could be without end.
    found = dict(file.execute("SELECT name, substr(sql, 1, 1000) FROM sqlite_master WHERE sql IS NOT NULL LIMIT 10"))
    if found != LAYOUT:
        raise RecordingError(f"{path} could not be read: it is damaged, or was not written by racwire.")


def _foreign(path: Path) -> RecordingError:
    return RecordingError(f"{path} is no recording of racwire; `racwire record FILE` makes one.")


def _remove_recording(path: Path) -> None:
    """Remove what is to be replaced, with a journal that a crash left. Raises RecordingError where it is no recording:
    a slip of the pen must not cost another file."""
    if not path.exists():
        return
    if path.is_file() and path.stat().st_size > 0:
        open_file(path).close()
    elif not path.is_file():
        raise RecordingError(f"{path} is no file, and cannot be replaced by one; name another.")
    path.unlink()
    path.with_name(path.name + "-journal").unlink(missing_ok=True)


def _why(error: OSError | ValueError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "that is no file name"
