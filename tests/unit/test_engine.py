"""The engine: it gathers once, judges facts as they arrive, and one failing part disturbs no other."""

import asyncio
import time

import pytest

from checks import Kind, Status, Unknown, check
from checks.model.exit_codes import ExitCode, Interrupted
from checks.model.facts import NotAsked, UnreadNode
from checks.model.journal import Journal
from checks.model.report import exit_code
from checks.model.settings import Settings
from checks.plugins.clusterware import clusterware
from checks.report.folding import grouped_by_reason
from checks.run.check_discovery import BrokenPlugin
from checks.run.engine import Engine
from checks.run.events import CheckConcluded, Gathered, GatherProgress, NodesSoFar, RunFinished, RunStarted
from checks.run.gathering import Gatherer
from checks.run.judgement import judged
from tests.fixtures.clusters import cluster

FINE = Kind("T-FINE-001", "All is well")
FACTS = cluster(2)


def make(name, needs, judge=None):
    def passing(_cluster):
        yield FINE.finding(f"{name} is well.", status=Status.PASS)

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


async def test_a_run_reports_progress_and_ends_with_the_report():
    events = await run([make("a", ["nodes"])])
    assert events[0] == RunStarted(("a",), ("clusterware", "nodes"))
    assert GatherProgress("nodes", "working", 1, 2) in events
    assert [e.group for e in events if isinstance(e, Gathered)] == ["clusterware", "nodes"]
    assert isinstance(events[-1], RunFinished)
    assert events[-1].report.cluster.nodes == FACTS.nodes
    assert [f.check for f in events[-1].report.findings] == ["a"]


async def test_the_nodes_so_far_are_an_event_while_one_is_pending_and_no_check_sees_them():
    pending = UnreadNode("rac2", "rac2 has not been read yet.", is_pending=True)
    first, *_ = FACTS.nodes
    judged = []

    async def gather(session, known):
        session.nodes_so_far((first, pending))
        return FACTS.nodes

    def judge(known):
        judged.append(known.nodes)
        yield FINE.finding("It is well.", status=Status.PASS)

    reads_nodes = Gatherer("nodes", ("clusterware",), gather, 5.0)
    events = await run([make("a", ["nodes", "networks"], judge)], (ALL[0], reads_nodes, ALL[2]))
    (so_far,) = [event.cluster for event in events if isinstance(event, NodesSoFar)]
    assert so_far.nodes == (first, pending)
    assert {port.node for network in so_far.networks for port in network.ports} == {first.name}
    assert judged == [FACTS.nodes]


async def test_a_group_that_is_gathered_meanwhile_is_reported_with_the_nodes_so_far():
    so_far, released = (UnreadNode("rac1", "rac1 has not been read yet.", is_pending=True),), asyncio.Event()

    async def gather(session, known):
        session.nodes_so_far(so_far)
        await released.wait()
        return FACTS.nodes

    async def fast(session, known):
        return NotAsked("No database connection is set.")

    gatherers = (ALL[0], Gatherer("nodes", ("clusterware",), gather, 5.0), Gatherer("database", (), fast, 5.0))
    engine, known = Engine([make("a", ["nodes"]), make("b", ["database"])], Settings(), gatherers=gatherers), []
    async for event in engine.events():
        if isinstance(event, NodesSoFar):
            known.append(event.cluster)
            if event.cluster.is_gathered("database"):
                released.set()
    assert known[-1].nodes == so_far
    assert not isinstance(known[-1].clusterware, Unknown)
    assert engine.report().cluster.nodes == FACTS.nodes


async def test_only_what_the_checks_need_is_gathered():
    events = await run([make("a", ["clusterware"])])
    assert [e.group for e in events if isinstance(e, Gathered)] == ["clusterware"]


async def test_a_group_waits_for_another_if_that_is_gathered_and_never_requests_it():
    started = []

    def noting(group, after=()):
        async def gather(session, known):
            started.append(group)
            await asyncio.sleep(0)
            started.append(f"{group} ended")
            return getattr(FACTS, group)

        return Gatherer(group, (), gather, 5, after=after)

    groups = (noting("nodes", after=("paths",)), noting("paths"))
    await run([make("a", ["nodes"]), make("b", ["paths"])], groups)
    assert started == ["paths", "paths ended", "nodes", "nodes ended"]
    started.clear()
    await run([make("a", ["nodes"])], groups)
    assert started == ["nodes", "nodes ended"]


async def test_a_check_runs_as_soon_as_its_own_facts_are_available():
    gate = asyncio.Event()

    async def slow(session, known):
        await asyncio.wait_for(gate.wait(), 30)
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


async def test_a_check_that_lacks_facts_delays_neither_other_checks_nor_the_run():
    async def hanging(session, known):
        await asyncio.Event().wait()

    lacking = check("a", question="?", needs=["paths"], uses=["nodes"], kinds=(FINE,))(lambda _: ())
    unknown = giving("paths", value=Unknown("There is no path."))
    events = await run([lacking], (unknown, Gatherer("nodes", (), hanging, 60)))
    assert concluded(events)["a"][0].title == "a could not tell: there is no path."
    assert isinstance(events[-1], RunFinished)


async def test_a_source_that_fails_makes_only_its_own_checks_unknown():
    async def failing(session, known):
        raise OSError("no such device")

    events = await run([make("a", ["clusterware"]), make("b", ["paths"])], (ALL[0], Gatherer("paths", (), failing, 5)))
    assert concluded(events)["a"][0].status is Status.PASS
    broken = concluded(events)["b"][0]
    assert (broken.code, broken.status) == ("RW-ENGINE-001", Status.UNKNOWN)
    assert "no such device" in broken.title


async def test_a_source_that_hangs_is_cancelled_at_its_time_limit():
    async def hanging(session, known):
        await asyncio.Event().wait()

    events = await run([make("b", ["paths"])], (Gatherer("paths", (), hanging, 0.05),))
    assert "stopped" in concluded(events)["b"][0].title


async def test_a_check_that_raises_is_unknown_and_the_others_continue():
    def raising(_cluster):
        raise KeyError("eth7")
        yield

    events = await run([make("a", ["clusterware"], raising), make("b", ["clusterware"])])
    assert concluded(events)["a"][0].code == "RW-ENGINE-002"
    assert concluded(events)["b"][0].status is Status.PASS


async def test_a_check_without_findings_or_with_undeclared_ones_is_unknown():
    other = Kind("T-OTHER-001", "?")

    def undeclared(_cluster):
        yield other.finding("?", status=Status.PASS)

    events = await run([make("a", [], lambda c: ()), make("b", [], undeclared)])
    assert "must report PASS" in concluded(events)["a"][0].seen[0]
    assert "T-OTHER-001" in concluded(events)["b"][0].seen[0]


async def test_a_plugin_that_could_not_be_loaded_is_a_finding():
    events = await run([make("a", [])], broken=[BrokenPlugin("acme", "no module named acme")])
    assert concluded(events)["acme"][0].code == "RW-ENGINE-003"
    assert exit_code(events[-1].report) is ExitCode.COULD_NOT_TELL


async def test_cancelling_ends_everything_at_once_and_keeps_the_findings():
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
async def test_the_exit_code_is_that_of_the_worst_finding(statuses, code):
    def judge(_cluster):
        for status in statuses:
            yield FINE.finding("?", status=status)

    events = await run([make("a", [], judge)])
    assert exit_code(events[-1].report) is code


async def test_facts_that_are_unknown_make_the_check_unknown_with_their_reason():
    gatherers = (giving("clusterware", value=Unknown("No Grid home was found.")),)
    events = await run([make("a", ["clusterware"])], gatherers)
    (finding,) = concluded(events)["a"]
    assert (finding.code, finding.title) == ("IC-GRID-007", "a could not tell: no Grid home was found.")


async def test_a_missing_grid_home_has_one_code_whatever_needs_it():
    home = Unknown("No Grid home was found.")
    gatherers = (
        *(giving(group, value=home) for group in ("clusterware", "networks", "managed")),
        giving("paths", value=Unknown("No route.")),
    )
    needs = {"a": ["clusterware"], "b": ["networks"], "c": ["managed"], "d": ["paths"]}
    checks = [*(make(name, groups) for name, groups in needs.items()), clusterware]
    report = (await run(checks, gatherers))[-1].report
    assert {finding.check: finding.code for finding in report.findings} == {
        **dict.fromkeys(("a", "b", "c", "clusterware"), "IC-GRID-007"), "d": "RW-ENGINE-001",
    }  # fmt: skip
    first = next(group for group in grouped_by_reason(report.findings) if "a" in group.checks)
    assert (first.finding.check, set(first.checks)) == ("clusterware", {"a", "b", "c", "clusterware"})


async def test_a_check_that_exits_prints_or_returns_invalid_data_does_not_damage_the_report(capsys):
    def leaving(_cluster):
        raise SystemExit(5)

    def printing(_cluster):
        print("hello")
        yield FINE.finding("fine", status=Status.PASS)

    def junk(_cluster):
        yield FINE.finding(5, status=Status.PASS, seen=[object()])

    checks = [make("leaving", [], leaving), make("printing", [], printing), make("junk", [], junk)]
    findings = concluded(await run(checks))
    assert {name: found[0].status for name, found in findings.items()} == {
        "leaving": Status.UNKNOWN,
        "printing": Status.PASS,
        "junk": Status.UNKNOWN,
    }
    assert capsys.readouterr().out == ""


class Mute(Exception):
    def __str__(self):
        raise ValueError("no text")


def raising(error):
    def judge(_cluster):
        yield FINE.finding("fine", status=Status.PASS)
        raise error

    return judge


def without_end(_cluster):
    while True:
        yield FINE.finding("fine", status=Status.PASS)


def no_finding(_cluster):
    yield "fine"


def deep(cluster):
    return deep(cluster)


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        (raising(SystemExit(5)), "SystemExit: 5"),
        (raising(KeyboardInterrupt()), "KeyboardInterrupt"),
        (raising(GeneratorExit()), "GeneratorExit"),
        (raising(asyncio.CancelledError()), "CancelledError"),
        (raising(BaseExceptionGroup("two", [SystemExit(1)])), "BaseExceptionGroup: two (1 sub-exception)"),
        (raising(MemoryError()), "MemoryError"),
        (raising(Mute()), "Mute"),
        (without_end, "PluginError: The check bad made more than 20,000 findings."),
        (no_finding, "TypeError: "),
        (deep, "RecursionError: "),
    ],
)
async def test_a_check_that_ends_in_any_way_is_unknown_and_the_others_go_on(judge, said):
    events = await run([make("bad", [], judge), make("good", [])])
    (broke,) = concluded(events)["bad"]
    assert (broke.code, broke.status) == ("RW-ENGINE-002", Status.UNKNOWN)
    assert broke.seen[0].startswith(said)
    assert [finding.status for finding in concluded(events)["good"]] == [Status.PASS]
    assert exit_code(events[-1].report) is ExitCode.COULD_NOT_TELL


async def test_a_signal_during_a_check_is_no_error_of_the_check():
    interrupted = make("a", [], raising(Interrupted()))
    with pytest.raises(Interrupted):
        judged(interrupted, cluster(1), Journal())
