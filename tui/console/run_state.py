"""The state of the runs of the checks: the progress of the current one, and what the finished ones have shown."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from checks.model.facts import PathProbe
from checks.model.finding import Key, keyed
from checks.model.investigation import SessionRecord
from checks.model.measurement import Measurement
from checks.model.report import Report
from checks.run.events import CheckConcluded, Event, Gathered, GatherProgress, PathsSoFar, RunFinished, RunStarted
from tui.console.finding_rows import FindingRow, cause_rows

if TYPE_CHECKING:
    from checks.situation.run_history import RunHistory

KEPT_RUNS = 8
"""The most runs of the session that can be revisited."""


class RunState:
    """The run in progress, and the history of the finished ones. A run counts when it has finished: until then, what
    was known before it holds, as of the time at which that was read."""

    def __init__(self) -> None:
        self.history: RunHistory | None = None
        """What the finished runs have shown; None before the first has finished."""
        self.past: deque[RunHistory] = deque(maxlen=KEPT_RUNS)
        """The history after each of the last runs of the session, the newest last."""
        self.running = False
        self.progress = ""
        self.trouble = ""
        self.verified: Key | None = None
        """The key of the row that the last run verified; None where it verified none."""
        self.paths_so_far: tuple[PathProbe, ...] = ()
        """The paths that this run has probed while others are pending."""
        self.dismissed: frozenset[Key] = frozenset()
        """What is over and was dismissed, until it is found again."""
        self._first: Report | None = None
        """The report of the first run while it has not finished."""
        self._checks: tuple[str, ...] = ()
        self._concluded: set[str] = set()
        self._again: tuple[str, ...] = ()

    @property
    def report(self) -> Report | None:
        """What is known: the newest facts, with every check judged on them; before the first run has finished, its
        findings so far."""
        return self.history.report if self.history else self._first

    def start(self, checks: Sequence[str] = (), verified: FindingRow | None = None) -> None:
        """Note the start of a run, of all checks or of some; they may verify a row. Raises ValueError where some checks
        are to run and no run of all has finished."""
        if checks and self.history is None:
            raise ValueError("no finished run to add to")
        self._again, self._checks, self._concluded = tuple(checks), (), set()
        self._first = None
        self.verified = verified.key if verified else None
        self.paths_so_far = ()
        self.running, self.progress, self.trouble = True, "starting", ""

    def apply(self, event: Event, report: Report) -> None:
        """Apply an event and the report of the run at that moment; a run that has finished counts with `finish`."""
        match event:
            case RunStarted(checks=checks):
                self._checks = checks
            case GatherProgress():
                self.progress = f"{event.text}  {event.measure}".rstrip()
                return
            case PathsSoFar(probes=probes):
                self.paths_so_far = probes
                return
            case Gathered(text=text):
                self.progress = text
            case CheckConcluded(check=check):
                self._concluded.add(check)
            case RunFinished():
                self.progress = "judging"
        if self.history is None:
            self._first = report

    def take(self, history: RunHistory) -> None:
        """Take the history with a finished run, or with what the gates of a change have read."""
        self.history, self._first = history, None
        self.dismissed &= {one.key for one in history.gone}

    def show(self, histories: Sequence[RunHistory], *, is_judged: bool) -> None:
        """Show the runs of a recording that had ended by its playhead, as the history after each; or that they are
        being judged."""
        self.history, self._first = histories[-1] if histories else None, None
        self.past = deque(histories, maxlen=KEPT_RUNS)
        self.running, self.progress = not is_judged, "" if is_judged else "judging the recorded runs"

    def finish(self, trouble: str = "") -> None:
        """Note that the run in progress has finished, and counts."""
        self.running, self.trouble = False, trouble
        if self.history is not None:
            self.past.append(self.history)

    def fail(self, reason: str) -> None:
        """Note that the run failed: what was known before it stays."""
        self.running = False
        self.trouble = reason

    def add_measurement(self, measurement: Measurement) -> None:
        """Add the result of a measurement to the report, in place of an older one of its kind."""
        if (report := self.report) is not None:
            others = (one for one in report.measurements if one.kind != measurement.kind)
            self._replace(msgspec.structs.replace(report, measurements=(*others, measurement)))

    def add_session(self, session: SessionRecord) -> None:
        """Add a session of guided troubleshooting to the report, in place of an earlier one."""
        if (report := self.report) is not None:
            self._replace(msgspec.structs.replace(report, sessions=(session,)))

    def _replace(self, report: Report) -> None:
        if self.history is not None:
            self.history = msgspec.structs.replace(self.history, report=report)
        else:
            self._first = report

    def dismiss(self, row: FindingRow) -> bool:
        """Remove from the list what a later run no longer has; return False for any other row: what is over without a
        proof stays."""
        if not row.is_over or self.history is None or row.key in self._known_keys:
            return False
        self.dismissed |= {row.key, *row.keys}
        return True

    @property
    def _known_keys(self) -> set[Key]:
        report = self.report
        if report is None:
            return set()
        return {key for key, _ in keyed(report.findings)} | {row.key for row in cause_rows(report, None)}

    @property
    def is_whole(self) -> bool:
        """Whether a run of all checks has finished, to which single checks can add."""
        return self.history is not None

    @property
    def checks_alone(self) -> tuple[str, ...]:
        """The checks of the last run, where it ran some without the others; empty where it ran all."""
        return self._again

    @property
    def verifying(self) -> int:
        """The number of checks that verify a row at present; 0 where none do."""
        return len(self._again) if self.verified is not None and self.running else 0

    @property
    def pending(self) -> tuple[str, ...]:
        """The checks that have not concluded yet."""
        checks = self._checks or self._again
        return tuple(c for c in checks if c not in self._concluded) if self.running else ()
