"""Files that are no whole recording: of a later format, damaged, hostile, or left in a write by a crash."""

import contextlib
import os
import shutil
import sqlite3
import zlib
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checks.model.run_record import RunRecord
from checks.traffic.json_text import as_json
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Recording, RecordingError
from checks.traffic.recording_file import SCHEMA
from checks.traffic.recording_runs import RecordedLine
from tests.fixtures.reports import black_hole, report_of, waiver_standing
from tests.unit.recording_support import BEGIN, busy, header, names_another_journal, read_events, recorded


def change(path, *statements):
    file = sqlite3.connect(path)
    for statement in statements:
        file.execute(statement)
    file.commit()
    file.close()


def test_a_file_of_a_later_format_is_refused_in_a_sentence(busy_file):
    change(busy_file, f"PRAGMA user_version = {SCHEMA + 1}")
    with pytest.raises(RecordingError) as refused:
        Recording.open(busy_file)
    assert str(refused.value) == (
        f"{busy_file} was recorded by a newer racwire (layout {SCHEMA + 1}; this one reads {SCHEMA}): "
        "open it with that version."
    )


def test_events_of_an_unknown_kind_are_skipped(busy_file):
    before = read_events(busy_file)
    row = zlib.compress(msgspec.msgpack.encode([[99, BEGIN, {"cpu0": 61}]])).hex()
    change(
        busy_file,
        """INSERT INTO shapes (id, source, body) VALUES (99, '"heat"', '["temperature","rac1"]')""",
        f"INSERT INTO samples (until, body) VALUES ({int(BEGIN * 1e6) + 1}, x'{row}')",
    )
    recording = Recording.open(busy_file)
    assert list(recording.events()) == before
    assert "heat" not in recording.sources()
    assert recording.span() is not None


def row_of(events):
    """Return a statement that makes each row one of these."""
    return f"UPDATE samples SET body = x'{zlib.compress(msgspec.msgpack.encode(events)).hex()}'"


HOSTILE = {
    "its table is a view without end": (
        "DROP TABLE samples",
        "CREATE VIEW samples AS WITH RECURSIVE n(until) AS (VALUES (1) UNION ALL SELECT until + 1 FROM n) "
        "SELECT until, zeroblob(1000000) AS body FROM n",
    ),
    "a table is missing": ("DROP TABLE links",),
    "there is no header": ("DELETE FROM header",),
    "its header is no header": ("UPDATE header SET body = '[1,2]'",),
    "its header is nested without end": ("UPDATE header SET body = '" + "[" * 100_000 + "'",),
    "its header is a number": ("UPDATE header SET body = x'00ff'",),
    "its interval is none": ("UPDATE header SET body = replace(body, '\"interval_s\":1.0', '\"interval_s\":0')",),
    "its interval is no number": (
        "UPDATE header SET body = replace(body, '\"interval_s\":1.0', '\"interval_s\":NaN')",
    ),
    "its header is huge": ("UPDATE header SET body = printf('%.*c', 20000000, 'x')",),
    "a row is text": ("UPDATE samples SET body = 'text' WHERE until = (SELECT max(until) FROM samples)",),
    "a row is huge": ("UPDATE samples SET body = zeroblob(20000000)",),
    "a row is not deflated": ("UPDATE samples SET body = x'0305ffffffffff'",),
    "a row is cut off": ("UPDATE samples SET body = substr(body, 1, length(body) - 1)",),
    "a row has more behind it": ("UPDATE samples SET body = CAST(body || x'00' AS BLOB)",),
    "a row is no list": (row_of({"a": 1}),),
    "an event in a row has no time": (row_of([[3, None, [1.0]]]),),
    "an event in a row is another's": (row_of([[3, BEGIN, [1.0, [], [], None, None, [], 7]]]),),
    "a row inflates without end": (row_of([[3, BEGIN, bytes(9_000_000)]]),),
    "a row has a million events": (row_of([[3, 1, None]] * 1_000_000),),
    "a shape is missing": ("DELETE FROM shapes WHERE id = 3",),
    "a shape is another's": ("UPDATE shapes SET body = '[\"node\",7]' WHERE id = 3",),
    "a source is none": ('UPDATE shapes SET body = \'["gap","heat"]\' WHERE id = 3',),
    "there are more shapes than sources could have": (
        "WITH RECURSIVE n(id) AS (VALUES (1000) UNION ALL SELECT id + 1 FROM n WHERE id < 21000) "
        """INSERT INTO shapes SELECT id, '"x"', '["heat",' || id || ']' FROM n""",
    ),
    "links are none": ("UPDATE links SET body = '{}'",),
}


_WAIVER = as_json(waiver_standing("expired")).encode()


def _run_of(data: bytes, ended: float = BEGIN + 1) -> str:
    return f"UPDATE runs SET body = x'{zlib.compress(data).hex()}', ended = {ended} WHERE id = 2"


_RUN = as_json(RunRecord(report=report_of(black_hole()), ended=BEGIN + 1)).encode()
_DEEP = b'"settings":{"a":' + b"[" * 900 + b"]" * 900 + b"}"
_WAIVERS = b'"waivers":[' + b",".join([_WAIVER] * 1001) + b"]"
HOSTILE_RUNS = {
    "a run is text": ("UPDATE runs SET body = 'text' WHERE id = 2",),
    "a run is huge": ("UPDATE runs SET body = zeroblob(20000000)",),
    "a run is not deflated": ("UPDATE runs SET body = x'0305ffffffffff'",),
    "a run is cut off": ("UPDATE runs SET body = substr(body, 1, length(body) - 1)",),
    "a run has more behind it": ("UPDATE runs SET body = CAST(body || x'00' AS BLOB)",),
    "a run inflates without end": (_run_of(b" " * 60_000_000),),
    "a run is none": (_run_of(b"{}"),),
    "a run is no Unicode": (_run_of(b"\xff"),),
    "a run is nested without end": (_run_of(b"[" * 100_000),),
    "its settings are nested without end": (_run_of(_RUN.replace(b'"settings":{}', _DEEP)),),
    "a number has no end": (_run_of(_RUN.replace(b'"duration_s":1.234', b'"duration_s":' + b"9" * 400)),),
    "a list is longer than any": (_run_of(_RUN.replace(b'"waivers":[]', _WAIVERS)),),
    "a run has another time": ("UPDATE runs SET ended = ended + 1",),
    "a time is a text": ("UPDATE runs SET ended = 'soon'",),
    "a time has no end": ("UPDATE runs SET ended = 9e999",),
    "a run is of a newer kind": (_run_of(_RUN.replace(b'"racwire_version"', b'"version"')),),
    "a line is none": ("UPDATE journal SET line = x'00ff'",),
    "a line has no time": ("UPDATE journal SET at = 'soon'",),
    "a line is longer than any": ("UPDATE journal SET line = printf('%.*c', 9000000, 'x')",),
    "there are more lines than in any journal": (
        "WITH RECURSIVE n(id) AS (VALUES (10) UNION ALL SELECT id + 1 FROM n WHERE id < 60000) "
        "INSERT INTO journal SELECT id, 1.0, '' FROM n",
    ),
}
"""Statements that damage the second of two runs, or the journal."""


@pytest.mark.parametrize("what", HOSTILE)
def test_a_damaged_or_hostile_file_is_one_sentence(tmp_path, what):
    path = recorded(tmp_path / "a.rec", *busy(10))
    change(path, *HOSTILE[what])
    with pytest.raises(RecordingError) as refused:
        use_all_of(path)
    assert str(refused.value).startswith(f"{path} could not be read: it ")
    assert len(str(refused.value).splitlines()) == 1


def use_all_of(path):
    recording = Recording.open(path)
    try:
        recording.span()
        for source in recording.sources():
            recording.window(source, 0, 4e9)
        recording.links("rac1", 4e9)
        recording.tallies()
        recording.runs()
        recording.journal()
        return list(recording.events())
    finally:
        recording.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_flipped_bytes_are_reported_or_harmless(tmp_path, data):
    whole = tmp_path / "whole.rec"
    if not whole.exists():
        recorder = Recorder.create(whole, header())
        for events in busy(20):
            recorder.write(events)
        recorder.add_run(RunRecord(report=report_of(black_hole()), ended=BEGIN))
        recorder.add_journal([RecordedLine(BEGIN, "{}" * 500)])
        recorder.close()
    content = bytearray(whole.read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    damaged = tmp_path / "damaged.rec"
    damaged.write_bytes(content)
    with contextlib.suppress(RecordingError):  # and nothing else
        use_all_of(damaged)


@pytest.mark.parametrize("content", [b"", b"\0" * 5000, b"SQLite format 3\0", b"{}" * 4000])
def test_a_file_that_is_not_a_recording_is_reported(tmp_path, content):
    (tmp_path / "no.rec").write_bytes(content)
    with pytest.raises(RecordingError, match=r"is no recording of racwire; `racwire record FILE` writes one\."):
        Recording.open(tmp_path / "no.rec")


def left_in_the_middle(path, copy):
    """A recording after a crash: the file has half of a write, and the journal has the previous content."""
    file = sqlite3.connect(path, isolation_level=None)
    file.execute("PRAGMA cache_size = 1")
    file.execute("BEGIN IMMEDIATE")
    file.execute("DELETE FROM samples")
    file.execute("INSERT INTO samples (until, body) VALUES (1, zeroblob(200000))")
    for ending in ("", "-journal"):
        shutil.copy(f"{path}{ending}", f"{copy}{ending}")
    file.execute("ROLLBACK")
    file.close()
    return copy


def test_a_write_cut_off_by_a_crash_is_rolled_back_at_the_next_opening(tmp_path, busy_file):
    crashed = left_in_the_middle(busy_file, tmp_path / "crashed.rec")
    assert read_events(crashed) == read_events(busy_file)
    assert not Path(f"{crashed}-journal").exists()


@pytest.mark.parametrize("through_a_link", [False, True])
def test_a_journal_that_names_another_file_does_not_delete_that_file(tmp_path, busy_file, through_a_link):
    (letter := tmp_path / "letter").write_text("to my mother")
    names_another_journal(busy_file, letter)
    path = tmp_path / "link.rec" if through_a_link else busy_file
    if through_a_link:
        path.symlink_to(busy_file)
    for use in (Recording.open, lambda path: Recorder.create(path, header(), replace=True)):
        with pytest.raises(
            RecordingError, match=r"could not be read: racwire does not write a file such as \S+busy\.rec-journal"
        ):
            use(path)
    assert letter.read_text() == "to my mother"
    assert busy_file.stat().st_size > 0


def test_a_crashed_recording_of_another_user_is_not_changed(tmp_path, busy_file, monkeypatch):
    crashed = left_in_the_middle(busy_file, tmp_path / "crashed.rec")
    before = crashed.read_bytes()
    monkeypatch.setattr(os, "geteuid", lambda: crashed.stat().st_uid + 1)
    with pytest.raises(RecordingError, match="belongs to another user: open it as that user, or copy it together with"):
        Recording.open(crashed)
    assert crashed.read_bytes() == before


def test_a_journal_that_is_a_link_is_not_followed(tmp_path, busy_file):
    crashed = left_in_the_middle(busy_file, tmp_path / "crashed.rec")
    journal = Path(f"{crashed}-journal").rename(tmp_path / "elsewhere")
    Path(f"{crashed}-journal").symlink_to(journal)
    with pytest.raises(RecordingError, match="could not be read"):
        Recording.open(crashed)
    assert journal.exists()


def test_a_write_ahead_log_is_refused_because_racwire_writes_none(busy_file):
    Path(f"{busy_file}-wal").write_bytes(b"")
    with pytest.raises(RecordingError, match=r"racwire does not write a file such as \S+busy\.rec-wal"):
        Recording.open(busy_file)


def test_a_recording_whose_writer_is_killed_meanwhile_must_be_reopened(tmp_path, busy_file):
    whole = tmp_path / "whole.rec"
    shutil.copy(busy_file, whole)
    recording = Recording.open(whole)
    left_in_the_middle(busy_file, whole)
    with pytest.raises(RecordingError, match=r"the process that wrote it was stopped during a write; open it again\."):
        list(recording.events())
    recording.close()
    assert read_events(whole) == read_events(busy_file)
