"""For all tests."""

from __future__ import annotations

from hypothesis import settings

# No test is about a time, since the machine may be busy; a third of the usual examples find what more would, in a few
# runs.
settings.register_profile("racwire", deadline=None, max_examples=30)
settings.load_profile("racwire")
