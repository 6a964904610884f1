"""`racwire change verify`: the exit code, the results, and what stops it."""

import json
import os
import signal
from pathlib import Path

import msgspec
import pytest

from checks.change.gates.gate import THEN_VERIFY
from checks.change.progress.change_events import Noted, Surprise, Surprised
from checks.change.record.change_journal import ChangeJournal
from checks.change.session.change_session import ChangeSession
from checks.model.exit_codes import ExitCode
from checks.model.finding import NextStep, Status
from checks.model.own_command import OwnCommand
from tests.unit.change_command_support import AGREED, SWITCHED, command_on
from tests.unit.change_journals import journal, verification
from tui.cli.change import change_context
from tui.cli.interrupts import STOPPING


@pytest.fixture
def changes(tmp_path: Path) -> Path:
    return tmp_path / "changes"


@pytest.fixture
def racwire(changes, capsys):
    return command_on(changes, capsys)


@pytest.mark.parametrize(
    ("statuses", "code", "word"),
    [
        ((Status.PASS, Status.PASS), ExitCode.PASS, "passed"),
        ((Status.PASS, Status.FAIL), ExitCode.FAILURES, "not passed"),
        ((Status.UNKNOWN, Status.FAIL), ExitCode.FAILURES, "not passed"),
        ((Status.PASS, Status.UNKNOWN), ExitCode.COULD_NOT_TELL, "could not tell"),
    ],
)
def test_the_exit_code_of_verify_says_whether_the_next_step_is_allowed(
    racwire, changes, monkeypatch, statuses, code, word
):
    journal(changes, AGREED, SWITCHED)
    monkeypatch.setattr(change_context, "ChangeSession", session_that_reports(verification(*statuses)))
    found, out, stderr = racwire("verify")
    assert found == code
    assert out.startswith("Step 3 of 4: set MTU\nGate, checked ")
    assert f": {word}\n" in out
    assert ("next: step 4, sign off" in stderr) == (code == ExitCode.PASS)
    _, out, _ = racwire("status", "--format", "json")
    assert json.loads(out)["current"] == ("sign-off" if code == ExitCode.PASS else "set-mtu")


def test_commands_in_gate_results_can_be_typed_and_notes_stay_unchanged(racwire, changes, monkeypatch):
    note = Noted("set-mtu", "Then I typed `racwire change verify`.")
    journal(changes, AGREED, SWITCHED, note)
    failed = verification(Status.FAIL)
    again = (NextStep("Run what this step has.", own=(OwnCommand("next", "--node rac1"),)), THEN_VERIFY)
    result = msgspec.structs.replace(failed.results[0], next=again)
    monkeypatch.setattr(
        change_context, "ChangeSession", session_that_reports(msgspec.structs.replace(failed, results=(result,)))
    )
    for words in (("verify",), ("status",)):
        _, out, _ = racwire(*words)
        typed = out.replace("\\\n", "").split()
        assert " ".join(typed).count(f"racwire change next --node rac1 --directory {changes}") == 1
        assert " ".join(typed).count(f"racwire change verify --directory {changes}") == 1
    assert "I typed `racwire change verify`." in " ".join(racwire("next")[1].split())
    _, out, _ = racwire("status", "--format", "json")
    assert json.loads(out)["gate"][0]["next"] == [
        *("Run what this step has:", "racwire change next --node rac1"),
        *("Then verify again:", "racwire change verify"),
    ]


def test_a_refusal_names_the_next_command_as_it_is_typed(racwire, changes):
    journal(changes, AGREED, SWITCHED)
    _, _, stderr = racwire("override", "--by", "Ann", "--reason", "It will do, I know.")
    assert f"`racwire change verify --directory {changes}`" in stderr


def test_surprises_come_first_and_a_danger_is_marked(racwire, changes, monkeypatch):
    journal(changes, AGREED, SWITCHED)
    danger = Surprised(Surprise.LIVE_CHANGE, "rac2", "eth1 of rac2 was set to 9000 while Clusterware runs.", True)
    monkeypatch.setattr(change_context, "ChangeSession", session_that_reports(danger, verification(Status.FAIL)))
    _, out, _ = racwire("verify", "--format", "json")
    document = json.loads(out)
    assert [surprise["sentence"] for surprise in document["surprises"]] == [danger.sentence]
    assert document["passed"] is False
    _, out, _ = racwire("verify")
    assert "DANGER: eth1 of rac2 was set to 9000 while Clusterware runs." in out.partition("Gate, ")[0]


def test_an_interrupted_verification_writes_nothing(racwire, changes, monkeypatch):
    opened = journal(changes, AGREED, SWITCHED)
    monkeypatch.setattr(change_context, "ChangeSession", InterruptedSession)
    code, out, stderr = racwire("verify")
    assert (code, out, stderr) == (
        ExitCode.INTERRUPTED,
        "",
        f"racwire: {STOPPING}\nracwire: interrupted; nothing was written.\n",
    )
    assert len(ChangeJournal.read(opened.path).change.lines) == 3


def session_that_reports(*events):
    """A session whose verification has this result, which it writes as the real one does."""

    class ReportingSession(ChangeSession):
        async def verify(self):
            for event in events:
                self._journal.append(event, who="oracle@rac1", version="0.1.0")
            yield change_context_concluded(events)

    return ReportingSession


def change_context_concluded(events):
    from checks.change.session.verifying import Concluded

    return Concluded(events, None)


class InterruptedSession(ChangeSession):
    """A session that is interrupted by Ctrl-C during its verification."""

    async def verify(self):
        import asyncio

        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()
        yield
