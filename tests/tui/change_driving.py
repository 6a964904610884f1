"""Changes without a cluster: real journals, and verifications of gates with the results that a test specifies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.pilot import Pilot
from textual.widgets import Input

from checks.change.plan.change_plan import Accepted
from checks.change.plan.obstacles import Obstacle, PlanError
from checks.change.progress.change_events import AnyEvent, Attested, JournalLine, ObservedState
from checks.change.progress.state import Change
from checks.change.record.change_journal import ChangeJournal, FoundJournal, find
from checks.change.record.journal_files import current
from checks.change.session.change_session import ChangeSession
from checks.change.session.opening import OpeningResult
from checks.change.session.verifying import Concluded
from checks.model.finding import Finding, Status
from checks.model.report import Report
from checks.model.settings import ChangeSettings, Settings
from checks.run.events import CheckConcluded, Event, GatherProgress, RunStarted
from tests.tui.clusters import UNCHANGING, black_hole, engine, healthy
from tests.tui.driving import shown, until
from tests.unit.change_journals import verification
from tui.console.change_state import WantedPlan

if TYPE_CHECKING:
    # conftest has a fixture from here.
    from tests.tui.conftest import NewConsole

AGREED = Attested("agree", "Ann Lee", "CHG-4711")
SWITCHED = Attested("switch", "Bob of the network team")
FAILS, PASSES = verification(Status.PASS, Status.FAIL), verification(Status.PASS, Status.PASS)

REPORT = Report(
    racwire_version="1", started_at="2026-11-20T18:10:00+01:00", duration_s=1, cluster=healthy(),
    findings=(), journal=(),
)  # fmt: skip


class PaperSession(ChangeSession):
    """A session whose verifications return `finds`, one after the other, and wait while `gate` is closed."""

    def __init__(self, journal: ChangeJournal, finds: list[tuple[AnyEvent, ...]], found: tuple[Finding, ...]) -> None:
        super().__init__(journal, Settings(), node="rac1")
        self.finds = finds
        self.found = found
        self.gate = asyncio.Event()
        self.gate.set()
        self.closed = False

    async def verify(self) -> AsyncGenerator[Event | Concluded, None]:
        self.closed = False
        try:
            yield RunStarted(("kept-mtu",), ("nodes",))
            yield GatherProgress("nodes", "read rac2", 1, 2)
            if self.found:
                yield CheckConcluded("kept-mtu", self.found)
            await self.gate.wait()
            events = self.finds.pop(0)
            self._extend(events)
            yield Concluded(events, REPORT)
        finally:
            self.closed = True

    async def begin(self, step_id: str = "") -> AsyncGenerator[Event | JournalLine, None]:
        yield RunStarted(("look",), ("nodes",))
        await self.gate.wait()
        look = ObservedState(running={"rac1": True}, instances={"rac1": ("prod1",)})
        yield self._write_start(step_id, look)


class PaperChanges:
    """Changes in a directory. `begins` makes the journal of a new change, or raises the obstacles."""

    def __init__(
        self, directory: Path, *finds: tuple[AnyEvent, ...], found: tuple[Finding, ...] = (),
        begins: Callable[[WantedPlan, tuple[Accepted, ...]], ChangeJournal] | None = None,
    ) -> None:  # fmt: skip
        self.directory = directory
        self.session: PaperSession | None = None
        self._finds = list(finds)
        self._found = found
        self._begins = begins

    def journals(self) -> tuple[FoundJournal, ...]:
        return find(self.directory)

    def follow(self, cluster: str | None, path: Path | None, node: str) -> ChangeSession:
        settings = Settings(change=ChangeSettings(directory=str(self.directory)))
        self.session = PaperSession(current(settings, cluster, path), self._finds, self._found)
        return self.session

    async def begin(
        self, plan: WantedPlan, accepted: tuple[Accepted, ...]
    ) -> AsyncGenerator[Event | OpeningResult, None]:
        yield GatherProgress("nodes", "read rac2", 1, 2)
        assert self._begins is not None
        self.session = PaperSession(self._begins(plan, accepted), self._finds, self._found)
        yield OpeningResult(self.session)


def refuses(*obstacles: Obstacle) -> Callable[[WantedPlan, tuple[Accepted, ...]], ChangeJournal]:
    """Return a function that refuses a new change because of these obstacles, except the accepted ones."""

    def begin(plan: WantedPlan, accepted: tuple[Accepted, ...]) -> ChangeJournal:
        raise PlanError(tuple(o for o in obstacles if o.code not in {a.code for a in accepted}))

    return begin


async def settled(pilot: Pilot[None], words: str, part: str = "change-page") -> str:
    """Wait until a part of the screen contains the text. Return all text of the part."""
    await until(pilot, lambda: words in " ".join(shown(pilot, part).split()))
    return shown(pilot, part)


def in_sight(pilot: Pilot[None]) -> str:
    """Return the whole screen as displayed."""
    width, height = pilot.app.size
    strips = [pilot.app.screen._compositor.render_strips()[y] for y in range(height)]
    return "\n".join(strip.text[:width].rstrip() for strip in strips)


@asynccontextmanager
async def console(
    new_console: NewConsole, changes: PaperChanges | None, size: tuple[int, int] = (80, 24), **options: Any
) -> AsyncGenerator[Pilot[None], None]:
    """A console that starts on the Change screen."""
    app = new_console(lambda: engine(black_hole(), UNCHANGING), changes=changes, first="change", **options)
    async with app.run_test(size=size) as pilot:
        yield pilot


async def answer(pilot: Pilot[None], *answers: str) -> None:
    """Enter these texts into the input lines of the page, from the focused one on; an empty text changes nothing."""
    for text in answers:
        focused = pilot.app.screen.focused
        assert isinstance(focused, Input)
        focused.value = text or focused.value
        await pilot.press("enter")
    await pilot.pause()


def written(changes: PaperChanges) -> Change:
    """Return the change in the only journal."""
    (found,) = find(changes.directory)
    assert found.change is not None
    return found.change


def last(changes: PaperChanges) -> AnyEvent:
    return written(changes).lines[-1].event


def rule(pilot: Pilot[None]) -> str:
    return shown(pilot, "lower-rule")
