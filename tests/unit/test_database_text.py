"""The Database screen as text: its content for two to sixteen instances; its letters agree with the checks."""

from __future__ import annotations

from datetime import timedelta, timezone

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checks.model.facts import (
    ActivityGap,
    BlockTransfer,
    ClientTraffic,
    HistoryPeriod,
    InstanceHistory,
    InstancePing,
    NotAsked,
    NotGathered,
    UnaskedInstance,
    Unknown,
    UnreadView,
)
from checks.model.wording import span
from checks.traffic.samples import Gap, InstanceSample, NodeSample, PairsSample
from checks.traffic.source_id import DATABASE, PAIRS, SourceId
from checks.traffic.timeline import Timeline
from tests.fixtures.databases import (
    activity,
    asked,
    database,
    history,
    losing,
    own_activity,
    past_loss,
    period,
    transfers,
)
from tests.unit.test_check_any_facts import clusters
from tui.colours import ROLES
from tui.screens.database.figures import ms, percent, rate, volume
from tui.screens.database.lines import DatabaseFacts, page_of, sections_of
from tui.screens.database.live_source import LiveFigures, live_of, pairs_of
from tui.text.line import plain, width_of

NOON = 1_763_640_000.0


def lines_of(built, width=80, live=None, progress=""):
    known = DatabaseFacts(built.database, built.activity, built.history, built, live or LiveFigures(), progress)
    return page_of(sections_of(known, width), width)[0]


def text_of(built, width=80, **more):
    return plain(lines_of(built, width, **more))


def part(text, title):
    """Return the lines below that heading."""
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith(f" {title}"))
    end = next((n for n in range(start + 1, len(lines)) if not lines[n]), len(lines))
    return lines[start:end]


def row_of(text, title, name):
    return next(line.split()[1:] for line in part(text, title) if line.split()[:1] == [name])


def sample(number, at=NOON, seconds=1.0, **changed):
    statistics = {
        "gc blocks lost": 0,
        "gc cr blocks received": 300,
        "gc current blocks received": 100,
        "gc cr block receive time": 15,
        "gc current block receive time": 4,
        "gc cr blocks served": 200,
        "gc current blocks served": 50,
        **{name.replace("_", " "): value for name, value in changed.items()},
    }
    return InstanceSample(f"prod{number}", number, f"rac{number}", at, seconds, statistics)


def test_figures_have_significant_digits_and_small_values_are_never_zero():
    assert [rate(v) for v in (None, 0.0, 0.001, 1.234, 12.34, 99.97, 9999.0, 12_345.0, 2.5e6)] == [
        *("?", "0", "<0.01", "1.23", "12.3", "100", "9,999", "12.3 k", "2.5 M")
    ]
    assert [ms(v) for v in (None, 0.0, 0.001, 0.42, 12.34, 1234.0)] == ["-", "0.00", "<0.01", "0.42", "12.3", "1,234"]
    assert [ms(0.0, blocks=blocks) for blocks in (0, 75, 4, 100_000)] == ["0.00", "<0.14", "<2.5", "<0.01"]
    assert [percent(v) for v in (None, 0.0, 0.001, 0.5, 3.42, 99.6)] == ["-", "0", "<0.01", "0.50", "3.4", "100"]
    assert [volume(v) for v in (12.0, 2048.0, 99_960.0, 999_700.0, 3.5e9)] == [
        *("12 B", "2.0 kB", "100 kB", "1.0 MB", "3.5 GB")
    ]
    assert [span(v) for v in (1.0, 2.5, 30.2, 900.0)] == ["1 s", "2.5 s", "30 s", "15 min"]


def test_without_live_samples_the_figures_of_the_run_are_shown_and_labelled():
    text = text_of(asked(2, activity=losing(2, 37, {1: 37})))
    assert part(text, "Instances")[0] == " Instances  by the checks, 30 s to 14:02:31 +01:00"
    assert row_of(text, "Instances", "prod2")[:6] == ["413", "?", "1.23", "F", "0.40", "0.40"]
    assert row_of(text, "Lost blocks", "prod2")[:4] == ["37", "of", "12,437", "F"]
    assert "Most of them from prod1 to prod2: 37." in text


def test_losses_of_unqueried_receivers_are_unknown_and_never_zero():
    hung = [ActivityGap(n, "prod1 does not answer.") for n in (1, 2)]
    only = tuple(t for t in transfers(3) if t.receiver == 3)
    text = " ".join(text_of(asked(3, activity=activity(3, *hung, transfers=only)), width=200).split())
    assert "? The blocks that prod1 and prod2 received are not known: 2 of 3 instances." in text
    assert "0 lost of 12,400 sent to prod3." in text
    nothing = " ".join(text_of(asked(3, activity=activity(3, *hung, transfers=())), width=200).split())
    assert "No instance received blocks from another instance." not in nothing.partition("Receive times")[0]
    assert "received is not known" not in text_of(asked(3), width=200)


def test_times_of_samples_are_in_the_time_zone_of_their_run_which_is_named_once():
    timeline = Timeline()
    timeline.add([sample(1), sample(2), PairsSample(NOON, 1.0, (BlockTransfer(1, 2, 5, 5, 0),))])
    text = text_of(asked(2), live=live_of(timeline, "", "recorded", timezone(timedelta(hours=-3))))
    assert part(text, "Instances")[0] == " Instances  recorded, 1 s to 09:00:00 -03:00"
    assert part(text, "Lost blocks")[0] == " Lost blocks  recorded, 1 s to 09:00:00"


def test_live_samples_come_before_the_figures_of_the_run():
    timeline = Timeline()
    timeline.add([sample(1), sample(2, gc_blocks_lost=3)])
    text = text_of(asked(2), live=live_of(timeline))
    assert part(text, "Instances")[0].startswith(" Instances  live, 1 s to ")
    assert row_of(text, "Instances", "prod1")[:5] == ["400", "250", "0", "0.50", "0.40"]
    assert row_of(text, "Instances", "prod2")[2:4] == ["3.00", "F"]


def test_pairs_of_a_view_that_live_samples_could_not_read_are_unknown_and_never_absent():
    timeline, view = Timeline(), "GV$INSTANCE_CACHE_TRANSFER"
    ping = InstancePing(1, 2, 90, 400, 90, 17_000)
    timeline.add([sample(1), PairsSample(NOON, 1.0, (), (ping,), {view: f"RACWIRE may not read {view}."})])
    text = text_of(asked(2), live=live_of(timeline), width=200)
    assert f"? RACWIRE may not read {view}." in text
    assert "No instance received blocks" not in text
    short = f"prod2 did not answer the query of {view}."
    timeline.add([PairsSample(NOON + 1, 1.0, (BlockTransfer(1, 2, 5, 5, 0),), (ping,), {view: short})])
    text = text_of(asked(2), live=live_of(timeline), width=200)
    assert f"? {short}" in text
    assert "0 lost of 20 sent" in text or "0 lost of 10 sent" in text


def test_an_instance_that_hangs_is_marked_in_its_row_and_the_others_continue():
    timeline = Timeline()
    timeline.add([sample(1), sample(2), Gap(SourceId.instance("prod2"), NOON + 1, "prod2 does not answer.")])
    text = text_of(asked(2), live=live_of(timeline))
    assert " ".join(row_of(text, "Instances", "prod2")) == "? rac2: prod2 does not answer."
    assert row_of(text, "Instances", "prod1")[0] == "400"


def test_an_instance_whose_samples_stopped_is_not_shown_as_current():
    timeline = Timeline()
    timeline.add([sample(2), *(sample(1, NOON + n) for n in range(12))])
    live = live_of(timeline)
    assert list(live.instances) == ["prod1"]
    assert live.gaps["prod2"].startswith("No sample since ")


def test_where_the_whole_database_hangs_the_run_is_shown_with_the_reason():
    timeline = Timeline()
    timeline.add([sample(1), Gap(DATABASE, NOON + 1, "The listener does not answer.")])
    text = text_of(asked(2), live=live_of(timeline))
    assert "? No live figures: The listener does not answer." in text
    assert "by the checks" in part(text, "Instances")[0]
    timeline.add([sample(1, NOON + 2)])
    assert live_of(timeline).trouble == ""


def test_samples_of_nodes_do_not_belong_to_an_instance():
    timeline = Timeline()
    timeline.add([NodeSample("rac1", NOON, 1.0)])
    assert live_of(timeline) == LiveFigures()


def test_pairs_are_summed_over_a_minute_and_not_across_a_gap():
    each = [
        PairsSample(NOON + 10 * n, 10.0, (BlockTransfer(1, 2, 5, 5, n),), (InstancePing(1, 2, 1, 100, 1, 200),))
        for n in range(10)
    ]
    summed = pairs_of(each)
    assert summed is not None
    assert summed.seconds == 60
    assert summed.transfers == (BlockTransfer(1, 2, 30, 30, 4 + 5 + 6 + 7 + 8 + 9),)
    assert summed.pings == (InstancePing(1, 2, 6, 600, 6, 1200),)
    after = pairs_of([*each[:5], Gap(PAIRS, NOON + 45, "?"), *each[5:]])
    assert after is not None
    assert after.seconds == 50


def test_a_restarted_instance_has_its_reason_and_no_figures():
    gap = ActivityGap(2, "prod2 was restarted within the interval.")
    row = row_of(text_of(asked(3, activity=activity(3, gap))), "Instances", "prod2")
    assert " ".join(row) == "? rac2: prod2 was restarted within the interval."


def test_an_instance_that_could_not_be_queried_is_listed():
    one = msgspec.structs.replace(database(1), unasked=(UnaskedInstance(2, "prod2", "It hangs."),))
    assert (
        " ".join(row_of(text_of(asked(2, database=one, activity=activity(1))), "Instances", "prod2")) == "? It hangs."
    )


def test_a_missing_grant_affects_only_its_own_section():
    built = asked(2, activity=activity(2, pings=Unknown("RACWIRE may not read GV$INSTANCE_PING.")))
    text = text_of(built)
    assert part(text, "Pings")[1] == " ? RACWIRE may not read GV$INSTANCE_PING."
    assert "0 of 12,400" in text
    unread = activity(2, unread=(UnreadView("GV$DLM_MISC", "RACWIRE may not read GV$DLM_MISC."),))
    assert " ? RACWIRE may not read GV$DLM_MISC." in part(text_of(asked(2, activity=unread)), "Caches")


def test_the_costs_of_serving_both_kinds_of_blocks_fit_80_columns():
    """The second instance's view of flushes for current blocks could not be read; that instance served no CR block."""
    served = {
        "gc cr blocks served": 1000, "gc cr block build time": 5, "gc cr block send time": 1,
        "gc cr block flush time": 30, "gc current blocks served": 400, "gc current block pin time": 20,
        "gc current block send time": 2, "gc current block flush time": 90,
    }  # fmt: skip
    one = own_activity(1, served, cr_flushes=20, current_flushes=100)
    two = own_activity(2, {**served, "gc cr blocks served": 0}, cr_flushes=0)
    lines = part(text_of(asked(2, activity=activity(2, one, two))), "Caches")
    start = next(n for n, line in enumerate(lines) if "cr build" in line)
    assert [line.split() for line in lines[start : start + 3]] == [
        ["cr", "build", "send", "flushed", "%", "flush", "cur", "pin", "send", "flushed", "%", "flush"],
        ["prod1", "0.05", "0.01", "2.0", "15.0", "0.50", "0.05", "25", "9.00"],
        ["prod2", "-", "-", "-", "-", "0.50", "0.05", "?", "?"],
    ]
    unread = UnreadView("GV$CURRENT_BLOCK_SERVER", "RACWIRE may not read GV$CURRENT_BLOCK_SERVER.")
    text = text_of(asked(2, activity=activity(2, one, two, unread=(unread,))))
    assert " ? RACWIRE may not read GV$CURRENT_BLOCK_SERVER." in part(text, "Caches")


def test_without_a_database_the_reason_and_the_command_are_shown():
    left_out = NotAsked("No database connection is set; prod1 runs here.", ("racwire check --connect HOST:1521/DB",))
    text = text_of(asked(2, database=left_out, activity=left_out, history=left_out))
    assert text.splitlines() == [
        " Database",
        " No database connection is set; prod1 runs here.",
        "   racwire check --connect HOST:1521/DB",
    ]
    assert " ? The listener is down." in text_of(asked(2, database=Unknown("The listener is down.")))


def test_unread_sections_show_the_progress():
    built = asked(2, activity=NotGathered(), history=NotGathered())
    text = text_of(built, progress="the instances' statistics  12 of 30 s")
    assert " Being read: the instances' statistics 12 of 30 s" in text
    assert row_of(text, "Instances", "prod1")[:5] == ["?"] * 5


def test_unreadable_history_says_how_to_enable_it():
    text = text_of(asked(2, history=NotAsked("AWR was not opted in to.", ("racwire check --awr",))))
    assert part(text, "History")[1:] == [" AWR was not opted in to.", "   racwire check --awr"]


def test_trends_show_the_peak_its_time_and_gaps():
    periods = tuple(period(1, day, 402 if day == 18 else 0) for day in (14, 15, 17, 18, 19))
    built = asked(1, history=history(1, [past_loss(1)], periods=periods))
    lines = part(text_of(built, 120), "History")
    assert lines[1] == " AWR, 2026-11-13 14:00 to 2026-11-20 14:00, 6 intervals of 1 day"
    graph, _, words = lines[3].removeprefix("   prod1 ").partition("  ")
    assert len(graph) == 6
    assert graph[2] == " "
    assert graph[4] == max(graph)
    assert words.startswith("W 1,204 in total, peak 402 from 2026-11-18 00:00; last loss until 2026-11-20 14:00")


def test_a_narrow_trend_keeps_the_peak():
    begins = [
        f"2026-{month:02}-{day:02}T{hour:02}:00:00" for month in (1, 2) for day in range(1, 29) for hour in (0, 8)
    ]
    periods = tuple(
        HistoryPeriod(1, at, at.replace(":00:00", ":59:59"), 3600.0, 9 * (n == 40), 100, 100, 10, 10)
        for n, at in enumerate(begins)
    )
    (line,) = [
        line for line in part(text_of(asked(1, history=history(1, periods=periods)), 40), "History") if "▁" in line
    ]
    assert line.count("█") == 1


def test_the_users_of_the_interconnect_and_the_cache_shares_are_in_the_history():
    own = InstanceHistory(
        1, "prod1", "rac1", 1000.0, 5, 2, 0,
        {
            "consistent gets from cache": 900_000, "db block gets from cache": 100_000, "physical reads cache": 50_000,
            "gc cr blocks received": 60_000, "gc current blocks received": 40_000, "gc cr blocks served": 50_000,
            "gc current blocks served": 50_000, "gcs messages sent": 0, "ges messages sent": 0,
            "gc cr block receive time": 3_000, "gc current block receive time": 1_000, "gc blocks lost": 7,
        },
        {"gcs msgs received": 0, "ges msgs received": 0},
    )  # fmt: skip
    clients = (ClientTraffic(1, "cache", 3 * 1024**3, 0), ClientTraffic(1, "ipq", 1024**2, 0))
    text = text_of(asked(1, history=msgspec.structs.replace(history(1, clients=clients), instances=(own,))), 120)
    row = next(line.split() for line in text.splitlines() if line.startswith(" prod1") and "GB" in line)
    assert row == ["prod1", "7", "100,000", "0.50", "0.25", "1.6", "MB", "10", "5.0", "3.2", "GB", "1.0", "MB", "2"]


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("instances", [2, 4, 16])
def test_every_pair_is_listed_at_any_width(instances, width):
    lost = {(instances, 1): 37}
    built = asked(
        instances,
        activity=losing(
            instances,
            37,
            {1: 37},
            instances,
        ),
    )
    built = msgspec.structs.replace(built, activity=activity(instances, transfers=transfers(instances, lost)))
    lines = lines_of(built, width)
    assert all(width_of(line) <= width for line in lines)
    text = plain(lines)
    assert text.count("37") >= 2
    section = text[text.index(" Lost blocks") : text.index(" Receive times")]
    assert section.count("·") == instances


words = st.text("ab \x1b\n節", max_size=20)
counts = st.integers(0, 2**40)
events = st.one_of(
    st.builds(
        InstanceSample,
        words,
        st.integers(1, 5),
        words,
        st.floats(-1e9, 1e12),
        st.floats(0, 1e5),
        st.dictionaries(st.sampled_from(["gc blocks lost", "gc cr blocks received", "gc cr blocks served"]), counts),
    ),
    st.builds(Gap, st.sampled_from([SourceId.instance("prod1"), DATABASE, PAIRS]), st.floats(-1e9, 1e12), words),
    st.builds(
        PairsSample,
        st.floats(-1e9, 1e12),
        st.floats(0, 1e5),
        st.lists(
            st.builds(BlockTransfer, st.integers(1, 5), st.integers(1, 5), counts, counts, counts), max_size=4
        ).map(tuple),
        st.lists(
            st.builds(InstancePing, st.integers(1, 5), st.integers(1, 5), counts, counts, counts, counts), max_size=4
        ).map(tuple),
    ),
)


@given(clusters(), st.lists(events, max_size=6), st.integers(20, 200))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_no_line_is_wider_than_the_screen_for_any_facts(built, progress, width):
    timeline = Timeline()
    timeline.add(progress)
    for line in lines_of(built, width, live=live_of(timeline), progress="going on"):
        assert width_of(line) <= width
        assert all(role in ROLES or not role for _, role in line)
        assert not any("\x1b" in text or "\n" in text for text, _ in line)
