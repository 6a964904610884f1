"""The engine: gathers each needed group of facts once, and runs each check as soon as its facts are gathered.

The engine streams its progress as events. A failing source makes only its own checks UNKNOWN, and a failing check only
itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import suppress

import msgspec

from checks.model.broken_dependency import error_text
from checks.model.check import Check
from checks.model.facts import Cluster, Clusterware, Node, Unknown, UnreadNode
from checks.model.finding import Finding
from checks.model.investigation import SessionRecord
from checks.model.journal import Journal, now
from checks.model.measurement import Measurement
from checks.model.report import Report, make_report
from checks.model.settings import Settings
from checks.rules.measured_moment import chosen, misfit, moment_of
from checks.rules.waivers import day_of
from checks.run.check_discovery import BrokenPlugin
from checks.run.engine_findings import interrupted_check, plugin_broken
from checks.run.events import (
    FACTS_OF,
    CheckConcluded,
    Event,
    Gathered,
    GatherProgress,
    NodesSoFar,
    PathsSoFar,
    RunFinished,
    RunStarted,
)
from checks.run.gathering import GATHERERS, PROBING, Gatherer, with_nodes
from checks.run.judgement import concluded, is_known, judged, makers_of, weighed
from checks.run.settings_values import as_plain
from checks.run.stored_measurements import recent_load
from checks.run.versions import versions
from checks.sources.database.secret import Secret
from checks.sources.nodes.session import Session

_ADVICE_LIMIT_S = 5.0

KeptMeasurements = Callable[[str, Callable[[Measurement], bool]], tuple[Measurement, ...]]


class Engine:
    """One run of some checks. Iterate `events()` to the end, or close it early; `report()` works at any time.

    A safe change passes `udp_outweighs_pings=False`: its gates judge the pings by themselves.
    """

    def __init__(
        self,
        checks: Iterable[Check],
        settings: Settings,
        *,
        broken: Iterable[BrokenPlugin] = (),
        gatherers: Sequence[Gatherer] = GATHERERS,
        password: Secret | None = None,
        udp_outweighs_pings: bool = True,
        advise: Callable[[tuple[Finding, ...]], tuple[Finding, ...]] | None = None,
        measurements_of: KeptMeasurements | None = None,
        sessions_of: Callable[[str], tuple[SessionRecord, ...]] | None = None,
    ) -> None:
        """`advise` rewrites the next steps of findings for what is under way on this node; it may read files.

        `measurements_of` returns the kept results of a cluster of this name, for the report: the newest of each kind,
        and the newest that belongs by the function that it is given. `sessions_of` returns the newest session of guided
        troubleshooting on that cluster. Both may read files.
        """
        self.checks = tuple(checks)
        self._advise = advise
        self._measurements_of = measurements_of
        self._measurements: tuple[Measurement, ...] = ()
        self._sessions_of = sessions_of
        self._sessions: tuple[SessionRecord, ...] = ()
        self._udp_outweighs_pings = udp_outweighs_pings
        self.journal = Journal()
        needed = needed_groups(self.checks, gatherers)
        self._gatherers = tuple(g for g in gatherers if g.group in needed)
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        """None after the last event."""
        self._under_way: set[str] = set()
        self._so_far: tuple[Node | UnreadNode, ...] = ()
        """The nodes while some of them are pending; empty before their names are known."""
        self._session = Session(
            settings,
            self.journal,
            self._progress,
            password=password,
            nodes_so_far=self._nodes_so_far,
            paths_so_far=lambda probes: self._events.put_nowait(PathsSoFar(probes)),
            cluster_with=self._cluster_with,
            probes=self._probes,
        )
        self._gathered = {g.group: asyncio.Event() for g in self._gatherers}
        self._concluded: dict[str, tuple[Finding, ...]] = {b.name: (plugin_broken(b),) for b in broken}
        self._cluster = Cluster(
            local_node=self._session.local_node,
            taken_at=now(),
            named_networks=settings.cluster.networks,
            thresholds=settings.thresholds.as_facts(),
        )
        self._waivers = settings.waivers
        self._settings = as_plain(settings)
        self._versions = versions()
        self._started_at = now()
        self._began = time.monotonic()

    async def events(self) -> AsyncGenerator[Event, None]:
        """Run the checks and yield each event. Everything is closed when the iteration ends, for whatever reason."""
        yield RunStarted(tuple(c.id for c in self.checks), tuple(g.group for g in self._gatherers))
        for name, findings in self._concluded.items():
            yield CheckConcluded(name, findings)
        work = asyncio.create_task(self._work())
        work.add_done_callback(lambda _: self._events.put_nowait(None))
        try:
            while (event := await self._events.get()) is not None:
                yield event
            await work  # an error of the engine itself must not look like a finished run
            yield RunFinished(self.report())
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            await self._session.close()

    async def run(self) -> Report:
        """Run the checks and return the report."""
        (report,) = [event.report async for event in self.events() if isinstance(event, RunFinished)]
        return report

    @property
    def has_more(self) -> bool:
        """Whether `events` yields its next event at once."""
        return not self._events.empty()

    def report(self, *, interrupted: bool = False) -> Report:
        """Return the report of the findings so far; with `interrupted`, unfinished checks are UNKNOWN."""
        made = make_report(
            version=racwire_version(),
            started_at=self._started_at,
            duration_s=time.monotonic() - self._began,
            cluster=self._cluster,
            findings=(),
            journal=self.journal.entries,
            interrupted=interrupted,
            settings=self._settings,
            versions=self._versions,
            measurements=self._measurements,
            sessions=self._sessions,
        )
        findings = weighed(
            self._cluster, self._found(interrupted=interrupted), udp_outweighs_pings=self._udp_outweighs_pings
        )
        return concluded(made, findings, self._waivers, day_of(self._started_at), makers_of(self.checks))

    def _found(self, *, interrupted: bool) -> list[Finding]:
        """Return the findings so far, as the checks made them."""
        # In the order of the checks, not in that in which they ended: the same facts give the same report.
        order = {check.id: number for number, check in enumerate(self.checks)}
        concluded = sorted(self._concluded, key=lambda name: order.get(name, len(order)))
        findings = [f for name in concluded for f in self._concluded[name]]
        if interrupted:
            findings += [interrupted_check(c) for c in self.checks if c.id not in self._concluded]
        return findings

    def _progress(self, group: str, text: str, done: int, total: int) -> None:
        if group == "counters" and "activity" in self._under_way:
            return  # both wait at the same time; two alternating lines would be harder to read than one
        self._events.put_nowait(GatherProgress(group, text, done, total))

    def _nodes_so_far(self, nodes: tuple[Node | UnreadNode, ...]) -> None:
        self._so_far = nodes
        self._report_so_far()

    def _report_so_far(self) -> None:
        known = with_nodes(self._cluster, self._so_far, self._session.local_node)
        self._events.put_nowait(NodesSoFar(known))

    async def _work(self) -> None:
        async with asyncio.TaskGroup() as gathering:
            under_way = [gathering.create_task(self._gather(g)) for g in self._gatherers]
            async with asyncio.TaskGroup() as judging:
                for check in self.checks:
                    judging.create_task(self._judge(check))
            for task in under_way:
                task.cancel()  # no check waits for it any more
        await self._find_measurements()

    async def _cluster_with(self, group: str) -> Cluster:
        await self._gathered[group].wait()
        return self._cluster

    async def _probes(self) -> bool:
        """Wait until no probe is under way: after the last, or in a pause of datagrams. False where none is sent."""
        probing = [group for group in PROBING if group in self._gathered]
        for group in probing:
            await (self._session.pausing if group == "flows" else self._gathered[group]).wait()
        return bool(probing)

    async def _gather(self, gatherer: Gatherer) -> None:
        for before in (*gatherer.needs, *(group for group in gatherer.after if group in self._gathered)):
            await self._gathered[before].wait()
        began = time.monotonic()
        self._under_way.add(gatherer.group)
        found: object
        try:
            async with asyncio.timeout(gatherer.limit_s):
                found = await gatherer.gather(self._session, self._cluster)
        except TimeoutError:
            found = Unknown(f"Reading {FACTS_OF[gatherer.group]} took over {gatherer.limit_s:.0f} s and was stopped.")
        except Exception as error:  # a source may fail in any way; its checks report it and the run goes on
            found = Unknown(f"Reading {FACTS_OF[gatherer.group]} failed: {error_text(error)}")
        self._under_way.discard(gatherer.group)
        if gatherer.group == "flows":
            self._session.pausing.set()
        self._cluster = msgspec.structs.replace(
            self._cluster, **{gatherer.group: found}, local_node=self._session.local_node
        )
        problem = found.reason if isinstance(found, Unknown) else ""
        self._events.put_nowait(Gathered(gatherer.group, time.monotonic() - began, problem))
        if self._so_far and not self._cluster.is_gathered("nodes"):
            self._report_so_far()  # the facts of this group, with the nodes so far
        self._gathered[gatherer.group].set()

    async def _judge(self, check: Check) -> None:
        for need in check.needs:
            await self._gathered[need].wait()
        if all(is_known(getattr(self._cluster, need)) for need in check.needs):
            for use in (group for group in check.uses if group in self._gathered):
                await self._gathered[use].wait()
        findings = judged(check, self._cluster, self.journal)
        if self._advise is not None:
            findings = await self._advised(findings, self._advise)
        self._concluded[check.id] = findings
        self._events.put_nowait(CheckConcluded(check.id, findings))

    async def _advised(
        self, findings: tuple[Finding, ...], advise: Callable[[tuple[Finding, ...]], tuple[Finding, ...]]
    ) -> tuple[Finding, ...]:
        """Return the findings with the advice; unchanged where the file system does not answer."""
        with suppress(OSError):  # a time-out is one, and too many open files
            async with asyncio.timeout(_ADVICE_LIMIT_S):
                return await asyncio.to_thread(advise, findings)
        return findings

    async def _find_measurements(self) -> None:
        """Find the kept results and the last session of this cluster; none where its name or the file system does not
        answer."""
        clusterware = self._cluster.clusterware
        name = clusterware.cluster_name if isinstance(clusterware, Clusterware) else ""
        kept: tuple[Measurement, ...] = ()
        if self._measurements_of is not None and isinstance(name, str) and name:
            with suppress(TimeoutError):
                async with asyncio.timeout(_ADVICE_LIMIT_S):
                    now = moment_of(self._cluster)
                    kept = await asyncio.to_thread(self._measurements_of, name, lambda one: misfit(one, now) is None)
                    self._measurements = chosen(kept, now)
        if self._sessions_of is not None and isinstance(name, str) and name:
            with suppress(TimeoutError):
                async with asyncio.timeout(_ADVICE_LIMIT_S):
                    self._sessions = await asyncio.to_thread(self._sessions_of, name)
        recent = recent_load(kept, self._started_at)
        self._cluster = msgspec.structs.replace(self._cluster, recent_load=recent or self._cluster.recent_load)


def racwire_version() -> str:
    """Return the version of the installed distribution."""
    return versions()["racwire"]


def needed_groups(checks: Iterable[Check], gatherers: Sequence[Gatherer] = GATHERERS) -> tuple[str, ...]:
    """Return the groups of facts that the checks need, with the groups below them, in the order of gathering.

    Groups that none of these gatherers gathers are left out: a change has its own gatherers.
    """
    by_group = {g.group: g for g in gatherers}
    needed: set[str] = set()
    pending = [need for check in checks for need in (*check.needs, *check.uses)]
    while pending:
        group = pending.pop()
        if group not in needed and group in by_group:
            needed.add(group)
            pending.extend((*by_group[group].needs, *by_group[group].awaits))
    return tuple(g.group for g in gatherers if g.group in needed)
