"""`racwire change` without the full screen: its output, and its exit codes."""

import json
import re
from pathlib import Path

import msgspec
import pytest

from checks.change.progress.change_events import Attested, Closed, ObservedState, Surprise, Surprised
from checks.change.progress.own_commands import OwnCommands
from checks.change.record.change_journal import ChangeJournal
from checks.change.session import change_session
from checks.model.exit_codes import ExitCode
from checks.model.finding import Status
from checks.run.events import RunStarted
from tests.unit.change_command_support import AGREED, SWITCHED, command_on, shown
from tests.unit.change_journals import journal, plan, verification
from tui.cli.change.change_text import status_lines
from tui.cli.main import main


@pytest.fixture
def changes(tmp_path: Path) -> Path:
    return tmp_path / "changes"


@pytest.fixture
def racwire(changes, capsys):
    return command_on(changes, capsys)


# --- help -------------------------------------------------------------------------------------------------------------


def test_help_explains_the_whole_procedure_on_two_screens_of_a_small_terminal(capsys):
    with pytest.raises(SystemExit):
        main(["change", "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    for command in ("new", "next", "verify", "attest", "status", "report", "rollback", "override", "abandon", "--lab"):
        assert any(command in line for line in lines), command


@pytest.mark.parametrize(
    ("events", "hint"),
    [
        ((), "next: step 1, agree: `racwire change next --directory {}`."),
        ((AGREED, SWITCHED), "next: step 3, set MTU: `racwire change next --directory {}`."),
        (
            (AGREED, SWITCHED, verification(Status.PASS, Status.FAIL)),
            "next: fix what the gate names, then `racwire change verify --directory {}`; "
            "`racwire change next --directory {}` shows the step.",
        ),
        (
            (
                AGREED,
                SWITCHED,
                verification(Status.PASS, Status.PASS),
                Attested("sign-off", "Ann"),
                Closed("signed off", "Ann"),
            ),
            "next: `racwire change report -o change.html --directory {}` writes the report of the change.",
        ),
    ],
    ids=["opened", "two steps done", "a failed gate", "closed"],
)
def test_each_command_ends_with_the_next_command_to_type(racwire, changes, events, hint):
    journal(changes, *events)
    code, _, stderr = racwire("status")
    assert code == ExitCode.PASS
    assert stderr.splitlines()[-1] == f"racwire: {hint.replace('{}', str(changes))}"


# --- status -----------------------------------------------------------------------------------------------------------


def test_status_fits_80_columns(changes):
    surprise = Surprised(Surprise.REBOOTED, "rac2", "rac2 was booted at 18:02 and came back with eth1 at 1500.")
    change = journal(changes, AGREED, SWITCHED, verification(Status.PASS, Status.FAIL), surprise).change
    text = shown(status_lines(change, 80, OwnCommands(), path="/shared/prodrac-2026-11-20-a.change"))
    assert all(len(line) <= 80 for line in text.splitlines())
    assert text.splitlines()[0] == "Change 2026-11-20-a of prodrac  MTU 1500 → 9000  2 nodes  step 3 of 4"
    assert " ✓  1 agree     attested by Ann Lee, " in text
    assert " ▶  3 set MTU   waits for its gate\n ·  4 sign off" in text
    assert (
        "not passed\n  ✓ kept-mtu  rac1 9000 kept\n  ✗ rac2 1500  (kept-mtu)\n      eth1 of rac2 would come up at 1500."
        in text
    )
    assert "Unexpected changes" in text
    assert text.count("rac2 was booted at 18:02") == 1


def test_a_danger_that_is_over_is_told_from_one_that_stands(racwire, changes):
    danger = Surprised(Surprise.LIVE_CHANGE, "rac2", "eth1 of rac2 was set to 9000 while Clusterware runs.", True)
    opened = journal(changes, AGREED, SWITCHED, danger)
    shown_ = shown(status_lines(opened.change, 80, OwnCommands(), path="c"))
    assert "DANGER: eth1 of rac2 was set" in shown_
    assert [alarm["node"] for alarm in json.loads(racwire("status", "--format", "json")[1])["alarms"]] == ["rac2"]
    over = verification(Status.PASS, Status.FAIL)
    down = msgspec.structs.replace(
        over, look=msgspec.structs.replace(over.look, running={"rac1": False, "rac2": False})
    )
    opened.append(down, who="oracle@rac1", version="1")
    shown_ = " ".join(shown(status_lines(opened.change, 80, OwnCommands(), path="c")).split())
    assert "was a DANGER, is over: eth1 of rac2 was set" in shown_
    assert json.loads(racwire("status", "--format", "json")[1])["alarms"] == []


def test_an_override_prints_and_reports_what_it_is_for(racwire, changes):
    journal(changes, AGREED, SWITCHED, verification(Status.PASS, Status.FAIL))
    code, _, stderr = racwire("override", "--by", "Ann", "--reason", "rac2 is rebuilt tomorrow.")
    assert code == ExitCode.PASS
    assert "racwire: overridden: eth1 of rac2 would come up at 1500." in stderr
    section = racwire("report")[1].partition("## Overrides")[2]
    assert re.search(r"What did not pass, checked 2\d{3}-.*:\n +- ✗ kept-mtu rac2 1500", section)


def test_an_abandoned_change_waits_for_nothing(changes):
    change = journal(changes, AGREED, Closed("abandoned", "Ann", "The window was taken away.")).change
    text = shown(status_lines(change, 80, OwnCommands(), path="c"))
    assert "abandoned, 2" in text
    assert "waits" not in text
    assert "▶" not in text


def test_status_is_available_as_json(racwire, changes):
    opened = journal(changes, AGREED)
    code, out, _ = racwire("status", "--format", "json")
    document = json.loads(out)
    assert code == ExitCode.PASS
    assert document["schema"] == "racwire-change-status/1"
    assert (document["current"], document["journal"]) == ("switch", str(opened.path))
    assert [step["standing"] for step in document["steps"]] == ["done", "current", "ahead", "ahead"]


def test_begin_reads_what_the_step_stops_and_status_lists_the_stop(racwire, changes, monkeypatch):
    async def read_nodes(*_):
        yield RunStarted(("look",), ("nodes",))
        yield ObservedState(running={"rac1": True}, instances={"rac1": ("prod1",)})

    monkeypatch.setattr(change_session, "read_nodes", read_nodes)
    journal(changes, AGREED, SWITCHED)
    code, out, _ = racwire("begin")
    assert code == 0
    assert "rac1 (up, prod1); not read: rac2" in out
    assert "planned: links down and another MTU on rac1 and rac2, until set MTU." in out
    assert "started 20" in racwire("status")[1]
    (stop,) = json.loads(racwire("status", "--format", "json")[1])["stops"]
    assert (stop["kinds"], stop["nodes"], stop["over_at"]) == (["link", "mtu"], ["rac1", "rac2"], "")
    assert "set-mtu started; read right before: rac1." in racwire("report")[1]


def test_begin_refuses_a_step_that_stops_nothing(racwire, changes):
    journal(changes)
    code, _, stderr = racwire("begin")
    assert code == 64
    assert "Step agree stops nothing" in stderr


def test_the_list_names_every_change_and_every_unreadable_file(racwire, changes):
    journal(changes, Closed("abandoned", "Ann", "The window was taken away."))
    journal(changes, of=plan("2026-11-21-a"))
    (changes / "prodrac-broken.change").write_text("{}\n")
    code, out, _ = racwire("list")
    assert code == ExitCode.PASS
    assert "2026-11-20-a of prodrac  MTU 1500 → 9000  2 nodes  abandoned" in out
    assert "2026-11-21-a of prodrac  MTU 1500 → 9000  2 nodes  step 1 of 4" in out
    assert "prodrac-broken.change is damaged" in out


# --- the next step ----------------------------------------------------------------------------------------------------


def test_next_shows_the_step_with_commands_ready_to_copy(racwire, changes):
    journal(changes, AGREED, SWITCHED)
    code, out, stderr = racwire("next")
    assert code == ExitCode.PASS
    assert out.startswith("Step 3 of 4: set MTU\n")
    assert "As root on rac2:\n    ip link set dev eth1 mtu 9000\n" in out
    assert "    nmcli connection modify 'private of rac2' 802-3-ethernet.mtu 9000\n" in out
    assert "Going back" in out
    assert stderr.splitlines()[0] == "racwire: racwire does not run these commands."
    assert "next: `racwire change begin" in stderr
    assert "`, then run the commands, then `racwire change verify" in stderr


def test_next_for_one_node_prints_lines_for_its_shell(racwire, changes):
    journal(changes, AGREED, SWITCHED)
    _, out, _ = racwire("next", "--node", "rac2")
    assert "As root on rac2:" in out
    assert "As root on rac1:" not in out
    _, out, stderr = racwire("next", "--node", "rac2", "--commands")
    assert out == (
        "# As root on rac2:\n"
        "ip link set dev eth1 mtu 9000\n"
        "nmcli connection modify 'private of rac2' 802-3-ethernet.mtu 9000\n"
    )
    assert "not printed: As oracle on any node (" in stderr


def test_the_whole_plan_is_shown_before_any_step_is_done(racwire, changes):
    journal(changes)
    _, out, _ = racwire("next", "--all")
    assert [f"Step {number} of 4" in out for number in range(1, 5)] == [True] * 4
    _, out, _ = racwire("next", "--all", "--format", "json")
    assert [step["id"] for step in json.loads(out)["steps"]] == ["agree", "switch", "set-mtu", "sign-off"]


# --- deciding ---------------------------------------------------------------------------------------------------------


def test_attesting_the_last_step_signs_off(racwire, changes):
    opened = journal(changes, AGREED, SWITCHED, verification(Status.PASS, Status.PASS))
    code, _, stderr = racwire("attest", "--by", "Ann Lee")
    assert code == ExitCode.PASS
    assert "the change 2026-11-20-a has ended: signed off by Ann Lee." in stderr
    assert ChangeJournal.read(opened.path).change.outcome == "signed off"


def test_a_change_without_its_last_line_is_closed_by_repeating_the_command(racwire, changes):
    opened = journal(changes, AGREED, SWITCHED, verification(Status.PASS), Attested("sign-off", "Ann Lee"))
    assert racwire("attest", "--by", "Ann Lee")[0] == ExitCode.PASS
    assert ChangeJournal.read(opened.path).change.outcome == "signed off"


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("attest", "--by", " "), ExitCode.USAGE, "Enter the name of the person who attests."),
        (("override", "--by", "Ann", "--reason", "It will do, I know."), ExitCode.USAGE, "has no gate to override"),
        (("verify",), ExitCode.USAGE, "has no gate to check; attest it: `racwire change attest --by NAME "),
        (("next", "--node", "rac9"), ExitCode.USAGE, "rac9 is not a node of this change; the nodes are rac1, rac2."),
        (("next", "--commands"), ExitCode.USAGE, "--commands needs the node"),
        (("rollback", "--by", "Ann"), ExitCode.USAGE, "who decides and the reason: --by NAME --reason TEXT."),
        (("status", "--file", "/nowhere/at"), ExitCode.COULD_NOT_TELL, "There is no journal /nowhere/at."),
        (("status", "--file", ""), ExitCode.USAGE, "--file is empty; name the journal of a change, or leave"),
        (("report", "-o", "/nowhere/r.md"), ExitCode.USAGE, "there is no directory /nowhere."),
    ],
)  # fmt: skip
def test_a_command_that_does_not_fit_is_refused_in_one_sentence_and_writes_nothing(
    racwire, changes, words, code, sentence
):
    opened = journal(changes)
    found, out, stderr = racwire(*words)
    assert (found, out) == (code, "")
    assert sentence in stderr
    assert len(stderr.splitlines()) == 1
    assert len(ChangeJournal.read(opened.path).change.lines) == 1


def test_without_a_change_the_message_names_the_command_that_opens_one(racwire):
    code, out, stderr = racwire("next")
    assert (code, out) == (ExitCode.USAGE, "")
    assert "racwire change new" in stderr
    assert len(stderr.splitlines()) == 1
