"""`racwire change report` as text and as JSON."""

import re
from pathlib import Path

import msgspec
import pytest

from checks.change.board.change_report import ChangeReport, ReportedFile, report_of
from checks.change.plan.change_plan import Accepted, ChangeKind
from checks.change.progress.change_events import Attested, Closed, Noted, Overridden, Reopened, RolledBack
from checks.change.progress.state import fold
from checks.change.record.change_journal import ChangeJournal
from checks.model.exit_codes import ExitCode
from checks.model.facts import BeforeAfter
from checks.model.finding import Status
from tests.unit.change_command_support import AGREED, SWITCHED, command_on, shown
from tests.unit.change_journals import journal, plan, verification
from tui.cli.change.change_report_text import report_lines


@pytest.fixture
def changes(tmp_path: Path) -> Path:
    return tmp_path / "changes"


@pytest.fixture
def racwire(changes, capsys):
    return command_on(changes, capsys)


MEASURED = {"IC ping 8K rac1 → rac2": "0.35 ms", "packets per block": BeforeAfter(before="6.02", after="1.00")}


@pytest.fixture
def whole(changes) -> ChangeReport:
    """A change with many events."""
    accepted = (Accepted("IC-UDP-002", "Datagrams were thrown away", "Known since May, CHG-4000."),)
    baseline = verification(Status.PASS, figures={"IC ping 8K rac1 → rac2": "0.61 ms"})
    return report_of(
        journal(
            changes,
            AGREED,
            SWITCHED,
            Noted("set-mtu", "rac2 took long to answer."),
            verification(Status.PASS, Status.FAIL, rac2_mtu=1500),
            Overridden(
                "set-mtu",
                "Ann Lee",
                "rac2 is rebuilt tomorrow anyway.",
                verification(Status.PASS, Status.FAIL).results[1:],
                "2026-11-20T18:02:00+01:00",
            ),
            Reopened("set-mtu", "eth1 of rac2 is 1500 again."),
            msgspec.structs.replace(baseline, figures=MEASURED),
            Attested("sign-off", "Ann Lee"),
            Closed("signed off", "Ann Lee"),
            of=msgspec.structs.replace(plan(), accepted=accepted),
        ).change
    )


def test_the_report_has_values_before_and_after_with_names_and_times(whole):
    text = shown(report_lines(whole, 100))
    assert text.startswith("# Change 2026-11-20-a of prodrac: MTU 1500 → 9000\n")
    assert re.search(r"- Result: +Signed off by Ann Lee, ", text)
    assert (
        "| rac2 eth1                               |   1500 |  9000 |" in text
        or "| rac2 eth1 |   1500 |  9000 |" in text
    )
    assert "| 8 KB on 192.168.10.0/24, assumed |      6 |     1 |" in text
    assert "IC ping 8K rac1 → rac2" in text
    assert re.search(r"\| packets per block +\| +6.02 \| +1.00 \|", text)
    assert "attested by Ann Lee (oracle@rac1), " in text
    assert "rac2 took long to answer." in text.partition("## Notes")[2].partition("##")[0]
    assert len(text.partition("## Log")[2].strip().splitlines()) >= 10


def test_an_override_has_its_own_heading_even_if_the_step_passed_later(whole):
    section = shown(report_lines(whole, 100)).partition("## Overrides")[2].partition("##")[0]
    assert "set-mtu, by Ann Lee" in section
    assert "rac2 is rebuilt tomorrow anyway." in section
    assert "✗ kept-mtu rac2 1500: eth1 of rac2 would come up at 1500." in section
    assert whole.steps[2].standing == "done"


def test_an_accepted_obstacle_has_its_reason_in_the_report(whole):
    section = shown(report_lines(whole, 100)).partition("## Accepted at the start")[2].partition("##")[0]
    assert "IC-UDP-002 Datagrams were thrown away: Known since May, CHG-4000." in section


def test_a_report_of_a_rolled_back_change_has_both_plans(changes):
    back = msgspec.structs.replace(plan(), kind=ChangeKind.ROLLBACK, steps=plan().steps[2:], networks=plan().networks)
    report = report_of(
        journal(
            changes,
            AGREED,
            SWITCHED,
            RolledBack(back, "Ann Lee", "The switch of the second room has no 9216."),
            verification(Status.PASS, Status.PASS, rac2_mtu=1500),
            Attested("sign-off", "Ann Lee"),
            Closed("rolled back", "Ann Lee"),
        ).change
    )
    assert report.outcome == "rolled back"
    assert report.reason == "The switch of the second room has no 9216."
    assert [(step.id, step.way_back, step.standing) for step in report.steps] == [
        ("agree", False, "done"), ("switch", False, "done"), ("set-mtu", False, "left"), ("sign-off", False, "left"),
        ("set-mtu", True, "done"), ("sign-off", True, "done"),
    ]  # fmt: skip


def test_an_unread_value_is_a_question_mark_in_the_report(changes):
    report = report_of(journal(changes, AGREED).change)
    text = shown(report_lines(report, 100))
    assert "| rac1 eth1 |   1500 |     ? |" in text
    assert "?: it was not read after the change was opened." in text


def test_the_report_is_written_to_a_file_as_text_and_json(racwire, changes, tmp_path):
    journal(changes, AGREED)
    target = tmp_path / "change.md"
    code, out, stderr = racwire("report", "-o", str(target))
    assert (code, out) == (ExitCode.PASS, "")
    assert f"the report is in {target}." in stderr
    assert target.read_text().startswith("# Change 2026-11-20-a of prodrac")
    _, out, _ = racwire("report", "--format", "json")
    report = msgspec.json.decode(out, type=ChangeReport)
    assert report.schema == "racwire-change-report/1"
    read = ChangeJournal.read(next(changes.glob("*.change")))
    assert report == report_of(fold(read.change.lines), ReportedFile(read.path, read.seal, ()))


def test_a_closed_change_can_still_be_reported(racwire, changes):
    journal(changes, Closed("abandoned", "Ann Lee", "The window was taken away."))
    code, out, stderr = racwire("report")
    assert code == ExitCode.PASS
    assert re.search(r"- Result: +Abandoned by Ann Lee, ", out)
    assert "no change is open; this is the latest one." in stderr
