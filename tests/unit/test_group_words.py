"""What was read is said in words for people, for each group of facts."""

from __future__ import annotations

import pytest

from checks.run.events import FACTS_OF, Gathered
from checks.run.gathering import CHANGING, GATHERERS

GROUPS = [gatherer.group for gatherer in (*GATHERERS, CHANGING)]


@pytest.mark.parametrize("group", GROUPS)
def test_a_gathered_group_is_named_in_words(group: str) -> None:
    text = Gathered(group, 1.0).text
    assert text == f"read {FACTS_OF[group]}"
    assert "_" not in text
    assert Gathered(group, 1.0, "no answer").text == f"could not read {FACTS_OF[group]}"


def test_there_are_words_for_these_groups_only() -> None:
    assert set(FACTS_OF) == set(GROUPS)
