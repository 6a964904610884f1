"""What a plan asks about systems that racwire does not read."""

import pytest

from checks.change.plan.change_plan import Plan
from tests.fixtures.change_plans import plan_for, to_change


@pytest.fixture(scope="module")
def made() -> Plan:
    return plan_for(to_change())


@pytest.mark.parametrize(
    ("question", "command"),
    [
        ("the blackout of the monitoring", "emctl status blackout"),
        ("fast-start failover with its observer", "dgmgrl / 'show fast_start failover'"),
        ("Data Guard", "dgmgrl / 'show configuration'"),
        ("GoldenGate", "crsctl stat res -t -w 'NAME co xag'"),
        ("the last good backup of each database", "v$rman_backup_job_details"),
        ("cluster_interconnects of ASM", "gv$parameter WHERE name = 'cluster_interconnects'"),
    ],
)
def test_each_system_that_racwire_does_not_read_is_a_question_with_a_command(made, question, command):
    agree = made.step("agree")
    assert question in agree.attest
    assert any(command in line for block in agree.commands for line in block.lines)


def test_what_was_stopped_for_the_outage_is_attested_to_run_again(made):
    attest = made.step("sign-off").attest
    for name in ("blackout", "Data Guard", "observer", "GoldenGate"):
        assert name in attest


def test_the_interconnect_of_asm_is_looked_at_before_and_after(made):
    lines = {s.id: [line for block in s.commands for line in block.lines] for s in made.steps}
    asked = [line for line in lines["agree"] if "cluster_interconnects" in line]
    assert len(asked) == 2
    assert set(asked) <= set(lines["interconnect"])


def test_the_commands_look_and_none_is_piped_to_a_node(made):
    assert {(block.node, block.optional) for block in made.step("agree").commands} == {("", True)}
