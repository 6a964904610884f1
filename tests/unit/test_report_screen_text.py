"""The texts of the Report screen: the samples in the report, and the names of its files."""

from __future__ import annotations

from datetime import timedelta, timezone

import msgspec

from checks.traffic.samples import Gap, InstanceSample, NodeSample
from checks.traffic.source_id import SourceId
from checks.traffic.timeline import Timeline
from tests.fixtures.reports import black_hole, report_of
from tui.console.app_state import FeedState
from tui.console.export_state import stem_of
from tui.console.past import Past
from tui.screens.report.lines import samples_text
from tui.text.line import plain
from tui.widgets.header_text import header_line

NOON = 1_763_640_000.0
"""12:00 in Greenwich."""
EAST = timezone(timedelta(hours=9))
LONGER = "saved state of 2026-11-20 14:02 +01:00, 3 d 1 h ago"
SAVED = Past("saved 2026-11-20 14:02, 3 d ago", None, is_saved=True, longer=LONGER, shorter="saved, 3 d ago")


def test_a_source_without_samples_is_not_counted_as_sampled():
    timeline = Timeline()
    timeline.add(NodeSample(f"rac{n}", NOON, 1.0) for n in (1, 2))
    timeline.add(
        [
            Gap(SourceId.node("rac3"), NOON, "ssh asked for a password."),
            Gap(SourceId.node("rac2"), NOON + 1, "rac2 hangs."),
        ]
    )
    timeline.add(
        [InstanceSample("prod1", 1, "rac1", NOON, 1.0, {}), Gap(SourceId.instance("prod2"), NOON, "It hangs.")]
    )
    assert samples_text(timeline, FeedState(), EAST) == "Of 2 of 3 nodes and 1 of 2 instances, from 21:00:00 on."
    assert samples_text(timeline, FeedState(past=SAVED), EAST).endswith(", from 21:00:00 to 21:00:01.")


def test_a_file_with_pseudonyms_has_that_in_its_name():
    report = report_of(black_hole())
    assert stem_of(report, False) == "racwire-20261120-140231"
    assert stem_of(report, True) == "racwire-20261120-140231-redacted"
    assert stem_of(msgspec.structs.replace(report, is_redacted=True), False) == "racwire-20261120-140231-redacted"
    assert stem_of(msgspec.structs.replace(report, started_at="yesterday"), True) == "racwire-report-redacted"


def test_the_header_of_a_saved_state_keeps_the_age_at_any_width():
    def ends(width: int) -> str:
        return plain([header_line(report_of(black_hole()), width, FeedState(past=SAVED))])

    assert ends(200).endswith(f"  {LONGER}")
    assert ends(60).endswith("  saved 2026-11-20 14:02, 3 d ago")
    assert ends(30).endswith("  saved, 3 d ago")
