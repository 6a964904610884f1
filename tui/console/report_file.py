"""Writes a report to a file: in a format, or as a saved file with all its evidence. Blocking; called in a thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from checks.model.report import Report
from checks.model.run_record import RunRecord
from checks.report.report_evidence import Evidence
from checks.traffic.source_id import SourceKind
from checks.whole_files import OutputError, OutputFile, write_whole
from tui.cli.durations import size_of
from tui.console.export_state import SAVED, SAVED_ENDING, new_name, stem_of
from tui.text.home_path import short

if TYPE_CHECKING:
    from checks.traffic.recording import Header, Recording
    from checks.traffic.recording_runs import RecordedLine
    from checks.traffic.samples import Event
    from checks.traffic.timeline import Timeline


class Abandoned(Exception):  # noqa: N818 - no error
    """racwire is quitting; nothing was written."""


@dataclass(frozen=True)
class ReportJob:
    """A report to write. Its parts are frozen, so that the console can continue meanwhile."""

    form: str
    """A name of `tui.cli.report_formats.FORMATS`, or `SAVED`."""
    is_redacted: bool
    report: Report
    samples: Timeline | None
    """The samples; None where there are none."""
    recording: Recording | None
    """The recording with the samples, where one is open."""
    header: Header
    """The header for a recording of the samples."""
    ran: tuple[RunRecord | RecordedLine, ...] = ()
    """The runs of the session, and the lines of the journal of the open change, for a recording of the samples."""


def write_report(job: ReportJob, scratch: Path, elsewhere: Path, report_progress: Callable[[str], None]) -> Path:
    """Write a report to a new file in the working directory, or in `elsewhere` where that is not writable; return its
    path. `scratch` is an empty directory for temporary files.

    `report_progress` receives the progress; it stops the work by raising `Abandoned`, before anything is written.
    Raises OutputError or SavedError where the file cannot be written, RecordingError where the samples cannot be read,
    and UsageError where the pseudonyms cannot be stored.
    """
    if job.form == SAVED:
        return _save(job, scratch, elsewhere, report_progress)
    from tui.cli.report_formats import FORMATS

    form = FORMATS[job.form]
    evidence = Evidence(job.report, job.recording or job.samples)
    if job.is_redacted:
        from tui.cli.redaction import redacted

        evidence = redacted(evidence, None)
    data = form.write(evidence)

    def write(path: Path) -> None:
        report_progress(f"writing {size_of(len(data))} to {short(path)}")
        write_whole(OutputFile(path), data)

    return to_new_file(stem_of(job.report, job.is_redacted), form.ending, elsewhere, write)


def directories(elsewhere: Path) -> list[Path]:
    """Return the directories to write to: the working directory if it is writable, then `elsewhere`."""
    try:
        here = Path.cwd()
    except OSError:  # it was removed
        return [elsewhere]
    return [here, elsewhere] if os.access(here, os.W_OK | os.X_OK) else [elsewhere]


def write_events(text: str, at: datetime, elsewhere: Path) -> Path:
    """Write a list of events to a new file, as `write_report` does; return its path. Raises OutputError where the file
    cannot be written."""

    def write(path: Path) -> None:
        write_whole(OutputFile(path), text.encode("utf-8", "replace"))

    return to_new_file(f"racwire-events-{at:%Y%m%d-%H%M%S}", ".txt", elsewhere, write)


def to_new_file(stem: str, ending: str, elsewhere: Path, write: Callable[[Path], None]) -> Path:
    """Write a new file to the working directory, or to `elsewhere` where that does not accept it; return its path.
    Raises the error of the first directory where none does."""
    first: OutputError | None = None
    for directory in directories(elsewhere):
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = new_name(directory, stem, ending, os.path.lexists)
            write(path)
        except OutputError as error:
            first = first or error
        except OSError as error:
            first = first or OutputError(f"{directory} cannot be written: {error.strerror}.")
        else:
            return path
    raise first or OutputError("There is no directory to write to.")


def _save(job: ReportJob, scratch: Path, elsewhere: Path, report_progress: Callable[[str], None]) -> Path:
    from checks.saved import save

    report, samples = job.report, _samples(job, scratch / "samples.rec")
    if job.is_redacted and not report.is_redacted:
        from tui.cli.redaction import redact_recording, redacted

        report = redacted(Evidence(report), None).report
        if samples is not None:
            samples = redact_recording(samples, scratch / "redacted.rec", None)

    def write(path: Path) -> None:
        report_progress(f"saving everything to {short(path)}")
        save(OutputFile(path), report, samples)

    return to_new_file(stem_of(job.report, job.is_redacted), SAVED_ENDING, elsewhere, write)


def _samples(job: ReportJob, path: Path) -> Path | None:
    """Return the samples as a recording; None where there are none."""
    if job.recording is not None:
        job.recording.copy_to(path)
        return path
    if job.samples is None:
        return None
    from checks.traffic.recorder import Recorder
    from tui.console.batch_writer import record

    with closing(Recorder.create(path, job.header)) as recorder:
        record(recorder, [*_events(job.samples), *job.ran])
    return path


def _events(samples: Timeline) -> Iterator[Event]:
    """Yield all events; the interfaces of each node first, because its rates are relative to their speed."""
    for source in samples.sources():
        if source.kind is SourceKind.NODE and (links := samples.links(source.name, float("inf"))):
            yield links
    for source in samples.sources():
        yield from samples.window(source, float("-inf"), float("inf"))
