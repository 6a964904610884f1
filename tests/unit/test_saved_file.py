"""A saved file: its content, the restored content, and its reported age."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import textwrap
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from checks.model.report import Report
from checks.report.json_report import from_json, to_json
from checks.saved import SavedError, kind_of, open_saved, save
from checks.saved import writer as writing_module
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Recording, RecordingError
from checks.traffic.recording_file import SCHEMA, Row
from checks.traffic.source_id import SourceId
from checks.whole_files import OutputError, OutputFile
from tests.fixtures.databases import asked
from tests.fixtures.reports import black_hole, report_of
from tests.support.full_disk import full_disk
from tests.unit.recording_support import busy, header
from tests.unit.saved_support import members_of, recording, report_in, saved, with_report

SAVED = Path(__file__).parents[1] / "fixtures" / "saved"


def events_in(path):
    with closing(Recording.open(path)) as recording:
        return [*recording.events()]


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory, monkeypatch):
    """Where temporary files go, which must be empty again at the end."""
    directory = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    yield directory
    assert os.listdir(directory) == []


def test_the_report_round_trips_except_for_the_time_of_saving(tmp_path):
    for number, built in enumerate((black_hole(3), asked(2))):
        report = report_of(built)
        save(OutputFile(tmp_path / f"{number}"), report, None)
        with open_saved(tmp_path / f"{number}") as opened:
            assert opened.report.saved_at
            assert replace(opened.report, saved_at="") == report
            assert opened.recording is None


def test_the_recording_round_trips_with_all_events_and_is_not_unpacked(tmp_path, temporary):
    traffic = recording(tmp_path / "a.rec")
    save(OutputFile(tmp_path / "s"), report_of(black_hole()), traffic)
    before = events_in(traffic)
    with open_saved(tmp_path / "s") as opened:
        assert opened.recording is not None
        assert list(opened.recording.events()) == before
        assert opened.recording.header.label == "mtu1500"
        assert os.listdir(temporary) == []
        again = Recording.open(opened.recording.path)
        assert list(again.events()) == before
        again.close()


def test_the_recording_is_not_read_unless_requested(tmp_path, temporary):
    with open_saved(saved(tmp_path, with_recording=True), recording=False) as opened:
        assert opened.recording is None
        assert os.listdir(temporary) == []


def test_a_recording_from_a_saved_file_can_be_saved_again_and_copied(tmp_path):
    path = saved(tmp_path, with_recording=True)
    save(OutputFile(tmp_path / "again"), report_of(black_hole(3)), path)
    with open_saved(path) as first, open_saved(tmp_path / "again") as again:
        assert first.recording is not None
        assert again.recording is not None
        events = list(first.recording.events())
        assert list(again.recording.events()) == events
        first.recording.copy_to(tmp_path / "copy.rec")
    assert kind_of(tmp_path / "copy.rec") == "recording"
    assert events_in(tmp_path / "copy.rec") == events


def test_a_saved_file_without_a_recording_is_not_a_recording_and_is_not_replaced_by_one(tmp_path):
    path = saved(tmp_path)
    with pytest.raises(RecordingError, match="contains no recording: it was saved without one"):
        Recording.open(path)
    whole = path.read_bytes()
    with pytest.raises(RecordingError, match="is no recording of racwire"):
        Recorder.create(path, header(), replace=True)
    assert path.read_bytes() == whole


def test_a_recording_can_be_saved_during_writing(tmp_path):
    recorder = Recorder.create(tmp_path / "a.rec", header())
    seconds = busy(4)
    recorder.write(next(seconds))
    recorder.write(next(seconds))
    save(OutputFile(tmp_path / "s"), report_of(black_hole()), tmp_path / "a.rec")
    then = events_in(tmp_path / "a.rec")
    for events in seconds:
        recorder.write(events)
    recorder.close()
    with open_saved(tmp_path / "s") as opened:
        assert opened.recording is not None
        assert list(opened.recording.events()) == then
    assert len(events_in(tmp_path / "a.rec")) > len(then)


def test_a_saved_file_can_be_opened_with_sqlite(tmp_path):
    path = saved(tmp_path, with_recording=True)
    assert path.read_bytes()[68:72] == b"rwsa"
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        names = {name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE sql NOT NULL")}
    assert names == {"manifest", "report", "header", "shapes", "samples", "links", "runs", "journal"}
    assert from_json(members_of(path)["report"]) == report_of(black_hole())


def test_saving_makes_only_one_temporary_file(tmp_path, monkeypatch):
    seen = set()
    add = writing_module.add_row

    def looking(file: sqlite3.Connection, row: Row) -> None:
        add(file, row)
        seen.add(tuple(sorted(os.listdir(tmp_path / "there"))))

    traffic = recording(tmp_path / "a.rec")
    (tmp_path / "there").mkdir()
    monkeypatch.setattr(writing_module, "add_row", looking)
    save(OutputFile(tmp_path / "there" / "s"), report_of(black_hole(8)), traffic)
    ((name,),) = seen
    assert name.startswith(".racwire-")
    assert os.listdir(tmp_path / "there") == ["s"]


def test_a_killed_save_leaves_one_temporary_file_and_nothing_at_the_final_path(tmp_path):
    script = textwrap.dedent(
        """
        import os, signal, sys
        from pathlib import Path
        from checks.saved import save, writer
        from checks.whole_files import OutputFile
        from tests.fixtures.reports import black_hole, report_of
        def kill(*_):
            os.kill(os.getpid(), signal.SIGKILL)
        writer.encode = kill
        save(OutputFile(Path(sys.argv[1])), report_of(black_hole()), Path(sys.argv[2]))
        """
    )
    traffic = recording(tmp_path / "a.rec")
    (there := tmp_path / "there").mkdir()
    ran = subprocess.run(
        [sys.executable, "-c", script, str(there / "s"), str(traffic)], cwd=Path(__file__).parents[2], check=False
    )
    assert ran.returncode == -signal.SIGKILL
    (left,) = os.listdir(there)
    assert left.startswith(".racwire-")


def test_a_saved_file_has_mode_0600_and_never_overwrites_another_unasked(tmp_path):
    path = saved(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    with pytest.raises(OutputError, match="already exists"):
        save(OutputFile(path), report_of(black_hole()), None)
    assert path.read_bytes() == before
    save(OutputFile(path, replace=True), report_of(black_hole(3)), None)
    assert report_in(path).cluster == black_hole(3)
    assert os.listdir(tmp_path) == [path.name]


def test_a_file_created_there_during_saving_is_not_replaced(tmp_path, monkeypatch):
    def slowly(report: Report) -> bytes:
        (tmp_path / "s").write_text("somebody else's")
        return to_json(report)

    monkeypatch.setattr(writing_module, "to_json", slowly)
    with pytest.raises(OutputError, match="already exists"):
        save(OutputFile(tmp_path / "s"), report_of(black_hole()), None)
    assert (tmp_path / "s").read_text() == "somebody else's"
    assert os.listdir(tmp_path) == ["s"]


def test_an_invalid_recording_is_reported_and_nothing_is_written(tmp_path):
    (tmp_path / "a.rec").write_text("no recording")
    with pytest.raises(SavedError, match=r"a\.rec is no recording of racwire"):
        save(OutputFile(tmp_path / "s"), report_of(black_hole()), tmp_path / "a.rec")
    assert not (tmp_path / "s").exists()


def test_a_recording_with_damaged_rows_is_reported_and_nothing_is_written(tmp_path):
    traffic = recording(tmp_path / "a.rec")
    with closing(sqlite3.connect(traffic)) as file:
        file.execute("UPDATE samples SET body = zeroblob(20000000)")
        file.commit()
    with pytest.raises(SavedError, match=r"a\.rec could not be read: it is damaged"):
        save(OutputFile(tmp_path / "s"), report_of(black_hole()), traffic)
    assert os.listdir(tmp_path) == ["a.rec"]


def test_a_file_opened_and_saved_again_keeps_its_age(tmp_path):
    first = report_in(saved(tmp_path))
    save(OutputFile(tmp_path / "again"), first, None)
    assert report_in(tmp_path / "again") == first
    assert from_json(members_of(tmp_path / "again")["report"]).saved_at == ""


def test_a_json_report_opens_too_and_is_as_old_as_its_run(tmp_path):
    report = report_of(black_hole())
    (tmp_path / "r.json").write_bytes(b"\n " + to_json(report))
    with open_saved(tmp_path / "r.json") as opened:
        assert opened.saved_at == report.started_at
        assert replace(opened.report, saved_at="") == report
        assert opened.recording is None


def test_the_kind_of_a_file_comes_from_its_contents(tmp_path):
    (tmp_path / "r.txt").write_bytes(to_json(report_of(black_hole())))
    (tmp_path / "db").write_bytes(b"SQLite format 3\0" + bytes(100))
    (tmp_path / "empty").touch()
    assert kind_of(saved(tmp_path)) == "saved"
    assert kind_of(tmp_path / "r.txt") == "report"
    assert kind_of(recording(tmp_path / "b.rec")) == "recording"
    assert [kind_of(Path(p)) for p in (tmp_path / "db", tmp_path / "empty", tmp_path, "/dev/zero", "/nowhere")] == [
        ""
    ] * 5


def test_a_recording_is_refused_with_the_command_that_opens_it(tmp_path):
    with pytest.raises(SavedError, match=r"racwire open .*a\.rec` displays it"):
        open_saved(recording(tmp_path / "a.rec"))


def test_a_file_that_was_saved_before_opens(tmp_path):
    with open_saved(SAVED / "first.racwire") as opened:
        assert opened.saved_at == "2026-11-20T14:05:00.000+01:00"
        assert {f.code for f in opened.report.findings} >= {"IC-PATH-003", "IC-GRID-001"}
        assert opened.recording is not None
        assert SourceId.node("rac2") in opened.recording.sources()


@pytest.mark.parametrize(
    ("manifest", "report"),
    [({"format": "racwire-saved/3"}, b"{}"), ({}, b'{"schema": "racwire-report/3"}')],
)
def test_a_file_of_a_newer_version_is_reported(tmp_path, manifest, report):
    path = with_report(tmp_path / "new.racwire", report, **manifest)
    with pytest.raises(SavedError, match=r"saved by a newer racwire \(format racwire-(saved/3|report/3); this"):
        open_saved(path)


def test_a_file_of_a_later_format_is_reported(tmp_path):
    path = saved(tmp_path)
    with closing(sqlite3.connect(path)) as file:
        file.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    with pytest.raises(SavedError, match=rf"by a newer racwire \(layout {SCHEMA + 1}; this one reads {SCHEMA}\)"):
        open_saved(path)


def test_a_saved_file_is_compressed(tmp_path):
    path = saved(tmp_path, report_of(black_hole(8)))
    assert path.stat().st_size < len(members_of(path)["report"]) / 8


def test_a_full_file_system_leaves_no_file(tmp_path):
    with full_disk(1000), pytest.raises(OutputError, match="allows no larger file; no file was left"):
        save(OutputFile(tmp_path / "s"), report_of(black_hole()), None)
    assert os.listdir(tmp_path) == []
