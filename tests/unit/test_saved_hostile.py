"""A saved file that a stranger made, or that was damaged: one sentence, and no harm."""

import io
import json
import os
import struct
import tempfile
import tracemalloc
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from checks.report.json_report import to_json
from checks.saved import SavedError, kind_of, open_saved, report_file
from checks.saved import container as container_module
from checks.saved import reading as reading_module
from tests.fixtures.hostile import hostile_report
from tests.fixtures.reports import black_hole, report_of
from tests.unit.saved_support import member, members_of, packed, recording, saved

REPORT = to_json(report_of(black_hole()))
FIRST = Path(__file__).parents[1] / "fixtures" / "saved" / "first.racwire"
WHOLE = FIRST.read_bytes()
HOSTILE = "\x1b]0;owned\x07"


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory, monkeypatch):
    """Where temporary files go, which must be empty again at the end."""
    directory = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    yield directory
    assert os.listdir(directory) == []


def refused(path: Path) -> str:
    """The sentence that it is refused with."""
    with pytest.raises(SavedError) as told:
        open_saved(path).close()
    sentence = str(told.value)
    assert str(path) in sentence
    assert sentence.endswith((".", "it.", "shows it."))
    assert "\n" not in sentence
    return sentence


def zipped(path: Path, members: list[tuple[zipfile.ZipInfo | str, bytes]]) -> Path:
    """A zip of exactly these members."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data, zipfile.ZIP_DEFLATED)
    return path


def manifest(members: dict[str, bytes]) -> bytes:
    told = {"format": "racwire-saved/1", "members": {name: member(data) for name, data in members.items()}}
    return json.dumps(told).encode()


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda path: path.write_bytes(b""), "is no saved file"),
        (lambda path: path.write_bytes(b"PK"), "is no saved file"),
        (lambda path: path.write_bytes(b"PK\3\4 and no more"), "damaged"),
        (lambda path: path.write_bytes(bytes(range(255, -1, -1)) * 16), "is no saved file"),
        (lambda path: path.mkdir(), "is no file"),
        (os.mkfifo, "is no file"),
        (lambda path: path.symlink_to("/dev/zero"), "is no file"),
        (lambda path: path.symlink_to(path.name), "could not be read"),
        (lambda path: None, "No such file"),
        (lambda path: zipped(path, [("a.txt", b"something else")]), "is no saved file"),
        (lambda path: zipped(path, []), "is no saved file"),
        (lambda path: zipped(path, [("manifest.json", b"[]")]), "is no saved file"),
        (lambda path: zipped(path, [("manifest.json", b"[" * 50_000)]), "is no saved file"),
        (lambda path: zipped(path, [("manifest.json", manifest({}))]), "is no saved file"),
        (lambda path: zipped(path, [("manifest.json", manifest({"report.json": b"{}"}))]), "damaged"),
        (lambda path: path.write_text("{}"), "holds no report"),
        (lambda path: path.write_text("{" * 100_000), "damaged"),
    ],
)
def test_what_is_no_saved_file_is_one_sentence(tmp_path, made, told):
    made(tmp_path / "x")
    assert told in refused(tmp_path / "x")


def test_a_name_that_is_none_is_one_sentence():
    assert "that is no file name" in refused(Path("a\0b"))
    assert kind_of(Path("a\0b")) == ""


# --- zips that lie ---------------------------------------------------------------------------------------------------


def test_members_beside_its_own_are_ignored_whatever_they_are_called(tmp_path):
    path = saved(tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        for name in ("/etc/passwd", "../../escaped", "a/../../b", "notes.txt", "C:\\x", "\x1b[2J", "inner.zip"):
            archive.writestr(name, WHOLE)
    with open_saved(path) as opened:
        assert opened.report.findings
    assert sorted(os.listdir(tmp_path)) == [path.name]


@pytest.mark.parametrize("twice", ["report.json", "manifest.json"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_stands_twice_is_refused(tmp_path, twice):
    path = saved(tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(twice, b"{}")
    assert "damaged" in refused(path)


@pytest.mark.parametrize("kind", [0o120777, 0o040755, 0o010600, 0o020600])
def test_a_member_that_is_a_link_a_directory_or_a_device_is_refused(tmp_path, kind):
    entry = zipfile.ZipInfo("report.json")
    entry.external_attr = kind << 16
    zipped(tmp_path / "x", [(entry, REPORT), ("manifest.json", manifest({"report.json": REPORT}))])
    assert "damaged" in refused(tmp_path / "x")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_inflate_without_bounds_are_refused(tmp_path, method):
    with zipfile.ZipFile(tmp_path / "x", "w", method) as archive:
        archive.writestr("report.json", REPORT)
        archive.writestr("manifest.json", manifest({"report.json": REPORT}), zipfile.ZIP_DEFLATED)
    assert "damaged" in refused(tmp_path / "x")


def patched(path: Path, at_name: bytes, local: int, central: int, form: str, value: int) -> Path:
    """Overwrite a field of a member's two headers, at these offsets in them."""
    data = bytearray(path.read_bytes())
    begin = 0
    for signature, offset, name_at in ((b"PK\3\4", local, 30), (b"PK\1\2", central, 46)):
        begin = data.find(signature)
        while data[begin + name_at : begin + name_at + len(at_name)] != at_name:
            begin = data.find(signature, begin + 1)
        struct.pack_into(form, data, begin + offset, value)
    path.write_bytes(data)
    return path


def test_an_encrypted_member_is_refused(tmp_path):
    assert "damaged" in refused(patched(saved(tmp_path), b"report.json", 6, 8, "<H", 1))


@pytest.mark.parametrize(("local", "central"), [(22, 24), (18, 20)], ids=["inflated", "packed"])
def test_a_size_that_is_too_small_is_refused(tmp_path, local, central):
    assert "damaged" in refused(patched(saved(tmp_path), b"report.json", local, central, "<L", 1))


@pytest.mark.parametrize(("local", "central"), [(22, 24), (18, 20)], ids=["inflated", "packed"])
@pytest.mark.parametrize("size", [2**31, 2**32 - 2])
def test_a_size_that_is_too_large_is_not_believed(tmp_path, local, central, size):
    """What is in it ends by itself, and is proved to be what was written."""
    with open_saved(patched(saved(tmp_path), b"report.json", local, central, "<L", size)) as opened:
        assert replace(opened.report, saved_at="") == report_of(black_hole())


def test_what_is_not_what_was_written_is_refused(tmp_path):
    whole = members_of(saved(tmp_path))
    other = REPORT.replace(b"black hole", b"white hole")
    assert other != REPORT
    told = json.loads(whole["manifest.json"])["members"]
    assert "damaged" in refused(packed(tmp_path / "x", {"report.json": other}, members=told))


def test_a_member_that_inflates_too_far_is_not_inflated(tmp_path, monkeypatch):
    monkeypatch.setattr(reading_module, "REPORT_BYTES", 1_000_000)
    monkeypatch.setattr(reading_module, "RECORDING_BYTES", 1_000_000)
    bomb = bytes(10_000_000)
    path = packed(tmp_path / "report", {"report.json": bomb})
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    assert "its report.json inflates to over 1,000,000 bytes" in refused(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 5_000_000
    packed(tmp_path / "recording", {"report.json": REPORT, "recording.rec": bomb})
    assert "its recording.rec inflates to over 1,000,000 bytes" in refused(tmp_path / "recording")


def test_a_manifest_that_inflates_too_far_is_not_inflated(tmp_path):
    zipped(tmp_path / "x", [("manifest.json", bytes(1_000_000))])
    assert "its manifest.json inflates to over" in refused(tmp_path / "x")


def test_members_that_overlap_cost_no_more_than_the_limits(tmp_path):
    """As in the bombs of D. Fifield: every member quotes the one kernel, so that a small zip holds petabytes."""
    data = bytearray(saved(tmp_path).read_bytes())
    central = data.find(b"PK\1\2")
    end = data.rfind(b"PK\5\6")
    first = data[central : data.find(b"PK\1\2", central + 1)]
    entries = b""
    for number in range(500):
        entry = bytearray(first)
        entry[46 : 46 + 11] = f"member-{number:04}".encode()
        entries += entry
    made = (
        bytes(data[:end])
        + entries
        + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 502, 502, end - central + len(entries), central, 0)
    )
    (tmp_path / "x").write_bytes(made)
    with open_saved(tmp_path / "x") as opened:
        assert opened.report.findings


def test_a_table_of_contents_without_end_is_not_read(tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for number in range(3000):
            archive.writestr(f"{number}", b"")
    (tmp_path / "x").write_bytes(stream.getvalue())
    assert "is no saved file" in refused(tmp_path / "x")


def test_the_larger_layout_of_zips_is_refused(tmp_path):
    data = saved(tmp_path).read_bytes()
    end = data.rfind(b"PK\5\6")
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 10**9, 10**9, 10**12, 0)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
    for comment in (b"", bytes(65_535)):
        last = data[end:-2] + struct.pack("<H", len(comment)) + comment
        (tmp_path / "x").write_bytes(data[:end] + record + locator + last)
        assert "is no saved file" in refused(tmp_path / "x")


def test_a_recording_in_it_that_is_none_is_refused(tmp_path):
    packed(tmp_path / "x", {"report.json": REPORT, "recording.rec": b"SQLite format 3\0" + bytes(8192)})
    assert "damaged" in refused(tmp_path / "x")
    packed(
        tmp_path / "y", {"report.json": REPORT}, members={"report.json": member(REPORT), "recording.rec": member(b"")}
    )
    assert "damaged" in refused(tmp_path / "y")


def test_the_directory_for_the_recording_is_removed_whatever_happens(tmp_path, monkeypatch):
    path = packed(tmp_path / "x", {"report.json": REPORT, "recording.rec": recording(tmp_path / "a.rec").read_bytes()})

    def breaks(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(reading_module.Recording, "open", breaks)
    with pytest.raises(KeyboardInterrupt):
        open_saved(path)


def test_a_manifest_of_megabytes_of_numbers_is_refused(tmp_path):
    told = {"report.json": {"bytes": 10**400, "sha256": ""}}
    assert "damaged" in refused(packed(tmp_path / "x", {"report.json": REPORT}, members=told))


# --- reports that lie ------------------------------------------------------------------------------------------------


def with_settings(value: str) -> bytes:
    return json.dumps({**json.loads(REPORT), "settings": {"x": "HERE"}}).replace('"HERE"', value).encode()


LIES = {
    "nested without end": (b"[" * 1_000_000, "holds no report"),
    "cut": (REPORT[:-20], "damaged"),
    "a count over 64 bits": (REPORT.replace(b"9000", b"9" * 21), "larger than anything that is counted"),
    "a count of 100,000 digits": (REPORT.replace(b"9000", b"9" * 100_000), "larger than anything that is counted"),
    "infinite": (REPORT.replace(b"1.234", b"1e999"), "holds no report"),
    "no number": (REPORT.replace(b"1.234", b"NaN"), "damaged"),
    "an unknown status": (REPORT.replace(b"FAIL", b"\\u001b[2J"), "holds no report"),
    "an unknown fact": (REPORT.replace(b"PathProbe", b"PathDream"), "holds no report"),
    "deep settings": (with_settings("[" * 900 + "]" * 900), "the settings in it are none"),
    "bottomless settings": (with_settings("[" * 200_000 + "]" * 200_000), "holds no report"),
    "large settings": (with_settings("[" + "{}," * 400_000 + "{}]"), "the settings in it are none"),
    "a large setting": (with_settings("-" + "9" * 30), "larger than anything that is counted"),
    "another type": (b'{"schema": 7}', "holds no report"),
    "another schema": (b'{"schema": "something else"}', "holds no report"),
}


@pytest.mark.parametrize(("report", "told"), LIES.values(), ids=LIES.keys())
def test_a_report_that_is_none_is_one_sentence_in_a_saved_file_and_alone(tmp_path, report, told):
    assert told in refused(packed(tmp_path / "x", {"report.json": report}))
    (tmp_path / "y").write_bytes(b"{" + report if not report.startswith(b"{") else report)
    refused(tmp_path / "y")


def test_digits_in_what_was_printed_are_no_numbers(tmp_path):
    text = f'counts: "{"9" * 50}" and \\" {"8" * 50}'
    report = report_of(black_hole())
    entry = report.journal[0]
    entry.text = text
    with open_saved(saved(tmp_path, report)) as opened:
        assert opened.report.journal[0].text == text


def test_a_text_of_many_digits_does_not_have_megabytes_of_blanks_looked_through(tmp_path, monkeypatch):
    looked_at = []
    counting = SimpleNamespace(finditer=lambda data: looked_at.append(len(data)) or ())
    monkeypatch.setattr(report_file, "_TEXT_OR_NUMBER", counting)
    (tmp_path / "x").write_bytes(REPORT.replace(b"eth1 ...", b"9" * 30) + b" " * 1_000_000)
    with open_saved(tmp_path / "x"):
        assert max(looked_at) < len(REPORT)


@pytest.mark.parametrize(
    ("where", "number", "told"),
    [
        ("cluster.nodes", 301, "301 nodes, and no report that racwire writes has more than 300"),
        ("cluster.networks", 101, "101 private networks"),
        ("findings", 5_001, "5,001 findings"),
        ("reruns", 10_001, "10,001 reruns"),
    ],
)
def test_more_of_a_thing_than_any_cluster_has_is_refused(tmp_path, where, number, told):
    plain = json.loads(REPORT)
    *outer, name = where.split(".")
    holder = plain[outer[0]] if outer else plain
    one = {"check": "df-ping", "started_at": "", "duration_s": 1, "entries": 0} if name == "reruns" else holder[name][0]
    holder[name] = [one] * number
    (tmp_path / "x").write_text(json.dumps(plain))
    assert told in refused(tmp_path / "x")


def test_a_report_without_end_is_not_read_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(reading_module, "REPORT_BYTES", 1000)
    (tmp_path / "x").write_bytes(REPORT)
    assert "which no report has" in refused(tmp_path / "x")


def test_escape_sequences_in_a_file_name_and_in_the_file_reach_no_terminal(tmp_path, capfd):
    from tui.cli.main import main

    path = packed(tmp_path / f"x{HOSTILE}", {"report.json": REPORT.replace(b'"PASS"', b'"\\u001b[2J"')})
    assert main(["check", "--from", str(path)]) == 64
    assert "\x1b" not in capfd.readouterr().err


def test_a_report_of_nothing_but_hostile_texts_is_shown_and_not_obeyed(tmp_path, capsys):
    from tui.cli.main import main

    path = saved(tmp_path, hostile_report())
    main(["check", "--from", str(path)])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    assert not set(out + err).intersection(set(map(chr, range(32))) - {"\n"} | {"\x7f", "\x9b", "\u202e"})


# --- damage ----------------------------------------------------------------------------------------------------------


def open_or_refuse(path: Path) -> bool:
    """Whether it opened; then with all that it was saved with."""
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
def test_cut_short_anywhere_it_is_refused(damaged, cut):
    damaged.write_bytes(WHOLE[:cut])
    assert not open_or_refuse(damaged)


@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(1, 255)), min_size=1, max_size=3))
@settings(max_examples=100)
def test_with_any_bytes_changed_it_is_refused_or_the_same(damaged, changes):
    data = bytearray(WHOLE)
    for place, by in changes:
        data[place] ^= by
    damaged.write_bytes(data)
    open_or_refuse(damaged)


@given(st.binary(max_size=200), st.integers(0, len(WHOLE)), st.integers(0, 200))
def test_with_anything_put_in_or_taken_out_it_is_refused_or_the_same(damaged, put, place, taken):
    damaged.write_bytes(WHOLE[:place] + put + WHOLE[place + taken :])
    open_or_refuse(damaged)


def test_limits_are_above_what_is_saved(tmp_path):
    """The largest cluster that racwire is for, sixteen nodes, has room a hundred times over."""
    report = report_of(black_hole(16))
    assert len(to_json(report)) * 100 < reading_module.REPORT_BYTES
    assert all(10 * len(found) < report_file._MOST[name] for name, found in report_file._lists_of(report) if found)
    assert 100 * len(members_of(saved(tmp_path))["manifest.json"]) < container_module.MANIFEST_BYTES
