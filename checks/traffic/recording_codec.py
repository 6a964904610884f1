"""Encodes events as bytes, and decodes them. The names in an event (interfaces, counters) seldom change: they are the
event's shape, which is stored once. The event itself is only its numbers, in the order of the names in its shape.

A row of a recording holds the events of one write: a list of shape, time and body of each, as MessagePack, deflated.
Counts have 64 bits. The kernel reports CPU times and loads in hundredths: they are stored as whole hundredths where
that is exact, so nothing is rounded. Texts are bytes, since names of devices may be invalid Unicode.

Any change here, or in the fields of a sample, changes the layout and requires a higher `recording_file.SCHEMA`.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Annotated, TypeVar

import msgspec

from checks.model.facts import BlockTransfer, InstancePing, ServiceActivity
from checks.traffic.recording_shapes import (
    DamagedError,
    GapShape,
    InstanceShape,
    LatencyShape,
    LinksShape,
    NodeShape,
    PairsShape,
    Shape,
    UnpackableError,
    gap_of,
)
from checks.traffic.samples import (
    CpuTime,
    Event,
    Gap,
    InstanceSample,
    InterfaceCounts,
    LatencySample,
    Links,
    NodeSample,
    PairsSample,
)

SPAN_S = 11.0
"""Seconds by which the key of a row can be later than its events. A row covers ten seconds; the eleventh is for rows
whose key was in use and that have the next free key."""
LATEST = 9e12
"""The largest time that SQLite can hold in microseconds, in the year 287,000."""
LARGEST_EVENT = 2_000_000
"""Most bytes of one event before compression: the pairs of 255 instances have 1.5 MB."""

_COVERED_S = 10.0
_ROW_BYTES = 64_000
"""Bytes of a row before compression from which on the next event starts a new row."""
_INFLATED = _ROW_BYTES + LARGEST_EVENT + 1000
_MOST_EVENTS = 50_000
"""Most events of a row: each event has at least three bytes."""
_MOST_HUNDREDTHS = 10**15

T = TypeVar("T")
_counts_of_interface = attrgetter(*InterfaceCounts.__struct_fields__)
_WIDTH = len(InterfaceCounts.__struct_fields__)
_counts_of_transfer = attrgetter(*BlockTransfer.__struct_fields__[2:])
_counts_of_ping = attrgetter(*InstancePing.__struct_fields__[2:])


# --- the body of an event ---

_Real = int | float
"""A number of hundredths (int), or the number itself (float)."""


class _Body(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The numbers of one event."""


class _NodeBody(_Body, frozen=True):
    seconds: float
    interfaces: list[int]
    counters: list[int]
    load: _Real | None
    cpu: tuple[int, _Real, _Real, _Real, _Real] | None
    left_out: tuple[bytes, ...]


class _InstanceBody(_Body, frozen=True):
    seconds: float
    counts: list[int]
    left_out: tuple[bytes, ...]


class _PairsBody(_Body, frozen=True):
    seconds: float
    transfers: list[int]
    pings: list[int]
    unread: dict[bytes, bytes]
    services: list[int] = []


class _LatencyBody(_Body, frozen=True):
    seconds: float
    sent: int
    received: int
    p50_us: float | None
    p99_us: float | None
    max_us: float | None


_encode = msgspec.msgpack.Encoder().encode
_node = msgspec.msgpack.Decoder(_NodeBody)
_instance = msgspec.msgpack.Decoder(_InstanceBody)
_pairs = msgspec.msgpack.Decoder(_PairsBody)
_latency = msgspec.msgpack.Decoder(_LatencyBody)
_reason = msgspec.msgpack.Decoder(bytes | tuple[bytes, float])


def pack(event: Event) -> bytes:
    """Return the bytes of an event without its time and its shape. Raises UnpackableError where a number is impossible,
    or the sample covers no time."""
    if not isinstance(event, Gap | Links) and not 0 < event.seconds < math.inf:
        raise UnpackableError("a sample covers no time")
    try:
        return _encode(_body(event))
    except OverflowError:
        raise UnpackableError("a number in it is no count of 64 bits") from None


def _body(event: Event) -> _Body | bytes | tuple[bytes, float]:
    match event:
        case NodeSample(cpu=cpu):
            return _NodeBody(
                event.seconds,
                [count for counts in event.interfaces.values() for count in _counts_of_interface(counts)],
                list(event.counters.values()),
                None if event.load is None else _real(event.load),
                None
                if cpu is None
                else (cpu.cpus, _real(cpu.total_s), _real(cpu.idle_s), _real(cpu.softirq_s),
                      _real(cpu.busiest_softirq_percent)),
                tuple(map(_as_bytes, event.left_out)),
            )  # fmt: skip
        case InstanceSample():
            counts = [*event.statistics.values(), *event.messages.values()]
            return _InstanceBody(event.seconds, counts, tuple(map(_as_bytes, event.left_out)))
        case PairsSample():
            return _PairsBody(
                event.seconds,
                [count for transfer in event.transfers for count in _counts_of_transfer(transfer)],
                [count for ping in event.pings for count in _counts_of_ping(ping)],
                {_as_bytes(view): _as_bytes(why) for view, why in event.unread.items()},
                [count for s in event.services for count in (s.db_time_us, s.cluster_us, s.blocks)],
            )
        case LatencySample(p50_us=p50, p99_us=p99, max_us=longest):
            _refuse_infinite(UnpackableError, p50, p99, longest)
            return _LatencyBody(event.seconds, event.sent, event.received, p50, p99, longest)
        case Gap():
            reason = _as_bytes(event.reason)
            _refuse_infinite(UnpackableError, event.up_s)
            return reason if event.up_s is None else (reason, event.up_s)
        case Links():
            raise TypeError("links are stored in a table of their own")


def unpack(shape: Shape, packed: Packed) -> Event:
    """Return the event from its bytes. Raises DamagedError where no Recorder wrote them."""
    try:
        event = _unpacked(shape, packed.at, packed.body)
    except (msgspec.DecodeError, ValueError) as error:
        raise DamagedError("a sample is not what was recorded") from error
    if not isinstance(event, Gap | Links) and not 0 < event.seconds < math.inf:
        raise DamagedError("a sample covers no time")
    return event


def _unpacked(shape: Shape, at: float, body: msgspec.Raw) -> Event:
    match shape:
        case NodeShape():
            node = _node.decode(body)
            return NodeSample(
                node=shape.node,
                at=at,
                seconds=node.seconds,
                interfaces={
                    name: InterfaceCounts(*counts)
                    for name, counts in zip(shape.interfaces, _rows(node.interfaces, _WIDTH), strict=True)
                },
                counters=dict(zip(shape.counters, node.counters, strict=True)),
                cpu=None if node.cpu is None else CpuTime(node.cpu[0], *map(_number, node.cpu[1:])),
                load=None if node.load is None else _number(node.load),
                left_out=tuple(map(_as_text, node.left_out)),
            )
        case InstanceShape():
            instance = _instance.decode(body)
            statistics = len(shape.statistics)
            return InstanceSample(
                instance=shape.instance,
                number=shape.number,
                host=shape.host,
                at=at,
                seconds=instance.seconds,
                statistics=dict(zip(shape.statistics, instance.counts[:statistics], strict=True)),
                messages=dict(zip(shape.messages, instance.counts[statistics:], strict=True)),
                left_out=tuple(map(_as_text, instance.left_out)),
            )
        case PairsShape():
            pairs = _pairs.decode(body)
            transfers, pings = _rows(pairs.transfers, 6), _rows(pairs.pings, 4)
            services = _rows(pairs.services, 3)
            return PairsSample(
                at=at,
                seconds=pairs.seconds,
                transfers=tuple(BlockTransfer(*p, *c) for p, c in zip(shape.transfers, transfers, strict=True)),
                pings=tuple(InstancePing(*p, *c) for p, c in zip(shape.pings, pings, strict=True)),
                unread={_as_text(view): _as_text(why) for view, why in pairs.unread.items()},
                services=tuple(ServiceActivity(*s, *c) for s, c in zip(shape.services, services, strict=True)),
            )
        case LatencyShape():
            latency = _latency.decode(body)
            _refuse_infinite(DamagedError, latency.p50_us, latency.p99_us, latency.max_us)
            return LatencySample(shape.network, shape.to_node, shape.payload, at, *msgspec.structs.astuple(latency))
        case GapShape():
            gap = _reason.decode(body)
            reason, up_s = (gap, None) if isinstance(gap, bytes) else gap
            _refuse_infinite(DamagedError, up_s)
            return gap_of(shape, at, _as_text(reason), up_s)
        case LinksShape():
            raise DamagedError("links are in the place of samples")


def _rows(counts: list[int], width: int) -> Iterator[list[int]]:
    """Return counts as rows of `width`. Raises ValueError where the last row would be incomplete."""
    if len(counts) % width:
        raise ValueError("counts are missing")
    return (counts[begin : begin + width] for begin in range(0, len(counts), width))


def _real(value: float) -> _Real:
    _refuse_infinite(UnpackableError, value)
    hundredths = round(value * 100) if abs(value) < _MOST_HUNDREDTHS / 100 else 0
    return hundredths if hundredths / 100 == value and (value or math.copysign(1, value) > 0) else value


def _number(value: _Real) -> float:
    _refuse_infinite(DamagedError, value)
    return value / 100 if isinstance(value, int) else value


def _refuse_infinite(error: type[ValueError], *values: float | None) -> None:
    for value in values:
        if value is not None and not math.isfinite(value):
            raise error(f"{value} is no measured value")


def _as_bytes(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogatepass")


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", errors="surrogatepass")


# --- the rows ---


class Packed(msgspec.Struct, frozen=True, array_like=True):
    """An event in the form of a row."""

    shape: int
    at: float
    body: msgspec.Raw


_row: msgspec.msgpack.Decoder[list[Packed]] = msgspec.msgpack.Decoder(
    Annotated[list[Packed], msgspec.Meta(max_length=_MOST_EVENTS)]
)


def rows_of(samples: Iterable[Packed]) -> Iterator[tuple[int, bytes]]:
    """Yield keys and bodies of rows for packed events, which must be in order of time."""
    row: list[Packed] = []
    size = 0
    for sample in samples:
        if row and (sample.at - row[0].at > _COVERED_S or size > _ROW_BYTES):
            yield key_of(row[-1].at), zlib.compress(_encode(row))
            row, size = [], 0
        row.append(sample)
        size += len(sample.body)
    if row:
        yield key_of(row[-1].at), zlib.compress(_encode(row))


def row_until(row: bytes, until: float) -> bytes | None:
    """Return a row without the events after `until`; None where it has no others. Raises DamagedError where no Recorder
    wrote the row."""
    events = [event for event in events_in(row) if event.at <= until]
    return zlib.compress(_encode(events)) if events else None


def key_of(at: float) -> int:
    """Return the key of a row that ends at `at`, in microseconds, rounded up so that no event is later."""
    return math.ceil(max(-LATEST, min(at, LATEST)) * 1e6)


def events_in(row: bytes) -> list[Packed]:
    """Return the events in a row, with packed bodies. Raises DamagedError where no Recorder wrote the row; never
    inflates more than the largest row."""
    inflating = zlib.decompressobj()
    try:
        data = inflating.decompress(row, _INFLATED)
        if not inflating.eof or inflating.unused_data:
            raise DamagedError("a row is longer than any, or ends too early")
        events = _row.decode(data)
    except (zlib.error, msgspec.DecodeError) as error:
        raise DamagedError("a row is not what was recorded") from error
    if not all(map(math.isfinite, (event.at for event in events))):
        raise DamagedError("a time is none")
    return events
