"""Commands that make racwire's recordings before and after a change, and compare them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checks.change.plan.change_plan import PlannedDatabase
from checks.change.plan.command_block import Commands, Who, as_sysdba
from checks.change.steps.draft import Draft
from checks.model.settings import Settings
from checks.model.shell_command import shell
from checks.model.wording import counted

_MINUTE, _HOUR = 60, 3600
RECORD = "racwire record"
"""The first words of each command line that records."""
_ADD_FORCE = "To replace a recording that does not pass, add --force."
"""The note of the lines that record."""


def options_of(settings: Settings) -> str:
    """Return the options, as they are typed, that make another racwire process check the same cluster and database.

    They never have a password.
    """
    cluster, database = settings.cluster, settings.database
    named = (
        ("--grid-home", cluster.grid_home),
        *(("--network", subnet) for subnet in cluster.networks),
        *(("--peer", peer) for peer in cluster.peers),
        ("--connect", database.connect),
        ("--user", database.user),
        ("--password-file", database.password_file),
        ("--wallet", database.wallet),
        ("--tns-admin", database.tns_admin),
        ("--oracle-home", database.oracle_home),
    )
    flags = (
        ("--os-auth", database.os_authentication),
        ("--sysdba", database.sysdba),
        ("--thick", database.thick),
    )
    options = [" ".join((option, shell("{value}", value=value))) for option, value in named if value]
    return " ".join((*options, *(flag for flag, is_set in flags if is_set)))


def record(file: str, label: str, seconds: int, options: str = "") -> str:
    """Return the command line that records into `file` for `seconds`."""
    start = shell("--for {time} --label {label}", time=duration(seconds), label=label)
    return " ".join(filter(None, (RECORD, start, options, shell("{file}", file=file))))


def stretch_s(seconds: int) -> float | None:
    """Return the length, in seconds, of the stretches that two recordings of `seconds` are compared by.

    None means the default of `racwire compare`. The default gives too few stretches in less than a minute: recordings
    of a rehearsal are compared second by second.
    """
    return 1.0 if seconds < _MINUTE else None


def compare(before: str, after: str, seconds: int) -> str:
    """Return the command line that compares two recordings of `seconds` each."""
    stretch = stretch_s(seconds)
    script = "racwire compare {before} {after}"
    if stretch is not None:
        script = "racwire compare --stretch {stretch} {before} {after}"
    return shell(script, before=before, after=after, stretch=f"{stretch or 0:g}s")


def for_time(seconds: int) -> str:
    """Return a time for a sentence: `90 seconds`, `10 minutes`, `2 hours`."""
    for unit, name in ((_HOUR, "hour"), (_MINUTE, "minute")):
        if seconds % unit == 0:
            return counted(seconds // unit, name)
    return counted(seconds, "second")


def duration(seconds: int) -> str:
    """Return a time as an option of racwire: `90s`, `10m`, `2h`."""
    if seconds % _HOUR == 0:
        return f"{seconds // _HOUR}h"
    return f"{seconds // _MINUTE}m" if seconds % _MINUTE == 0 else f"{seconds}s"


_SNAPSHOT = "EXECUTE DBMS_WORKLOAD_REPOSITORY.CREATE_SNAPSHOT"
_REPORT = "@?/rdbms/admin/awrgrpt.sql"
"""The AWR report of all instances (Database Performance Tuning Guide, Generating AWR Reports)."""


def recording(
    draft: Draft,
    databases: Iterable[PlannedDatabase],
    file: str,
    label: str,
    when: str,
    *others: Commands,
    note: str = "",
) -> Iterator[Commands]:
    """Yield the commands that record into a file, then the others; with a licence, around them AWR snapshots.

    `when` is the moment to start; `note` comes before the note on a file that exists.
    """
    licensed = [database.name for database in databases if draft.has_pack]
    for name in licensed:
        yield as_sysdba(name, (_SNAPSHOT,), "when the recording starts, for an AWR report")
    line = record(file, label, draft.record_s, draft.options)
    note = f"{note} {_ADD_FORCE}".strip()
    yield Commands(Who.RACWIRE_USER, (line,), draft.first, note, draft.login, purpose=when)
    yield from others
    note = "awrgrpt.sql asks for the two snapshots. Keep the report with the recording: racwire does not read it."
    for name in licensed:
        yield as_sysdba(name, (_SNAPSHOT, _REPORT), "when the recording has ended, for an AWR report", note)
