"""Events as bytes, and back. What seldom changes (which interfaces, which counters) is an event's shape and is kept
once; an event is then only its numbers, in the order of its shape's names.

Whatever changes here, or in the fields of a sample, changes the layout: then `recording_file.SCHEMA` is raised.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeVar, cast

import msgspec

from checks.model.facts import BlockTransfer, InstancePing
from checks.traffic.recording_bytes import Damaged, Packer, Unpackable, Unpacker
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

T = TypeVar("T")
_FIELDS = InterfaceCounts.__struct_fields__


class _Shape(msgspec.Struct, frozen=True, array_like=True, tag_field="kind"):
    """What is the same in many events of one source."""


class NodeShape(_Shape, frozen=True, tag="node"):
    """Of a NodeSample."""

    node: str
    interfaces: tuple[str, ...]
    counters: tuple[str, ...]


class InstanceShape(_Shape, frozen=True, tag="instance"):
    """Of an InstanceSample."""

    instance: str
    number: int
    host: str
    statistics: tuple[str, ...]
    messages: tuple[str, ...]


class PairsShape(_Shape, frozen=True, tag="pairs"):
    """Of a PairsSample: receivers with senders, instances with their targets."""

    transfers: tuple[tuple[int, int], ...]
    pings: tuple[tuple[int, int], ...]


class LatencyShape(_Shape, frozen=True, tag="latency"):
    """Of a LatencySample."""

    network: str
    to_node: str
    payload: int


class GapShape(_Shape, frozen=True, tag="gap"):
    """Of a Gap."""

    source: str


class LinksShape(_Shape, frozen=True, tag="links"):
    """Of Links, which are kept by themselves: their shape only tells when their node was first heard of."""

    node: str


Shape = NodeShape | InstanceShape | PairsShape | LatencyShape | GapShape | LinksShape
_KINDS = {kind.__struct_config__.tag for kind in _Shape.__subclasses__()}


def shape_of(event: Event) -> Shape:
    """The shape that the event has."""
    match event:
        case NodeSample():
            return NodeShape(event.node, tuple(event.interfaces), tuple(event.counters))
        case InstanceSample():
            return InstanceShape(
                event.instance, event.number, event.host, tuple(event.statistics), tuple(event.messages)
            )
        case PairsSample():
            return PairsShape(
                tuple((t.receiver, t.sender) for t in event.transfers),
                tuple((p.instance, p.target) for p in event.pings),
            )
        case LatencySample():
            return LatencyShape(event.network, event.to_node, event.payload)
        case Gap():
            return GapShape(event.source)
        case Links():
            return LinksShape(event.node)


def shape_as_text(shape: Shape) -> str:
    """The shape as one line of JSON."""
    return as_json(shape)


def shape_from_text(text: str) -> Shape | None:
    """The shape of that text; None for events of a kind that this racwire does not know. Raises Damaged."""
    read = from_json(text, list[Any])
    if read and isinstance(read[0], str) and read[0] not in _KINDS:
        return None
    return cast(Shape, from_json(text, cast(type[Any], Shape)))


def as_json(value: object, *, indent: int | None = None) -> str:
    """JSON in ASCII: text that is no Unicode, as names of devices can be, comes back as it was."""
    separators = (",", ":") if indent is None else (",", ": ")
    return json.dumps(msgspec.to_builtins(value), ensure_ascii=True, separators=separators, indent=indent)


def from_json(text: object, kind: type[T]) -> T:
    """What `as_json` made. Raises Damaged."""
    try:
        if not isinstance(text, str):
            raise Damaged("a text is none")
        try:
            return msgspec.json.decode(text, type=kind)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:  # no Unicode
            return msgspec.convert(json.loads(text), kind)
    except (ValueError, RecursionError) as error:
        raise Damaged("a text in it is not what was recorded") from error


def pack(event: Event) -> bytes:
    """The event without what its shape says. Raises Unpackable."""
    to = Packer()
    to.real(event.at)
    if isinstance(event, NodeSample | InstanceSample | PairsSample | LatencySample):
        if event.seconds <= 0:
            raise Unpackable("a sample covers no time")
        to.real(event.seconds)
    match event:
        case NodeSample():
            to.counts([getattr(i, name) for i in event.interfaces.values() for name in _FIELDS])
            to.counts(list(event.counters.values()))
            to.real(event.load)
            _pack_cpu(to, event.cpu)
            _pack_texts(to, event.left_out)
        case InstanceSample():
            to.counts([*event.statistics.values(), *event.messages.values()])
            _pack_texts(to, event.left_out)
        case PairsSample():
            to.counts([n for t in event.transfers for n in _transfer_counts(t)])
            to.counts([n for p in event.pings for n in _ping_counts(p)])
            _pack_texts(to, [text for view in event.unread.items() for text in view])
        case LatencySample():
            to.counts((event.sent, event.received))
            to.real(event.p50_us)
            to.real(event.p99_us)
            to.real(event.max_us)
        case Gap():
            to.text(event.reason)
        case Links():
            raise TypeError("links are kept by themselves")
    return bytes(to.data)


def time_of(data: bytes) -> float:
    """When a packed event ended, without taking apart the rest of it. Raises Damaged."""
    return Unpacker(data).real()


def unpack(shape: Shape, data: bytes) -> Event:
    """The event again. Raises Damaged."""
    of = Unpacker(data)
    event = _unpack(shape, of)
    if not of.at_end:
        raise Damaged("a sample has more in it than it says")
    return event


def _unpack(shape: Shape, of: Unpacker) -> Event:
    at = of.real()
    if isinstance(shape, GapShape):
        return Gap(shape.source, at, of.text())
    seconds = of.real()
    if seconds <= 0:
        raise Damaged("a sample covers no time")
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
            raise Damaged("links stand where samples should")


def _unpack_node(shape: NodeShape, at: float, seconds: float, of: Unpacker) -> NodeSample:
    width = len(_FIELDS)
    values = of.counts(width * len(shape.interfaces))
    return NodeSample(
        node=shape.node,
        at=at,
        seconds=seconds,
        interfaces={
            name: InterfaceCounts(*values[width * n : width * (n + 1)]) for n, name in enumerate(shape.interfaces)
        },
        counters=dict(zip(shape.counters, of.counts(len(shape.counters)), strict=True)),
        load=of.real_or_none(),
        cpu=_unpack_cpu(of),
        left_out=_unpack_texts(of),
    )


def _pack_cpu(to: Packer, cpu: CpuTime | None) -> None:
    to.number(1 if cpu else 0)
    if cpu:
        to.number(cpu.cpus)
        for value in (cpu.total_s, cpu.idle_s, cpu.softirq_s, cpu.busiest_softirq_percent):
            to.real(value)


def _unpack_cpu(of: Unpacker) -> CpuTime | None:
    return CpuTime(of.number(), of.real(), of.real(), of.real(), of.real()) if of.number() else None


def _pack_texts(to: Packer, texts: Sequence[str]) -> None:
    to.number(len(texts))
    for text in texts:
        to.text(text)


def _unpack_texts(of: Unpacker) -> tuple[str, ...]:
    return tuple(of.text() for _ in range(of.number()))


def _transfer_counts(t: BlockTransfer) -> tuple[int, ...]:
    return (t.cr_blocks, t.current_blocks, t.lost, t.cr_time_us, t.current_time_us, t.lost_time_us)


def _ping_counts(p: InstancePing) -> tuple[int, ...]:
    return (p.count_500b, p.time_500b_us, p.count_8k, p.time_8k_us)
