"""Services and PDBs through a change: the gates compare them after the restart, and name what starts a missing one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.lab_support import grid, needs_namespaces
from tests.lab.rehearsal import Rehearsal

pytestmark = [pytest.mark.lab, pytest.mark.beyond_sample, needs_namespaces]


@pytest.fixture
def rehearsal(tmp_path: Path) -> Iterator[Rehearsal]:
    made = Rehearsal(tmp_path, database=True)
    yield made
    made.end()


def by_gate(verified: dict[str, Any], gate: str) -> list[dict[str, Any]]:
    return [result for result in verified["results"] if result["check"] == gate]


def test_a_service_with_the_policy_manual_stays_down_until_the_printed_command_starts_it(rehearsal: Rehearsal) -> None:
    def srvctl(words: str) -> str:
        return grid(rehearsal.lab, "rac1", "srvctl", *words.split()).stdout

    srvctl("add service -d prac -s crm -preferred prac1,prac2")
    srvctl("add service -d prac -s batch -preferred prac2 -policy MANUAL -pdb pracpdb1")
    assert srvctl("start service -d prac -s crm") == srvctl("start service -d prac -s batch") == ""
    rehearsal.begin(9000)
    rehearsal.walk("stack-down")
    stack_down = rehearsal.step()
    notes = " ".join(block["note"] for block in stack_down["commands"])
    assert "The plan holds the services that ran: crm (rac1, rac2), batch (rac2)." in notes
    assert "The plan holds the PDBs that were open: PRACPDB1 (prac1 READ WRITE, prac2 READ WRITE)." in notes
    rehearsal.walk("databases")
    start = rehearsal.step()
    assert any("(services-up, pdbs-open) name what is missing" in block["note"] for block in start["commands"])
    rehearsal.operate(start)

    verified = rehearsal.verify()
    assert (verified["passed"], verified["code"]) == (False, 2)
    (services,) = by_gate(verified, "services-up")
    assert services["status"] == "FAIL"
    assert services["sentence"] == "prac does not offer every service as before: batch ran on rac2 and does not run."
    command = "srvctl start service -d prac -s batch"
    assert command in services["next"]
    assert {result["status"] for result in by_gate(verified, "pdbs-open")} == {"PASS"}
    assert rehearsal.current == "databases"

    assert srvctl(command.removeprefix("srvctl ")) == ""
    verified = rehearsal.verify()
    assert verified["passed"], verified["results"]
    assert {result["status"] for result in by_gate(verified, "services-up")} == {"PASS"}
    rehearsal.walk()
    report = rehearsal.report()
    assert report.outcome == "signed off"
    (outage,) = report.outages
    assert outage.stopped_at
    assert outage.running_at
    assert not any("services" in override.said.step for override in report.overrides)
