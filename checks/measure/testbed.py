"""An experiment, and the testbed that it runs on: paths, far ends, the sender, and what stops it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import Any, Protocol

from checks.measure.far_end.far_process import FarCounts, FarEnd, FarEndError
from checks.measure.link_use import LinkUse
from checks.measure.load_limits import LoadLimits
from checks.measure.load_plan import PlannedLoad
from checks.measure.measure_error import HaltedError
from checks.measure.near_end.paced_streams import MOST_REST_S
from checks.measure.near_process import NearProcess, SenderError, SenderHangsError
from checks.model.facts import Cluster, Unknown
from checks.model.measurement import MeasuredPath, Result
from checks.model.networks import layers_of
from checks.sources.nodes.counter_change import read_kernel
from checks.sources.nodes.counter_difference import KernelReading
from checks.sources.nodes.session import Session

Progress = Callable[[str, int, int], None]
"""Receives what is being sent, and the steps that are done and their number."""
Sent = Callable[[float], None]
"""Receives the bits a second on the wire that this node sent in the last order."""
_GRACE_S = 5.0
_STOP_S = 0.3
"""Seconds after a stop until an order that has not returned is given up."""


class Testbed:
    """What an experiment uses. Every method raises HaltedError after a sign of harm, and after a stop."""

    def __init__(
        self,
        paths: Sequence[MeasuredPath],
        far_ends: Sequence[FarEnd | None],
        sender: NearProcess,
        limits: LoadLimits,
        cluster: Cluster,
        session: Session,
        progress: Progress,
        sent: Sent | None = None,
    ) -> None:
        self.cluster = cluster
        self.paths = tuple(paths)
        self.limits = limits
        self.progress = progress
        self.lateness_us: list[float] = []
        """How late messages were sent, where they have a rate."""
        self.link_use = LinkUse(paths)
        """How full the links were while this ran."""
        self.on_event: Callable[[object], None] = self.link_use.see
        """Receives each sample of the nodes and instances while this runs."""
        self.on_harm: Callable[[str], None] = lambda sign: self.halt(sign, is_harm=True)
        """Receives the first sign of harm; halts, unless the experiment decides otherwise."""
        self.on_far_end: Callable[[FarEnd, str], None] = lambda far, sentence: self.halt(
            sentence, is_harm=far.is_out_of_room
        )
        """Receives the end of a far end, with a sentence; halts, unless the experiment decides otherwise."""
        self._far_ends = tuple(far_ends)
        self._sender = sender
        self._session = session
        self._sent = sent
        self._halted: HaltedError | None = None
        self._halting = asyncio.Event()
        self._began_s = time.monotonic()

    def halt(self, sentence: str, *, is_harm: bool) -> None:
        """Stop sending: the running order returns with what it has measured. Only the first call counts."""
        if self._halted is None:
            self._halted = HaltedError(sentence, is_harm=is_harm)
            self._halting.set()
            self._sender.stop()

    def demand_running(self) -> None:
        """Raise HaltedError where nothing more may be sent."""
        if self._halted is None and time.monotonic() - self._began_s > self.limits.whole_s:
            self._halted = HaltedError(
                f"The time of the measurement, {self.limits.whole_s:.0f} s, was over.", is_harm=False
            )
        if self._halted is not None:
            raise self._halted

    def far_end(self, path: int) -> FarEnd | None:
        """Return the far end of a path; None where its kernel answers."""
        return self._far_ends[path]

    async def far_counts(self, path: int) -> FarCounts | None:
        """Return what the far end of a path counted so far; None where its kernel answers."""
        far = self._far_ends[path]
        try:
            return None if far is None else await far.counts()
        except FarEndError as error:
            self.halt(f"The far end is gone: {error}.", is_harm=False)
            self.demand_running()
            raise AssertionError from error

    async def read_kernel(self, node: str, interface: str) -> KernelReading | Unknown:
        """Return the counters of a node, with those of an interface and of the layers below it. Also after a stop."""
        read = self.cluster.node(node)
        top = read.interface(interface) if read else None
        nics = [one.name for one in layers_of(read, top)] if read and top else [interface]
        return await read_kernel(self._session, node, nics)

    def address(self, path: int) -> dict[str, Any]:
        """Return the fields of an order that name a path and its far end."""
        one, far = self.paths[path], self._far_ends[path]
        return {
            "source": one.source,
            "target": one.target,
            "device": one.interface,
            "port": None if far is None else far.udp_port,
            "tcp_port": None if far is None else far.tcp_port,
            "token": "" if far is None else far.token,
        }

    async def order(self, order: dict[str, Any], seconds: float, *, hangs: str = "") -> dict[str, Any]:
        """Carry out an order of the sender that takes up to `seconds`, and return its result.

        `hangs`: the sentence where it takes much longer, which is a sign of harm then; else it is the sender's own. The
        result of an order that ended early is complete in itself, and the next call raises HaltedError. Raises
        HaltedError also where the sender fails.
        """
        self.demand_running()
        running = asyncio.create_task(self._sender.order(order, seconds + _GRACE_S))
        halting = asyncio.create_task(self._halting.wait())
        try:
            await asyncio.wait((running, halting), return_when=asyncio.FIRST_COMPLETED)
            if not running.done():  # it returns at once what it has, unless it hangs in the kernel
                await asyncio.wait((running,), timeout=_STOP_S)
            if not running.done():
                self.demand_running()
            result = running.result()
        except SenderError as error:
            is_harm = bool(hangs) and isinstance(error, SenderHangsError)
            self.halt(hangs if is_harm else str(error), is_harm=is_harm)
            self.demand_running()
            raise AssertionError from error
        finally:
            running.cancel()
            halting.cancel()
            await asyncio.gather(running, halting, return_exceptions=True)
        sent_bps = result.pop("sent_bps", 0.0)
        if self._sent is not None:
            self._sent(sent_bps)
        if result.get("stopped"):
            self.halt(f"The sender stopped: {result['stopped']}.", is_harm=result.get("is_harm", False))
        return result

    async def rest(self) -> dict[str, Any] | None:
        """Return the whole stream of `udp_from`, with what was still under way; None where the sender has ended.

        Sends nothing, also after a stop.
        """
        try:
            return await self._sender.order({"order": "udp_rest"}, MOST_REST_S + _GRACE_S)
        except SenderError:
            return None

    async def listen(
        self, order: dict[str, Any], seconds: float, news: Callable[[dict[str, Any]], None]
    ) -> dict[str, Any]:
        """Carry out an order that runs until `end_order`, and return its result.

        `news` receives what the sender says meanwhile. The result is complete also where something halted it. Raises
        HaltedError where the sender fails.
        """
        self.demand_running()
        try:
            return await self._sender.order(order, seconds + _GRACE_S, news)
        except SenderError as error:
            self.halt(str(error), is_harm=False)
            self.demand_running()
            raise AssertionError from error

    def end_order(self) -> None:
        """End the order that runs as planned."""
        self._sender.stop()

    async def wait_for(self, work: Coroutine[Any, Any, None]) -> None:
        """Send nothing until some work is done, which counts as time of the measurement. Raises HaltedError."""
        working, halting = asyncio.create_task(work), asyncio.create_task(self._halting.wait())
        left_s = self.limits.whole_s - (time.monotonic() - self._began_s)
        try:
            await asyncio.wait((working, halting), timeout=max(left_s, 0.0), return_when=asyncio.FIRST_COMPLETED)
            self.demand_running()
            working.result()
        finally:
            working.cancel()
            halting.cancel()
            await asyncio.gather(working, halting, return_exceptions=True)

    async def pause(self, seconds: float) -> None:
        """Wait. Raises HaltedError where nothing more may be sent."""
        await asyncio.sleep(seconds)
        self.demand_running()


class Experiment(Protocol):
    """One kind of measurement. `result` has what was measured so far at any time."""

    kind: str
    needs_program: bool = False
    """Whether a program must answer: the kernel's answers to pings are not enough."""
    seed: int = 0
    looks_for: Collection[str] = ()
    """The codes of findings that it looks for itself: they do not refuse it."""

    def plan(self, paths: Sequence[MeasuredPath], limits: LoadLimits) -> PlannedLoad:
        """Return what will be sent at most. Raises MeasureError."""

    async def run(self, testbed: Testbed) -> None:
        """Measure until done. Raises HaltedError where it ended early."""

    def result(self) -> Result:
        """Return what was measured so far."""
