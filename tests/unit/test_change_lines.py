"""The Change screen as lines: the heading, the steps before and after, the current step, its gate, and surprises."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable

import msgspec
import pytest
from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color

from checks.change.change_events import (
    AnyEvent,
    Attested,
    Closed,
    GateResult,
    JournalLine,
    Noted,
    ObservedState,
    Opened,
    Overridden,
    Reopened,
    RolledBack,
    Surprise,
    Surprised,
    Verified,
)
from checks.change.change_plan import ChangeKind, Commands, Gate, Plan, Step
from checks.change.change_text import GATE_SIGNS, STEP_SIGNS
from checks.change.obstacles import Obstacle
from checks.change.state import Change, fold
from checks.model.finding import Status
from tests.unit.change_journals import OBSERVED, WHO, plan, verification
from tui.console.change_state import ChangeState, JournalsRead, Refused, Work
from tui.console.theme import filters_for
from tui.screens.change.alarms import alarm_lines, standing_alarms
from tui.screens.change.command_keys import next_steps_with_keys
from tui.screens.change.gate_page import detail_lines, gate_lines
from tui.screens.change.head import ahead_line, behind_line, head_line
from tui.screens.change.overview import overview_page, refused_page
from tui.screens.change.questions import ChangeQuestion, ask_note, ask_override, ask_target
from tui.screens.change.step_page import all_blocks_text, block_text, next_action, step_page
from tui.text.line import Line as Drawn
from tui.text.line import command_lines, plain

BLACK = Color(0, 0, 0)
AGREED = Attested("agree", "Ann Lee", "CHG-4711")
SWITCHED = Attested("switch", "Bob")
WENT_DOWN = Surprised(Surprise.STACK_STARTED, "rac2", "Clusterware was started on rac2.")
LIVE = Surprised(Surprise.LIVE_CHANGE, "rac2", "eth1 of rac2 was set to 9000 while Clusterware runs.", dangerous=True)
REBOOTED = Surprised(Surprise.REBOOTED, "rac2", "rac2 was booted at 18:02.")


def change(*events: AnyEvent, of: Plan | None = None) -> Change:
    """A change with these events, a minute apart."""
    all_events = (Opened(of or plan(), OBSERVED), *events)
    return fold(
        JournalLine(number=n, at=f"2026-11-20T18:{n:02}:31+01:00", who=WHO, racwire="1", after="", event=event)
        for n, event in enumerate(all_events, 1)
    )


def long_plan(steps: int = 14, nodes: int = 2) -> Plan:
    names = ("agree", "baseline", "backups", "console", "switch", "stack down", "set MTU", "survives boot")
    names += ("prove paths", "first node", "other nodes", "interconnect", "compare", "sign off")
    made = tuple(Step(id=f"s{n}", title=names[n], what="", why="", attest="It is so.") for n in range(steps))
    return msgspec.structs.replace(plan(), steps=made, nodes=tuple(f"rac{n}" for n in range(1, nodes + 1)))


def text(lines: Iterable[Drawn]) -> str:
    return plain(lines)


def words(lines: Iterable[Drawn]) -> str:
    return " ".join(text(lines).split())


# --- around the step --------------------------------------------------------------------------------------------------


def test_the_header_shows_the_change_its_mtus_and_the_progress():
    header = text([head_line(change(AGREED), 80)])
    assert header == " Change 2026-11-20-a  MTU 1500 → 9000  2 nodes  owner oracle@rac1  step 2 of 4"


def test_the_header_of_a_rollback_and_of_a_closed_change():
    back = msgspec.structs.replace(plan(), kind=ChangeKind.ROLLBACK)
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
    assert drawn.replace("?", "", 1) == "v!>.vvvxx>~"  # one sign is a question mark by itself


# --- surprises --------------------------------------------------------------------------------------------------------


def test_a_danger_comes_first_and_is_named():
    alarms = text(alarm_lines(change(REBOOTED, LIVE), 80)).splitlines()
    assert alarms[0].startswith(" DANGER  eth1 of rac2 was set to 9000 while Clusterware runs.")
    assert alarms[1] == " ! rac2 was booted at 18:02."


@pytest.mark.parametrize(
    ("surprise", "look", "is_over"),
    [
        (LIVE, ObservedState(mtus={"rac2": {"eth1": 9000}}, running={"rac1": True}), False),
        (LIVE, ObservedState(mtus={"rac2": {"eth1": 1500}}, running={"rac1": True}), True),
        (LIVE, ObservedState(mtus={"rac2": {"eth1": 9000}}, running={"rac1": False, "rac2": False}), True),
        (LIVE, ObservedState(mtus={"rac2": {"eth1": 9000}}, running={"rac1": False}), False),
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
    look = Verified("set-mtu", False, (fails,), ObservedState(mtus={"rac2": {"eth1": mtu}}, running=up))
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
    assert "checked 18:04:31 by oracle@rac1: not passed" in gate
    assert "kept-mtu     rac1 ✓ 9000 kept   rac2 ✗ 1500" in gate
    assert "waiting for rac2: eth1 of rac2 would come up at 1500." in gate
    assert "- Set it in its connection, too." in gate


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (("Mend it.", "Then look again:", "racwire change verify"), ["Mend it."]),
        (("Mend it, then look again:", "racwire change verify"), ["Mend it, then look again (v)."]),
        (("Run what this step has:", "racwire change next --node rac2"), ["Run what this step has."]),
        (("Go past it:", "racwire change override --by NAME --reason TEXT"), ["Go past it (o)."]),
        (("Copy it:", "scp a b", "racwire change verify"), ["Copy it:", "scp a b"]),
        (("Compare:", "racwire compare a b"), ["Compare:", "racwire compare a b"]),
    ],
)
def test_commands_that_have_a_key_on_this_screen_are_shown_as_keys(steps: tuple[str, ...], expected: list[str]):
    assert list(next_steps_with_keys(steps)) == expected


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


# --- the step ---------------------------------------------------------------------------------------------------------


def page(now: Change, chosen: int = 0, width: int = 80) -> str:
    step = now.current or now.plan.steps[-1]
    return text(step_page(now, step, chosen, Work(), width).lines)


def test_a_step_is_shown_in_full_with_the_marked_block_and_the_rollback():
    shown = page(change(AGREED, SWITCHED), chosen=1)
    assert shown.startswith(" ▶ 3 set MTU\n   Set eth1 on both nodes.\n   Why      MTU is not in the OCR.")
    marked = [line for line in shown.splitlines() if line.endswith("c copies")]
    assert [line.split("  ")[0].strip() or line.split()[0:4] for line in marked] == [["As", "root", "on", "rac2:"]]
    assert "racwire runs none of these commands; you run them." in shown
    assert "Expected eth1 has 9000 on both." in shown
    assert shown.endswith("Rollback Both get 1500 back.")


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
    assert "Notes    2026-11-20 18:03 oracle@rac1: Window 22:00 to 24:00." in shown
    past = Overridden("set-mtu", "Ann", "rac2 is being replaced.")
    now = change(AGREED, SWITCHED, verification(Status.PASS, Status.FAIL), past)
    shown = words(step_page(now, now.plan.step("set-mtu"), 0, Work(), 80).lines)
    assert "! 3 set MTU overridden without proof" in shown
    assert "! Ann overrode the gate at 2026-11-20 18:05: rac2 is being replaced." in shown
    now = change(AGREED, SWITCHED, verification(Status.PASS), Reopened("set-mtu", "rac2 came back at 1500."))
    assert "Again    this step must be done again: rac2 came back at 1500." in page(now)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((), "do this, then press a to attest"),
        ((AGREED, SWITCHED), "do this, then v checks the gate"),
        ((AGREED, SWITCHED, verification(Status.PASS, Status.FAIL)), "waiting for rac2; v checks again"),
        ((AGREED, SWITCHED, verification(Status.PASS)), "Enter signs the change off"),
        ((Closed("abandoned", "Ann"),), "This change is over: abandoned. Esc goes to the overview."),
    ],
)
def test_the_next_action_is_always_shown(events: tuple[AnyEvent, ...], expected: str):
    assert next_action(change(*events)) == expected


@pytest.mark.parametrize("width", [30, 60, 80, 120])
def test_text_from_outside_is_escaped_and_fits_the_width(width: int):
    evil = "a\x1b[31mb\nc " + "x" * 200
    hostile = Step(
        id="evil", title=evil[:30], what=evil, why=evil, expected=evil, attest=evil, if_rolled_back=evil,
        commands=(Commands(evil, (evil,), note=evil),), gates=(Gate("kept-mtu"),),
    )  # fmt: skip
    of = msgspec.structs.replace(plan(), steps=(hostile, plan().steps[3]), id=evil, made_by=evil)
    result = GateResult(check=evil, status=Status.FAIL, text=evil, node=evil, sentence=evil, next=(evil,))
    now = change(Noted("evil", evil), Verified("evil", False, (result,)), LIVE, of=of)
    lines = [
        *step_page(now, hostile, 0, Work(), width).lines,
        *detail_lines(now, hostile, width),
        head_line(now, width),
        *alarm_lines(now, width),
    ]
    assert "\x1b" not in text(lines)
    assert "\n" not in "".join(part for line in lines for part, _ in line)


# --- copying ----------------------------------------------------------------------------------------------------------


def test_a_block_is_copied_unchanged_and_says_where_it_runs():
    block = plan().steps[2].commands[0]
    assert block_text("2026-11-20-a", block).splitlines() == ["# 2026-11-20-a: As root on rac1:", *block.lines]


def test_all_blocks_together_are_comments_because_they_belong_to_different_shells():
    copied = all_blocks_text("2026-11-20-a", plan().steps[2])
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


UNREAD = Obstacle(code="CH-START-001", title="rac3 not read", sentence="rac3 could not be read.", next=("Mend ssh.",))
LOST = Obstacle(code="IC-LOST-002", title="blocks lost", sentence="37 blocks were lost.", acceptable=True)


def test_obstacles_are_listed_one_by_one_with_their_remedies():
    shown = text(refused_page(Refused(9000, (UNREAD, LOST)), 1, 80).lines)
    assert "2 of 2 obstacles left" in shown
    assert "✗ CH-START-001  rac3 not read\n   rac3 could not be read.\n   - Mend ssh." in shown
    assert shown.count("o accepts this obstacle, with a reason.") == 1


def test_an_accepted_obstacle_has_its_reason_and_is_no_longer_counted():
    refused = Refused(9000, (UNREAD, LOST)).accepting(LOST, "An old loss, known.").accepting(LOST, "It is known.")
    assert [a.reason for a in refused.accepted] == ["It is known."]
    shown = text(refused_page(refused, 0, 80).lines)
    assert "1 of 2 obstacles left" in shown
    assert "! IC-LOST-002  blocks lost" in shown
    assert "Accepted: It is known." in shown


# --- questions --------------------------------------------------------------------------------------------------------


def wrong(question: ChangeQuestion, name: str) -> Callable[[str], str]:
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
    assert (wrong(ask_target("eth1 1500", 9000), "New MTU")(typed) == "") is will_do


def test_a_note_needs_text():
    assert wrong(ask_note(change()), "Note")("") != ""
