"""Whether a measurement belongs to a moment: that of a run of the checks, or the compared part of a recording.

The paths that it used must have the same MTU, speed and addresses. To a recording belongs only what ended while it ran,
or within the hour before; a run has no such limit, since its report names the age. What was not read shows no
difference. Every place that uses a kept measurement decides by `misfit`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain, product

from checks.model.facts import Cluster
from checks.model.measurement import MeasuredPath, Measurement

BEFORE_S = 3600.0
"""Seconds before the beginning of a recording within which a measurement still belongs to it. Ours: the load and the
machines of one evening."""


class Difference(Enum):
    """What keeps a measurement from belonging to a moment."""

    EARLIER = "earlier"
    LATER = "later"
    NO_TIME = "no time"
    """The text of its time is none."""
    ADDRESS = "address"
    MTU = "MTU"
    SPEED = "speed"


@dataclass(frozen=True)
class Misfit:
    """The first difference between a measurement and a moment."""

    what: Difference
    path: MeasuredPath | None = None
    """The path that differs; None for a difference of time."""
    node: str = ""
    """The node that has the address no more."""
    address: str = ""
    measured: int = 0
    """The MTU of the path in bytes, or its speed in Mbit/s, at the measurement."""
    values: tuple[int, ...] = ()
    """Those of the moment: several where they changed meanwhile."""


@dataclass(frozen=True)
class PortValues:
    """The values of an interface within the moment."""

    mtus: frozenset[int]
    speeds: frozenset[int] = frozenset()
    """In Mbit/s; empty where the driver names none."""

    def __or__(self, other: PortValues) -> PortValues:
        """Return the values of both."""
        return PortValues(self.mtus | other.mtus, self.speeds | other.speeds)


@dataclass(frozen=True)
class Moment:
    """What is known of the private paths at a moment."""

    addresses: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The interface of each address, by node; of the nodes that were read."""
    ports: Mapping[str, Mapping[str, PortValues]] = field(default_factory=dict)
    """By node and interface."""
    times: tuple[float, float] | None = None
    """Of a recording: the first and the last second of the compared part, since 1970."""


def moment_of(
    cluster: Cluster,
    ports: Mapping[tuple[str, str], PortValues] | None = None,
    times: tuple[float, float] | None = None,
) -> Moment:
    """Return the moment at which a cluster was read. `ports`: what was sampled of interfaces, which counts instead."""
    read = {
        (node.name, one.name): PortValues(
            frozenset({one.mtu}), frozenset({one.speed_mbps} if isinstance(one.speed_mbps, int) else ())
        )
        for node in cluster.read_nodes()
        for one in node.interfaces
    }
    addresses = {
        node.name: {address.ip: one.name for one in node.interfaces for address in one.addresses}
        for node in cluster.read_nodes()
        if node.interfaces
    }
    by_node: dict[str, dict[str, PortValues]] = {}
    for (node_name, interface), values in (read | dict(ports or {})).items():
        by_node.setdefault(node_name, {})[interface] = values
    return Moment(addresses, by_node, times)


def misfit(measurement: Measurement, moment: Moment) -> Misfit | None:
    """Return why a measurement does not belong to a moment; None where it does."""
    of_paths = (one for path in measurement.paths for one in _of_path(path, moment))
    return next(chain(_of_time(measurement, moment), of_paths), None)


def chosen(measurements: Iterable[Measurement], moment: Moment) -> tuple[Measurement, ...]:
    """Return one measurement of each kind, in their order: the newest that belongs to the moment, else the newest."""
    of_kind: dict[str, list[Measurement]] = {}
    for one in measurements:
        of_kind.setdefault(one.kind, []).append(one)
    return tuple(max(own, key=lambda one: (misfit(one, moment) is None, _start(one))) for own in of_kind.values())


def _start(measurement: Measurement) -> float:
    times = measurement.times
    return float("-inf") if times is None else times[0]


def _of_time(measurement: Measurement, moment: Moment) -> Iterator[Misfit]:
    if moment.times is None:
        return
    begin, end = moment.times
    times = measurement.times
    if times is None:
        yield Misfit(Difference.NO_TIME)
    elif times[1] < begin - BEFORE_S:
        yield Misfit(Difference.EARLIER)
    elif times[0] > end:
        yield Misfit(Difference.LATER)


def _of_path(path: MeasuredPath, moment: Moment) -> Iterator[Misfit]:
    ends = []
    for node, address, interface in (
        (path.source_node, path.source, path.interface),
        (path.target_node, path.target, path.target_interface),
    ):
        if (known := moment.addresses.get(node)) is not None:
            if address not in known:
                yield Misfit(Difference.ADDRESS, path, node, address)
                return
            interface = known[address]
        ends.append(moment.ports.get(node, {}).get(interface))
    source, target = ends
    if source is None or target is None:
        return
    if (mtus := _slower(source.mtus, target.mtus)) != {path.mtu}:
        yield Misfit(Difference.MTU, path, measured=path.mtu, values=tuple(sorted(mtus)))
    speeds = _slower(source.speeds or target.speeds, target.speeds or source.speeds)
    if path.speed_mbps is not None and speeds and speeds != {path.speed_mbps}:
        yield Misfit(Difference.SPEED, path, measured=path.speed_mbps, values=tuple(sorted(speeds)))


def _slower(source: Iterable[int], target: Iterable[int]) -> set[int]:
    """Return what a path had with any pair of the values of its ends: the smaller one."""
    return {min(pair) for pair in product(source, target)}
