"""The arithmetic of a comparison: against published values, and against an enumeration of all cases."""

import math
import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.traffic.compare.statistics import (
    adjusted,
    dependence_of,
    mann_whitney,
    median_interval,
    ranks,
    shift_interval,
)

FEW = st.lists(st.integers(0, 6), min_size=1, max_size=5)
SOME = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)


def counted_p(before, after):
    """The p-value from an enumeration of all ways to choose the first sample's values."""
    placed = ranks([*before, *after])
    expected = len(before) * (len(placed) + 1) / 2
    away = abs(sum(placed[: len(before)]) - expected)
    ways = [sum(chosen) for chosen in combinations(placed, len(before))]
    return sum(abs(way - expected) >= away - 1e-9 for way in ways) / len(ways)


# --- medians and their intervals --------------------------------------------------------------------------------------


def test_a_rank_test_needs_values_on_both_sides():
    with pytest.raises(ValueError, match="both sides"):
        mann_whitney([], [1.0])


@pytest.mark.parametrize(
    ("count", "places"),
    [(6, (1, 6)), (7, (1, 7)), (8, (1, 8)), (9, (2, 8)), (10, (2, 9)), (15, (4, 12)), (25, (8, 18))],
)
def test_intervals_of_the_median_match_the_published_tables(count, places):
    assert median_interval(range(1, count + 1)) == places


@pytest.mark.parametrize("count", range(6))
def test_fewer_than_six_values_have_no_interval(count):
    assert median_interval([1.0] * count) is None


def test_the_interval_contains_the_true_median_in_95_of_100_cases():
    chance = random.Random(1)
    held = 0
    for _ in range(1000):
        interval = median_interval([chance.expovariate(1) for _ in range(20)])
        held += interval[0] <= math.log(2) <= interval[1]
    assert held >= 940


# --- the rank test ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "p"), [(3, 0.1), (4, 2 / 70), (5, 2 / 252), (6, 2 / 924), (10, 2 / math.comb(20, 10))])
def test_samples_without_overlap_reach_the_smallest_p_and_three_of_them_never_0_05(n, p):
    assert mann_whitney(range(n), range(100, 100 + n)) == pytest.approx(p)


def test_a_published_example():
    # Hollander and Wolfe's table 4.1, which R's help of wilcox.test has too: one-sided p 0.1272.
    permeability = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    assert mann_whitney(permeability, [1.15, 0.88, 0.90, 0.74, 1.21]) == pytest.approx(0.2544, abs=5e-5)


@given(FEW, FEW)
def test_p_of_few_values_equals_the_count_of_all_cases_including_ties(before, after):
    assert mann_whitney(before, after) == pytest.approx(counted_p(before, after))


@given(SOME, SOME)
def test_p_is_a_share_and_symmetric(before, after):
    p = mann_whitney(before, after)
    assert 0 < p <= 1
    assert mann_whitney(after, before) == pytest.approx(p)


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=30), st.lists(st.integers(-1000, 1000), min_size=1))
def test_only_the_order_of_values_counts(before, after):
    def bent(values):
        return [v**3 + 5 * v for v in values]

    assert mann_whitney(bent(before), bent(after)) == mann_whitney(before, after)


@pytest.mark.parametrize("shift", [0.0, 0.15, 0.3])
def test_p_of_many_values_is_close_to_a_permutation_test(shift):
    chance = random.Random(2)
    before, after = (
        [round(chance.random(), 1) for _ in range(15)],
        [round(chance.random() + shift, 1) for _ in range(15)],
    )
    placed = ranks([*before, *after])
    away = abs(sum(placed[:15]) - 15 * 15.5)
    shuffled = sum(abs(sum(chance.sample(placed, 15)) - 15 * 15.5) >= away for _ in range(4000)) / 4000
    assert mann_whitney(before, after) == pytest.approx(shuffled, abs=0.025)


def test_equal_values_show_nothing():
    assert mann_whitney([5.0] * 30, [5.0] * 30) == 1


def test_autocorrelated_values_prove_less():
    before, after = list(range(30)), [v + 9.5 for v in range(30)]
    assert mann_whitney(before, after) < 0.05 < mann_whitney(before, after, dependence=0.7)


# --- resemblance of neighbours ----------------------------------------------------------------------------------------


def test_a_drift_is_distinguished_from_a_jump():
    chance = random.Random(3)
    jumps = [chance.random() for _ in range(200)]
    wanders, level = [], 0.0
    for _ in range(200):
        level = 0.8 * level + chance.gauss(0, 1)
        wanders.append(level)
    assert dependence_of(jumps) == 0
    assert 0.6 < dependence_of(wanders) < 0.95


@given(st.lists(st.floats(-1e9, 1e9), max_size=40), st.lists(st.floats(-1e9, 1e9), max_size=40))
def test_autocorrelation_is_never_negative_and_0_without_values(one, other):
    assert 0 <= dependence_of(one, other) < 1
    assert dependence_of([], [1.0]) == 0


# --- the shift --------------------------------------------------------------------------------------------------------


def test_the_shift_is_found_within_its_interval():
    chance = random.Random(4)
    before = [chance.gauss(10, 1) for _ in range(30)]
    low, high = shift_interval(before, [value + 2 for value in before])
    assert low < 2 < high < 3


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 3), (2000, 2000)])
def test_too_few_values_or_too_many_have_no_interval_of_the_shift(n, m):
    assert shift_interval(range(n), range(m)) is None


# --- many tests -------------------------------------------------------------------------------------------------------


def test_the_example_of_benjamini_and_hochberg():
    ps = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1.0,
    ]
    assert [p < 0.05 for p in adjusted(ps)] == [True] * 4 + [False] * 11


@given(st.lists(st.floats(0, 1), max_size=30))
def test_an_adjusted_p_is_never_smaller_and_keeps_the_order(ps):
    found = adjusted(ps)
    assert all(p <= q <= 1 for p, q in zip(ps, found, strict=True))
    order = sorted(range(len(ps)), key=ps.__getitem__)
    assert [found[i] for i in order] == sorted(found)


def test_the_interval_of_thousands_of_values_is_that_of_the_normal_distribution():
    for count in (1_072, 1_073, 5_000):  # 2 to the 1,100 is more than a float can hold
        low, _ = median_interval(range(count))
        assert low == pytest.approx(count / 2 - 0.98 * count**0.5, abs=2)
