"""The worker of the Report screen: it writes files in a thread, because a disk can be slow, and reports to the app."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from textual.app import App
from textual.worker import Worker

from checks.model.report import Report
from checks.model.settings import Settings
from tui.cli.scratch import ScratchDirectory
from tui.console.app_state import AppState
from tui.console.export_state import (
    ExportNews,
    ExportRequest,
    FindDirectory,
    NotWritten,
    Where,
    WriteEvents,
    WriteReport,
    Writing,
    Written,
    has_pseudonyms,
    report_state,
)
from tui.console.messages import ExportReported

if TYPE_CHECKING:
    from checks.traffic.recording import Recording
    from tui.console.report_file import ReportJob

log = logging.getLogger(__name__)

_BUSY = "A report is being written; write the next one when it is done."
_NONE_YET = "There is no report yet: there are no findings so far."


class ExportWorker:
    """Writes one file at a time."""

    def __init__(
        self, app: App[None], state: AppState, settings: Settings, elsewhere: Path, recording: Recording | None
    ) -> None:
        """Create the worker. Files go to the working directory; where that is not writable, to `elsewhere`. A
        `recording` supplies the samples instead of the timeline."""
        self._app = app
        self._state = state
        self._settings = settings
        self._elsewhere = elsewhere
        self._recording = recording
        self._finder: Worker[None] | None = None
        self._worker: Worker[None] | None = None
        self._scratch: ScratchDirectory | None = None
        """The directory for temporary files while a report is written."""
        self._is_stopped = False

    def do(self, want: ExportRequest) -> str:
        """Carry out a request of the operator; return a sentence where that is not possible now."""
        if isinstance(want, FindDirectory):
            if self._finder is None or self._finder.is_finished:  # one thread is enough where a file server is dead
                self._finder = self._app.run_worker(self._find_directory, group="report-where", exit_on_error=False)
            return ""
        if self._is_working:
            return _BUSY
        if isinstance(want, WriteEvents):
            self._start("writing the events", lambda: self._write_events(want))
            return ""
        current = report_state(self._state.run, self._state.situation)
        if current.report is None:
            return _NONE_YET
        report = current.report if current.is_whole else unfinished(current.report, current.pending)
        job = self._job(want, report)
        self._start("making the report", lambda: self._write(job))
        return ""

    def _start(self, progress: str, write: Callable[[], Written]) -> None:
        self._post(Writing(progress))
        self._worker = self._app.run_worker(self._work(write), group="report", exit_on_error=False)

    async def stop(self, within_s: float) -> None:
        """Wait up to `within_s` seconds for the file in progress; one that takes longer is abandoned."""
        with suppress(Exception):
            async with asyncio.timeout(within_s):
                if self._worker is not None and self._is_working:
                    await self._worker.wait()
        self._is_stopped = True
        if self._scratch is not None:
            self._scratch.cleanup()

    @property
    def _is_working(self) -> bool:
        return self._worker is not None and not self._worker.is_finished

    async def _find_directory(self) -> None:
        self._post(await asyncio.to_thread(self._where))

    def _where(self) -> Where:
        """Runs in a thread."""
        from tui.cli.redaction import map_path
        from tui.console.report_file import directories

        return Where(directories(self._elsewhere)[0], map_path(None), self._recorded())

    def _recorded(self) -> str:
        from checks.traffic.recording import RecordingError
        from tui.screens.report.lines import samples_text

        if not self._state.feed.replayed:
            return ""
        try:
            return samples_text(self._recording, self._state.feed, self._state.zone)
        except RecordingError as error:
            return str(error)

    def _job(self, want: WriteReport, report: Report) -> ReportJob:
        from tui.console.background_recorder import header_for
        from tui.console.report_file import ReportJob

        timeline, recording = self._state.timeline, self._recording
        return ReportJob(
            want.form,
            want.is_redacted,
            report,
            timeline.copy() if recording is None and timeline.span() else None,
            recording,
            header_for(report.cluster, self._settings, self._state.feed.interval_s, self._state.feed.instances_pace),
            self._state.ran(),
        )

    async def _work(self, write: Callable[[], Written]) -> None:
        """Write the file in a thread and report how that ended."""
        from tui.console.report_file import Abandoned

        try:
            self._post(await asyncio.to_thread(write))
        except Abandoned:
            return
        except Exception as error:
            self._post(NotWritten(_why(error), datetime.now(self._state.zone)))

    def _write(self, job: ReportJob) -> Written:
        """Runs in a thread."""
        from tui.console.report_file import write_report

        self._scratch = ScratchDirectory()
        with self._scratch as scratch:
            path = write_report(job, scratch, self._elsewhere, self._report_progress)
        return Written(
            path, path.stat().st_size, datetime.now(self._state.zone), has_pseudonyms(job.report, job.is_redacted)
        )

    def _write_events(self, want: WriteEvents) -> Written:
        """Runs in a thread."""
        from tui.console.report_file import write_events

        at = datetime.now(self._state.zone)
        path = write_events(want.text, at, self._elsewhere)
        return Written(path, path.stat().st_size, at)

    def _report_progress(self, progress: str) -> None:
        """Post the progress, from the thread. Raises Abandoned where racwire is quitting."""
        from tui.console.report_file import Abandoned

        if self._is_stopped:
            raise Abandoned
        self._post(Writing(progress))

    def _post(self, news: ExportNews) -> None:
        self._app.post_message(ExportReported(news))


def unfinished(report: Report, pending: tuple[str, ...]) -> Report:
    """Return the report of a run in progress or of a failed run, with an UNKNOWN finding for each check that has not
    concluded."""
    from checks.model.finding import worst_first
    from checks.run.engine_findings import INTERRUPTED

    not_concluded = [
        msgspec.structs.replace(
            INTERRUPTED.finding(f"{check} had not concluded when the report was written.", subject="not concluded"),
            check=check,
        )
        for check in pending
    ]
    findings = tuple(worst_first([*report.findings, *not_concluded]))
    return msgspec.structs.replace(report, interrupted=True, findings=findings)


def _why(error: Exception) -> str:
    """Return why the report was not written: a sentence."""
    from checks.saved import SavedError
    from checks.traffic.recording import RecordingError
    from checks.whole_files import OutputError
    from tui.cli.errors import UsageError

    if isinstance(error, OutputError | RecordingError | SavedError | UsageError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"The report could not be written: {error.strerror}."
    log.error("the report could not be written", exc_info=error)
    return "The report could not be made: internal error in racwire. The details are in the log."
