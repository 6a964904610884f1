"""CSS of the practice nodes: which nodes remain in the cluster, and what the alert logs say; without a cluster."""

from __future__ import annotations

import time

import pytest

from racwire_lab.programs.cache_fusion.alert_log import Silence, css_line, stamped
from racwire_lab.programs.cache_fusion.membership import Membership, Turn

NAMES = {number: f"rac{number}" for number in range(1, 5)}
STEP_S = 0.5


class Nodes:
    """Nodes whose heartbeats reach some of the others."""

    def __init__(self, size: int) -> None:
        self.now = 100.0
        self.all = {number: Membership(number, NAMES, self.now) for number in range(1, size + 1)}
        self.out: set[int] = set()
        self.said: dict[int, list[str]] = {number: [] for number in self.all}

    def run(self, seconds: float, *cut: tuple[int, int], misscount_s: float = 30.0) -> None:
        """Let time pass; heartbeats of the pairs (sender, receiver) in `cut` get lost."""
        end = self.now + seconds
        while self.now < end:
            self.now += STEP_S
            up = [number for number in self.all if number not in self.out]
            for number in up:
                for peer in up:
                    if peer != number and (peer, number) not in cut:
                        self.all[number].heard(peer, self.now)
            for number in up:
                turn: Turn = self.all[number].turn([n for n in up if n != number], (), misscount_s, self.now)
                self.said[number] += [message.split(":")[0] for message in turn.messages]
                if turn.is_evicted:
                    self.out.add(number)


def between(ones: set[int], others: set[int]) -> list[tuple[int, int]]:
    return [pair for a in ones for b in others for pair in ((a, b), (b, a))]


def test_quiet_nodes_report_who_is_active_once() -> None:
    nodes = Nodes(3)
    nodes.run(100)
    assert (nodes.out, nodes.said) == (set(), {node: ["CRS-1601"] for node in (1, 2, 3)})


@pytest.mark.parametrize(
    ("ones", "others", "out"),
    [({1}, {2}, {2}), ({1}, {2, 3}, {1}), ({1, 2}, {3}, {3}), ({1, 4}, {2, 3}, {2, 3}), ({3}, {1, 2, 4}, {3})],
)
def test_the_larger_part_remains_and_of_equal_parts_the_one_with_the_lowest_node(
    ones: set[int], others: set[int], out: set[int]
) -> None:
    nodes = Nodes(len(ones | others))
    nodes.run(5)
    nodes.run(32, *between(ones, others))
    assert nodes.out == out
    staying = min((ones | others) - out)
    assert nodes.said[staying][:4] == ["CRS-1601", "CRS-1612", *nodes.said[staying][2:4]]
    assert {"CRS-1611", "CRS-1610", "CRS-1607", "CRS-1632"} <= set(nodes.said[staying])
    for node in out:
        assert {"CRS-1612", "CRS-1610", "CRS-1609", "CRS-1656"} <= set(nodes.said[node])


def test_a_node_that_hears_no_other_leaves_although_the_others_hear_it() -> None:
    nodes = Nodes(3)
    nodes.run(5)
    nodes.all[1].heard(3, nodes.now + 1)  # the last heartbeats did not come at the same moment
    nodes.run(33, (2, 1), (3, 1))
    assert nodes.out == {1}


def test_the_remaining_nodes_tell_the_others_to_leave() -> None:
    membership = Membership(1, NAMES, 0.0)
    membership.turn([2], (), 3.0, 0.5)
    turns = [membership.turn([2], (), 3.0, 0.5 + step * 0.5) for step in range(1, 8)]
    assert [turn.kills for turn in turns if turn.kills] == [[2]]
    assert not any(turn.is_evicted for turn in turns)


def test_an_interruption_below_misscount_evicts_no_node() -> None:
    nodes = Nodes(2)
    nodes.run(5)
    nodes.run(25, *between({1}, {2}))
    nodes.run(60)
    assert nodes.out == set()
    assert nodes.said[1] == ["CRS-1601", "CRS-1612", "CRS-1611"]


def test_a_program_that_did_not_run_itself_blames_no_other_node() -> None:
    membership = Membership(1, NAMES, 0.0)
    membership.turn([2], (), 30.0, 0.5)
    assert membership.turn([2], (), 30.0, 500.0).messages == []


def test_a_node_that_was_stopped_in_order_was_not_removed_and_one_that_comes_back_is_active() -> None:
    membership = Membership(1, NAMES, 0.0)
    membership.turn([2], (), 30.0, 0.5)
    assert membership.turn([], [2], 30.0, 1.0).messages == [
        "CRS-1625: Node rac2, number 2, was shut down",
        "CRS-1601: CSSD Reconfiguration complete. Active nodes are rac1 .",
    ]
    assert membership.turn([2], (), 30.0, 1.5).messages[-1].endswith("Active nodes are rac1 rac2 .")
    assert membership.turn([], (), 30.0, 2.0).messages[0].startswith("CRS-1632: Node rac2 is being removed")


def test_an_instance_reports_each_peer_that_is_silent_for_the_timeout() -> None:
    silence = Silence()
    first = [lines[0].split(" (")[0] for lines in silence.turn([2, 3], "rac1", 60, 0)]
    assert first == ["Reconfiguration started", "Reconfiguration complete"]
    silence.heard(2, 50)
    said = [line for lines in silence.turn([2, 3], "rac1", 60, 61) for line in lines]
    assert said[:2] == [
        "IPC Send timeout detected. Sender: ospid 4812 [oracle@rac1 (LMS0)]",
        "Receiver: inst 3 binc 430 ospid 4846",
    ]
    assert not any("inst 2" in line for line in said)


def test_the_time_stamps_are_those_of_each_release() -> None:
    at = 1795401552.123456
    local = time.localtime(at)
    assert stamped("12.1.0.2.0", at) == time.strftime("%a %b %d %H:%M:%S %Y", local)
    assert stamped("19.22.0.0.0", at).startswith(time.strftime("%Y-%m-%dT%H:%M:%S.12345", local))
    assert css_line("CRS-1601: x", at).startswith(time.strftime("%Y-%m-%d %H:%M:%S.123 [OCSSD(", local))
