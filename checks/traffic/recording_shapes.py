"""The shapes of events: what seldom changes in them (which interfaces, which counters), kept once in a recording."""

from __future__ import annotations

import json
from typing import Any, TypeVar, cast

import msgspec

from checks.traffic.json_text import as_json
from checks.traffic.samples import (
    Event,
    Gap,
    InstanceSample,
    LatencySample,
    Links,
    NodeSample,
    PairsSample,
)

T = TypeVar("T")


class UnpackableError(ValueError):
    """A sample holds a number that no kernel or database counts, or that is none: infinite, not a number, over 64
    bits."""


class DamagedError(ValueError):
    """Bytes that no Recorder wrote."""


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
    """The shape of that text; None for events of a kind that this racwire does not know. Raises DamagedError."""
    read = from_json(text, list[Any])
    if read and isinstance(read[0], str) and read[0] not in _KINDS:
        return None
    return cast(Shape, from_json(text, cast(type[Any], Shape)))


def from_json(text: object, kind: type[T]) -> T:
    """What `as_json` made. Raises DamagedError."""
    try:
        if not isinstance(text, str):
            raise DamagedError("a text is none")
        try:
            return msgspec.json.decode(text, type=kind)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:  # no Unicode
            return msgspec.convert(json.loads(text), kind)
    except (ValueError, RecursionError) as error:
        raise DamagedError("a text in it is not what was recorded") from error
