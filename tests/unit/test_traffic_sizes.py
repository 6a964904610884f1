"""The histogram of frames by size on the Traffic screen."""

from __future__ import annotations

import pytest

from checks.traffic.timeline import Timeline
from tests.tui.traffic_samples import BEGIN, cluster_events, surroundings
from tests.unit.test_check_packet_sizes import BLOCKS_IN_ONE, BLOCKS_IN_SIX, WITHOUT, built, i40e
from tui.screens.traffic.lines import TrafficPage, TrafficView, page_of
from tui.screens.traffic.node_lines import KnownNodes
from tui.screens.traffic.rows import DrawingStyle
from tui.screens.traffic.size_lines import KnownSizes, sizes_block
from tui.screens.traffic.time_cursor import TrackCursor
from tui.text.line import plain, width_of

BOTH = built(i40e(BLOCKS_IN_SIX, BLOCKS_IN_ONE))


def drawn(cluster, kind: str = "node", width: int = 80) -> TrafficPage:
    timeline = Timeline()
    timeline.add(cluster_events(3))
    head, places, view = TrackCursor(timeline), KnownNodes(), TrafficView(kind=kind, chosen="frames")  # type: ignore[arg-type]
    head.hold(BEGIN + 3)
    shown = head.read(places, None, [], 1.0, 60, 1.0)
    view.settle(places.nodes)
    look = DrawingStyle(width, "ascii" if width == 81 else "blocks")
    return page_of(
        shown.window if shown else None,
        places,
        view,
        look,
        surroundings(shown, 19, sizes=sizes_block(cluster, view.node)),
    )


def test_the_node_has_a_line_that_can_be_selected():
    page = drawn(BOTH)
    assert page.keys[-1] == "frames"
    (line,) = (text for text in plain(page.lines).splitlines() if text.startswith("▶frames"))
    assert line.split(None, 1)[1] == "eth2 in 70.4 % 1024-1522, out 47.5 % from 1523"


def test_alone_it_is_a_histogram_that_fits_80_columns():
    page = drawn(BOTH, "alone")
    lines = plain(page.lines).splitlines()
    assert lines[0] == " frames by size, in 30 s until 14:02:31, counted by the NICs"
    assert max(map(width_of, page.lines)) <= 80
    row = next(line for line in lines if " 1024-1522 " in line)
    assert [part for part in row.split() if part.strip("█")] == ["1024-1522", "70.4", "%", "0.3", "%"]
    first, second = (part for part in row.split() if not part.strip("█"))
    assert (len(first), len(second)) == (15, 1), "a share above 0 is drawn"
    assert sum("█" in line for line in lines) == 6, "sizes without frames have no row"
    assert "which of them are blocks is not known" in " ".join(" ".join(lines[8:]).split()).lower()


def test_a_direction_that_is_not_counted_is_a_question_mark():
    lines = plain(drawn(built(i40e(BLOCKS_IN_ONE)), "alone").lines).splitlines()
    assert all(line.endswith("?") for line in lines[2:7])


@pytest.mark.parametrize("width", [20, 40, 81, 120, 200])
def test_every_width_can_be_drawn(width):
    for kind in ("node", "alone"):
        assert all(width_of(line) <= width for line in drawn(BOTH, kind, width).lines)
    assert "█" not in plain(drawn(BOTH, "alone", 81).lines)


def test_without_sizes_there_is_no_line():
    assert sizes_block(None, "rac1") is None
    assert "frames" not in drawn(built(WITHOUT["ena"], "ena")).keys


def test_a_block_is_made_once_for_each_cluster():
    known = KnownSizes()
    assert known.block(BOTH, "rac1") is known.block(BOTH, "rac1")
    assert known.block(BOTH, "rac2") != known.block(BOTH, "rac1")
    assert known.block(None, "rac1") is None
