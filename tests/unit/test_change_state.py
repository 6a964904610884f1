"""The state of a change, computed from its events; and the decisions that operators may make in it."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.change.plan.change_plan import ChangeKind, Gate, Step
from checks.change.progress import decisions
from checks.change.progress.change_events import (
    AnyEvent,
    Attested,
    Closed,
    GateResult,
    Noted,
    Opened,
    Overridden,
    Reopened,
    RolledBack,
    Verified,
)
from checks.change.progress.state import Change, ChangeError, StepStatus, advance, fold
from checks.model.finding import Status
from tests.unit.change_support import AGREED, STEPS, after, change, lines, passed, plan, until

BACK = plan(kind=ChangeKind.ROLLBACK, steps=(STEPS[3], STEPS[8]))


def current(of: Change) -> str:
    return of.current.id if of.current else ""


def result(node: str, status: Status, check: str = "running-mtu") -> GateResult:
    return GateResult(check=check, status=status, text="", node=node)


def standings(of: Change) -> str:
    return " ".join(of.standing(step) for step in of.plan.steps[:4])


# --- one step after the other -----------------------------------------------------------------------------------------


def test_a_step_without_a_gate_is_done_when_it_is_attested():
    assert current(change()) == "agree"
    assert current(change(AGREED)) == "baseline"


def test_a_step_with_a_gate_is_done_when_the_gate_has_passed():
    failed = Verified("baseline", False, (result("", Status.FAIL),))
    assert current(change(AGREED, failed)) == "baseline"
    assert standings(change(AGREED, failed, passed("baseline"))) == "done done current ahead"


def test_a_step_with_both_needs_the_gate_and_the_attestation_in_either_order():
    both = Step(id="both", title="", what="", why="", attest="It is so.", gates=(Gate("stack-down"),))
    of = plan(steps=(both, STEPS[-1]))
    gate, word = passed("both"), Attested("both", "A. Lee")
    assert [current(change(*events, opened=of)) for events in ([gate], [word], [word, gate], [gate, word])] == [
        "both",
        "both",
        "sign-off",
        "sign-off",
    ]


def test_an_override_leads_to_the_next_step_and_is_not_called_done():
    overridden = change(AGREED, Verified("baseline", False, ()), Overridden("baseline", "A. Lee", "No load tonight."))
    assert standings(overridden) == "done overridden current ahead"


def test_a_reopened_step_is_current_again_and_its_attestation_stays():
    reopened = after(until("set-mtu"), Reopened("stack-down", "rac2 was started."))
    assert current(reopened) == "stack-down"
    assert current(after(reopened, passed("stack-down"))) == "set-mtu"
    assert current(after(reopened, Reopened("agree", "?"))) == "stack-down"


def test_after_the_last_step_nothing_is_current_and_the_change_is_open_until_it_is_closed():
    done = after(until("sign-off"), Attested("sign-off", "A. Lee"))
    assert done.current is None
    assert done.is_open
    assert not after(done, Closed("signed off", "A. Lee")).is_open


# --- gates that must still hold ---------------------------------------------------------------------------------------


def held(of: Change) -> list[tuple[str, tuple[str, ...]]]:
    assert of.current
    return [(gate.check, gate.nodes) for _, gate in of.held(of.current)]


def test_a_passed_gate_must_hold_until_the_step_that_reverts_it():
    assert held(until("set-mtu")) == [("stack-down", ()), ("autostart-off", ())]
    assert held(until("first-node")) == [("running-mtu", ()), ("kept-mtu", ())]
    assert [check for check, _ in held(until("sign-off"))] == ["running-mtu", "kept-mtu", "stack-up", "autostart-on"]


def test_an_override_covers_failed_results_and_passed_results_must_still_hold():
    failed = Verified(
        "set-mtu",
        False,
        (
            result("rac1", Status.PASS),
            result("rac2", Status.PASS),
            result("rac1", Status.PASS, "kept-mtu"),
            result("rac2", Status.FAIL, "kept-mtu"),
        ),
    )
    over = after(until("set-mtu"), failed, Overridden("set-mtu", "A. Lee", "The file comes later."))
    assert held(over)[2:] == [("running-mtu", ("rac1", "rac2")), ("kept-mtu", ("rac1",))]


def test_a_gate_that_held_until_a_completed_step_need_not_hold_again():
    """When the cluster runs again, a lost MTU reopens set-mtu; the operator need not stop the whole cluster for it."""
    lost = after(until("sign-off"), Reopened("set-mtu", "rac2 is at 1500."))
    assert current(lost) == "set-mtu"
    assert held(lost) == []


# --- rollback ---------------------------------------------------------------------------------------------------------


def test_a_rollback_follows_its_own_plan_and_keeps_the_steps_of_the_first_plan():
    back = after(until("set-mtu"), RolledBack(BACK, "A. Lee", "The window is over."))
    assert back.is_way_back
    assert current(back) == "set-mtu"
    assert not back.mark(BACK.steps[0]).passed
    assert [earlier.id for earlier, _ in back.behind] == ["2026-11-20-a"]
    assert back.opened.kind is ChangeKind.RAISE


# --- contradictory lines ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ((AGREED,), "first line of the journal is not the plan"),
        ((), "is empty"),
        ((Opened(plan()), Opened(plan())), "the plans of two changes"),
        ((Opened(plan()), Attested("dance", "A. Lee")), "a step 'dance'"),
        ((Opened(plan()), Closed("abandoned", "A. Lee"), AGREED), "no event can follow"),
        ((Opened(plan(steps=())),), "no steps"),
        ((Opened(plan(steps=(STEPS[0], STEPS[0]))),), "two steps with the same id"),
        ((Opened(plan()), RolledBack(plan(nodes=()), "A. Lee", "")), "no nodes"),
    ],
)
def test_contradictory_lines_are_refused_in_one_sentence(events, message):
    with pytest.raises(ChangeError, match=message):
        fold(lines(*events))


_IDS = st.sampled_from([step.id for step in STEPS])
_EVENTS = st.one_of(
    st.builds(Attested, _IDS, st.just("A. Lee")),
    st.builds(Verified, _IDS, st.booleans(), st.just(())),
    st.builds(Overridden, _IDS, st.just("A. Lee"), st.just("For a reason.")),
    st.builds(Reopened, _IDS, st.just("It changed.")),
    st.builds(Noted, _IDS, st.just("A note.")),
)


@settings(max_examples=60)
@given(st.lists(_EVENTS, max_size=25))
def test_after_any_events_there_is_one_next_step_and_all_earlier_steps_are_passed(events: list[AnyEvent]):
    whole = change(*events)
    step = whole.current
    behind = whole.plan.steps[: whole.plan.position(step.id) if step else None]
    assert all(whole.standing(one).is_behind for one in behind)
    assert [s for s in whole.plan.steps if whole.standing(s) is StepStatus.CURRENT] == ([step] if step else [])
    assert msgspec.json.decode(msgspec.json.encode(whole.lines[-1]), type=type(whole.lines[-1])) == whole.lines[-1]


# --- decisions --------------------------------------------------------------------------------------------------------

FAILED = after(until("baseline"), Verified("baseline", False, (result("", Status.FAIL),)))


LAST = Step(id="sign-off", title="", what="", why="", attest="It was read.", gates=(Gate("running-mtu"),))
AT_LAST = change(opened=plan(steps=(LAST,)))


def test_the_last_step_is_attested_once_its_gate_passed_or_was_overridden():
    unseen = Verified("sign-off", False, (result("rac2", Status.FAIL, "running-mtu"),))
    for of in (AT_LAST, after(AT_LAST, unseen)):
        with pytest.raises(ChangeError, match="only after its gate has passed"):
            decisions.attest(of, "sign-off", "A. Lee")
    over = Overridden("sign-off", "A. Lee", "rac2 is being replaced.")
    for of in (after(AT_LAST, passed("sign-off")), after(AT_LAST, unseen, over)):
        assert after(of, decisions.attest(of, "sign-off", "A. Lee")).current is None


@pytest.mark.parametrize(
    ("decide", "message"),
    [
        (lambda: decisions.attest(change(), "agree", "  "), "name of the person who"),
        (lambda: decisions.attest(change(), "dance", "A. Lee"), "There is no step 'dance'"),
        (
            lambda: decisions.attest(change(), "sign-off", "A. Lee"),
            "not reached step sign-off yet: step 1, agree, comes first",
        ),
        (lambda: decisions.attest(change(AGREED), "agree", "A. Lee"), "is done"),
        (lambda: decisions.attest(change(AGREED), "baseline", "A. Lee"), "nothing to attest"),
        (lambda: decisions.override(change(AGREED), "baseline", "A. Lee", "a good reason"), "was not verified yet"),
        (lambda: decisions.override(change(), "agree", "A. Lee", "a good reason"), "no gate"),
        (
            lambda: decisions.override(FAILED, "baseline", "A. Lee", "because"),
            "needs a reason of at least 10 characters",
        ),
        (lambda: decisions.override(FAILED, "baseline", " ", "a good reason"), "name of the person who"),
        (lambda: decisions.note(change(), " "), "needs a text"),
        (lambda: decisions.close(change(), "A. Lee"), "Step 1, agree, is not done yet"),
        (lambda: decisions.abandon(FAILED, "A. Lee", "no"), "type a reason of at least 10 characters"),
        (lambda: decisions.abandon(until("set-mtu"), "A. Lee", "a good reason"), "Roll back with"),
        (lambda: decisions.roll_back(FAILED, BACK, "A. Lee", "no"), "needs a reason"),
        (
            lambda: decisions.roll_back(
                after(FAILED, RolledBack(BACK, "A. Lee", "a good reason")), BACK, "A. Lee", "a good reason"
            ),
            "started already",
        ),
        (lambda: decisions.note(after(FAILED, Closed("abandoned", "A. Lee")), "a note"), "is closed: abandoned"),
    ],
)
def test_a_decision_that_does_not_fit_is_refused_with_the_reason(decide, message):
    with pytest.raises(ChangeError, match=message):
        decide()


def test_after_the_gate_that_stops_the_cluster_only_a_rollback_ends_the_change():
    """The gate did not pass, but half of the cluster may have been stopped by then."""
    verified = after(until("stack-down"), Verified("stack-down", False, (result("rac1", Status.FAIL),)))
    with pytest.raises(ChangeError, match="racwire change rollback"):
        decisions.abandon(verified, "A. Lee", "The window is over.")
    assert decisions.abandon(until("stack-down"), "A. Lee", "The window is over.").outcome == "abandoned"


def test_the_text_of_a_decision_is_stripped():
    assert decisions.attest(change(), "agree", " A. Lee ", " CHG-4711 ") == Attested("agree", "A. Lee", "CHG-4711")
    assert decisions.override(FAILED, "baseline", "A. Lee", " No load tonight. ").reason == "No load tonight."
    assert decisions.note(FAILED, " waiting for Bob ").step == "baseline"


def test_the_outcome_says_how_the_change_ended():
    done = after(until("sign-off"), Attested("sign-off", "A. Lee"))
    assert decisions.close(done, "A. Lee").outcome == "signed off"
    assert decisions.note(done, "one thing more").step == "sign-off"
    back = after(FAILED, RolledBack(BACK, "A. Lee", "a good reason"), passed("set-mtu"))
    back = advance(back, lines(*(line.event for line in back.lines), Attested("sign-off", "A. Lee"))[-1])
    assert decisions.close(back, "A. Lee").outcome == "rolled back"
