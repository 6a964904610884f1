"""Tables with more columns than fit: which columns are shown, and what says that others are not."""

from __future__ import annotations

import pytest

from checks.model.finding import Table
from tui.screens.traffic.all_nodes_lines import glance_columns, glance_heading, left_out
from tui.screens.traffic.rows import DrawingStyle
from tui.text.finding_lines import pane_layout, value_table
from tui.text.line import plain, width_of
from tui.widgets.sorting import Sorting

NODES = [f"rac{n}" for n in range(1, 9)]
PATHS = Table(
    ("from \\ to", *NODES),
    tuple(
        (a, *("·" if a == b else "B 1500" if "rac7" in (a, b) and "rac2" in (a, b) else "P 9000" for b in NODES))
        for a in NODES
    ),
    "P passes",
)
SIZES = Table(
    ("NIC", "in", "", "out", ""),
    (("eth1", "1,000 packets", "12 %", "2,000 packets", "88 %"), ("eth2", "3 packets", "1 %", "4 packets", "99 %")),
)


def shown(table: Table, width: int, *, is_whole: bool) -> list[str]:
    lines = list(value_table(table, width, pane_layout(width), is_whole=is_whole))
    assert all(width_of(line) <= width for line in lines)
    return plain(lines).splitlines()[1:]


def test_a_pane_shows_the_columns_that_tell_most_and_how_many_are_left() -> None:
    lines = shown(PATHS, 38, is_whole=False)
    assert lines[0].split() == ["from", "\\", "to", "rac1", "rac2", "rac7"]
    assert lines[7] == "rac7       P 9000  B 1500       ·"
    assert lines[9] == "Enter: 5 more columns"


def test_the_whole_page_shows_all_columns() -> None:
    text = " ".join(shown(PATHS, 38, is_whole=True))
    assert all(text.count(node) >= 2 for node in NODES)
    assert "more column" not in text


def test_a_column_without_a_heading_stays_with_the_one_before_it() -> None:
    assert [line.split() for line in shown(SIZES, 30, is_whole=False)] == [
        ["NIC", "in"],
        ["eth1", "1,000", "packets", "12", "%"],
        ["eth2", "3", "packets", "1", "%"],
        ["Enter:", "2", "more", "columns"],
    ]


@pytest.mark.parametrize(
    ("width", "sorted_by", "columns"),
    [
        (80, "", ["in", "out", "link", "FAILED", "buffer", "drops", "softirq", "lost"]),
        (60, "", ["in", "out", "FAILED", "buffer", "drops", "lost"]),
        (60, "link", ["in", "link", "FAILED", "buffer", "drops", "lost"]),
        (30, "", ["FAILED", "drops", "lost"]),
    ],
)
def test_traffic_leaves_out_the_columns_that_tell_least(width: int, sorted_by: str, columns: list[str]) -> None:
    assert glance_columns(NODES, width, sorted_by) == columns
    heading = plain([glance_heading(NODES, DrawingStyle(width), Sorting(sorted_by))]).split()
    assert [word.lstrip("▼") for word in heading][: len(columns) + 1] == ["node", *columns]
    missing = plain(left_out(NODES, width, Sorting(sorted_by))).replace("\n", "")
    assert all((word in missing) is (word not in columns) for word in ("link", "softirq", "buffer"))
