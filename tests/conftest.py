"""For all tests."""

from __future__ import annotations

import atexit
import gc
import signal
from collections.abc import Iterator

import pytest
from hypothesis import is_hypothesis_test, settings

from tui.cli import streams

# No test is about a time, since the machine may be busy; a third of the usual examples find what more would, in a few
# runs.
settings.register_profile("racwire", deadline=None, max_examples=30)
settings.load_profile("racwire")


def pytest_configure() -> None:
    """Take SIGINT as from a terminal.

    A script's `nohup make test &` starts us with SIGINT and SIGHUP ignored. All that we start would inherit that: a
    command that a test interrupts would go on for good, and the tests themselves could not be interrupted either.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A Python handler: exec resets it to the default, for the workers of the tests and all that they start.
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def hangups_end_what_tests_start() -> None:
    """As above for SIGHUP, where tests run. The tests themselves, and who hands them out, outlive a hangup as asked."""
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `make cases`."""
    parser.addoption("--all-cases", action="store_true", help="run every case and walk, not only the sample")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the cases and walks on the practice cluster that are not in the sample, unless `--all-cases` is set."""
    for item in items:
        # Measuring doubles what a line costs: properties run the same lines over and over, and what drives a terminal
        # or a practice cluster runs those that examples have run before.
        test = getattr(item, "obj", None)
        if is_hypothesis_test(test) or item.path.parent.name not in ("unit", "cases"):
            item.add_marker(pytest.mark.no_cover)
    if not config.getoption("--all-cases"):
        left_out = [item for item in items if item.get_closest_marker("beyond_sample")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("beyond_sample")]


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


@pytest.fixture(autouse=True)
def threads_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command ends its process where a thread hangs. One that another test has left must not end all tests."""
    others = set(streams.joined_threads())
    told = streams.joined_threads
    monkeypatch.setattr(streams, "joined_threads", lambda: [t for t in told() if t not in others])
