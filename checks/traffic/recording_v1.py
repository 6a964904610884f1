"""Decodes the rows of recordings of racwire 0.1.0 (layout 1). Read only.

A row has, for each event, the number of its shape, its length, and its bytes. Integers have seven bits a byte (LEB128).
A list of counts is a bitmap of the counts that are not 0, followed by these counts. Real numbers are hundredths or
eight bytes.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator

from msgspec import Raw

from checks.model.facts import BlockTransfer, InstancePing
from checks.traffic.recording_codec import Packed
from checks.traffic.recording_shapes import (
    DamagedError,
    GapShape,
    InstanceShape,
    LatencyShape,
    LinksShape,
    NodeShape,
    PairsShape,
    Shape,
)
from checks.traffic.samples import (
    CpuTime,
    Event,
    Gap,
    InstanceSample,
    InterfaceCounts,
    LatencySample,
    NodeSample,
    PairsSample,
)

SCHEMA = 1
_LARGEST = 2**64 - 1
_MOST_BYTES = 10
"""Most bytes of a 64-bit number, with seven bits in a byte."""
_DOUBLE = struct.Struct("<d")
_NONE, _HUNDREDTHS = 0, 2
_WIDTH = len(InterfaceCounts.__struct_fields__)


def events_in(row: bytes) -> Iterator[Packed]:
    """Yield the events in a row. Raises DamagedError where the bytes end too early or are invalid."""
    of = Unpacker(row)
    while not of.at_end:
        shape, body = of.number(), of.blob()
        yield Packed(shape, Unpacker(body).real(), Raw(body))


def unpack(shape: Shape, packed: Packed) -> Event:
    """Return the event from its bytes. Raises DamagedError where they are invalid, or where bytes are left."""
    of = Unpacker(bytes(packed.body))
    event = _unpack(shape, of)
    if not of.at_end:
        raise DamagedError("a sample has more in it than it says")
    return event


def _unpack(shape: Shape, of: Unpacker) -> Event:
    at = of.real()
    if isinstance(shape, GapShape):
        return Gap(shape.source, at, of.text())
    seconds = of.real()
    if seconds <= 0:
        raise DamagedError("a sample covers no time")
    match shape:
        case NodeShape():
            return _unpack_node(shape, at, seconds, of)
        case InstanceShape():
            values = of.counts(len(shape.statistics) + len(shape.messages))
            return InstanceSample(
                instance=shape.instance,
                number=shape.number,
                host=shape.host,
                at=at,
                seconds=seconds,
                statistics=dict(zip(shape.statistics, values, strict=False)),
                messages=dict(zip(shape.messages, values[len(shape.statistics) :], strict=False)),
                left_out=_unpack_texts(of),
            )
        case PairsShape():
            transfers, pings = of.counts(6 * len(shape.transfers)), of.counts(4 * len(shape.pings))
            return PairsSample(
                at=at,
                seconds=seconds,
                transfers=tuple(
                    BlockTransfer(*pair, *transfers[6 * n : 6 * n + 6]) for n, pair in enumerate(shape.transfers)
                ),
                pings=tuple(InstancePing(*pair, *pings[4 * n : 4 * n + 4]) for n, pair in enumerate(shape.pings)),
                unread=dict(zip(*[iter(_unpack_texts(of))] * 2, strict=False)),
            )
        case LatencyShape():
            sent, received = of.counts(2)
            return LatencySample(
                network=shape.network,
                to_node=shape.to_node,
                payload=shape.payload,
                at=at,
                seconds=seconds,
                sent=sent,
                received=received,
                p50_us=of.real_or_none(),
                p99_us=of.real_or_none(),
                max_us=of.real_or_none(),
            )
        case LinksShape():
            raise DamagedError("links are in the place of samples")


def _unpack_node(shape: NodeShape, at: float, seconds: float, of: Unpacker) -> NodeSample:
    values = of.counts(_WIDTH * len(shape.interfaces))
    return NodeSample(
        node=shape.node,
        at=at,
        seconds=seconds,
        interfaces={
            name: InterfaceCounts(*values[_WIDTH * n : _WIDTH * (n + 1)]) for n, name in enumerate(shape.interfaces)
        },
        counters=dict(zip(shape.counters, of.counts(len(shape.counters)), strict=True)),
        load=of.real_or_none(),
        cpu=_unpack_cpu(of),
        left_out=_unpack_texts(of),
    )


def _unpack_cpu(of: Unpacker) -> CpuTime | None:
    return CpuTime(of.number(), of.real(), of.real(), of.real(), of.real()) if of.number() else None


def _unpack_texts(of: Unpacker) -> tuple[str, ...]:
    return tuple(of.text() for _ in range(of.number()))


class Unpacker:
    """Decodes values. Every method raises DamagedError where the bytes are not such a value, or end too early."""

    def __init__(self, data: bytes, place: int = 0) -> None:
        self._data = data
        self._place = place

    @property
    def at_end(self) -> bool:
        """Whether all bytes are decoded."""
        return self._place >= len(self._data)

    def number(self) -> int:
        """Return a number from 0 on. Raises DamagedError where it has no end."""
        data, place = self._data, self._place
        value = shift = 0
        for byte in data[place : place + _MOST_BYTES]:
            value |= (byte & 0x7F) << shift
            place += 1
            if byte < 0x80:
                self._place = place
                if value > _LARGEST:
                    break
                return value
            shift += 7
        raise DamagedError("a number has no end")

    def counts(self, how_many: int) -> list[int]:
        """Return `how_many` numbers, of which most are 0."""
        bitmap = int.from_bytes(self._take((how_many + 7) // 8), "little")
        values = [0] * how_many
        for place in range(how_many):
            if bitmap >> place & 1:
                values[place] = self.number() or -self.number()
        return values

    def real(self) -> float:
        """Return a finite number. Raises DamagedError where it is missing."""
        value = self.real_or_none()
        if value is None:
            raise DamagedError("a number is missing")
        return value

    def real_or_none(self) -> float | None:
        """Return a finite number, or None. Raises DamagedError where it is not finite."""
        form = self.number()
        if form == _NONE:
            return None
        if form >= _HUNDREDTHS:
            return (form - _HUNDREDTHS) / 100
        value: float = _DOUBLE.unpack(self._take(_DOUBLE.size))[0]
        if not math.isfinite(value):
            raise DamagedError(f"{value} is no measured value")
        return value

    def blob(self) -> bytes:
        """Return a run of bytes with its length in front."""
        return self._take(self.number())

    def text(self) -> str:
        """Return a text. Raises DamagedError where it is not UTF-8."""
        try:
            return self.blob().decode("utf-8", errors="surrogatepass")
        except UnicodeDecodeError as error:
            raise DamagedError("a text is not UTF-8") from error

    def _take(self, size: int) -> bytes:
        taken = self._data[self._place : self._place + size]
        if len(taken) < size:
            raise DamagedError("it ends too early")
        self._place += size
        return taken
