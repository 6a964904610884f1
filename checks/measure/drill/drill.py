"""The drill as an experiment: probes all paths at the same time, and makes the result."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from checks.measure.drill.course import Call, Course
from checks.measure.drill.drill_subject import REBOOT, DrillSubject, demand_known, left_without
from checks.measure.drill.drill_timeline import DrillTimeline
from checks.measure.drill.node_watch import NodeWatch
from checks.measure.far_end.far_process import FarEnd
from checks.measure.load_limits import LoadLimits
from checks.measure.load_plan import PlannedLoad
from checks.measure.load_refusals import only_paths
from checks.measure.measure_error import MeasureError
from checks.measure.preparing import Prepared, WantedPaths, prepare
from checks.measure.testbed import Experiment, Testbed
from checks.model.drill_result import DrillOf, PathSilence
from checks.model.facts import Cluster, Unknown
from checks.model.measurement import MeasuredPath
from checks.model.packet_sizes import IP_HEADER, UDP_HEADER, WIRE_BYTES
from checks.model.settings import Settings, SshSettings
from checks.model.wording import continued, counted, lasting
from checks.rules.drill_causes import TimelineKind
from checks.sources.database.secret import Secret

PROBE_BYTES = 56
INTERVALS_S = (0.01, 0.001)
"""The intervals of the probes: 10 ms, and 1 ms on request."""
_MARGIN_S = 12.0
"""Seconds of the whole that are left for the alert logs."""
_LOGS_S = 8.0
_READY_S = 5.0
_CSS_EVERY_S = 3.0
"""Seconds between two looks into the alert log of Clusterware on this node, in a drill of a node."""


class Drill(Experiment):
    """The experiment. `result` has what was measured, once it has run."""

    kind = DrillOf.kind

    def __init__(
        self,
        subject: DrillSubject,
        *,
        interval_s: float = INTERVALS_S[0],
        seconds: float | None = None,
        say: Callable[[Call], None] = lambda _: None,
    ) -> None:
        """`seconds`: its length; None where it is over once what was silent answers again. Raises MeasureError."""
        if interval_s not in INTERVALS_S:
            raise MeasureError("The probes go every 10 ms or every 1 ms.")
        self.subject = subject
        self._interval_s, self._seconds, self._say = interval_s, seconds, say
        self._misscount_s: float | Unknown = Unknown("crsctl did not name the misscount.")
        self._paths: tuple[MeasuredPath, ...] = ()
        self._found: dict[str, Any] = {}
        self._wall_s = 0.0
        self._far_ends_gone: dict[int, int] = {}
        self._facts: tuple[Cluster, SshSettings] | None = None
        self._timeline = DrillTimeline()

    def know(self, cluster: Cluster, ssh: SshSettings) -> None:
        """Take the misscount and the nodes from the facts of the cluster."""
        self._facts = (cluster, ssh)
        if self.subject.node and len(cluster.read_nodes()) == 2:
            self._timeline.notes.append(
                f"Without {self.subject.node} one node is left: its instance has no other to exchange blocks with."
            )
        if not isinstance(cluster.clusterware, Unknown):
            self._misscount_s = cluster.clusterware.misscount_s

    def plan(self, paths: Sequence[MeasuredPath], limits: LoadLimits) -> PlannedLoad:
        """Return what will be sent at most. Raises MeasureError."""
        per_s = len(paths) / self._interval_s
        if per_s > limits.packets_per_s:
            raise MeasureError(
                f"{counted(len(paths), 'path')} every {self._interval_s * 1000:g} ms are {per_s:,.0f} packets/s, over "
                f"the limit of {limits.packets_per_s:,.0f}: name peers with --to, or raise the limit with --packets."
            )
        if self._seconds is not None and self._seconds > limits.whole_s - _MARGIN_S:
            raise MeasureError(f"A drill takes {lasting(limits.whole_s)} at most: choose a shorter --for.")
        probes = limits.whole_s * per_s
        return PlannedLoad(
            title=f"a probe every {self._interval_s * 1000:g} ms on {counted(len(paths), 'path')}; people do the rest: "
            f"{continued(self.subject.to_do)}",
            seconds=limits.whole_s,
            packets=round(2 * probes),
            wire_bytes=round(2 * probes * _WIRE_BYTES),
            peak_packets_per_s=per_s,
            peak_bps=_WIRE_BYTES * 8 / self._interval_s,
            notes=(
                "It probes the paths from this node; a path between two other nodes is probed by a drill there.",
                "Silence and lost blocks are results here, and stop nothing."
                + (" racwire says when to plug it in: at half of misscount." if self.subject.is_link else ""),
            ),
            stops="It stops "
            + (
                f"after {self._seconds:g} s, or later as soon as no path is silent"
                if self._seconds is not None
                else "10 s after CSS has reconfigured the cluster"
                if self.subject.node and self.subject.transition != REBOOT
                else "as soon as what was silent answers again, and has done so for 5 s"
            )
            + ", where CPUs stay busy, at Ctrl-C and at the key s.",
        )

    async def run(self, testbed: Testbed) -> None:
        """Probe until it is over. Raises HaltedError; `result` then has what was found."""
        assert self._facts is not None, "`know` comes first"
        self._paths = testbed.paths
        self._wall_s = time.time() - time.monotonic()
        async with NodeWatch.watching(*self._facts, testbed.paths, self._wall_s) as watch:
            await watch.ready(_READY_S)
            testbed.demand_running()
            try:
                await self._probe(testbed, watch)
            finally:
                ended = time.monotonic() + self._wall_s
                self._timeline.take(watch, await watch.logs(_LOGS_S), self._wall_s + self._began_s, ended)
        testbed.demand_running()

    async def _probe(self, testbed: Testbed, watch: NodeWatch) -> None:
        self._began_s = time.monotonic()
        course = Course(self.subject, testbed.paths, self._misscount_s, self._seconds, time.monotonic_ns())

        has_happened = False

        def news(said: dict[str, Any]) -> None:
            nonlocal has_happened
            for word in course.news(said["now_ns"], said["silent_ns"], said["over"]):
                self._say(word)
            testbed.progress(course.status, 0, 0)
            if not has_happened and any(event.kind in _HAPPENED for event in watch.events):
                has_happened = True
                course.happened(said["now_ns"])
            if course.is_over(said["now_ns"]):
                if course.sign:
                    testbed.halt(course.sign, is_harm=True)
                testbed.end_order()

        def harm(sign: str) -> None:
            if not course.sign:
                for word in course.harm(sign):
                    self._say(word)

        def far_end_gone(far: FarEnd, sentence: str) -> None:
            own = [number for number in range(len(testbed.paths)) if testbed.far_end(number) is far]
            if own:  # another one only held the lock there
                self._timeline.notes.append(f"{sentence} From then on, UDP to it says nothing.")
            for number in own:
                self._far_ends_gone[number] = time.monotonic_ns()

        def seen(event: object) -> None:
            testbed.link_use.see(event)
            self._timeline.see(event)

        testbed.on_harm, testbed.on_far_end, testbed.on_event = harm, far_end_gone, seen
        seconds = testbed.limits.whole_s - _MARGIN_S
        order = {
            "order": "drill",
            "interval_s": self._interval_s,
            "seconds": seconds,
            "wire_bytes": 2 * _WIRE_BYTES,
            "paths": [
                testbed.address(number) | ({"device": ""} if path.is_haip else {})
                for number, path in enumerate(testbed.paths)
            ],
        }

        async def follow_css() -> None:
            begin = time.time()
            while True:
                await asyncio.sleep(_CSS_EVERY_S)
                if await watch.is_reconfigured(begin):
                    for word in course.reconfigured(time.monotonic_ns()):
                        self._say(word)

        following = asyncio.create_task(follow_css()) if self.subject.node else None
        try:
            self._found = await testbed.listen(order, seconds, news)
        finally:
            if following is not None:
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)
        late = self._found["lateness_p99_us"]
        if (late := self._found["lateness_max_us"] if late is None else late) is not None:
            testbed.lateness_us.append(late)  # it stands for those of all probes

    def result(self) -> DrillOf:
        """Return the silences and the timeline."""
        silences = tuple(self._silence(number, one) for number, one in enumerate(self._found.get("paths", ())))
        return self._timeline.result(self.subject, self._paths, silences, self._misscount_s)

    def _silence(self, number: int, found: dict[str, Any]) -> PathSilence:
        silences = [one for one in found["silences"] if one[0] < self._far_ends_gone.get(number, one[0] + 1)]
        if number in self._far_ends_gone and silences and not silences[-1][2]:
            silences[-1][1] = min(silences[-1][1], self._far_ends_gone[number] - silences[-1][0])
        longest = max(silences, key=lambda one: one[1], default=None)
        began_ns, length_ns, is_over, late_ns = longest or (None, 0, True, 0)
        return PathSilence(
            path=number,
            protocol="icmp" if self._paths[number].far_end == "kernel" else "udp",
            began_at=None if began_ns is None else began_ns / 1e9 + self._wall_s,
            seconds=length_ns / 1e9,
            is_over=is_over,
            is_from_start=began_ns is not None and began_ns - self._found["began_ns"] <= self._interval_s * 1e9,
            interval_s=self._interval_s,
            sent=found["sent"],
            answered=found["answered"],
            lateness_p99_us=self._found["lateness_p99_us"],
            lateness_max_us=self._found["lateness_max_us"],
            unsent=found["unsent"],
            number=len(silences),
            every=tuple((began / 1e9 + self._wall_s, length / 1e9) for began, length, _, _ in silences),
            late_s=late_ns / 1e9,
        )


async def prepare_drill(
    drill: Drill, wanted: WantedPaths, limits: LoadLimits, settings: Settings, password: Secret | None = None
) -> Prepared:
    """Read the cluster and plan the drill. Raises MeasureError where it is not possible."""
    prepared = await prepare(drill, wanted, limits, settings, password)
    demand_known(drill.subject, prepared.cluster)
    drill.know(prepared.cluster, settings.ssh)
    refusals = (*prepared.refusals, *only_paths(left_without(drill.subject, prepared.cluster)))
    return replace(prepared, refusals=refusals)


_HAPPENED = (TimelineKind.LINK_LOST, TimelineKind.LINK_BLINKED, TimelineKind.ACTIVE_SLAVE)
_WIRE_BYTES = PROBE_BYTES + UDP_HEADER + IP_HEADER[4] + WIRE_BYTES
