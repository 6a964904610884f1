"""What the console knows by now. The app keeps it up to date; the screens only draw it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import Literal

from checks.facts import Cluster
from checks.result import Report
from checks.traffic.timeline import Timeline
from tui.board import Board
from tui.desk import Desk


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


@dataclass
class FeedState:
    """How the live feed stands."""

    interval_s: float = 1.0
    is_running: bool = False
    trouble: str = ""
    """Why it ended, where it broke down."""
    recording: Path | None = None
    """The file that its samples are also written to."""
    replayed: str = ""
    """What recording is shown instead of samples: its label, or its day."""


@dataclass
class Known:
    """What the screens draw from."""

    board: Board = field(default_factory=Board)
    timeline: Timeline = field(default_factory=Timeline)
    feed: FeedState = field(default_factory=FeedState)
    desk: Desk = field(default_factory=Desk)
    graphs: Literal["blocks", "braille"] = "blocks"
    """How graphs are drawn, as the settings have it."""

    @property
    def report(self) -> Report | None:
        """The newest report: of the run that goes on, or of the last one."""
        return self.board.report or self.board.before

    @property
    def cluster(self) -> Cluster | None:
        """The facts of the newest report."""
        return self.report.cluster if self.report else None
