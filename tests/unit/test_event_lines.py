"""The list of the Events screen: columns align, figures are whole, and words are cut where room is short."""

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.cluster_event import ClusterEvent, EventKind, EventPlace
from checks.model.finding import Status
from checks.model.situation import Episode
from checks.report.standing_text import clock_in
from tui.screens.events.lines import columns_for, event_lines, event_row, heading_line
from tui.text.line import plain, width_of
from tui.widgets.event_line import event_line

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


def episode(event):
    return Episode(event=event, until=event.end, as_of=event.start)


@given(st.lists(EVENTS, min_size=1, max_size=5), st.sampled_from([60, 80, 120, 200]))
def test_rows_align_and_fit_and_keep_their_figures(events, width):
    now = 1.9e9
    columns = columns_for(events, width, None, now)
    rows = [event_row(episode(event), columns, now, width) for event in events]
    assert {width_of(row) for row in rows} == {width_of(rows[0])}
    assert width_of(heading_line(columns, width)) == width
    if columns.peak <= 12 and not columns.is_dated:
        assert width_of(rows[0]) <= width
    assert all("…" not in plain([row])[-columns.peak - 4 :] for row in rows)
    for event in events:
        lines = event_lines(episode(event), clock_in(None, now), width - 2, now, waits="")
        assert all(width_of(line) <= width for line in lines)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_a_list_of_several_days_has_dates(width):
    place = (EventPlace(1.0, "rac1"),)
    starts = (1.8e9, 1.8e9 + 90_000)
    events = [
        ClusterEvent(number, EventKind.LOST_BLOCKS, Status.FAIL, place, start, 1.81e9, peak=13.1, count=9)
        for number, start in enumerate(starts)
    ]
    columns = columns_for(events, width, None, events[-1].start)
    assert columns.is_dated
    row = event_row(episode(events[0]), columns, events[-1].start, width)
    assert width_of(row) <= width
    assert "13.1/s" in plain([row])


def test_a_loss_that_pauses_has_its_last_sign_in_the_line_of_every_screen():
    place = (EventPlace(1.0, "rac1"),)
    loss = ClusterEvent(
        1, EventKind.LOST_BLOCKS, Status.FAIL, place, 1.8e9, last_sign=1.8e9 + 9, sample_s=1.0, peak=13.1, count=9
    )
    for after, row, line in ((10, "now", ""), (30, "pauses", ", last 08:00:09")):
        now = 1.8e9 + after
        text, _ = event_line(episode(loss), "! shows it", UTC, now, 100)
        assert text == f"08:00:00 blocks lost on rac1{line}: ! shows it"
        columns = columns_for([loss], 100, UTC, now)
        assert plain([event_row(episode(loss), columns, now, 100)]).split()[1] == row
