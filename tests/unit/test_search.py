"""The search in a text of lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.text.line import Line, plain
from tui.text.search import matches_in, with_matches

PAGE: list[Line] = [
    [("Next ", "label"), ("Ask for the switch", "")],
    [("     ", ""), ("port of rac2.", "")],
    [],
    [("Switch", "title"), (" ports", "faint")],
]


def test_a_match_can_go_over_the_end_of_a_line_and_over_spans() -> None:
    first, second = matches_in(PAGE, "switch  port")
    assert [tuple(part) for part in first] == [(0, 17, 23), (1, 5, 9)]
    assert [tuple(part) for part in second] == [(3, 0, 11)]
    lines = with_matches(PAGE, [first, second], 1)
    assert lines[1] == [("     ", ""), ("port", "match"), (" of rac2.", "")]
    assert lines[3] == [("Switch", "found"), (" port", "found"), ("s", "faint")]
    assert lines[2] is PAGE[2]


SPANS = st.lists(st.tuples(st.text("aAb \u0130\u00df.*(", max_size=6), st.just("")), max_size=4)


@given(st.lists(SPANS, max_size=6), st.text("aAb \u0130.*(", max_size=4))
def test_marking_never_changes_the_text_and_each_match_is_in_it(lines: list[Line], query: str) -> None:
    found = matches_in(lines, query)
    assert plain(with_matches(lines, found, 0)) == plain(lines)
    assert all(match for match in found)
    texts = ["".join(text for text, _ in line) for line in lines]
    assert all(0 <= start < end <= len(texts[line]) for match in found for line, start, end in match)
