"""While a change is open on this node, findings lead to it, and never to a second one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checks.change.plan.change_plan import Plan
from checks.change.progress.change_events import Closed
from checks.change.session import verifying
from checks.change.session.open_here import advised, continued
from checks.model.finding import Finding, NextStep, Status
from checks.model.settings import ChangeSettings, Settings
from checks.run.engine import Engine
from checks.run.events import CheckConcluded
from tests.unit.change_journals import journal, plan
from tests.unit.change_support import down, until
from tests.unit.test_engine import FINE, make
from tui.cli.adviser import adviser

LOOK = NextStep("Look.", ("ip -br link",))
PROPOSED = Finding(
    check="df-ping",
    code="IC-PATH-001",
    status=Status.FAIL,
    title="x",
    next=(LOOK, *[NextStep(f"Set the MTU of {n}.", ("racwire change new --to 9000",), is_change=True) for n in (1, 2)]),
)


def here(*more: str) -> Plan:
    """Return the plan of a change of this machine."""
    return msgspec.structs.replace(plan(), nodes=(os.uname().nodename, "rac2", *more))


def settings_of(directory: Path) -> Settings:
    return Settings(change=ChangeSettings(directory=str(directory)))


def test_a_finding_leads_to_the_open_change_of_this_node(tmp_path: Path):
    assert advised((PROPOSED,), settings_of(tmp_path)) == (PROPOSED,)
    journal(tmp_path, of=here())
    (found,) = advised((PROPOSED,), settings_of(tmp_path))
    looks, continues = found.next
    assert looks == LOOK
    assert continues.commands == ("racwire change next",)
    assert continues.text.startswith(
        "The change 2026-11-20-a of prodrac is open on this node (MTU 1500 → 9000): continue"
    )
    assert adviser(settings_of(tmp_path))((PROPOSED,)) == (found,)


@pytest.mark.parametrize("kind", ["closed", "elsewhere", "unreadable", "nothing proposed"])
def test_other_findings_and_changes_are_left_alone(tmp_path: Path, kind: str):
    finding = msgspec.structs.replace(PROPOSED, next=(LOOK,)) if kind == "nothing proposed" else PROPOSED
    if kind == "closed":
        journal(tmp_path, Closed("abandoned", "Ann", "no window"), of=here())
    elif kind == "elsewhere":
        journal(tmp_path, of=plan())
    elif kind == "unreadable":
        (tmp_path / "file").write_text("")
    else:
        journal(tmp_path, of=here())
    directory = tmp_path / "file" if kind == "unreadable" else tmp_path
    assert advised((finding,), settings_of(directory)) == (finding,)


async def test_the_engine_advises_each_check():
    proposed = msgspec.structs.replace(FINE.finding("x", status=Status.PASS), check="a", next=PROPOSED.next)
    advice = continued((proposed,), here())
    for advise, expected in ((lambda _: advice, advice), (None, (proposed,))):
        engine = Engine([make("a", (), lambda cluster: (proposed,))], Settings(), gatherers=(), advise=advise)
        events = [event async for event in engine.events()]
        assert [event.findings for event in events if isinstance(event, CheckConcluded)] == [expected]


def test_a_gate_leads_to_the_change_that_it_belongs_to(monkeypatch: pytest.MonkeyPatch):
    made: list[dict[str, Any]] = []
    monkeypatch.setattr(verifying, "Engine", lambda *_, **options: made.append(options))
    of = until("set-mtu", down())
    verifying.Verification(of, Settings(), node="rac1")
    (options,) = made
    assert options["advise"]((PROPOSED,)) == continued((PROPOSED,), of.opened)
