"""Placing a rare loss: right where it is, none where all lose or none does, and what it would need otherwise."""

from __future__ import annotations

import random

import pytest

from checks.investigate.placing import BATCH, NextBatch, is_clear, next_batch, pairs_of, ratio
from checks.model.investigation import Placing
from tests.unit.lossy_paths import paths, placed

WAYS = paths()


@pytest.mark.parametrize(("share", "background"), [(0.005, 0), (0.02, 0), (0.02, 2e-4)])
def test_a_loss_on_one_of_twelve_paths_is_placed(share: float, background: float) -> None:
    for seed in range(4):
        bad = random.Random(seed).choice(WAYS)
        assert placed(WAYS, [bad], share, background, seed).path == bad


def test_a_port_that_loses_to_its_node_is_placed_on_a_path_to_it() -> None:
    bad = [way for way in WAYS if (way[0], way[2]) == ("net1", "rac2")]
    assert all(placed(WAYS, bad, 0.005, 0, seed).path in bad for seed in range(4))


def test_the_pairs_that_the_lost_blocks_name_come_first() -> None:
    named = pairs_of(WAYS, {("rac3", "rac1")})
    assert named == (("net0", "rac3", "rac1"), ("net1", "rac3", "rac1"))
    first = next_batch(dict.fromkeys(WAYS, (0, 0)), named, 20_000)
    assert isinstance(first, NextBatch)
    assert (first.way in named, first.datagrams) == (True, BATCH)
    found = [placed(WAYS, [named[1]], 0.002, 0, seed, named=named) for seed in range(6)]
    assert {one.path for one in found} <= {named[1], None}
    assert [one.path for one in found].count(named[1]) >= 5


def test_paths_that_are_healthy_place_nothing_and_none_is_left_unlooked() -> None:
    for seed, background in enumerate((0, 2e-4)):
        found = placed(WAYS, [], 0, background, seed)
        assert found.path is None
        assert not found.does_all_lose
        assert len(found.counts) == len(WAYS)
    assert all(is_clear(*count) for _, _, _, *count in placed(WAYS, [], 0, 0, 0, budget=60_000).counts)
    assert placed(WAYS, [], 0, 0, 0, budget=60_000).would_need == 0


@pytest.mark.parametrize("share", [0.005, 0.02])
def test_where_all_paths_lose_none_is_placed(share: float) -> None:
    for seed in range(4):
        found = placed(WAYS, [], 0, share, seed)
        assert (found.path, found.does_all_lose) == (None, True)
        assert found.sent < 20_000


def test_a_budget_that_is_too_small_says_what_would_do() -> None:
    bad = WAYS[3]
    found = placed(WAYS, [bad], 0.005, 0, 1, budget=1000)
    assert (found.path, found.does_all_lose) == (None, False)
    assert 2000 <= found.would_need <= 60_000
    assert placed(WAYS, [bad], 0.005, 0, 1, budget=found.would_need).path == bad


def test_the_next_datagrams_go_to_the_path_of_the_greatest_ratio() -> None:
    counts = dict.fromkeys(WAYS, (0, 100)) | {WAYS[5]: (1, 100)}
    turn = next_batch(counts, (), 10_000)
    assert isinstance(turn, NextBatch)
    assert turn.way == WAYS[5]


def test_before_a_path_is_named_the_others_get_as_many() -> None:
    counts = dict.fromkeys(WAYS, (0, 50)) | {WAYS[5]: (12, 1500)}
    assert ratio(12, 1500) > len(WAYS) / 0.001
    turn = next_batch(counts, (), 10_000)
    assert isinstance(turn, NextBatch)
    assert turn.way[0] != WAYS[5][0] or (turn.way[1] != WAYS[5][1] and turn.way[2] != WAYS[5][2])
    enough = dict.fromkeys(WAYS, (0, 200)) | {WAYS[5]: (12, 1500)}
    found = next_batch(enough, (), 10_000)
    assert isinstance(found, Placing)
    assert found.path == WAYS[5]
