"""Read the identity of the database, its instances and their parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from checks.model.facts import (
    AsmClient,
    Database,
    DnfsServer,
    Instance,
    InterconnectInUse,
    Parameter,
    UnaskedInstance,
    Unknown,
    release,
)
from checks.sources.database.connection import Connection
from checks.sources.database.connections import Connections
from checks.sources.database.errors import DatabaseError
from checks.sources.database.instance_views import InstanceViews, has_own_rows_only, is_fatal, why_no_row
from checks.sources.database.release_columns import statement_for
from checks.sources.database.sampling import instances_statement, iso_time
from checks.sources.database.statements import SqlStatement, statement
from checks.sources.progress import Progress

OLDEST = "11.2"
"""The oldest supported release of Oracle."""

_STEPS = 8

_Part = TypeVar("_Part")


async def read_database(databases: Connections, progress: Progress) -> Database | Unknown:
    """Read the database that the settings name, from views that need no licence and that a mounted standby also has.

    Unknown where the database cannot be reached, or where V$INSTANCE, V$DATABASE, V$ACTIVE_INSTANCES or GV$INSTANCE
    may not be read; if another view may not be read, only its part is Unknown.
    """
    try:
        progress("database", "connecting", 0, _STEPS)
        connection = await databases.get()
        return await _Identity(connection, databases, progress).read()
    except DatabaseError as error:
        return error.unknown


class _Identity:
    """Build the Database fact, statement by statement."""

    def __init__(self, connection: Connection, databases: Connections, progress: Progress) -> None:
        self._connection = connection
        self._settings = databases.settings
        self._views = InstanceViews(connection)
        self._progress = progress
        self._done = 0

    async def read(self) -> Database | Unknown:
        here = await self._one(statement("connected"))
        version = here["version"]
        if release(version) < release(OLDEST):
            return Unknown(f"{here['instance_name']} is Oracle {version}; racwire supports {OLDEST} and later.")
        database = await self._one(statement_for(version, ("database", "database_11g")))
        active = await self._rows(statement("active_instances"))
        instances = await self._instances(version)
        interconnects = await self._part(statement("interconnects"), _interconnect)
        parameters = await self._part(statement("parameters"), _parameter)
        dnfs = await self._part(statement("dnfs_servers"), _dnfs_server)
        asm = await self._part(statement("asm_clients"), _asm_client)
        if self._views.only_here and len(instances) > 1:
            # A GV$ view failed after GV$INSTANCE had answered: from then on only the connected instance counts.
            instances = await self._instances(version)
        # A connection that was opened again meanwhile can be to another instance than the first.
        connected = instances[0].number if len(instances) == 1 else int(here["instance_number"])
        instance = next((i for i in instances if i.number == connected), None)
        is_multitenant = database.get("cdb") == "YES"
        return Database(
            name=database["db_unique_name"],
            dbid=int(database["dbid"]),
            version=instance.version if instance else version,
            role=database["database_role"],
            open_mode=database["open_mode"],
            reached=self._settings.connect or "the local instance",
            user=here["logged_in_as"],
            driver=self._connection.driver,
            login_warning=self._connection.login_warning,
            connected_instance=connected,
            block_size_bytes=_block_size(parameters, connected),
            is_multitenant=is_multitenant,
            container=database["container"] or "" if is_multitenant else "",
            instances=instances,
            unasked=_unasked(
                active,
                instances,
                self._views.only_here or _own_limit(parameters, instance),
                is_late=self._views.is_late,
            ),
            interconnects=interconnects,
            parameters=parameters,
            dnfs=dnfs if isinstance(dnfs, Unknown) else tuple(dict.fromkeys(dnfs)),
            asm=asm if isinstance(asm, Unknown) else tuple(dict.fromkeys(one for one in asm if one.asm)),
        )

    async def _instances(self, version: str) -> tuple[Instance, ...]:
        rows = await self._rows(instances_statement(version))
        return tuple(sorted(map(_instance, rows), key=lambda instance: instance.number))

    async def _rows(self, query: SqlStatement) -> list[dict[str, Any]]:
        self._progress("database", f"reading {', '.join(query.reads)}", min(self._done, _STEPS), _STEPS)
        self._done += 1
        return list((await self._views.rows(query)).dicts())

    async def _one(self, query: SqlStatement) -> dict[str, Any]:
        """The row of a view that always has exactly one row."""
        rows = await self._rows(query)
        if not rows:
            raise DatabaseError(
                f"{', '.join(query.reads)} of {self._settings.connect or 'the local instance'} has no row: racwire "
                "cannot identify this database. Check that the connection is to an Oracle database."
            )
        return rows[0]

    async def _part(self, query: SqlStatement, make: Callable[[dict[str, Any]], _Part]) -> tuple[_Part, ...] | Unknown:
        """A fact for each row of an optional view; Unknown where the view could not be read."""
        try:
            return tuple(make(row) for row in await self._rows(query))
        except DatabaseError as error:
            if is_fatal(error):
                raise
            return error.unknown


def _instance(row: dict[str, Any]) -> Instance:
    return Instance(
        number=int(row["inst_id"]),
        name=row["instance_name"],
        host=(row["host_name"] or "").partition(".")[0],
        version=row["version"],
        startup_time=iso_time(row["startup_time"]),
        status=row["status"],
    )


def _interconnect(row: dict[str, Any]) -> InterconnectInUse:
    return InterconnectInUse(
        instance=int(row["inst_id"]),
        name=row["name"],
        ip=row["ip_address"] or "",
        is_public={"YES": True, "NO": False}.get(row["is_public"] or ""),
        source=row["source"] or "",
    )


def _parameter(row: dict[str, Any]) -> Parameter:
    return Parameter(int(row["inst_id"]), row["name"], row["value"] or "")


def _asm_client(row: dict[str, Any]) -> AsmClient:
    """The ASM instance is empty where the instance is not connected to it now."""
    return AsmClient(int(row["inst_id"]), row["instance_name"] or "" if row["status"] == "CONNECTED" else "")


def _dnfs_server(row: dict[str, Any]) -> DnfsServer:
    port = row["nfsport"]
    return DnfsServer(int(row["inst_id"]), row["svrname"] or "", None if port is None else int(port))


def _block_size(parameters: tuple[Parameter, ...] | Unknown, instance: int) -> int | None:
    """The block size of the connected instance, in bytes; all instances of a database have the same."""
    if isinstance(parameters, Unknown):
        return None
    sizes = {p.instance: p.value for p in parameters if p.name == "db_block_size" and p.value.isdecimal()}
    size = sizes.get(instance) or next(iter(sizes.values()), None)
    return int(size) if size else None


def _own_limit(parameters: tuple[Parameter, ...] | Unknown, connected: Instance | None) -> str:
    """Why GV$ views have rows of the connected instance only, where its own parameter says so."""
    if connected is None or not has_own_rows_only(parameters, connected.number):
        return ""
    return (
        f"GV$ views show only {connected.name}, since its parallel_max_servers is 0: connect to another instance, or "
        "have a DBA set the parameter to 1 or more."
    )


def _unasked(
    active: list[dict[str, Any]], instances: tuple[Instance, ...], only_here: str, *, is_late: bool
) -> tuple[UnaskedInstance, ...]:
    """The instances that are up but did not answer GV$INSTANCE; V$ACTIVE_INSTANCES has `rac1.example.com:prod1`."""
    answered = {i.number for i in instances}
    why = only_here or why_no_row("GV$INSTANCE")
    return tuple(
        UnaskedInstance(
            number=int(row["inst_number"]),
            name=row["inst_name"].rpartition(":")[2],
            reason=why,
            host=row["inst_name"].rpartition(":")[0].partition(".")[0],
            is_late=is_late,
        )
        for row in sorted(active, key=lambda row: int(row["inst_number"]))
        if int(row["inst_number"]) not in answered
    )
