"""Oracle's own report of the load, kept beside a recording: for who has the Diagnostics Pack.

Statements for SQL*Plus: pasted into a shell, each is a command that is not found, and nothing happens.
"""

from __future__ import annotations

from collections.abc import Iterable

from checks.change.change_plan import Commands, PlannedDatabase

_SNAPSHOT = "EXECUTE DBMS_WORKLOAD_REPOSITORY.CREATE_SNAPSHOT"
_REPORT = "@?/rdbms/admin/awrgrpt.sql"
"""That of all instances (Database Performance Tuning Guide, Generating AWR Reports)."""


def begun(databases: Iterable[PlannedDatabase], has_pack: bool) -> tuple[Commands, ...]:
    """A snapshot of each database at the beginning; nothing without the licence."""
    return tuple(
        Commands(
            f"As SYSDBA of {database.name}, in SQL*Plus, if you want AWR's figures, too: as the recording begins",
            (_SNAPSHOT,),
        )
        for database in databases
        if has_pack
    )


def over(databases: Iterable[PlannedDatabase], has_pack: bool) -> tuple[Commands, ...]:
    """Another one at the end, and the report between the two."""
    return tuple(
        Commands(
            f"As SYSDBA of {database.name}, in SQL*Plus, if you want AWR's figures, too: when the recording is over",
            (_SNAPSHOT, _REPORT),
            note="It asks for the two snapshots. Keep the report with the recording: racwire does not look at it.",
        )
        for database in databases
        if has_pack
    )
