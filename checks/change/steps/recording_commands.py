"""racwire's own recordings before and after, and what compares them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from checks.change.change_plan import Commands, PlannedDatabase
from checks.model.settings import Settings
from checks.model.wording import counted

_MINUTE, _HOUR = 60, 3600
RECORD = "racwire record"
"""How each line that records begins."""


def options_of(settings: Settings) -> tuple[str, ...]:
    """The options that make another racwire look at the same cluster and database. Never a password."""
    cluster, database = settings.cluster, settings.database
    words: list[str] = []
    words += ["--grid-home", cluster.grid_home] if cluster.grid_home else []
    for subnet in cluster.networks:
        words += ["--network", subnet]
    for peer in cluster.peers:
        words += ["--peer", peer]
    for option, value in (
        ("--connect", database.connect),
        ("--user", database.user),
        ("--password-file", database.password_file),
        ("--wallet", database.wallet),
        ("--tns-admin", database.tns_admin),
        ("--oracle-home", database.oracle_home),
    ):
        words += [option, value] if value else []
    for flag, given in (
        ("--os-auth", database.os_authentication),
        ("--sysdba", database.sysdba),
        ("--thick", database.thick),
    ):
        words += [flag] if given else []
    return tuple(words)


def record(file: str, label: str, seconds: int, options: tuple[str, ...] = ()) -> str:
    """The line that records for so long."""
    return shlex.join((*RECORD.split(), "--for", duration(seconds), "--label", label, *options, file))


def stretch_s(seconds: int) -> float | None:
    """How long the stretches are that two recordings of so many seconds are compared by, in seconds; None for the usual
    choice. It leaves too few of them in less than a minute: those of a rehearsal are compared second by second."""
    return 1.0 if seconds < _MINUTE else None


def compare(before: str, after: str, seconds: int) -> str:
    """The line that compares the two, of so many seconds each."""
    stretch = stretch_s(seconds)
    options = () if stretch is None else ("--stretch", f"{stretch:g}s")
    return shlex.join(("racwire", "compare", *options, before, after))


def for_time(seconds: int) -> str:
    """`90 seconds`, `10 minutes`, `2 hours`."""
    for unit, name in ((_HOUR, "hour"), (_MINUTE, "minute")):
        if seconds % unit == 0:
            return counted(seconds // unit, name)
    return counted(seconds, "second")


def duration(seconds: int) -> str:
    """`90s`, `10m`, `2h`: as racwire takes it."""
    if seconds % _HOUR == 0:
        return f"{seconds // _HOUR}h"
    return f"{seconds // _MINUTE}m" if seconds % _MINUTE == 0 else f"{seconds}s"


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
