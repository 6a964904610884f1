"""What the Report screen draws from: which report there is to hand on, what is being written of it, and what was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path

from checks.model.report import Report
from checks.model.wording import counted, few
from tui.console.run_state import RunState
from tui.console.takeaway import short

SAVED = "saved file"
"""What the saved file is called beside the formats of the report."""
SAVED_ENDING = ".racwire"


@dataclass(frozen=True)
class ReportState:
    """The report as it would be written now."""

    report: Report | None
    """None where nothing has been found yet."""
    is_whole: bool
    """Whether every check of its run has concluded."""
    pending: tuple[str, ...]
    """Of one that is not whole, the checks that have yet to conclude."""
    completeness: str
    """How complete it is; a sentence."""


def report_state(board: RunState) -> ReportState:
    """The newest report in which every check has concluded; before there is one, what is known by now."""
    report = board.in_header
    if report is None:
        told = board.trouble or "There are no findings yet: the checks are starting."
        return ReportState(None, False, (), told)
    if not board.running and not board.is_whole:
        return ReportState(report, False, (), f"{board.trouble} The findings up to then can be written.")
    if not board.running:
        return ReportState(report, True, (), "Every check has concluded.")
    if report is not board.report or board.is_whole:
        told = f"The checks are running again; until they conclude, this is the run of {report.started_at[11:19]}."
        return ReportState(report, True, (), told)
    have = "has" if len(board.pending) == 1 else "have"
    told = f"{counted(len(board.pending), 'check')} {have} not concluded yet: {few(board.pending)}."
    return ReportState(report, False, board.pending, f"{told} A report written now says so.")


# --- what the operator wants ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LookWhere:
    """The screen is shown: find out where files can be written."""


@dataclass(frozen=True)
class WriteReport:
    """Write the report."""

    form: str
    """A name of `tui.cli.report_formats.FORMATS`, or `SAVED`."""
    is_redacted: bool


ExportRequest = LookWhere | WriteReport


# --- what the work behind the screen tells ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Where:
    """Where files are written."""

    directory: Path
    mapping: Path
    """What pseudonyms are kept in."""
    recorded: str
    """Where a recording is shown, or what was saved, what samples it holds; a sentence."""


@dataclass(frozen=True)
class Writing:
    """Something is being written, and how far that is."""

    words: str


@dataclass(frozen=True)
class Written:
    """A file was written."""

    path: Path
    size_bytes: int
    at: datetime
    is_redacted: bool = False
    """Whether names in it are pseudonyms."""


@dataclass(frozen=True)
class NotWritten:
    """Nothing was written; a sentence says why."""

    reason: str
    at: datetime


ExportNews = Where | Writing | Written | NotWritten


class ExportState:
    """What was written of the report: kept up to date by `apply`; the screen only reads it."""

    def __init__(self) -> None:
        self.directory: Path | None = None
        """Where files are written; None while that is being found out."""
        self.mapping: Path | None = None
        """Where pseudonyms are kept, once that is known too."""
        self.recorded = ""
        """Where a recording is shown, or what was saved, what samples it holds; a sentence, once that is known."""
        self.progress = ""
        """What is being written, and how far that is; empty where nothing is."""
        self.done: tuple[Written | NotWritten, ...] = ()
        """What was written since racwire was started, and what could not be; the newest first."""

    def apply(self, news: ExportNews) -> str:
        """Take over one piece of news. Returns what to say to the operator, where there is something to say."""
        match news:
            case Where():
                self.directory, self.mapping, self.recorded = news.directory, news.mapping, news.recorded
            case Writing(words=words):
                self.progress = words
            case Written() | NotWritten():
                self.progress = ""
                self.done = (news, *self.done)
                return f"Written to {short(news.path)}" if isinstance(news, Written) else news.reason
        return ""

    def free(self, path: Path) -> Path:
        """That file, or with a number where one was written since racwire was started: files that were there before
        are seen when it is written."""
        taken = {done.path for done in self.done if isinstance(done, Written)}
        return new_name(path.parent, path.stem, path.suffix, taken.__contains__)


def new_name(directory: Path, stem: str, ending: str, is_taken: Callable[[Path], bool]) -> Path:
    """The first file of that name, or with a number after it, that is not there."""
    names = (f"{stem}{f'-{number}' if number > 1 else ''}{ending}" for number in count(1))
    return next(path for name in names if not is_taken(path := directory / name))


def has_pseudonyms(report: Report, is_redacted: bool) -> bool:
    """Whether a file of the report has pseudonyms for names, where they are wanted or not."""
    return is_redacted or report.is_redacted


def stem_of(report: Report, is_redacted: bool) -> str:
    """What the file of a report is called, without its ending: by when its run began, in the zone of the cluster; and
    whether it can be handed to others."""
    marked = "-redacted" if has_pseudonyms(report, is_redacted) else ""
    try:
        begun = datetime.fromisoformat(report.started_at)
    except ValueError:
        return f"racwire-report{marked}"  # of a saved file, which somebody may have written by hand
    return f"racwire-{begun:%Y%m%d-%H%M%S}{marked}"
