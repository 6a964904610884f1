"""A saved file that a stranger made, or that was damaged: one sentence, and no harm."""

import io
import json
import os
import struct
import tempfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from checks.saved import kind_of, open_saved, reader, zip_v1
from tests.fixtures.reports import black_hole, report_of
from tests.unit.saved_hostile_support import REPORT, WHOLE, refused
from tests.unit.saved_support import member, members_of, packed, recording, zipped_first


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory, monkeypatch):
    """Where temporary files go, which must be empty again at the end."""
    directory = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    yield directory
    assert os.listdir(directory) == []


def zipped(path: Path, members: list[tuple[zipfile.ZipInfo | str, bytes]]) -> Path:
    """A zip of exactly these members."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data, zipfile.ZIP_DEFLATED)
    return path


def manifest_of(members: dict[str, bytes]) -> bytes:
    manifest = {"format": "racwire-saved/1", "members": {name: member(data) for name, data in members.items()}}
    return json.dumps(manifest).encode()


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda path: path.write_bytes(b""), "is no saved file"),
        (lambda path: path.write_bytes(b"PK"), "is no saved file"),
        (lambda path: path.write_bytes(b"PK\3\4 and no more"), "damaged"),
        (lambda path: path.write_bytes(bytes(range(255, -1, -1)) * 16), "is no saved file"),
        (lambda path: path.mkdir(), "is no regular file"),
        (os.mkfifo, "is no regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "is no regular file"),
        (lambda path: path.symlink_to(path.name), "could not be read"),
        (lambda path: None, "No such file"),
        (lambda path: zipped(path, [("a.txt", b"something else")]), "is no saved file"),
        (lambda path: zipped(path, []), "is no saved file"),
        (lambda path: zipped(path, [("manifest.json", b"[]")]), "is no saved file"),
        (lambda path: zipped(path, [("manifest.json", b"[" * 50_000)]), "is no saved file"),
        (lambda path: zipped(path, [("manifest.json", manifest_of({}))]), "is no saved file"),
        (lambda path: zipped(path, [("manifest.json", manifest_of({"report.json": b"{}"}))]), "damaged"),
        (lambda path: path.write_text("{}"), "has no report"),
        (lambda path: path.write_text("{" * 100_000), "damaged"),
    ],
)
def test_a_file_that_is_not_a_saved_file_is_one_sentence(tmp_path, made, message):
    made(tmp_path / "x")
    assert message in refused(tmp_path / "x")


def test_an_invalid_path_is_one_sentence():
    assert "this is no file name" in refused(Path("a\0b"))
    assert kind_of(Path("a\0b")) == ""


# --- zips that lie ---------------------------------------------------------------------------------------------------


def test_additional_members_are_ignored_with_any_name(tmp_path):
    path = zipped_first(tmp_path / "first")
    with zipfile.ZipFile(path, "a") as archive:
        for name in ("/etc/passwd", "../../escaped", "a/../../b", "notes.txt", "C:\\x", "\x1b[2J", "inner.zip"):
            archive.writestr(name, WHOLE)
    with open_saved(path) as opened:
        assert opened.report.findings
    assert sorted(os.listdir(tmp_path)) == [path.name]


@pytest.mark.parametrize("twice", ["report.json", "manifest.json"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_duplicate_member_is_refused(tmp_path, twice):
    path = zipped_first(tmp_path / "first")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(twice, b"{}")
    assert "damaged" in refused(path)


@pytest.mark.parametrize("kind", [0o120777, 0o040755, 0o010600, 0o020600])
def test_a_member_that_is_a_link_a_directory_or_a_device_is_refused(tmp_path, kind):
    entry = zipfile.ZipInfo("report.json")
    entry.external_attr = kind << 16
    zipped(tmp_path / "x", [(entry, REPORT), ("manifest.json", manifest_of({"report.json": REPORT}))])
    assert "damaged" in refused(tmp_path / "x")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compression_methods_without_a_limit_are_refused(tmp_path, method):
    with zipfile.ZipFile(tmp_path / "x", "w", method) as archive:
        archive.writestr("report.json", REPORT)
        archive.writestr("manifest.json", manifest_of({"report.json": REPORT}), zipfile.ZIP_DEFLATED)
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
    assert "damaged" in refused(patched(zipped_first(tmp_path / "first"), b"report.json", 6, 8, "<H", 1))


@pytest.mark.parametrize(("local", "central"), [(22, 24), (18, 20)], ids=["inflated", "packed"])
def test_a_size_that_is_too_small_is_refused(tmp_path, local, central):
    assert "damaged" in refused(patched(zipped_first(tmp_path / "first"), b"report.json", local, central, "<L", 1))


@pytest.mark.parametrize(("local", "central"), [(22, 24), (18, 20)], ids=["inflated", "packed"])
@pytest.mark.parametrize("size", [2**31, 2**32 - 2])
def test_a_size_that_is_too_large_is_ignored(tmp_path, local, central, size):
    """The compressed data ends by itself, and its checksum proves it."""
    with open_saved(patched(zipped_first(tmp_path / "first"), b"report.json", local, central, "<L", size)) as opened:
        assert replace(opened.report, saved_at="") == report_of(black_hole())


def test_contents_that_differ_from_the_manifest_are_refused(tmp_path):
    whole = members_of(zipped_first(tmp_path / "first"))
    other = REPORT.replace(b"black hole", b"white hole")
    assert other != REPORT
    members = json.loads(whole["manifest"])["members"]
    assert "damaged" in refused(packed(tmp_path / "x", {"report.json": other}, members=members))


def test_a_member_that_inflates_beyond_the_limit_is_not_inflated(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "REPORT_BYTES", 1_000_000)
    monkeypatch.setattr(zip_v1, "RECORDING_BYTES", 1_000_000)
    bomb = bytes(10_000_000)
    path = packed(tmp_path / "report", {"report.json": bomb})
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    assert "its report.json decompresses to over 1,000,000 bytes" in refused(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 5_000_000
    packed(tmp_path / "recording", {"report.json": REPORT, "recording.rec": bomb})
    assert "its recording.rec decompresses to over 1,000,000 bytes" in refused(tmp_path / "recording")


def test_a_manifest_that_inflates_beyond_the_limit_is_not_inflated(tmp_path):
    zipped(tmp_path / "x", [("manifest.json", bytes(1_000_000))])
    assert "its manifest.json decompresses to over" in refused(tmp_path / "x")


def test_overlapping_members_use_no_more_memory_than_the_limits(tmp_path):
    """As in the bombs of D. Fifield: every member quotes the one kernel, so that a small zip holds petabytes."""
    data = bytearray(zipped_first(tmp_path / "first").read_bytes())
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


def test_an_endless_table_of_contents_is_not_read(tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for number in range(3000):
            archive.writestr(f"{number}", b"")
    (tmp_path / "x").write_bytes(stream.getvalue())
    assert "is no saved file" in refused(tmp_path / "x")


def test_the_zip64_format_is_refused(tmp_path):
    data = zipped_first(tmp_path / "first").read_bytes()
    end = data.rfind(b"PK\5\6")
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 10**9, 10**9, 10**12, 0)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
    for comment in (b"", bytes(65_535)):
        last = data[end:-2] + struct.pack("<H", len(comment)) + comment
        (tmp_path / "x").write_bytes(data[:end] + record + locator + last)
        assert "is no saved file" in refused(tmp_path / "x")


def test_an_invalid_recording_inside_is_refused(tmp_path):
    packed(tmp_path / "x", {"report.json": REPORT, "recording.rec": b"SQLite format 3\0" + bytes(8192)})
    assert "damaged" in refused(tmp_path / "x")
    packed(
        tmp_path / "y", {"report.json": REPORT}, members={"report.json": member(REPORT), "recording.rec": member(b"")}
    )
    assert "damaged" in refused(tmp_path / "y")


def test_the_directory_of_the_recording_is_always_removed(tmp_path, monkeypatch):
    path = packed(tmp_path / "x", {"report.json": REPORT, "recording.rec": recording(tmp_path / "a.rec").read_bytes()})

    def breaks(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(zip_v1.Recording, "open", breaks)
    with pytest.raises(KeyboardInterrupt):
        open_saved(path)


def test_a_manifest_of_megabytes_of_numbers_is_refused(tmp_path):
    members = {"report.json": {"bytes": 10**400, "sha256": ""}}
    assert "damaged" in refused(packed(tmp_path / "x", {"report.json": REPORT}, members=members))
