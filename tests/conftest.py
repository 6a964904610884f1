"""For all tests."""

from __future__ import annotations

import atexit
import gc

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
