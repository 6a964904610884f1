"""The users of the interconnect on the Traffic screen, from the newest sample with messages."""

from __future__ import annotations

import random

import msgspec
import pytest

from checks.rules.cache_fusion import user_counter
from checks.traffic.samples import Event, Gap
from checks.traffic.source_id import SourceId
from checks.traffic.timeline import Timeline
from tests.tui.traffic_samples import BEGIN, instance_sample, links, node_sample, surroundings
from tui.screens.traffic.lines import TrafficPage, TrafficView, page_of
from tui.screens.traffic.node_lines import KnownNodes
from tui.screens.traffic.rows import DrawingStyle
from tui.screens.traffic.time_cursor import TrackCursor
from tui.text.line import plain, width_of

STATISTICS = {
    "gc cr blocks received": 200,
    "gc current blocks received": 0,
    "gc cr blocks served": 100,
    "gc current blocks served": 0,
    "gcs messages sent": 400,
    "ges messages sent": 0,
    "PX remote messages sent": 3,
    "PX remote messages recv'd": 5,
}
MESSAGES = {"gcs msgs received": 600, "ges msgs received": 0}
COUNTED = {
    user_counter("cache", "bytes_sent"): 1_000_000,
    user_counter("cache", "bytes_received"): 2_000_000,
    user_counter("dlm", "bytes_sent"): 400_000,
    user_counter("dlm", "bytes_received"): 600_000,
}


def events(messages, *, second_of_messages=2, seconds=4, gap=False) -> list[Event]:
    noise = random.Random(1)
    found: list[Event] = [links("rac1", BEGIN)]
    for second in range(1, seconds + 1):
        found.append(node_sample("rac1", BEGIN + second, noise))
        sample = instance_sample(1, "rac1", BEGIN + second, noise)
        read = messages if second == second_of_messages else {}
        found.append(msgspec.structs.replace(sample, statistics=STATISTICS, messages=read))
    if gap:
        found[-1] = Gap(SourceId.instance("prod1"), BEGIN + seconds - 0.1, "prod1 was restarted.")
    return found


def drawn(found, kind="node", width=80, block_bytes=8192, chosen="users") -> TrafficPage:
    timeline = Timeline()
    timeline.add(found)
    head, places, view = TrackCursor(timeline), KnownNodes(), TrafficView(kind=kind, chosen=chosen)
    head.hold(BEGIN + 4)
    shown = head.read(places, None, [], 1.0, 60, 1.0)
    view.settle(places.nodes)
    look = DrawingStyle(width, "ascii" if width == 81 else "blocks")
    around = surroundings(shown, 19, block_bytes=block_bytes)
    return page_of(shown.window if shown else None, places, view, look, around)


def line_of(page: TrafficPage) -> str:
    (line,) = (text for text in plain(page.lines).splitlines() if "users" in text)
    return " ".join(line.split())


def test_an_instance_that_counts_them_has_their_shares_with_the_time_of_the_sample():
    page = drawn(events({**MESSAGES, **COUNTED}))
    line = line_of(page)
    assert line.startswith("▶users cache 75.0 % dlm 25.0 % ipq ? % of 4 MB/s at ")
    assert line.endswith(" 14:02:33")


def test_the_others_have_an_estimate_that_is_called_so():
    assert "cache 92.5 % dlm 7.5 % ipq ? % of about 2.66 MB/s at " in line_of(drawn(events(MESSAGES)))
    lines = plain(drawn(events(MESSAGES), "alone").lines).splitlines()
    assert lines[0].startswith(" users of the interconnect on prod1, in 1 s until ")
    rows = {line.split()[0]: " ".join(line.split()) for line in lines[2:5]}
    assert rows["cache"].startswith("cache 200/s 100/s 1.64 MB/s 819 kB/s 92.5 % ███")
    assert rows["dlm"].startswith("dlm 600/s 400/s 120 kB/s 80 kB/s 7.5 % █")
    assert rows["ipq"] == "ipq 5.00/s 3.00/s ? ? ? %"
    assert " Bytes are an estimate: blocks of 8,192 B, messages of 200 B." in lines


def test_the_instance_alone_has_them_below_its_figures():
    lines = plain(drawn(events(MESSAGES), "alone", chosen="prod1").lines).splitlines()
    assert lines[0] == " prod1"
    assert any(line.startswith(" cache  ") for line in lines)
    assert len(lines) <= 19


def test_without_the_size_of_a_block_the_line_has_messages():
    found = events({}, second_of_messages=9)
    assert not any("users" in key for key in drawn(found).keys), "no sample has messages"
    messages = {"gcs msgs received": 600}
    assert "cache 300/s dlm ?/s ipq 8.00/s at " in line_of(drawn(events(messages), block_bytes=None))


def test_after_a_gap_nothing_of_before_is_shown():
    assert not any("users" in key for key in drawn(events(MESSAGES, gap=True)).keys)


@pytest.mark.parametrize("width", [20, 40, 81, 120, 200])
def test_every_width_can_be_drawn(width):
    for kind in ("node", "alone"):
        assert all(width_of(line) <= width for line in drawn(events(MESSAGES), kind, width).lines)
    assert "█" not in plain(drawn(events(MESSAGES), "alone", 81).lines)
