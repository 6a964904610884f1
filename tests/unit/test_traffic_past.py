"""The Traffic screen of an earlier time: a changed interval, and the pings of a recording."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec
import pytest

from checks.traffic.samples import Event, Gap, LatencySample
from checks.traffic.source_id import ALL_PINGS, SourceId
from checks.traffic.timeline import Timeline
from tests.tui.traffic_samples import BEGIN, cluster_events, links, node_sample, surroundings
from tests.unit.test_traffic_text import page, roles, row
from tui.screens.traffic.lines import TrafficPage, TrafficView, page_of
from tui.screens.traffic.node_lines import KnownNodes
from tui.screens.traffic.rows import DrawingStyle
from tui.screens.traffic.time_cursor import TrackCursor
from tui.text.line import plain


def as_it_was(events: Sequence[Event], at: float, *, width: int = 120) -> TrafficPage:
    """The page of the first node at a moment of the past, a point a second, too low for graphs of several lines."""
    timeline = Timeline()
    timeline.add(events)
    head, places, view = TrackCursor(timeline), KnownNodes(), TrafficView()
    head.hold(at)
    shown = head.read(places, None, [], 1.0, 60, 1.0)
    view.settle(places.nodes)
    return page_of(shown.window if shown else None, places, view, DrawingStyle(width), surroundings(shown, 6))


def drawn_of(shown: TrafficPage, word: str) -> str:
    """The graph in the line with that word."""
    line = next(line for line in shown.lines if word in plain([line]))
    return max((text for text, _ in line if set(text) <= set(" ▁▂▃▄▅▆▇█")), key=len)


def slow_then_quick(failed: int = 900) -> list[Event]:
    """Five samples of a second, three of ten seconds while the interval was longer, five of a second again."""
    noise = random.Random(1)
    ends = [1, 2, 3, 4, 5, 15, 25, 35, 36, 37, 38, 39, 40]
    found: list[Event] = [links("rac1", BEGIN)]
    for begin, end in zip([0, *ends], ends, strict=False):
        sample = node_sample("rac1", BEGIN + end, noise, Ip_ReasmFails=failed if end == 25 else 0)
        found.append(msgspec.structs.replace(sample, seconds=float(end - begin)))
    return found


@pytest.mark.parametrize("second", range(6, 41))
def test_after_a_change_of_the_interval_all_sampled_time_is_drawn(second: int) -> None:
    shown = as_it_was(slow_then_quick(), BEGIN + second)
    assert "no sample" not in plain(shown.lines)
    assert "?" not in row(shown, "eth1")
    assert " " not in drawn_of(shown, "FAILED").strip(), "no gap"


def test_a_sample_that_covers_many_points_shows_its_mean_in_each() -> None:
    shown = as_it_was(slow_then_quick(), BEGIN + 40)
    assert drawn_of(shown, "FAILED").strip() == "▁" * 15 + "█" * 10 + "▁" * 15
    middle = as_it_was(slow_then_quick(), BEGIN + 20)
    assert "FAILED 90.0/s" in plain(middle.lines), "900 in the ten seconds that this moment is one of"
    assert drawn_of(middle, "FAILED").strip() == "▁" * 15 + "█" * 5


def test_the_highest_value_of_the_recording_is_drawn() -> None:
    noise = random.Random(1)
    events: list[Event] = [node_sample("rac1", BEGIN + s, noise, Ip_ReasmFails=900 * (s == 2)) for s in range(61)]
    for width, highest in ((120, " 900/s"), (80, " 0/s")):
        shown = as_it_was(events, BEGIN + 50, width=width)
        assert ("█" in drawn_of(shown, "FAILED")) == (width == 120)
        assert next(line for line in plain(shown.lines).splitlines() if "FAILED" in line).rstrip().endswith(highest)


def test_time_without_samples_is_a_gap_however_long_the_samples_are() -> None:
    events = [event for event in slow_then_quick() if event.at != BEGIN + 25]
    shown = as_it_was(events, BEGIN + 20)
    assert "rac1: no sample for 5 s" in plain(shown.lines)
    assert drawn_of(as_it_was(events, BEGIN + 40), "FAILED").strip() == "▁" * 15 + " " * 10 + "▁" * 15


def test_an_earlier_view_shows_no_later_event() -> None:
    later: list[Event] = [*slow_then_quick(), Gap(SourceId.node("rac1"), BEGIN + 41, "The node went away.")]
    shown = as_it_was(later, BEGIN + 40)
    assert "went away" not in plain(shown.lines)
    assert "?" not in row(shown, "eth1")


def test_a_shorter_interval_does_not_make_a_longer_sample_a_gap() -> None:
    """The next one after that of ten seconds may take ten seconds more."""
    noise = random.Random(1)
    last = msgspec.structs.replace(node_sample("rac1", BEGIN + 10, noise), seconds=10.0)
    shown = page([links("rac1", BEGIN), last, node_sample("rac2", BEGIN + 19, noise)], view=TrafficView(node="rac1"))
    assert "?" not in row(shown, "eth1")


# --- the pings of a recording ---------------------------------------------------------------------------------------


def pinged(to_node: str, payload: int, p99_us: float | None, lost: int = 0) -> LatencySample:
    """A second of pings on eth1."""
    half = None if p99_us is None else p99_us / 2
    return LatencySample("192.168.10.0/24", to_node, payload, BEGIN + 1, 1.0, 100, 100 - lost, half, p99_us, p99_us)


def test_the_pings_of_a_network_show_the_worst_path_and_the_losses_of_all() -> None:
    events: list[Event] = [*cluster_events(1, 3), pinged("rac2", 56, 100.0), pinged("rac2", 8328, 420.0)]
    events += [pinged("rac3", 56, 90.0), pinged("rac3", 8328, None, lost=100)]
    shown = page(events)
    assert "56 B p50 0.05 ms  max 0.10 ms  block p50 0.21 ms" in row(shown, "ping eth1")
    assert "block max 0.42 ms  lost 25.0 %" in plain(shown.lines)
    assert roles(shown, "lost 25.0 %") == {"fail"}
    assert "ping" not in plain(page(events, view=TrafficView(node="rac2")).lines), (
        "they are those of the node that recorded"
    )


def test_pings_that_could_not_be_sent_have_a_reason_and_are_not_0() -> None:
    why = Gap(ALL_PINGS, BEGIN + 2, "This user may open no ICMP socket.")
    events = [*cluster_events(2, 1), pinged("rac2", 8328, 420.0), *cluster_events(20, 1), why]
    shown = page(sorted(events, key=lambda event: event.at))
    assert "This user may open no ICMP socket." in row(shown, "ping eth1")
    assert "lost    ? %" in plain(shown.lines)
