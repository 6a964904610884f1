"""Measurements without a cluster: plans and results that a test specifies, and nothing that is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec
from textual.pilot import Pilot

from checks.measure.load_limits import LoadLimits
from checks.measure.load_plan import Consent, LoadPlan, PlannedLoad
from checks.measure.load_refusals import LoadRefusal
from checks.measure.measuring import RefusedError
from checks.measure.preparing import Prepared
from checks.measure.testbed import Testbed
from checks.model.facts import Cluster
from checks.model.measurement import MeasuredPath, Measurement, Result
from checks.rules.measured_moment import Moment
from tests.tui.clusters import UNCHANGING, black_hole, engine, healthy
from tests.tui.driving import concluded, shown, until
from tests.unit.measurement_support import measurement, path, sizes
from tui.console.measure_state import PathChoice
from tui.console.measure_worker import Ready, Reported

if TYPE_CHECKING:
    from tests.tui.conftest import NewConsole

LOADED = LoadRefusal("ME-LOAD-006", "The interconnect is loaded: eth1 of rac1 (9%) of the link in use, over 5 %.", True)
CHANGING = LoadRefusal("ME-LOAD-003", "The change 2026-11-20-a is open on this node: finish it or roll it back first.")


class PaperExperiment:
    """An experiment with a result that is there before it runs."""

    needs_program = False
    seed = 7

    def __init__(self, kind: str, result: Result) -> None:
        self.kind = kind
        self._result = result

    def plan(self, paths: Sequence[MeasuredPath], limits: LoadLimits) -> PlannedLoad:
        return PlannedLoad("11 message sizes from 64 to 65,507 bytes", 96, 252_864, 1_200_000_000, 2000, 133.2e6)

    async def run(self, testbed: Testbed) -> None:
        raise AssertionError("nothing is sent")

    def result(self) -> Result:
        return self._result


class PaperMeasurements:
    """Plans, and measurements that wait until a test or the operator ends them."""

    def __init__(self, *refusals: LoadRefusal, tried: Sequence[LoadRefusal] = (), cluster: str = "practice") -> None:
        """`refusals` are those of the plan; `tried` those of an attempt to send without a reason."""
        self.refusals = refusals
        self.tried = tried
        self.cluster = cluster
        self.peaks = iter((133.2e6,))
        """The peaks of the plans, in bits a second; the last one repeatedly."""
        self.prepared: list[tuple[str, bool]] = []
        """The kinds that were planned, and whether by facts that were known."""
        self.sent: list[tuple[str, str]] = []
        """The names that were typed, and the reasons."""
        self.kept: list[Measurement] = []
        self.found: tuple[Measurement, ...] = ()
        self.is_sending = False
        self.reading = asyncio.Event()
        self.reading.set()
        self.done = asyncio.Event()
        self._peak = 133.2e6

    async def prepare(self, kind: str, choice: PathChoice, known: Cluster | None) -> Ready:
        await self.reading.wait()
        self.prepared.append((kind, known is not None))
        self._peak = next(self.peaks, self._peak)
        experiment = PaperExperiment(kind, sizes().result)
        load = experiment.plan((path(),), LoadLimits())
        load = PlannedLoad(load.title, load.seconds, load.packets, load.wire_bytes, 2000, self._peak)
        paths = (path(target=int(choice.peer.removeprefix("rac") or 2)),)
        plan = LoadPlan(self.cluster, kind, paths, load, LoadLimits())
        choices = (PathChoice(), PathChoice("192.168.10.0/24", "rac3"))
        return Ready(experiment, Prepared(healthy(), plan, {}, {}, tuple(self.refusals)), choices)

    async def send(
        self, consent: Consent, ready: Ready, reported: Reported, stop: asyncio.Event, although_loaded: str
    ) -> Measurement:
        self.sent.append((consent.typed, although_loaded))
        reported.step("looking for load for 3 s", 0, 0)
        if self.tried and not although_loaded:
            raise RefusedError(self.tried)
        self.is_sending = True
        try:
            reported.sent(800_000.0)
            reported.step("8,192 bytes, one at a time to rac2 on 192.168.10.0/24", 4, 11)
            waiting = [asyncio.create_task(one.wait()) for one in (stop, self.done)]
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.is_sending = False
        stopped = "The operator stopped it." if stop.is_set() else ""
        return measurement(ready.experiment.result(), mtu=9000, stopped=stopped, although_loaded=although_loaded)

    def newest(self, cluster: str, now: Moment) -> tuple[Measurement, ...]:
        return self.found

    def keep(self, measurement: Measurement) -> str:
        self.kept.append(measurement)
        return "The result is in /state/sizes-1.json."


def page(pilot: Pilot[None]) -> str:
    """Return the page of the selected experiment, on one line."""
    return " ".join(shown(pilot, "measure-page").split())


def line(pilot: Pilot[None]) -> str:
    """Return the line about what is being sent."""
    return shown(pilot, "measure-line").strip()


async def agree(pilot: Pilot[None], *answers: str) -> None:
    """Press `g`, and answer the questions."""
    await pilot.press("g")
    for answer in answers:
        await pilot.press(*answer.replace(" ", "_"), "enter")
    await pilot.pause()


@asynccontextmanager
async def measuring(
    new_console: NewConsole, source: PaperMeasurements, size: tuple[int, int] = (80, 24), **options: Any
) -> AsyncGenerator[Pilot[None], None]:
    """A console on the Measure screen, after the checks and with the plan of the first experiment."""
    app = new_console(lambda: engine(black_hole(), UNCHANGING), measurements=source, **options)
    async with app.run_test(size=size) as pilot:
        await concluded(pilot)
        await pilot.press("7")
        await shows(pilot, lambda: "It takes up to 1 min 36 s" in page(pilot))
        yield pilot


async def shows(pilot: Pilot[None], so: Callable[[], bool]) -> None:
    """Wait until the screen shows it."""
    await until(pilot, so)


def of_kind(found: Measurement, **more: Any) -> Measurement:
    """Return a result with other fields."""
    return msgspec.structs.replace(found, **more)
