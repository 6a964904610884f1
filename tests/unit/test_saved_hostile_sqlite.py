"""Saved files of SQLite that mislead or are damaged."""

import json
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from checks.model import report_limits, sanitize
from checks.report.json_report import to_json
from checks.saved import SavedError, manifest, open_saved, reader
from checks.traffic.recording_file import LAYOUT
from tests.fixtures.hostile import hostile_report
from tests.fixtures.reports import black_hole, report_of
from tests.unit.recording_support import names_another_journal
from tests.unit.saved_hostile_support import FIRST, HOSTILE, REPORT, WHOLE, refused
from tests.unit.saved_support import members_of, saved, with_report

# --- misleading SQLite files -----------------------------------------------------------------------------------------


def changed(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as file:
        for statement in statements:
            file.execute(statement)
        file.commit()
    return path


STATEMENTS = {
    "its report is a view without end": (
        "DROP TABLE report",
        "CREATE VIEW report AS WITH RECURSIVE n(part) AS (VALUES (1) UNION ALL SELECT part + 1 FROM n) "
        "SELECT part, zeroblob(1000000) AS body FROM n",
    ),
    "it has a trigger": ("CREATE TRIGGER t AFTER INSERT ON report BEGIN DELETE FROM report; END",),
    "it has an index": ("CREATE INDEX i ON links (abs(at))",),
    "it has another table": ("CREATE TABLE notes (body TEXT)",),
    "a table is missing": ("DROP TABLE links",),
    "it has no manifest": ("DELETE FROM manifest",),
    "its manifest is bytes": ("UPDATE manifest SET body = CAST(body AS BLOB)",),
    "its manifest is long": ("UPDATE manifest SET body = body || printf('%.*c', 100000, ' ')",),
    "its manifest is huge": ("UPDATE manifest SET body = printf('%.*c', 20000000, ' ')",),
    "its report is gone": ("DELETE FROM report",),
    "its report is not deflated": ("UPDATE report SET body = x'0305ffffffffff'",),
    "its report is text": ("UPDATE report SET body = 'text'",),
    "its report is huge": ("UPDATE report SET body = zeroblob(20000000)",),
    "its report has more behind it": ("UPDATE report SET body = CAST(body || x'00' AS BLOB)",),
    "its report is elsewhere": ("UPDATE report SET part = 5",),
    "a sample is gone": ("DELETE FROM samples WHERE until = (SELECT min(until) FROM samples)",),
    "a sample is another's": ("UPDATE samples SET body = (SELECT body FROM samples LIMIT 1)",),
    "a sample is of another time": ("UPDATE samples SET until = until + 1",),
    "its interfaces are others": ("UPDATE links SET at = at + 1",),
    "its shapes are others": ("UPDATE shapes SET source = '\"x\"' WHERE id = 1",),
    "its header is another": ("UPDATE header SET body = replace(body, 'mtu1500', 'mtu9000')",),
    "it has no recording": tuple(f"DROP TABLE {table}" for table in LAYOUT),
    "its text is no Unicode": ("UPDATE shapes SET source = CAST(x'ff' AS TEXT) WHERE id = 1",),
}


@pytest.mark.parametrize("what", STATEMENTS)
def test_a_changed_file_is_one_sentence(tmp_path, what):
    assert "damaged" in refused(changed(saved(tmp_path, with_recording=True), *STATEMENTS[what]))


def test_an_invalid_manifest_is_one_sentence(tmp_path):
    for body in ("7", "[]", "{}", "[" * 50_000, '{"format": 7}', '{"format": "racwire-saved/1", "members": {}}'):
        path = with_report(tmp_path / "x", REPORT)
        with closing(sqlite3.connect(path)) as file:
            file.execute("UPDATE manifest SET body = ?", (body,))
            file.commit()
        assert "is no saved file" in refused(path)


def test_members_that_differ_from_the_manifest_are_refused(tmp_path):
    assert "damaged" in refused(with_report(tmp_path / "x", REPORT, members={}))
    other = {"report": {"bytes": len(REPORT), "sha256": "0" * 64}}
    assert "damaged" in refused(with_report(tmp_path / "x", REPORT, members=other))


def test_a_report_that_inflates_beyond_the_limit_is_not_inflated(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "REPORT_BYTES", 1_000_000)
    path = with_report(tmp_path / "x", bytes(10_000_000))
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    assert "its report decompresses to over 1,000,000 bytes" in refused(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 5_000_000


def test_a_journal_that_names_another_file_does_not_delete_that_file(tmp_path):
    path = saved(tmp_path, with_recording=True)
    whole = path.read_bytes()
    (letter := tmp_path / "letter").write_text("to my mother")
    names_another_journal(path, letter)
    assert "racwire does not write a file such as" in refused(path)
    assert letter.read_text() == "to my mother"
    assert path.read_bytes() == whole


@given(st.data())
def test_a_saved_file_with_changed_or_missing_bytes_is_refused_or_equal(new_whole, damaged, data):
    whole, events = new_whole
    content = bytearray(whole)
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    damaged.write_bytes(content)
    try:
        opened = open_saved(damaged)
    except SavedError:
        return
    with opened:
        assert replace(opened.report, saved_at="") == report_of(black_hole())
        assert opened.recording is not None
        assert list(opened.recording.events()) == events


@pytest.fixture(scope="module")
def new_whole(tmp_path_factory):
    path = saved(tmp_path_factory.mktemp("whole"), with_recording=True)
    with open_saved(path) as opened:
        return path.read_bytes(), list(opened.recording.events())


# --- misleading reports ----------------------------------------------------------------------------------------------


def with_settings(value: str) -> bytes:
    return json.dumps({**json.loads(REPORT), "settings": {"x": "HERE"}}).replace('"HERE"', value).encode()


LIES = {
    "nested without end": (b"[" * 1_000_000, "has no report"),
    "cut": (REPORT[:-20], "damaged"),
    "a count over 64 bits": (REPORT.replace(b"9000", b"9" * 21), "larger than anything that is counted"),
    "a count of 100,000 digits": (REPORT.replace(b"9000", b"9" * 100_000), "larger than anything that is counted"),
    "infinite": (REPORT.replace(b"1.234", b"1e999"), "has no report"),
    "no number": (REPORT.replace(b"1.234", b"NaN"), "damaged"),
    "an unknown status": (REPORT.replace(b"FAIL", b"\\u001b[2J"), "has no report"),
    "an unknown fact": (REPORT.replace(b"PathProbe", b"PathDream"), "has no report"),
    "deep settings": (with_settings("[" * 900 + "]" * 900), "its settings are too large or too deep"),
    "bottomless settings": (with_settings("[" * 200_000 + "]" * 200_000), "has no report"),
    "large settings": (with_settings("[" + "{}," * 400_000 + "{}]"), "its settings are too large or too deep"),
    "a large setting": (with_settings("-" + "9" * 30), "larger than anything that is counted"),
    "another type": (b'{"schema": 7}', "has no report"),
    "another schema": (b'{"schema": "something else"}', "has no report"),
}


@pytest.mark.parametrize(("report", "message"), LIES.values(), ids=LIES.keys())
def test_an_invalid_report_is_one_sentence_in_a_saved_file_and_as_json(tmp_path, report, message):
    assert message in refused(with_report(tmp_path / "new", report))
    (tmp_path / "y").write_bytes(b"{" + report if not report.startswith(b"{") else report)
    refused(tmp_path / "y")


def test_digits_in_outputs_are_not_numbers(tmp_path):
    text = f'counts: "{"9" * 50}" and \\" {"8" * 50}'
    report = report_of(black_hole())
    entry = report.journal[0]
    entry.text = text
    with open_saved(saved(tmp_path, report)) as opened:
        assert opened.report.journal[0].text == text


def test_a_text_of_many_digits_is_checked_quickly(tmp_path, monkeypatch):
    parsed = []
    counting = SimpleNamespace(finditer=lambda data: parsed.append(len(data)) or ())
    monkeypatch.setattr(sanitize, "_TEXT_OR_NUMBER", counting)
    (tmp_path / "x").write_bytes(REPORT.replace(b"eth1 ...", b"9" * 30) + b" " * 1_000_000)
    with open_saved(tmp_path / "x"):
        assert max(parsed) < len(REPORT)


@pytest.mark.parametrize(
    ("where", "number", "message"),
    [
        ("cluster.nodes", 301, "301 nodes, and no report that racwire writes has more than 300"),
        ("cluster.networks", 101, "101 private networks"),
        ("findings", 5_001, "5,001 findings"),
        ("reruns", 10_001, "10,001 reruns"),
    ],
)
def test_more_items_than_any_cluster_has_are_refused(tmp_path, where, number, message):
    plain = json.loads(REPORT)
    *outer, name = where.split(".")
    holder = plain[outer[0]] if outer else plain
    one = {"check": "df-ping", "started_at": "", "duration_s": 1, "entries": 0} if name == "reruns" else holder[name][0]
    holder[name] = [one] * number
    (tmp_path / "x").write_text(json.dumps(plain))
    assert message in refused(tmp_path / "x")


def test_an_endless_report_is_not_read_completely(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "REPORT_BYTES", 1000)
    (tmp_path / "x").write_bytes(REPORT)
    assert "more than any report" in refused(tmp_path / "x")


def test_escape_sequences_in_a_file_name_and_in_the_file_reach_no_terminal(tmp_path, capfd):
    from tui.cli.main import main

    path = with_report(tmp_path / f"x{HOSTILE}", REPORT.replace(b'"PASS"', b'"\\u001b[2J"'))
    assert main(["check", "--from", str(path)]) == 64
    assert "\x1b" not in capfd.readouterr().err


def test_a_report_of_only_hostile_texts_is_escaped(tmp_path, capsys):
    from tui.cli.main import main

    path = saved(tmp_path, hostile_report())
    main(["check", "--from", str(path)])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    assert not set(out + err).intersection(set(map(chr, range(32))) - {"\n"} | {"\x7f", "\x9b", "\u202e"})


# --- damage ----------------------------------------------------------------------------------------------------------


def open_or_refuse(path: Path) -> bool:
    """Whether the file opens; if it does, all its contents must be those that were saved."""
    try:
        opened = open_saved(path)
    except SavedError:
        return False
    with opened, open_saved(FIRST) as first:
        assert opened.report == first.report
        assert opened.recording is not None
        assert first.recording is not None
        assert list(opened.recording.events()) == list(first.recording.events())
    return True


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    return tmp_path_factory.mktemp("damage") / "damaged"


@given(cut=st.integers(0, len(WHOLE) - 1))
def test_a_file_truncated_anywhere_is_refused(damaged, cut):
    damaged.write_bytes(WHOLE[:cut])
    assert not open_or_refuse(damaged)


@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(1, 255)), min_size=1, max_size=3))
def test_a_file_with_any_changed_bytes_is_refused_or_equal(damaged, changes):
    data = bytearray(WHOLE)
    for place, by in changes:
        data[place] ^= by
    damaged.write_bytes(data)
    open_or_refuse(damaged)


@given(st.binary(max_size=200), st.integers(0, len(WHOLE)), st.integers(0, 200))
def test_a_file_with_insertions_or_deletions_is_refused_or_equal(damaged, put, place, removed):
    damaged.write_bytes(WHOLE[:place] + put + WHOLE[place + removed :])
    open_or_refuse(damaged)


def test_limits_are_above_the_sizes_of_real_files(tmp_path):
    """The largest cluster that racwire is for, sixteen nodes, has room a hundred times over."""
    report = report_of(black_hole(16))
    assert len(to_json(report)) * 100 < reader.REPORT_BYTES
    assert all(10 * len(found) < report_limits._MOST[name] for name, found in report_limits._lists_of(report) if found)
    assert 100 * len(members_of(saved(tmp_path))["manifest"]) < manifest.MANIFEST_BYTES


def test_a_small_share_with_many_decimals_is_no_large_number():
    small = REPORT.replace(b"1.234", b"0.000025521472225626358")
    assert reader.report_in(small, "a file").duration_s < 1
