"""Gates of an experiment about its database: its name, its recovery area, and its restore point."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.gates.gate import THEN_VERIFY, GatePlace, gate
from checks.change.plan.change_plan import PlannedExperiment
from checks.change.steps.backup_commands import CREATE_POINT, DROP_POINT
from checks.model.check import Kind
from checks.model.facts import Database, Unknown, part_of
from checks.model.finding import Finding, NextStep
from checks.model.own_command import OwnCommand
from checks.model.shell_command import sql
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
_SQL_USER = "SYSDBA of the test database, in SQL*Plus, not in a PDB"


def planned_of(at: GatePlace) -> PlannedExperiment:
    """Return the experiment of the plan. Raises ValueError for the plan of a change, which has no such gates."""
    if (planned := at.change.opened.experiment) is None:
        raise ValueError("the plan has no experiment")
    return planned


@gate(
    "test-database",
    question="Is this the database whose name was typed?",
    needs=("managed",),
    uses=("database",),
    kinds=(IS_DATABASE, OTHER_DATABASE, DATABASE_NOT_KNOWN),
)
def test_database(at: GatePlace) -> Iterator[Finding]:
    """Compares the typed name with the databases that Clusterware lists, and with the connected database."""
    name, connected = planned_of(at).database, at.cluster.database
    databases = part_of(at.cluster.managed, lambda managed: managed.databases)
    if isinstance(connected, Database) and connected.name.casefold() != name.casefold():
        yield at.fails(
            OTHER_DATABASE,
            connected.name,
            f"The connected database is {connected.name}, and the experiment is for {name}.",
            NextStep("Connect to the test database.", own=(OwnCommand("verify", "--connect STRING"),)),
        )
    elif isinstance(databases, Unknown):
        yield at.not_known(DATABASE_NOT_KNOWN, "Which databases run is not known", databases)
    elif all(one.name.casefold() != name.casefold() for one in databases):
        sentence = f"Clusterware lists no database {name}, only {listed(one.name for one in databases) or 'none'}."
        yield at.fails(OTHER_DATABASE, f"no {name}", sentence)
    else:
        is_connected = isinstance(connected, Database)
        seen = "Clusterware and the connected database report" if is_connected else "Clusterware reports"
        yield at.holds(IS_DATABASE, name, f"{seen} the name {name}.")


@gate(
    "recovery-area",
    question="Has the recovery area room for the logs of a run?",
    needs=("changing", "database"),
    topic="sql recovery_area",
    kinds=(HAS_ROOM, NO_ROOM, AREA_NOT_KNOWN),
)
def recovery_area(at: GatePlace) -> Iterator[Finding]:
    """Reads V$RECOVERY_FILE_DEST and the log mode. At least a tenth of the area must be free or reclaimable.

    Every later step verifies it again, until the restore point is dropped.
    """
    area = at.changing.recovery_area
    if isinstance(area, Unknown):
        yield at.not_known(AREA_NOT_KNOWN, "The recovery area is not known", area)
        return
    free = _gb(area.free_bytes)
    if area.log_mode != "ARCHIVELOG":
        yield at.fails(
            NO_ROOM,
            area.log_mode or "log mode not known",
            f"The database is in {area.log_mode or 'an unknown'} mode, and a guaranteed restore point needs "
            "ARCHIVELOG.",
            _in_sql(
                "Stop all instances of the test database with srvctl. Mount one, set the mode and shut it down; then "
                "start the database with srvctl.",
                "STARTUP MOUNT",
                "ALTER DATABASE ARCHIVELOG;",
                "SHUTDOWN IMMEDIATE",
            ),
            THEN_VERIFY,
        )
    elif not area.location or not area.limit_bytes:
        yield at.fails(
            NO_ROOM,
            "no recovery area",
            "The database has no recovery area: db_recovery_file_dest or its size is not set.",
            _in_sql(
                "Set the size and the place; 200G and +RECO stand for yours.",
                "ALTER SYSTEM SET db_recovery_file_dest_size = 200G SCOPE=BOTH SID='*';",
                "ALTER SYSTEM SET db_recovery_file_dest = '+RECO' SCOPE=BOTH SID='*';",
            ),
            THEN_VERIFY,
        )
    elif area.free_bytes < _ROOM * area.limit_bytes:
        yield at.fails(
            NO_ROOM,
            f"{free} free",
            f"Only {free} of {_gb(area.limit_bytes)} of the recovery area {area.location} are free or reclaimable: the "
            "database stops when it is full.",
            NextStep("Enlarge the area, or delete backups that are not needed.", where=_SQL_USER),
            THEN_VERIFY,
        )
    else:
        yield at.holds(
            HAS_ROOM,
            f"{free} free",
            f"The recovery area {area.location} has {free} of {_gb(area.limit_bytes)} free or reclaimable, and the "
            f"database is in {area.log_mode} mode.",
        )


def _in_sql(text: str, *statements: str) -> NextStep:
    return NextStep(text, statements, _SQL_USER, is_change=True)


def _gb(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB"


@gate(
    "restore-point",
    question="Does the guaranteed restore point exist?",
    needs=("changing", "database"),
    topic="sql restore_points",
    kinds=(POINT_THERE, POINT_MISSING, POINT_NOT_KNOWN),
)
def restore_point(at: GatePlace) -> Iterator[Finding]:
    """Reads V$RESTORE_POINT. Every later step verifies it again, until the restore point is dropped."""
    name, points = planned_of(at).restore_point, at.changing.restore_points
    if isinstance(points, Unknown):
        yield at.not_known(POINT_NOT_KNOWN, "The restore points are not known", points)
        return
    create = sql(CREATE_POINT, name=name)
    point = next((one for one in points if one.name.upper() == name), None)
    if point is None:
        remedy = _in_sql("Create it, from the same data.", create)
        yield at.fails(POINT_MISSING, "missing", f"The restore point {name} is not there.", remedy, THEN_VERIFY)
    elif not point.is_guaranteed:
        remedy = _in_sql("Create it, from the same data.", sql(DROP_POINT, name=name), create)
        sentence = f"The restore point {name} is no guaranteed restore point."
        yield at.fails(POINT_MISSING, "not guaranteed", sentence, remedy, THEN_VERIFY)
    else:
        size = "" if point.storage_bytes is None else f" Its flashback logs have {_gb(point.storage_bytes)}."
        yield at.holds(POINT_THERE, name, f"The guaranteed restore point {name} exists.{size}")


@gate(
    "restore-point-dropped",
    question="Is the restore point of the experiment dropped?",
    needs=("changing", "database"),
    topic="sql restore_points",
    kinds=(POINT_DROPPED, POINT_LEFT, POINT_NOT_KNOWN),
)
def restore_point_dropped(at: GatePlace) -> Iterator[Finding]:
    """Reads V$RESTORE_POINT, which must not have the restore point of the experiment any more."""
    name, points = planned_of(at).restore_point, at.changing.restore_points
    if isinstance(points, Unknown):
        yield at.not_known(POINT_NOT_KNOWN, "The restore points are not known", points)
    elif any(one.name.upper() == name for one in points):
        drop = _in_sql("Drop it.", sql(DROP_POINT, name=name))
        yield at.fails(POINT_LEFT, "still there", f"The restore point {name} is still there.", drop, THEN_VERIFY)
    else:
        others = [one.name for one in points if one.is_guaranteed]
        more = f" Other guaranteed restore points: {listed(others)}." if others else ""
        yield at.holds(POINT_DROPPED, "dropped", f"The restore point {name} is dropped.{more}")
