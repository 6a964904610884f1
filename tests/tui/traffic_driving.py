"""A console on the Traffic screen, with a feed of a test's events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from checks.model.facts import Cluster
from checks.traffic.samples import FeedEvent
from tests.tui.clusters import engine, healthy
from tests.tui.conftest import FakeFeed, NewConsole
from tests.tui.driving import shown, until


class Console:
    """A console that displays the Traffic screen, and its feed."""

    def __init__(self, pilot: Pilot[None], feed: FakeFeed) -> None:
        self.pilot = pilot
        self.feed = feed

    @property
    def body(self) -> str:
        return shown(self.pilot, "traffic")

    @property
    def rule(self) -> str:
        return shown(self.pilot, "upper-rule")

    @property
    def below(self) -> str:
        return shown(self.pilot, "lower-rule")

    def row(self, word: str) -> str:
        """Return the first line with a text in it."""
        return next(line for line in self.body.splitlines() if word in line)

    @property
    def chosen(self) -> str:
        """Return the text after the selection mark."""
        return self.row("▶")[1:].split()[0]

    async def press(self, *keys: str) -> None:
        """Press keys, each after the previous one was processed. Textual's own method waits 60 ms for each."""
        for key in keys:
            self.pilot.app.simulate_key({"+": "plus", "-": "minus"}.get(key, key))
            await self.settle()

    async def emit(self, *events: FeedEvent) -> None:
        """Send events through the feed, and wait until they are drawn."""
        self.feed.emit(*events)
        await self.settle()
        screen = self.pilot.app.screen
        await self.until(lambda: self.feed._told.empty() and getattr(screen, "_soon", None) is None)
        await self.settle()

    async def settle(self) -> None:
        """Process all posted messages, and the messages that these post."""
        for _ in range(4):
            await self.pilot.pause(0)

    async def until(self, so: Callable[[], bool]) -> None:
        """Wait until the condition holds; an exception in the console ends the test."""
        await until(self.pilot, so)


@asynccontextmanager
async def console(
    new_console: NewConsole,
    events: Iterable[FeedEvent],
    size: tuple[int, int] = (80, 24),
    facts: Cluster | None = None,
) -> AsyncIterator[Console]:
    """Yield a console on the Traffic screen that has received these samples; the checks judge these facts."""
    feed = FakeFeed()
    app = new_console(lambda: engine(facts or healthy()), new_feed=lambda: feed)
    async with app.run_test(size=size) as pilot:
        found = Console(pilot, feed)
        await found.settle()
        await found.press("3")
        await found.until(lambda: not app.running)
        await found.emit(*events)
        yield found
