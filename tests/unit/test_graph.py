"""Graphs in a line of text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.widgets.graph import Style, graph, nice_top, points, tall_graph

STYLES: tuple[Style, ...] = ("blocks", "braille", "ascii")
VALUES = st.lists(st.one_of(st.none(), st.floats(), st.integers(-(10**30), 10**30)), max_size=60)


def test_the_newest_value_is_at_the_right_and_older_values_are_dropped() -> None:
    assert graph([8, 8, 8, 1], 2, top=8) == "█▂"


def test_time_before_the_first_value_is_a_gap() -> None:
    assert graph([8, 4], 5, top=8) == "   █▅"


def test_a_missed_sample_is_a_gap_and_not_zero() -> None:
    assert graph([0, None, 0], 3) == "▁ ▁"


def test_all_zeros_are_a_flat_low_line() -> None:
    assert graph([0] * 5, 5) == "▁▁▁▁▁"
    assert graph([0] * 10, 5, style="braille") == "⣀" * 5
    assert graph([0] * 5, 5, style="ascii") == "_____"


@pytest.mark.parametrize("style", ["blocks", "ascii"])
def test_the_smallest_positive_value_is_drawn_above_zero(style: Style) -> None:
    low, high = graph([0, 1e-9], 2, top=1e9, style=style)
    assert low != high


def test_braille_has_two_values_in_a_column() -> None:
    assert graph([0, 3, None, 3], 2, top=3, style="braille") == "⣸⢸"
    assert points(10, "braille") == 20


def test_values_that_are_not_numbers_are_gaps_and_negative_values_are_zero() -> None:
    assert graph([float("nan"), float("inf"), -5.0, 2.0], 4, top=2) == "  ▁█"


def test_a_value_above_the_maximum_fills_the_column() -> None:
    assert graph([100], 1, top=10) == "█"


@given(VALUES, st.integers(0, 80), st.one_of(st.none(), st.floats(0, 1e12)), st.sampled_from(STYLES))
def test_a_graph_has_the_requested_width(
    values: list[float | None], width: int, top: float | None, style: Style
) -> None:
    drawn = graph(values, width, top, style)
    assert cell_len(drawn) == width
    assert "\n" not in drawn


@given(VALUES, st.integers(1, 40), st.integers(1, 6), st.sampled_from(STYLES))
def test_a_tall_graph_has_the_requested_height_and_width(
    values: list[float | None], width: int, height: int, style: Style
) -> None:
    lines = tall_graph(values, width, height, style=style)
    assert [cell_len(line) for line in lines] == [width] * height


def test_a_tall_graph_is_drawn_from_its_lowest_line() -> None:
    assert tall_graph([None, 0, 4, 10], 4, 2, top=10) == ["   █", " ▁▇█"]


@given(st.lists(st.floats(0, 1e15), min_size=1, max_size=20))
def test_a_scale_is_a_round_number_not_below_any_value(values: list[float]) -> None:
    top = nice_top(values)
    assert top >= max(values)
    assert f"{top:.0e}"[0] in "125" or top < 1e-300


@given(st.floats(1, 1e12), st.lists(st.floats(0.36, 1), min_size=1, max_size=10))
def test_a_scale_stays_while_it_fits(highest: float, shares: list[float]) -> None:
    top = nice_top([highest])
    assert nice_top([share * top for share in shares], top) == top


def test_a_scale_grows_at_once_and_shrinks_when_it_is_little_used() -> None:
    assert nice_top([120], 100) == 200
    assert nice_top([30], 100) == 50
    assert nice_top([0], 100) == 100, "a line at rest looks the same at any scale"
