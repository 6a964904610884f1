"""The gate that compares the two recordings: its text when they are inconclusive, and the next steps."""

import msgspec

from checks.change.session.recording_facts import reason_once
from checks.model.facts import Changing, RecordingsCompared
from checks.traffic.compare.comparison import Shift
from tests.unit.change_gate_support import found
from tests.unit.change_support import cluster
from tests.unit.test_change_plan_back import PLAN, standing_at


def test_an_inconclusive_comparison_prints_the_command_that_may_settle_it():
    open_ = RecordingsCompared(summary=(), open=("The load was not the same.",))
    now = msgspec.structs.replace(cluster(), changing=Changing(compared=open_))
    (finding,) = found("comparison", now, standing_at("compare"))
    lines = [line for remedy in finding.next for line in (*remedy.commands, *(own.line() for own in remedy.own))]
    record = next(line for line in lines if line.startswith("racwire record"))
    assert "--force" in record
    assert record.replace(" --force", "") in PLAN.step("compare").commands[0].lines
    assert any(line.startswith("racwire change override") for line in lines)


def test_changes_with_the_same_reason_share_one_sentence():
    moved = [
        Shift("CPU went from 3 % to 9 %", False),
        Shift("ping 56 B went from 1 to 2 ms", False),
        Shift("tps", True),
    ]
    assert list(reason_once(moved)) == [
        "CPU went from 3 % to 9 % and ping 56 B went from 1 to 2 ms: the change cannot be the cause.",
        "tps: the load was not the same.",
    ]
