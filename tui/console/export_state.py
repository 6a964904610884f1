"""The state of the Report screen: the report, the file in progress, and the written files."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from itertools import count
from pathlib import Path

import msgspec

from checks.model.report import Report
from checks.model.situation import Situation
from checks.model.wording import counted, few
from tui.console.run_state import RunState
from tui.text.home_path import with_path

SAVED = "saved file"
"""The name of the saved file in the list of formats."""
SAVED_ENDING = ".racwire"


class ReportState(msgspec.Struct, frozen=True):
    """The report as it would be written now."""

    report: Report | None
    """None before the first facts and findings."""
    is_whole: bool
    """Whether every check of its run has concluded."""
    pending: tuple[str, ...]
    """The checks that have not concluded yet, for an incomplete report."""
    completeness: str
    """How complete the report is; a sentence."""


def report_state(board: RunState, situation: Situation) -> ReportState:
    """Return what is known, with the situation of this moment; before the first run has finished, the incomplete
    report."""
    if board.report is None:
        completeness = board.trouble or "There are no findings yet: the checks are starting."
        return ReportState(None, False, (), completeness)
    report = msgspec.structs.replace(board.report, situation=situation)
    if not board.running and not board.is_whole:
        return ReportState(report, False, (), f"{board.trouble} The findings up to then can be written.")
    if not board.running:
        return ReportState(report, True, (), f"{board.trouble} Every check has concluded{_but(report)}.".strip())
    if board.is_whole:
        known = f"until they conclude, this is the run of {report.started_at[11:19]}"
        return ReportState(report, True, (), f"The checks are running again; {known}{_but(report)}.")
    have = "has" if len(board.pending) == 1 else "have"
    completeness = f"{counted(len(board.pending), 'check')} {have} not concluded yet: {few(board.pending)}."
    return ReportState(report, False, board.pending, f"{completeness} A report written now says so.")


def _but(report: Report) -> str:
    """Return what the finished checks do not cover any more, to be added to a sentence."""
    lost, new = len(report.not_known), len(report.situation.new) if report.situation else 0
    parts = [f"; {counted(lost, 'result')} {'is' if lost == 1 else 'are'} not known any longer"] if lost else []
    parts += [f"; {counted(new, 'event')} {'is' if new == 1 else 'are'} new since"] if new else []
    return "".join(parts)


# --- requests of the operator -----------------------------------------------------------------------------------------


class FindDirectory(msgspec.Struct, frozen=True):
    """Find out where files can be written, when the screen opens."""


class WriteReport(msgspec.Struct, frozen=True):
    """Write the report."""

    form: str
    """A name of `tui.cli.report_formats.FORMATS`, or `SAVED`."""
    is_redacted: bool


class WriteEvents(msgspec.Struct, frozen=True):
    """Write a list of events to a text file."""

    text: str


ExportRequest = FindDirectory | WriteReport | WriteEvents


# --- reports of the worker --------------------------------------------------------------------------------------------


class Where(msgspec.Struct, frozen=True):
    """Where files are written."""

    directory: Path
    mapping: Path
    """The file with the pseudonyms."""
    recorded: str
    """The samples that an open recording or saved state contains; a sentence. Empty for the live cluster."""


class Writing(msgspec.Struct, frozen=True):
    """A file is being written."""

    progress: str


class Written(msgspec.Struct, frozen=True):
    """A file was written."""

    path: Path
    size_bytes: int
    at: datetime
    is_redacted: bool = False
    """Whether names in it are pseudonyms."""


class NotWritten(msgspec.Struct, frozen=True):
    """No file was written; `reason` is a sentence."""

    reason: str
    at: datetime


ExportNews = Where | Writing | Written | NotWritten


class ExportState:
    """The files of the report: `apply` updates it, the screen only reads it."""

    def __init__(self) -> None:
        self.directory: Path | None = None
        """Where files are written; None until that is known."""
        self.mapping: Path | None = None
        """The file with the pseudonyms; None until that is known."""
        self.recorded = ""
        """The samples that an open recording or saved state contains; a sentence, once that is known."""
        self.progress = ""
        """The progress of the file in progress; empty where there is none."""
        self.done: tuple[Written | NotWritten, ...] = ()
        """The files written since racwire was started, and the failures; the newest first."""

    def apply(self, news: ExportNews) -> str:
        """Apply news. Return a notice for the operator; empty where there is none."""
        match news:
            case Where():
                self.directory, self.mapping, self.recorded = news.directory, news.mapping, news.recorded
            case Writing(progress=progress):
                self.progress = progress
            case Written() | NotWritten():
                self.progress = ""
                self.done = (news, *self.done)
                return with_path(news.path, "Written to {}", "{}") if isinstance(news, Written) else news.reason
        return ""

    def free(self, path: Path) -> Path:
        """Return that path, with a number where this console has written it already. Files from before are noticed when
        the file is written."""
        taken = {done.path for done in self.done if isinstance(done, Written)}
        return new_name(path.parent, path.stem, path.suffix, taken.__contains__)


def new_name(directory: Path, stem: str, ending: str, is_taken: Callable[[Path], bool]) -> Path:
    """Return the first free path of that name: without a number, else with one."""
    names = (f"{stem}{f'-{number}' if number > 1 else ''}{ending}" for number in count(1))
    return next(path for name in names if not is_taken(path := directory / name))


def has_pseudonyms(report: Report, is_redacted: bool) -> bool:
    """Return whether a file of the report contains pseudonyms: requested ones, or those of the report itself."""
    return is_redacted or report.is_redacted


def stem_of(report: Report, is_redacted: bool) -> str:
    """Return the file name of a report without its ending: the start of its run in the zone of the cluster, and
    `-redacted` where it has pseudonyms."""
    marked = "-redacted" if has_pseudonyms(report, is_redacted) else ""
    try:
        started = datetime.fromisoformat(report.started_at)
    except ValueError:
        return f"racwire-report{marked}"  # of a saved file that was edited by hand
    return f"racwire-{started:%Y%m%d-%H%M%S}{marked}"
