"""Consoles on made-up clusters."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from checks.model.facts import Cluster
from checks.run.engine import Engine
from checks.traffic.feed import Feed
from checks.traffic.samples import FeedEvent
from tests.tui.change_driving import AGREED, SWITCHED, PaperChanges
from tests.unit.change_journals import journal
from tui.console.app import ConsoleApp
from tui.console.main_screens import MainScreens

NewConsole = Callable[..., ConsoleApp]


class FakeFeed(Feed):
    """A feed of the samples that a test specifies; afterwards it waits until it is closed."""

    interval_s = 1.0

    def __init__(self, samples: Iterable[FeedEvent] = ()) -> None:
        self.followed: list[Cluster] = []
        self.is_closed = False
        self._told: asyncio.Queue[FeedEvent] = asyncio.Queue()
        self.emit(*samples)

    def emit(self, *samples: FeedEvent) -> None:
        """Add events to the feed."""
        for sample in samples:
            self._told.put_nowait(sample)

    def follow(self, cluster: Cluster) -> None:
        self.followed.append(cluster)

    async def events(self) -> AsyncGenerator[FeedEvent, None]:
        while not self.is_closed:
            yield await self._told.get()

    async def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def changes(tmp_path: Path) -> PaperChanges:
    """A change at its third step of four, `set MTU`, with a gate."""
    journal(tmp_path / "changes", AGREED, SWITCHED)
    return PaperChanges(tmp_path / "changes")


@pytest.fixture
def new_console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NewConsole]:
    """Yield a function that makes a console.

    The console takes one engine after the other, and the last one repeatedly. An engine that takes an argument receives
    the checks to run without the others. An exception inside the console fails the test unless `may_break` is set.

    The console makes a screen when it is first opened: making all of them in advance is a fifth of the CPU of a test
    that opens one or two. `all_screens` makes them, as the consoles in pseudo-terminals do.
    """
    watched: list[ConsoleApp] = []

    async def none_ahead(screens: MainScreens) -> None:
        screens.made.set()

    def make(
        *engines: Callable[..., Engine], may_break: bool = False, all_screens: bool = False, **options: object
    ) -> ConsoleApp:
        left = list(engines)

        def next_engine(checks: Sequence[str]) -> Engine:
            engine = left.pop(0) if len(left) > 1 else left[0]
            return engine(checks) if inspect.signature(engine).parameters else engine()

        options.setdefault("new_feed", FakeFeed)
        app = ConsoleApp(next_engine, state_directory=tmp_path / "state", **options)  # type: ignore[arg-type]
        if not all_screens:
            monkeypatch.setattr(app._screens, "make_ahead", partial(none_ahead, app._screens))
        if not may_break:
            watched.append(app)
        return app

    yield make
    assert not any(app.faults.count for app in watched), "something inside the console broke; see the log"
