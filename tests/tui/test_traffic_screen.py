"""The Traffic screen, driven by keys, on made-up samples."""

from __future__ import annotations

import random
import time

import pytest
from textual.geometry import Region

from checks.traffic.samples import Gap
from checks.traffic.source_id import SourceId
from checks.traffic.timeline import Timeline
from tests.tui.conftest import NewConsole
from tests.tui.driving import shown
from tests.tui.traffic_driving import console
from tests.tui.traffic_samples import BEGIN, cluster_events, instance_sample, node_sample
from tests.unit.test_check_packet_sizes import BLOCKS_IN_ONE, BLOCKS_IN_SIX, i40e
from tests.unit.test_check_packet_sizes import built as frames_by_size
from tui.console.messages import FeedFailed
from tui.screens.traffic import screen
from tui.terminal.cells import CellCompositor
from tui.widgets.lines import Lines

NOISE = random.Random(7)


@pytest.fixture(autouse=True)
def _in_one_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


@pytest.fixture(autouse=True)
def _draw_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "DRAW_AFTER_S", 0.005)
    monkeypatch.setattr(screen, "DRAW_EVERY_S", 0.005)


async def test_a_page_shows_one_node_with_its_interfaces_kernel_and_instance(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(5)) as on:
        for word in ("eth1", "eth2", "FAILED", "receive-buffer errors", "softirq", "prod1 blocks in", "lost"):
            assert word in on.body
        assert "Mb/s" in on.row("eth1")
        assert "rac1 of 3 nodes" in on.rule
        assert "every 1 s" in on.rule


async def test_before_the_first_sample_the_screen_waits(new_console: NewConsole) -> None:
    async with console(new_console, []) as on:
        assert "Waiting for the first samples." in on.body


async def test_a_new_sample_changes_values_and_not_the_layout(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(5)) as on:
        before = on.body
        await on.emit(node_sample("rac1", BEGIN + 6, NOISE, Ip_ReasmFails=212))
        assert "FAILED  212/s" in on.body
        both = zip(on.body.splitlines(), before.splitlines(), strict=True)
        assert all(now[:6] == then[:6] or "reassembly failed" in now for now, then in both), "the axis has the event"


async def test_nodes_can_be_cycled_through(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(5, 3)) as on:
        seen = []
        for _ in range(4):
            await on.press("n")
            seen.append(on.rule.split()[1])
        assert seen == ["rac2", "rac3", "rac1", "rac2"]
        assert "prod2" in on.body
        await on.press("N")
        assert on.rule.split()[1] == "rac1"


async def test_all_nodes_are_shown_in_a_table_and_one_can_be_opened(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(3, 16)) as on:
        await on.press("a")
        assert "all 16 nodes" in on.rule
        assert len(on.body.splitlines()) == 18, "the headings, a line for each node, and the time axis"
        assert "more lines" not in on.below
        await on.press("j", "j", "j")
        assert on.chosen == "rac4"
        await on.press("enter")
        assert "rac4 of 16 nodes" in on.rule
        assert "prod4" in on.body
        await on.press("a")
        assert on.chosen == "rac4"
        await on.press("escape")
        assert "rac4 of 16 nodes" in on.rule


async def test_enter_shows_a_single_interface_and_esc_returns(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(5)) as on:
        assert on.chosen == "eth1"
        await on.press("down", "enter")
        assert "eth2  ethernet  MTU 9000  10 Gb/s" in on.body
        assert "carrier errors out" in on.body
        await on.press("down")
        assert on.body.lstrip().startswith("IP"), "alone, the arrows go to the next one"
        await on.press("escape")
        assert on.chosen == "IP"


async def test_the_frames_by_size_of_the_last_checks_are_a_histogram(new_console: NewConsole) -> None:
    facts = frames_by_size(i40e(BLOCKS_IN_SIX, BLOCKS_IN_ONE))
    async with console(new_console, cluster_events(5), facts=facts) as on:
        await on.press(*["down"] * 9)
        assert on.chosen == "frames"
        await on.press("enter")
        assert "counted by the NICs" in on.body
        assert "70.4 %" in on.row("1024-1522")
        assert len(on.body.splitlines()) <= 20


async def test_the_selected_row_is_scrolled_into_view(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(5), (80, 14)) as on:
        assert "more lines" in on.below
        await on.press(*["down"] * 9)
        body = on.pilot.app.screen.query_one("#traffic", Lines)
        assert on.chosen == "users"
        assert body.above > 0
        await on.press(*["up"] * 9)
        assert body.above == 0


async def test_other_interfaces_are_shown_on_request(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(5)) as on:
        assert "eth0" not in on.body
        await on.press("o")
        assert "eth0" in on.body
        await on.press("o")
        assert "eth0" not in on.body


async def test_a_pause_stays_while_sampling_continues(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(5)) as on:
        await on.press("space")
        assert "paused" in on.rule
        assert "playhead" in on.rule
        assert "Space resume" in shown(on.pilot, "keys")
        before = on.body
        await on.emit(node_sample("rac1", BEGIN + 6, NOISE, Ip_ReasmFails=212))
        assert on.body == before
        await on.press("n", "N")
        assert on.body == before
        await on.press("space")
        assert "paused" not in on.rule
        assert "FAILED  212/s" in on.body


async def test_a_pause_may_be_longer_than_the_timeline(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(5)) as on:
        await on.press("space")
        before = on.body
        on.pilot.app.state.timeline = Timeline()  # type: ignore[attr-defined]
        await on.emit(*(node_sample("rac1", BEGIN + second, NOISE) for second in range(6, 320)))
        await on.press("n", "N")
        assert on.body == before


async def test_the_keys_move_to_earlier_times_and_to_now(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(60)) as on:
        now = on.rule
        await on.press("left", "left")
        assert "not live" in on.rule
        assert on.rule.split()[-2] < now.split()[-2]
        two_back = on.rule
        await on.press("right")
        assert on.rule > two_back
        await on.press("home")
        assert "highest" in on.body
        first = on.rule
        await on.press("pagedown")
        assert on.rule > first
        await on.press("end")
        assert on.rule == now


async def test_moving_past_the_newest_sample_follows_again(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(10)) as on:
        await on.press("left", "right", "right")
        assert "every 1 s" in on.rule


async def test_the_interval_has_steps_from_a_second_to_a_minute(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(5)) as on:
        seen = []
        for _ in range(7):
            await on.press("+")
            await on.pilot.pause()
            seen.append(on.feed.interval_s)
        assert seen == [2, 5, 10, 15, 30, 60, 60]
        assert "every 1 min" in on.rule
        await on.press("-")
        await on.pilot.pause()
        assert on.feed.interval_s == 30


async def test_keys_pressed_in_a_burst_all_count(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(5)) as on:
        for key in ["plus"] * 8 + ["minus"] * 2 + ["plus"] + ["minus"] * 3:
            on.pilot.app.simulate_key(key)  # the one before is not done yet
        await on.until(lambda: "every 5 s" in on.rule)
        assert on.feed.interval_s == 5


@pytest.mark.parametrize(("term", "can"), [("xterm-256color", True), ("vt100", False)])
async def test_graphs_are_moved_only_on_a_terminal_that_supports_it(
    new_console: NewConsole, monkeypatch: pytest.MonkeyPatch, term: str, can: bool
) -> None:
    monkeypatch.setenv("TERM", term)
    moved: list[Region] = []
    render = CellCompositor.render_update

    def watched(compositor: CellCompositor, *how: bool, **more: bool) -> object:
        moved.extend(compositor._pushes)
        return render(compositor, *how, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(CellCompositor, "render_update", watched)
    async with console(new_console, cluster_events(60), (120, 40)) as on:
        for second in range(61, 66):
            await on.emit(node_sample("rac1", BEGIN + second, NOISE))
    assert bool(moved) is can


async def test_peaks_can_be_reset(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(5)) as on:
        await on.emit(node_sample("rac1", BEGIN + 6, NOISE, Ip_ReasmFails=212))
        await on.emit(node_sample("rac1", BEGIN + 7, NOISE))
        assert on.row("FAILED").rstrip().endswith("212/s")
        await on.press("x")
        await on.emit(node_sample("rac1", BEGIN + 8, NOISE))
        assert not on.row("FAILED").rstrip().endswith("212/s")


async def test_a_source_that_fails_is_marked_in_its_place_and_returns(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(5)) as on:
        await on.emit(Gap(SourceId.instance("prod1"), BEGIN + 6, "The database does not answer."))
        assert "The database does not answer." in on.row("prod1")
        assert "?" not in on.row("eth1")
        await on.emit(Gap(SourceId.node("rac1"), BEGIN + 6, "/proc could not be read."))
        assert "rac1: /proc could not be read." in on.body
        assert "?" in on.row("eth1")
        await on.emit(node_sample("rac1", BEGIN + 7, NOISE))
        assert "?" not in on.row("eth1")


async def test_a_feed_that_fails_is_reported_and_the_samples_stay(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(5)) as on:
        on.pilot.app.post_message(FeedFailed("The live sampling failed: no."))
        await on.pilot.pause()
        await on.pilot.pause()
        assert "The live sampling failed: no." in on.body
        assert "eth1" in on.body


async def test_the_screen_works_at_any_size(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(30, 4)) as on:
        for size in ((40, 12), (59, 20), (120, 40), (200, 50), (80, 24)):
            await on.pilot.resize_terminal(*size)
            for keys in ((), ("a",), ("escape", "enter"), ("escape",)):
                await on.press(*keys)
                await on.until(lambda columns=size[0]: all(len(line) <= columns for line in on.body.splitlines()))


async def test_more_room_shows_more_time_and_higher_graphs_with_a_scale(new_console: NewConsole) -> None:
    def graph(row: str) -> int:
        return sum(sign in "▁▂▃▄▅▆▇█" for sign in row)

    async with console(new_console, cluster_events(100)) as on:
        narrow = graph(on.row("eth1"))
        await on.pilot.resize_terminal(120, 40)
        await on.until(lambda: " 2G " in on.body)
        out = on.body.splitlines().index(on.row(" out "))
        assert out == 4, "the graph of what arrives has three lines"
        assert graph(on.body.splitlines()[out - 1]) == narrow + 34
        assert "drop+err" in on.body.splitlines()[0]


async def test_each_size_shows_more_than_the_smaller_one(new_console: NewConsole) -> None:
    """All private NICs from 120x40 on; both directions side by side, and the matrix of lost blocks, at 200x50."""
    async with console(new_console, cluster_events(60, 4)) as on:
        assert "rac4" in on.body
        assert on.body.count("eth1") == 1
        await on.pilot.resize_terminal(120, 40)
        await on.until(lambda: on.body.count("eth1") == 4)
        assert "more line" not in on.below
        await on.pilot.resize_terminal(200, 50)
        await on.until(lambda: "Blocks lost, by receiver and sender" in on.body)
        assert on.body.count("eth2 ") == 4 + 1, "the graphs, and the line on the load"
        assert "more line" not in on.below
        lines = on.body.splitlines()
        assert {line.index("│") for line in lines if "│" in line} == {150}


async def test_losses_have_another_colour_than_traffic(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(30)) as on:

        def role(word: str) -> str:
            body = on.pilot.app.screen.query_one("#traffic", Lines)
            line = next(line for line in body._lines if any(word in text for text, _ in line))
            return next(role for text, role in line if "▁" in text or "▅" in text)

        assert role("eth1") == "accent"
        assert role("FAILED") == "faint"
        await on.emit(node_sample("rac1", BEGIN + 31, NOISE, Ip_ReasmFails=212))
        assert role("FAILED") == "fail"


async def test_a_source_that_falls_silent_is_marked_on_the_time_axis(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(20)) as on:
        axis = on.row("now")
        assert "?" not in axis
        await on.emit(
            Gap(SourceId.node("rac2"), BEGIN + 19, "rac2 does not answer."), node_sample("rac1", BEGIN + 21, NOISE)
        )
        axis = on.row(" now")
        assert axis[axis.index("┴") :].count("?") == 1
        await on.press("left_square_bracket")
        await on.until(lambda: "rac2 does not answer." in on.below)
        assert "playhead 14:02:50" in on.rule
        assert "G live" in shown(on.pilot, "keys")


async def test_a_time_can_be_typed(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(60)) as on:
        await on.press("t", *"14:03", "enter")
        assert "playhead 14:03:00" in on.rule
        await on.press("t", *"14:02:50", "enter")
        assert "playhead 14:02:50" in on.rule
        await on.press("t", *"soon", "enter")
        assert "'soon' is no time" in on.below
        await on.press("t", "escape", "G")
        assert "now" in on.rule


async def test_the_nodes_that_lost_most_can_come_first(new_console: NewConsole) -> None:
    lost = [instance_sample(3, "rac3", BEGIN + 31, NOISE, lost=40)]
    async with console(new_console, [*cluster_events(30, 4), *lost]) as on:
        await on.press("a", "s")
        assert [line[1:5] for line in on.body.splitlines() if line[1:4] == "rac"] == ["rac3", "rac1", "rac2", "rac4"]
        assert "▼lost" in on.body
        await on.press("j", "S")
        assert [line[1:5] for line in on.body.splitlines() if line[1:4] == "rac"] == ["rac4", "rac2", "rac1", "rac3"]
        assert "▲lost" in on.body
        assert on.chosen == "rac2"
        await on.press(*"ssssssss")
        assert [line[1:5] for line in on.body.splitlines() if line[1:4] == "rac"] == ["rac1", "rac2", "rac3", "rac4"]


async def test_the_filter_shows_all_nodes_whose_names_match_and_esc_shows_all(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(30, 4)) as on:
        await on.press("slash", *"rac3 eth", "enter")
        assert [line[1:5] for line in on.body.splitlines() if line[1:4] == "rac"] == ["rac3"]
        assert "/rac3 eth  1 of 4 nodes" in shown(on.pilot, "upper-rule")
        assert on.chosen == "rac3"
        await on.press("escape")
        assert on.chosen == "rac3"
        await on.press("slash", *"rac3", "enter", "n")
        assert "No other node matches." in shown(on.pilot, "lower-rule")
        await on.press("slash", *"zz", "enter")
        assert on.body.strip() == "No node matches /zz; Esc clears the filter."
        await on.press("escape", "a")
        assert [line[1:5] for line in on.body.splitlines() if line[1:4] == "rac"] == ["rac1", "rac2", "rac3", "rac4"]


async def test_a_click_selects_and_another_opens(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(5)) as on:
        await on.pilot.click("#traffic", offset=(10, 5))
        await on.pilot.pause()
        assert on.chosen == "IP"
        await on.pilot.click("#traffic", offset=(10, 6))
        await on.pilot.pause()
        assert "fragmenting failed" in on.body


async def test_help_explains_the_keys_and_symbols_of_this_screen(new_console: NewConsole) -> None:
    async with console(new_console, cluster_events(2)) as on:
        await on.press("question_mark")
        page = shown(on.pilot, "page")
        for words in ("Pause the display", "in a graph, a gap", "drop+err"):
            assert words in " ".join(page.split())
