"""A restore point of a database before the change, for whoever wants one: statements for SQL*Plus.

They are no shell commands: pasted into a shell, each is a command that is not found, and nothing happens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from checks.change.change_plan import Commands, PlannedDatabase


def name_of(plan_id: str) -> str:
    """The restore point's name, one for each change: `racwire_before_2026_11_20_a`, an identifier of Oracle's."""
    return f"racwire_before_{re.sub('[^0-9A-Za-z]', '_', plan_id)}"


def create(databases: Iterable[PlannedDatabase], plan_id: str) -> tuple[Commands, ...]:
    """A guaranteed restore point of each database (Database Backup and Recovery User's Guide, Flashback Database)."""
    return tuple(
        Commands(
            f"As SYSDBA of {database.name}, in SQL*Plus, if you like:",
            (f"CREATE RESTORE POINT {name_of(plan_id)} GUARANTEE FLASHBACK DATABASE;",),
            note="It protects the data, and does nothing for the network. It needs ARCHIVELOG mode and room in the "
            "recovery area: when that is full, the database stops. Drop it afterwards; the last step says how.",
        )
        for database in databases
    )


def drop(databases: Iterable[PlannedDatabase], plan_id: str) -> tuple[Commands, ...]:
    """Its end, when nobody will go back to it."""
    return tuple(
        Commands(
            f"As SYSDBA of {database.name}, in SQL*Plus, if you made a restore point at the step backups:",
            (f"DROP RESTORE POINT {name_of(plan_id)};",),
            note="Until it is dropped it keeps flashback logs, and the recovery area fills up.",
        )
        for database in databases
    )
