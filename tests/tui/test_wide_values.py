"""Tables with wide values: 16 nodes, names of 63 characters that differ only at their end, counts of ten digits."""

from __future__ import annotations

import random
import re
from string import ascii_lowercase
from typing import TypeVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import Cluster
from checks.rules.path_matrix import path_matrices
from tests.fixtures.clusters import cluster
from tests.fixtures.databases import activity, asked, own_activity, transfers
from tests.support.sampling import sampled
from tests.tui.conftest import NewConsole
from tests.tui.traffic_driving import console
from tests.tui.traffic_samples import BEGIN, instance_sample, links, node_sample
from tui.screens.database.lines import DatabaseFacts, column_width, page_in_columns, sections_of
from tui.screens.paths.matrix import matrix_lines
from tui.text.line import cell_len, plain, width_of
from tui.text.node_names import fitted_names

NODES = 16
CUT_FIGURE = re.compile(r"\d…|…\d")
"""The names have no digit, so that a digit beside a cut is a figure that was cut."""
T = TypeVar("T")


def long_name(number: int, length: int = 63) -> str:
    return ascii_lowercase[number].rjust(length, "n")


def with_long_names(facts: T, kind: type[T]) -> T:
    """Return the facts with long names of nodes and instances."""
    text = msgspec.json.encode(facts).decode()
    text = re.sub(r"\b(?:rac|prod)(\d{1,2})\b", lambda found: long_name(int(found[1])), text)
    return msgspec.json.decode(text, type=kind)


def figures_are_whole(lines: list[str], width: int) -> None:
    assert not [line for line in lines if cell_len(line) > width or CUT_FIGURE.search(line)]


@pytest.mark.parametrize("width", [38, 60, 80, 120, 200])
def test_the_database_has_whole_figures_and_names_that_differ(width: int) -> None:
    huge = {
        "gc blocks lost": 9_876_543_210,
        "gc cr blocks received": 8_765_432_109,
        "gc current blocks received": 7_654_321_098,
        "gc cr block receive time": 3_360_000_000,
    }
    lost = (msgspec.structs.replace(t, lost=9_876_543_210) for t in transfers(NODES))
    sampled = activity(NODES, *(own_activity(n, huge) for n in range(1, NODES + 1)), transfers=tuple(lost))
    facts = asked(NODES)
    database = with_long_names(facts.database, type(facts.database))
    known = DatabaseFacts(database, sampled, facts.history, facts)
    lines, _ = page_in_columns(sections_of(known, column_width(width)), width)
    assert all(width_of(line) <= width for line in lines)
    shown = [plain([line]) for line in lines]
    figures_are_whole(shown, width)
    start = next(n for n, line in enumerate(shown) if "lost/s" in line) + 1
    assert len({line.split()[0] for line in shown[start : start + NODES]}) == NODES


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_paths_have_whole_figures_and_names_that_differ(width: int) -> None:
    facts = with_long_names(cluster(NODES), Cluster)
    for grid in path_matrices(facts):
        lines = [plain([line]) for line in matrix_lines(grid, width, None)]
        figures_are_whole(lines, width)
        assert len({line[1:].split("  ")[0] for line in lines[1 : NODES + 1]}) == NODES


@pytest.mark.parametrize("size", sampled([((80, 24),), ((60, 16),), ((120, 40),), ((200, 50),)]))
async def test_traffic_has_whole_figures_and_names_that_differ(new_console: NewConsole, size: tuple[int, int]) -> None:
    noise = random.Random(1)
    nodes = [long_name(number) for number in range(1, 9)]
    huge = {"Ip_ReasmFails": 9_876_543_210, "Udp_RcvbufErrors": 9_876_543_210}
    samples = [links(node, BEGIN) for node in nodes]
    samples += [node_sample(node, BEGIN + 1, noise, **huge) for node in nodes]  # type: ignore[arg-type]
    samples += [instance_sample(n, node, BEGIN + 1, noise, 9_876_543_210) for n, node in enumerate(nodes, 1)]  # type: ignore[misc]
    async with console(new_console, samples, size=size) as on:
        figures_are_whole(on.body.splitlines(), size[0])
        await on.press("a")
        figures_are_whole(on.body.splitlines(), size[0])
        rows = [line for line in on.body.splitlines() if "9.88G/s" in line]
        assert len({row[1:].split()[0] for row in rows if row[:1] in " ▶"}) >= len(nodes)


@given(st.lists(st.text("abc123", min_size=1, max_size=9), min_size=2, max_size=6, unique=True), st.integers(1, 12))
def test_cut_names_fit(names: list[str], width: int) -> None:
    cut = fitted_names(names, width)
    assert all(cell_len(text) <= width for text in cut)
    assert width < max(map(len, names)) or cut == names


def test_cut_names_keep_what_differs() -> None:
    assert fitted_names(["dbadm01vm01", "dbadm02vm01"], 8) == ["dbadm01…", "dbadm02…"]
    assert fitted_names(["dbadm01vm03", "dbadm01vm04"], 8) == ["…m01vm03", "…m01vm04"]
