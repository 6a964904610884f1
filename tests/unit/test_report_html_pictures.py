"""The pictures of the page: samples, reduced without losing a peak; a gap is a gap and never 0."""

import math
import re
from contextlib import closing
from datetime import timedelta, timezone
from pathlib import Path

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given

from checks.model.facts import Cluster, History, NotAsked, Unknown
from checks.report.html.traffic_section import traffic_section
from checks.report.pictures import Curve, bar, nice_top, strip
from checks.report.pictures_facts import history_figure, interval_figures
from checks.report.pictures_samples import sampled as pictures_of
from checks.report.report_evidence import Evidence
from checks.report.time_slots import MOST_SLOTS, TimeSlots, drawn_span
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Recording
from checks.traffic.samples import Gap, InstanceSample, InterfaceCounts, NodeSample
from checks.traffic.source_id import SourceId
from checks.traffic.timeline import Timeline, Track
from tests.fixtures.clusters import cluster
from tests.fixtures.databases import activity, asked, counters, history, losing, own_activity, period, transfers
from tests.fixtures.large import large_track
from tests.fixtures.reports import report_of
from tests.unit.html_support import Page, busy_track, cells, losing_report, name_of, words
from tests.unit.recording_support import BEGIN, busy, header

# --- drawing ----------------------------------------------------------------------------------------------------------


def drawn(*values: float | None, look: str = "area", top: float = 10.0) -> list[str]:
    """The paths of a strip, without its floor."""
    made = strip("rac1 eth1", (Curve(values, look),), top, "title", "caption")  # type: ignore[arg-type]
    return re.findall(r'd="([^"]+)"', made.picture)[:-1]


def test_a_curve_is_drawn_as_steps():
    assert drawn(0, 10, 10, 5) == ["M0,100V100h1v-98h2v49h1V100Z"]
    assert drawn(0, 10, 10, 5, look="line") == ["M0,100h1v-98h2v49h1"]


def test_a_gap_ends_one_line_starts_another_and_is_marked():
    made = strip("rac1", (Curve((1.0, None, None, 2.0), "line"),), 2.0, "title", "caption")
    assert re.findall(r'd="(M[^"]+)" class="line"', made.picture) == ["M0,51h1", "M3,2h1"]
    assert '<rect x="1" y="0" width="2" height="100" class="gap"/>' in made.picture


def test_a_point_with_a_value_in_one_of_two_curves_is_not_a_gap():
    made = strip("rac1", (Curve((1.0, None), "area"), Curve((1.0, 1.0), "line")), 1.0, "title", "caption")
    assert "gap" not in made.picture


def test_the_smallest_loss_is_visible():
    assert drawn(1e-9, look="bars") == ["M0,100V96h1V100Z"]
    assert 'width="0.4"' in bar("prod1", 1, 1e9, "title", "caption").picture


def test_a_picture_has_a_text_alternative():
    made = strip("rac1", (Curve((1.0,), "area"),), 1.0, "Traffic of <eth1>\x1b", "at most 1 b/s")
    assert "<title>Traffic of &lt;eth1&gt;\\x1b</title><desc>at most 1 b/s</desc>" in made.picture
    assert 'role="img"' in made.picture


@given(st.floats(1e-6, 1e18))
def test_the_scale_is_slightly_above_the_highest_value(highest):
    assert highest <= nice_top(highest) <= 2.6 * highest


# --- by time ----------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(0.1, 20), st.floats(0, 1e9)), min_size=1, max_size=20),
    st.integers(1, 40),
)
def test_no_peak_is_lost_and_no_value_is_invented(samples, count):
    stretch = drawn_span(0.0, 100.0, 100 / count)
    assert stretch
    places = TimeSlots(stretch)
    inside = [value for at, seconds, value in samples if 0 <= at - seconds / 2 < 100]
    for at, seconds, value in samples:
        places.put("x", at, seconds, value)
    known = [value for value in places.values("x") if value is not None]
    assert set(known) <= {value for *_, value in samples}
    assert not inside or max(known) >= max(inside)


def test_time_without_samples_is_unknown():
    stretch = drawn_span(0.0, 6.0, 1.0)
    assert stretch
    places = TimeSlots(stretch)
    for at in (1.0, 2.01, 2.99, 6.0):
        places.put("x", at, 1.0, 5.0)
    assert places.values("x") == [5.0, 5.0, 5.0, None, None, 5.0]
    assert places.unknown_s("x") == 2.0


def test_a_long_sample_fills_every_slot_that_it_covers():
    stretch = drawn_span(0.0, 6.0, 1.0)
    assert stretch
    places = TimeSlots(stretch)
    places.put("x", 5.0, 4.0, 7.0)
    assert places.values("x") == [None, 7.0, 7.0, 7.0, 7.0, None]


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_invalid_values_are_unknown(value):
    stretch = drawn_span(0.0, 2.0, 1.0)
    assert stretch
    places = TimeSlots(stretch)
    for at, seconds in ((1.0, 1.0), (math.nan, 1.0), (1e300, 1.0), (1.0, math.inf), (1.0, 0.0), (1.0, -1.0)):
        places.put("x", at, seconds, value)
        places.put("y", at, seconds, 1.0)
    assert places.values("x") == [None, None]
    assert places.values("y") == [1.0, None]


def test_a_long_recording_is_drawn_with_fewer_points():
    stretch = drawn_span(0.0, 86_400.0, 1.0)
    assert stretch
    assert stretch.count == MOST_SLOTS
    assert drawn_span(5.0, 5.0, 1.0) is drawn_span(0.0, math.nan, 1.0) is drawn_span(0.0, math.inf, 1.0) is None


# --- samples ----------------------------------------------------------------------------------------------------------


def figures(track: Track, of: Cluster | None = None) -> dict[str, dict[str, str]]:
    """Return the text next to each strip, by figure and strip."""
    found = pictures_of(track, of or cluster(2), None)
    assert found
    return {figure.title: {strip.name: strip.caption for strip in figure.strips} for figure in found.figures}


def node_sample(second: int, bytes_: int = 125_000, failed: int = 0, node: str = "rac1") -> NodeSample:
    private = {"eth1": InterfaceCounts(rx_bytes=bytes_, tx_bytes=2 * bytes_)}
    return NodeSample(node, BEGIN + second, 1.0, private, {"Ip.ReasmFails": failed})


def of(*events: object) -> Timeline:
    track = Timeline()
    track.add(events)  # type: ignore[arg-type]
    return track


def test_traffic_is_drawn_for_each_port_of_each_private_network():
    assert figures(of(node_sample(1), node_sample(2, 250_000))) == {
        "Traffic on 192.168.10.0/24": {"rac1 eth1": "at most 2 Mb/s in, 4 Mb/s out"},
    }
    of_all = figures(large_track(2, 10))
    assert list(of_all) == [
        "Traffic on 192.168.10.0/24", "Traffic on 192.168.11.0/24", "Lost blocks", "Failed reassemblies",
    ]  # fmt: skip
    assert list(of_all["Traffic on 192.168.11.0/24"]) == ["rac1 eth2", "rac2 eth2"]
    assert list(of_all["Lost blocks"]) == ["prod1", "prod2"]


def test_faults_are_counted_and_interfaces_without_faults_are_named_without_a_picture():
    track = of(*(node_sample(second, failed=12 * (second == 3)) for second in range(1, 6)))
    assert figures(track)["Failed reassemblies"] == {"rac1": "12 in all, at most 12/s"}
    calm = pictures_of(of(*map(node_sample, range(1, 6))), cluster(2), None)
    assert calm
    assert "Failed reassemblies" not in {figure.title for figure in calm.figures}
    assert "Failed reassemblies: none on rac1." in calm.sentences


def test_a_gap_is_drawn_with_its_duration_and_reason():
    events = [node_sample(second) for second in (1, 2, 3, 7, 8)]
    track = of(*events[:3], Gap(SourceId.node("rac1"), BEGIN + 4, "ssh was lost."), *events[3:])
    found = pictures_of(track, cluster(2), None)
    assert found
    (figure,) = found.figures
    assert figure.strips[0].caption.endswith("not known for 3 s")
    assert '<rect x="3" y="0" width="3" height="100" class="gap"/>' in figure.strips[0].picture
    assert ("gap", "not known") in figure.legend
    assert "Not sampled for a time: node rac1. ssh was lost." in found.sentences
    assert "Failed reassemblies: none on rac1; not known: 3 s of rac1." in found.sentences


def test_unknown_lost_blocks_are_not_drawn_as_zero():
    sample = InstanceSample("prod1", 1, "rac1", BEGIN + 1, 1.0, {"gc blocks lost": 3})
    missing = InstanceSample("prod1", 1, "rac1", BEGIN + 2, 1.0)
    assert figures(of(sample, missing))["Lost blocks"] == {"prod1": "3 in all, at most 3/s; not known for 1 s"}


def test_a_source_without_samples_has_a_grey_row():
    lost = InstanceSample("prod1", 1, "rac1", BEGIN + 1, 1.0, {"gc blocks lost": 3})
    never = Gap(SourceId.node("rac2"), BEGIN + 1, "no ssh"), Gap(SourceId.instance("prod2"), BEGIN + 1, "no grant")
    found = pictures_of(of(node_sample(1, failed=2), node_sample(2), lost, *never), cluster(2), None)
    assert found
    captions = {figure.title: {strip.name: strip.caption for strip in figure.strips} for figure in found.figures}
    assert captions["Traffic on 192.168.10.0/24"]["rac2 eth1"] == "never sampled"
    assert captions["Lost blocks"]["prod2"] == captions["Failed reassemblies"]["rac2"] == "never sampled"
    for figure in found.figures:
        assert '<rect x="0" y="0" width="2" height="100" class="gap"/>' in figure.strips[-1].picture
        assert ("gap", "not known") in figure.legend


def test_a_source_without_samples_is_not_reported_as_free_of_faults():
    found = pictures_of(of(node_sample(1), Gap(SourceId.node("rac2"), BEGIN + 1, "no ssh")), cluster(2), None)
    assert found
    assert "Failed reassemblies: none on rac1; not known: all of rac2." in found.sentences
    assert "Never sampled: node rac2. no ssh" in found.sentences


def test_a_recording_is_drawn_as_the_samples_in_it(tmp_path: Path):
    file = tmp_path / "night.racwire-rec"
    recorder = Recorder.create(file, header())
    for events in busy(20):
        recorder.write(events)
    recorder.close()
    with closing(Recording.open(file)) as recording:
        assert figures(recording) == figures(busy_track(20))


def test_times_are_in_the_time_zone_of_the_node():
    found = pictures_of(of(node_sample(1), node_sample(2)), cluster(2), timezone(timedelta(hours=2)))
    assert found
    assert found.sentences[0] == (
        "Sampled for 2 s, since 2026-09-10 02:26:40 +02:00; the pictures show the highest value in each 1 s."
    )
    assert found.figures[0].axis == ("02:26:40", "02:26:41", "02:26:42")


def test_nothing_sampled_makes_no_picture():
    assert pictures_of(Timeline(), cluster(2), None) is None
    assert pictures_of(of(Gap(SourceId.node("rac1"), BEGIN, "down")), cluster(2), None) is None


def test_unknown_networks_are_reported():
    unknown = msgspec.structs.replace(cluster(2), networks=Unknown("?"))
    found = pictures_of(of(node_sample(1), node_sample(2)), unknown, None)
    assert found
    assert "The private interfaces are not known, so no picture shows their traffic." in found.sentences


# --- facts ------------------------------------------------------------------------------------------------------------


def test_without_samples_the_interval_of_the_checks_is_drawn():
    built = asked(2, activity=losing(2, 37, {1: 37}))
    (lost,) = interval_figures(built)
    assert lost.title == "Lost blocks in 30 s"
    assert [(strip.name, strip.caption) for strip in lost.strips] == [
        ("prod1", "0 of 12,400 blocks sent, 0 %"), ("prod2", "37 of 12,437 blocks sent, 0.297 %"),
    ]  # fmt: skip
    assert interval_figures(asked(2, activity=activity(2), counters=counters(2))) == ()


def test_lost_blocks_are_shown_as_a_share_of_all_blocks_sent():
    few = own_activity(2, {"gc cr blocks received": 10, "gc current blocks received": 0, "gc blocks lost": 30})
    blocks = traffic_section(Evidence(report_of(asked(2, activity=activity(2, few))))).sheets[0]
    (row,) = [dict(zip(blocks.columns, row, strict=True)) for row in blocks.rows if row[0] == "prod2"]
    assert (row["Received"], row["Lost"], row["Lost of sent"]) == ("10", "30", "75 %")


def test_the_history_is_drawn_by_its_parts_and_a_missing_part_is_a_gap():
    parts = tuple(period(1, day, 37 if day == 17 else 0) for day in (14, 15, 17))
    figure = history_figure(asked(2, history=history(2, periods=parts)))
    assert figure is not None
    assert not isinstance(figure, str)
    (prod1,) = figure.strips
    assert prod1.caption == "37 in all, at most 37 at a time"
    assert '<rect x="2" y="0" width="1" height="100" class="gap"/>' in prod1.picture
    assert figure.sentence.endswith("2026-11-20 14:00:00; the highest number in each 1 d. Full height is 50.")
    assert figure.axis == ("2026-11-14 00:00", "2026-11-18 00:00")


def test_a_history_without_losses_is_a_sentence():
    assert history_figure(asked(2)) == "AWR, 2026-11-13 14:00:00 to 2026-11-20 14:00:00: no block was lost."
    assert history_figure(cluster(2)) is None


@pytest.mark.parametrize("begin", ["", "yesterday", "0001-01-01T00:00:00", "9999-12-31T23:59:59"])
def test_invalid_times_are_harmless(begin):
    odd = msgspec.structs.replace(period(1, 14, 5), begin=begin)
    built = history(1, periods=(odd, period(1, 15, 2)))
    assert isinstance(built, History)
    history_figure(asked(1, history=built))


# --- in the page ------------------------------------------------------------------------------------------------------


def test_pictures_are_on_the_page_with_title_and_description():
    page = Page(losing_report(), large_track(2, 30, without=range(10, 15)))
    pictures = page.all("svg")
    assert len(pictures) == 4 + 2 + 2 + 3  # ports, lost blocks, failed reassemblies; the past of three instances
    assert all([name_of(child) for child in picture][:2] == ["title", "desc"] for picture in pictures)
    assert "not known for 5 s" in page.text("traffic")
    assert any(e.get("class") == "gap" for e in page.all("rect"))


def test_lost_blocks_are_a_matrix_of_receivers_and_senders():
    page = Page(losing_report())
    matrices = [t for t in page.by_id("traffic").iter("table") if t.get("class") == "matrix"]
    now, past = map(cells, matrices)
    assert now == [
        ["lost by, sent by", "prod1", "prod2", "prod3"],
        ["prod1", "·", "0", "0"],
        ["prod2", "37", "·", "0"],
        ["prod3", "0", "0", "·"],
    ]
    assert past[2] == ["prod2", "1,204", "·", "0"]
    assert "not measured" not in page.text("traffic")


def test_an_unmeasured_pair_differs_from_one_without_losses():
    measured = transfers(3, {(2, 1): 37})
    without = tuple(pair for pair in measured if (pair.receiver, pair.sender) != (3, 1))
    lost = msgspec.structs.replace(losing(2, 37, {1: 37}, 3), transfers=without)
    page = Page(report_of(asked(3, activity=lost)))
    (matrix,) = [t for t in page.by_id("traffic").iter("table") if t.get("class") == "matrix"]
    assert cells(matrix)[3] == ["prod3", "?", "0", "·"]
    assert "?: not measured" in page.text("traffic")


NO_GRANT = Unknown("racwire has no grant on GV_$SYSSTAT.")


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        (asked(2, activity=NO_GRANT), NO_GRANT.reason),
        (asked(2, activity=NotAsked("It hangs."), database=NO_GRANT), NO_GRANT.reason),
        (cluster(2), "No check of this run needs these numbers."),
    ],
)
def test_the_reason_for_unknown_lost_blocks_is_shown(facts, why):
    shown = Page(report_of(facts)).text("traffic")
    assert f"The blocks that the instances lost in the interval of the checks are not known. {why}" in shown


def test_a_recording_without_samples_is_reported():
    shown = Page(report_of(asked(2))).text("traffic")
    assert "racwire did not sample the traffic, so no picture shows the traffic over time." in shown


def test_the_matrix_of_paths_has_a_letter_a_size_and_figures_for_each_direction():
    page = Page(losing_report())
    _, second = list(page.by_id("paths").iter("table"))
    assert cells(second) == [
        ["from, to", "rac1", "rac2", "rac3"],
        ["rac1", "·", "B 1500", "P 9000"],
        ["rac2", "B 1500", "·", "P 9000"],
        ["rac3", "P 9000", "P 9000", "·"],
    ]
    tips = [td.get("title") for td in second.iter("td")]
    assert (
        tips[1]
        == "rac1→rac2: 84 bytes 20/20 0.08 ms · 9000 bytes 0/20 · largest 1500: black hole, lost on the way there"
    )
    assert "B black hole" in page.text("paths")
    assert next(words(li) for li in page.by_id("paths").iter("li")).startswith("rac1→rac2: 84 bytes 20/20")
