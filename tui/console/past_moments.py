"""What the runs and the journal of an open recording had shown by each of its moments."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from checks.model.run_record import RunRecord

if TYPE_CHECKING:
    from checks.change.progress.state import Change
    from checks.model.check import Check
    from checks.situation.run_history import RunHistory
    from checks.traffic.recording_runs import RecordedLine

log = logging.getLogger(__name__)


class PastMoments:
    """The runs of a recording, folded one after the other as the console did, and its journal. A thread judges; what it
    has judged so far can be read meanwhile."""

    def __init__(self, records: Sequence[RunRecord], journal: Sequence[RecordedLine] = ()) -> None:
        self.records = tuple(records)
        """The runs and verified gates, in the order in which they ended."""
        self._journal = tuple(journal)
        self._histories: list[RunHistory] = []
        """The history after each run that is judged."""
        self._change: tuple[int, Change | None] = (0, None)
        """The change by so many lines of the journal."""

    @property
    def end(self) -> float:
        """When the last run ended or the last line was written, in seconds since 1970; 0 where there is none."""
        return max((*(one.ended for one in self.records[-1:]), *(line.at for line in self._journal)), default=0.0)

    def judge(self, checks: Mapping[str, Check]) -> Iterator[None]:
        """Judge the next run at each step; blocking, seconds for a run of some checks of a large cluster."""
        from checks.situation.run_history import RunHistory

        history = RunHistory()
        for record in self.records:
            try:
                history = history.after(record, checks)
            except Exception:
                log.exception("a run of the recording could not be added to what is known")
            self._histories.append(history)
            yield

    def is_judged(self, now: float, clock_s: float) -> bool:
        """Return whether all runs that had ended by a moment are judged. The moment is by a clock that had been set so
        far, in seconds since the first sample."""
        return self._ended(now, clock_s) <= len(self._histories)

    def histories_at(self, now: float, clock_s: float) -> Sequence[RunHistory]:
        """Return the history after each run that had ended by a moment, as far as it is judged; without those of before
        the first run of all checks."""
        return [one for one in self._histories[: self._ended(now, clock_s)] if one.report is not None]

    def change_at(self, now: float) -> Change | None:
        """Return the change as its journal had it at a moment; None where none had been opened by then, or the journal
        cannot be read."""
        count = sum(line.at <= now for line in self._journal)
        if count != self._change[0]:
            from checks.change.record.change_journal import ChangeJournalError
            from checks.change.record.recorded_journal import change_at

            try:
                change = change_at(self._journal, now)
            except ChangeJournalError as error:
                log.warning("%s", error)
                change = None
            self._change = count, change
        return self._change[1]

    def _ended(self, now: float, clock_s: float) -> int:
        return sum(one.ended - one.clock_s <= now - clock_s for one in self.records)
