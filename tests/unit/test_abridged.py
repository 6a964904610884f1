"""Texts that are too long for their line: what gives way, and what stays whole."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.text.abridged import abridged, shortened
from tui.text.line import cut, fitted

WORDS = st.one_of(
    st.sampled_from(
        [
            "rac1",
            "rac2,",
            "192.168.11.0/24:",
            "CAUSE-20,",
            "4,120",
            "(eth2)",
            "/a/b-1/c.log",
            "~/long/name-2",
            "vanish",
            "on",
            "between",
            "漢字",
            "…",
        ]
    ),
    st.text(max_size=12),
)
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)
WIDTHS = st.integers(-1, 60)


@given(TEXTS, WIDTHS)
@example("  ", 1)
def test_a_cut_text_fits_and_its_figures_names_and_codes_are_whole(text: str, width: int) -> None:
    short = cut(text, width)
    assert cell_len(short) <= max(width, 0) or short == text
    ends = {f"…{path[at:]}" for path in text.split()[-1:] for at, sign in enumerate(path) if sign == "/"}
    assert all(word in (*text.split(), *ends) for word in short.split() if re.search(r"[\d.\-_/]", word))
    assert cell_len(fitted(text, width)) == max(width, 0) or cell_len(text) <= width


@given(TEXTS, WIDTHS)
def test_a_shortened_sentence_fits_and_its_figures_are_whole(text: str, most: int) -> None:
    short = shortened(text, most)
    assert cell_len(short) <= max(most, 0)
    marks = ",;:"
    whole = {word.strip(marks) for word in text.split()}
    # Of a path that is too long, the last names are left.
    whole |= {f"…{path[at:]}" for path in text.split()[-1:] for at, sign in enumerate(path) if sign == "/"}
    assert all(word.strip(marks) in whole for word in short.split() if re.search(r"\d", word))


@given(TEXTS, st.integers(1, 60), st.integers(1, 3))
def test_an_abridged_text_fits_in_its_lines(text: str, width: int, most: int) -> None:
    lines = abridged(text, width, ("rac1", "rac2", "192.168.11.0/24"), most=most)
    assert 1 <= len(lines) <= most
    assert all(cell_len(line) <= width for line in lines)


@pytest.mark.parametrize(
    ("text", "width", "most", "expected"),
    [
        ("eth1: 1500 on rac2 and 9000 on rac1", 21, 1, ("eth1: … rac1 rac2",)),
        ("192.168.10.1: dummy0 of rac2", 22, 1, ("192.168.10.1: … rac2",)),
        ("CAUSE-01, CAUSE-08, CAUSE-20", 25, 1, ("CAUSE-01, CAUSE-08, …",)),
        ("Written: ~/reports/racwire-2.html", 28, 1, ("Written: …/racwire-2.html",)),
        ("Pings are lost on 192.168.11.0/24 between rac1 and rac2, both ways; the way is not known.", 30, 2,
         ("Pings are lost on", "192.168.11.0/24 … rac1 rac2")),
        ("rac2 dropped 43 datagrams in 2.1 s: the receive buffers of their sockets were full.", 35, 2,
         ("rac2 dropped 43 datagrams in 2.1 s",)),
    ],
)  # fmt: skip
def test_words_give_way_to_the_names_of_the_place(text: str, width: int, most: int, expected: tuple[str, ...]) -> None:
    assert abridged(text, width, ("rac1", "rac2", "192.168.11.0/24"), most=most) == expected
