"""What the console knows by now. The app keeps it up to date; the screens only draw it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from checks.model.facts import Cluster
from checks.model.report import Report
from checks.report.age import zone_of
from checks.traffic.timeline import Timeline
from tui.console.change_state import ChangeState
from tui.console.export_state import ExportState
from tui.console.run_state import RunState

if TYPE_CHECKING:
    from tui.console.live import Past


class News(Enum):
    """What became known, so that a screen can draw no more than that."""

    PROGRESS = auto()
    """How far the run of the checks is."""
    RUN = auto()
    """Findings or facts of the run."""
    SAMPLES = auto()
    """Samples of the live feed, or its state."""
    CHANGE = auto()
    """Where a change stands, or what is being done for it."""
    REPORT = auto()
    """What is written of the report."""


@dataclass
class FeedState:
    """How the live feed stands."""

    interval_s: float = 1.0
    past: Past | None = None
    """What is shown instead of the cluster as it is now."""
    is_running: bool = False
    trouble: str = ""
    """Why it ended, where it broke down."""
    recording: Path | None = None
    """The file that its samples are also written to."""

    @property
    def replayed(self) -> str:
        """What is shown instead of the cluster as it is now: `recording mtu1500`; `saved 2026-11-20 14:02, 3 d ago`.
        Empty where it is the cluster."""
        return self.past.words if self.past else ""

    @property
    def word(self) -> str:
        """What figures of samples are called."""
        return "recorded" if self.replayed else "live"

    @property
    def is_saved(self) -> bool:
        """Whether that is a saved state: it holds all that a run found, with samples or without."""
        return self.past is not None and self.past.is_saved

    @property
    def held_by(self) -> str:
        """What all that is known is from, to begin a sentence with; empty where the cluster itself is looked at."""
        return ("The saved state" if self.is_saved else "This recording") if self.replayed else ""


@dataclass
class AppState:
    """What the screens draw from."""

    run: RunState = field(default_factory=RunState)
    timeline: Timeline = field(default_factory=Timeline)
    feed: FeedState = field(default_factory=FeedState)
    changes: ChangeState = field(default_factory=ChangeState)
    exports: ExportState = field(default_factory=ExportState)
    graphs: Literal["blocks", "braille"] = "blocks"
    """How graphs are drawn, as the settings have it."""

    @property
    def report(self) -> Report | None:
        """The newest report: of the run that goes on, or of the last one."""
        return self.run.report or self.run.before

    @property
    def zone(self) -> tzinfo | None:
        """The zone that times of samples are told in: this node's; of what was saved or recorded, that of its run."""
        if self.feed.replayed:
            return zone_of(self.report.started_at) if self.report else None
        return datetime.now().astimezone().tzinfo

    @property
    def cluster(self) -> Cluster | None:
        """The facts of the newest report."""
        return self.report.cluster if self.report else None
