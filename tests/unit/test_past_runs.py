"""The runs of a session in the recordings that the console writes, and those of a recording that it shows."""

import asyncio
import shutil
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from checks.model.run_record import RunRecord, as_run
from checks.model.settings import Settings
from checks.saved import open_saved, save
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Recording
from checks.traffic.recording_runs import RecordedLine
from checks.traffic.samples import Gap
from checks.traffic.source_id import PAIRS
from checks.traffic.timeline import Timeline
from checks.whole_files import OutputFile
from tests.fixtures.clusters import cluster
from tests.fixtures.reports import black_hole, report_of
from tests.unit.recording_support import BEGIN, busy, header, recorded
from tui.cli.open import summary
from tui.console.app_state import AppState
from tui.console.export_state import SAVED
from tui.console.live import LiveFeed
from tui.console.past import of_recording, of_saved
from tui.console.report_file import ReportJob, write_report

NOW = datetime(2026, 11, 28, 20, tzinfo=UTC)
OLD = Path(__file__).parents[1] / "golden" / "v0_2_0"
RUNS = (
    RunRecord(report=report_of(cluster()), ended=BEGIN + 1),
    RunRecord(report=report_of(black_hole()), ended=BEGIN + 5),
    RunRecord(report=report_of(cluster()), ended=BEGIN + 9, is_gate=True),
)
LINES = (RecordedLine(BEGIN, "{}"), RecordedLine(BEGIN + 2, "[]"))


def test_a_recording_starts_with_the_runs_of_the_session_and_gets_the_later_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(LiveFeed, "is_running", True)
    monkeypatch.setattr(AppState, "cluster", cluster())

    async def record() -> None:
        app = SimpleNamespace(post_message=lambda message: pytest.fail(str(message)))
        live = LiveFeed(app, lambda: pytest.fail("a feed"))
        live.add(RUNS[:1])  # nothing is recorded yet
        await live.toggle_recording(AppState(), Settings(), tmp_path, (*RUNS[:1], *LINES[:1]))
        live.add((*RUNS[1:], *LINES[1:]))
        await live.stop_recording(10)
        live.add(RUNS)

    asyncio.run(record())
    [path] = tmp_path.glob("*.rec")
    with closing(Recording.open(path)) as recording:
        assert (recording.runs(), recording.journal()) == (RUNS, LINES)


def test_a_saved_file_of_the_console_has_the_runs_of_the_session(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    samples = Timeline(100)
    samples.add([Gap(PAIRS, BEGIN, "")])
    (tmp_path / "scratch").mkdir()
    job = ReportJob(SAVED, False, report_of(black_hole()), samples, None, header(), (*RUNS, *LINES))
    path = write_report(job, tmp_path / "scratch", tmp_path, lambda text: None)
    with open_saved(path) as saved:
        past = of_saved(saved, NOW)
        assert (past.runs(), past.journal(), past.are_runs_recorded) == (RUNS, LINES, True)
        assert len(list(saved.recording.events())) == 1


def test_a_saved_file_without_recorded_runs_has_that_of_its_report(tmp_path):
    report = report_of(black_hole())
    for recording in (None, recorded(tmp_path / "a.rec", *busy(2))):
        save(OutputFile(tmp_path / "s", replace=True), report, recording)
        with open_saved(tmp_path / "s") as saved:
            past = of_saved(saved, NOW)
            assert (past.run, past.runs(), past.journal()) == (as_run(saved.report), (), ())


def test_the_runs_of_a_recording_are_those_in_the_file_or_not_recorded(tmp_path):
    shutil.copy(OLD / "loss.rec", tmp_path / "old.rec")
    with closing(Recorder.create(tmp_path / "new.rec", header())) as recorder:
        for run in RUNS:
            recorder.add_run(run)
        recorder.add_journal(LINES)
    for name, expected in (("old.rec", ((), (), False)), ("new.rec", (RUNS, LINES, True))):
        with closing(Recording.open(tmp_path / name)) as recording:
            past = of_recording(recording)
            assert (past.runs(), past.journal(), past.are_runs_recorded) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("old.rec", "Runs      not recorded\n"),
        ("none.rec", "Runs      none; the checks judge the facts of its start\n"),
        ("runs.rec", "Runs      2 of the checks, 1 of gates; the last ended 2026-"),
    ],
)
def test_the_summary_of_a_recording_counts_its_runs(tmp_path, name, text):
    shutil.copy(OLD / "loss.rec", tmp_path / "old.rec")
    Recorder.create(tmp_path / "none.rec", header()).close()
    with closing(Recorder.create(tmp_path / "runs.rec", header())) as recorder:
        for run in RUNS:
            recorder.add_run(run)
    with closing(Recording.open(tmp_path / name)) as recording:
        assert text in summary(tmp_path / name, recording)


def test_a_recording_without_its_journal_says_so(tmp_path):
    for lacks in (False, True):
        path = tmp_path / f"{lacks}.rec"
        Recorder.create(path, replace(header(), lacks_journal=lacks)).close()
        with closing(Recording.open(path)) as recording:
            assert ("Change    its journal was left out" in summary(path, recording)) is lacks
