"""The shapes of events: their names of interfaces and counters, which seldom change and are stored once."""

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
    """A sample has a number that no kernel or database can count: infinite, NaN, or over 64 bits."""


class DamagedError(ValueError):
    """Bytes that no Recorder wrote."""


class _Shape(msgspec.Struct, frozen=True, array_like=True, tag_field="kind"):
    """The part that is the same in many events of one source."""


class NodeShape(_Shape, frozen=True, tag="node"):
    """The shape of a NodeSample."""

    node: str
    interfaces: tuple[str, ...]
    counters: tuple[str, ...]


class InstanceShape(_Shape, frozen=True, tag="instance"):
    """The shape of an InstanceSample."""

    instance: str
    number: int
    host: str
    statistics: tuple[str, ...]
    messages: tuple[str, ...]


class PairsShape(_Shape, frozen=True, tag="pairs"):
    """The shape of a PairsSample: receivers with senders, instances with their targets."""

    transfers: tuple[tuple[int, int], ...]
    pings: tuple[tuple[int, int], ...]


class LatencyShape(_Shape, frozen=True, tag="latency"):
    """The shape of a LatencySample."""

    network: str
    to_node: str
    payload: int


class GapShape(_Shape, frozen=True, tag="gap"):
    """The shape of a Gap."""

    source: str
    caused_by: str = ""


class LinksShape(_Shape, frozen=True, tag="links"):
    """The shape of Links. These are in a table of their own; their shape only marks the first event of their node."""

    node: str


Shape = NodeShape | InstanceShape | PairsShape | LatencyShape | GapShape | LinksShape
_KINDS = {kind.__struct_config__.tag for kind in _Shape.__subclasses__()}


def shape_of(event: Event) -> Shape:
    """Return the shape of an event."""
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
            return GapShape(event.source, event.caused_by)
        case Links():
            return LinksShape(event.node)


def shape_as_text(shape: Shape) -> str:
    """Return the shape as one line of JSON."""
    return as_json(shape)


def shape_from_text(text: str) -> Shape | None:
    """Return the shape from its text; None for a kind of event that this racwire does not know. Raises DamagedError
    where no Recorder wrote the text."""
    read = from_json(text, list[Any])
    if read and isinstance(read[0], str) and read[0] not in _KINDS:
        return None
    return cast(Shape, from_json(text, cast(type[Any], Shape)))


def from_json(text: object, kind: type[T]) -> T:
    """Return the value from a text of `as_json`. Raises DamagedError where the text is not of this type."""
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
