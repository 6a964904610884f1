"""For all tests."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("racwire", deadline=None)  # no test is about a time: the machine may be busy
settings.load_profile("racwire")
