"""A step of a change and its questions as lines."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import msgspec
import pytest

from checks.change.plan.change_plan import Gate, Step
from checks.change.plan.command_block import Commands, Who
from checks.change.plan.obstacles import Obstacle
from checks.change.progress.change_events import (
    AnyEvent,
    ChangeOutcome,
    Closed,
    GateResult,
    Noted,
    Overridden,
    Reopened,
    Verified,
)
from checks.change.progress.state import Change
from checks.model.finding import NextStep, Status
from tests.unit.change_journals import plan, verification
from tests.unit.change_lines_support import AGREED, LIVE, SWITCHED, change, text, words
from tui.console.change_state import ChangeState, JournalsRead, Refused, WantedPlan, Work
from tui.screens.ask import AskPage
from tui.screens.change.alarms import alarm_lines
from tui.screens.change.gate_page import detail_lines
from tui.screens.change.head import head_line
from tui.screens.change.overview import overview_page, refused_page
from tui.screens.change.questions import ask_note, ask_override, ask_plan
from tui.screens.change.step_page import block_text, next_action, step_page, whole_step_text
from tui.text.line import command_lines, plain

# --- the step ---------------------------------------------------------------------------------------------------------


def page(now: Change, chosen: int = 0, width: int = 80) -> str:
    step = now.current or now.plan.steps[-1]
    return text(step_page(now, step, chosen, Work(), width).lines)


def test_a_step_is_shown_in_full_with_the_marked_block_and_the_rollback():
    shown = page(change(AGREED, SWITCHED), chosen=1)
    assert shown.startswith(" ▶ 3 set MTU\n   Set eth1 on both nodes.\n   Why       MTU is not in the OCR.")
    marked = [line for line in shown.splitlines() if line.endswith("c copies")]
    assert [line.split("  ")[0].strip() or line.split()[0:4] for line in marked] == [["As", "root", "on", "rac2:"]]
    assert "racwire runs none of these commands; you run them." in shown
    assert "Expected  eth1 has 9000 on both." in shown
    assert shown.endswith("Rollback  Both get 1500 back.")


def test_the_positions_of_blocks_and_gate_are_known_for_scrolling():
    now = change(AGREED, SWITCHED)
    made = step_page(now, now.plan.step("set-mtu"), 0, Work(), 80)
    lines = [plain([line]) for line in made.lines]
    assert [lines[first].strip().removesuffix("c copies").strip() for first, _ in made.blocks] == [
        "As root on rac1:", "As root on rac2:", "As oracle on any node:",
    ]  # fmt: skip
    assert made.gate is not None
    assert lines[made.gate[0]].strip().startswith("Gate")


def test_attestations_overrides_notes_and_reopening_are_shown_at_their_step_with_names():
    now = change(AGREED, Noted("agree", "Window 22:00 to 24:00."))
    shown = text(step_page(now, now.plan.step("agree"), 0, Work(), 80).lines)
    assert "✓ Ann Lee, 2026-11-20 18:02: CHG-4711" in shown
    assert "Notes     2026-11-20 18:03 oracle@rac1: Window 22:00 to 24:00." in shown
    past = Overridden("set-mtu", "Ann", "rac2 is being replaced.")
    now = change(AGREED, SWITCHED, verification(Status.PASS, Status.FAIL), past)
    shown = words(step_page(now, now.plan.step("set-mtu"), 0, Work(), 80).lines)
    assert "! 3 set MTU overridden without proof" in shown
    assert "! Ann overrode the gate at 2026-11-20 18:05: rac2 is being replaced." in shown
    now = change(AGREED, SWITCHED, verification(Status.PASS), Reopened("set-mtu", "rac2 came back at 1500."))
    assert "Again     this step must be done again: rac2 came back at 1500." in page(now)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((), "do this, then press a to attest"),
        ((AGREED, SWITCHED), "do this, then v checks the gate"),
        ((AGREED, SWITCHED, verification(Status.PASS, Status.FAIL)), "waiting for rac2; v checks again"),
        ((AGREED, SWITCHED, verification(Status.PASS)), "Enter signs the change off"),
        ((Closed(ChangeOutcome.ABANDONED, "Ann"),), "This change is over: abandoned. Esc goes to the overview."),
    ],
)
def test_the_next_action_is_always_shown(events: tuple[AnyEvent, ...], expected: str):
    assert next_action(change(*events)) == expected


@pytest.mark.parametrize("width", [30, 60, 80, 120])
def test_text_from_outside_is_escaped_and_fits_the_width(width: int):
    evil = "a\x1b[31mb\nc " + "x" * 200
    hostile = Step(
        id="evil", title=evil[:30], what=evil, why=evil, expected=evil, attest=evil, if_rolled_back=evil,
        commands=(Commands(Who.OPERATOR, (evil,), note=evil, place=evil),), gates=(Gate("kept-mtu"),),
    )  # fmt: skip
    of = msgspec.structs.replace(plan(), steps=(hostile, plan().steps[3]), id=evil, made_by=evil)
    result = GateResult(
        check=evil, status=Status.FAIL, text=evil, node=evil, sentence=evil, next=(NextStep(evil, (evil,)),)
    )
    now = change(Noted("evil", evil), Verified("evil", False, (result,)), LIVE, of=of)
    lines = [
        *step_page(now, hostile, 0, Work(), width).lines,
        *detail_lines(now, hostile, width),
        head_line(now, width),
        *alarm_lines(now, width),
    ]
    assert "\x1b" not in text(lines)
    assert "\n" not in "".join(part for line in lines for part, _ in line)


def test_no_label_touches_its_text():
    last = msgspec.structs.replace(plan().steps[2], no_return="The first line.")
    of = msgspec.structs.replace(plan(), steps=(last,))
    assert "   No return The first line." in plain(step_page(change(of=of), last, 0, Work(), 80).lines)


# --- copying ----------------------------------------------------------------------------------------------------------


def test_a_block_is_copied_unchanged_and_says_where_it_runs():
    block = plan().steps[2].commands[0]
    assert block_text("2026-11-20-a", block).splitlines() == ["# 2026-11-20-a: As root on rac1:", *block.lines]


def test_all_blocks_together_are_comments_because_they_belong_to_different_shells():
    copied = whole_step_text("2026-11-20-a", plan().steps[2])
    assert all(line.startswith("#") for line in copied.splitlines())
    assert "#   ip link set dev eth1 mtu 9000" in copied


@pytest.mark.parametrize(
    "command",
    [
        "nmcli connection modify 'System eth1 of the private network' 802-3-ethernet.mtu 9000 && echo \"it is   done\"",
        "sed -i -e '/^MTU=/d' -e '$ a MTU=9000' /etc/sysconfig/network-scripts/ifcfg-eth1 /etc/another/file",
        "printf '%s\\n' a\\ b \"c d\" 'e  f' " + "x" * 90 + " end",
    ],
)
@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_long_command_copied_from_the_screen_is_the_same_command(command: str, width: int):
    drawn = text(command_lines(command, 5, width))
    assert max(map(len, drawn.splitlines())) <= max(width, 40)
    assert shlex.split(drawn.replace("\\\n", "")) == shlex.split(command)


def test_a_long_comment_is_a_comment_on_each_line():
    drawn = text(command_lines("# " + "a comment that goes on " * 8, 5, 60))
    assert len(drawn.splitlines()) > 2
    assert all(line.strip().startswith("#") for line in drawn.splitlines())


# --- where there is no change -----------------------------------------------------------------------------------------


def desk(**read: object) -> ChangeState:
    made = ChangeState()
    made.apply(JournalsRead(None, **read))  # type: ignore[arg-type]
    return made


def test_without_a_change_the_page_explains_changes_and_that_nothing_runs():
    shown = text(overview_page(desk(), None, 0, 80).lines)
    assert "racwire runs none of the commands and changes nothing" in " ".join(shown.split())
    assert len(shown.splitlines()) <= 12


def test_the_reason_why_no_change_is_shown_comes_first():
    shown = text(overview_page(desk(problem="Line 3 of a.change is damaged."), None, 0, 80).lines)
    assert shown.splitlines()[0] == " Line 3 of a.change is damaged."


UNREAD = Obstacle(
    code="CH-START-001", title="rac3 not read", sentence="rac3 could not be read.", next=(NextStep("Mend ssh."),)
)
LOST = Obstacle(code="IC-LOST-002", title="blocks lost", sentence="37 blocks were lost.", acceptable=True)


def test_obstacles_are_listed_one_by_one_with_their_remedies():
    shown = text(refused_page(Refused(WantedPlan(9000), (UNREAD, LOST)), 1, 80).lines)
    assert "2 of 2 obstacles left" in shown
    assert "✗ CH-START-001  rac3 not read\n   rac3 could not be read.\n   - Mend ssh." in shown
    assert shown.count("o accepts this obstacle, with a reason.") == 1


def test_an_accepted_obstacle_has_its_reason_and_is_no_longer_counted():
    refused = Refused(WantedPlan(9000), (UNREAD, LOST))
    refused = refused.accepting(LOST, "An old loss, known.").accepting(LOST, "It is known.")
    assert [a.reason for a in refused.accepted] == ["It is known."]
    shown = text(refused_page(refused, 0, 80).lines)
    assert "1 of 2 obstacles left" in shown
    assert "! IC-LOST-002  blocks lost" in shown
    assert "Accepted: It is known." in shown


# --- questions --------------------------------------------------------------------------------------------------------


def wrong(question: AskPage, name: str) -> Callable[[str], str]:
    return next(field.wrong for field in question.fields if field.name == name)


def test_an_override_needs_a_name_a_reason_and_a_confirmation():
    now = change(AGREED, SWITCHED, verification(Status.PASS, Status.FAIL))
    question = ask_override(now, now.plan.step("set-mtu"))
    assert wrong(question, "Name")("") != ""
    assert wrong(question, "Reason")("because") != ""
    assert wrong(question, "Reason")("rac2 is being replaced") == ""
    assert wrong(question, "Sure?")("y") != ""
    assert wrong(question, "Sure?")("yes") == ""
    assert "eth1 of rac2 would come up at 1500" in words(question.page(80))


@pytest.mark.parametrize(
    ("typed", "will_do"), [("9000", True), ("1500", True), ("", False), ("9k", False), ("٩", False)]
)
def test_an_mtu_is_a_number(typed: str, will_do: bool):
    assert (wrong(ask_plan("eth1 1500", WantedPlan(9000)), "New MTU")(typed) == "") is will_do


def test_a_note_needs_text():
    assert wrong(ask_note(change()), "Note")("") != ""
