"""Read the restore points and the recovery area of the connected database, for an experiment."""

from __future__ import annotations

from typing import Any

from checks.model.facts import Database, RecoveryArea, RestorePoint, Unknown
from checks.sources.database.connections import Connections
from checks.sources.database.errors import DatabaseError
from checks.sources.database.statements import statement


async def read_restore_points(databases: Connections, database: Database) -> tuple[RestorePoint, ...] | Unknown:
    """Return the restore points of the database; Unknown where V$RESTORE_POINT may not be read, or in a PDB.

    Source: Database Reference, V$RESTORE_POINT. In a PDB the view has the restore points of the PDB.
    """
    rows = await _rows(databases, database, "restore_points")
    if isinstance(rows, Unknown):
        return rows
    return tuple(
        RestorePoint(
            name=str(row["name"]),
            is_guaranteed=row["guarantee_flashback_database"] == "YES",
            storage_bytes=None if row["storage_size"] is None else int(row["storage_size"]),
        )
        for row in rows
    )


async def read_recovery_area(databases: Connections, database: Database) -> RecoveryArea | Unknown:
    """Return the recovery area of the database; Unknown where its views may not be read, or in a PDB.

    Source: Database Reference, V$RECOVERY_FILE_DEST: sizes in bytes.
    """
    rows = await _rows(databases, database, "recovery_area")
    if isinstance(rows, Unknown):
        return rows
    if not rows:
        return Unknown("V$DATABASE has no row")
    row = rows[0]
    return RecoveryArea(
        log_mode=str(row["log_mode"] or ""),
        location=str(row["name"] or ""),
        limit_bytes=int(row["space_limit"] or 0),
        used_bytes=int(row["space_used"] or 0),
        reclaimable_bytes=int(row["space_reclaimable"] or 0),
    )


async def _rows(databases: Connections, database: Database, name: str) -> list[dict[str, Any]] | Unknown:
    if database.in_pluggable:
        return Unknown(f"the session is in {database.container}: connect to a service of CDB$ROOT")
    try:
        connection = await databases.get()
        return list((await connection.rows(statement(name))).dicts())
    except DatabaseError as error:
        return error.unknown
