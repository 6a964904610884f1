"""A change in both front ends: decisions are saved, even if another operator writes too; and its journals."""

import asyncio
import getpass
import os
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from checks.change.gates.backup_gates import archive_path, backup_paths
from checks.change.kinds.mtu import MtuRequest
from checks.change.plan.planning import look_of
from checks.change.plan.stated_network import StatedNetwork
from checks.change.progress.change_events import Attested, Closed, JournalLine, Noted, Overridden, RolledBack, Verified
from checks.change.progress.journal_names import SUFFIX
from checks.change.progress.state import ChangeError
from checks.change.record.change_journal import ChangeJournal, ChangeJournalError
from checks.change.record.copies import listed_names, other_copies, parse_copy
from checks.change.record.journal_files import current, directory_of, journals
from checks.change.session import verifying
from checks.change.session.change_session import ChangeSession
from checks.change.session.opening import open_change
from checks.change.session.vendors_file import load_kinds
from checks.change.session.verifying import Concluded
from checks.model.facts import Cluster, Unknown, UnreadNode
from checks.model.journal import Journal
from checks.model.settings import ChangeSettings, Settings
from checks.run.check_discovery import Checks
from checks.run.gathering import CHANGING, GATHERERS
from checks.sources.change_files import CHANGE_ARCHIVE, CHANGE_BACKUPS, CHANGE_JOURNALS
from checks.sources.nodes.shell import Shell
from tests.unit.change_support import AGREED, cluster, down, passed, plan, until

WHO = {"who": "oracle@rac1", "version": "1"}


def request(target):
    return MtuRequest(target, StatedNetwork(load_kinds()))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return msgspec.structs.replace(Settings(), change=ChangeSettings(directory=str(tmp_path / "changes")))


@pytest.fixture
def journal(settings) -> ChangeJournal:
    return ChangeJournal.open_new(directory_of(settings), plan(), look_of(cluster(), plan()), **WHO)


@pytest.fixture
def session(journal, settings) -> ChangeSession:
    return ChangeSession(journal, settings, node="rac1")


def elsewhere(session: ChangeSession, *events: object) -> None:
    """Another operator writes to the journal, at another terminal."""
    ChangeJournal.read(session.path).extend(events, **WHO)  # type: ignore[arg-type]


def events_of(session: ChangeSession) -> list[object]:
    return [line.event for line in ChangeJournal.read(session.path).change.lines[1:]]


def id_of(session: ChangeSession) -> str:
    return session.change.current.id if session.change.current else ""


# --- decisions --------------------------------------------------------------------------------------------------------


def test_a_decision_is_on_disk_with_the_login_of_the_operator(session, monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: "oracle")
    line = session.attest("A. Lee", "CHG-4711")
    assert line.who == "oracle@rac1"
    assert events_of(session) == [Attested("agree", "A. Lee", "CHG-4711")]
    session.note("waiting for the load")
    assert events_of(session)[-1] == Noted("baseline", "waiting for the load")


def test_a_change_runs_from_its_first_step_to_its_last(session):
    session.attest("A. Lee")
    with pytest.raises(ChangeError, match="was not verified yet"):
        session.override("A. Lee", "there is no load tonight")
    elsewhere(session, Verified("baseline", False, ()))
    session.override("A. Lee", "there is no load tonight")
    elsewhere(session, *(passed(step.id) for step in plan().steps[2:-1]))
    session.refresh()
    session.attest("A. Lee")
    assert session.change.current is None
    with pytest.raises(ChangeError, match="can only be closed"):
        session.attest("A. Lee")
    session.close("A. Lee")
    assert events_of(session)[-1] == Closed("signed off", "A. Lee")
    for late in (lambda: session.attest("A. Lee"), lambda: session.note("late"), lambda: session.close("A. Lee")):
        with pytest.raises(ChangeError, match="is closed: signed off"):
            late()


def test_after_a_write_of_another_operator_the_decision_is_checked_again(session):
    elsewhere(session, Noted("agree", "the network team agrees"))
    session.attest("A. Lee")
    assert [type(event) for event in events_of(session)] == [Noted, Attested]


def test_a_decision_for_a_step_is_never_applied_to_the_next_step(session):
    """Another operator attested the same step a moment before."""
    elsewhere(session, AGREED)
    with pytest.raises(ChangeError, match="Step agree is done"):
        session.attest("B. Kim")
    assert events_of(session) == [AGREED]
    assert id_of(session) == "baseline"


def test_an_override_applies_to_the_gate_that_was_shown(session):
    session.attest("A. Lee")
    elsewhere(session, Verified("baseline", False, ()))
    session.refresh()
    elsewhere(session, passed("baseline"), Verified("stack-down", False, ()))
    with pytest.raises(ChangeError, match="Step baseline is done"):
        session.override("A. Lee", "there is no load tonight")
    assert not any(isinstance(event, Overridden) for event in events_of(session))


def test_events_of_other_operators_are_read_when_there_are_any(session):
    assert not session.refresh()
    elsewhere(session, AGREED)
    assert session.refresh()
    assert id_of(session) == "baseline"
    assert not session.refresh()
    session.path.unlink()
    with pytest.raises(ChangeJournalError, match="There is no journal"):
        session.refresh()


def test_the_rollback_can_be_shown_before_it_starts(session):
    session.attest("A. Lee")
    back = session.way_back()
    assert [type(event) for event in events_of(session)] == [Attested]
    session.roll_back("A. Lee", "the window is over")
    (rollback,) = [event for event in events_of(session) if isinstance(event, RolledBack)]
    assert [step.id for step in rollback.plan.steps] == [step.id for step in back.steps]
    assert session.change.is_way_back


def test_a_change_without_completed_steps_can_be_abandoned(session):
    session.abandon("A. Lee", "the window was cancelled")
    assert session.change.outcome == "abandoned"


# --- verifying --------------------------------------------------------------------------------------------------------


@pytest.fixture
def seen(monkeypatch):
    """The cluster has the specified state; while it is read, `meanwhile` runs."""

    def answers(now: Cluster, meanwhile=lambda: None) -> None:
        def gatherer(group: str):
            async def gather(session, known):
                if group == "nodes":
                    meanwhile()
                return getattr(now, group)

            return gather

        monkeypatch.setattr(verifying, "GATHERERS", tuple(replace(g, gather=gatherer(g.group)) for g in GATHERERS))
        monkeypatch.setattr(
            verifying, "gate_facts_gatherer", lambda *_: replace(CHANGING, gather=gatherer(CHANGING.group))
        )

    return answers


async def verify(session: ChangeSession) -> Concluded:
    async with aclosing(session.verify()) as events:
        *_, last = [event async for event in events]
    assert isinstance(last, Concluded)
    return last


def at(session: ChangeSession, step: str) -> None:
    """Advance the change to that step."""
    elsewhere(session, *(line.event for line in until(step, down()).lines[1:]))


async def test_the_result_of_a_verification_is_written_when_it_ends(session, seen):
    at(session, "set-mtu")
    seen(down(9000))
    concluded = await verify(session)
    assert events_of(session)[-1:] == list(concluded.events)
    assert id_of(session) == "survives-boot"


async def test_a_cancelled_verification_writes_nothing(session, seen):
    at(session, "set-mtu")
    seen(down(9000))
    before = session.path.read_bytes()
    async with aclosing(session.verify()) as events:
        async for _ in events:
            break
    assert session.path.read_bytes() == before
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_note_written_during_a_verification_does_not_discard_it(session, seen):
    at(session, "set-mtu")
    seen(down(9000), meanwhile=lambda: elsewhere(session, Noted("set-mtu", "rac3 is slow")))
    await verify(session)
    assert [type(event) for event in events_of(session)[-2:]] == [Noted, Verified]


async def test_a_verification_of_a_step_that_was_done_meanwhile_is_discarded(session, seen):
    at(session, "set-mtu")
    seen(down(9000), meanwhile=lambda: elsewhere(session, passed("set-mtu", down(9000))))
    with pytest.raises(ChangeError, match="Another process finished step set-mtu during the verification"):
        await verify(session)
    assert id_of(session) == "survives-boot"


async def test_a_verification_does_not_replace_what_a_later_look_has_seen(session, seen):
    at(session, "set-mtu")
    failed = Verified("set-mtu", False, ())
    seen(down(9000), meanwhile=lambda: elsewhere(session, failed))
    with pytest.raises(ChangeError, match="Another process verified the same step during this verification"):
        await verify(session)
    assert events_of(session)[-1] == failed


async def test_a_closed_change_is_not_verified(session):
    session.abandon("A. Lee", "the window was cancelled")
    with pytest.raises(ChangeError, match="is closed: abandoned"):
        await verify(session)


# --- where the journals lie -------------------------------------------------------------------------------------------


def test_the_default_directory_belongs_to_the_user(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert directory_of(Settings()) == tmp_path / ".local/state/racwire/changes"


def test_the_open_change_is_found_and_of_several_one_must_be_named(settings, journal):
    assert current(settings).path == journal.path
    second = ChangeJournal.open_new(journal.path.parent, plan(cluster="testrac"), journal.change.look, **WHO)
    with pytest.raises(ChangeError, match=r"More than one change is open .*--file"):
        current(settings)
    assert current(settings, "testrac").path == second.path
    assert current(settings, path=second.path).path == second.path
    assert [found.path for found in journals(settings)] == [journal.path, second.path]


def test_without_an_open_change_the_message_says_what_to_do(settings, journal):
    journal.append(Closed("abandoned", "A. Lee"), **WHO)
    with pytest.raises(ChangeError, match=r"No change is open in .*\(1 closed change.*racwire change new"):
        current(settings)
    assert current(settings, path=journal.path).change.outcome == "abandoned"


def test_no_change_is_chosen_while_a_journal_is_damaged(settings, journal):
    journal.path.write_bytes(b"torn\n")
    with pytest.raises(ChangeJournalError, match=r"Line 1 .* is damaged"):
        current(settings)


# --- beginning one ----------------------------------------------------------------------------------------------------


async def begin(settings: Settings, monkeypatch, now: Cluster) -> list[object]:
    from checks.change.session import opening

    def gatherer(group: str):
        async def gather(session, known):
            return getattr(now, group)

        return gather

    fakes = tuple(replace(g, gather=gatherer(g.group)) for g in GATHERERS)
    monkeypatch.setattr(opening, "GATHERERS", fakes)
    monkeypatch.setattr(opening, "_copies_gatherer", lambda _: replace(CHANGING, gather=gatherer("changing")))
    async with aclosing(open_change(settings, Checks(()), request=request(9000))) as events:
        return [event async for event in events]


async def test_a_second_change_is_refused_before_anything_is_planned(settings, journal, monkeypatch):
    now = msgspec.structs.replace(cluster(), clusterware=Unknown("not asked"))
    named = plan(cluster="rac1-rac2-rac3", id="2026-11-20-b")
    ChangeJournal.open_new(journal.path.parent, named, journal.change.look, **WHO)
    with pytest.raises(ChangeError, match="2026-11-20-b of rac1-rac2-rac3 is still open"):
        await begin(settings, monkeypatch, now)


async def test_nothing_is_checked_on_a_node_of_an_open_change(settings):
    here = plan(nodes=("rac1", os.uname().nodename))
    ChangeJournal.open_new(directory_of(settings), here, look_of(cluster(), here), **WHO)
    async with aclosing(open_change(settings, Checks(()), request=request(9000))) as events:
        with pytest.raises(ChangeError, match="2026-11-20-a of prodrac is still open"):
            await anext(events)


# --- copies on other nodes --------------------------------------------------------------------------------------------


def test_a_copy_is_identified_by_its_start_and_described_by_its_last_whole_line(session):
    session.attest("A. Lee")
    data = session.path.read_text()
    copy = parse_copy("rac2", "/x", f"{data[:400]}\n" + "\n".join(data.splitlines()[-2:]) + '\n{"number":3,"at":"2026')
    assert (copy.lines, copy.outcome) == (2, "")
    assert data.startswith(copy.begins)
    session.abandon("A. Lee", "the window was cancelled")
    closed = parse_copy("rac2", "/x", "{\n" + session.path.read_text().splitlines()[-1])
    assert (closed.lines, closed.outcome) == (3, "abandoned")
    assert isinstance(parse_copy("rac2", "/x", "").lines, Unknown)


def test_only_names_of_journals_are_requested(tmp_path):
    listing = "\n".join(
        [f"{tmp_path}/prodrac-2026-11-20-{letter}.change" for letter in "cab"]
        + [f"{tmp_path}/prodrac-*.change", "/etc/shadow.change", f"{tmp_path}/../x.change", f"{tmp_path}/a b.change"]
    )
    assert listed_names(listing, tmp_path) == [f"prodrac-2026-11-20-{letter}.change" for letter in "abc"]


async def test_copies_are_found_and_a_missing_directory_has_none(session, tmp_path):
    directory = session.path.parent
    (directory / "prodrac-2026-11-19-a.change").write_text("torn")
    (directory / "testrac-2026-11-20-a.change").write_bytes(session.path.read_bytes())
    shell = await Shell.open_local("rac2")
    try:
        found = await other_copies(shell, Journal(), directory, "prodrac", 5)
        none = await other_copies(shell, Journal(), tmp_path / "it's not there", "prodrac", 5)
    finally:
        await shell.close()
    assert none == ()
    torn, own = found
    assert (own.path, own.lines, own.outcome) == (str(session.path), 1, "")
    assert session.path.read_text().startswith(own.begins)
    assert isinstance(torn.lines, Unknown)


def test_the_programs_that_search_for_copies_read_only_journals():
    assert f'"$1/$2"-*{SUFFIX};' in CHANGE_JOURNALS.text
    assert CHANGE_BACKUPS.example == backup_paths("ID")
    assert CHANGE_ARCHIVE.example == (archive_path("ID"),)


# --- starting a step --------------------------------------------------------------------------------------------------


async def start(session: ChangeSession, step: str = "") -> JournalLine:
    async with aclosing(session.begin(step)) as events:
        *_, last = [event async for event in events]
    assert isinstance(last, JournalLine)
    return last


async def test_what_a_step_stops_is_read_and_written_and_nothing_else_is_gathered(session, seen):
    at(session, "stack-down")
    seen(cluster(rac3_setup=UnreadNode("rac3", "no answer"), rac3=UnreadNode("rac3", "no answer")))
    session.refresh()
    before = session.change
    line = await start(session)
    assert [*session.change.lines] == [*before.lines, line]
    assert (line.who, line.event.step) == (f"{getpass.getuser()}@rac1", "stack-down")
    assert line.event.look.running == {"rac1": True, "rac2": True}
    assert line.event.look.mtus == {"rac1": {"eth1": 1500}, "rac2": {"eth1": 1500}}
    assert session.change.look == before.look  # a verification compares with the last verification


async def test_a_cancelled_start_writes_nothing(session, seen):
    at(session, "stack-down")
    seen(cluster())
    before = session.path.read_bytes()
    async with aclosing(session.begin()) as events:
        async for _ in events:
            break
    assert session.path.read_bytes() == before


async def test_a_step_that_another_operator_finished_meanwhile_is_not_started(session, seen):
    at(session, "stack-down")
    seen(cluster(), meanwhile=lambda: elsewhere(session, passed("stack-down", down())))
    with pytest.raises(ChangeError, match="Step stack-down is done"):
        await start(session)


async def test_a_step_that_stops_nothing_is_refused_before_anything_is_read(session, seen):
    seen(cluster(), meanwhile=lambda: pytest.fail("the nodes were read"))
    with pytest.raises(ChangeError, match="Step agree stops nothing"):
        await start(session)
