"""Agreement over time: over generated timelines no two of the places contradict each other, no statement in the present
tense is older than the last event that touches its facts, nothing that was seen is denied, and nothing over is present.
"""

from __future__ import annotations

import pytest

from tests.agreement.complaints import COUNT, complaints

SAMPLE = (0, 11, 24, 65, 90)
"""The timelines of `make test`: a change, a clock that is set back, flapping links, a node that dies, a late run."""
CHUNK = 25


@pytest.mark.parametrize("seed", SAMPLE)
def test_the_places_agree(seed: int) -> None:
    assert not list(complaints(seed))


@pytest.mark.beyond_sample
@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_the_places_agree_over_all_timelines(first: int) -> None:
    assert not [one for seed in range(first, first + CHUNK) for one in complaints(seed)]
