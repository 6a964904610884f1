"""The events of a watch as they change: each start, each continuation and each end is passed on once."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress

from checks.model.cluster_event import ClusterEvent
from checks.model.exit_codes import ExitCode
from checks.model.facts import Cluster
from checks.model.finding import Status
from checks.situation.events.watching import EventWatch
from checks.traffic.samples import InstancesPace
from tui.console.batch_writer import Item

Tell = Callable[[str, ClusterEvent, float], None]
"""Is called with the state of an event (`starts`, `continues`, `ends`, `once`, `lasts`), the event and the time."""

_LOOK_EVERY_S = 0.25
_TOGETHER_S = 0.3
"""Seconds in which the nodes and instances of one round deliver: what they show is one change."""
_CODES = {
    Status.FAIL: ExitCode.FAILURES,
    Status.UNKNOWN: ExitCode.COULD_NOT_TELL,
    Status.WARN: ExitCode.WARNINGS,
}


class EventStates:
    """Passes on the events of a watch as they change. Items come from one thread."""

    def __init__(self, watch: EventWatch, tell: Tell) -> None:
        self.watch = watch
        self._tell = tell
        self._started: set[int] = set()
        self._held: dict[int, tuple[str, ClusterEvent]] = {}
        """What started or continued in this round, by the number of the event."""
        self._held_at = 0.0
        self._now = 0.0
        self.worst = Status.PASS
        self.count = 0

    def take(self, item: Item) -> None:
        """Take an item of the feed or of a recording."""
        if not isinstance(item, Cluster | InstancesPace):
            self._now = item.at
            self._release(item.at)
        self._add(self.watch.see(item), self._now)

    def pass_time(self, now: float) -> None:
        """Let time pass without an item: a source that stops answering delivers nothing."""
        self._release(now)
        self._add(self.watch.pass_time(now), now)

    def end(self) -> None:
        """Tell the events that last."""
        self._release(math.inf)
        for event in self.watch.lasting:
            self._change("lasts", event)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code: that of the worst event, in the order of a report; a node that was never seen is UNKNOWN."""
        found = {self.worst, Status.UNKNOWN} if self.watch.never_seen else {self.worst}
        return next((code for status, code in _CODES.items() if status in found), ExitCode.PASS)

    def _add(self, changed: Iterable[ClusterEvent], at: float) -> None:
        for event in changed:
            is_new = event.number not in self._started
            self._started.add(event.number)
            self.count += is_new
            self._held_at = self._held_at if self._held else at
            state, _ = self._held.get(event.number, ("starts" if is_new else "continues", event))
            if not event.is_over:
                self._held[event.number] = (state, event)
                continue
            self._held.pop(event.number, None)
            over = "continues" if event.is_moment else "ends"
            self._change("once" if state == "starts" else over, event)

    def _release(self, at: float) -> None:
        """Tell what changed in a round that is over."""
        if self._held and not 0 <= at - self._held_at <= _TOGETHER_S:
            held, self._held = self._held, {}
            for state, event in held.values():
                self._change(state, event)

    def _change(self, state: str, event: ClusterEvent) -> None:
        if event.status.gravity < self.worst.gravity:
            self.worst = event.status
        self._tell(state, event, self._now)


@asynccontextmanager
async def passing_time(states: EventStates, after: Callable[[], Awaitable[None]] | None = None) -> AsyncIterator[None]:
    """Let time pass for the events during the body of a `with`, call `after` each time, and end them after it."""

    async def look() -> None:
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            states.pass_time(time.time())
            if after is not None:
                await after()

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking
    states.end()
