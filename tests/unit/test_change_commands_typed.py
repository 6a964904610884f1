"""How many commands a person types for the whole change of three nodes, counted from the plan that is printed.

Counted are all lines of blocks that are not optional, without comment lines, and racwire's own commands: `new`, and for
each step `verify` for its gate and `attest` for its statement. With --next these print the next step, so nobody types
`racwire change next`. Piped, the root commands of a node are one command in a step (`racwire change next --node rac2
--commands | ssh root@rac2 sh -e`). racwire 0.1.0 had 61 lines and 31 commands of its own for the way to jumbo frames.
"""

from __future__ import annotations

import pytest

from checks.change.plan.change_plan import Plan, Step
from tests.fixtures.change_plans import plan_for, to_change
from tests.fixtures.clusters import node
from tests.unit.change_journals import journal
from tui.cli.main import main

PLANS = {
    "to 9000": lambda: plan_for(to_change(3)),
    "to 1500": lambda: plan_for(to_change([node(n, 9000) for n in (1, 2, 3)], mtus={"eth1": 9000, "eth2": 9000}), 1500),
}


def lines(step: Step) -> int:
    """The lines to type or paste on the nodes and the switches."""
    return len([line for block in step.commands if not block.optional for line in block.lines if line[0] != "#"])


def piped(step: Step) -> int:
    """The same, with one pipe for the root commands of each node."""
    blocks = [block for block in step.commands if not block.optional]
    others = [line for block in blocks if not block.is_piped for line in block.lines if line[0] != "#"]
    return len({block.node for block in blocks if block.is_piped}) + len(others)


def own(step: Step) -> int:
    """racwire's own commands."""
    attested = len(step.attest_for) or 1 if step.attest else 0
    return bool(step.gates) + attested + sum(len(block.own) for block in step.commands)


def totals(plan: Plan) -> tuple[int, int, int]:
    return (
        sum(lines(step) for step in plan.steps),
        sum(piped(step) for step in plan.steps),
        1 + sum(own(step) for step in plan.steps),
    )


@pytest.mark.parametrize(("way", "most"), [("to 9000", (57, 26, 20)), ("to 1500", (52, 21, 19))])
def test_the_number_of_commands_does_not_grow_unnoticed(way, most):
    plan = PLANS[way]()
    table = [f"{step.id:15} {lines(step):3} {piped(step):3} {own(step):3}" for step in plan.steps]
    assert totals(plan) == most, "\n".join(("lines, piped, racwire's own:", *table))


@pytest.fixture
def racwire(tmp_path, capsys):
    """Run the command on a directory with a change. Return its exit code, stdout and stderr."""
    journal(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["change", "--directory", str(tmp_path), *words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_with_next_a_command_prints_the_step_that_follows(racwire):
    code, out, err = racwire("attest", "--by", "Ann Lee", "--next")
    assert code == 0
    assert out.startswith("Step 2 of 4: switch\n")
    assert "attested by Ann Lee" in err
    assert err.splitlines()[-1].startswith("racwire: next: run the commands, then `racwire change attest")
    assert racwire("attest", "--by", "Ann Lee")[1] == ""


def test_the_step_names_the_pipe_for_nodes_with_several_root_commands(racwire):
    assert "ssh root@NODE" not in racwire("attest", "--by", "Ann Lee", "--next")[2]
    err = racwire("attest", "--by", "Ann Lee", "--next")[2]
    assert "--node NODE --commands" in err
    assert "| ssh root@NODE sh -e`." in err


def test_next_is_text_only(racwire):
    code, _, err = racwire("verify", "--next", "--format", "json")
    assert code == 64
    assert "leave --format json out" in err
