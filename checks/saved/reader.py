"""Open a saved file, or a report as JSON. The file is not trusted."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, TypeVar

import msgspec

from checks.model.impossible_values import without_impossible
from checks.model.report import SCHEMA, Report
from checks.model.report_limits import (
    settings_fit,
    too_long_list,
    without_impossible_sessions,
    without_impossible_situation,
)
from checks.model.sanitize import as_utf8, has_a_number_without_end
from checks.model.shell_command import shell
from checks.report.age import state_for_screen
from checks.report.json_report import SCHEMA_OF_0_2_0, from_json
from checks.saved.manifest import (
    MANIFEST_BYTES,
    RECORDING,
    REPORT,
    REPORT_BYTES,
    Manifest,
    Proof,
    SavedError,
    damaged,
    decode,
    foreign,
    newer,
)
from checks.traffic.recording import Recording, RecordingError
from checks.traffic.recording_file import (
    APPLICATION_ID,
    SAVED_ID,
    ForeignFileError,
    Row,
    has_traffic,
    open_file,
    rows_in,
    unreadable,
)

_SQLITE = b"SQLite format 3\0"
_IDS = {APPLICATION_ID.to_bytes(4, "big"): "recording", SAVED_ID.to_bytes(4, "big"): "saved"}
_BEGINNING = 100
_PART = 65_536
"""Bytes of a report that are decompressed at once."""
_SCHEMA = b'"racwire-report/'
_Read = TypeVar("_Read")


class _Outline(msgspec.Struct, frozen=True):
    schema: str
    settings: msgspec.Raw = msgspec.Raw(b"{}")


class Saved:
    """An open saved file. Close it, or use it in a `with`."""

    def __init__(self, path: Path, report: Report, recording: Recording | None = None) -> None:
        self.path = path
        self.report = report
        """With `saved_at` set."""
        self.recording = recording
        """The recorded traffic; None where no traffic was recorded, or the recording was not requested."""

    @property
    def saved_at(self) -> str:
        """The time of saving in ISO 8601; for a report as JSON, the start of its run."""
        return self.report.saved_at

    def told(self, now: datetime) -> str:
        """`saved by racwire 0.2.0: the state of 2026-11-20 14:02:31 +01:00, 3 d ago, saved 2026-11-20 14:05:00 +01:00`,
        where `now` is a time with a zone."""
        return f"saved by racwire {self.report.racwire_version}: the state {state_for_screen(self.report, now)}"

    def close(self) -> None:
        """Close the recording. May be called twice."""
        if self.recording is not None:
            self.recording.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def kind_of(path: Path, *, strictly: bool = False) -> str:
    """`saved`, `report` (as JSON) or `recording`; empty where the file is none of these, or cannot be read. `strictly`:
    only a report that starts as racwire writes it, and not every file of JSON.

    `open_saved` raises the error of a faulty file.
    """
    try:
        with _open_regular(path) as file:
            kind = _kind_in(file)
            file.seek(0)
            return "" if strictly and kind == "report" and _SCHEMA not in file.read(_BEGINNING) else kind
    except (SavedError, OSError):
        return ""


def open_saved(path: Path, *, recording: bool = True) -> Saved:
    """Open a saved file, or a report as JSON, which has no recording.

    Without `recording` the recording is not read. Raises SavedError where the file cannot be read or is no such file.
    """
    data = _json_report(path)
    if data is None:
        return _of_sqlite(path, lambda file: _saved_in(path, file, recording))
    report = report_in(data, path)
    return Saved(path, msgspec.structs.replace(report, saved_at=report.saved_at or report.started_at))


def written_report(path: Path) -> tuple[bytes | bytearray, Manifest | None]:
    """Return the report of a saved file as JSON, not decoded, and the manifest, which a report as JSON has not. The
    checksums of both were verified; a recording was not read. Raises SavedError as `open_saved` does."""
    data = _json_report(path)
    return _of_sqlite(path, lambda file: _report_alone(path, file)) if data is None else (data, None)


def report_in(data: bytes, path: object) -> Report:
    """Decode the report of the file `path`, with impossible facts Unknown, without impossible situations and sessions.

    Raises SavedError where it is no report, or exceeds a limit.
    """
    with refused_as_report(path):
        outline = msgspec.json.decode(data, type=_Outline)
        refuse_newer(outline.schema, path)
        if not settings_fit(outline.settings):
            raise SavedError(f"{path} was not read: its settings are too large or too deep for racwire's own.")
        if has_a_number_without_end(data):
            raise SavedError(f"{path} could not be read: a number in it is larger than anything that is counted.")
        report = from_json(data)
    refuse_long_lists(report, path)
    report = without_impossible_sessions(without_impossible_situation(report))
    cluster = without_impossible(report.cluster, is_redacted=report.is_redacted)
    return report if cluster is report.cluster else msgspec.structs.replace(report, cluster=cluster)


def refuse_long_lists(report: Report, path: object) -> None:
    """Raise SavedError where a list of the report is longer than any that racwire writes."""
    if too_long := too_long_list(report):
        what, count, most = too_long
        raise SavedError(
            f"{path} was not opened: it has {count:,} {what}, and no report that racwire writes has more than "
            f"{most:,}; ask the person who sent it."
        )


@contextmanager
def refused_as_report(path: object) -> Iterator[None]:
    """Raise SavedError in place of the errors of decoding the report of the file `path`."""
    try:
        yield
    except msgspec.DecodeError as error:
        if isinstance(error, msgspec.ValidationError):
            raise _unlike_a_report(path, error) from None
        raise damaged(path) from None
    except (ValueError, RecursionError) as error:
        raise _unlike_a_report(path, error) from None


def refuse_newer(schema: str, path: object) -> None:
    """Raise SavedError where the report of the file `path` has the schema of a newer racwire."""
    if schema not in (SCHEMA, SCHEMA_OF_0_2_0) and re.fullmatch(r"racwire-report/\d{1,4}", schema):
        raise newer(path, schema, SCHEMA)


def _unlike_a_report(path: object, error: Exception) -> SavedError:
    cause = error.__cause__ if error.__cause__ is not None else error
    why = "it is nested too deep" if isinstance(cause, RecursionError) else str(cause)[:200]
    return SavedError(
        f"{path} has no report that this racwire can read: {why}; open it with the racwire that wrote it."
    )


def _open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading: a pipe or device could be endless. Raises SavedError for other files."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "this is no file name"
        raise SavedError(f"{path} could not be read: {why}.") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise SavedError(f"{path} is no regular file: name a saved file, or a report as JSON.")
    return os.fdopen(handle, "rb")


def _kind_in(file: BinaryIO) -> str:
    beginning = file.read(_BEGINNING)
    if beginning.startswith(_SQLITE):
        return _IDS.get(beginning[68:72], "")
    return "report" if as_utf8(beginning).lstrip().startswith(b"{") else ""


def _json_report(path: Path) -> bytes | None:
    """A report as JSON in UTF-8; None for a saved file. Raises SavedError for other files."""
    with _open_regular(path) as file:
        match _kind_in(file):
            case "recording":
                shown = shell("racwire open {file}", file=str(path))
                raise SavedError(f"{path} is a recording without a report; `{shown}` displays it.")
            case "report":
                file.seek(0)
                return as_utf8(_all_of(path, file))
            case "":
                raise foreign(path)
    return None


def _all_of(path: Path, file: BinaryIO) -> bytes:
    try:
        data = file.read(REPORT_BYTES + 1)
    except OSError as error:
        raise SavedError(f"{path} could not be read: {error.strerror}.") from None
    if len(data) > REPORT_BYTES:
        raise SavedError(f"{path} was not read: it has over {REPORT_BYTES / 1e6:.0f} MB, more than any report.")
    return data


def _dated(report: Report, manifest: Manifest) -> Report:
    return msgspec.structs.replace(report, saved_at=manifest.saved_at or report.saved_at or report.started_at)


def _of_sqlite(path: Path, read: Callable[[sqlite3.Connection], _Read]) -> _Read:
    """Read an SQLite file, and close it where that fails. Raises SavedError."""
    try:
        file = open_file(path, saved_too=True)
    except ForeignFileError:
        raise damaged(path) from None
    except RecordingError as error:
        raise SavedError(str(error)) from None
    try:
        return read(file)
    except sqlite3.Error as error:
        file.close()
        raise SavedError(str(unreadable(path, error))) from None
    except (RecordingError, zlib.error, ValueError, TypeError, OverflowError):
        file.close()
        raise damaged(path) from None
    except BaseException:
        file.close()
        raise


def _report_alone(path: Path, file: sqlite3.Connection) -> tuple[bytes | bytearray, Manifest | None]:
    manifest = _manifest_in(path, file)
    data = _inflated(path, file, manifest, _most_bytes(path))
    file.close()
    return data, manifest


def _manifest_in(path: Path, file: sqlite3.Connection) -> Manifest:
    row = file.execute("SELECT body FROM manifest LIMIT 1").fetchone()
    if row is None or not isinstance(row[0], str) or len(row[0]) > MANIFEST_BYTES:
        raise damaged(path)
    return decode(row[0].encode(), path)


def _most_bytes(path: Path) -> int:
    """The values of an intact file do not overlap, so reading them returns no more bytes than the file has."""
    return 2 * path.stat().st_size


def _saved_in(path: Path, file: sqlite3.Connection, with_recording: bool) -> Saved:
    manifest, most = _manifest_in(path, file), _most_bytes(path)
    report = _dated(report_in(bytes(_inflated(path, file, manifest, most)), path), manifest)
    if (RECORDING in manifest.members) != has_traffic(file):
        raise damaged(path)
    if not with_recording or RECORDING not in manifest.members:
        file.close()
        return Saved(path, report)
    recording, proof = Recording(path, file), Proof()
    for row in recording.rows():
        _add(path, proof, row, most)
    if manifest.members[RECORDING] != proof.member:
        raise damaged(path)
    return Saved(path, report, recording)


def _inflated(path: Path, file: sqlite3.Connection, manifest: Manifest, most: int) -> bytearray:
    """The report, with its checksum verified. Raises SavedError where it is damaged or too large."""
    proof, inflating, data = Proof(), zlib.decompressobj(), bytearray()
    for row in rows_in(file, (REPORT,)):
        _add(path, proof, row, most)
        (_, body) = row[1]
        if not isinstance(body, bytes):
            raise damaged(path)
        # In small parts: of large ones, the kernel clears the memory anew for each file of a fleet.
        while part := inflating.decompress(body, _PART):
            data += part
            body = inflating.unconsumed_tail
            if len(data) > REPORT_BYTES:
                raise SavedError(
                    f"racwire did not open {path}: its report decompresses to over {REPORT_BYTES:,} bytes, more than "
                    "racwire saves. Ask the person who sent the file."
                )
    if not inflating.eof or inflating.unused_data or manifest.members.get(REPORT) != proof.member:
        raise damaged(path)
    return data


def _add(path: Path, proof: Proof, row: Row, most: int) -> None:
    proof.add(row)
    if proof.member.bytes > most:
        raise damaged(path)
