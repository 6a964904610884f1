"""Rules for the light and the temperature of transceivers: against the module's own limits, and between the nodes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median

from checks.model.facts import Cluster, NodeOptics, OpticalLane, OpticalLimits, OpticalModule
from checks.model.facts.path_probe import Port
from checks.model.finding import Status
from checks.model.networks import nics_of

DARK_DBM = -40.0
"""No light: the least that modules report (SFF-8472, 0.1 uW)."""
FAR_BELOW_DB = 3.0
"""Half the light of the others: a dirty connector or a bent fibre takes as much. Ours."""
_LEAST_COMPARED = 3
"""Modules of one kind on a network from which they are compared: of two, neither is the odd one."""


class OpticalValue(Enum):
    """What is compared with the limits of a module."""

    SENT = "sends"
    RECEIVED = "receives"
    TEMPERATURE = "is"


@dataclass(frozen=True, slots=True)
class PrivateModule:
    """The module of a NIC that carries a private network."""

    node: str
    network: str
    module: OpticalModule

    @property
    def place(self) -> str:
        """The NIC for a sentence: `eth2 of rac2`."""
        return f"{self.module.interface} of {self.node}"


@dataclass(frozen=True, slots=True)
class BeyondLimit:
    """A value outside of the limits of its module."""

    of: PrivateModule
    what: OpticalValue
    value: float
    """Milliwatts, or degrees Celsius."""
    limit: float
    lane: int
    """0 where the module has a single lane, and for a temperature."""
    is_alarm: bool
    """Whether it is out of the module's specification; else only unusual."""

    @property
    def is_low(self) -> bool:
        """Whether it is below its limit."""
        return self.value < self.limit

    @property
    def status(self) -> Status:
        """A failure out of the specification, else a warning."""
        return Status.FAIL if self.is_alarm else Status.WARN


@dataclass(frozen=True, slots=True)
class Dimmer:
    """A NIC that receives far less light than those of the other nodes."""

    of: PrivateModule
    received_mw: float
    others_mw: float
    """The median of the others."""


def private_modules(cluster: Cluster) -> list[PrivateModule]:
    """Return the modules of the private NICs and of the members of their bonds, each once, by network and node."""
    known = {o.name: {m.interface: m for m in o.modules} for o in read_optics_of(cluster)}
    found: dict[tuple[str, str], PrivateModule] = {}
    for network in cluster.read_networks():
        for port in network.ports:
            for nic in _nics(cluster, port):
                if (module := known.get(port.node, {}).get(nic)) is not None:
                    found.setdefault((port.node, nic), PrivateModule(port.node, network.name, module))
    return list(found.values())


def read_optics_of(cluster: Cluster) -> tuple[NodeOptics, ...]:
    """Return the optics of the nodes that were read."""
    return tuple(o for o in cluster.optics if isinstance(o, NodeOptics)) if isinstance(cluster.optics, tuple) else ()


def _nics(cluster: Cluster, port: Port) -> Sequence[str]:
    return list(nics_of(cluster, port)) if cluster.node(port.node) else []


def is_measured(module: OpticalModule) -> bool:
    """Return whether a module measures light that can be compared with something."""
    return not module.is_copper and bool(_lit(module))


def beyond_limits(modules: Sequence[PrivateModule]) -> Iterator[BeyondLimit]:
    """Yield each value that is outside of the limits of its module."""
    for of in modules:
        module = of.module
        if module.is_copper:
            continue
        lanes = _lit(module)
        for lane in lanes:
            number = lane.number if len(module.lanes) > 1 else 0
            yield from _beyond(of, OpticalValue.SENT, lane.sent_mw, module.sent_limits, number)
            yield from _beyond(of, OpticalValue.RECEIVED, lane.received_mw, module.received_limits, number)
        yield from _beyond(of, OpticalValue.TEMPERATURE, module.temperature_c, module.temperature_limits, 0)


def _beyond(
    of: PrivateModule, what: OpticalValue, value: float | None, limits: OpticalLimits | None, lane: int
) -> Iterator[BeyondLimit]:
    if value is None or limits is None:
        return
    if value < limits.low_alarm or value > limits.high_alarm:
        yield BeyondLimit(
            of, what, value, limits.low_alarm if value < limits.low_alarm else limits.high_alarm, lane, True
        )
    elif value < limits.low_warning or value > limits.high_warning:
        limit = limits.low_warning if value < limits.low_warning else limits.high_warning
        yield BeyondLimit(of, what, value, limit, lane, is_alarm=False)


def _lit(module: OpticalModule) -> list[OpticalLane]:
    """The lanes that are in use: where some have light, those without any are of a port that was divided."""
    used = [lane for lane in module.lanes if lane.sent_mw or lane.received_mw]
    return used or list(module.lanes)


def dimmer_than_others(modules: Sequence[PrivateModule]) -> Iterator[Dimmer]:
    """Yield the modules within their limits that receive far less light than most others of their kind and network."""
    alike: dict[tuple[str, str, int], list[tuple[PrivateModule, float]]] = {}
    for of in modules:
        light = [lane.received_mw for lane in _lit(of.module) if lane.received_mw]
        if light and of.module.is_average and not of.module.is_copper:
            alike.setdefault((of.network, of.module.kind, len(light)), []).append((of, min(light)))
    for group in alike.values():
        for of, own in group if len(group) >= _LEAST_COMPARED else ():
            others = median(light for other, light in group if other is not of)
            if decibels(others) - decibels(own) >= FAR_BELOW_DB:
                yield Dimmer(of, own, others)


def decibels(milliwatts: float) -> float:
    """Return dBm; `DARK_DBM` for no light."""
    return max(DARK_DBM, 10 * math.log10(milliwatts)) if milliwatts > 0 else DARK_DBM
