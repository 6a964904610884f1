"""A fault of the practice cluster's network is in the right line of the Traffic screen after two intervals."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

import racwire_lab
from checks.traffic.json_text import read_hook
from checks.traffic.samples import Event, Gap, InstanceSample, Links, NodeSample
from checks.traffic.timeline import Timeline
from tests.lab.lab_support import PATIENCE_S, lab_directory, needs_namespaces
from tests.lab.test_traffic_feed import Running, running
from tui.screens.traffic.lines import Surroundings, TrafficView, page_of
from tui.screens.traffic.node_lines import KnownNodes
from tui.screens.traffic.node_page import Layouts
from tui.screens.traffic.rows import DrawingStyle
from tui.screens.traffic.time_axis import TimeAxis
from tui.screens.traffic.time_cursor import TrackCursor
from tui.text.line import plain

pytestmark = [pytest.mark.lab, needs_namespaces]

KINDS: Mapping[str, type[Event]] = {
    "node": NodeSample,
    "instance": InstanceSample,
    "links": Links,
    "gap": Gap,
}
INTERVAL_S = 1.0
COUNTED_LATE_S = 0.5
"""Seconds after which an instance counts a block as lost (`QUERY_AFTER_S`, `STATUS_TIMEOUT_S` of the lab)."""


def page(feed: Running, node: str) -> list[str]:
    """Return the current page of a node on the Traffic screen."""
    timeline = Timeline()
    for kind, of in KINDS.items():
        timeline.add(msgspec.convert(event, of, dec_hook=read_hook) for event in feed.after(0, kind))
    places = KnownNodes()
    shown = TrackCursor(timeline).read(places, None, [], INTERVAL_S, 60, INTERVAL_S)
    assert shown is not None
    around = Surroundings(40, Layouts(), TimeAxis(shown.window.stretch))
    return plain(page_of(shown.window, places, TrafficView(node=node), DrawingStyle(80), around).lines).splitlines()


def figure(lines: list[str], title: str, label: str) -> str:
    """A figure of the group with that title, where it is more than 0; else nothing."""
    begin = next(number for number, line in enumerate(lines) if line[1:].startswith(title))
    group = [lines[begin]]
    for line in lines[begin + 1 :]:
        if line[1:2] != " " or not line.strip():
            break
        group.append(line)
    found = re.search(rf"{label}\s+(<?[\d.]+)(?: [kM])?/s", " ".join(group))
    return found[1] if found and found[1] != "0" else ""


def until_calm(feed: Running, node: str, title: str, label: str) -> None:
    """Wait for an interval of the node and one of its instance that began after this moment, with a value of 0.

    The samples of an instance come later than those of its node: what a fault of another test lost is in one that ends
    long after the fault, on a busy machine several seconds.
    """
    since = time.time() + COUNTED_LATE_S
    began = dict.fromkeys(("node", "instance"), 0.0)
    deadline = since + PATIENCE_S
    while min(began.values()) < since or figure(page(feed, node), title, label):
        assert time.time() < deadline, "\n".join(page(feed, node))
        feed.wait("node", feed.count, node=node)
        newest = {"node": feed.after(0, "node", node=node)[-1], "instance": feed.after(0, "instance", host=node)[-1]}
        began = {kind: event["at"] - event["seconds"] for kind, event in newest.items()}


def assert_shows(feed: Running, cluster: racwire_lab.Lab, fault: str, node: str, title: str, label: str) -> None:
    """A value of 0 is above 0 in one of the two whole intervals after the fault."""
    until_calm(feed, node, title, label)
    cluster.break_(fault)
    broken_at = time.time()
    try:
        while (last := feed.wait("node", feed.count, node=node))["at"] < broken_at + 2 * INTERVAL_S:
            if figure(page(feed, node), title, label):
                return
        feed.wait("instance", feed.count - 1, host=node)
        assert figure(page(feed, node), title, label), (last["at"] - broken_at, "\n".join(page(feed, node)))
    finally:
        cluster.mend(fault)


@contextmanager
def watched(cluster: racwire_lab.Lab) -> Iterator[Running]:
    """A feed that has had the first samples of both nodes and of their instances."""
    with running(cluster, interval_s=INTERVAL_S) as feed:
        for node in ("rac1", "rac2"):
            feed.wait("node", node=node)
            feed.wait("instance", host=node)
        yield feed


@pytest.fixture(scope="module")
def jumbo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[racwire_lab.Lab, Running]]:
    with lab_directory(tmp_path_factory.mktemp("jumbo") / "lab"):
        cluster = racwire_lab.up(nodes=2, mtu=9000)
        with watched(cluster) as feed:
            yield cluster, feed


def test_a_small_receive_buffer_raises_the_udp_errors_of_its_node(jumbo: tuple[racwire_lab.Lab, Running]) -> None:
    cluster, feed = jumbo
    assert_shows(feed, cluster, "small-receive-buffer", "rac2", "UDP", "receive-buffer errors")
    assert figure(page(feed, "rac1"), "UDP", "receive-buffer errors") == ""


def test_a_switch_port_with_a_small_mtu_causes_lost_blocks(jumbo: tuple[racwire_lab.Lab, Running]) -> None:
    cluster, feed = jumbo
    assert_shows(feed, cluster, "switch-mtu", "rac2", "prac2", "lost")
    assert figure(page(feed, "rac2"), "UDP", "receive-buffer errors") == ""


@pytest.mark.beyond_sample
def test_dropped_fragments_cause_lost_blocks_at_once_and_failures_after_the_timeout(tmp_path: Path) -> None:
    with lab_directory(tmp_path / "lab"):
        cut = racwire_lab.up(nodes=2, mtu=1500, fragment_time_s=2)  # each block is cut into fragments
        with watched(cut) as feed:
            assert figure(page(feed, "rac1"), "IP", "fragments in")
            assert_shows(feed, cut, "drop-fragments", "rac1", "prac1", "lost")
            for _ in range(40):
                feed.wait("node", feed.count, node="rac1")
                if figure(page(feed, "rac1"), "IP", "FAILED"):
                    break
            assert figure(page(feed, "rac1"), "IP", "FAILED"), page(feed, "rac1")
