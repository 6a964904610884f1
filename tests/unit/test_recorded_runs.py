"""Runs of the checks and journals of changes in a recording: they return as they were, and never cost a sample."""

import math
import shutil
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from checks.change.progress.state import fold
from checks.change.record import change_journal
from checks.change.record.change_journal import ChangeJournal, ChangeJournalError
from checks.change.record.recorded_journal import as_recorded, change_at
from checks.model.report import Report, Rerun
from checks.model.run_record import RunRecord, as_run
from checks.model.situation import Situation
from checks.redact import Pseudonyms, Redactor
from checks.saved import open_saved, save
from checks.traffic import recorder as recorder_module
from checks.traffic import recording as recording_module
from checks.traffic import recording_runs
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Recording, RecordingError
from checks.traffic.recording_runs import RecordedLine
from checks.traffic.samples import Gap
from checks.traffic.source_id import PAIRS
from checks.whole_files import OutputFile
from tests.fixtures.databases import asked
from tests.fixtures.reports import black_hole, report_of
from tests.unit.recording_support import BEGIN, busy, header, read_events, recorded
from tests.unit.test_recording_codec import EVENT, LINKS
from tests.unit.test_recording_damaged import HOSTILE_RUNS, change

OLD = Path(__file__).parents[1] / "golden" / "v0_2_0"


def run(ended: float, report: Report | None = None, **more) -> RunRecord:
    return RunRecord(report=report or report_of(black_hole()), ended=ended, **more)


def with_runs(path: Path, *records: RunRecord, journal=(), **keep) -> Path:
    with closing(Recorder.create(path, header(), **keep)) as recorder:
        for record in records:
            assert recorder.add_run(record)
        assert recorder.add_journal(journal)
    return path


def runs_in(path: Path) -> tuple[RunRecord, ...]:
    with closing(Recording.open(path)) as recording:
        return recording.runs()


def test_runs_gates_and_journals_return_as_they_were_also_from_a_copy(tmp_path):
    infinite = report_of(asked(2))
    thresholds = replace(infinite.cluster.thresholds, receive_attention_ms=math.inf)
    strange = replace(infinite, cluster=replace(infinite.cluster, thresholds=thresholds, local_node="rac1\udcff"))
    records = (
        run(BEGIN + 5),
        run(BEGIN + 9, strange, checks=("df-ping",), clock_s=-3600.0),
        run(BEGIN - 3500, is_gate=True),
    )
    lines = (RecordedLine(BEGIN + 1, '{"number":1}'), RecordedLine(BEGIN + 2, "\u00e9\x1b"))
    path = with_runs(tmp_path / "a.rec", *records, journal=lines)
    with closing(Recording.open(path)) as recording:
        recording.copy_to(tmp_path / "copy.rec")
    for file in (path, tmp_path / "copy.rec"):
        with closing(Recording.open(file)) as recording:
            assert recording.has_runs
            assert recording.runs() == records
            assert recording.journal() == lines


def test_a_recording_of_0_2_0_has_no_runs_and_neither_have_its_copies(tmp_path):
    shutil.copy(OLD / "loss.rec", tmp_path / "loss.rec")
    with closing(Recording.open(tmp_path / "loss.rec")) as old:
        old.copy_to(tmp_path / "copy.rec")
    Redactor(Pseudonyms()).recording(tmp_path / "loss.rec", tmp_path / "redacted.rec")
    save(OutputFile(tmp_path / "night.racwire"), report_of(black_hole()), tmp_path / "loss.rec")
    for name in ("loss.rec", "copy.rec", "redacted.rec", "night.racwire"):
        with closing(Recording.open(tmp_path / name)) as recording:
            assert (recording.has_runs, recording.runs(), recording.journal()) == (False, (), ())
            assert len(list(recording.events())) > 20


# --- limits -----------------------------------------------------------------------------------------------------------


def test_a_run_that_is_too_large_loses_its_outputs_and_then_itself_but_no_sample(tmp_path, monkeypatch):
    report = report_of(black_hole())
    entry = report.journal[0]
    entry.text = "x" * 500_000
    large = run(BEGIN, replace(report, journal=(entry,)))
    size = len(recording_runs.run_as_bytes(large))
    for limit, expected in ((size, [entry.text]), (size - 1, [""]), (1000, None)):
        monkeypatch.setattr(recording_runs, "LARGEST_RUN", limit)
        monkeypatch.setattr(recorder_module, "LARGEST_RUN", limit)
        with closing(Recorder.create(tmp_path / f"{limit}.rec", header())) as recorder:
            assert recorder.add_run(large) is (expected is not None)
            recorder.write([Gap(PAIRS, BEGIN, "")])
        found = runs_in(tmp_path / f"{limit}.rec")
        assert [entry.text for one in found for entry in one.report.journal] == (expected or [])
        assert len(read_events(tmp_path / f"{limit}.rec")) == 1


def test_a_recording_keeps_the_newest_runs_that_fit(tmp_path, monkeypatch):
    records = [run(BEGIN + second) for second in range(6)]
    monkeypatch.setattr(recorder_module, "RUNS_BYTES", 3 * len(recording_runs.run_as_bytes(records[0])) + 100)
    assert runs_in(with_runs(tmp_path / "bytes.rec", *records)) == tuple(records[3:])
    monkeypatch.setattr(recorder_module, "MOST_RUNS", 2)
    assert runs_in(with_runs(tmp_path / "number.rec", *records)) == tuple(records[4:])


def test_what_the_oldest_kept_samples_rest_on_stays(tmp_path):
    records = [run(BEGIN), run(BEGIN + 10), run(BEGIN + 20, checks=("df-ping",)), run(BEGIN + 50), run(BEGIN + 75)]
    assert runs_in(with_runs(tmp_path / "a.rec", *records, keep_s=60)) == tuple(records[1:])


def test_a_journal_that_is_too_large_ends_where_it_is_and_costs_no_sample(tmp_path, monkeypatch):
    monkeypatch.setattr(recorder_module, "JOURNAL_BYTES", 10)
    with closing(Recorder.create(tmp_path / "a.rec", header())) as recorder:
        assert recorder.add_journal([RecordedLine(1.0, "12345")])
        assert not recorder.add_journal([RecordedLine(2.0, "1234567"), RecordedLine(3.0, "1")])
        assert not recorder.add_journal([RecordedLine(4.0, "1")])
        recorder.write([Gap(PAIRS, BEGIN, "")])
    with closing(Recording.open(tmp_path / "a.rec")) as recording:
        assert recording.journal() == (RecordedLine(1.0, "12345"),)
        assert len(list(recording.events())) == 1


@pytest.mark.parametrize("what", HOSTILE_RUNS)
def test_damaged_or_hostile_runs_are_one_sentence_and_the_samples_are_read(tmp_path, what):
    path = with_runs(tmp_path / "a.rec", run(BEGIN), run(BEGIN + 1), journal=[RecordedLine(BEGIN, "{}")])
    change(path, *HOSTILE_RUNS[what])
    with closing(Recording.open(path)) as recording:
        with pytest.raises(RecordingError) as refused:
            recording.runs(), recording.journal()
        assert str(refused.value).startswith(f"{path} could not be read: it ")
        assert list(recording.events()) == []


@pytest.mark.parametrize(("limit", "most"), [("MOST_RUNS", 1), ("RUNS_BYTES", 40_000)])
def test_more_runs_than_any_recording_has_are_not_read(tmp_path, monkeypatch, limit, most):
    path = with_runs(tmp_path / "a.rec", run(BEGIN), run(BEGIN + 1))
    monkeypatch.setattr(recording_module, limit, most)
    with pytest.raises(RecordingError, match="it is damaged"):
        runs_in(path)


# --- a saved file has one moment --------------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(EVENT | LINKS, max_size=5), max_size=4), st.floats(0, 4e9) | st.integers(0, 9))
def test_nothing_later_than_the_situation_is_saved(tmp_path, writes, moment):
    path = tmp_path / "a.rec"
    path.unlink(missing_ok=True)
    written = [event for events in writes for event in events]
    at = written[moment % len(written)].at if isinstance(moment, int) and written else float(moment)
    recorded(path, *writes)
    report = replace(report_of(black_hole()), situation=Situation(at=at))
    save(OutputFile(tmp_path / "s", replace=True), report, path)
    with open_saved(tmp_path / "s") as saved:
        assert sorted(map(repr, saved.recording.events())) == sorted(repr(e) for e in written if e.at <= at)
        assert saved.report.situation == report.situation


def test_later_runs_and_lines_are_not_saved_and_without_a_situation_all_are(tmp_path):
    records = [run(BEGIN + second) for second in (1, 5, 9)]
    lines = tuple(RecordedLine(BEGIN + second, str(second)) for second in (1, 5, 9))
    path = with_runs(tmp_path / "a.rec", *records, journal=lines)
    report = report_of(black_hole())
    for situation, count in ((Situation(at=BEGIN + 5), 2), (None, 3)):
        save(OutputFile(tmp_path / "s", replace=True), replace(report, situation=situation), path)
        with open_saved(tmp_path / "s") as saved:
            assert saved.recording.runs() == tuple(records[:count])
            assert saved.recording.journal() == lines[:count]


# --- the playhead -----------------------------------------------------------------------------------------------------


def test_a_report_with_reruns_had_ended_with_the_last_of_them():
    report = report_of(black_hole())
    begun = datetime.fromisoformat(report.started_at).timestamp()
    assert as_run(report) == RunRecord(report=report, ended=begun + report.duration_s)
    again = Rerun(check="df-ping", started_at="2026-11-20T14:03:31.000+01:00", duration_s=2.0, entries=0)
    assert as_run(replace(report, reruns=(again,))).ended == begun + 62
    assert as_run(replace(report, started_at="soon")).ended == 0, "before all else"


@pytest.mark.parametrize("name", ["done.change", "rolled-back.change", "outage.change"])
def test_the_change_at_a_time_is_the_one_that_its_journal_had_then(name):
    lines = ChangeJournal.read(OLD / name).change.lines
    other = ChangeJournal.read(OLD / "plans" / "lower.change").change.lines
    both = (*as_recorded(other), *as_recorded(lines))
    assert change_at(both, min(one.at for one in both) - 1) is None
    for number in range(1, len(lines) + 1):
        at = datetime.fromisoformat(lines[number - 1].at).timestamp()
        known = [line for line in lines if datetime.fromisoformat(line.at).timestamp() <= at]
        assert change_at(as_recorded(lines), at) == fold(known)
    assert change_at(both, math.inf) == fold(lines)


@pytest.mark.parametrize("text", ["", "{}", "[" * 100_000, "7", '{"number":1,"event":{"event":"closed"}}'])
def test_a_journal_of_no_change_is_one_sentence(text):
    line = as_recorded(ChangeJournal.read(OLD / "done.change").change.lines)[0]
    for lines in ([RecordedLine(1.0, text)], [line, line._replace(text=line.text.replace('"number":1', '"number":2'))]):
        with pytest.raises(ChangeJournalError, match=r"^The journal in this recording is [^\n]*\.$"):
            change_at(lines, math.inf)


def test_a_plan_of_another_format_is_named():
    line = as_recorded(ChangeJournal.read(OLD / "done.change").change.lines)[0]
    newer = line._replace(text=line.text.replace(change_journal.SCHEMA, "racwire-change/9"))
    with pytest.raises(ChangeJournalError, match="it has the format racwire-change/9, but this racwire reads"):
        change_at([newer], math.inf)


# --- redaction --------------------------------------------------------------------------------------------------------


def test_a_redacted_recording_has_redacted_runs_and_says_that_it_lacks_the_journal(tmp_path):
    report = report_of(black_hole())
    records = (run(BEGIN, report), run(BEGIN + 1, report, checks=("df-ping",), is_gate=True))
    for name, journal in (("with", [RecordedLine(BEGIN, '"rac1 of prodrac"')]), ("without", [])):
        path = with_runs(tmp_path / name, *records, journal=journal)
        Redactor(Pseudonyms()).recording(path, tmp_path / f"{name}.rec")
        with closing(Recording.open(tmp_path / f"{name}.rec")) as redacted:
            assert redacted.header.lacks_journal is bool(journal)
            assert redacted.journal() == ()
            runs = redacted.runs()
        assert [(r.ended, r.checks, r.is_gate, r.report.is_redacted) for r in runs] == [
            (r.ended, r.checks, r.is_gate, True) for r in records
        ]
        assert runs[0].report == Redactor(Pseudonyms()).report(report)


def test_a_recording_with_runs_answers_as_one_without(tmp_path):
    plain = recorded(tmp_path / "plain.rec", *busy(10))
    recorder = Recorder.create(tmp_path / "runs.rec", header())
    for events in busy(10):
        recorder.add_run(run(BEGIN))
        recorder.write(events)
    recorder.close()
    assert read_events(tmp_path / "runs.rec") == read_events(plain)
