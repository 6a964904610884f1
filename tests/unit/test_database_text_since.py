"""What the database screen says of events since the run."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import msgspec
from msgspec.structs import replace

from checks.model.cluster_event import ClusterEvent, EventKind, EventPlace
from checks.model.facts import (
    Unknown,
)
from checks.model.finding import Status
from checks.model.situation import Episode, Situation
from checks.report.standing_text import clock_in
from tests.fixtures.databases import (
    activity,
    asked,
)
from tests.fixtures.reports import report_of
from tests.unit.test_database_text import sample
from tui.screens.database.lines import DatabaseFacts, page_of, sections_of
from tui.screens.database.live_source import LiveFigures
from tui.screens.database.since_run import SinceRun
from tui.text.line import plain

# --- since the run ----------------------------------------------------------------------------------------------------

RUN = datetime.fromisoformat("2026-11-20T14:02:31+01:00").timestamp()


def since(built, *episodes):
    """What the screen says of a run of 14:02:31, with these events since."""
    situation = Situation(at=RUN + 90, episodes=episodes)
    return SinceRun(report_of(built), situation, clock_in(timezone(timedelta(hours=1)), RUN + 90))


def silence(kind, begin, until=None, **place):
    """An episode of an instance, a node or the database that answers nothing, noticed after five seconds."""
    over = None if until is None else RUN + until
    where = EventPlace(RUN + begin, noticed=RUN + begin + 5, until=over, end_noticed=over, **place)
    event = ClusterEvent(1, kind, Status.FAIL, (where,), RUN + begin, over, noticed=RUN + begin + 5, unit="s")
    return Episode(event=event, until=over, as_of=RUN + (until or begin + 5))


def with_events(built, *episodes, live=None):
    facts = DatabaseFacts(
        built.database, built.activity, built.history, built, live or LiveFigures(), since_run=since(built, *episodes)
    )
    return " ".join(plain(page_of(sections_of(facts, 100), 100)[0]).split())


def test_what_does_not_answer_is_a_line_and_the_facts_of_the_run_are_as_of_its_time():
    built, live = asked(2), LiveFigures({"prod1": sample(1)})
    hung = silence(EventKind.INSTANCE_SILENT, 33, node="rac2", instance="prod2")
    text = with_events(built, hung, live=live)
    assert "F prod2 does not answer since 14:03:04: lasts, as of 14:03:09." in text
    assert "? Nodes, starts and versions as of 14:02:31; prod2 stopped answering 14:03:09." in text
    assert "Read as of 14:02:31." in text, "the history is older than no event"
    planned = replace(hung, step="stack down")
    assert "~ prod2 does not answer since 14:03:04: planned by the step stack down" in with_events(built, planned)
    down = replace(hung, is_open=True)
    assert "? prod2 does not answer since 14:03:04: not known whether it lasts" in with_events(built, down)


def test_what_answers_again_has_no_line_and_makes_the_facts_of_the_run_old():
    built = msgspec.structs.replace(asked(2), activity=activity(2, seconds=30.0))
    over = silence(EventKind.DATABASE_SILENT, 600, 660)
    text = with_events(built, over)
    assert "does not answer" not in text
    assert "; the database answered again 14:13:31." in text
    assert "Figures as of" in text
    before = with_events(built, silence(EventKind.DATABASE_SILENT, -600, -540))
    assert "Nodes, starts and versions as of 14:02:31." in before
    assert "Figures as of" not in before, "the run came after it"


def test_the_silence_of_the_database_is_said_where_no_run_could_read_it():
    built = msgspec.structs.replace(asked(2), database=Unknown("GV$ did not answer."))
    assert "F GV$ does not answer since 14:02:41" in with_events(built, silence(EventKind.DATABASE_SILENT, 10))
