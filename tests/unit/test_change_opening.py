"""Opening a change: its journal, and other changes that forbid it."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from checks.change.kinds.mtu import MtuRequest
from checks.change.plan.change_plan import Accepted
from checks.change.plan.obstacles import PlanError
from checks.change.plan.stated_network import StatedNetwork
from checks.change.progress.state import ChangeError
from checks.change.record.change_journal import ChangeJournal, ChangeJournalError
from checks.change.record.journal_files import directory_of
from checks.change.session import opening
from checks.change.session.opening import OpeningResult, open_change
from checks.change.session.vendors_file import load_kinds
from checks.model.facts import Changing, Cluster, JournalCopy, NotAsked, Unknown
from checks.model.journal import Journal
from checks.model.settings import ChangeSettings, Settings
from checks.run.check_discovery import Checks
from checks.run.events import RunFinished
from checks.run.gathering import CHANGING, GATHERERS
from checks.sources.nodes.shell import Shell, ShellError
from tests.fixtures.change_plans import to_change
from tests.unit.change_journals import OBSERVED, WHO
from tests.unit.change_support import plan


def request(target):
    return MtuRequest(target, StatedNetwork(load_kinds()))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(change=ChangeSettings(directory=str(tmp_path / "changes")))


@pytest.fixture
def begin(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    """Open a change of a cluster whose peers answer this."""

    async def opening_events(
        now: Cluster, changing: Changing | Unknown, target: int | None = 9000, accepted: tuple[Accepted, ...] = ()
    ) -> list[object]:
        def gatherer(group: str):
            async def gather(session, known):
                session.local_node = now.local_node
                return changing if group == "changing" else getattr(now, group)

            return gather

        monkeypatch.setattr(opening, "GATHERERS", tuple(replace(g, gather=gatherer(g.group)) for g in GATHERERS))
        monkeypatch.setattr(opening, "_copies_gatherer", lambda _: replace(CHANGING, gather=gatherer("changing")))
        async with aclosing(open_change(settings, Checks(()), request=request(target), accepted=accepted)) as events:
            return [event async for event in events]

    return opening_events


def copy(name: str, outcome: str = "") -> JournalCopy:
    return JournalCopy(node="rac2", path=f"/changes/prodrac-{name}.change", begins="{", lines=1, outcome=outcome)


async def test_a_new_change_has_a_journal_and_a_unique_name(settings, begin):
    over = Changing(copies={"rac2": (copy(f"{opening.datetime.now().astimezone().date()}-a", "signed off"),)})
    *events, last = await begin(to_change(), over)
    assert isinstance(events[-1], RunFinished)
    assert isinstance(last, OpeningResult)
    (file,) = directory_of(settings).glob("*.change")
    assert file == last.session.path
    assert file.stem.startswith("prodrac-")
    assert file.stem.endswith("-b")


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (Unknown("Gathering took over 420 s."), "open on the other nodes is not known: Gathering took over 420 s."),
        (Changing(unasked={"rac2": Unknown("ssh was refused.")}), "open on rac2 is not known: ssh was refused."),
    ],
)
async def test_an_unknown_journal_on_a_peer_is_an_obstacle_that_can_be_accepted(settings, begin, answer, sentence):
    with pytest.raises(PlanError) as refused:
        await begin(to_change(), answer)
    (obstacle,) = refused.value.obstacles
    assert (obstacle.code, obstacle.acceptable) == ("CH-START-030", True)
    assert sentence in obstacle.sentence
    assert list(directory_of(settings).glob("*.change")) == []
    accepted = (Accepted("CH-START-030", "", "rac2 is being rebuilt and has no journal."),)
    *_, last = await begin(to_change(), answer, accepted=accepted)
    assert isinstance(last, OpeningResult)
    (one,) = last.session.change.opened.accepted
    assert (one.code, one.reason) == ("CH-START-030", "rac2 is being rebuilt and has no journal.")


async def test_a_change_that_is_open_on_a_peer_forbids_another(settings, begin):
    with pytest.raises(ChangeError, match=r"A change of prodrac is open on rac2 \(/changes/prodrac-x.change\)"):
        await begin(to_change(), Changing(copies={"rac2": (copy("x"),)}))
    assert list(directory_of(settings).glob("*.change")) == []


async def test_a_damaged_journal_of_the_cluster_may_be_of_an_open_change(settings, begin):
    directory_of(settings).mkdir(parents=True)
    (directory_of(settings) / "prodrac-2026-11-19-a.change").write_bytes(b"torn\n")
    with pytest.raises(ChangeJournalError, match="The journal may belong to an open change"):
        await begin(to_change(), Changing())


async def test_copies_are_requested_from_peers_and_refusals_reported(tmp_path: Path):
    ChangeJournal.open_new(tmp_path, plan(), OBSERVED, who=WHO, version="1.2.3")
    shells = []

    async def shell(node: str) -> Shell:
        if node == "rac3":
            raise ShellError("ssh was refused.")
        shells.append(await Shell.open_local(node))
        return shells[-1]

    async def cluster_with(group: str) -> Cluster:
        assert group == "database"
        return msgspec.structs.replace(to_change(3), database=NotAsked("No database connection is set."))

    session = SimpleNamespace(shell=shell, journal=Journal(), local_node="rac1", cluster_with=cluster_with)
    try:
        found = await opening._copies_gatherer(tmp_path).gather(session, to_change(3))  # type: ignore[arg-type]
    finally:
        for one in shells:
            await one.close()
    assert [(c.node, c.outcome) for c in found.copies["rac2"]] == [("rac2", "")]
    assert found.unasked == {"rac3": Unknown("ssh was refused.")}
    assert found.pluggables == Unknown("No database connection is set.")


async def test_a_target_that_cannot_be_derived_must_be_named(begin):
    bare = msgspec.structs.replace(to_change(), networks=Unknown("not read"))
    with pytest.raises(ChangeError, match="specify the MTU with --to"):
        await begin(bare, Changing(), target=None)
