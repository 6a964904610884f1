"""Agreement over time: over generated timelines no two of the places contradict each other, no statement in the present
tense is older than the last event that touches its facts, nothing that was seen is denied, and nothing over is present.
"""

from __future__ import annotations

import pytest

from tests.agreement.complaints import COUNT, complaints

SAMPLE = (24,)
"""The timeline of `make test`."""
CHUNK = 25


@pytest.mark.parametrize("seed", SAMPLE)
def test_the_places_agree(seed: int) -> None:
    assert not list(complaints(seed))


@pytest.mark.beyond_sample
@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_the_places_agree_over_all_timelines(first: int) -> None:
    assert not [one for seed in range(first, first + CHUNK) for one in complaints(seed)]
