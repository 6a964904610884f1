"""The list of the Events screen: columns align, figures are whole, and words are cut where room is short."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from checks.model.cluster_event import ClusterEvent, EventKind, EventPlace
from checks.model.finding import Status
from checks.model.situation import Episode
from tui.screens.events.lines import columns_for, event_lines, event_row, heading_line
from tui.text.line import fitted, plain, width_of
from tui.widgets.bars import alarm_rule
from tui.widgets.event_line import event_line, hint_for

START = 1_789_000_000.0

NAMES = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=63)
PLACES = st.lists(st.builds(EventPlace, st.just(1.0), NAMES, NAMES), min_size=1, max_size=16).map(tuple)
EVENTS = st.builds(
    ClusterEvent,
    st.integers(1, 99),
    st.sampled_from(EventKind),
    st.sampled_from(Status),
    PLACES,
    st.floats(1.7e9, 1.8e9),
    st.none() | st.floats(1.8e9, 1.9e9),
    peak=st.floats(0, 1e12),
    count=st.integers(0, 10**12),
)


def clock(at: float) -> str:
    return f"{at:.0f}"


def clock_text(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%H:%M:%S}"


def episode_of(event: ClusterEvent) -> Episode:
    return Episode(event=event, until=event.end, as_of=event.end or event.start)


@given(st.lists(EVENTS, min_size=1, max_size=5), st.sampled_from([60, 80, 120, 200]))
def test_rows_align_and_fit_and_keep_their_figures(events, width):
    now = 1.9e9
    columns = columns_for(events, width, None, now)
    rows = [event_row(episode_of(event), columns, now, width) for event in events]
    assert {width_of(row) for row in rows} == {width_of(rows[0])}
    assert width_of(heading_line(columns, width)) == width
    if columns.peak <= 12 and not columns.is_dated:
        assert width_of(rows[0]) <= width
    assert all("…" not in plain([row])[-columns.peak - 4 :] for row in rows)
    for event in events:
        lines = event_lines(episode_of(event), clock, width - 2, now, waits="")
        assert all(width_of(line) <= width for line in lines)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_a_list_of_several_days_has_dates(width):
    starts = (1.8e9, 1.8e9 + 90_000)
    events = [loss(number, start, 1.81e9) for number, start in enumerate(starts)]
    columns = columns_for(events, width, None, events[-1].start)
    assert columns.is_dated
    row = event_row(episode_of(events[0]), columns, events[-1].start, width)
    assert width_of(row) <= width
    assert "13.1/s" in plain([row])


def loss(number: int, start: float, end: float | None = None) -> ClusterEvent:
    return ClusterEvent(
        number,
        EventKind.LOST_BLOCKS,
        Status.FAIL,
        (EventPlace(start, "rac1"),),
        start,
        end,
        peak=13.1,
        count=9,
        last_sign=start + 20,
        sample_s=1.0,
    )


def row_of(episode: Episode, now: float) -> str:
    return plain([event_row(episode, columns_for([episode.event], 80, UTC, now), now, 80)])


def test_a_row_says_until_when_as_the_situation_knows_it():
    event = loss(1, START)
    lasting = Episode(event=event, as_of=START + 20)
    assert " now  " in row_of(lasting, START + 21)
    assert " pauses  " in row_of(lasting, START + 40), "no block is lost now, and it is not over"
    assert " ?  " in row_of(replace(lasting, is_open=True), START + 21)
    assert clock_text(START + 20) in row_of(replace(lasting, until=START + 20), START + 60)


def test_the_line_above_the_keys_says_how_the_event_stands_and_which_key_leads_on():
    def line(episode: Episode, now: float = START + 21) -> str:
        hint = hint_for(episode, is_past=False, is_running=False, on_checks=True, can_run=True)
        return event_line(episode, hint, UTC, now, 80)[0].partition(" ")[2]

    lasting = Episode(event=loss(1, START), as_of=START + 20)
    over = replace(lasting, event=loss(1, START, START + 20), until=START + 20)
    last, end = clock_text(START + 20), clock_text(START + 20)
    assert line(lasting) == "blocks lost on rac1: r looks for the cause"
    assert line(lasting, START + 40) == f"blocks lost on rac1, last {last}: r looks for the cause"
    assert line(replace(lasting, has_finding=True)) == "blocks lost on rac1"
    assert line(over) == f"blocks lost on rac1, until {end}: r verifies"
    assert line(replace(over, proved=START + 50)) == f"blocks lost on rac1, until {end}"
    assert line(replace(lasting, step="Stop the stack")) == "blocks lost on rac1, planned by the step Stop the stack"
    assert line(replace(lasting, is_open=True)).startswith("blocks lost on rac1, not known whether it lasts")


@pytest.mark.parametrize("left", ["", "reading the routes in use of the nodes 0 of 3", "7 new  2 over"])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_an_alarm_is_whole_and_what_stands_before_it_gives_way(width, left):
    text = "20:02:21 eth2 of rac2 had no link, until 20:03:20: r"
    line = plain(
        [alarm_rule(width, left, "PgDn: 9 more lines", lambda room: (fitted(text, min(len(text), room)), "fail"))]
    )
    assert len(line) == width
    assert text in line
    assert (left in line) is (len(left) + len(text) + 8 <= width)
