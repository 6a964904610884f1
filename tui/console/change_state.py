"""What the Change screen draws from: the change that is followed, what is done about it now, and what there is else."""

from __future__ import annotations

from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from checks.model.finding import Finding
from checks.model.report import Report
from checks.run.events import CheckConcluded, Event, Gathered, GatherProgress, RunStarted

if TYPE_CHECKING:
    from checks.change.change_journal import FoundJournal
    from checks.change.change_plan import Accepted
    from checks.change.obstacles import Obstacle
    from checks.change.state import Change


class Doing(Enum):
    """What racwire does for the change just now."""

    NOTHING = auto()
    READING = auto()
    """The journals are being read, for the first time."""
    VERIFYING = auto()
    """The gates of the current step are looked at."""
    PLANNING = auto()
    """All checks are run, to make a plan."""
    WRITING = auto()
    """What was decided is written to the journal."""


class Work(msgspec.Struct, frozen=True):
    """What is being done, and how far it is."""

    doing: Doing = Doing.NOTHING
    progress: str = ""
    found: dict[str, tuple[Finding, ...]] = msgspec.field(default_factory=dict)
    """What the checks that have concluded said, by check."""

    def after(self, event: Event) -> Work:
        """How far it is after one more event of the engine."""
        match event:
            case RunStarted():
                return msgspec.structs.replace(self, progress="starting")
            case GatherProgress():
                return msgspec.structs.replace(self, progress=f"{event.text}  {event.measure}".rstrip())
            case Gathered(group=group, problem=problem):
                return msgspec.structs.replace(
                    self, progress=f"{group} not gathered" if problem else f"{group} gathered"
                )
            case CheckConcluded(check=check, findings=findings):
                return msgspec.structs.replace(self, found={**self.found, check: findings})
        return self


class Refused(msgspec.Struct, frozen=True):
    """Why no plan could be made, and to which MTU it was to lead."""

    target: int | None
    obstacles: tuple[Obstacle, ...]
    accepted: tuple[Accepted, ...] = ()
    """Those of them that somebody has accepted since, with a reason: for the next try."""

    def accepting(self, obstacle: Obstacle, reason: str) -> Refused:
        """The same with one of them accepted."""
        from checks.change.change_plan import Accepted  # late: the first screen does not wait for it

        others = tuple(a for a in self.accepted if (a.code, a.title) != (obstacle.code, obstacle.title))
        return msgspec.structs.replace(self, accepted=(*others, Accepted(obstacle.code, obstacle.title, reason)))

    def reason_for(self, obstacle: Obstacle) -> str:
        """Why it was accepted; empty where it is not."""
        return next((a.reason for a in self.accepted if (a.code, a.title) == (obstacle.code, obstacle.title)), "")


# --- what the work behind the screen tells ----------------------------------------------------------------------------


class JournalsRead(msgspec.Struct, frozen=True):
    """What the journals say now."""

    change: Change | None
    """The change that is followed, or looked at; None where there is none."""
    path: Path | None = None
    others: tuple[FoundJournal, ...] = ()
    """All journals that lie in the directory, the newest first."""
    problem: str = ""
    """Why there is no change to see though there are journals; a sentence."""


class WorkBegun(msgspec.Struct, frozen=True):
    """Something is being done."""

    doing: Doing


class WorkGoesOn(msgspec.Struct, frozen=True):
    """The engine told something."""

    event: Event


class WorkEnded(msgspec.Struct, frozen=True):
    """Nothing is being done any more."""

    notice: str = ""
    """A sentence for the operator."""
    report: Report | None = None
    """What a look at the gates read and found."""
    refused: Refused | None = None
    """What stands in the way of a plan."""


class Notice(msgspec.Struct, frozen=True):
    """A sentence for the operator; what is being done goes on."""

    text: str


ChangeNews = JournalsRead | WorkBegun | WorkGoesOn | WorkEnded | Notice


# --- what the operator wants ------------------------------------------------------------------------------------------


class Follow(msgspec.Struct, frozen=True):
    """The screen is shown: read the journals, and again whenever somebody else writes to them."""

    path: Path | None = None
    """The journal to show; None: the one that was followed, or the only open one."""
    afresh: bool = False
    """Leave the journal that was followed."""


class LookAtGate(msgspec.Struct, frozen=True):
    """Look at the gate of the current step."""


class MakePlan(msgspec.Struct, frozen=True):
    """Begin a change."""

    target: int | None
    accepted: tuple[Accepted, ...] = ()


class GiveUp(msgspec.Struct, frozen=True):
    """End what is being done; nothing is written."""


class Decision(Enum):
    """What a person can decide of a change."""

    ATTEST = "Attested."
    OVERRIDE = "The gate was overridden; the report will say so."
    NOTE = "Noted."
    ROLL_BACK = "The rollback has started."
    ABANDON = "The change was abandoned."
    SIGN_OFF = "Signed off."


class Decide(msgspec.Struct, frozen=True):
    """Somebody decides."""

    decision: Decision
    by: str
    text: str = ""
    """The reason, or the note."""


ChangeRequest = Follow | LookAtGate | MakePlan | GiveUp | Decide


class ChangeState:
    """What is known of changes: kept up to date by `apply`; the screen only reads it."""

    def __init__(self) -> None:
        self.change: Change | None = None
        self.path: Path | None = None
        self.others: tuple[FoundJournal, ...] = ()
        self.problem = ""
        self.work = Work(Doing.READING)
        self.report: Report | None = None
        """What the last look at the gates read and found, where it was made from here."""
        self.refused: Refused | None = None

    @property
    def is_free(self) -> bool:
        """Whether something can be begun."""
        return self.work.doing is Doing.NOTHING

    def farewell(self, command: str = "racwire change") -> str:
        """What is said when racwire is left in the middle of a change, which that command goes on with; nothing where
        none goes on."""
        if self.change is None or not self.change.is_open:
            return ""
        step, plan = self.change.current, self.change.plan
        where = f"step {plan.position(step.id) + 1} of {len(plan.steps)}, {step.title}" if step else "its end"
        return f"The change {plan.id} is at {where}; `{command}` continues it."

    def apply(self, news: ChangeNews) -> str:
        """Take over one piece of news. Returns what to say to the operator, where there is something to say."""
        match news:
            case JournalsRead():
                self._read(news)
            case WorkBegun(doing=doing):
                self.work, self.refused = Work(doing, "starting"), None
            case WorkGoesOn(event=event):
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
