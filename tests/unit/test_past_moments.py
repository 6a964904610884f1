"""A recording at its playhead: the console then has the situation, the runs and the change that it had at that time."""

import asyncio
from collections import deque
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from checks.change.progress.change_text import place_of
from checks.change.progress.state import fold
from checks.change.record.change_journal import ChangeJournal
from checks.change.record.recorded_journal import as_recorded
from checks.model.run_record import RunRecord
from checks.model.situation import Situation
from checks.situation.run_history import KEPT_RUNS, RunHistory
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Recording
from tests.agreement.readings import CHECKS
from tests.agreement.timeline import Timeline
from tests.agreement.truth import END
from tests.fixtures.clusters import cluster
from tests.fixtures.reports import black_hole, report_of
from tests.unit.recording_support import BEGIN, header
from tui.console import situation_state
from tui.console.app_state import AppState, FeedState
from tui.console.messages import RunsJudged
from tui.console.past import of_recording
from tui.console.past_moments import PastMoments, read_events, read_runs

OLD = Path(__file__).parents[1] / "golden" / "v0_2_0"
HEALTHY, SICK = report_of(cluster()), report_of(black_hole())


async def nothing():
    pass


def opened(recording):
    """The state of a console that has read the whole recording."""
    past, posted = of_recording(recording), []
    app = SimpleNamespace(post_message=posted.append)
    asyncio.run(read_runs(app, past, nothing))
    asyncio.run(read_events(app, past))
    state = AppState(feed=FeedState(past=past))
    for message in posted:
        if isinstance(message, RunsJudged):
            state.take_runs(message.moments)
        else:
            state.events.load(message.watch, message.end, message.trouble)
    state.go_to(None)
    return state


def compared(situation: Situation):
    """A situation without what a recording keeps of a whole event only: its worst status, count, peak and reason."""
    kept = {"status": "FAIL", "peak": 0.0, "peak_at": 0.0, "count": 0, "reason": "", "pairs": ()}
    return replace(
        situation,
        episodes=tuple(replace(e, event=replace(e.event, sample_s=0.0, **kept)) for e in situation.episodes),
    )


@pytest.mark.parametrize("seed", [24, 90])
def test_the_situation_at_the_playhead_is_the_one_that_the_console_had(tmp_path, monkeypatch, seed):
    timeline = Timeline(seed)
    wall, moments = timeline.truth.wall, range(45, END, 37)
    with closing(Recorder.create(tmp_path / "a.rec", header())) as recorder:
        recorder.write(item for _, item in timeline.feed)
        for _, record in timeline.records:
            recorder.add_run(record)
    live, said = AppState(), {}
    live.events.follow(header().cluster)
    items, records = deque(timeline.feed), deque(timeline.records)
    for t in moments:
        while items and items[0][0] <= t:
            live.events.see([items.popleft()[1]])
        while records and records[0][0] <= t:
            live.run.take((live.run.history or RunHistory()).after(records.popleft()[1], CHECKS))
        monkeypatch.setattr(situation_state.time, "time", lambda t=t: wall.time(t))
        said[t] = compared(live.situation)
    with closing(Recording.open(tmp_path / "a.rec")) as recording:
        state = opened(recording)
        for t in (*moments, *reversed(moments)):
            state.go_to(wall.time(t))
            assert compared(state.situation) == said[t], t
    assert any(one.standing.value == "not known since" for s in said.values() for one in s.of_key().values())
    assert any(s.episodes for s in said.values())


def test_a_run_counts_from_its_end_on_and_not_before_it_is_judged():
    runs = (RunRecord(report=SICK, ended=BEGIN + 20, is_gate=True), RunRecord(report=HEALTHY, ended=BEGIN + 10))
    moments = PastMoments(runs)
    steps = moments.judge(CHECKS)
    assert (moments.is_judged(BEGIN + 9), moments.is_judged(BEGIN + 10)) == (True, False)
    next(steps)
    assert (moments.is_judged(BEGIN + 10), moments.is_judged(BEGIN + 20)) == (True, False)
    list(steps)
    assert moments.histories_at(BEGIN + 9) == []
    assert [one.report for one in moments.histories_at(BEGIN + 19)] == [HEALTHY]
    assert len(moments.histories_at(BEGIN + 20)) == 2


@pytest.mark.parametrize("name", ["done.change", "outage.change"])
def test_the_change_is_the_one_that_its_journal_had_at_the_playhead(tmp_path, name):
    lines = ChangeJournal.read(OLD / name).change.lines
    recorded = as_recorded(lines)
    with closing(Recorder.create(tmp_path / "a.rec", header())) as recorder:
        recorder.add_journal(recorded)
    with closing(Recording.open(tmp_path / "a.rec")) as recording:
        state = opened(recording)
        for number, line in enumerate(recorded, 1):
            state.go_to(line.at)
            known = [one for one, other in zip(lines, recorded, strict=True) if other.at <= line.at]
            assert state.changes.change == fold(known)
            assert state.situation.change == (place_of(fold(known)) if fold(known).is_open else ""), number
        state.go_to(recorded[0].at - 1)
        assert (state.changes.change, state.situation.change) == (None, "")


def test_the_runs_of_an_older_recording_are_not_recorded(tmp_path):
    with closing(Recording.open(OLD / "loss.rec")) as recording:
        state = opened(recording)
        assert state.without_runs == "runs not recorded"
        assert not state.situation.are_runs_recorded
        assert [one.event.kind.value for one in state.situation.new] == ["lost-blocks"]
        span = recording.span()
        state.go_to(span[0])
        assert not state.situation.episodes


def test_a_recording_starts_with_a_run_of_all_checks():
    history, part = RunHistory(), RunRecord(report=HEALTHY, ended=BEGIN + 1, checks=("df-ping",))
    whole = RunRecord(report=SICK, ended=BEGIN)
    history = history.after(whole, CHECKS)
    assert history.after(part, CHECKS).for_recording == (whole, part)
    for _ in range(KEPT_RUNS):
        history = history.after(part, CHECKS)
    assert history.for_recording == (RunRecord(report=history.report, ended=part.ended),)
    assert RunHistory().for_recording == ()
