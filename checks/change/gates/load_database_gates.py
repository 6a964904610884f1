"""Gates of an experiment about its database: its name, its recovery area, and its restore point."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.gates.gate import THEN_VERIFY, GateContext, gate, whole
from checks.change.plan.change_plan import PlannedExperiment
from checks.model.check import Kind
from checks.model.facts import Cluster, Database, Managed, NotGathered, RecoveryArea, RestorePoint, Unknown
from checks.model.finding import Finding, NextStep, Status
from checks.model.own_command import OwnCommand
from checks.model.wording import listed

IS_DATABASE = Kind("CH-TESTDB-001", "The database has the typed name")
OTHER_DATABASE = Kind(
    "CH-TESTDB-002",
    "The database is not the one of the experiment",
    "An experiment flashes its database back: what is written meanwhile is lost.",
)
DATABASE_NOT_KNOWN = Kind("CH-TESTDB-003", "Which databases run is not known")
HAS_ROOM = Kind("CH-TESTDB-004", "The recovery area has room")
NO_ROOM = Kind(
    "CH-TESTDB-005",
    "The recovery area has no room for flashback logs",
    "A guaranteed restore point needs ARCHIVELOG mode and a recovery area. The database deletes no log that the "
    "restore point needs, and stops when the area is full.",
    ("Backup and Recovery User's Guide, guaranteed restore points",),
)
AREA_NOT_KNOWN = Kind("CH-TESTDB-006", "The recovery area is not known")
POINT_THERE = Kind("CH-TESTDB-007", "The guaranteed restore point exists")
POINT_MISSING = Kind(
    "CH-TESTDB-008",
    "The guaranteed restore point is missing",
    "Without it the database cannot be flashed back, and the runs start from different data.",
)
POINT_NOT_KNOWN = Kind("CH-TESTDB-009", "The restore points are not known")
POINT_DROPPED = Kind("CH-TESTDB-010", "The restore point is dropped")
POINT_LEFT = Kind(
    "CH-TESTDB-011",
    "The guaranteed restore point is still there",
    "A forgotten guaranteed restore point fills the recovery area, until the database stops.",
    ("Backup and Recovery User's Guide, guaranteed restore points",),
)
_ROOM = 0.1
"""The least free share of the recovery area. Chosen by racwire: how much a run writes is not known before."""
_IN_SQL = "SYSDBA of the test database, in SQL*Plus, not in a PDB"


def planned_of(context: GateContext) -> PlannedExperiment:
    """Return the experiment of the plan. Raises ValueError for the plan of a change, which has no such gates."""
    if (planned := context.change.opened.experiment) is None:
        raise ValueError("the plan has no experiment")
    return planned


@gate(
    "test-database",
    question="Is this the database whose name was typed?",
    needs=("managed",),
    uses=("database",),
    kinds=(IS_DATABASE, OTHER_DATABASE, DATABASE_NOT_KNOWN),
)
def test_database(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Compares the typed name with the databases that Clusterware lists, and with the connected database."""
    name = planned_of(context).database
    databases = cluster.managed.databases if isinstance(cluster.managed, Managed) else cluster.managed
    if isinstance(cluster.database, Database) and cluster.database.name.casefold() != name.casefold():
        yield OTHER_DATABASE.finding(
            Status.FAIL,
            f"The connected database is {cluster.database.name}, and the experiment is for {name}.",
            subject=cluster.database.name,
            next=[NextStep("Connect to the test database.", own=(OwnCommand("verify", "--connect STRING"),))],
        )
    elif isinstance(databases, Unknown):
        yield DATABASE_NOT_KNOWN.finding(
            Status.UNKNOWN, f"Which databases run is not known: {whole(databases.reason)}", subject="not known"
        )
    elif all(one.name.casefold() != name.casefold() for one in databases):
        yield OTHER_DATABASE.finding(
            Status.FAIL,
            f"Clusterware lists no database {name}, only {listed(one.name for one in databases) or 'none'}.",
            subject=f"no {name}",
        )
    else:
        seen = "Clusterware and the connected database report" if _is_connected(cluster) else "Clusterware reports"
        yield IS_DATABASE.finding(Status.PASS, f"{seen} the name {name}.", subject=name)


def _is_connected(cluster: Cluster) -> bool:
    return isinstance(cluster.database, Database)


@gate(
    "recovery-area",
    question="Has the recovery area room for the logs of a run?",
    needs=("changing", "database"),
    kinds=(HAS_ROOM, NO_ROOM, AREA_NOT_KNOWN),
)
def recovery_area(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Reads V$RECOVERY_FILE_DEST and the log mode. At least a tenth of the area must be free or reclaimable.

    Every later step verifies it again, until the restore point is dropped.
    """
    area = cluster.changing if isinstance(cluster.changing, Unknown) else cluster.changing.recovery_area
    evidence = [(cluster.local_node, "sql recovery_area")]
    if isinstance(area, NotGathered | Unknown):
        yield AREA_NOT_KNOWN.finding(
            Status.UNKNOWN,
            f"The recovery area is not known: {whole(area.reason)}",
            subject="not known",
            evidence=evidence,
        )
        return
    wrong = _wrong_area(area)
    if wrong:
        short, sentence, remedy = wrong
        yield NO_ROOM.finding(Status.FAIL, sentence, subject=short, next=[remedy, THEN_VERIFY], evidence=evidence)
        return
    yield HAS_ROOM.finding(
        Status.PASS,
        f"The recovery area {area.location} has {_gb(area.free_bytes)} of {_gb(area.limit_bytes)} free or reclaimable, "
        f"and the database is in {area.log_mode} mode.",
        subject=f"{_gb(area.free_bytes)} free",
        evidence=evidence,
    )


def _wrong_area(area: RecoveryArea) -> tuple[str, str, NextStep] | None:
    """Return a short text, a sentence and a remedy for an area that does not do; None for one that does."""
    if area.log_mode != "ARCHIVELOG":
        return (
            area.log_mode or "log mode not known",
            f"The database is in {area.log_mode or 'an unknown'} mode, and a guaranteed restore point needs "
            "ARCHIVELOG.",
            NextStep("Mount one instance, and set the mode.", ("ALTER DATABASE ARCHIVELOG;",), _IN_SQL, is_change=True),
        )
    if not area.location or not area.limit_bytes:
        return (
            "no recovery area",
            "The database has no recovery area: db_recovery_file_dest or its size is not set.",
            NextStep(
                "Set the size and the place.",
                (
                    "ALTER SYSTEM SET db_recovery_file_dest_size = 200G SCOPE=BOTH SID='*';",
                    "ALTER SYSTEM SET db_recovery_file_dest = '+RECO' SCOPE=BOTH SID='*';",
                ),
                _IN_SQL,
                is_change=True,
            ),
        )
    if area.free_bytes < _ROOM * area.limit_bytes:
        return (
            f"{_gb(area.free_bytes)} free",
            f"Only {_gb(area.free_bytes)} of {_gb(area.limit_bytes)} of the recovery area {area.location} are free or "
            "reclaimable: the database stops when it is full.",
            NextStep("Enlarge the area, or delete backups that are not needed.", (), _IN_SQL),
        )
    return None


def _gb(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB"


@gate(
    "restore-point",
    question="Does the guaranteed restore point exist?",
    needs=("changing", "database"),
    kinds=(POINT_THERE, POINT_MISSING, POINT_NOT_KNOWN),
)
def restore_point(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Reads V$RESTORE_POINT. Every later step verifies it again, until the restore point is dropped."""
    name = planned_of(context).restore_point
    found = _points(cluster)
    evidence = [(cluster.local_node, "sql restore_points")]
    if isinstance(found, Unknown):
        yield _not_known(found, evidence)
        return
    point = next((one for one in found if one.name.upper() == name), None)
    if point is None or not point.is_guaranteed:
        what = "is no guaranteed restore point" if point else "is not there"
        yield POINT_MISSING.finding(
            Status.FAIL,
            f"The restore point {name} {what}.",
            subject="not guaranteed" if point else "missing",
            next=[
                NextStep(
                    "Create it, from the same data.",
                    (
                        *((f"DROP RESTORE POINT {name};",) if point else ()),
                        f"CREATE RESTORE POINT {name} GUARANTEE FLASHBACK DATABASE;",
                    ),
                    _IN_SQL,
                    is_change=True,
                ),
                THEN_VERIFY,
            ],
            evidence=evidence,
        )
        return
    size = "" if point.storage_bytes is None else f" Its flashback logs have {_gb(point.storage_bytes)}."
    yield POINT_THERE.finding(
        Status.PASS, f"The guaranteed restore point {name} exists.{size}", subject=name, evidence=evidence
    )


@gate(
    "restore-point-dropped",
    question="Is the restore point of the experiment dropped?",
    needs=("changing", "database"),
    kinds=(POINT_DROPPED, POINT_LEFT, POINT_NOT_KNOWN),
)
def restore_point_dropped(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Reads V$RESTORE_POINT, which must not have the restore point of the experiment any more."""
    name = planned_of(context).restore_point
    found = _points(cluster)
    evidence = [(cluster.local_node, "sql restore_points")]
    if isinstance(found, Unknown):
        yield _not_known(found, evidence)
    elif any(one.name.upper() == name for one in found):
        yield POINT_LEFT.finding(
            Status.FAIL,
            f"The restore point {name} is still there.",
            subject="still there",
            next=[
                NextStep("Drop it.", (f"DROP RESTORE POINT {name};",), _IN_SQL, is_change=True),
                THEN_VERIFY,
            ],
            evidence=evidence,
        )
    else:
        others = [one.name for one in found if one.is_guaranteed]
        more = f" Other guaranteed restore points: {listed(others)}." if others else ""
        yield POINT_DROPPED.finding(
            Status.PASS, f"The restore point {name} is dropped.{more}", subject="dropped", evidence=evidence
        )


def _points(cluster: Cluster) -> tuple[RestorePoint, ...] | Unknown:
    found = cluster.changing if isinstance(cluster.changing, Unknown) else cluster.changing.restore_points
    return Unknown(found.reason) if isinstance(found, NotGathered) else found


def _not_known(found: Unknown, evidence: list[tuple[str, str]]) -> Finding:
    return POINT_NOT_KNOWN.finding(
        Status.UNKNOWN,
        f"The restore points are not known: {whole(found.reason)}",
        subject="not known",
        lacks=[found],
        evidence=evidence,
    )
