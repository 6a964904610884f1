"""The services of a change: recorded in the plan, compared after the restart, the missing ones named."""

import msgspec
import pytest

from checks.change.plan.change_plan import PlannedDatabase, PlannedPluggable
from checks.model.facts import Changing, Managed, ManagedDatabase, MissingRight, OpenPluggable, Unknown
from checks.model.finding import Finding, Status
from tests.fixtures.change_plans import PROD, plan_for, to_change
from tests.fixtures.databases import database
from tests.unit.change_gate_support import found
from tests.unit.change_support import cluster, plan, until

BEFORE = (("crm", "rac1"), ("crm", "rac2"), ("batch", "rac1"))
PLANNED = PlannedDatabase(name="prod", instances={"rac1": "prod1", "rac2": "prod2"}, services=BEFORE)


def compared(*services: tuple[str, str], planned: PlannedDatabase = PLANNED) -> tuple[Finding, ...]:
    managed = Managed((ManagedDatabase("prod", (("prod1", "rac1"),), services=services),), None)
    return judged(managed, planned)


def judged(managed: Managed | Unknown, planned: PlannedDatabase = PLANNED) -> tuple[Finding, ...]:
    now = msgspec.structs.replace(cluster(), managed=managed)
    return found("services-up", now, until("other-nodes", opened=plan(databases=(planned,))))


def test_the_plan_holds_the_running_services_and_the_gate_compares_them():
    made = plan_for(to_change(databases=(msgspec.structs.replace(PROD, services=BEFORE),)))
    assert made.databases[0].services == BEFORE
    databases = made.step("databases")
    assert "services-up" in [gate.check for gate in databases.gates]
    assert "with its services" in databases.expected
    stop = next(block for block in made.step("stack-down").commands if "stop database" in block.lines[0])
    assert "crm (rac1, rac2), batch (rac1)" in stop.note


def test_a_database_without_services_has_no_such_gate():
    without = plan_for(to_change())
    assert "services-up" not in [gate.check for step in without.steps for gate in step.gates]
    (skipped,) = judged(Unknown("not asked"), msgspec.structs.replace(PLANNED, services=()))
    assert skipped.status is Status.SKIPPED


def test_services_that_were_not_read_are_written_down_by_hand():
    unread = ManagedDatabase("prod", Unknown("PRCD-1229 : its version differs"))
    made = plan_for(to_change(databases=(unread,)))
    assert made.databases[0].services is None
    stop = next(block for block in made.step("stack-down").commands if "stop database" in block.lines[0])
    assert "srvctl status database -d prod -v" in stop.note


def test_the_same_services_pass_in_any_order():
    (passed,) = compared(*reversed(BEFORE))
    assert (passed.status, passed.subject) == (Status.PASS, "prod: 2 services")


def test_a_missing_service_is_named_with_the_command_that_starts_it():
    (failed,) = compared(("crm", "rac1"))
    assert (failed.status, failed.subject) == (Status.FAIL, "prod: crm and 1 more missing")
    assert failed.title == (
        "prod does not offer every service as before: crm ran on rac1 and rac2 and runs on rac1 and batch ran on rac1 "
        "and does not run."
    )
    starts = [command for remedy in failed.next if remedy.is_change for command in remedy.commands]
    assert starts == ["srvctl start service -d prod -s crm", "srvctl start service -d prod -s batch"]


def test_a_service_on_another_node_is_told_and_prevents_nothing():
    (moved,) = compared(("crm", "rac1"), ("crm", "rac2"), ("batch", "rac2"))
    assert (moved.status, moved.subject) == (Status.INFO, "prod: batch moved")
    assert "batch ran on rac1 and runs on rac2" in moved.title


@pytest.mark.parametrize(
    "managed",
    [
        Unknown("srvctl could not be run."),
        Managed(Unknown("`srvctl config database` printed PRCR-1068."), None),
        Managed((ManagedDatabase("prod", Unknown("PRCD-1229")),), None),
        Managed((), None),
    ],
)
def test_services_that_cannot_be_read_do_not_pass(managed):
    (unknown,) = judged(managed)
    assert unknown.status is Status.UNKNOWN
    assert unknown.next[0].commands == ("srvctl status service -d prod",)


def test_a_plan_of_an_earlier_version_has_no_services():
    old = msgspec.json.decode(b'{"name": "prod", "instances": {"rac1": "prod1"}}', type=PlannedDatabase)
    assert old.services is None


# --- pluggable databases ----------------------------------------------------------------------------------------------

OPEN = (
    OpenPluggable("prod1", "CRM", "READ WRITE"),
    OpenPluggable("prod2", "CRM", "READ WRITE"),
    OpenPluggable("prod1", "HR", "READ ONLY"),
)
HELD = PlannedDatabase(
    name="prod",
    instances={"rac1": "prod1", "rac2": "prod2"},
    services=(),
    pluggables=tuple(PlannedPluggable(p.name, p.instance, p.mode) for p in OPEN),
)


def pdbs(now: tuple[OpenPluggable, ...] | Unknown, name: str = "prod") -> Finding:
    facts = msgspec.structs.replace(cluster(), changing=Changing(pluggables=now), database=database(2, name=name))
    (finding,) = found("pdbs-open", facts, until("other-nodes", opened=plan(databases=(HELD,))))
    return finding


def test_the_plan_holds_the_open_pdbs_and_the_gate_compares_them():
    built = msgspec.structs.replace(to_change(), database=database(2), changing=Changing(pluggables=OPEN))
    made = plan_for(built)
    assert made.databases[0].pluggables == HELD.pluggables
    assert [gate.check for gate in made.step("databases").gates][-1] == "pdbs-open"
    stop = next(block for block in made.step("stack-down").commands if "stop database" in block.lines[0])
    assert "CRM (prod1 READ WRITE, prod2 READ WRITE), HR (prod1 READ ONLY)" in stop.note
    assert "As noted" not in made.step("sign-off").attest


def test_pdbs_that_were_not_read_are_noted_and_attested():
    made = plan_for(to_change())
    assert made.databases[0].pluggables is None
    assert "pdbs-open" not in [gate.check for step in made.steps for gate in step.gates]
    stop = next(block for block in made.step("stack-down").commands if "stop database" in block.lines[0])
    assert "SELECT inst_id, name, open_mode, restricted FROM gv$pdbs" in stop.note
    assert made.step("sign-off").attest.endswith("As noted in the step stack-down: the open PDBs of prod.")


def test_the_same_pdbs_pass():
    assert pdbs(OPEN).status is Status.PASS


def test_a_pdb_that_is_not_open_is_named_with_the_command_that_opens_it():
    finding = pdbs((OPEN[0], OpenPluggable("prod1", "HR", "READ WRITE", is_restricted=True)))
    assert (finding.status, finding.subject) == (Status.FAIL, "prod: CRM and 1 more not open")
    assert finding.title == (
        "PDBs of prod are not open as before: CRM was READ WRITE on prod2 and HR was READ ONLY on prod1."
    )
    assert finding.next[0].commands == (
        "ALTER PLUGGABLE DATABASE CRM OPEN READ WRITE INSTANCES = ('prod2');",
        "ALTER PLUGGABLE DATABASE HR OPEN READ ONLY INSTANCES = ('prod1');",
    )


def test_a_renumbered_instance_is_no_missing_pdb():
    moved = (OPEN[0], OpenPluggable("prod3", "CRM", "READ WRITE"), OPEN[2])
    assert pdbs(moved).status is Status.PASS


def test_pdbs_that_cannot_be_read_do_not_pass():
    right = MissingRight("CONTAINER_DATA", ("ALTER USER C##RACWIRE ...;",))
    finding = pdbs(Unknown("C##RACWIRE sees no PDB$SEED", right))
    assert finding.status is Status.UNKNOWN
    assert finding.next[0].commands == right.commands
    assert pdbs(OPEN, "other").status is Status.UNKNOWN
