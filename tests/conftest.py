"""Options and fixtures of all tests."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import is_hypothesis_test, settings

from tui.cli import streams

# No test checks a duration, since the machine may be busy. A sixth of the usual number of examples finds the same
# faults in a few runs.
settings.register_profile("racwire", deadline=None, max_examples=15)
settings.load_profile("racwire")

LEFT_OUT = pytest.StashKey[int]()


def pytest_configure() -> None:
    """Give SIGINT its default handler, as on a terminal.

    The `nohup make test &` of a script starts pytest with SIGINT and SIGHUP ignored. Every child process would inherit
    that: a command that a test interrupts would never end, and the tests could not be interrupted either.
    """
    os.environ.pop("COLUMNS", None)  # pytest's own output sets it, and texts in a pipe obey it
    for name in ("LC_ALL", "LC_CTYPE"):  # texts obey the locale
        os.environ.pop(name, None)
    # tests expect the directories below HOME, or set their own
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        os.environ.pop(name, None)
    os.environ["LANG"] = "C.UTF-8"
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A Python handler: exec resets it to the default in the workers and in all programs that they start.
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def locks_of_this_process() -> None:
    """Let no two processes that run tests wait for each other's pings and datagrams."""
    from checks.sources.probes import limits, udp_sender

    limits.PING_LOCK = f"\0racwire-pings-{os.getpid()}"
    udp_sender.LOCK = f"\0racwire-probe-{os.getpid()}"


@pytest.fixture(scope="session", autouse=True)
def hangups_end_what_tests_start() -> None:
    """Do the same for SIGHUP in the processes that run tests.

    The tests themselves continue after a hangup, as requested.
    """
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `make cases`."""
    parser.addoption("--all-cases", action="store_true", help="run every case and walk, not only the sample")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute the tests as `Scheduling` does."""
    from tests.support.scheduling import Scheduling

    return Scheduling(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process of xdist whether it runs only tests of practice clusters."""
    from tests.support.scheduling import runs_only_lab

    node.workerinput["only_lab"] = runs_only_lab(node.gateway.id, node.config)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the other tests out of the processes that run only tests of practice clusters."""
    if not getattr(config, "workerinput", {}).get("only_lab") or collection_path.parent != Path(__file__).parent:
        return None
    from tests.support.scheduling import LAB

    return collection_path.name not in LAB or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the cases and walks on the practice cluster that are not in the sample, unless `--all-cases` is set."""
    for item in items:
        # Coverage doubles the time of a line: property tests repeat the same lines, and tests of a terminal or a
        # practice cluster run lines that unit tests have run.
        test = getattr(item, "obj", None)
        if is_hypothesis_test(test) or item.path.parent.name not in ("unit", "cases"):
            item.add_marker(pytest.mark.no_cover)
    if not config.getoption("--all-cases"):
        left_out = [item for item in items if item.get_closest_marker("beyond_sample")]
        config.hook.pytest_deselected(items=left_out)
        if hasattr(config, "workeroutput"):  # the reports of xdist do not have them
            config.workeroutput["left_out"] = len(left_out)
        items[:] = [item for item in items if not item.get_closest_marker("beyond_sample")]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Note how many tests a process of xdist left out."""
    left_out = getattr(node, "workeroutput", {}).get("left_out", 0)
    node.config.stash[LEFT_OUT] = max(left_out, node.config.stash.get(LEFT_OUT, 0))


def _recorded(terminalreporter: pytest.TerminalReporter) -> list[object]:
    """Return the outcomes of the cases that ran: properties of their reports, which xdist brings here."""
    reports = [r for status in ("passed", "failed") for r in terminalreporter.getreports(status)]
    return [value for r in reports for name, value in r.user_properties if name == "outcome"]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail `make cases` where a group of cases misses its goal."""
    terminalreporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminalreporter is None or not session.config.getoption("--all-cases"):
        return
    if recorded := _recorded(terminalreporter):
        from tests.cases.outcomes import Outcome, missed_goals

        if missed_goals([msgspec.convert(value, Outcome) for value in recorded]) and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print how many tests the sample left out, and the table of the case book, where cases ran: what was right first,
    partly, missed, and what was false."""
    if left_out := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"{left_out} cases and walks are beyond the sample and were not run: make cases")
    if recorded := _recorded(terminalreporter):
        # Only here: the other tests do not need what knows the reports.
        from tests.cases.outcomes import Outcome, table

        terminalreporter.section("the case book")
        outcomes = [msgspec.convert(value, Outcome) for value in recorded]
        for line in table(outcomes, every_case=config.getoption("--all-cases")):
            terminalreporter.write_line(line)


def pytest_collection_finish() -> None:
    """Freeze the objects loaded so far and collect seldom: else garbage collection takes a fifth of the tests' time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_unconfigure() -> None:
    """Collect what the tests left, then freeze the rest: pytest and Python collect ten more times, for seconds."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def signals_as_they_were() -> Iterator[None]:
    """Restore the signal handlers: an interrupted command leaves signals ignored or deadly, since it ends soon."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(autouse=True)
def threads_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the threads of other tests: a command ends its process when a thread hangs, which would end all tests."""
    others = set(streams.joined_threads())
    all_threads = streams.joined_threads
    monkeypatch.setattr(streams, "joined_threads", lambda: [t for t in all_threads() if t not in others])
