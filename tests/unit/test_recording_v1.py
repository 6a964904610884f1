"""Recordings of layout 1, which racwire 0.1.0 wrote: they are read as it read them."""

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.traffic import samples
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Recording, RecordingError
from checks.traffic.recording_codec import Packed
from checks.traffic.recording_shapes import DamagedError, NodeShape
from checks.traffic.recording_v1 import Unpacker, events_in, unpack

RECORDINGS = Path(__file__).parents[1] / "fixtures" / "recordings"
OLD = RECORDINGS / "schema-1.rec"
"""Written by racwire 0.1.0, with every kind of event, texts that are no Unicode, and counts of 64 bits."""
KINDS = {kind.kind: kind for kind in samples.Event.__args__}


def read(path):
    recording = Recording.open(path)
    try:
        return list(recording.events())
    finally:
        recording.close()


def test_a_complete_recording_of_version_1_is_read():
    answers = [
        msgspec.convert({**event, "fact": KINDS[event["kind"]].__name__}, KINDS[event["kind"]])
        for event in json.loads((RECORDINGS / "schema-1.json").read_text())
    ]
    assert read(OLD) == answers
    assert {event.kind for event in answers} == set(KINDS)


def test_a_recording_of_version_1_answers_as_one_of_the_present_format(tmp_path):
    old = Recording.open(OLD)
    recorder = Recorder.create(tmp_path / "new.rec", old.header)
    events = list(old.events())
    at = {event.at for event in events}
    recorder.write(events)
    recorder.close()
    new = Recording.open(tmp_path / "new.rec")
    assert new.header == old.header
    assert new.span() == old.span() == (min(e.at for e in events if e.kind != "links"), max(at))
    for source in new.sources():
        assert new.window(source, 0, 4e9) == old.window(source, 0, 4e9)
        assert new.newest(source) == old.newest(source)
        assert new.tallies()[source] == old.tallies()[source]
    assert new.links("rac1", 4e9) == old.links("rac1", 4e9)


def test_a_copy_of_a_recording_of_version_1_is_equal(tmp_path):
    recording = Recording.open(OLD)
    recording.copy_to(tmp_path / "copy.rec")
    recording.close()
    assert read(tmp_path / "copy.rec") == read(OLD)


@pytest.mark.parametrize(
    "row",
    [
        "0305ffffffffff",
        "ffffffffffffffffffffffff",
        "03ffffffff0f00",
        "78da" + "00" * 20,
    ],
)
def test_a_damaged_row_is_one_sentence(tmp_path, row):
    path = Path(shutil.copy(OLD, tmp_path / "a.rec"))
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.execute(f"UPDATE samples SET body = x'{row}'")
        file.commit()
    with pytest.raises(RecordingError, match=r"could not be read: it is damaged"):
        read(path)


def test_a_row_of_the_present_format_in_version_1_is_damage(tmp_path):
    path = Path(shutil.copy(OLD, tmp_path / "a.rec"))
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA user_version = 2")
    with pytest.raises(RecordingError, match=r"could not be read: it is damaged"):
        read(path)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_flipped_bytes_are_reported_or_harmless(tmp_path_factory, data):
    content = bytearray(OLD.read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    damaged = tmp_path_factory.mktemp("damaged") / "a.rec"
    damaged.write_bytes(content)
    with contextlib.suppress(RecordingError):  # and nothing else
        read(damaged)


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_invalid_bytes_are_refused_or_parsed_but_never_crash(data):
    shape = NodeShape("rac1", ("eth1",), ("Ip.ReasmFails",))
    with contextlib.suppress(DamagedError):
        assert unpack(shape, Packed(1, 1.0, msgspec.Raw(data))).seconds > 0
    with contextlib.suppress(DamagedError):
        list(events_in(data))


def test_a_sample_with_an_invalid_time_is_not_read():
    of_no_time = bytes([2 + 100, 2 + 0]) + bytes([0, 0, 0, 0])
    with pytest.raises(DamagedError, match="no time"):
        unpack(NodeShape("rac1", (), ()), Packed(1, 1.0, msgspec.Raw(of_no_time)))


def test_a_number_of_unlimited_length_is_damage():
    with pytest.raises(DamagedError):
        Unpacker(b"\x80" * 10_000_000).number()


def test_these_bytes_of_format_1_can_always_be_read():
    time, of_one_second, eth1 = "013bdf07507ea8da41", "66", "0120" + "ac02" + "01"
    counters, load, cpu, left_out = "01" + "02", "4d", "0102" + "ca01" + "9801" + "1b" + "841a", "0104" + "65746832"
    packed = bytes.fromhex(time + of_one_second + eth1 + counters + load + cpu + left_out)
    row = bytes([7, len(packed)]) + packed
    (found,) = events_in(row)
    assert (found.shape, found.at) == (7, 1789000000.123)
    assert unpack(NodeShape("rac1", ("eth1",), ("Ip.ReasmFails", "Ip.FragOKs")), found) == samples.NodeSample(
        "rac1", 1789000000.123, 1.0,
        {"eth1": samples.InterfaceCounts(rx_bytes=300, tx_carrier=1)}, {"Ip.ReasmFails": 2, "Ip.FragOKs": 0},
        samples.CpuTime(2, 2.0, 1.5, 0.25, 33.3), 0.75, ("eth2",),
    )  # fmt: skip
