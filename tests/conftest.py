"""For all tests."""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import settings

# No test is about a time, since the machine may be busy; half of the usual examples find what more would, a run later.
settings.register_profile("racwire", deadline=None, max_examples=50)
settings.load_profile("racwire")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files in turns: those of the practice cluster mostly wait, and many at once would crowd each other's packets;
    the others mostly compute."""
    files = [list(group) for _, group in groupby(items, key=lambda item: item.path)]
    waiting = [tests for tests in files if tests[0].path.parent.name == "lab"]
    computing = [tests for tests in files if tests[0].path.parent.name != "lab"]
    places = [((n + 0.5) / len(kind), tests) for kind in (waiting, computing) for n, tests in enumerate(kind)]
    # The last of them are of those that compute: they are short, and so all workers end at about one time.
    places.sort(key=lambda place: place[0])
    items[:] = [test for _, tests in places for test in tests]
