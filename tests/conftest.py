"""For all tests."""

from __future__ import annotations

import atexit
import gc
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

# No test is about a time, since the machine may be busy; a third of the usual examples find what more would, in a few
# runs.
settings.register_profile("racwire", deadline=None, max_examples=30)
settings.load_profile("racwire")


def pytest_collection_finish() -> None:
    """What was loaded for all tests is there to stay: to look through it for garbage, over and over, takes a tenth of
    their time."""
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)


@pytest.fixture(autouse=True)
def signals_as_they_were() -> Iterator[None]:
    """A command that was interrupted leaves signals ignored, or deadly, since it is about to end: the tests are not."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
