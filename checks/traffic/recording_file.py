"""The SQLite file of a recording: its layout, how it is opened, and the text of its errors.

The journal is SQLite's rollback journal, deleted at the end of each transaction: then one file has all the samples,
also after kill -9, and it can be copied at any time. (A write-ahead log would hold the last minutes in a second file.)
A crash in the middle of a transaction leaves the journal behind; its owner takes that transaction back by opening the
file. Each transaction is synced to the disk (synchronous=FULL): a node that is evicted loses no more than a killed
process does.

A file that a stranger made is opened so that SQLite writes and removes nothing: to roll back is to do what a journal
says, and one that names a further journal has SQLite delete that file, whatever it is
(https://www.sqlite.org/fileformat.html, "The Rollback Journal").
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from checks.whole_files import OutputError, trusted_target

SCHEMA, _SCHEMA_OF_0_2_0 = 3, 2
"""The version of the layout of the file and of its rows. racwire refuses newer versions with one sentence."""
APPLICATION_ID, SAVED_ID = 0x72777265, 0x72777361
"""`rwre` and `rwsa`, at byte 68 of the file: `file` and SQLite recognise a recording and a saved file by these."""
_LAYOUT_OF_0_2_0 = {
    "header": "CREATE TABLE header (body TEXT NOT NULL)",
    "shapes": "CREATE TABLE shapes (id INTEGER PRIMARY KEY, source TEXT NOT NULL, body TEXT NOT NULL UNIQUE)",
    "samples": "CREATE TABLE samples (until INTEGER PRIMARY KEY, body BLOB NOT NULL)",
    "links": ("CREATE TABLE links (id INTEGER PRIMARY KEY, node TEXT NOT NULL, at REAL NOT NULL, body TEXT NOT NULL)"),
}
LAYOUT = _LAYOUT_OF_0_2_0 | {
    "runs": "CREATE TABLE runs (id INTEGER PRIMARY KEY, ended REAL NOT NULL, body BLOB NOT NULL)",
    "journal": "CREATE TABLE journal (id INTEGER PRIMARY KEY, at REAL NOT NULL, line TEXT NOT NULL)",
}
"""A row of `samples` holds the events of one write (`recording_codec`). Its key is the time of the last event in
microseconds since 1970, or the next free key. So rows are found by time without an index, which would take as much
space as the times of the rows. `runs` has the runs of the checks and the verified gates (`recording_runs`) in the order
in which they ended, `journal` the lines of the journals of changes."""
LAYOUTS = {_SCHEMA_OF_0_2_0: _LAYOUT_OF_0_2_0, SCHEMA: LAYOUT}
"""The tables of a recording by version."""
SAVED_LAYOUT = {
    "manifest": "CREATE TABLE manifest (body TEXT NOT NULL)",
    "report": "CREATE TABLE report (part INTEGER PRIMARY KEY, body BLOB NOT NULL)",
}
"""The tables of a saved file (`checks.saved`). The file also has the tables of a recording if traffic was recorded."""
COLUMNS = {
    "header": ("rowid", "body"),
    "shapes": ("id", "source", "body"),
    "samples": ("until", "body"),
    "links": ("id", "node", "at", "body"),
    "runs": ("id", "ended", "body"),
    "journal": ("id", "at", "line"),
    "report": ("part", "body"),
}
"""The columns of each table, its key first."""
Row = tuple[str, tuple[object, ...]]
"""The table, and the values in the order of `COLUMNS`."""
LONGEST = 16_000_000
"""Most bytes of a value that racwire reads: a header of 255 nodes has about 3 MB."""

BEGINNING, END = -(2**63), 2**63 - 1
"""The limits of all keys."""

_PAGE_BYTES = 8192
_ROWS_AT_ONCE = 500
_BYTES_AT_ONCE = 4_000_000
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
"""The first bytes of a journal. A journal that names another journal, which racwire never writes, also ends with it."""
_WAIT_S = 5.0
"""Seconds to wait for another process that uses the file; each process needs it for milliseconds."""


class RecordingError(Exception):
    """A recording could not be written or read. The message is one sentence: the file, the reason, and what to do."""


class ForeignFileError(RecordingError):
    """The file is not a recording."""


def create_file(path: Path, *, replace: bool, schema: int = SCHEMA) -> sqlite3.Connection:
    """Create a new recording of mode 0600 with the tables of a version of the layout. Raises RecordingError where the
    file exists or cannot be written; then no new file is left."""
    try:
        trusted_target(path)
        if replace:
            _remove_recording(path)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        raise RecordingError(f"{path} is already there; name another file, or add --force to replace it.") from None
    except OutputError as error:
        raise RecordingError(str(error)) from None
    except (OSError, ValueError) as error:
        raise RecordingError(f"{path} could not be written: {_why(error)}.") from None
    file = None
    try:
        file = connect(path, "rw")
        file.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        file.execute("PRAGMA journal_mode = DELETE")
        file.execute("PRAGMA synchronous = FULL")
        file.execute("BEGIN IMMEDIATE")
        lay_out(file, APPLICATION_ID, schema, LAYOUTS[schema])
        file.execute("COMMIT")
    except sqlite3.Error as error:
        if file is not None:
            file.close()
        path.unlink(missing_ok=True)
        raise RecordingError(f"{path} could not be written: {sqlite_reason(error)}.") from None
    return file


def lay_out(file: sqlite3.Connection, application_id: int, schema: int, layout: Mapping[str, str]) -> None:
    """Create the tables of a kind of file in an empty file. Raises sqlite3.Error where the file cannot be written."""
    file.execute(f"PRAGMA application_id = {application_id}")
    file.execute(f"PRAGMA user_version = {schema}")
    for statement in layout.values():
        file.execute(statement)


def open_file(path: Path, *, saved_too: bool = False) -> sqlite3.Connection:
    """Open a recording for reading; with `saved_too`, also a saved file. Raises RecordingError where the file is
    missing, is of another kind, is damaged, or is of a newer racwire."""
    place = _place(path)
    try:
        try:
            return _opened(path, place, "ro", saved_too)
        except sqlite3.OperationalError as error:
            if not _has_to_roll_back(error):
                raise
        _refuse_a_strange_journal(path, place)
        return _opened(path, place, "rw", saved_too)
    except (sqlite3.Error, ValueError, TypeError) as error:
        raise unreadable(path, error) from None


def rows_in(file: sqlite3.Connection, tables: Iterable[str], after: int = BEGINNING, until: int = END) -> Iterator[Row]:
    """Yield the rows of these tables with keys in this range, in order. They are read in pages, so that a writer can
    use the file in between. Raises sqlite3.Error where reading fails, ValueError where rows are not in order."""
    for table in tables:
        columns, last = COLUMNS[table], after
        key, names = columns[0], ", ".join(columns)
        wanted = f"SELECT {names} FROM {table} WHERE {key} > ? AND {key} <= ? ORDER BY {key} LIMIT {_ROWS_AT_ONCE}"  # noqa: S608 - names of our own
        while page := _page(file, wanted, last, until):
            for row in page:
                if not isinstance(row[0], int) or row[0] <= last:
                    raise ValueError("its rows are in no order")
                last = row[0]
                yield table, row


def _page(file: sqlite3.Connection, wanted: str, after: int, until: int) -> list[tuple[object, ...]]:
    page: list[tuple[object, ...]] = []
    size = 0
    rows = file.execute(wanted, (after, until))
    for row in rows:
        page.append(row)
        size += sum(len(value) for value in row if isinstance(value, str | bytes))
        if size > _BYTES_AT_ONCE:
            break
    rows.close()
    return page


def add_row(file: sqlite3.Connection, row: Row) -> None:
    """Insert a row of another file. Raises sqlite3.Error where the file cannot be written."""
    table, values = row
    columns = COLUMNS[table]
    file.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", values)  # noqa: S608 - names of our own


def has_traffic(file: sqlite3.Connection) -> bool:
    """Return whether an open file contains a recording."""
    return file.execute("SELECT 1 FROM sqlite_master WHERE name = 'samples'").fetchone() is not None


def companion_file(path: Path, ending: str) -> Path:
    """Return the path of SQLite's journal (`-journal`) or write-ahead log (`-wal`) of a file."""
    return path.with_name(path.name + ending)


def _place(path: Path) -> Path:
    """The target of a symbolic link: SQLite searches for the journal there. The file is not opened for this: closing it
    would end the locks of a writer in this process. Raises RecordingError where there is no such file."""
    try:
        place = path.resolve(strict=True)
        kind = place.stat().st_mode
    except (OSError, ValueError, RuntimeError) as error:
        raise RecordingError(f"{path} could not be read: {_why(error)}.") from None
    if not stat.S_ISREG(kind):
        raise RecordingError(f"{path} is no file; name a recording.")
    if os.path.lexists(companion_file(place, "-wal")):
        raise _strange(path, companion_file(place, "-wal"))
    return place


def _opened(path: Path, place: Path, mode: str, saved_too: bool) -> sqlite3.Connection:
    """Open a file and check its kind. Raises RecordingError, and the errors of SQLite and of the parsers."""
    file = connect(place, mode)
    try:
        file.execute("PRAGMA query_only = ON")
        file.execute("PRAGMA trusted_schema = OFF")
        file.execute("PRAGMA cell_size_check = ON")
        _recognise(file, path, saved_too)
    except BaseException:
        file.close()
        raise
    return file


def _has_to_roll_back(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY_ROLLBACK


def _refuse_a_strange_journal(path: Path, place: Path) -> None:
    """Check the journal of a file. Raises RecordingError where no crash of the operator's own racwire left it."""
    journal = companion_file(place, "-journal")
    try:
        with open(os.open(journal, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as content:
            status = os.fstat(content.fileno())
            content.seek(max(0, status.st_size - len(_JOURNAL_MAGIC)))
            names_another = content.read(len(_JOURNAL_MAGIC)) == _JOURNAL_MAGIC
    except OSError:  # a link, a directory, or gone by now
        raise _strange(path, journal) from None
    if not stat.S_ISREG(status.st_mode) or names_another:
        raise _strange(path, journal)
    if {status.st_uid, place.stat().st_uid} != {os.geteuid()}:
        raise RecordingError(
            f"racwire was stopped while it wrote {path}, and the file belongs to another user: open it as that user, "
            f"or copy it together with {journal} and open the copy."
        )


def _strange(path: Path, other: Path) -> RecordingError:
    return RecordingError(
        f"{path} could not be read: racwire does not write a file such as {other}. Ask the person who made these "
        "files, or copy only the recording and open the copy."
    )


def unreadable(path: Path, error: Exception) -> RecordingError:
    """Return the RecordingError for an error of SQLite or of a parser of its values."""
    if isinstance(error, sqlite3.Error) and "not a database" in str(error):
        return _foreign(path)
    return RecordingError(f"{path} could not be read: {sqlite_reason(error)}.")


def sqlite_reason(error: Exception) -> str:
    """Return the reason of an SQLite error, as the end of a sentence."""
    message = str(error)
    if not isinstance(error, sqlite3.Error) or any(word in message for word in ("malformed", "too big", "decode")):
        return "it is damaged, or was not copied whole"
    if "full" in message:
        return "the disk is full"
    if "locked" in message or "busy" in message:
        return f"another process has used it for over {_WAIT_S:.0f} s"
    if _has_to_roll_back(error):
        return "the process that wrote it was stopped during a write; open it again"
    if "unable to open" in message:
        return "it cannot be opened here; check its permissions and those of its directory"
    if "readonly" in message:
        return "it can only be read here, or was replaced while in use"
    if "I/O" in message:
        return "the disk or its file system failed, or allows no larger file"
    return message


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open a file with mode `ro` or `rw`, and limit the length of its values. Raises sqlite3.Error where that fails."""
    file = sqlite3.connect(
        f"file:{quote(os.fsencode(path.absolute()))}?mode={mode}",
        uri=True,
        timeout=_WAIT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    file.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    return file


def _recognise(file: sqlite3.Connection, path: Path, saved_too: bool) -> None:
    """Check the kind and the layout of a file. Raises RecordingError where they are not known."""
    (application_id,) = file.execute("PRAGMA application_id").fetchone()
    if application_id != APPLICATION_ID and not (saved_too and application_id == SAVED_ID):
        raise _foreign(path)
    (version,) = file.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA:
        raise RecordingError(
            f"{path} was recorded by a newer racwire (layout {version}; this one reads {SCHEMA}): open it with "
            "that version."
        )
    layout = LAYOUTS.get(version, {})
    layouts = [layout] if application_id == APPLICATION_ID else [SAVED_LAYOUT, layout | SAVED_LAYOUT]
    # Compare the statements, too: a view or a computed column with these names could return rows without end.
    found = dict(file.execute("SELECT name, substr(sql, 1, 1000) FROM sqlite_master WHERE sql IS NOT NULL LIMIT 10"))
    if not layout or found not in layouts:
        raise RecordingError(f"{path} could not be read: it is damaged, or was not written by racwire.")


def _foreign(path: Path) -> ForeignFileError:
    return ForeignFileError(f"{path} is no recording of racwire; `racwire record FILE` writes one.")


def _remove_recording(path: Path) -> None:
    """Remove the recording that will be replaced, and the journal of a crash. Raises RecordingError where the file is
    no recording: a typing error must not delete another file."""
    if not path.exists():
        return
    if path.stat().st_size > 0:
        open_file(path).close()
    path.unlink()
    companion_file(path, "-journal").unlink(missing_ok=True)


def _why(error: OSError | ValueError | RuntimeError) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "its symbolic links form a loop" if isinstance(error, RuntimeError) else "that is no file name"
