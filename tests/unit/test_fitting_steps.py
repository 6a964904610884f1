"""Next steps that a run leaves to take."""

from __future__ import annotations

import pytest

from checks.model.facts import Cluster
from checks.model.finding import Finding, NextStep, Status
from checks.model.hypothesis import Certainty, Diagnosis, Hypothesis
from checks.model.observation import Fate, Observation
from checks.model.report import Report, make_report
from checks.model.traffic import Traffic
from checks.rules.fitting_steps import with_fitting_steps

TIME = "2026-11-20T14:02:31.000+01:00"
PATHS = NextStep("Test the paths.", ("racwire check df-ping",))
BY_HAND = NextStep("Look at the rules.", ("ip xfrm policy",), "root on rac2")
ASK = NextStep("Ask the network team.")
PASSED = Finding(check="df-ping", code="IC-PATH-001", status=Status.PASS, title="All pass.", subject="4 paths")


def found(*steps: NextStep, check: str = "instance-ping", code: str = "IC-PING-002", observed=()) -> Finding:
    return Finding(
        check=check, code=code, status=Status.FAIL, title="Slow.", subject="slow", next=steps, observed=tuple(observed)
    )


def report(*findings: Finding, settings: dict | None = None, causes: tuple[Hypothesis, ...] = ()) -> Report:
    return make_report(
        version="0", started_at=TIME, duration_s=1.0, cluster=Cluster(local_node="rac1", taken_at=TIME),
        findings=findings, journal=(), settings=settings or {}, diagnosis=Diagnosis(hypotheses=causes),
    )  # fmt: skip


def steps_of(made: Report, code: str = "IC-PING-002") -> tuple[NextStep, ...]:
    (finding,) = (f for f in with_fitting_steps(made).findings if f.code == code)
    return finding.next


def test_a_check_that_ran_is_no_advice():
    assert steps_of(report(found(PATHS, BY_HAND), PASSED)) == (BY_HAND,)
    assert steps_of(report(found(PATHS, BY_HAND))) == (PATHS, BY_HAND)


def test_a_check_that_does_not_know_all_is_advice():
    unknown = Finding(
        check="df-ping", code="IC-PATH-008", status=Status.UNKNOWN, title="Not judged.", subject="2 paths"
    )
    assert steps_of(report(found(PATHS), PASSED, unknown)) == (PATHS,)


def test_a_check_may_ask_to_be_run_again():
    again = NextStep("Run it again.", ("racwire check instance-ping",))
    assert steps_of(report(found(again))) == (again,)


def test_the_command_alone_goes_where_a_step_has_others():
    step = NextStep("Look.", ("racwire check df-ping", "ip link show"))
    (left,) = steps_of(report(found(step), PASSED))
    assert (left.text, left.commands) == ("Look.", ("ip link show",))


def test_where_no_step_is_left_the_findings_of_the_check_are_to_be_read():
    (left,) = steps_of(report(found(PATHS), PASSED))
    assert left == NextStep("Read what df-ping found in this run.")


@pytest.mark.parametrize(
    ("command", "settings", "is_left"),
    [
        ("racwire check df-ping --interval 120", {"sampling": {"interval_s": 30.0}}, True),
        ("racwire check df-ping --interval 120", {"sampling": {"interval_s": 120.0}}, False),
        ("racwire check --interval 120", {"sampling": {"interval_s": 30.0}}, True),
        ("racwire check df-ping --source-ports 64", {"probe": {"source_ports": 12}}, True),
        ("racwire check df-ping --source-ports 64", {"probe": {"source_ports": 64}}, False),
        ("racwire check df-ping --deep", {}, True),
        ("racwire check df-ping --awr 24", {}, True),
        ("racwire check", {}, True),
        ("racwire change new --to 9000", {}, True),
    ],
)
def test_more_than_was_executed_is_advice(command, settings, is_left):
    step = NextStep("Look closer.", (command,))
    assert (step in steps_of(report(found(step, BY_HAND), PASSED, settings=settings))) is is_left


def test_how_to_examine_a_cause_is_no_check_that_ran():
    cause = Hypothesis(cause="CAUSE-12", name="Jumbo", standing=Certainty.POSSIBLE, next=(PATHS,))
    made = report(PASSED, causes=(cause,))
    assert with_fitting_steps(made).diagnosis.hypotheses[0].next == ()
    assert with_fitting_steps(report(causes=(cause,))).diagnosis.hypotheses[0].next == (PATHS,)


# --- packets that vanish on a node ------------------------------------------------------------------------------------


def vanished(number: int, node: str = "rac2") -> Finding:
    to = Traffic(receivers=(node,))
    seen = Observation(fate=Fate.COUNTED, what="vanished", legs=(to,), number=number, nodes=(node,))
    return found(BY_HAND, check="packet-filter", code="IC-FILTER-002", observed=(seen,))


def pings(number: int, of: int, *ways: tuple[str, str]) -> Observation:
    legs = tuple(Traffic(senders=(a,), receivers=(b,), networks=("192.168.10.0/24",)) for a, b in ways)
    return Observation(fate=Fate.LOST, what="ping", legs=legs, number=number, of=of)


BOTH_WAYS = (("rac1", "rac2"), ("rac2", "rac1"))


@pytest.mark.parametrize(
    ("seen", "counted", "steps"),
    [
        (pings(5, 5, *BOTH_WAYS), 5, (BY_HAND,)),
        (pings(5, 5, *BOTH_WAYS[::-1]), 5, (BY_HAND,)),
        (pings(5, 5, *BOTH_WAYS), 4, (ASK,)),
        (pings(4, 5, *BOTH_WAYS), 5, (ASK,)),
        (pings(5, 5, ("rac1", "rac3"), ("rac3", "rac1")), 5, (ASK,)),
        (pings(5, 5, ("rac2", "rac1")), 5, (ASK,)),
    ],
)
def test_what_vanished_on_a_node_is_looked_for_there(seen, counted, steps):
    assert steps_of(report(found(ASK, observed=(seen,)), vanished(counted))) == steps


def test_lost_blocks_are_not_known_to_be_the_packets_that_vanished():
    block = Observation(fate=Fate.LOST, what="block", legs=(Traffic(receivers=("rac2",)),), number=3, of=3)
    assert steps_of(report(found(ASK, observed=(block,)), vanished(9))) == (ASK,)
