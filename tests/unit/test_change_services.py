"""The services of a change: recorded in the plan, compared after the restart, the missing ones named."""

import msgspec
import pytest

from checks.change.change_plan import PlannedDatabase
from checks.model.facts import Managed, ManagedDatabase, Unknown
from checks.model.finding import Finding, Status
from tests.fixtures.change_plans import PROD, plan_for, to_change
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
