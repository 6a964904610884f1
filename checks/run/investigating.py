"""Make the automatic steps of guided troubleshooting: send, count, read signs; within the budget and one at a time.

It judges nothing but what became of the packets. Losses of its own datagrams are results. What stops it is its budget,
the memory for reassembly of a receiver, and `halt`: the signs of harm are watched elsewhere. A step that is cancelled
sends for half a second more at most, and leaves nothing running.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from math import ceil

import msgspec

from checks.investigate.placing import NextBatch, WayKey, is_clear, next_batch, pairs_of
from checks.investigate.placing_step import named_pairs, udp_leg
from checks.investigate.predicting import fared
from checks.investigate.steps.scene import SMALL_BYTES
from checks.investigate.steps.sending import PLACE_RARE_LOSS
from checks.model.facts import Cluster
from checks.model.fragment_memory import USUAL_FRAGMENT_S
from checks.model.investigation import Answer, By, Fared, Placing, Probe, Said, SensedFact, SessionRecord, Step
from checks.model.journal import Journal
from checks.model.packet_sizes import payload_for
from checks.model.sense_steps import ALL as SENSES
from checks.model.settings import Settings
from checks.model.signs import SignAt
from checks.rules.node_counts import sysctl
from checks.run.counter_signs import READABLE, signs_seen
from checks.run.sensing import Senses
from checks.sources.nodes.session import Session
from checks.sources.nodes.shell import ShellError
from checks.sources.probes.cluster_turn import ClusterTurn, TurnTakenError
from checks.sources.probes.counted_rows import (
    MOST_AT_ONCE,
    PER_SECOND,
    CannotCountError,
    CountedRows,
    FragmentsStoppedError,
    Row,
    cut_payload,
)
from checks.sources.probes.investigated_ways import NoWayError, way_of
from checks.sources.probes.limits import BudgetSpentError, PathLimits
from checks.sources.probes.path import Path
from checks.sources.probes.pinger import CannotPingError, Request
from checks.sources.probes.probe_hosts import ProbeHosts

TURN_S = 90.0
"""Seconds to wait for the turn of another racwire of the cluster."""
_PINGS_AT_ONCE = 20
_NEIGHBOUR_S, _ASKED, _FEW = 1.2, 3, 20
"""Seconds in which the kernel asks for a neighbour again; how often it is waited for; datagrams each time."""
_LOST_OF_PORTS = 15
"""Losses that are expected of all source ports together before they are counted one by one."""

Count = tuple[int, int]
"""Lost, sent."""


class _StoppedError(Exception):
    """A step ends early. The text is a sentence that says why."""

    def __init__(self, sentence: str, said: Said = Said.STOPPED, *, is_harm: bool = False) -> None:
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
        own = [a for a in record.answers if a.packets and a.step.by is By.ITSELF] if record else []
        return cls(
            settings.investigate.seconds - sum(answer.seconds for answer in own),
            settings.investigate.datagrams - sum(answer.packets for answer in own),
        )


@dataclass(slots=True)
class _Made:
    """What a step has so far."""

    progress: Callable[[str], None]
    step: Step
    """With the probes alone that were decided."""
    sent: int = 0
    fared: list[Fared] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)
    seen: tuple[SignAt, ...] = ()
    looked: tuple[SignAt, ...] = ()
    placing: Placing | None = None
    facts: tuple[SensedFact, ...] = ()


class Investigator:
    """Makes steps, one after the other. Always `close` it: it takes under a second."""

    def __init__(self, cluster: Cluster, settings: Settings, budget: SessionBudget) -> None:
        probe = msgspec.structs.replace(
            settings.probe, max_packets_per_second=PER_SECOND // 2, max_packets_per_path=5000
        )
        self._session = Session(msgspec.structs.replace(settings, probe=probe), Journal())
        self._session.local_node = cluster.local_node
        self._cluster = cluster
        self.budget = budget
        known = (sysctl(cluster, node.name, "net.ipv4.ipfrag_time") for node in cluster.read_nodes())
        fragment_s = max((seconds for seconds in known if seconds), default=USUAL_FRAGMENT_S)
        self._rows = CountedRows(self._session, fragment_s)
        self._senses = Senses(cluster, self._session)
        self._turn = ClusterTurn(self._session, [node.name for node in cluster.read_nodes()])
        self._sockets = ExitStack()
        self._hosts = ProbeHosts(cluster.read_nodes(), self._session, self._sockets)
        self._halted: _StoppedError | None = None
        self._returning: asyncio.TimerHandle | None = None
        self.is_sending = False
        """Whether a step is made that sends: then what is lost can be harm."""

    def halt(self, sentence: str) -> None:
        """End the step that is being made, for a sign of harm."""
        self._halted = self._halted or _StoppedError(sentence, is_harm=True)

    async def close(self) -> None:
        """End all shells and give the turn back."""
        if self._returning is not None:
            self._returning.cancel()
        self._turn.release()
        self._sockets.close()
        await self._hosts.close()
        await self._session.close()

    async def make(self, step: Step, progress: Callable[[str], None] = lambda text: None) -> Answer:
        """Make the automatic part of a step, and return what came of it, also where it ended early.

        `progress` gets what was sent so far, in a few words.
        """
        made, at = _Made(progress, step), time.time()
        began_s = time.monotonic()
        said, reason, is_harm = Said.DONE, "", False
        try:
            if sends := bool(step.probes) or step.price.packets > 0:
                await self._turn.take(TURN_S)
                began_s, self._halted, self.is_sending = time.monotonic(), None, True
                self._demand_budget(1)
                await self._send(step, made)
            else:
                await self._look(step, made)
        except _StoppedError as error:
            said, reason, is_harm = error.said, str(error), error.is_harm
        except TurnTakenError as error:
            said, reason = Said.SKIPPED, f"Nothing was sent: {error}."
        except FragmentsStoppedError as error:
            said, reason = Said.STOPPED, f"No more fragments were sent: {error}."
        except (NoWayError, CannotCountError, CannotPingError, ShellError, BudgetSpentError) as error:
            said, reason = Said.NOT_POSSIBLE, f"It is not possible here: {str(error).rstrip('.')}."
        finally:
            self.is_sending = False
            self._give_turn_back()
            seconds = time.monotonic() - began_s
            if sends:
                self.budget.seconds -= seconds
        return Answer(
            step=made.step,
            said=said,
            at=at,
            fared=tuple(made.fared),
            lost=tuple(made.counts),
            seen=made.seen,
            looked=made.looked,
            facts=made.facts,
            packets=made.sent,
            seconds=round(seconds, 3),
            reason=reason,
            is_harm=is_harm,
            placing=made.placing,
        )

    def _give_turn_back(self) -> None:
        """Give the turn back; not before the receivers have the memory of incomplete datagrams back, which the next
        racwire would add to."""
        loop = asyncio.get_running_loop()
        if self._returning is not None:
            self._returning.cancel()
        wait_s = max(0.0, self._rows.incomplete_until() - time.monotonic())
        self._returning = loop.call_later(wait_s, self._turn.release) if wait_s else None
        if not wait_s:
            self._turn.release()

    def _demand_budget(self, datagrams: int) -> int:
        """Return how many of these may be sent. Raises _StoppedError where none may."""
        if self._halted is not None:
            raise self._halted
        if self.budget.is_spent:
            raise _StoppedError("The budget of the session is spent (investigate.seconds, investigate.datagrams).")
        return min(datagrams, self.budget.datagrams)

    async def _send(self, step: Step, made: _Made) -> None:
        try:
            async with asyncio.timeout(self.budget.seconds):
                if step.declared == PLACE_RARE_LOSS:
                    await self._place(step, made)
                elif step.by is By.ITSELF and step.reads:
                    await self._look(step, made)
                elif step.probes:
                    await self._probe_all(step, made)
                else:
                    await self._to_and_from(step, made)
        except TimeoutError:
            raise _StoppedError("The seconds of the session are spent (investigate.seconds).") from None

    async def _probe_all(self, step: Step, made: _Made) -> None:
        for probe in step.probes:
            counts = await self._probe(probe, made)
            made.fared.append(fared(probe, counts))
            made.counts.append(_together(counts))

    # --- probes -------------------------------------------------------------------------------------------------------

    async def _probe(self, probe: Probe, made: _Made) -> list[Count]:
        """Send the packets of a probe; return lost and sent, by source port where these differ."""
        if "icmp" in (probe.legs[0].protocols or ()):
            return [await self._ping(probe, made)]
        path, is_cut, size = way_of(self._cluster, probe.legs[0])
        payload = cut_payload(path) if is_cut else payload_for(size, path.version)
        if probe.ports > 1:
            return await self._ports(probe, Row(path, payload, probe.sent, is_cut=is_cut), made)
        row = Row(path, payload, probe.sent, is_cut=is_cut)
        lost, sent = await self._rows_of(row, made)
        if lost == sent and not is_cut and await self._is_neighbour_found(row, made):
            return [await self._rows_of(row, made)]
        return [(lost, sent)]

    async def _is_neighbour_found(self, row: Row, made: _Made) -> bool:
        """Return whether a path passes anything some seconds later: where an ARP packet is lost, the kernel asks again
        after a second, and all that waits is lost."""
        for _ in range(_ASKED):
            await asyncio.sleep(_NEIGHBOUR_S)
            lost, sent = await self._rows_of(replace(row, number=min(row.number, _FEW)), made)
            if lost < sent:
                return True
        return False

    async def _ports(self, probe: Probe, row: Row, made: _Made) -> list[Count]:
        """Send from all source ports together, and one port after the other where a part was lost."""
        whole = min(probe.sent * probe.ports, ceil(_LOST_OF_PORTS * probe.ports / probe.share))
        lost = sent = 0
        while sent < whole:
            number = min(MOST_AT_ONCE, whole - sent)
            found = await self._counted(replace(row, number=number, ports=(0,) * probe.ports), made)
            lost, sent = lost + found[0], sent + found[1]
            if 0 < lost < sent:
                return [await self._rows_of(row, made) for _ in range(probe.ports)]
        return [(lost, sent)]

    async def _rows_of(self, row: Row, made: _Made) -> Count:
        """Send so many datagrams of a row, as many at once as may be, from one source port."""
        lost = sent = 0
        port = row.ports[0]
        while sent < row.number:
            try:
                number = min(MOST_AT_ONCE, row.number - sent)
                found = await self._counted(replace(row, number=number, ports=(port,)), made)
            except FragmentsStoppedError:
                if not lost or lost < sent:
                    raise
                break  # as many as may be missing are, and none arrived
            lost, sent, port = lost + found[0], sent + found[1], found[2] or port
        return lost, sent

    async def _counted(self, row: Row, made: _Made) -> tuple[int, int, int]:
        """Send one row within the budget; return lost, sent and the source port."""
        number = self._demand_budget(min(row.number, MOST_AT_ONCE))
        found = await self._rows.count(replace(row, number=number))
        self._spend(found.sent, row.path, made)
        return found.lost, found.sent, found.ports[0] if len(row.ports) == 1 else 0

    async def _ping(self, probe: Probe, made: _Made) -> Count:
        path, _, size = way_of(self._cluster, probe.legs[0])
        pinger = await self._hosts.pinger(path, PathLimits(self._session.settings.probe))
        lost = sent = 0
        while sent < probe.sent:
            number = self._demand_budget(min(_PINGS_AT_ONCE, probe.sent - sent))
            request = Request(payload_for(size, path.version), number)
            (series,) = await pinger.ping([request], timeout_s=self._session.settings.probe.timeout_ms / 1000)
            if series.refused_locally:
                raise NoWayError(f"the kernel of {path.source.node} refuses to send a packet of {size} bytes")
            lost, sent = lost + series.sent - series.received, sent + series.sent
            self._spend(series.sent, path, made)
        return lost, sent

    def _spend(self, datagrams: int, path: Path, made: _Made) -> None:
        made.sent += datagrams
        self.budget.datagrams -= datagrams
        way = f"{path.source.node} > {path.destination.node}"
        made.progress(f"{made.sent:,} of {made.step.price.packets:,} datagrams, {way} on {path.network.name}")

    async def _to_and_from(self, step: Step, made: _Made) -> None:
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
                await self._rows_of(Row(path, payload_for(size, path.version), each), made)

    # --- placing ------------------------------------------------------------------------------------------------------

    async def _place(self, step: Step, made: _Made) -> None:
        """Sample the paths of the step until a loss is placed, all are clear, or the budget is spent."""
        paths: dict[WayKey, tuple[Path, int]] = {}
        for probe in step.probes:
            path, _, size = way_of(self._cluster, probe.legs[0])
            paths[path.network.name, path.source.node, path.destination.node] = path, size
        counts: dict[WayKey, Count] = dict.fromkeys(paths, (0, 0))
        first = pairs_of(counts, named_pairs(self._cluster))
        try:
            while isinstance(turn := next_batch(counts, first, self.budget.datagrams), NextBatch):
                path, size = paths[turn.way]
                lost, sent, _ = await self._counted(Row(path, payload_for(size, path.version), turn.datagrams), made)
                counts[turn.way] = _together([counts[turn.way], (lost, sent)])
            made.placing = turn
        finally:
            made.placing = made.placing or _placed_so_far(counts, first)
            self._decide(step, made, counts)

    @staticmethod
    def _decide(step: Step, made: _Made, counts: dict[WayKey, Count]) -> None:
        """Note the paths of which something is known: the one that was named, and those that are clear."""
        decided = [
            (probe, seen, Fared.SOME_LOST if made.placing and way == made.placing.path else Fared.NONE_LOST)
            for probe, (way, seen) in zip(step.probes, counts.items(), strict=True)
            if (made.placing and way == made.placing.path) or is_clear(*seen)
        ]
        made.step = msgspec.structs.replace(step, probes=tuple(probe for probe, _, _ in decided))
        made.counts, made.fared = [seen for _, seen, _ in decided], [how for _, _, how in decided]

    # --- signs --------------------------------------------------------------------------------------------------------

    async def _look(self, step: Step, made: _Made) -> None:
        """Read the counters around the datagrams of the step, or over its seconds; or what only a sense reads."""
        if step.declared in SENSES:
            await self._sense(step, made)
            return
        wanted = [sign for sign in step.reads if sign.sign in READABLE]
        if not wanted:
            raise NoWayError("racwire reads none of these signs by itself")
        sending = self._sending(step, made)
        try:
            found = await signs_seen(self._cluster, self._session, wanted, step.price.seconds, sending)
        finally:
            if sending is not None:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)
        if sending is not None and not sending.cancelled() and (error := sending.exception()):
            raise error
        made.seen, made.looked = found
        if not made.looked:
            raise NoWayError("the counters could not be read")

    def _sending(self, step: Step, made: _Made) -> asyncio.Task[None] | None:
        """Start to send what moves the counters that a step reads."""
        if step.probes:
            return asyncio.create_task(self._probe_all(step, made))
        return asyncio.create_task(self._to_and_from(step, made)) if step.price.packets else None

    async def _sense(self, step: Step, made: _Made) -> None:
        """Read what no run reads, with the datagrams of the step."""
        if step.price.packets:
            await self._turn.take(TURN_S)
            self._demand_budget(1)
        found = await self._senses.make(step, lambda row: self._rows_of(row, made))
        made.seen, made.looked = found.signs
        made.facts = found.facts
        if not made.looked:
            raise NoWayError(found.reason)


def _placed_so_far(counts: dict[WayKey, Count], first: Sequence[WayKey]) -> Placing:
    found = next_batch(counts, first, 0)
    return found if isinstance(found, Placing) else Placing()


def _together(counts: Sequence[Count]) -> Count:
    return sum(lost for lost, _ in counts), sum(sent for _, sent in counts)
