"""The figures and lines of the Traffic screen."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.traffic.samples import Event, Gap, InterfaceCounts, NodeSample
from checks.traffic.source_id import DATABASE, SourceId
from checks.traffic.timeline import Timeline
from tests.tui.traffic_samples import (
    BEGIN,
    HOSTILE,
    cluster_events,
    hostile_events,
    instance_sample,
    links,
    node_sample,
    surroundings,
)
from tui.screens.traffic.lines import TrafficPage, TrafficView, page_of
from tui.screens.traffic.node_lines import KnownNodes
from tui.screens.traffic.peaks import Peaks
from tui.screens.traffic.rate_history import Memo
from tui.screens.traffic.rows import DrawingStyle
from tui.screens.traffic.time_cursor import TrackCursor
from tui.text.line import plain, width_of
from tui.text.sanitize import sanitize_lines
from tui.widgets import units as units

RATES = st.one_of(st.none(), st.floats(), st.integers(0, 10**20).map(float))


def page(
    events: Sequence[Event], *, width: int = 80, height: int = 19, view: TrafficView | None = None, step_s: float = 1.0
) -> TrafficPage:
    """The page that these events make."""
    timeline = Timeline()
    timeline.add(events)
    peaks = Peaks()
    peaks.take(timeline)
    places, view = KnownNodes(), view or TrafficView()
    shown = TrackCursor(timeline).read(places, None, [], step_s, 60, 1.0)
    view.settle(places.nodes)
    return page_of(
        shown.window if shown else None, places, view, DrawingStyle(width, peaks=peaks), surroundings(shown, height)
    )


def row(shown: TrafficPage, begin: str) -> str:
    """Return the first line with this start, after the selection mark."""
    return next(line for line in plain(shown.lines).splitlines() if line[1:].startswith(begin))


def roles(shown: TrafficPage, word: str) -> set[str]:
    """How a word looks."""
    return {role for line in shown.lines for text, role in line if word in text}


# --- units ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "?"),
        (0, "0 b/s"),
        (812e6, "812 Mb/s"),
        (999.6, "1.00 kb/s"),
        (1.404e9, "1.40 Gb/s"),
        (12.34e3, "12.3 kb/s"),
    ],
)
def test_network_rates_are_in_bits_with_decimal_prefixes(value: float | None, text: str) -> None:
    assert units.bits(value).strip().startswith(text)


def test_small_rates_are_never_shown_as_zero() -> None:
    assert units.rate(0.3).strip() == "0.30/s"
    assert units.rate(0.0001).strip() == "<.01/s"
    assert units.share(0.01).strip() == "<0.1 %"
    assert units.rate(0).strip() == "0/s"


def test_unknown_values_are_never_shown_as_zero() -> None:
    for text in (units.bits(None), units.rate(None), units.share(None), units.milliseconds(None), units.size(None)):
        assert "0" not in text


@given(RATES)
def test_figures_always_have_the_same_width(value: float | None) -> None:
    assert len(units.bits(value)) == units.BITS
    assert len(units.rate(value)) == units.RATE
    assert len(units.size(value)) == units.SIZE
    assert len(units.share(value)) == units.SHARE
    if value is None or not math.isfinite(value) or value < 9.9e6:
        assert len(units.milliseconds(value)) == units.MS


# --- one node ---------------------------------------------------------------------------------------------------------


def test_an_interface_shows_its_load_in_both_directions() -> None:
    counts = InterfaceCounts(
        rx_bytes=101_500_000, rx_packets=11_278, tx_bytes=98_750_000, tx_packets=10_972, tx_dropped=12, tx_errors=3
    )
    events = [links("rac1", BEGIN), NodeSample("rac1", BEGIN + 1, 1.0, interfaces={"eth1": counts})]
    shown = page(events, height=4)  # too low for graphs of several lines
    assert row(shown, "eth1").split() == "▶eth1 in 812 Mb/s 8.1 % 11.3 k/s 9.00 kB ▇ 812 Mb/s 0".split()  # noqa: SIM905
    assert row(shown, "9000 out").split()[-1] == "15.0/s", "drops and errors together"
    assert roles(shown, "15.0/s") == {"fail"}


def test_only_private_interfaces_are_shown_unless_others_are_requested() -> None:
    events = list(cluster_events(3, 1))
    assert "eth0" not in plain(page(events).lines)
    shown = plain(page(events, view=TrafficView(others=True)).lines)
    assert shown.index("eth2") < shown.index("eth0")
    assert "lo " not in shown


def test_without_a_known_private_network_all_interfaces_are_shown() -> None:
    shown = page([node_sample("rac1", BEGIN, random.Random(1))])
    assert {"eth0", "eth1", "eth2"} <= set(plain(shown.lines).replace("▶", " ").split())


def test_problems_have_a_text_and_a_colour() -> None:
    noise = random.Random(1)
    calm = page([links("rac1", BEGIN), node_sample("rac1", BEGIN + 1, noise)])
    assert roles(calm, "FAILED") == {""}
    sick = page([links("rac1", BEGIN), node_sample("rac1", BEGIN + 1, noise, Ip_ReasmFails=212, Udp_RcvbufErrors=7)])
    assert "FAILED  212/s" in plain(sick.lines)
    assert roles(sick, "FAILED") == roles(sick, "receive-buffer errors") == {"fail"}


def test_an_instance_is_shown_with_its_node_and_its_losses() -> None:
    noise = random.Random(1)
    events: list[Event] = [links("rac1", BEGIN), node_sample("rac1", BEGIN + 1, noise)]
    events += [instance_sample(1, "rac1", BEGIN + 1, noise, lost=2), instance_sample(2, "rac2", BEGIN + 1, noise)]
    events += [node_sample("rac2", BEGIN + 1, noise)]
    shown = page(events)
    assert "blocks in" in row(shown, "prod1")
    assert "lost 2.00/s" in plain(shown.lines)
    assert not any(line[1:].startswith("prod2") for line in plain(shown.lines).splitlines())


def test_a_link_that_is_down_is_marked() -> None:
    shown = page([links("rac1", BEGIN, is_up=False), node_sample("rac1", BEGIN + 1, random.Random(1))])
    assert "down" in row(shown, "down")
    assert roles(shown, "down") == {"fail"}


# --- unknown values ---------------------------------------------------------------------------------------------------


def test_a_missing_counter_is_a_question_mark() -> None:
    sample = NodeSample("rac1", BEGIN + 1, 1.0, counters={"Ip.ReasmOKs": 1}, left_out=("eth1", "Ip.ReasmFails"))
    shown = page([links("rac1", BEGIN), sample])
    assert "FAILED    ?/s" in plain(shown.lines)
    assert row(shown, "eth1").count("?") == 6
    assert "0" not in row(shown, "eth1")


def test_an_unreadable_node_has_its_reason_and_a_gap_in_the_graph() -> None:
    events = [*cluster_events(10, 2), Gap(SourceId.node("rac2"), BEGIN + 11, "ssh asked for a password.")]
    shown = page(events, view=TrafficView(node="rac2"))
    assert "rac2: ssh asked for a password." in plain(shown.lines)
    assert "?" in row(shown, "eth1")
    assert len(shown.lines) == len(page(list(cluster_events(10, 2)), view=TrafficView(node="rac2")).lines), (
        "nothing moves"
    )
    other = row(page(events), "eth1")
    assert "?" not in other


def test_a_missed_sample_is_a_gap_in_the_graph() -> None:
    noise = random.Random(1)
    events: list[Event] = [links("rac1", BEGIN)]
    events += [node_sample("rac1", BEGIN + second, noise, ("eth1",)) for second in (1, 2, 3, 5, 6)]
    drawn = next(line for line in plain(page(events).lines).splitlines() if "FAILED" in line)
    assert "▁▁▁ ▁▁" in drawn


def test_a_source_without_new_samples_shows_since_when() -> None:
    events = [e for e in cluster_events(20, 2) if not (e.source == SourceId.instance("prod1") and e.at > BEGIN + 10)]
    assert "no sample for" in row(page(events), "prod1")


def test_an_unavailable_database_replaces_its_instances() -> None:
    shown = page([*cluster_events(5, 1), Gap(DATABASE, BEGIN + 6, "The listener does not answer.")])
    assert "The listener does not answer." in row(shown, "prod1")


def test_before_the_first_sample_the_page_says_that_it_waits() -> None:
    assert "Waiting for the first samples." in plain(page([]).lines)


# --- one interface, and all nodes -------------------------------------------------------------------------------------


def test_the_page_of_an_interface_shows_all_its_counters() -> None:
    shown = plain(page(list(cluster_events(5, 1)), view=TrafficView("alone", chosen="eth2")).lines)
    assert "eth2  ethernet  MTU 9000  10 Gb/s  private network 192.168.11.0/24" in shown
    for words in ("drops in", "drops out", "errors in", "fifo overruns in", "frame errors in", "carrier errors out"):
        assert words in shown


def test_all_nodes_have_a_line_each_and_sixteen_fit_the_smallest_screen() -> None:
    shown = page(list(cluster_events(5, 16)), view=TrafficView("nodes"))
    lines = plain(shown.lines).splitlines()
    assert len(lines) == 18, "the last one is the time axis"
    assert [line[1:].split()[0] for line in lines[1:17]] == [f"rac{number}" for number in range(1, 17)]


def test_an_unreachable_node_has_its_reason_in_the_table() -> None:
    shown = page(
        [*cluster_events(5, 3), Gap(SourceId.node("rac3"), BEGIN + 6, "rac3 is away.")], view=TrafficView("nodes")
    )
    assert row(shown, "rac3").endswith("rac3 is away.")


@pytest.mark.parametrize("kind", ["node", "alone", "nodes"])
def test_nothing_changes_position_from_sample_to_sample(kind: str) -> None:
    shapes = set()
    for second in range(2, 12):
        shown = page(list(cluster_events(second, 3)), view=TrafficView(kind))  # type: ignore[arg-type]
        shapes.add(tuple(width_of(line) for line in shown.lines[1:]))
    assert len(shapes) == 1


ANY_COUNT = st.integers(0, 2**70)
ANY_COUNTS = st.builds(
    InterfaceCounts, rx_bytes=ANY_COUNT, tx_bytes=ANY_COUNT, rx_packets=ANY_COUNT, rx_dropped=ANY_COUNT
)
NAMES = st.text(min_size=1, max_size=20)
ANY_SAMPLE = st.builds(
    NodeSample,
    node=st.sampled_from(["rac1", "漢字漢字漢字漢字", "x" * 70]),
    at=st.floats(BEGIN, BEGIN + 30),
    seconds=st.one_of(st.just(0.0), st.floats(0.001, 100)),
    interfaces=st.dictionaries(NAMES, ANY_COUNTS, max_size=3),
    counters=st.dictionaries(st.sampled_from(["Ip.ReasmFails", "Udp.InDatagrams"]), ANY_COUNT),
    load=st.one_of(st.none(), st.floats()),
)
ANY_GAP = st.builds(
    Gap,
    st.sampled_from([SourceId.node("rac1"), SourceId.instance("漢"), DATABASE]),
    st.floats(BEGIN, BEGIN + 30),
    st.text(),
)


@given(
    st.lists(st.one_of(ANY_SAMPLE, ANY_GAP), max_size=6),
    st.integers(20, 200),
    st.sampled_from(["node", "alone", "nodes"]),
    st.booleans(),
)
def test_no_line_is_wider_than_the_screen(events: list[Event], width: int, kind: str, others: bool) -> None:
    ordered = sorted(events, key=lambda event: event.at)
    shown = page(ordered, width=width, height=40, view=TrafficView(kind, others=others))  # type: ignore[arg-type]
    for line in shown.lines:
        assert width_of(line) <= width, plain([line])
        assert "\x1b" not in plain([line])


@pytest.mark.parametrize("width", [20, 40, 59, 60, 79, 80, 100, 119, 120, 200])
@pytest.mark.parametrize("kind", ["node", "alone", "nodes"])
def test_every_line_of_a_busy_cluster_fits(width: int, kind: str) -> None:
    shown = page(list(cluster_events(30, 4)), width=width, height=40, view=TrafficView(kind, others=True))  # type: ignore[arg-type]
    assert all(width_of(line) <= width for line in shown.lines)


def test_hostile_names_are_escaped_on_every_page() -> None:
    events = list(hostile_events())
    of = [(node, "alone", chosen) for node in ("rac1", HOSTILE) for chosen in (HOSTILE, "IP", f"{node} {HOSTILE}")]
    of += [("rac1", "nodes", ""), ("rac1", "node", ""), (HOSTILE, "node", ""), (f"rac3{HOSTILE}", "node", "")]
    for node, kind, chosen in of:
        view = TrafficView(kind, node, chosen, others=True)  # type: ignore[arg-type]
        for text in (*plain(page(events, view=view).lines).split("\n"), view.about(3)):
            assert text == sanitize_lines(text)


# --- peaks ------------------------------------------------------------------------------------------------------------


def test_a_peak_stays_after_its_sample_is_discarded() -> None:
    noise, timeline, peaks = random.Random(1), Timeline(kept=5), Peaks()
    timeline.add([node_sample("rac1", BEGIN, noise, Ip_ReasmFails=500)])
    peaks.take(timeline)
    for second in range(1, 20):
        timeline.add([node_sample("rac1", BEGIN + second, noise)])
        peaks.take(timeline)
    assert peaks.of(SourceId.node("rac1"), "IP") == 500
    assert peaks.since == BEGIN
    peaks.reset(BEGIN + 20)
    assert peaks.of(SourceId.node("rac1"), "IP") is None
    timeline.add([node_sample("rac1", BEGIN + 21, noise)])
    peaks.take(timeline)
    assert peaks.of(SourceId.node("rac1"), "IP") == 0


def test_of_several_samples_in_one_point_the_worst_is_shown() -> None:
    noise = random.Random(1)
    events: list[Event] = [node_sample("rac1", BEGIN + s, noise, Ip_ReasmFails=900 * (s == 25)) for s in range(60)]
    lines = plain(page(events, step_s=10.0).lines).splitlines()
    assert "█" in next(line for line in lines if "FAILED" in line)


# --- cached values ----------------------------------------------------------------------------------------------------


def test_a_receive_time_counted_as_0_is_not_shown_as_0() -> None:
    sample = instance_sample(1, "rac1", BEGIN + 1, random.Random(1))
    blocks = sample.statistics["gc cr blocks received"]
    quick = msgspec.structs.replace(sample, statistics={**sample.statistics, "gc cr block receive time": 0})
    few = {**quick.statistics, "gc cr blocks received": 75}
    for statistics, text in ((quick.statistics, "<.01 ms"), (few, "<.14 ms")):
        events: list[Event] = [links("rac1", BEGIN), msgspec.structs.replace(quick, statistics=statistics)]
        events.append(node_sample("rac1", BEGIN + 1, random.Random(1)))
        assert f"cr {text}" in row(page(events), "prod1"), blocks
        alone = page(events, view=TrafficView(kind="alone", chosen="prod1"))
        assert re.search(rf"cr +{re.escape(text)} .*{re.escape(text)}", plain(alone.lines))


@given(st.floats(1e-9, 99))
def test_an_upper_bound_of_a_time_is_never_rounded_down(bound: float) -> None:
    text = units.less_than_ms(bound)
    assert len(text) == units.MS
    assert float(text.split()[0][1:]) >= bound * (1 - 1e-6)


@given(st.integers(0, 3), st.lists(st.sampled_from([0.0, 1.0, 1.0, 1.0, 2.0, 7.0]), max_size=12))
def test_cached_drawing_data_does_not_change_the_page(seed: int, pauses: list[float]) -> None:
    noise = random.Random(seed)
    timeline = Timeline()
    timeline.add(cluster_events(5))
    cached, places = TrackCursor(timeline), KnownNodes()
    at = BEGIN + 5
    for pause in pauses:
        at += pause
        timeline.add([node_sample("rac1", at, noise), instance_sample(1, "rac1", at, noise)])
        drawn = [
            page_of(shown.window, places, TrafficView(node="rac1"), DrawingStyle(80), surroundings(shown, 40)).lines
            for head in (cached, TrackCursor(timeline))
            if (shown := head.read(places, None, [], 1.0, 40, 1.0))
        ]
        assert drawn[0] == drawn[1]


def test_data_no_longer_drawn_is_removed_from_the_cache() -> None:
    memo = Memo()
    made = [0]

    def make(item: int) -> int:
        made[0] += 1
        return item

    for first in range(1000):
        memo.turn()
        assert memo.along("a", list(range(first, first + 60)), make) == list(range(first, first + 60))
        memo.along(("seldom", first), [first], make)
    assert made[0] == 60 + 999 + 1000
    assert len(memo) == 3
