"""What is over: since when a run proves it, and what its row still advises."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from checks.model.check import FailKind, PassKind, check
from checks.model.facts import Cluster
from checks.model.finding import Finding, NextStep, Status
from checks.model.journal import Entry
from checks.model.report import Report, make_report
from checks.model.run_record import RunRecord
from checks.model.situation import Standing, Statement
from checks.situation.run_history import RunHistory
from tests.fixtures.clusters import cluster
from tui.console.finding_rows import FindingRow, RowMark

FEW, MANY = FailKind("XX-SIZE-001", "Too few nodes"), PassKind("XX-SIZE-002", "Enough nodes")
READ = (("rac1", "interfaces"), ("rac1", "boot files"))


@check("size", question="Are there three nodes?", needs=("nodes",), kinds=(FEW, MANY))
def size(facts: Cluster) -> Iterator[Finding]:
    """Judge the number of nodes."""
    kind = MANY if len(facts.read_nodes()) > 2 else FEW
    yield kind.finding("The nodes were counted.", evidence=READ)


def run(nodes: int, minute: int, *topics: str) -> Report:
    """A run that reads these topics of rac1 ten seconds after it starts."""
    at = f"2026-11-20T14:{minute:02}"
    journal = [Entry("rac1", topic, "read", f"{at}:10+01:00") for topic in topics]
    facts = cluster(nodes)
    return make_report(
        version="1",
        started_at=f"{at}:00+01:00",
        duration_s=20,
        cluster=facts,
        findings=size.run(facts),
        journal=journal,
    )


def test_a_fault_is_not_over_before_the_run_that_does_not_find_it_however_old_the_other_facts_are() -> None:
    checks = {"size": size}
    history = RunHistory().after(RunRecord(report=run(2, 0, "interfaces", "boot files"), ended=0.0), checks)
    later = RunRecord(report=run(3, 5, "interfaces"), ended=0.0, checks=("size",))
    (gone,) = history.after(later, checks).gone
    assert gone.is_proved
    assert gone.looked == datetime.fromisoformat("2026-11-20T14:05:00+01:00").timestamp()


def test_a_row_of_what_is_over_advises_no_change() -> None:
    look, change = NextStep("Look at it."), NextStep("Set it.", is_change=True)
    finding = Finding(code="XX-SIZE-001", check="size", status=Status.FAIL, title="Too few.", next=(look, change))
    report = run(3, 0)

    def steps(standing: Standing) -> tuple[NextStep, ...]:
        said = Statement(standing=standing, is_bad=True, since=1.0, as_of=2.0, until=2.0)
        return FindingRow(("", "", "", (), 0), finding, RowMark.NONE, report, said=said).next

    assert steps(Standing.HOLDS) == (look, change)
    assert steps(Standing.WAS) == steps(Standing.VERIFIED) == (look,)
