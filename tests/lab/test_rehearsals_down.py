"""The safe change back to MTU 1500, planned like that to jumbo frames, rehearsed from one end to the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.lab_support import needs_namespaces
from tests.lab.rehearsal import Rehearsal

pytestmark = [pytest.mark.lab, needs_namespaces, pytest.mark.beyond_sample]


@pytest.fixture
def rehearsal(tmp_path: Path) -> Iterator[Rehearsal]:
    made = Rehearsal(tmp_path, mtu=9000, switch_mtu=9216, keeper="networkd", record_s=5)
    yield made
    made.end()


def test_a_change_to_1500_leaves_the_switch_as_it_is(rehearsal):
    rehearsal.begin(1500)
    steps = [step["id"] for step in rehearsal.change("status", "--format", "json").document["steps"]]
    assert "switch" not in steps
    rehearsal.walk()
    report = rehearsal.report()
    assert report.outcome == "signed off"
    assert {(layer.before, layer.after) for layer in report.layers} == {(9000, 1500)}
    assert {(blocks.before, blocks.after) for blocks in report.blocks} == {(1, 6)}
    assert [step.standing for step in report.steps if step.id != "compare"] == ["done"] * (len(steps) - 1)
    assert report.comparison
    assert [rehearsal.mtu(node, nic) for node in rehearsal.nodes for nic in ("eth1", "eth2")] == [1500] * 4
