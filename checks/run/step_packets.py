"""The packets of one step: sent and counted within the budget of the session, until the step is halted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

from checks.investigate.placing_step import udp_leg
from checks.investigate.step_predictions import fared
from checks.investigate.steps.scene import SMALL_BYTES
from checks.model.facts import Cluster
from checks.model.investigation import Fared, Placing, Probe, SensedFact, SessionRecord, SessionStep, StepSaid
from checks.model.packet_sizes import payload_for
from checks.model.settings import Settings
from checks.model.signs import SignAt
from checks.sources.nodes.session import Session
from checks.sources.probes.counted_rows import (
    MOST_AT_ONCE,
    CountedRows,
    FragmentsStoppedError,
    Row,
    cut_payload,
)
from checks.sources.probes.investigated_ways import NoWayError, way_of
from checks.sources.probes.limits import PathLimits
from checks.sources.probes.path import Path
from checks.sources.probes.pinger import Request
from checks.sources.probes.probe_hosts import ProbeHosts

_PINGS_AT_ONCE = 20
_NEIGHBOUR_S, _ASKED, _FEW = 1.2, 3, 20
"""Seconds in which the kernel asks for a neighbour again; how often it is waited for; datagrams each time."""
_LOST_OF_PORTS = 15
"""Losses that are expected of all source ports together before they are counted one by one."""

Count = tuple[int, int]
"""Lost, sent."""


class StepStoppedError(Exception):
    """A step ends early. The text is a sentence that says why."""

    def __init__(self, sentence: str, said: StepSaid = StepSaid.STOPPED, *, is_harm: bool = False) -> None:
        super().__init__(sentence)
        self.said, self.is_harm = said, is_harm


@dataclass(slots=True)
class SessionBudget:
    """What a session may still send."""

    seconds: float
    datagrams: int

    @property
    def is_spent(self) -> bool:
        """Whether nothing more may be sent."""
        return self.seconds <= 0 or self.datagrams <= 0

    @classmethod
    def left(cls, settings: Settings, record: SessionRecord | None) -> SessionBudget:
        """Return what the answers of a session have left of the budget of the settings."""
        own = [answer for answer in record.answers if answer.packets] if record else []
        return cls(
            settings.investigate.seconds - sum(answer.seconds for answer in own),
            settings.investigate.datagrams - sum(answer.packets for answer in own),
        )


@dataclass(slots=True)
class Made:
    """What a step has so far."""

    progress: Callable[[str], None]
    step: SessionStep
    """With the probes alone that were decided."""
    sent: int = 0
    fared: list[Fared] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)
    seen: tuple[SignAt, ...] = ()
    looked: tuple[SignAt, ...] = ()
    placing: Placing | None = None
    facts: tuple[SensedFact, ...] = ()


class StepPackets:
    """Sends the packets of steps, one row at a time."""

    def __init__(
        self, cluster: Cluster, session: Session, budget: SessionBudget, rows: CountedRows, hosts: ProbeHosts
    ) -> None:
        self._cluster, self._session = cluster, session
        self._rows, self._hosts = rows, hosts
        self.budget = budget
        self.halted: StepStoppedError | None = None
        """Why the step that is made ends."""

    def demand(self, datagrams: int) -> int:
        """Return how many of these may be sent. Raises StepStoppedError where none may."""
        if self.halted is not None:
            raise self.halted
        if self.budget.is_spent:
            raise StepStoppedError("The budget of the session is spent (investigate.seconds, investigate.datagrams).")
        return min(datagrams, self.budget.datagrams)

    async def probe_all(self, step: SessionStep, made: Made) -> None:
        """Send the packets of all probes of a step, one probe after the other."""
        for probe in step.probes:
            counts = await self._probe(probe, made)
            made.fared.append(fared(probe, counts))
            made.counts.append(together(counts))

    async def _probe(self, probe: Probe, made: Made) -> list[Count]:
        """Send the packets of a probe; return lost and sent, by source port where these differ."""
        if "icmp" in (probe.legs[0].protocols or ()):
            return [await self._ping(probe, made)]
        path, is_cut, size = way_of(self._cluster, probe.legs[0])
        payload = cut_payload(path) if is_cut else payload_for(size, path.version)
        if probe.ports > 1:
            return await self._ports(probe, Row(path, payload, probe.sent, is_cut=is_cut), made)
        row = Row(path, payload, probe.sent, is_cut=is_cut)
        lost, sent = await self.rows_of(row, made)
        if lost == sent and not is_cut and await self._is_neighbour_found(row, made):
            return [await self.rows_of(row, made)]
        return [(lost, sent)]

    async def _is_neighbour_found(self, row: Row, made: Made) -> bool:
        """Return whether a path passes anything some seconds later: where an ARP packet is lost, the kernel asks again
        after a second, and all that waits is lost."""
        for _ in range(_ASKED):
            await asyncio.sleep(_NEIGHBOUR_S)
            lost, sent = await self.rows_of(replace(row, number=min(row.number, _FEW)), made)
            if lost < sent:
                return True
        return False

    async def _ports(self, probe: Probe, row: Row, made: Made) -> list[Count]:
        """Send from all source ports together, and one port after the other where a part was lost."""
        whole = min(probe.sent * probe.ports, ceil(_LOST_OF_PORTS * probe.ports / probe.share))
        lost = sent = 0
        while sent < whole:
            number = min(MOST_AT_ONCE, whole - sent)
            found = await self.counted(replace(row, number=number, ports=(0,) * probe.ports), made)
            lost, sent = lost + found[0], sent + found[1]
            if 0 < lost < sent:
                return [await self.rows_of(row, made) for _ in range(probe.ports)]
        return [(lost, sent)]

    async def rows_of(self, row: Row, made: Made) -> Count:
        """Send so many datagrams of a row, as many at once as may be, from one source port."""
        lost = sent = 0
        port = row.ports[0]
        while sent < row.number:
            try:
                number = min(MOST_AT_ONCE, row.number - sent)
                found = await self.counted(replace(row, number=number, ports=(port,)), made)
            except FragmentsStoppedError:
                if not lost or lost < sent:
                    raise
                break  # as many as may be missing are, and none arrived
            lost, sent, port = lost + found[0], sent + found[1], found[2] or port
        return lost, sent

    async def counted(self, row: Row, made: Made) -> tuple[int, int, int]:
        """Send one row within the budget; return lost, sent and the source port."""
        number = self.demand(min(row.number, MOST_AT_ONCE))
        found = await self._rows.count(replace(row, number=number))
        self._spend(found.sent, row.path, made)
        return found.lost, found.sent, found.ports[0] if len(row.ports) == 1 else 0

    async def _ping(self, probe: Probe, made: Made) -> Count:
        path, _, size = way_of(self._cluster, probe.legs[0])
        pinger = await self._hosts.pinger(path, PathLimits(self._session.settings.probe))
        lost = sent = 0
        while sent < probe.sent:
            number = self.demand(min(_PINGS_AT_ONCE, probe.sent - sent))
            request = Request(payload_for(size, path.version), number)
            (series,) = await pinger.ping([request], timeout_s=self._session.settings.probe.timeout_ms / 1000)
            if series.refused_locally:
                raise NoWayError(f"the kernel of {path.source.node} refuses to send a packet of {size} bytes")
            lost, sent = lost + series.sent - series.received, sent + series.sent
            self._spend(series.sent, path, made)
        return lost, sent

    def _spend(self, datagrams: int, path: Path, made: Made) -> None:
        made.sent += datagrams
        self.budget.datagrams -= datagrams
        way = f"{path.source.node} > {path.destination.node}"
        made.progress(f"{made.sent:,} of {made.step.price.packets:,} datagrams, {way} on {path.network.name}")

    async def to_and_from(self, step: SessionStep, made: Made) -> None:
        """Send the datagrams between two readings of counters: small and full-size, to and from the step's node."""
        (network,), node = step.place.networks, step.place.nodes[0]
        known = self._cluster.network(network)
        peers = [port.node for port in known.ports if port.node != node] if known else []
        if not peers or known is None or not isinstance(known.mtu, int):
            raise NoWayError(f"{node} has no peer on {network}")
        pairs = [pair for peer in peers for pair in ((node, peer), (peer, node))]
        each = max(1, step.price.packets // (len(pairs) * 2))
        for sender, receiver in pairs:
            for size in (SMALL_BYTES, known.mtu):
                path, _, size = way_of(self._cluster, udp_leg(network, sender, receiver, size))
                await self.rows_of(Row(path, payload_for(size, path.version), each), made)


def together(counts: Sequence[Count]) -> Count:
    """Return lost and sent of all."""
    return sum(lost for lost, _ in counts), sum(sent for _, sent in counts)
