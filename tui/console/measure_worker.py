"""The worker of the Measure screen: it plans and sends measurements, one at a time, and reports to the app."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec
from textual.app import App
from textual.worker import Worker

from checks.model.facts import Cluster, Clusterware
from checks.model.measurement import Measurement, Result
from checks.model.settings import Settings
from checks.model.wording import continued, lasting
from checks.rules.measured_moment import Moment, chosen, misfit, moment_of
from tui.console.app_state import AppState
from tui.console.measure_state import (
    FindPlan,
    FindResults,
    MeasureNews,
    MeasureRequest,
    PathChoice,
    PlanFailed,
    PlanFound,
    PlanStarted,
    ResultsFound,
    Send,
    SendingEnded,
    SendingProgressed,
    SendingStarted,
    SendingStopped,
    StopSending,
)
from tui.console.messages import MeasureReported

if TYPE_CHECKING:
    from checks.measure.load_plan import Consent, LoadPlan
    from checks.measure.preparing import Prepared
    from checks.measure.testbed import Experiment
    from tui.cli.password import Secret

log = logging.getLogger(__name__)

_SETTLE_S = 0.15
"""Seconds for which an experiment stays selected before its plan is made: a held key moves over many."""
_PART_FOR_FIGURES = 0.05
"""The part of the time that computing the figures so far may take."""
_STOPPED_BEFORE = "Stopped before anything was sent."


class Ready(NamedTuple):
    """An experiment and its plan, ready for consent."""

    experiment: Experiment
    prepared: Prepared
    choices: tuple[PathChoice, ...] = (PathChoice(),)
    """The paths that can be chosen, the usual ones first."""


class Reported(Protocol):
    """Receives what a measurement does."""

    def step(self, text: str, done: int, total: int) -> None:
        """Receive the next step, and how many are done."""

    def sent(self, bits_per_s: float) -> None:
        """Receive what this node sent in the last step."""


class MeasureSource(Protocol):
    """Access to measurements. Methods raise MeasureError, and have then sent nothing."""

    async def prepare(self, kind: str, choice: PathChoice, known: Cluster | None) -> Ready:
        """Plan an experiment with its usual options, by the facts that are known, or else by reading the cluster."""

    async def send(
        self, consent: Consent, ready: Ready, reported: Reported, stop: asyncio.Event, although_loaded: str
    ) -> Measurement:
        """Measure until done, or until `stop` or a sign of harm ends it."""

    def newest(self, cluster: str, now: Moment) -> tuple[Measurement, ...]:
        """Return the newest kept result of each kind that belongs to the cluster as it is, else the newest. Reads
        files."""

    def keep(self, measurement: Measurement) -> str:
        """Keep a result; return where it is, or why it was not kept. Writes a file."""


class MeasureWorker:
    """Makes one plan at a time, and sends one measurement at a time."""

    def __init__(self, app: App[None], state: AppState, source: MeasureSource | None) -> None:
        """Create the worker; without a `source`, as for a recording, it does nothing."""
        self._app = app
        self._state = state
        self._source = source
        self._planner: Worker[None] | None = None
        self._sender: Worker[None] | None = None
        self._stop = asyncio.Event()
        self._closed = asyncio.Event()
        self._is_sending_possible = False
        """Whether the measurement is past its preparation: then `_stop` ends it, and what was measured is kept."""
        self._is_quitting = False
        self._known: Cluster | None = None
        """The facts of the last plan; a plan to look at can do with them."""

    @property
    def is_sending(self) -> bool:
        """Whether a measurement that was agreed to is not over yet."""
        return self._sender is not None and not self._sender.is_finished

    def do(self, want: MeasureRequest) -> str:
        """Carry out a request of the operator; return a sentence where that is not possible now."""
        source = self._source
        if source is None:
            return ""
        match want:
            case StopSending():
                self._stop_sending()
            case FindResults():
                self._run(partial(self._find_results, source, self._cluster_name()), "measure-results")
            case _ if self.is_sending:
                return "A measurement is running: s stops it." if isinstance(want, Send) else ""
            case FindPlan():
                self._cancel_plan()
                self._planner = self._run(partial(self._find_plan, source, want), "measure-plan")
            case Send():
                self._cancel_plan()
                self._stop, self._closed, self._is_sending_possible = asyncio.Event(), asyncio.Event(), False
                self._sender = self._run(partial(self._reported, source, want), "measure")
        return ""

    async def stop(self, within_s: float) -> None:
        """Stop the measurement and wait until it has closed its connections; what hangs longer is abandoned.

        Nothing is sent after that: the sender ends with its connection to this process, and the far ends with theirs.
        """
        self._is_quitting = True
        self._cancel_plan()
        if self.is_sending:
            self._stop_sending()
            with suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    await self._closed.wait()

    def _run(self, work: Callable[[], Coroutine[None, None, None]], group: str) -> Worker[None]:
        """Start work, in place of older work of its group. A function: a coroutine that is cancelled before its first
        step would never be awaited."""
        return self._app.run_worker(work, group=group, exclusive=True, exit_on_error=False)

    def _cancel_plan(self) -> None:
        if self._planner is not None and not self._planner.is_finished:
            self._planner.cancel()

    def _stop_sending(self) -> None:
        if self._sender is None or not self.is_sending:
            return
        self._post(SendingStopped())
        if self._is_sending_possible:
            self._stop.set()
        else:
            self._sender.cancel()

    # --- the plan -----------------------------------------------------------------------------------------------------

    async def _find_plan(self, source: MeasureSource, want: FindPlan) -> None:
        """Find the last results and the plan. A newer request cancels this."""
        from checks.measure.measure_error import MeasureError

        found: MeasureNews = PlanFailed(want.kind, "")
        self._post(PlanStarted(want.kind))
        try:
            await asyncio.sleep(_SETTLE_S)
            cluster = self._cluster_name()
            known = None if want.is_fresh else self._known or self._checked()
            ready = await source.prepare(want.kind, want.choice, known)
            prepared = ready.prepared
            self._known = prepared.cluster
            found = PlanFound(want.kind, prepared, want.choice, ready.choices)
            if cluster != prepared.plan.cluster:
                await self._find_results(source, prepared.plan.cluster)
        except MeasureError as error:
            found = PlanFailed(want.kind, str(error))
        except Exception as error:
            log.exception("the plan of a measurement could not be made")
            found = PlanFailed(want.kind, f"The plan could not be made: {error or type(error).__name__}.")
        finally:
            self._post(found)

    async def _find_results(self, source: MeasureSource, cluster: str) -> None:
        if cluster:
            report = self._state.report
            now = moment_of(report.cluster) if report is not None else Moment()
            self._post(ResultsFound(await asyncio.to_thread(source.newest, cluster, now)))

    def _checked(self) -> Cluster | None:
        """Return the facts of the last whole run of the checks; None while none has ended."""
        run = self._state.run
        return run.report.cluster if run.is_whole and not run.running and run.report is not None else None

    def _cluster_name(self) -> str:
        facts = self._known or self._state.cluster
        clusterware = facts.clusterware if facts is not None else None
        name = clusterware.cluster_name if isinstance(clusterware, Clusterware) else None
        return name if isinstance(name, str) else ""

    # --- sending ------------------------------------------------------------------------------------------------------

    async def _reported(self, source: MeasureSource, want: Send) -> None:
        """Measure, and report how it ended, after its connections are closed."""
        from checks.measure.measure_error import MeasureError
        from checks.measure.measuring import RefusedError

        self._post(SendingStarted(want.kind, want.plan))
        ended = SendingEnded(want.kind, _STOPPED_BEFORE)
        try:
            ended = await self._send(source, want)
        except RefusedError as error:
            ended = SendingEnded(want.kind, "Refused; nothing was sent.", refusals=error.refusals)
        except MeasureError as error:
            ended = SendingEnded(want.kind, str(error))
        except Exception as error:
            log.exception("a measurement failed")
            ended = SendingEnded(
                want.kind, f"The measurement failed: {error or type(error).__name__}. The details are in the log."
            )
        finally:
            self._closed.set()
            self._post(msgspec.structs.replace(ended, is_by_quitting=self._is_quitting))

    async def _send(self, source: MeasureSource, want: Send) -> SendingEnded:
        """Read the cluster again, and send what was agreed to. Raises MeasureError and RefusedError."""
        from checks.measure.load_plan import agree

        ready = await source.prepare(want.kind, want.choice, None)
        self._known = ready.prepared.cluster
        self._post(PlanFound(want.kind, ready.prepared, want.choice, ready.choices))
        if not _is_same(ready.prepared.plan, want.plan):
            return SendingEnded(
                want.kind, "The cluster has changed since this plan was made: read the new one. Nothing was sent."
            )
        consent = agree(ready.prepared.plan, want.typed)
        self._is_sending_possible = True
        figures = _Figures(ready.experiment, self._post)
        measurement = await source.send(consent, ready, figures, self._stop, want.although_loaded)
        kept = await asyncio.to_thread(source.keep, measurement)
        return SendingEnded(want.kind, _how_it_ended(measurement), measurement, kept)

    def _post(self, news: MeasureNews) -> None:
        self._app.post_message(MeasureReported(news))


class _Figures:
    """Reports each step with the figures so far, which take long to compute towards the end of a long measurement."""

    def __init__(self, experiment: Experiment, post: Callable[[MeasureNews], None]) -> None:
        self._experiment = experiment
        self._post = post
        self._sent_bps = 0.0
        self._result: Result | None = None
        self._not_before_s = 0.0

    def sent(self, bits_per_s: float) -> None:
        """Keep the rate for the next step."""
        self._sent_bps = bits_per_s

    def step(self, text: str, done: int, total: int) -> None:
        """Post the step."""
        began_s = time.monotonic()
        if total and began_s >= self._not_before_s:
            self._result = self._experiment.result()
            took_s = time.monotonic() - began_s
            self._not_before_s = began_s + took_s / _PART_FOR_FIGURES
        self._post(SendingProgressed(text, done, total, self._sent_bps, self._result))


class ClusterMeasurements:
    """The measurements of the live cluster. Its methods load the modules that they need at first use."""

    def __init__(self, settings: Settings, password: Secret | None) -> None:
        self._settings = settings
        self._password = password

    async def prepare(self, kind: str, choice: PathChoice, known: Cluster | None) -> Ready:
        """Plan an experiment with the defaults of the command line."""
        from checks.measure.preparing import prepare
        from tui.cli.measure.measure_options import usual_measurement

        experiment, wanted, limits = usual_measurement(kind, choice.network, choice.peer)
        prepared = await prepare(experiment, wanted, limits, self._settings, self._password, known=known)
        return Ready(experiment, prepared, _choices(kind, prepared.cluster))

    async def send(
        self, consent: Consent, ready: Ready, reported: Reported, stop: asyncio.Event, although_loaded: str
    ) -> Measurement:
        """Measure."""
        from checks.measure.measuring import measure

        return await measure(
            consent,
            ready.prepared,
            ready.experiment,
            self._settings,
            progress=reported.step,
            stop=stop,
            although_loaded=although_loaded,
            password=self._password,
            sent=reported.sent,
        )

    def newest(self, cluster: str, now: Moment) -> tuple[Measurement, ...]:
        """Return the newest kept result of each kind that belongs, else the newest."""
        from checks.run.stored_measurements import newest_measurements

        return chosen(newest_measurements(cluster, lambda one: misfit(one, now) is None), now)

    def keep(self, measurement: Measurement) -> str:
        """Keep a result."""
        from checks.run.stored_measurements import store_result

        return store_result(measurement).sentence


def _choices(kind: str, cluster: Cluster) -> tuple[PathChoice, ...]:
    """Return the paths that can be chosen. The usual one of a kind that measures one path is the first of them."""
    from checks.measure.measure_error import MeasureError
    from checks.measure.paths_to_measure import paths_to_measure
    from tui.cli.measure.measure_options import KINDS

    try:
        paths = paths_to_measure(cluster)
    except MeasureError:
        return (PathChoice(),)
    others = paths[1:] if KINDS[kind].is_one_path else paths
    return (PathChoice(), *(PathChoice(path.network, path.target_node) for path in others))


def _is_same(plan: LoadPlan, agreed: LoadPlan) -> bool:
    """Whether a plan sends what was agreed to: what the instances exchange meanwhile is no part of that."""
    return replace(plan, blocks_per_s=0) == replace(agreed, blocks_per_s=0)


def _how_it_ended(measurement: Measurement) -> str:
    took = f"after {lasting(measurement.seconds)}"
    if measurement.is_harm:
        return f"{measurement.kind} stopped itself {took}. {measurement.stopped}"
    if measurement.stopped:
        return f"{measurement.kind} stopped {took}, because {continued(measurement.stopped)}"
    disturbed = ", disturbed: this node itself was late" if measurement.disturbed else ""
    return f"{measurement.kind} is done {took}{disturbed}."
