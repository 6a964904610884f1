"""The age of a saved state: the time since the cluster was read, in the same words everywhere."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from checks.model.report import Report, Rerun
from checks.report.age import saved_state, short_state_texts, state_for_file, state_for_screen, time_text, zone_of
from checks.report.summary import sentences
from checks.saved import Saved
from tests.fixtures.reports import black_hole, report_of

CHECKED = datetime.fromisoformat("2026-11-20T14:02:31+01:00")
SAVED = "2026-11-21T18:03:00.000+01:00"
"""28 hours later."""


def saved(**more: object) -> Report:
    return replace(report_of(black_hole()), saved_at=SAVED, **more)


@pytest.mark.parametrize(
    ("later", "age"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(seconds=-5), "just now"),
        (timedelta(minutes=12, seconds=5), "12 min 5 s ago"),
        (timedelta(days=1, hours=4), "1 d 4 h ago"),
        (timedelta(days=1200), "1200 d ago"),
        (timedelta(hours=-2), "in the future by this clock"),
    ],
)
def test_the_age_counts_from_the_time_of_the_checks(later, age):
    expected = "of 2026-11-20 14:02:31 +01:00, {}, saved 2026-11-21 18:03:00 +01:00"
    assert state_for_screen(saved(), CHECKED + later) == expected.format(age)


def test_a_recently_saved_report_is_as_old_as_its_checks():
    now = datetime.fromisoformat(SAVED)
    assert ", 1 d 4 h ago, saved 2026-11-21 18:03:00 +01:00" in state_for_screen(saved(), now)
    assert "just now" not in " ".join(short_state_texts(saved(), now))


def test_every_place_shows_the_age_in_the_same_way():
    now = CHECKED + timedelta(days=3)
    whole = "of 2026-11-20 14:02:31 +01:00, 3 d ago, saved 2026-11-21 18:03:00 +01:00"
    assert saved_state(saved(), now, for_file=False) == whole
    assert Saved(Path("x"), saved()).told(now) == f"saved by racwire 1.2.3: the state {whole}"
    assert f"This is not the cluster as it is now, but a saved state {whole}." in sentences(
        saved(), now, for_file=False
    )


def test_a_file_has_the_time_of_its_writing_and_no_relative_age():
    now = CHECKED + timedelta(days=3, hours=2)
    expected = (
        "of 2026-11-20 14:02:31 +01:00, saved 2026-11-21 18:03:00 +01:00; "
        "this output was written 2026-11-23 16:02:31 +01:00, 3 d 2 h after the check"
    )
    assert state_for_file(saved(), now) == saved_state(saved(), now, for_file=True) == expected
    assert " ago" not in " ".join(sentences(saved(), now))
    assert state_for_file(saved(), CHECKED).endswith("; this output was written 2026-11-20 14:02:31 +01:00")
    earlier = CHECKED - timedelta(hours=1)
    assert state_for_file(saved(), earlier).endswith(
        " written 2026-11-20 13:02:31 +01:00, which is before the check by the clock of this machine"
    )


def test_a_rerun_check_is_mentioned_and_does_not_change_the_age():
    again = Rerun(check="df-ping", started_at="2026-11-20T16:02:31+01:00", duration_s=1.0, entries=0)
    state = state_for_screen(saved(reruns=(again,)), CHECKED + timedelta(hours=3))
    assert state.startswith("of 2026-11-20 14:02:31 +01:00, 3 h ago, in part of 2026-11-20 16:02:31 +01:00, saved ")


@pytest.mark.parametrize("time", ["", "yesterday", "2026-11-20T14:02:31", "0001-01-01T00:00:00+23:59"])
def test_an_unparsable_time_is_shown_unchanged_without_an_age(time):
    now, report = CHECKED.replace(year=9999), saved(started_at=time)
    if "+" not in time:
        assert state_for_screen(report, now) == f"of {time_text(time)}, saved 2026-11-21 18:03:00 +01:00"
        assert "after" not in state_for_file(report, now)
        assert "ago" not in " ".join(short_state_texts(report, now))
    assert state_for_screen(report, now).startswith(f"of {time_text(time)}")


def test_a_json_report_was_saved_at_its_creation_and_a_live_one_never():
    report = report_of(black_hole())
    state = state_for_screen(replace(report, saved_at=report.started_at), CHECKED + timedelta(hours=1))
    assert state == "of 2026-11-20 14:02:31 +01:00, 1 h ago"
    assert saved_state(report, for_file=True) == saved_state(report, for_file=False) == ""


def test_a_narrow_header_keeps_the_age():
    assert short_state_texts(saved(), CHECKED + timedelta(days=1, hours=4)) == (
        "saved state of 2026-11-20 14:02 +01:00, 1 d 4 h ago",
        "saved 2026-11-20 14:02, 1 d ago",
        "saved, 1 d ago",
    )


def test_the_time_zone_is_that_of_the_report():
    zone = zone_of("2026-11-20T14:02:31-03:30")
    assert zone is not None
    assert zone.utcoffset(None) == -timedelta(hours=3, minutes=30)
    assert zone_of("2026-11-20T14:02:31") is zone_of("yesterday") is None
