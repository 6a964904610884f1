"""The Change screen as lines: the heading, the steps before and after, the current step, its gate, and surprises."""

from __future__ import annotations

import msgspec
import pytest
from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color

from checks.change.gates.gate import THEN_VERIFY
from checks.change.plan.change_plan import ChangeKind, Gate, Plan, Step
from checks.change.progress.change_events import (
    Attested,
    Closed,
    GateResult,
    ObservedState,
    Overridden,
    RolledBack,
    Surprise,
    Surprised,
    Verified,
)
from checks.change.progress.change_text import GATE_SIGNS, STEP_SIGNS
from checks.change.progress.standing_alarms import standing_alarms
from checks.change.progress.state import Change
from checks.model.finding import NextStep, Status
from checks.model.own_command import VERIFY, OwnCommand
from tests.unit.change_journals import plan, verification
from tests.unit.change_lines_support import AGREED, LIVE, SWITCHED, change, text
from tui.console.change_state import Work
from tui.console.theme import filters_for
from tui.screens.change.alarms import alarm_lines
from tui.screens.change.gate_page import detail_lines, gate_lines
from tui.screens.change.head import ahead_line, behind_line, head_line
from tui.text.gate_lines import gate_lines as stream_gate_lines
from tui.text.own_keys import KEYS

BLACK = Color(0, 0, 0)
WENT_DOWN = Surprised(Surprise.STACK_STARTED, "rac2", "Clusterware was started on rac2.")
REBOOTED = Surprised(Surprise.REBOOTED, "rac2", "rac2 was booted at 18:02.")


def long_plan(steps: int = 14, nodes: int = 2) -> Plan:
    names = ("agree", "baseline", "backups", "console", "switch", "stack down", "set MTU", "survives boot")
    names += ("prove paths", "first node", "other nodes", "interconnect", "compare", "sign off")
    made = tuple(Step(id=f"s{n}", title=names[n], what="", why="", attest="It is so.") for n in range(steps))
    return msgspec.structs.replace(plan(), steps=made, nodes=tuple(f"rac{n}" for n in range(1, nodes + 1)))


# --- around the step --------------------------------------------------------------------------------------------------


def test_the_header_shows_the_change_its_mtus_and_the_progress():
    header = text([head_line(change(AGREED), 80)])
    assert header == " Change 2026-11-20-a  MTU 1500 → 9000  2 nodes  owner oracle@rac1  step 2 of 4"


def test_the_header_of_a_rollback_and_of_a_closed_change():
    back = msgspec.structs.replace(plan(), kind=ChangeKind.ROLLBACK, goal="back to MTU 1500")
    assert "back to MTU 1500" in text([head_line(change(RolledBack(back, "Ann", "The window ends.")), 80)])
    assert text([head_line(change(Closed("abandoned", "Ann")), 80)]).endswith("abandoned")


@pytest.mark.parametrize("width", [44, 60, 80, 200])
@pytest.mark.parametrize("done", [0, 6, 13])
def test_the_steps_around_the_current_one_fit_any_width_and_name_the_neighbours(width: int, done: int):
    now = change(*(Attested(f"s{n}", "Ann") for n in range(done)), of=long_plan())
    lines = [head_line(now, width), behind_line(now, now.current, width), ahead_line(now, now.current, width)]
    assert all(sum(cell_len(part) for part, _ in line) <= width for line in lines)
    if width >= 80 and done:
        assert f"✓ {done} {now.plan.steps[done - 1].title}" in text([lines[1]])
        assert all(f"✓{n}" in text([lines[1]]).replace("✓ ", "✓") for n in range(1, done + 1))
    if width >= 60 and done < 13:
        assert "14 sign off" in text([lines[2]])


def test_an_overridden_step_is_marked_among_the_completed_steps():
    past = (
        AGREED,
        SWITCHED,
        verification(Status.PASS, Status.FAIL),
        Overridden("set-mtu", "Ann", "rac2 is being replaced."),
    )
    now = change(*past)
    assert "! 3 set MTU" in text([behind_line(now, now.current, 80)])
    assert "✓ 2 switch" in text([behind_line(now, now.current, 80)])


def test_every_sign_has_a_distinct_ascii_form():
    signs = [*STEP_SIGNS.values(), *GATE_SIGNS.values(), "▸", "…"]
    drawn = "".join(segment.text for sign in signs for segment in filters_for("ascii")[0].apply([Segment(sign)], BLACK))
    assert drawn.isascii()
    assert drawn.replace("?", "", 1) == "v!>.viixx>~"  # one sign is a question mark by itself


def _mtus(rac2: int) -> dict[str, dict[str, int]]:
    return {"rac1": {"eth1": 1500}, "rac2": {"eth1": rac2}}


# --- surprises --------------------------------------------------------------------------------------------------------


def test_a_danger_comes_first_and_is_named():
    alarms = text(alarm_lines(change(REBOOTED, LIVE), 80)).splitlines()
    assert alarms[0].startswith(" DANGER  eth1 of rac2 was set to 9000 while Clusterware runs.")
    assert alarms[1] == " ! rac2 was booted at 18:02."


def test_a_danger_has_the_next_steps_of_the_gate_that_sees_it_on_the_same_node():
    back = (NextStep("Set it back.", ("ip link show eth1",)), THEN_VERIFY)
    seen = [
        GateResult(check="mtu-untouched", status=Status.FAIL, text="9000", node=node, next=back, is_danger=True)
        for node in ("rac1", "rac2")
    ]
    look = ObservedState(mtus=_mtus(9000), running={"rac1": True})
    alarms = text(alarm_lines(change(AGREED, LIVE, Verified("set-mtu", False, tuple(seen), look)), 80))
    assert alarms.count("- Set it back:\n             ip link show eth1") == 1
    assert "verify again" not in alarms


@pytest.mark.parametrize(
    ("surprise", "look", "is_over"),
    [
        (LIVE, ObservedState(mtus=_mtus(9000), running={"rac1": True}), False),
        (LIVE, ObservedState(mtus=_mtus(1500), running={"rac1": True}), True),
        (LIVE, ObservedState(mtus=_mtus(9000), running={"rac1": False, "rac2": False}), True),
        (LIVE, ObservedState(mtus=_mtus(9000), running={"rac1": False}), False),
        (WENT_DOWN, ObservedState(running={"rac2": True}), False),
        (WENT_DOWN, ObservedState(running={}), False),
        (WENT_DOWN, ObservedState(running={"rac2": False}), True),
        (Surprised(Surprise.MTU_LOST, "rac2", "lost"), ObservedState(mtus={"rac2": {"eth1": 1500}}), False),
        (Surprised(Surprise.MTU_LOST, "rac2", "lost"), ObservedState(mtus={"rac2": {"eth1": 9000}}), True),
        (REBOOTED, ObservedState(mtus={"rac2": {"eth1": 9000}}), False),
    ],
)
def test_an_alarm_is_shown_until_a_verification_shows_that_it_is_over(
    surprise: Surprised, look: ObservedState, is_over: bool
):
    fails = GateResult(check="kept-mtu", status=Status.FAIL, text="1500", node="rac1")
    now = change(AGREED, SWITCHED, surprise, Verified("set-mtu", False, (fails,), look))
    assert (standing_alarms(now) == ()) is is_over


def test_an_alarm_is_removed_after_a_verification_without_another_surprise():
    passed = verification(Status.PASS, Status.PASS)
    assert standing_alarms(change(REBOOTED, passed)) == (REBOOTED,)
    assert standing_alarms(change(REBOOTED, passed, passed)) == ()


def test_a_rollback_shows_only_dangerous_surprises():
    now = change(REBOOTED, LIVE, RolledBack(plan(), "Ann", "The window ends."))
    assert standing_alarms(now) == (LIVE,)


@pytest.mark.parametrize(("mtu", "is_over"), [(9000, False), (1500, True)])
def test_a_rollback_ends_the_alarm_of_a_live_change_once_the_node_has_its_first_mtu(mtu: int, is_over: bool):
    layers = tuple(msgspec.structs.replace(own, mtu_before=9000, mtu_after=1500) for own in plan().layers)
    back = msgspec.structs.replace(plan(), kind=ChangeKind.ROLLBACK, layers=layers)
    up = {"rac1": True, "rac2": True}
    fails = GateResult(check="kept-mtu", status=Status.FAIL, text="1500", node="rac1")
    look = Verified("set-mtu", False, (fails,), ObservedState(mtus=_mtus(mtu), running=up))
    now = change(LIVE, RolledBack(back, "Ann", "The window ends."), look)
    assert (standing_alarms(now) == ()) is is_over


def test_of_many_surprises_the_first_are_shown_and_the_rest_counted():
    many = [Surprised(Surprise.OTHER, f"rac{n}", f"Something is other on rac{n}.") for n in range(9)]
    assert "and 4 more" in text(alarm_lines(change(*many), 80))


# --- the gate ---------------------------------------------------------------------------------------------------------


def gate_of(now: Change, work: Work | None = None, width: int = 80) -> str:
    step = now.current
    assert step is not None
    return text(gate_lines(now, step, work or Work(), width))


def test_an_unverified_gate_says_how_to_verify():
    gate = gate_of(change(AGREED, SWITCHED))
    assert "not checked yet; v checks it." in gate
    assert "running-mtu  ·" in gate


def test_a_gate_lists_each_check_and_node_with_sign_and_text_and_what_is_missing():
    gate = gate_of(change(AGREED, SWITCHED, verification(Status.PASS, Status.FAIL)))
    assert "checked 2026-11-20 18:04:31 by oracle@rac1: not passed" in gate
    assert "kept-mtu     rac1 ✓ 9000 kept   rac2 ✗ 1500" in gate
    assert "waiting for rac2: eth1 of rac2 would come up at 1500." in gate
    assert "- Set it in its connection, too." in gate


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((NextStep("Repair it."), THEN_VERIFY), [("Repair it.", [])]),
        ((NextStep("Repair it, then verify.", own=(VERIFY,)),), [("Repair it, then verify (v).", [])]),
        ((NextStep("Run it.", own=(OwnCommand("next", "--node rac2"),)),), [("Run it.", [])]),
        ((NextStep("Go past it.", own=(OwnCommand("override", "--by NAME"),)),), [("Go past it (o).", [])]),
        ((NextStep("Copy it.", ("scp a b",), own=(VERIFY,)),), [("Copy it:", ["scp a b"])]),
        ((NextStep("Compare.", ("racwire compare a b",)),), [("Compare:", ["racwire compare a b"])]),
        ((NextStep("Note it.", own=(OwnCommand("note", "TEXT"),)),), [("Note it:", ["racwire change note TEXT"])]),
    ],
)
def test_commands_that_have_a_key_on_this_screen_are_shown_as_keys(
    steps: tuple[NextStep, ...], expected: list[tuple[str, list[str]]]
):
    assert list(KEYS.steps(steps)) == expected


def test_an_unknown_result_is_a_question_mark_and_does_not_pass():
    gate = gate_of(change(AGREED, SWITCHED, verification(Status.PASS, Status.UNKNOWN)))
    assert "rac2 ? not read" in gate
    assert "could not tell" in gate


def test_nodes_with_the_same_result_share_a_line():
    statuses = [Status.PASS] * 16
    statuses[4] = Status.FAIL
    now = change(AGREED, SWITCHED, verification(*statuses), of=many_nodes(16))
    gate = " ".join(gate_of(now).split())
    assert "kept-mtu ✗ 1500: rac5 ✓ 9000 kept: rac1 rac2 rac3 rac4 rac6 rac7" in gate
    assert all(len(line) <= 80 for line in gate_of(now).splitlines())


def many_nodes(count: int) -> Plan:
    return msgspec.structs.replace(plan(), nodes=tuple(f"rac{n}" for n in range(1, count + 1)))


def test_of_many_missing_nodes_the_first_are_listed_and_the_details_have_all():
    now = change(AGREED, SWITCHED, verification(*[Status.FAIL] * 9), of=many_nodes(9))
    assert "and 5 more: Enter shows all." in gate_of(now)
    step = now.plan.step("set-mtu")
    assert text(detail_lines(now, step, 80)).count("would come up at 1500") == 9


def test_gates_of_earlier_steps_are_shown_separately():
    held = msgspec.structs.replace(plan().steps[2], gates=(Gate("kept-mtu", until="sign-off"),))
    after = Step(id="paths", title="paths", what="", why="", gates=(Gate("df-ping"),))
    of = msgspec.structs.replace(plan(), steps=(*plan().steps[:2], held, after, plan().steps[3]))
    results = (
        GateResult(check="df-ping", status=Status.PASS, text="8972 B pass"),
        GateResult(check="kept-mtu", status=Status.FAIL, text="1500", node="rac2"),
    )
    now = change(AGREED, SWITCHED, verification(Status.PASS), Verified("paths", False, results), of=of)
    gate = gate_of(now)
    assert gate.index("df-ping") < gate.index("Conditions that must also hold:") < gate.index("kept-mtu")


# --- a tick means that a check passed ---------------------------------------------------------------------------------


def test_a_tick_is_for_a_pass_and_not_for_what_is_only_worth_knowing():
    noted = GateResult(check="mtu-untouched", status=Status.INFO, text="eth1 9000", node="rac2")
    held = GateResult(check="mtu-untouched", status=Status.PASS, text="1500", node="rac1")
    now = change(AGREED, SWITCHED, Verified("set-mtu", False, (held, noted)))
    assert "rac1 ✓ 1500   rac2 i eth1 9000" in gate_of(now)
    shown = text(stream_gate_lines((held, noted), now.lines[-1], 80))
    assert "  ✓ mtu-untouched  rac1 1500\n  i mtu-untouched  rac2 eth1 9000" in shown
