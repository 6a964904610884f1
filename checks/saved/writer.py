"""Save evidence to one SQLite file, which is written whole or not at all."""

from __future__ import annotations

import math
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext
from pathlib import Path

import msgspec

from checks.model.journal import now
from checks.model.report import Report
from checks.report.json_report import to_json
from checks.run.versions import versions
from checks.saved.manifest import FORMAT, RECORDING, REPORT, REPORT_BYTES, Manifest, Member, Proof, SavedError, encode
from checks.traffic.recording import Recording, RecordingError
from checks.traffic.recording_file import (
    LAYOUTS,
    SAVED_ID,
    SAVED_LAYOUT,
    SCHEMA,
    Row,
    add_row,
    connect,
    lay_out,
    sqlite_reason,
)
from checks.whole_files import OutputError, OutputFile, whole_path

_CHUNK = 1_000_000
_PAGE_BYTES, _SMALL_PAGE_BYTES = 8192, 1024
_LARGE = 1_000_000
"""Bytes of a recording above which large pages make the smaller file: each table has at least one page."""


def save(output: OutputFile, report: Report, recording: Path | None) -> None:
    """Save a report and its recording, if there is one; the recording may still be running.

    The file has one moment, that of the report's situation: what the recording has from later is left out. A report
    without a situation is saved with the whole recording.
    A report from a saved file keeps its time of saving, because the evidence has that age. Raises OutputError where the
    file cannot be written, SavedError where the recording cannot be copied into the file.
    """
    data = _as_json(report)
    with (
        nullcontext() if recording is None else closing(_opened(recording)) as traffic,
        whole_path(output) as temporary,
    ):
        try:
            with closing(connect(temporary, "rw")) as file:
                _write(file, report, data, traffic)
        except sqlite3.Error as error:
            raise OutputError(f"{output} could not be written: {sqlite_reason(error)}; no file was left.") from error


def _as_json(report: Report) -> bytes:
    data = to_json(msgspec.structs.replace(report, saved_at=""))
    if len(data) > REPORT_BYTES:
        raise SavedError(
            f"The report has {len(data) / 1e6:,.0f} MB, more than the {REPORT_BYTES / 1e6:.0f} MB of a saved file: "
            "name fewer checks to save."
        )
    return data


def _opened(recording: Path) -> Recording:
    try:
        return Recording.open(recording)
    except RecordingError as error:
        raise SavedError(str(error)) from None


def _write(file: sqlite3.Connection, report: Report, data: bytes, traffic: Recording | None) -> None:
    """Write all parts to the file. Raises sqlite3.Error, SavedError."""
    is_large = traffic is not None and traffic.path.stat().st_size > _LARGE
    file.execute(f"PRAGMA page_size = {_PAGE_BYTES if is_large else _SMALL_PAGE_BYTES}")
    # An incomplete file is removed, so SQLite needs no journal to restore its contents.
    file.execute("PRAGMA journal_mode = OFF")
    file.execute("PRAGMA synchronous = OFF")
    file.execute("BEGIN")
    if traffic is None:
        lay_out(file, SAVED_ID, SCHEMA, SAVED_LAYOUT)
    else:
        lay_out(file, SAVED_ID, traffic.schema, LAYOUTS[traffic.schema] | SAVED_LAYOUT)
    members = {REPORT: _add(file, _parts(data))}
    if traffic is not None:
        members[RECORDING] = _add(file, _rows(traffic, report.situation.at if report.situation else math.inf))
    manifest = Manifest(
        format=FORMAT,
        racwire_version=versions()["racwire"],
        saved_at=report.saved_at or now(),
        is_redacted=report.is_redacted,
        members=members,
    )
    file.execute("INSERT INTO manifest (body) VALUES (?)", (encode(manifest.sealed()).decode(),))
    file.execute("COMMIT")


def _add(file: sqlite3.Connection, rows: Iterable[Row]) -> Member:
    proof = Proof()
    for row in rows:
        proof.add(row)
        add_row(file, row)
    return proof.member


def _parts(data: bytes) -> Iterator[Row]:
    """The compressed report, in rows."""
    packed = zlib.compress(data)
    for part, begin in enumerate(range(0, len(packed), _CHUNK)):
        yield "report", (part, packed[begin : begin + _CHUNK])


def _rows(traffic: Recording, until: float) -> Iterator[Row]:
    """The rows of the recording until a moment. Raises SavedError where it cannot be read."""
    try:
        yield from traffic.rows(until)
    except RecordingError as error:
        raise SavedError(str(error)) from None
