"""The judge sees what a mutant breaks: each drops one update from the sources, and a timeline shows it."""

from __future__ import annotations

import pytest

from tests.agreement.complaints import complaints
from tests.agreement.mutants import MUTANTS, Mutant, mutated
from tests.agreement.timeline import Timeline


@pytest.mark.beyond_sample
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.what)
def test_a_timeline_shows_the_mutant(mutant: Mutant) -> None:
    timeline = Timeline(mutant.seed)
    assert not list(complaints(mutant.seed, timeline))
    with mutated(mutant):
        assert list(complaints(mutant.seed, timeline))
