"""Causes in words: each of the catalogue says what it does, how losses show it, and what contradicts it."""

from __future__ import annotations

import pytest

from checks.diagnosis import cause_words
from checks.diagnosis.catalogue import CATALOGUE
from checks.diagnosis.cause_words import how_losses_show_it, what_contradicts_it, what_it_does
from checks.model.hypothesis import How
from tui.cli.explain import explained

BY_CODE = {cause.code: cause for cause in CATALOGUE}


def words(cause) -> tuple[str, ...]:
    return (*what_it_does(cause), *how_losses_show_it(cause), *what_contradicts_it(cause))


@pytest.mark.parametrize("cause", CATALOGUE, ids=lambda cause: cause.code)
def test_each_cause_says_what_it_does_in_sentences(cause):
    assert bool(words(cause)) is not bool(cause.other_platform)
    for sentence in words(cause):
        assert sentence[0].isupper(), sentence
        assert sentence.endswith("."), sentence
    assert len(set(words(cause))) == len(words(cause))


@pytest.mark.parametrize("cause", CATALOGUE, ids=lambda cause: cause.code)
def test_what_touches_packets_can_be_contradicted_and_nothing_else(cause):
    touches = cause.touches or cause.patterns or cause.effects_of
    assert bool(what_contradicts_it(cause)) is bool(touches)


def test_what_a_value_decides_is_said_in_words_of_its_own():
    assert {cause.code for cause in CATALOGUE if cause.effects_of} <= set(cause_words._DOES)
    assert set(cause_words._DOES) <= set(BY_CODE)
    assert not [code for code in cause_words._DOES if BY_CODE[code].touches and not BY_CODE[code].effects_of]


def test_sentences_follow_the_data():
    assert what_it_does(BY_CODE["CAUSE-02"]) == (
        "It loses a share of the UDP packets of Clusterware and instances to its node, on all private networks.",
    )
    assert what_it_does(BY_CODE["CAUSE-81"]) == (
        "It stops all packets between private addresses, from its node, on its network.",
    )
    assert how_losses_show_it(BY_CODE["CAUSE-12"]) == (
        "All full-size packets are lost to or from a node, from one node to another, between two groups of nodes or "
        "on a whole network.",
    )
    assert how_losses_show_it(BY_CODE["CAUSE-20"])[0].startswith("Some packets, or the full-size ones alone, are lost")
    assert "while UDP packets of the same size pass" in how_losses_show_it(BY_CODE["CAUSE-75"])[0]
    assert how_losses_show_it(BY_CODE["CAUSE-71"]) == (
        "Some source ports of a path lose all packets, and others lose none.",
        "Some source ports lose a share of their packets, and others far fewer; or too few are lost to show that.",
    )


def test_what_stops_packets_for_some_time_is_not_contradicted_by_one_that_passes():
    for cause in CATALOGUE:
        if {touch.how for touch in cause.touches} == {How.AT_TIMES} and not cause.patterns:
            assert what_contradicts_it(cause) == (
                "Packets that pass do not contradict it: they may have been sent at another time.",
            )


@pytest.mark.parametrize("cause", CATALOGUE, ids=lambda cause: cause.code)
def test_a_page_has_the_words_in_80_columns(cause):
    page = explained(cause.code)
    assert max(map(len, page)) <= 80, max(page, key=len)
    text = " ".join(" ".join(page).split())
    for sentence in words(cause):
        assert sentence in text
