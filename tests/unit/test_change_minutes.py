"""The expected minutes and the point of no return of each step, and the planned outage."""

import json

import pytest

from checks.change.plan.change_plan import Minutes
from checks.change.progress.change_text import minutes_text
from checks.change.steps.expected_minutes import planned_outage
from checks.model.own_command import written
from tests.fixtures.change_plans import plan_for, to_change
from tests.unit.test_change_plan_back import standing_at, way_back
from tui.cli.change.change_json import steps_document
from tui.text.line import plain
from tui.text.step_lines import step_lines

OUTAGE = ("stack-down", "set-mtu", "survives-boot", "prove-paths", "first-node", "other-nodes", "databases")


@pytest.mark.parametrize("nodes", [2, 4])
def test_every_step_has_minutes_but_the_agreement_and_a_point_of_no_return(nodes):
    for step in plan_for(to_change(nodes)).steps:
        assert step.no_return
        assert (step.minutes is None) is (step.id == "agree"), step.id
        if step.minutes:
            assert 0 < step.minutes.least < step.minutes.most
            assert step.minutes.depends_on


def test_the_planned_outage_is_the_sum_from_the_stop_to_the_start_of_the_databases():
    plan = plan_for(to_change(3))
    steps = [plan.step(name).minutes for name in OUTAGE]
    least, most = sum(one.least for one in steps if one), sum(one.most for one in steps if one)
    assert planned_outage(plan.steps) == Minutes(least, most, "stack down to databases")
    said = f"start of the databases: {least} to {most} min. It is the sum of the estimated minutes"
    assert any(said in remark for remark in map(written, plan.remarks))
    more = planned_outage(plan_for(to_change(4)).steps)
    assert more is not None
    assert more.most > most


def test_a_rollback_has_minutes_too_and_plans_an_outage_only_where_it_stops_something():
    back = way_back(standing_at("databases"))
    assert all(step.minutes and not step.no_return for step in back.steps)
    assert back.remarks[0].startswith("Planned outage")
    assert planned_outage(way_back(standing_at("backups")).steps) is None


def test_the_minutes_are_printed_as_an_estimate_with_what_they_depend_on():
    change = standing_at("set-mtu")
    step = change.plan.step("set-mtu")
    text = plain(step_lines(change, step, 400))
    assert minutes_text(step.minutes) in text
    assert "an estimate; it depends on the number of nodes" in text
    assert "No return  The first `ip link` line" in text
    (written,) = json.loads(json.dumps(steps_document(change, [step], "/x"), default=vars_of))["steps"]
    assert written["minutes"]["most"] == step.minutes.most
    assert written["point_of_no_return"] == step.no_return


def vars_of(value):
    return {name: getattr(value, name) for name in value.__struct_fields__}
