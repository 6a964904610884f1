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

import msgspec

from checks.investigate.placing import NextBatch, WayKey, is_clear, next_batch, pairs_of
from checks.investigate.placing_step import named_pairs
from checks.investigate.steps.sending import PLACE_RARE_LOSS
from checks.model.facts import Cluster
from checks.model.fragment_memory import USUAL_FRAGMENT_S
from checks.model.investigation import By, Fared, Placing, SessionStep, StepAnswer, StepSaid
from checks.model.journal import Journal
from checks.model.packet_sizes import payload_for
from checks.model.sense_steps import ALL as SENSES
from checks.model.settings import Settings
from checks.rules.node_counts import sysctl
from checks.run.counter_signs import READABLE, signs_seen
from checks.run.sensing import Senses
from checks.run.step_packets import Count, Made, SessionBudget, StepPackets, StepStoppedError, together
from checks.sources.nodes.session import Session
from checks.sources.nodes.shell import ShellError
from checks.sources.probes.cluster_turn import ClusterTurn, TurnTakenError
from checks.sources.probes.counted_rows import (
    PER_SECOND,
    CannotCountError,
    CountedRows,
    FragmentsStoppedError,
    Row,
)
from checks.sources.probes.investigated_ways import NoWayError, way_of
from checks.sources.probes.limits import BudgetSpentError
from checks.sources.probes.path import Path
from checks.sources.probes.pinger import CannotPingError
from checks.sources.probes.probe_hosts import ProbeHosts

TURN_S = 90.0
"""Seconds to wait for the turn of another racwire of the cluster."""


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
        self._packets = StepPackets(cluster, self._session, budget, self._rows, self._hosts)
        self._returning: asyncio.TimerHandle | None = None
        self.is_sending = False
        """Whether a step is made that sends: then what is lost can be harm."""

    def halt(self, sentence: str) -> None:
        """End the step that is being made, for a sign of harm."""
        self._packets.halted = self._packets.halted or StepStoppedError(sentence, is_harm=True)

    async def close(self) -> None:
        """End all shells and give the turn back."""
        if self._returning is not None:
            self._returning.cancel()
        self._turn.release()
        self._sockets.close()
        await self._hosts.close()
        await self._session.close()

    async def make(self, step: SessionStep, progress: Callable[[str], None] = lambda text: None) -> StepAnswer:
        """Make the automatic part of a step, and return its answer, also where it ended early.

        `progress` gets what was sent so far, in a few words.
        """
        made, at = Made(progress, step), time.time()
        began_s = time.monotonic()
        said, reason, is_harm = StepSaid.DONE, "", False
        try:
            if sends := bool(step.probes) or step.price.packets > 0:
                await self._turn.take(TURN_S)
                began_s, self._packets.halted, self.is_sending = time.monotonic(), None, True
                self._packets.demand(1)
                await self._send(step, made)
            else:
                await self._look(step, made)
        except StepStoppedError as error:
            said, reason, is_harm = error.said, str(error), error.is_harm
        except TurnTakenError as error:
            said, reason = StepSaid.SKIPPED, f"Nothing was sent: {error}."
        except FragmentsStoppedError as error:
            said, reason = StepSaid.STOPPED, f"No more fragments were sent: {error}."
        except (NoWayError, CannotCountError, CannotPingError, ShellError, BudgetSpentError) as error:
            said, reason = StepSaid.NOT_POSSIBLE, f"{str(error).rstrip('.')}."
        finally:
            self.is_sending = False
            self._give_turn_back()
            seconds = time.monotonic() - began_s
            if sends:
                self.budget.seconds -= seconds
        return StepAnswer(
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

    async def _send(self, step: SessionStep, made: Made) -> None:
        try:
            async with asyncio.timeout(self.budget.seconds):
                if step.declared == PLACE_RARE_LOSS:
                    await self._place(step, made)
                elif step.by is By.ITSELF and step.reads:
                    await self._look(step, made)
                elif step.probes:
                    await self._packets.probe_all(step, made)
                else:
                    await self._packets.to_and_from(step, made)
        except TimeoutError:
            raise StepStoppedError("The seconds of the session are spent (investigate.seconds).") from None

    # --- placing ------------------------------------------------------------------------------------------------------

    async def _place(self, step: SessionStep, made: Made) -> None:
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
                lost, sent, _ = await self._packets.counted(
                    Row(path, payload_for(size, path.version), turn.datagrams), made
                )
                counts[turn.way] = together([counts[turn.way], (lost, sent)])
            made.placing = turn
        finally:
            made.placing = made.placing or _placed_so_far(counts, first)
            self._decide(step, made, counts)

    @staticmethod
    def _decide(step: SessionStep, made: Made, counts: dict[WayKey, Count]) -> None:
        """Note the paths of which something is known: the one that was named, and those that are clear."""
        decided = [
            (probe, seen, Fared.SOME_LOST if made.placing and way == made.placing.path else Fared.NONE_LOST)
            for probe, (way, seen) in zip(step.probes, counts.items(), strict=True)
            if (made.placing and way == made.placing.path) or is_clear(*seen)
        ]
        made.step = msgspec.structs.replace(step, probes=tuple(probe for probe, _, _ in decided))
        made.counts, made.fared = [seen for _, seen, _ in decided], [how for _, _, how in decided]

    # --- signs --------------------------------------------------------------------------------------------------------

    async def _look(self, step: SessionStep, made: Made) -> None:
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

    def _sending(self, step: SessionStep, made: Made) -> asyncio.Task[None] | None:
        """Start to send what moves the counters that a step reads."""
        if step.probes:
            return asyncio.create_task(self._packets.probe_all(step, made))
        return asyncio.create_task(self._packets.to_and_from(step, made)) if step.price.packets else None

    async def _sense(self, step: SessionStep, made: Made) -> None:
        """Read what no run reads, with the datagrams of the step."""
        if step.price.packets:
            await self._turn.take(TURN_S)
            self._packets.demand(1)
        found = await self._senses.make(step, lambda row: self._packets.rows_of(row, made))
        made.seen, made.looked = found.signs
        made.facts = found.facts
        if not made.looked:
            raise NoWayError(found.reason)


def _placed_so_far(counts: dict[WayKey, Count], first: Sequence[WayKey]) -> Placing:
    found = next_batch(counts, first, 0)
    return found if isinstance(found, Placing) else Placing()
