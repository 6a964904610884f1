"""The shapes of events: their names of interfaces and counters, which seldom change and are stored once."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar, cast

import msgspec

from checks.traffic.json_text import as_json, read_hook
from checks.traffic.samples import (
    Event,
    Gap,
    GapCause,
    InstanceSample,
    LatencySample,
    Links,
    NodeSample,
    PairsSample,
)
from checks.traffic.source_id import PAIRS, SourceId, SourceKind

T = TypeVar("T")
_ALIAS_IN_0_2_0 = re.compile(r".+ is another name of (.+?): ")
_DOWN_IN_0_2_0 = " is down: "
"""In the reasons of gaps that racwire 0.2.0 recorded without their cause."""


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
    """The shape of a PairsSample: receivers with senders, instances with their targets and their services."""

    transfers: tuple[tuple[int, int], ...]
    pings: tuple[tuple[int, int], ...]
    services: tuple[tuple[int, str], ...] = ()


class LatencyShape(_Shape, frozen=True, tag="latency"):
    """The shape of a LatencySample."""

    network: str
    to_node: str
    payload: int


class GapShape(_Shape, frozen=True, tag="gap"):
    """The shape of a Gap."""

    source: SourceId
    caused_by: str = ""
    """The text of a source; empty where the gap has no other."""
    cause: GapCause | None = None
    """None in recordings of 0.2.0."""


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
                tuple((s.instance, s.service) for s in event.services),
            )
        case LatencySample():
            return LatencyShape(event.network, event.to_node, event.payload)
        case Gap():
            return GapShape(event.source, str(event.caused_by or ""), event.cause)
        case Links():
            return LinksShape(event.node)


def source_of(shape: Shape) -> SourceId:
    """Return the source of the events of a shape."""
    match shape:
        case NodeShape() | LinksShape():
            return SourceId.node(shape.node)
        case InstanceShape():
            return SourceId.instance(shape.instance)
        case PairsShape():
            return PAIRS
        case LatencyShape():
            return SourceId(SourceKind.LATENCY, shape.to_node, shape.network, shape.payload)
        case GapShape():
            return shape.source


def gap_of(shape: GapShape, at: float, reason: str, up_s: float | None = None) -> Gap:
    """Return a gap. Raises ValueError where no Recorder wrote its shape."""
    caused_by = SourceId.parse(shape.caused_by) if shape.caused_by else None
    if shape.cause is not None:
        return Gap(shape.source, at, reason, caused_by, shape.cause, up_s)
    if alias := _ALIAS_IN_0_2_0.match(reason):
        return Gap(shape.source, at, reason, SourceId.node(alias[1]), GapCause.ALIAS)
    is_down = shape.source.kind is SourceKind.INSTANCE and _DOWN_IN_0_2_0 in reason
    return Gap(shape.source, at, reason, caused_by, GapCause.INSTANCE_DOWN if is_down else GapCause.NOT_KNOWN)


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
            return msgspec.json.decode(text, type=kind, dec_hook=read_hook)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:  # no Unicode
            return msgspec.convert(json.loads(text), kind, dec_hook=read_hook)
    except (ValueError, RecursionError) as error:
        raise DamagedError("a text in it is not what was recorded") from error
