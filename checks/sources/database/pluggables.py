"""Read the pluggable databases (PDBs) that are open on each instance."""

from __future__ import annotations

from checks.model.facts import Database, MissingRight, OpenPluggable, Unknown
from checks.model.shell_command import sql
from checks.sources.database.connections import Connections
from checks.sources.database.errors import DatabaseError
from checks.sources.database.grants import CONTAINER_DATA
from checks.sources.database.instance_views import InstanceViews
from checks.sources.database.statements import statement

_SEED = "PDB$SEED"
_CLOSED = "MOUNTED"


async def read_pluggables(databases: Connections, database: Database) -> tuple[OpenPluggable, ...] | Unknown:
    """Read the open PDBs of all instances; none for a database without containers.

    Unknown where the session is in a PDB, where an instance did not answer, or where the user sees no PDB: the Security
    Guide, "Managing Common Roles and Privileges", describes CONTAINER_DATA, which decides that.
    """
    if not database.is_multitenant:
        return ()
    if database.in_pluggable:
        return Unknown(f"the session is in {database.container}, and sees no other PDB")
    query = statement("pluggables")
    try:
        views = InstanceViews(await databases.get(), database.why_alone)
        rows = list((await views.rows(query)).dicts())
    except DatabaseError as error:
        return error.unknown
    if not any(row["name"] == _SEED for row in rows):
        user = database.user
        return Unknown(
            f"{user} sees no {_SEED} in {', '.join(query.reads)}, so other PDBs may be missing there too",
            MissingRight(
                f"CONTAINER_DATA of all containers on {query.reads[0]} for {user}",
                tuple(sql(line, user=user) for line in CONTAINER_DATA),
                "a DBA, AS SYSDBA, in CDB$ROOT",
            ),
        )
    answered = {int(row["inst_id"]) for row in rows}
    known = {i.number for i in database.instances} | {i.number for i in database.unasked}
    silent = [database.instance_name(number) for number in sorted(known - answered)]
    if silent:
        return Unknown(f"{', '.join(query.reads)} has no row of {', '.join(silent)}")
    return tuple(
        OpenPluggable(
            database.instance_name(int(row["inst_id"])), row["name"], row["open_mode"], row["restricted"] == "YES"
        )
        for row in rows
        if row["name"] != _SEED and row["open_mode"] and row["open_mode"] != _CLOSED
    )
