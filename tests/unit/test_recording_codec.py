"""Events as bytes: encoding and decoding lose nothing, and bytes from elsewhere do no harm."""

import contextlib
import tracemalloc
import zlib

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.model.facts import BlockTransfer, InstancePing, ServiceActivity
from checks.traffic import samples
from checks.traffic.peer_stream import SameNodeError
from checks.traffic.recording_codec import LARGEST_EVENT, Packed, events_in, pack, rows_of, unpack
from checks.traffic.recording_shapes import (
    DamagedError,
    GapShape,
    LatencyShape,
    NodeShape,
    UnpackableError,
    shape_as_text,
    shape_from_text,
    shape_of,
)
from checks.traffic.samples import GapCause
from checks.traffic.source_id import SourceId, SourceKind

LARGEST, SMALLEST = 2**64 - 1, -(2**63)
"""Counts are 64 bits wide, with or without a sign."""
TEXT = st.text(max_size=12)
COUNT = st.integers(SMALLEST, LARGEST)
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
    st.lists(st.builds(ServiceActivity, st.integers(1, 16), TEXT, *[COUNT] * 3), max_size=4).map(tuple),
)  # fmt: skip
LATENCY = st.builds(
    samples.LatencySample, TEXT, TEXT, st.integers(0, 9000), TIME, SECONDS, COUNT, COUNT, OPTIONAL, OPTIONAL, OPTIONAL
)
SOURCE = st.builds(SourceId, st.sampled_from(SourceKind).filter(lambda kind: kind is not SourceKind.LATENCY), TEXT)
PATH = st.builds(
    SourceId, st.just(SourceKind.LATENCY), st.just("rac2"), st.just("192.168.10.0/24"), st.integers(0, 9000)
)
GAP = st.builds(samples.Gap, SOURCE | PATH, TIME, TEXT, st.none() | SOURCE, st.sampled_from(GapCause))
LINK = st.builds(samples.Link, TEXT, TEXT, st.integers(0, 65536), st.booleans(), st.none() | COUNT, TEXT, TEXT)
LINKS = st.builds(samples.Links, TEXT, TIME, st.lists(LINK, max_size=3).map(tuple))
EVENT = NODE | INSTANCE | PAIRS | LATENCY | GAP


def packed(event, body=None):
    return Packed(1, event.at, msgspec.Raw(pack(event) if body is None else body))


@given(EVENT)
def test_an_event_round_trips_with_negative_and_largest_counts(event):
    shape = shape_from_text(shape_as_text(shape_of(event)))
    ((_, row),) = rows_of([packed(event)])
    (found,) = events_in(row)
    assert unpack(shape, found) == event
    assert (found.shape, found.at) == (1, event.at)


def test_every_kind_of_event_has_a_shape():
    kinds = {shape.__struct_config__.tag for shape in shape_of.__globals__["_Shape"].__subclasses__()}
    assert kinds == {event.kind for event in samples.Event.__args__}


@settings(deadline=None)
@given(st.binary(max_size=300), EVENT)
def test_invalid_bytes_are_refused_or_parsed_but_never_crash(data, event):
    for damaged in (data, pack(event) + data, pack(event)[:-1]):
        try:
            read = unpack(shape_of(event), packed(event, damaged))
        except DamagedError:
            continue
        assert read.source == event.source
        assert getattr(read, "seconds", 1) > 0


@settings(deadline=None)
@given(st.text() | st.recursive(st.none() | COUNT | TEXT, lambda x: st.lists(x, max_size=4)).map(msgspec.json.encode))
def test_invalid_shapes_are_refused_or_of_an_unknown_kind(text):
    text = text.decode() if isinstance(text, bytes) else text
    with contextlib.suppress(DamagedError):
        assert shape_from_text(text) is None


def test_deeply_nested_json_is_damage_and_not_a_crash():
    with pytest.raises(DamagedError):
        shape_from_text('["node",' + "[" * 100_000)


def test_a_later_kind_of_event_is_unknown_and_not_damage():
    assert shape_from_text('["temperature","rac1",["cpu0"]]') is None


def test_no_field_of_an_event_is_missing():
    """A new field of a sample must be packed too: otherwise it would come back as its default."""
    assert [kind.__struct_fields__ for kind in samples.Event.__args__] == [
        ("node", "at", "seconds", "interfaces", "counters", "cpu", "load", "left_out"),
        ("instance", "number", "host", "at", "seconds", "statistics", "messages", "left_out"),
        ("at", "seconds", "transfers", "pings", "unread", "services"),
        ("network", "to_node", "payload", "at", "seconds", "sent", "received", "p50_us", "p99_us", "max_us"),
        ("node", "at", "links"),
        ("source", "at", "reason", "caused_by", "cause", "up_s"),
    ]


def test_names_that_are_not_unicode_round_trip():
    shape = GapShape(SourceId.node("\udcff"), cause=samples.GapCause.NOT_KNOWN)
    assert shape_from_text(shape_as_text(shape)) == shape
    gap = samples.Gap(SourceId.node("\udcff"), 1.5, "\udcfe\x1b[2J")
    assert unpack(shape, packed(gap)) == gap


@pytest.mark.parametrize(
    ("text", "reason", "wanted"),
    [
        ('["gap","instance prod2",""]', "prod2 is down: V$ACTIVE_INSTANCES does not list it.", GapCause.INSTANCE_DOWN),
        ('["gap","instance prod2"]', "prod2 did not answer in time.", GapCause.NOT_KNOWN),
        ('["gap","node rac3",""]', str(SameNodeError("rac3", "rac1")), GapCause.ALIAS),
        ('["gap","node rac3","","alias"]', "any words", GapCause.ALIAS),
        ('["gap","instance prod2","",""]', "prod2 is down: V$ACTIVE_INSTANCES does not list it.", GapCause.NOT_KNOWN),
    ],
)
def test_the_cause_of_a_gap_is_read_and_for_a_recording_of_0_2_0_follows_from_its_reason(text, reason, wanted):
    shape = shape_from_text(text)
    gap = unpack(shape, packed(samples.Gap(shape.source, 1.0, reason)))
    assert (gap.reason, gap.cause) == (reason, wanted)
    assert (gap.caused_by == SourceId.node("rac1")) == (reason == str(SameNodeError("rac3", "rac1")))


@pytest.mark.parametrize("wrong", [LARGEST + 1, SMALLEST - 1])
def test_counts_impossible_for_a_kernel_are_not_packed(wrong):
    with pytest.raises(UnpackableError):
        pack(samples.NodeSample("rac1", 1.0, 1.0, counters={"Ip.InReceives": wrong}))


NO_NUMBERS = [float("nan"), float("inf"), float("-inf")]
CPU_OF_ONE = samples.CpuTime(1, 1.0, 1.0, 0.0, 0.0)


@pytest.mark.parametrize("wrong", NO_NUMBERS)
@pytest.mark.parametrize(
    "make",
    [
        lambda wrong: samples.NodeSample("rac1", 1.0, wrong),
        lambda wrong: samples.NodeSample("rac1", 1.0, 1.0, load=wrong),
        lambda wrong: samples.NodeSample("rac1", 1.0, 1.0, cpu=msgspec.structs.replace(CPU_OF_ONE, idle_s=wrong)),
        lambda wrong: samples.LatencySample("priv1", "rac2", 56, 1.0, 1.0, 1, 1, max_us=wrong),
    ],
)
def test_impossible_measurements_are_not_packed(make, wrong):
    pack(make(1.5))
    with pytest.raises(UnpackableError):
        pack(make(wrong))


@pytest.mark.parametrize("wrong", NO_NUMBERS)
@pytest.mark.parametrize(
    ("shape", "body"),
    [
        (NodeShape("rac1", (), ()), lambda x: [x, [], [], None, None, []]),
        (NodeShape("rac1", (), ()), lambda x: [1.0, [], [], x, None, []]),
        (NodeShape("rac1", (), ()), lambda x: [1.0, [], [], None, [1, 1.0, x, 1.0, 1.0], []]),
        (LatencyShape("priv1", "rac2", 56), lambda x: [1.0, 1, 1, None, None, x]),
    ],
)
def test_impossible_measurements_are_not_unpacked(shape, body, wrong):
    def read(value):
        return unpack(shape, Packed(1, 1.0, msgspec.Raw(msgspec.msgpack.encode(body(value)))))

    read(1.5)
    with pytest.raises(DamagedError):
        read(wrong)


@pytest.mark.parametrize("at", NO_NUMBERS)
def test_a_row_with_an_invalid_time_is_not_unpacked(at):
    with pytest.raises(DamagedError, match="a time is none"):
        events_in(zlib.compress(msgspec.msgpack.encode([[1, at, None]])))


def test_a_sample_with_an_invalid_time_is_neither_packed_nor_unpacked():
    with pytest.raises(UnpackableError):
        pack(samples.NodeSample("rac1", 1.0, 0.0))
    of_no_time = msgspec.msgpack.encode([0.0, [], [], None, None, []])
    with pytest.raises(DamagedError, match="no time"):
        unpack(NodeShape("rac1", (), ()), Packed(1, 1.0, msgspec.Raw(of_no_time)))


def test_hundredths_take_no_more_space_than_integers_and_other_values_are_exact():
    def size(load):
        return len(pack(samples.NodeSample("rac1", 1.0, 1.0, load=load)))

    assert size(63.25) == size(None) + 2
    assert size(63.251) == size(None) + 8


def test_numbers_that_do_not_match_the_names_are_damage():
    sample = samples.NodeSample("rac1", 1.0, 1.0, counters={"Ip.ReasmFails": 1})
    for names in ((), ("Ip.ReasmFails", "Ip.FragOKs")):
        with pytest.raises(DamagedError):
            unpack(NodeShape("rac1", (), names), packed(sample))
    for interfaces in ((), ("eth1",), ("eth1", "eth2")):
        of_seven = msgspec.msgpack.encode([1.0, [1] * 7, [], None, None, []])
        with pytest.raises(DamagedError):
            unpack(NodeShape("rac1", interfaces, ()), Packed(1, 1.0, msgspec.Raw(of_seven)))


def test_the_pairs_of_the_largest_cluster_fit_into_an_event():
    pairs = [(a, b) for a in range(1, 256) for b in range(1, 256) if a != b]
    sample = samples.PairsSample(
        1.0,
        10.0,
        tuple(BlockTransfer(*p, 300, 300, 0) for p in pairs),
        tuple(InstancePing(*p, 2, 900, 2, 900) for p in pairs),
    )
    event = packed(sample)
    assert len(event.body) < LARGEST_EVENT
    ((_, row),) = rows_of([event])
    assert unpack(shape_of(sample), events_in(row)[0]) == sample


BOMBS = {
    "one event is gigabytes": lambda: [[1, 1.0, bytes(50_000_000)]],
    "there are millions of events": lambda: [[1, 1, None]] * 1_000_000,
    "a few events more than a row has": lambda: [[1, 1, None]] * 50_001,
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_row_that_inflates_beyond_the_limit_is_not_inflated(bomb):
    row = zlib.compress(msgspec.msgpack.encode(BOMBS[bomb]()))
    assert len(row) < 60_000
    tracemalloc.start()
    with pytest.raises(DamagedError):
        events_in(row)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8_000_000


@settings(deadline=None)
@given(st.binary(max_size=300), EVENT)
def test_invalid_rows_are_refused_or_parsed_but_never_crash(data, event):
    ((_, row),) = rows_of([packed(event)])
    for damaged in (data, zlib.compress(data), row + data, row[:-1], row[:5] + data):
        with contextlib.suppress(DamagedError):
            assert all(isinstance(found, Packed) for found in events_in(damaged))


def test_the_format_stays_that_of_existing_recordings():
    """These bytes were written once, by schema 2: they must always be readable. A change here needs a new schema."""
    event = samples.NodeSample(
        "rac1", 1789000000.123, 1.0,
        {"eth1": samples.InterfaceCounts(rx_bytes=300, tx_carrier=1)}, {"Ip.ReasmFails": 2, "Ip.FragOKs": 0},
        samples.CpuTime(2, 2.0, 1.5, 0.25, 33.3), 0.75, ("eth2",),
    )  # fmt: skip
    assert shape_as_text(shape_of(event)) == '["node","rac1",["eth1"],["Ip.ReasmFails","Ip.FragOKs"]]'
    of_one_second, eth1 = "cb3ff0000000000000", "9e" + "cd012c" + "00" * 12 + "01"
    counters, load, cpu, left_out = "92" + "02" + "00", "4b", "95" + "02ccc8cc9619cd0d02", "91" + "c40465746832"
    assert pack(event).hex() == "96" + of_one_second + eth1 + counters + load + cpu + left_out
    at = "cb41daa87e5007df3b"
    ((key, row),) = rows_of([packed(event)])
    assert key == 1789000000123000
    assert zlib.decompress(row).hex() == "91" + "93" + "01" + at + pack(event).hex()
