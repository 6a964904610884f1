"""A thousand healthy clusters, and rare losses of all kinds, without a network: how often a path is named."""

from __future__ import annotations

import random

import pytest

from checks.investigate.placing import pairs_of
from tests.unit.lossy_paths import paths, placed

pytestmark = pytest.mark.beyond_sample

WAYS = paths()
SEEDS = range(100)


def test_of_a_thousand_healthy_clusters_five_place_a_loss_at_most() -> None:
    found = [placed(WAYS, [], 0, (0, 2e-4)[seed % 2], seed) for seed in range(1000)]
    assert sum(one.path is not None for one in found) <= 5
    assert not any(one.does_all_lose for one in found)


@pytest.mark.parametrize("background", [0, 2e-4])
@pytest.mark.parametrize(("share", "least"), [(0.005, 95), (0.02, 95), (0.002, 70)])
def test_of_twelve_paths_the_right_one_is_named_and_never_another(share: float, background: float, least: int) -> None:
    right = 0
    for seed in SEEDS:
        bad = random.Random(seed).choice(WAYS)
        found = placed(WAYS, [bad], share, background, seed)
        assert found.path in (bad, None)
        assert found.path or found.would_need
        right += found.path == bad
    assert right >= least


@pytest.mark.parametrize("background", [0, 2e-4])
def test_a_fifth_of_a_percent_is_placed_where_the_blocks_name_the_pair(background: float) -> None:
    right = 0
    for seed in SEEDS:
        bad = random.Random(seed).choice(WAYS)
        found = placed(WAYS, [bad], 0.002, background, seed, named=pairs_of(WAYS, {bad[1:]}))
        assert found.path in (bad, None)
        right += found.path == bad
    assert right >= 90


@pytest.mark.parametrize("share", [0.005, 0.02])
def test_a_loss_of_all_paths_is_placed_on_none(share: float) -> None:
    found = [placed(WAYS, [], 0, share, seed) for seed in SEEDS]
    assert all(one.path is None for one in found)
    assert sum(one.does_all_lose for one in found) >= 99


def test_a_thousandth_that_all_paths_lose_is_placed_in_a_hundredth_of_the_clusters() -> None:
    found = [placed(WAYS, [], 0, 0.001, seed) for seed in range(1000)]
    assert sum(one.path is not None for one in found) <= 12
