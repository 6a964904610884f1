"""The result of a gate belongs to a step and has an age: a reopened step has no gate that passed, in any view."""

import json

import pytest

from checks.change.board.change_report import report_of
from checks.change.plan.change_plan import Gate, Step
from checks.change.progress import decisions
from checks.change.progress.change_events import Attested, GateResult, Overridden, Reopened, Verified
from checks.change.progress.own_commands import OwnCommands
from checks.change.progress.state import ChangeError
from checks.model.finding import Status
from tests.unit.change_support import STEPS, after, cluster, down, passed, plan, until, verification_events
from tests.unit.change_wanted_support import UP, looked
from tui.cli.change.change_json import as_json, status_document
from tui.cli.change.change_text import status_lines
from tui.cli.change.hints import Hints
from tui.console.change_state import Work
from tui.screens.change.gate_page import detail_lines, gate_lines
from tui.screens.change.step_page import next_action
from tui.text.line import plain

LOST = looked(until("sign-off", UP), cluster(9000, boot_mtu=9000, rac2=1500))
"""The MTU of rac2 was lost before the signature: the steps set-mtu and prove-paths are open again."""
SET_AGAIN = looked(LOST, UP)


def text_of(lines) -> str:
    return " ".join(plain(lines).split())


@pytest.mark.parametrize(("of", "step"), [(LOST, "set-mtu"), (SET_AGAIN, "prove-paths")])
def test_a_reopened_step_has_no_result_of_a_gate(of, step):
    assert of.current is not None
    assert of.current.id == step
    assert of.mark(of.current).results == ()
    assert "Gate" not in text_of(status_lines(of, 80, OwnCommands(), path="c"))
    document = json.loads(as_json(status_document(of, "c")))
    assert (document["gate"], document["gate_verified_at"]) == ([], "")
    own = next(each for each in document["steps"] if each["id"] == step)
    assert (own["passed"], own["verified_at"]) == (False, "")
    assert "not checked since a step was reopened; v checks it." in text_of(gate_lines(of, of.current, Work(), 80))
    assert "not been checked since a step was reopened" in text_of(detail_lines(of, of.current, 80))
    reported = next(each for each in report_of(of).steps if each.id == step)
    assert (reported.passed, reported.results, reported.verified_at) == (False, (), "")
    assert reported.looks > 0


def test_after_a_pass_the_hint_names_the_next_step_although_it_was_verified_before():
    assert Hints().next_action(SET_AGAIN) == "next: step 6, prove paths: `racwire change next`."
    assert Hints().next_action(LOST) == "next: step 4, set MTU: `racwire change next`."
    assert next_action(SET_AGAIN) == "ready: v checks the gate"


def test_an_attestation_is_asked_for_after_the_gate_of_a_reopened_step_passed_again():
    both = Step(id="both", title="both", what="", why="", attest="It is so.", gates=(Gate("stack-down"),))
    of = until("sign-off", opened=plan(steps=(STEPS[0], both, STEPS[-1])))
    of = after(of, Attested("both", "A. Lee"), Reopened("both", "rac2 was started."))
    assert Hints().next_action(of) == "next: step 2, both: `racwire change next`."
    assert after(of, passed("both")).current is not None


def test_a_gate_that_nobody_verified_since_the_step_was_reopened_cannot_be_overridden():
    for of, step in ((LOST, "set-mtu"), (SET_AGAIN, "prove-paths")):
        with pytest.raises(ChangeError, match="was not verified since a step was reopened"):
            decisions.override(of, step, "A. Lee", "a good reason")


def test_what_failed_for_an_earlier_step_is_out_of_date_when_that_step_was_done_again():
    of = looked(until("survives-boot", down(9000)), down(9000, rac3=1500))
    assert of.current is not None
    assert of.current.id == "set-mtu"
    assert of.mark(of.plan.step("survives-boot")).verified is None
    again = looked(of, down(9000))
    assert again.current is not None
    assert again.current.id == "survives-boot"
    with pytest.raises(ChangeError, match="was not verified since"):
        decisions.override(again, "survives-boot", "A. Lee", "a good reason")
    fresh = after(again, *verification_events(again, down(9000)))
    assert {r.check for r in fresh.mark(fresh.plan.step("survives-boot")).results} == {"rebooted"}


def test_a_passed_or_overridden_later_step_keeps_its_result():
    failed = Verified("survives-boot", False, (GateResult(check="rebooted", status=Status.FAIL, text="", node="rac2"),))
    of = after(until("survives-boot"), failed, Overridden("survives-boot", "A. Lee", "No boot tonight."))
    of = after(of, Reopened("set-mtu", "rac2 is at 1500."))
    assert of.mark(of.plan.step("survives-boot")).results == failed.results
    assert of.mark(of.plan.step("stack-down")).passed


def test_a_change_that_stopped_something_cannot_be_abandoned_after_its_step_was_reopened():
    failed = Verified("stack-down", False, (GateResult(check="stack-down", status=Status.FAIL, text="", node="rac2"),))
    of = after(until("stack-down"), failed, Reopened("baseline", "It was recorded by hand."))
    with pytest.raises(ChangeError, match="racwire change rollback"):
        decisions.abandon(of, "A. Lee", "The window is over.")


# --- overrides --------------------------------------------------------------------------------------------------------


def overridden(of, step: str):
    """Return the change after an override of the step, and what the report has about it."""
    over = decisions.override(of, step, "A. Lee", "rac3 is being replaced.")
    (reported,) = report_of(after(of, over)).overrides
    return over, reported


def test_the_record_of_an_override_names_what_stood_in_the_way_at_that_moment():
    both = looked(until("set-mtu", down()), down(9000, rac2=1500, rac3=1500))
    one = looked(both, down(9000, rac3=1500))
    over, reported = overridden(one, "set-mtu")
    assert [(r.check, r.node) for r in over.not_held] == [("running-mtu", "rac3")]
    assert reported.not_held == over.not_held
    assert reported.verified_at == over.verified_at == one.lines[-1].at
    assert (
        "A. Lee overrides the gate of set-mtu (running-mtu rac3 1500)" in report_of(after(one, over)).log[-1].sentence
    )


def test_what_was_fixed_before_is_not_in_the_record():
    """rac3 lost its MTU while a boot was awaited; it was set again, and only the missing boot is overridden."""
    lost = looked(until("survives-boot", down(9000)), down(9000, rac3=1500))
    again = looked(looked(lost, down(9000)), down(9000))
    over, reported = overridden(again, "survives-boot")
    assert {r.check for r in over.not_held} == {"rebooted"}
    assert {r.check for r in reported.not_held} == {"rebooted"}
