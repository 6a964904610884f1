"""The state of the console. The app updates it; the screens only draw it."""

from __future__ import annotations

from datetime import datetime, tzinfo
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from checks.model.facts import Cluster
from checks.model.report import Report
from checks.model.situation import Situation
from checks.report.age import zone_of
from checks.report.standing_text import Clock, clock_in
from checks.traffic.samples import InstancesPace
from checks.traffic.timeline import Timeline
from tui.console.change_state import ChangeState, JournalsRead
from tui.console.check_list import CheckList
from tui.console.event_state import EventState
from tui.console.export_state import ExportState
from tui.console.investigation_state import InvestigationState
from tui.console.measure_state import MeasureState
from tui.console.past import Past
from tui.console.presets import Presets
from tui.console.run_state import RunState
from tui.console.situation_state import SituationState

if TYPE_CHECKING:
    from checks.model.run_record import RunRecord
    from checks.traffic.recording_runs import RecordedLine
    from tui.console.past_moments import PastMoments


class News(Enum):
    """The part of the state that changed, so that a screen redraws no more than that."""

    PROGRESS = auto()
    """The progress of the run of the checks."""
    RUN = auto()
    """Findings or facts of the run."""
    SAMPLES = auto()
    """Samples of the live feed, or its state."""
    CHANGE = auto()
    """The state of a change, or of the work on it."""
    REPORT = auto()
    """The files of the report."""
    EVENTS = auto()
    """The events of the cluster."""
    MOMENT = auto()
    """The moment that is shown of a recording."""
    MEASURE = auto()
    """The plans and results of measurements, and what is being sent."""


class FeedState(msgspec.Struct):
    """State of the live feed."""

    interval_s: float = 1.0
    past: Past | None = None
    """The saved state or recording that the console displays instead of the live cluster; None for the cluster."""
    is_running: bool = False
    trouble: str = ""
    """Why the feed failed; empty where it did not fail."""
    recording: Path | None = None
    """The recording that the feed also writes its samples to; None where there is none."""
    sampler: int = 0
    """The process that takes the samples, another racwire of this user; 0 where this one does."""
    instances_pace: InstancesPace | None = None
    """The present pace of the instances' samples; None before the first one."""

    @property
    def instances_interval_s(self) -> float:
        """Seconds between two samples of the instances; never less than between those of nodes."""
        return max(self.interval_s, self.instances_pace.interval_s if self.instances_pace else 0.0)

    @property
    def pace_text(self) -> str:
        """The interval of the instances' samples with its reason, `every 4 s: 16 instances`; empty where nothing
        changes it."""
        return self.instances_pace.text if self.instances_pace and self.instances_pace.cause else ""

    @property
    def replayed(self) -> str:
        """The name of the open recording or saved state: `recording mtu1500`; `saved 2026-11-20 14:02, 3 d ago`.
        Empty for the live cluster."""
        return self.past.label if self.past else ""

    @property
    def word(self) -> str:
        """The adjective for figures of samples: `live` or `recorded`."""
        return "recorded" if self.replayed else "live"

    @property
    def is_saved(self) -> bool:
        """Whether a saved state is open: it contains the full report of a run, with or without samples."""
        return self.past is not None and self.past.is_saved

    @property
    def held_by(self) -> str:
        """The source of all facts, as the subject of a sentence; empty for the live cluster."""
        return ("The saved state" if self.is_saved else "This recording") if self.replayed else ""


class AppState(msgspec.Struct):
    """The state that the screens draw."""

    run: RunState = msgspec.field(default_factory=RunState)
    timeline: Timeline = msgspec.field(default_factory=Timeline)
    feed: FeedState = msgspec.field(default_factory=FeedState)
    changes: ChangeState = msgspec.field(default_factory=ChangeState)
    exports: ExportState = msgspec.field(default_factory=ExportState)
    events: EventState = msgspec.field(default_factory=EventState)
    measures: MeasureState = msgspec.field(default_factory=MeasureState)
    investigation: InvestigationState = msgspec.field(default_factory=InvestigationState)
    moment: SituationState = msgspec.UNSET  # type: ignore[assignment]
    """The moment that the screens show, and its situation."""
    before_events: str = ""
    """The mode of the screen before the present one; Esc on Events returns to it."""
    graphs: Literal["blocks", "braille"] = "blocks"
    """The style of the graphs, from the settings, else the last choice."""
    presets: Presets = msgspec.field(default_factory=Presets)
    """What the operator chose in earlier sessions."""

    def __post_init__(self) -> None:
        """Make the state that is made from the others."""
        self.moment = SituationState(self.run, self.events, self.changes, self.feed.past)

    def go_to(self, playhead: float | None) -> None:
        """Go to a moment of a recording, or to its end: what its runs and its journal had shown by then counts."""
        self.moment.playhead = playhead
        if not self.feed.is_saved:  # which has one moment
            self._show_moment()

    def take_runs(self, recorded: PastMoments) -> None:
        """Take the runs and the journal of a recording or a saved state, as far as they are judged."""
        self.moment.recorded = recorded
        self._show_moment()

    def _show_moment(self) -> None:
        if (recorded := self.moment.recorded) is None:
            return
        now = self.moment.now
        if recorded.records:
            is_judged = recorded.is_judged(now)
            self.run.show(recorded.histories_at(now) if is_judged else (), is_judged=is_judged)
        self.changes.apply(JournalsRead(recorded.change_at(now)))

    @property
    def report(self) -> Report | None:
        """What is known: the newest facts, with every check judged on them."""
        return self.run.report

    @property
    def reported(self) -> Report | None:
        """The report as it would be written now: what is known, with the situation of this moment; None before the
        first findings."""
        report = self.report
        return None if report is None else msgspec.structs.replace(report, situation=self.situation)

    @property
    def without_runs(self) -> str:
        """That a recording has no runs of the checks, so that the facts of its start are judged; empty elsewhere."""
        past, recorded = self.feed.past, self.moment.recorded
        if past is None or past.is_saved:
            return ""
        if not past.are_runs_recorded:
            return "runs not recorded"
        return "no run recorded" if recorded is not None and not recorded.records else ""

    @property
    def no_run_yet(self) -> str:
        """That no run of a recording had ended by its present moment, a sentence; empty elsewhere."""
        recorded = self.moment.recorded
        if recorded is None or not recorded.records or self.run.running or self.run.history is not None:
            return ""
        return f"No run of the checks had ended by {self.clock(self.moment.now)}."

    @property
    def clock(self) -> Clock:
        """The formatter of times of the situation."""
        return clock_in(self.zone, self.moment.now)

    def ran(self) -> tuple[RunRecord | RecordedLine, ...]:
        """Return what a recording has apart from samples: the finished runs and verified gates, and the lines of the
        followed change's journal."""
        history = self.run.history
        return (*(history.for_recording if history else ()), *self.changes.lines_since(None))

    @property
    def listed(self) -> CheckList | None:
        """What the Checks screen lists; None before the first findings."""
        report, history = self.report, self.run.history
        if report is None:
            return None
        if history is None:
            return CheckList(report, self.situation)
        return CheckList(
            report, self.situation, history.before, history.is_compared,
            tuple(one.report for one in history.gone), self.run.dismissed,
        )  # fmt: skip

    @property
    def situation(self) -> Situation:
        """What holds at this moment, what is over, and what is not known any more."""
        return self.moment.current

    @property
    def zone(self) -> tzinfo | None:
        """The time zone for the times of samples: that of this node; for a saved state or a recording, that of its
        run."""
        if (past := self.feed.past) is not None:
            report = self.report.started_at if self.report else ""
            started_at = report if past.is_saved else past.started_at or report
            return zone_of(started_at) if started_at else None
        return datetime.now().astimezone().tzinfo

    @property
    def cluster(self) -> Cluster | None:
        """The facts of the newest report."""
        return self.report.cluster if self.report else None
