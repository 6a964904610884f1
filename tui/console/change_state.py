"""The state of the Change screen: the followed change, the work in progress, and the other journals."""

from __future__ import annotations

from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from checks.model.finding import Finding
from checks.model.report import Report
from checks.run.events import CheckConcluded, Event, Gathered, GatherProgress, RunStarted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from checks.change.plan.change_plan import Accepted
    from checks.change.plan.obstacles import Obstacle
    from checks.change.progress.state import Change
    from checks.change.record.change_journal import FoundJournal
    from checks.traffic.recording_runs import RecordedLine


class Doing(Enum):
    """The work on the change in progress."""

    NOTHING = auto()
    READING = auto()
    """The journals are being read for the first time."""
    VERIFYING = auto()
    """The gates of the current step are being checked."""
    PLANNING = auto()
    """All checks run, to make a plan."""
    STARTING = auto()
    """What the current step stops is being read, right before it does."""
    WRITING = auto()
    """A decision is being written to the journal, or the report to a file."""


class Work(msgspec.Struct, frozen=True):
    """The work in progress, and how far it is."""

    doing: Doing = Doing.NOTHING
    progress: str = ""
    found: dict[str, tuple[Finding, ...]] = msgspec.field(default_factory=dict)
    """The findings of the concluded checks, by check."""

    def after(self, event: Event) -> Work:
        """Return the work after one more event of the engine."""
        match event:
            case RunStarted():
                return msgspec.structs.replace(self, progress="starting")
            case GatherProgress():
                return msgspec.structs.replace(self, progress=f"{event.text}  {event.measure}".rstrip())
            case Gathered(text=text):
                return msgspec.structs.replace(self, progress=text)
            case CheckConcluded(check=check, findings=findings):
                return msgspec.structs.replace(self, found={**self.found, check: findings})
        return self


class WantedPlan(msgspec.Struct, frozen=True):
    """What the operator typed for a plan, as the options of `racwire change new`."""

    target: int | None
    reason: str = ""
    """The reason of the change, such as the number of its ticket."""
    switches: tuple[str, ...] = ()
    pair: Literal["", "yes", "no"] = ""
    hypervisors: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


class Refused(msgspec.Struct, frozen=True):
    """Why no plan could be made, and what was typed for it."""

    plan: WantedPlan
    obstacles: tuple[Obstacle, ...]
    accepted: tuple[Accepted, ...] = ()
    """The obstacles that the operator has accepted since, with a reason: for the next attempt."""

    def accepting(self, obstacle: Obstacle, reason: str) -> Refused:
        """Return this refusal with one obstacle accepted."""
        from checks.change.plan.change_plan import Accepted  # late: the first screen does not wait for it

        others = tuple(a for a in self.accepted if (a.code, a.title) != (obstacle.code, obstacle.title))
        return msgspec.structs.replace(self, accepted=(*others, Accepted(obstacle.code, obstacle.title, reason)))

    def reason_for(self, obstacle: Obstacle) -> str:
        """Return why an obstacle was accepted; empty where it is not accepted."""
        return next((a.reason for a in self.accepted if (a.code, a.title) == (obstacle.code, obstacle.title)), "")


# --- reports of the worker --------------------------------------------------------------------------------------------


class JournalsRead(msgspec.Struct, frozen=True):
    """The current content of the journals."""

    change: Change | None
    """The change on the screen; None where there is none."""
    path: Path | None = None
    others: tuple[FoundJournal, ...] = ()
    """All journals in the directory, the newest first."""
    problem: str = ""
    """Why no change can be displayed although there are journals; a sentence."""


class WorkStarted(msgspec.Struct, frozen=True):
    """Work has started."""

    doing: Doing


class WorkProgressed(msgspec.Struct, frozen=True):
    """The engine reported an event."""

    event: Event


class WorkEnded(msgspec.Struct, frozen=True):
    """The work has ended."""

    notice: str = ""
    """A sentence for the operator."""
    report: Report | None = None
    """The report of the run that checked the gates."""
    refused: Refused | None = None
    """The obstacles that prevent the plan."""


class Notice(msgspec.Struct, frozen=True):
    """A sentence for the operator; the work continues."""

    text: str


ChangeNews = JournalsRead | WorkStarted | WorkProgressed | WorkEnded | Notice


# --- requests of the operator -----------------------------------------------------------------------------------------


class Follow(msgspec.Struct, frozen=True):
    """Read the journals when the screen opens, and again whenever another process writes to them."""

    path: Path | None = None
    """The journal to display; None for the followed one, or for the only open one."""
    is_reset: bool = False
    """Whether to stop following the present journal first."""


class CheckGate(msgspec.Struct, frozen=True):
    """Check the gate of the current step."""


class StartStep(msgspec.Struct, frozen=True):
    """Read what a step stops, and write its start."""

    step: str


class WriteChangeReport(msgspec.Struct, frozen=True):
    """Write the report of the displayed change to a file, as `racwire change report` does."""


class MakePlan(msgspec.Struct, frozen=True):
    """Plan and open a change."""

    plan: WantedPlan
    accepted: tuple[Accepted, ...] = ()


class Cancel(msgspec.Struct, frozen=True):
    """Stop the work in progress; nothing is written."""


class Decision(Enum):
    """The decisions of an operator about a change, each with the notice that confirms it."""

    ATTEST = "Attested."
    OVERRIDE = "The gate was overridden; the report will say so."
    NOTE = "Noted."
    ROLL_BACK = "The rollback has started."
    ABANDON = "The change was abandoned."
    SIGN_OFF = "Signed off."


class Decide(msgspec.Struct, frozen=True):
    """Record a decision of the operator."""

    decision: Decision
    by: str
    text: str = ""
    """The reason, or the note."""
    host: str = ""
    """The displayed host, for a step that is attested for each host."""


ChangeRequest = Follow | CheckGate | StartStep | WriteChangeReport | MakePlan | Cancel | Decide


class ChangeState:
    """The known state of changes: `apply` updates it, the screen only reads it."""

    def __init__(self) -> None:
        self.change: Change | None = None
        self.path: Path | None = None
        self.others: tuple[FoundJournal, ...] = ()
        self.problem = ""
        self.work = Work(Doing.READING)
        self.report: Report | None = None
        """The report of the last check of the gates in this console; None where there was none."""
        self.refused: Refused | None = None

    def lines_since(self, before: Change | None) -> Sequence[RecordedLine]:
        """Return the lines of the journal that a state before did not have, for a recording; all of another journal."""
        change = self.change
        if change is None or change is before:
            return ()
        from checks.change.record.recorded_journal import as_recorded

        known = len(before.lines) if before is not None and before.opened == change.opened else 0
        return as_recorded(change.lines[known:])

    @property
    def is_free(self) -> bool:
        """Whether new work can start."""
        return self.work.doing is Doing.NOTHING

    @property
    def open_change(self) -> Change | None:
        """The open change: the displayed one, else another one of the same cluster."""
        shown = self.change
        if shown is not None and not shown.is_open:
            changes = (found.change for found in self.others if found.change is not None)
            return next((one for one in changes if one.is_open and one.opened.cluster == shown.opened.cluster), None)
        return shown

    @property
    def place(self) -> str:
        """Where the open change is, for the first line of every screen: `change 6/15`; empty without an open change."""
        if (change := self.open_change) is None:
            return ""
        from checks.change.progress.change_text import place_of  # late: most sessions have no change

        return place_of(change)

    def farewell(self, command: str = "racwire change") -> str:
        """Return the sentence for an operator who quits in the middle of a change; `command` continues the change.
        Empty where no change is open."""
        if self.change is None or not self.change.is_open:
            return ""
        step, plan = self.change.current, self.change.plan
        where = f"step {plan.position(step.id) + 1} of {len(plan.steps)}, {step.title}" if step else "its end"
        return f"The change {plan.id} is at {where}; `{command}` continues it."

    def apply(self, news: ChangeNews) -> str:
        """Apply news. Return a notice for the operator; empty where there is none."""
        match news:
            case JournalsRead():
                self._read(news)
            case WorkStarted(doing=doing):
                self.work, self.refused = Work(doing, "starting"), None
            case WorkProgressed(event=event):
                self.work = self.work.after(event)
            case WorkEnded():
                self.work = Work()
                self.report = news.report or self.report
                self.refused = news.refused
                return news.notice
            case Notice(text=text):
                return text
        return ""

    def _read(self, news: JournalsRead) -> None:
        if news.path != self.path:
            self.report = None
        self.change, self.path = news.change, news.path
        self.others, self.problem = news.others, news.problem
        if self.change is not None:
            self.refused = None
        if self.work.doing is Doing.READING:
            self.work = Work()
