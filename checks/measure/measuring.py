"""Carries out a measurement that was agreed to: refuses, opens the far ends, watches for harm, and stops by itself."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime
from typing import Any, TypeVar

from msgspec.structs import replace

from checks.measure.far_end.far_process import FarEnd
from checks.measure.far_end.programs import sha256_of
from checks.measure.fragment_trial import try_fragments
from checks.measure.harm_signs import HarmSigns
from checks.measure.link_use import LinkUse
from checks.measure.load_plan import Consent
from checks.measure.load_refusals import PATH_CHECKS, LoadRefusal, failing_paths, load_refusals
from checks.measure.locks_and_ends import locked_here, open_far_ends, open_sender
from checks.measure.measure_error import HaltedError, MeasureError, NotBegunError
from checks.measure.preparing import Prepared
from checks.measure.silent_paths import watch_for_silence
from checks.measure.testbed import Experiment, Progress, Sent, Testbed
from checks.model.broken_dependency import error_text
from checks.model.drill_result import DrillOf
from checks.model.facts import Unknown
from checks.model.journal import Journal
from checks.model.measurement import MeasuredPath, Measurement
from checks.model.percentiles import percentile
from checks.model.settings import DatabaseSettings, Settings
from checks.model.wording import continued
from checks.rules.load_harm import most_silence_s
from checks.run.check_discovery import discover
from checks.run.engine import Engine
from checks.run.events import RunFinished
from checks.run.versions import versions
from checks.sources.database.secret import Secret
from checks.sources.nodes.session import Session
from checks.traffic.feed import Feed
from checks.traffic.pace import Pace
from checks.traffic.samples import FeedEvent, NodeSample
from checks.traffic.this_node import sample_this_node

BASELINE_S = 3.0
"""Seconds of samples before anything is sent."""
_HERE_S, _PEERS_S = 0.2, 1.0
"""Seconds between two looks for signs of harm, on this node and on the others."""
_DISTURBED_US = 1_000.0
"""How late this node may send (p99) before its figures are its own scheduler's rather than the network's."""
_OVERDUE_S = 8.0
"""Seconds without a sample of a node after which it counts as no longer watched."""
DISTURBED_DRILL_US = 5_000.0
"""The same for a drill, whose probes go every 10 ms or every 1 ms."""
_T = TypeVar("_T")


class RefusedError(MeasureError):
    """Nothing was sent. The message has the refusals, a line each."""

    def __init__(self, refusals: Sequence[LoadRefusal]) -> None:
        super().__init__("\n".join(f"{one.sentence} ({one.code})" for one in refusals))
        self.refusals = tuple(refusals)


async def measure(
    consent: Consent,
    prepared: Prepared,
    experiment: Experiment,
    settings: Settings,
    *,
    progress: Progress,
    stop: asyncio.Event,
    although_loaded: str = "",
    password: Secret | None = None,
    sent: Sent | None = None,
) -> Measurement:
    """Measure, and return what was measured, also where a sign of harm or the operator ended it early.

    `stop` ends it; everything is closed within a second. Raises RefusedError and MeasureError, and has then sent no
    load.
    """
    plan = consent.plan
    started, started_s = datetime.now().astimezone(), time.monotonic()
    if prepared.refusals:
        raise RefusedError(prepared.refusals)
    async with AsyncExitStack() as stack:
        stack.enter_context(locked_here())
        if prepared.paths:
            progress("looking at the paths", 0, 0)
            if failing := await _unless_stopped(stop, _failing(prepared, experiment, settings)):
                raise RefusedError(failing)
        is_drill = plan.kind == DrillOf.kind
        signs = HarmSigns(_interfaces(prepared.links), settings.measure.most_cpu_percent, is_drill=is_drill)
        watch = await stack.enter_async_context(_Watch.open(prepared, settings, password))
        progress(f"looking for load for {BASELINE_S:.0f} s", 0, 0)
        loaded = await _unless_stopped(stop, watch.baseline(signs, prepared, settings.measure.loaded_cpu_percent))
        if loaded and not (although_loaded and all(one.is_load for one in loaded)):
            raise RefusedError(loaded)
        far_ends, holders = await _unless_stopped(stop, open_far_ends(prepared, settings.ssh, stack))
        sender = await _unless_stopped(stop, open_sender(consent, prepared.links, prepared.cluster.local_node, stack))
        session = Session(settings, Journal())
        session.local_node = prepared.cluster.local_node
        stack.push_async_callback(session.close)
        testbed = Testbed(plan.paths, far_ends, sender, plan.limits, prepared.cluster, session, progress, sent)
        watched = [far for far in (*far_ends, *holders) if far is not None]
        if refused := await _unless_stopped(stop, try_fragments(plan, prepared.cluster.local_node, testbed, watched)):
            raise RefusedError(refused)
        # A drill looks at silent paths and nodes that are gone: they are its results.
        alarms = () if is_drill else _alarms(prepared, watch, testbed)
        halted = await _run(experiment, testbed, watch, signs, watched, alarms, stop)
        await asyncio.gather(sender.close(), *(far.close() for far in watched))
    usual = percentile(testbed.lateness_us, 0.99)
    late = percentile(testbed.lateness_us, 1.0) if usual is None else usual
    return Measurement(
        cluster=plan.cluster,
        node=prepared.cluster.local_node,
        started_at=started.isoformat(timespec="seconds"),
        seconds=time.monotonic() - started_s,
        racwire_version=versions().get("racwire", ""),
        paths=tuple(
            path if far is None else replace(path, far_end=far.interpreter.language, program=far.interpreter.path)
            for path, far in zip(plan.paths, far_ends, strict=True)
        ),
        result=experiment.result(),
        plan=tuple(plan.lines()),
        sha256={far.interpreter.language: sha256_of(far.interpreter.language) for far in watched},
        seed=experiment.seed,
        although_loaded=although_loaded if loaded else "",
        stopped=str(halted) if halted else "",
        is_harm=bool(halted and halted.is_harm),
        disturbed=f"This node itself sent up to {late / 1000:,.1f} ms late{'' if usual is None else ' (p99)'}: its "
        "figures are those of a busy node."
        if late is not None and late > (DISTURBED_DRILL_US if is_drill else _DISTURBED_US)
        else "",
        blocks_lost=signs.blocks_lost
        if signs.has_instances
        else Unknown("No database was connected, so lost blocks were not counted."),
        ended_at=datetime.now().astimezone().isoformat(timespec="seconds"),
    )


async def _unless_stopped(stop: asyncio.Event, work: Coroutine[Any, Any, _T]) -> _T:
    """Return the result of the work. Raises NotBegunError, and ends the work, where the operator stops it before."""
    working, stopped = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((working, stopped), return_when=asyncio.FIRST_COMPLETED)
        if stop.is_set():
            raise NotBegunError
        return working.result()
    finally:
        working.cancel()
        stopped.cancel()
        await asyncio.gather(working, stopped, return_exceptions=True)


async def _failing(prepared: Prepared, experiment: Experiment, settings: Settings) -> list[LoadRefusal]:
    """Run the checks of the paths, and return a refusal for each failure."""
    # Without a database the two readings of the kernels' counters are seconds apart, not half a minute.
    engine = Engine(
        [check for check in discover().checks if check.id in PATH_CHECKS],
        replace(settings, database=DatabaseSettings()),
    )
    events = engine.events()
    try:
        async for event in events:
            if isinstance(event, RunFinished):
                return list(failing_paths(event.report.findings, prepared.paths, experiment.looks_for))
    finally:
        await events.aclose()
    return []


def _interfaces(paths: Sequence[MeasuredPath]) -> set[tuple[str, str]]:
    """Return node and name of the interfaces at both ends."""
    return {
        end for path in paths for end in ((path.source_node, path.interface), (path.target_node, path.target_interface))
    }


class _Watch:
    """Samples of all nodes and instances: this node every 0.2 s, the others every second."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self.events: asyncio.Queue[FeedEvent] = asyncio.Queue()
        self.seen_s: dict[str, float] = {}
        """When the last sample of each node arrived, by the monotonic clock."""

    @classmethod
    @asynccontextmanager
    async def open(cls, prepared: Prepared, settings: Settings, password: Secret | None) -> AsyncIterator[_Watch]:
        """Sample until the end of the `async with`."""
        pace = replace(settings.traffic, interval_s=_PEERS_S)
        local = prepared.cluster.local_node
        async with Feed(replace(settings, traffic=pace), password=password) as feed:
            watch = cls(feed)
            feed.follow(prepared.cluster)

            async def pump() -> None:
                async for event in feed.events():
                    if not (isinstance(event, NodeSample) and event.node == local):
                        watch.events.put_nowait(event)

            tasks = [
                asyncio.create_task(pump()),
                asyncio.create_task(sample_this_node(lambda: local, Pace(_HERE_S), watch.events.put_nowait)),
            ]
            try:
                yield watch
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def baseline(self, signs: HarmSigns, prepared: Prepared, loaded_cpu_percent: float) -> list[LoadRefusal]:
        """Sample before anything is sent, and return the refusals of a loaded cluster. Raises MeasureError."""
        nodes: dict[str, list[NodeSample]] = defaultdict(list)
        link_use = LinkUse(prepared.links)
        until = asyncio.get_running_loop().time() + BASELINE_S
        wanted = {node.name for node in prepared.cluster.read_nodes()}
        while (left := until - asyncio.get_running_loop().time()) > 0 or not wanted <= nodes.keys():
            if left < -10:
                missing = sorted(wanted - nodes.keys())
                raise MeasureError(
                    f"{missing[0]} did not send its counters for {BASELINE_S + 10:.0f} s: nothing was sent."
                )
            with suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    event = await self.events.get()
                    signs.baseline(event)
                    link_use.see(event)
                    if isinstance(event, NodeSample):
                        nodes[event.node].append(event)
        return list(
            load_refusals(
                link_use.of_links(),
                {node: _busy(samples) for node, samples in nodes.items()},
                signs.losses_before(),
                loaded_cpu_percent,
                is_beside=prepared.plan.limits.flows_per_s is not None,
            )
        )

    async def overdue(self, nodes: Sequence[str], testbed: Testbed) -> None:
        """Halt where the samples of a node no longer come: what the load does to it is then not seen."""
        began_s = time.monotonic()
        while True:
            for node in nodes:
                silent_s = time.monotonic() - self.seen_s.get(node, began_s)
                if silent_s > _OVERDUE_S:
                    testbed.halt(f"{node} has not sent its counters for {silent_s:.0f} s.", is_harm=True)
            await asyncio.sleep(_PEERS_S)


def _busy(samples: Sequence[NodeSample]) -> float:
    cpus = [s.cpu for s in samples if s.cpu is not None]
    total = sum(c.total_s for c in cpus)
    return 1 - sum(c.idle_s for c in cpus) / total if total else 0.0


async def _run(
    experiment: Experiment,
    testbed: Testbed,
    watch: _Watch,
    signs: HarmSigns,
    far_ends: Sequence[FarEnd],
    watches: Sequence[Coroutine[Any, Any, None]],
    stop: asyncio.Event,
) -> HaltedError | None:
    """Run the experiment, and halt it at the first sign of harm, at `stop`, and at the end of a far end."""

    async def look() -> None:
        while True:
            event = await watch.events.get()
            watch.seen_s[event.node if isinstance(event, NodeSample) else ""] = time.monotonic()
            testbed.on_event(event)
            if sign := signs.see(event):
                testbed.on_harm(sign)

    async def stopped() -> None:
        await stop.wait()
        testbed.halt("The operator stopped it.", is_harm=False)

    async def ended(far: FarEnd) -> None:
        reason = await asyncio.shield(far.ended)
        testbed.on_far_end(far, f"The far end on {far.node} ended: {continued(reason)}.")

    def broke(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            testbed.halt(f"racwire itself failed while it watched: {error_text(error)}.", is_harm=False)

    tasks = [asyncio.create_task(one) for one in (look(), stopped(), *watches, *map(ended, far_ends))]
    for task in tasks:
        task.add_done_callback(broke)
    try:
        await experiment.run(testbed)
        testbed.demand_running()
    except HaltedError as halted:
        return halted
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return None


def _alarms(prepared: Prepared, watch: _Watch, testbed: Testbed) -> tuple[Coroutine[Any, Any, None], ...]:
    """Return what halts the testbed where a path is silent for too long, and where a node no longer sends samples."""
    most_s = most_silence_s(prepared.cluster)
    return (
        watch_for_silence(prepared.paths, most_s, lambda sign: testbed.halt(sign, is_harm=True)),
        watch.overdue([node.name for node in prepared.cluster.read_nodes()], testbed),
    )
