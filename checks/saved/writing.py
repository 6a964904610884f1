"""Saving evidence: one zip, written whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec

from checks.model.journal import now
from checks.model.report import Report
from checks.report.json_report import to_json
from checks.run.versions import versions
from checks.saved.errors import SavedError
from checks.saved.manifest import (
    FORMAT,
    MANIFEST,
    RECORDING,
    RECORDING_BYTES,
    REPORT,
    REPORT_BYTES,
    Manifest,
    Member,
    encode,
)
from checks.traffic.recording import Recording, RecordingError
from checks.whole_files import whole_file

_CHUNK = 1_000_000
_EARLIEST, _LATEST = (1980, 1, 1, 0, 0, 0), (2107, 12, 31, 23, 59, 58)
"""The times that a zip can tell; the clock of a node that lost it may stand at 1970."""


def save(path: Path, report: Report, recording: Path | None, *, replace: bool) -> None:
    """Save a report, and a recording where there is one, which may be being written.

    What was opened from a saved file keeps the time at which that was saved: the evidence is as old as it was. Raises
    OutputError where the file cannot be written, SavedError where the recording cannot be put into it.
    """
    with (
        _snapshot(recording) as source,
        whole_file(path, replace=replace) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        members = {REPORT: _add_bytes(archive, REPORT, _as_json(report))}
        if source is not None:
            members[RECORDING] = _add_file(archive, RECORDING, source)
        manifest = Manifest(
            format=FORMAT,
            racwire_version=versions()["racwire"],
            saved_at=report.saved_at or now(),
            is_redacted=report.is_redacted,
            members=members,
        )
        _add_bytes(archive, MANIFEST, encode(manifest))


def _as_json(report: Report) -> bytes:
    data = to_json(msgspec.structs.replace(report, saved_at=""))
    if len(data) > REPORT_BYTES:
        raise SavedError(
            f"The report has {len(data) / 1e6:,.0f} MB, and a saved file takes {REPORT_BYTES / 1e6:.0f} MB: save fewer "
            "checks at once, by name."
        )
    return data


def _add_bytes(archive: zipfile.ZipFile, name: str, data: bytes) -> Member:
    archive.writestr(_entry(name), data)
    return Member(len(data), hashlib.sha256(data).hexdigest())


def _add_file(archive: zipfile.ZipFile, name: str, source: BinaryIO) -> Member:
    size, digest = 0, hashlib.sha256()
    with archive.open(_entry(name), "w") as member:
        while chunk := source.read(_CHUNK):
            size += len(chunk)
            digest.update(chunk)
            member.write(chunk)
    return Member(size, digest.hexdigest())


def _entry(name: str) -> zipfile.ZipInfo:
    """A member that unzips as a file which others cannot read."""
    entry = zipfile.ZipInfo(name, min(max(_EARLIEST, time.localtime()[:6]), _LATEST))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o100600 << 16
    return entry


@contextmanager
def _snapshot(recording: Path | None) -> Iterator[BinaryIO | None]:
    """The recording as it is at one moment, though it may be being written: a copy by SQLite, proved to be readable.
    Raises SavedError."""
    if recording is None:
        yield None
        return
    try:
        directory = tempfile.mkdtemp(prefix="racwire-")
    except OSError as error:
        raise _not_copied(recording, error) from None
    try:
        copy = Path(directory) / RECORDING
        _copy(recording, copy)
        file = copy.open("rb")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    with file:
        yield file


def _copy(recording: Path, target: Path) -> None:
    try:
        size = recording.stat().st_size
        if size > RECORDING_BYTES:
            raise SavedError(
                f"{recording} has {size / 1e9:.1f} GB, and a saved file takes a recording of "
                f"{RECORDING_BYTES / 1e9:.0f} GB at most: keep it beside the file."
            )
        with closing(Recording.open(recording)) as source:
            if shutil.disk_usage(target.parent).free < size:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            source.copy_to(target)
    except RecordingError as error:
        raise SavedError(str(error)) from None
    except OSError as error:
        raise _not_copied(recording, error) from None


def _not_copied(recording: Path, error: OSError) -> SavedError:
    return SavedError(
        f"{recording} could not be copied to {tempfile.gettempdir()}: {error.strerror}; set TMPDIR to a directory with "
        "more room."
    )
