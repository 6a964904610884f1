"""Opening what was saved: a saved file, or a report as JSON."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import msgspec

from checks.model.report import Report
from checks.report.age import state_now
from checks.saved.container import Container, open_regular
from checks.saved.errors import SavedError
from checks.saved.kind import kind_of
from checks.saved.manifest import RECORDING, RECORDING_BYTES, REPORT, REPORT_BYTES, damaged, foreign
from checks.saved.report_file import report_in
from checks.traffic.recording import Recording, RecordingError

_Directory = tempfile.TemporaryDirectory[str]


class Saved:
    """Evidence that was saved. Close it, or use it in a `with`: its temporary files are removed then."""

    def __init__(
        self, path: Path, report: Report, recording: Recording | None = None, directory: _Directory | None = None
    ) -> None:
        """`directory` is where the recording lies."""
        self.path = path
        self.report = report
        """With `saved_at` set."""
        self.recording = recording
        """The traffic around it; None where none was recorded, or it was not asked for."""
        self._directory = directory

    @property
    def saved_at(self) -> str:
        """When it was saved, in ISO 8601; of a report as JSON, when its run began."""
        return self.report.saved_at

    def told(self, now: datetime) -> str:
        """`saved by racwire 0.1.0: the state of 2026-11-20 14:02:31 +01:00, 3 d ago, saved 2026-11-20 14:05:00 +01:00`,
        where `now` is a time with a zone."""
        return f"saved by racwire {self.report.racwire_version}: the state {state_now(self.report, now)}"

    def close(self) -> None:
        """Can be called twice."""
        if self.recording is not None:
            self.recording.close()
        if self._directory is not None:
            self._directory.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_saved(path: Path, *, recording: bool = True) -> Saved:
    """Open a saved file, or a report as JSON, which has no recording. Raises SavedError.

    The recording is inflated into a private temporary directory (TMPDIR); without `recording` it is not looked at.
    """
    kind = kind_of(path)
    if kind == "recording":
        raise SavedError(f"{path} is a recording, and holds no report; `racwire open {path}` shows it.")
    with open_regular(path) as file:
        if kind == "saved":
            return _saved(path, Container(path, file), recording)
        if kind != "report":
            raise foreign(path)
        report = report_in(_all_of(path, file), path)
    return Saved(path, msgspec.structs.replace(report, saved_at=report.saved_at or report.started_at))


def _saved(path: Path, container: Container, with_recording: bool) -> Saved:
    report = report_in(container.read(REPORT, REPORT_BYTES), path)
    saved_at = container.manifest.saved_at or report.saved_at or report.started_at
    report = msgspec.structs.replace(report, saved_at=saved_at)
    if not with_recording or RECORDING not in container.manifest.members:
        return Saved(path, report)
    try:
        directory = tempfile.TemporaryDirectory(prefix="racwire-")
    except OSError as error:
        raise _no_room(path, error) from None
    try:
        recording = _recording(container, path, Path(directory.name))
    except BaseException:
        directory.cleanup()
        raise
    return Saved(path, report, recording, directory)


def _recording(container: Container, path: Path, directory: Path) -> Recording:
    try:
        declared = container.manifest.members[RECORDING].bytes
        if shutil.disk_usage(directory).free < min(declared, RECORDING_BYTES):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with (directory / RECORDING).open("xb") as copy:
            container.copy(RECORDING, copy, RECORDING_BYTES)
        return Recording.open(directory / RECORDING)
    except OSError as error:
        raise _no_room(path, error) from None
    except RecordingError:
        raise damaged(path) from None


def _all_of(path: Path, file: BinaryIO) -> bytes:
    try:
        data = file.read(REPORT_BYTES + 1)
    except OSError as error:
        raise SavedError(f"{path} could not be read: {error.strerror}.") from None
    if len(data) > REPORT_BYTES:
        raise SavedError(f"{path} could not be read: it has over {REPORT_BYTES / 1e6:.0f} MB, which no report has.")
    return data


def _no_room(path: Path, error: OSError) -> SavedError:
    return SavedError(
        f"The recording in {path} could not be unpacked to {tempfile.gettempdir()}: {error.strerror}; set TMPDIR to a "
        "directory with more room."
    )
