"""The engine: gathers once, judges as facts arrive, and lets one failing part disturb nothing else."""

import asyncio
import time

import pytest

from checks import Kind, Status, Unknown, check
from checks.engine import Engine
from checks.events import CheckConcluded, Gathered, GatherProgress, RunFinished, RunStarted
from checks.gathering import Gatherer
from checks.plugin import BrokenPlugin
from checks.result import ExitCode, exit_code
from checks.settings import Settings
from tests.fixtures.clusters import cluster

FINE = Kind("T-FINE-001", "All is well")
FACTS = cluster(2)


def make(name, needs, judge=None):
    def passing(_cluster):
        yield FINE.finding(Status.PASS, f"{name} is well.")

    return check(name, question="?", needs=needs, kinds=(FINE,))(judge or passing)


def giving(group, needs=(), value=None, limit_s=5.0):
    async def gather(session, known):
        session.progress(group, "working", 1, 2)
        return getattr(FACTS, group) if value is None else value

    return Gatherer(group, needs, gather, limit_s)


ALL = (giving("clusterware"), giving("nodes", ("clusterware",)), giving("networks", ("nodes",)), giving("paths"))


async def run(checks, gatherers=ALL, **more):
    engine = Engine(checks, Settings(), gatherers=gatherers, **more)
    return [event async for event in engine.events()]


def concluded(events):
    return {e.check: e.findings for e in events if isinstance(e, CheckConcluded)}


async def test_it_tells_what_it_does_and_ends_with_the_report():
    events = await run([make("a", ["nodes"])])
    assert events[0] == RunStarted(("a",), ("clusterware", "nodes"))
    assert GatherProgress("nodes", "working", 1, 2) in events
    assert [e.group for e in events if isinstance(e, Gathered)] == ["clusterware", "nodes"]
    assert isinstance(events[-1], RunFinished)
    assert events[-1].report.cluster.nodes == FACTS.nodes
    assert [f.check for f in events[-1].report.findings] == ["a"]


async def test_only_what_the_checks_need_is_gathered():
    events = await run([make("a", ["clusterware"])])
    assert [e.group for e in events if isinstance(e, Gathered)] == ["clusterware"]


async def test_a_check_runs_as_soon_as_its_own_facts_are_there():
    gate = asyncio.Event()

    async def slow(session, known):
        await asyncio.wait_for(gate.wait(), 5)
        return FACTS.paths

    engine = Engine(
        [make("early", ["clusterware"]), make("late", ["paths"])],
        Settings(),
        gatherers=(ALL[0], Gatherer("paths", (), slow, 5)),
    )
    order = []
    async for event in engine.events():
        if isinstance(event, CheckConcluded):
            order.append(event.check)
            gate.set()
    assert order == ["early", "late"]


async def test_a_source_that_fails_makes_only_its_own_checks_unknown():
    async def failing(session, known):
        raise OSError("no such device")

    events = await run([make("a", ["clusterware"]), make("b", ["paths"])], (ALL[0], Gatherer("paths", (), failing, 5)))
    assert concluded(events)["a"][0].status is Status.PASS
    broken = concluded(events)["b"][0]
    assert (broken.code, broken.status) == ("RW-ENGINE-001", Status.UNKNOWN)
    assert "no such device" in broken.title


async def test_a_source_that_hangs_is_given_up_at_its_limit():
    async def hanging(session, known):
        await asyncio.Event().wait()

    events = await run([make("b", ["paths"])], (Gatherer("paths", (), hanging, 0.05),))
    assert "given up" in concluded(events)["b"][0].title


async def test_a_check_that_raises_is_unknown_and_the_others_go_on():
    def raising(_cluster):
        raise KeyError("eth7")
        yield

    events = await run([make("a", ["clusterware"], raising), make("b", ["clusterware"])])
    assert concluded(events)["a"][0].code == "RW-ENGINE-002"
    assert concluded(events)["b"][0].status is Status.PASS


async def test_a_check_that_says_nothing_or_something_undeclared_is_unknown():
    other = Kind("T-OTHER-001", "?")

    def undeclared(_cluster):
        yield other.finding(Status.PASS, "?")

    events = await run([make("a", [], lambda c: ()), make("b", [], undeclared)])
    assert "must say PASS" in concluded(events)["a"][0].seen[0]
    assert "T-OTHER-001" in concluded(events)["b"][0].seen[0]


async def test_a_plugin_that_could_not_be_loaded_is_a_finding():
    events = await run([make("a", [])], broken=[BrokenPlugin("acme", "no module named acme")])
    assert concluded(events)["acme"][0].code == "RW-ENGINE-003"
    assert exit_code(events[-1].report) is ExitCode.COULD_NOT_TELL


async def test_leaving_early_ends_everything_at_once_and_keeps_what_was_found():
    async def hanging(session, known):
        await asyncio.Event().wait()

    engine = Engine(
        [make("a", ["clusterware"]), make("b", ["paths"])],
        Settings(),
        gatherers=(ALL[0], Gatherer("paths", (), hanging, 60)),
    )
    events = engine.events()
    async for event in events:
        if isinstance(event, CheckConcluded):
            break
    began = time.monotonic()
    await events.aclose()
    assert time.monotonic() - began < 1
    report = engine.report(interrupted=True)
    assert [(f.check, f.code) for f in report.findings] == [("b", "RW-ENGINE-004"), ("a", "T-FINE-001")]
    assert exit_code(report) is ExitCode.INTERRUPTED


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        ([Status.PASS, Status.INFO], ExitCode.PASS),
        ([Status.PASS, Status.WARN], ExitCode.WARNINGS),
        ([Status.WARN, Status.UNKNOWN], ExitCode.COULD_NOT_TELL),
        ([Status.UNKNOWN, Status.FAIL], ExitCode.FAILURES),
    ],
)
async def test_the_exit_code_is_that_of_the_gravest(statuses, code):
    def judge(_cluster):
        for status in statuses:
            yield FINE.finding(status, "?")

    events = await run([make("a", [], judge)])
    assert exit_code(events[-1].report) is code


async def test_facts_that_are_unknown_make_the_check_unknown_with_their_reason():
    gatherers = (giving("clusterware", value=Unknown("No Grid home was found.")),)
    events = await run([make("a", ["clusterware"])], gatherers)
    assert concluded(events)["a"][0].title == "a could not tell: No Grid home was found."


async def test_a_check_that_exits_prints_or_fills_a_finding_with_junk_spoils_no_report(capsys):
    def leaving(_cluster):
        raise SystemExit(5)

    def printing(_cluster):
        print("hello")
        yield FINE.finding(Status.PASS, "fine")

    def junk(_cluster):
        yield FINE.finding(Status.PASS, 5, seen=[object()])

    checks = [make("leaving", [], leaving), make("printing", [], printing), make("junk", [], junk)]
    findings = concluded(await run(checks))
    assert {name: found[0].status for name, found in findings.items()} == {
        "leaving": Status.UNKNOWN,
        "printing": Status.PASS,
        "junk": Status.UNKNOWN,
    }
    assert capsys.readouterr().out == ""
