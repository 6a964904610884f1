"""Events as bytes: nothing is lost on the way there and back, and bytes from elsewhere harm nobody."""

import contextlib

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.model.facts import BlockTransfer, InstancePing
from checks.traffic import samples
from checks.traffic.recording_bytes import LARGEST, Damaged, Packer, Unpackable, Unpacker
from checks.traffic.recording_events import (
    GapShape,
    NodeShape,
    pack,
    shape_as_text,
    shape_from_text,
    shape_of,
    time_of,
    unpack,
)

TEXT = st.text(max_size=12)
COUNT = st.integers(-LARGEST, LARGEST)
REAL = st.floats(allow_nan=False, allow_infinity=False)
TIME = st.floats(0, 4e9) | st.integers(0, 4_000_000).map(lambda n: n / 100)
SECONDS = st.floats(0.001, 1e6)
OPTIONAL = st.none() | REAL

INTERFACE = st.builds(samples.InterfaceCounts, **dict.fromkeys(samples.InterfaceCounts.__struct_fields__, COUNT))
CPU = st.builds(samples.CpuTime, st.integers(0, 4096), REAL, REAL, REAL, REAL)
NODE = st.builds(
    samples.NodeSample, TEXT, TIME, SECONDS, st.dictionaries(TEXT, INTERFACE, max_size=3),
    st.dictionaries(TEXT, COUNT, max_size=9), st.none() | CPU, OPTIONAL, st.lists(TEXT, max_size=2).map(tuple),
)  # fmt: skip
INSTANCE = st.builds(
    samples.InstanceSample, TEXT, st.integers(1, 99), TEXT, TIME, SECONDS,
    st.dictionaries(TEXT, COUNT, max_size=9), st.dictionaries(TEXT, COUNT, max_size=9),
    st.lists(TEXT, max_size=2).map(tuple),
)  # fmt: skip
PAIRS = st.builds(
    samples.PairsSample, TIME, SECONDS,
    st.lists(st.builds(BlockTransfer, *[st.integers(1, 16)] * 2, *[COUNT] * 6), max_size=4).map(tuple),
    st.lists(st.builds(InstancePing, *[st.integers(1, 16)] * 2, *[COUNT] * 4), max_size=4).map(tuple),
    st.dictionaries(TEXT, TEXT, max_size=2),
)  # fmt: skip
LATENCY = st.builds(
    samples.LatencySample, TEXT, TEXT, st.integers(0, 9000), TIME, SECONDS, COUNT, COUNT, OPTIONAL, OPTIONAL, OPTIONAL
)
GAP = st.builds(samples.Gap, TEXT, TIME, TEXT)
LINK = st.builds(samples.Link, TEXT, TEXT, st.integers(0, 65536), st.booleans(), st.none() | COUNT, TEXT, TEXT)
LINKS = st.builds(samples.Links, TEXT, TIME, st.lists(LINK, max_size=3).map(tuple))
EVENT = NODE | INSTANCE | PAIRS | LATENCY | GAP


@settings(max_examples=60, deadline=None)
@given(EVENT)
def test_an_event_comes_back_as_it_was_also_with_negative_and_largest_counts(event):
    shape = shape_from_text(shape_as_text(shape_of(event)))
    assert unpack(shape, pack(event)) == event
    assert time_of(pack(event)) == event.at


def test_there_is_a_shape_for_every_kind_of_event():
    kinds = {shape.__struct_config__.tag for shape in shape_of.__globals__["_Shape"].__subclasses__()}
    assert kinds == {event.kind for event in samples.Event.__args__}


@settings(deadline=None)
@given(st.binary(max_size=300), EVENT)
def test_bytes_that_were_never_packed_are_refused_or_read_but_break_nothing(data, event):
    for damaged in (data, pack(event) + data, pack(event)[:-1]):
        try:
            read = unpack(shape_of(event), damaged)
        except Damaged:
            continue
        assert read.source == event.source
        assert getattr(read, "seconds", 1) > 0


@settings(deadline=None)
@given(st.text() | st.recursive(st.none() | COUNT | TEXT, lambda x: st.lists(x, max_size=4)).map(msgspec.json.encode))
def test_texts_that_are_no_shape_are_refused_or_of_an_unknown_kind(text):
    text = text.decode() if isinstance(text, bytes) else text
    with contextlib.suppress(Damaged):
        assert shape_from_text(text) is None


def test_deeply_nested_json_is_damage_and_no_crash():
    with pytest.raises(Damaged):
        shape_from_text('["node",' + "[" * 100_000)


def test_a_later_kind_of_event_is_unknown_and_no_damage():
    assert shape_from_text('["temperature","rac1",["cpu0"]]') is None


def test_no_field_of_an_event_is_forgotten():
    """A field that is added to a sample must be packed too: else it would come back as its default."""
    assert [kind.__struct_fields__ for kind in samples.Event.__args__] == [
        ("node", "at", "seconds", "interfaces", "counters", "cpu", "load", "left_out"),
        ("instance", "number", "host", "at", "seconds", "statistics", "messages", "left_out"),
        ("at", "seconds", "transfers", "pings", "unread"),
        ("network", "to_node", "payload", "at", "seconds", "sent", "received", "p50_us", "p99_us", "max_us"),
        ("node", "at", "links"),
        ("source", "at", "reason"),
    ]


def test_names_that_are_no_unicode_come_back():
    shape = GapShape("node \udcff")
    assert shape_from_text(shape_as_text(shape)) == shape
    gap = samples.Gap("node \udcff", 1.5, "\udcfe\x1b[2J")
    assert unpack(shape, pack(gap)) == gap


@pytest.mark.parametrize("wrong", [LARGEST + 1, -LARGEST - 1])
def test_what_no_kernel_counts_is_not_packed(wrong):
    with pytest.raises(Unpackable):
        pack(samples.NodeSample("rac1", 1.0, 1.0, counters={"Ip.InReceives": wrong}))


@pytest.mark.parametrize("at", [float("nan"), float("inf")])
def test_what_is_no_time_is_not_packed(at):
    with pytest.raises(Unpackable):
        pack(samples.Gap("pairs", at, ""))


def test_a_sample_of_no_time_is_neither_packed_nor_read():
    with pytest.raises(Unpackable):
        pack(samples.NodeSample("rac1", 1.0, 0.0))
    of_no_time = bytes([2 + 100, 2 + 0]) + bytes([0, 0, 0, 0])
    with pytest.raises(Damaged, match="no time"):
        unpack(NodeShape("rac1", (), ()), of_no_time)


def test_zeros_cost_a_bit_and_small_numbers_a_byte():
    packer = Packer()
    packer.counts([0] * 15 + [127])
    assert len(packer.data) == 2 + 1
    packer = Packer()
    packer.real(63.25)
    assert len(packer.data) == 2


def test_a_number_without_end_is_damage():
    with pytest.raises(Damaged):
        Unpacker(b"\x80" * 10_000_000).number()


def test_the_layout_stays_what_recordings_on_disk_have():
    """These bytes were written once, by schema 1: they must be read for ever. A change here needs a new schema."""
    event = samples.NodeSample(
        "rac1", 1789000000.123, 1.0,
        {"eth1": samples.InterfaceCounts(rx_bytes=300, tx_carrier=1)}, {"Ip.ReasmFails": 2, "Ip.FragOKs": 0},
        samples.CpuTime(2, 2.0, 1.5, 0.25, 33.3), 0.75, ("eth2",),
    )  # fmt: skip
    assert shape_as_text(shape_of(event)) == '["node","rac1",["eth1"],["Ip.ReasmFails","Ip.FragOKs"]]'
    time, of_one_second, eth1 = "013bdf07507ea8da41", "66", "0120" + "ac02" + "01"
    counters, load, cpu, left_out = "01" + "02", "4d", "0102" + "ca01" + "9801" + "1b" + "841a", "0104" + "65746832"
    assert pack(event).hex() == time + of_one_second + eth1 + counters + load + cpu + left_out
