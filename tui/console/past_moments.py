"""What an open recording or saved state had shown by each of its moments. Threads read it, and judge its runs one after
the other as the console did."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from textual.app import App

from checks.model.run_record import RunRecord
from tui.console.messages import EventsFound, RunsJudged

if TYPE_CHECKING:
    from checks.change.progress.state import Change
    from checks.model.check import Check
    from checks.situation.run_history import RunHistory
    from checks.traffic.recording_runs import RecordedLine
    from tui.console.past import Past

log = logging.getLogger(__name__)


class PastMoments:
    """The runs of a recording, folded one after the other as the console did, and its journal. A thread judges; what it
    has judged so far can be read meanwhile."""

    def __init__(self, records: Sequence[RunRecord], journal: Sequence[RecordedLine] = ()) -> None:
        self.records = tuple(sorted(records, key=lambda one: one.ended))
        """The runs and verified gates in the order of their end, as the samples of a recording are: by the clock of
        their time."""
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

    def is_judged(self, now: float) -> bool:
        """Return whether all runs that had ended by a moment are judged."""
        return self._ended(now) <= len(self._histories)

    def histories_at(self, now: float) -> Sequence[RunHistory]:
        """Return the history after each run that had ended by a moment, as far as it is judged; without those of before
        the first run of all checks."""
        return [one for one in self._histories[: self._ended(now)] if one.report is not None]

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

    def _ended(self, now: float) -> int:
        return sum(one.ended <= now for one in self.records)


async def read_events(app: App[None], past: Past) -> None:
    """Find the events of a recording, and post them."""
    if past.recording is None:
        return
    from checks.situation.events.watching import EventWatch
    from checks.traffic.recording import RecordingError

    recording, trouble, end = past.recording, "", 0.0
    watch = EventWatch(recording.header.cluster)

    def read() -> None:
        for item in recording.events():
            watch.see(item)

    try:
        span = await asyncio.to_thread(recording.span)
        end = span[1] if span else 0.0
        await asyncio.to_thread(read)
    except RecordingError as error:
        trouble = str(error)
    except Exception:
        log.exception("the events of the recording could not be found")
        trouble = "The events of this recording could not be found; the details are in the log."
    app.post_message(EventsFound(watch, end, trouble))


async def read_runs(app: App[None], past: Past, prepare: Callable[[], Awaitable[None]]) -> None:
    """Read the runs of a recording, and judge them one after the other; post each step. `prepare` loads the modules."""
    from checks.run.check_discovery import discover
    from checks.traffic.recording import RecordingError

    moments, trouble = PastMoments(()), ""
    try:
        await prepare()
        moments = await asyncio.to_thread(lambda: PastMoments(past.runs(), past.journal()))
        steps = moments.judge({check.id: check for check in discover().every})
        for _ in moments.records:
            app.post_message(RunsJudged(moments, is_done=False))
            await asyncio.to_thread(next, steps)
    except RecordingError as error:
        trouble = str(error)
    except Exception:
        log.exception("the runs of the recording could not be read")
        trouble = "The runs of this recording could not be read; the details are in the log."
    app.post_message(RunsJudged(moments, is_done=True, trouble=trouble))
