"""The safe change to jumbo frames, rehearsed from one end to the other on a cluster with a database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.lab_support import SIX_PACKETS_THEN_ONE, needs_namespaces
from tests.lab.rehearsal import Rehearsal

pytestmark = [pytest.mark.lab, needs_namespaces]


@pytest.fixture
def rehearsal(tmp_path: Path) -> Iterator[Rehearsal]:
    made = Rehearsal(tmp_path, database=True)
    yield made
    made.end()


STEPS = (
    *("agree", "baseline", "backups", "console-access", "switch", "stack-down", "set-mtu", "survives-boot"),
    *("prove-paths", "first-node", "other-nodes", "databases", "interconnect", "compare", "sign-off"),
)


@pytest.mark.beyond_sample
@pytest.mark.parametrize("killed_at", [("set-mtu",), STEPS], ids=["one step", "every step"])
def test_to_jumbo_frames_killed_at_steps_and_resumed_on_any_node(rehearsal, killed_at):
    rehearsal.begin(9000)
    done = []
    while current := rehearsal.current:
        done.append(current)
        step = rehearsal.step()
        rehearsal.operate(step)
        if current in killed_at and "its gate" in step["waits_for"]:
            verify_killed_twice(rehearsal, step, rehearsal.nodes[len(done) % 2])
            rehearsal.attest(step)
        else:
            rehearsal.prove(step)
    assert done == list(STEPS)
    report = rehearsal.report()
    assert report.outcome == "signed off"
    assert {override.said.step for override in report.overrides} <= {"compare"}
    assert {(layer.before, layer.after) for layer in report.layers} == {(1500, 9000)}
    assert {(blocks.before, blocks.after) for blocks in report.blocks} == {(6, 1)}
    assert any(map(SIX_PACKETS_THEN_ONE.fullmatch, report.comparison)), report.comparison
    measured = {figure.name: (figure.before, figure.after) for figure in report.figures}
    packets = [float(value) for value in measured["packets per block received"]]
    assert packets == pytest.approx([6, 1], rel=0.1)  # pings of the instances may be among them
    assert all(value.startswith("0 of ") for value in measured["gc blocks lost prac1"])


def verify_killed_twice(rehearsal: Rehearsal, step: dict[str, Any], node: str) -> None:
    """A verification killed while it runs leaves no trace; one killed after its result has saved the result."""
    lines = journal_lines(rehearsal)
    assert rehearsal.change("verify", node=node, kill="verifying").code == -9
    assert journal_lines(rehearsal) == lines
    assert rehearsal.current == step["id"]
    assert rehearsal.change("verify", "--format", "json", node=node, kill="reported").code == -9
    assert journal_lines(rehearsal) > lines
    if rehearsal.current == step["id"] and "its gate" in rehearsal.step()["waits_for"]:
        assert step["id"] in ("baseline", "compare"), rehearsal.change("status").out
        rehearsal.prove(step)


def journal_lines(rehearsal: Rehearsal) -> int:
    return sum(path.read_bytes().count(b"\n") for path in rehearsal.changes.glob("*.change"))
