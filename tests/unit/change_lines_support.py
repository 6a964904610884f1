"""The lines of a change for tests."""

from __future__ import annotations

from collections.abc import Iterable

from checks.change.plan.change_plan import Plan
from checks.change.progress.change_events import (
    AnyEvent,
    Attested,
    JournalLine,
    Opened,
    Surprise,
    Surprised,
)
from checks.change.progress.state import Change, fold
from tests.unit.change_journals import OBSERVED, WHO, plan
from tui.text.line import Line as Drawn
from tui.text.line import plain

AGREED = Attested("agree", "Ann Lee", "CHG-4711")
SWITCHED = Attested("switch", "Bob")
LIVE = Surprised(Surprise.LIVE_CHANGE, "rac2", "eth1 of rac2 was set to 9000 while Clusterware runs.", dangerous=True)


def change(*events: AnyEvent, of: Plan | None = None) -> Change:
    """A change with these events, a minute apart."""
    all_events = (Opened(of or plan(), OBSERVED), *events)
    return fold(
        JournalLine(number=n, at=f"2026-11-20T18:{n:02}:31+01:00", who=WHO, racwire="1", after="", event=event)
        for n, event in enumerate(all_events, 1)
    )


def text(lines: Iterable[Drawn]) -> str:
    return plain(lines)


def words(lines: Iterable[Drawn]) -> str:
    return " ".join(text(lines).split())
