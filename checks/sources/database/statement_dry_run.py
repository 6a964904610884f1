"""What would be sent to a database, said without sending it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from checks.model.settings import Settings
from checks.sources.database.login import MODULE, READ_ONLY, Login, why_thick
from checks.sources.database.statements import Statement, statements

_IDENTITY = (
    "connected",
    "database",
    "database_11g",
    "active_instances",
    "instances",
    "instances_before_18c",
    "interconnects",
    "parameters",
)
"""What says which database it is; what is neither this nor history is read twice."""


def plan_database(settings: Settings, groups: Collection[str]) -> Iterator[str]:
    """The connection and every statement with what it is for, as lines; `groups` are the facts that are needed."""
    database = settings.database
    if not database.is_set:
        yield from (
            "",
            "No database is set, so none is asked; `racwire plan --connect SCAN:1521/SERVICE --user NAME` shows the "
            "statements.",
        )
        return
    login = Login(database, None, "")
    mode = "thick" if why_thick(database) else "thin"
    yield from (
        "",
        "The database:",
        f"  connect {login.who} to {login.where} (python-oracledb, {mode}; module {MODULE}, action the statement's "
        "name),",
        f"  giving up after {database.connect_timeout_s:g} s without a listener, {database.login_timeout_s:g} s "
        f"without a session, {database.call_timeout_s:g} s in one statement;",
        f"  {READ_ONLY}",
    )
    known = statements()
    if "database" in groups:
        yield from ("", "  once, where the release has these columns:")
        for name in _IDENTITY:
            yield from shown(known[name])
    if "activity" in groups:
        yield from (
            "",
            f"  twice, {settings.sampling.interval_s:g} s apart (for all instances; where one hangs, the V$ views of "
            "the connected one in their place):",
        )
        for name, statement in known.items():
            if name not in _IDENTITY and not _is_history(name):
                yield from shown(statement)
    if "history" in groups:
        yield from _history(settings, known)


def _history(settings: Settings, known: dict[str, Statement]) -> Iterator[str]:
    days = f"the last {settings.database.history_days:g} days"
    if settings.database.diagnostics_pack:
        yield from ("", f"  once, over {days} of AWR, since you say that you have the Diagnostics Pack:")
        for name, statement in known.items():
            if name.startswith("awr_"):
                yield from shown(statement)
    else:
        yield from ("", "  nothing of AWR: that needs the Diagnostics Pack, and --awr to say that you have it;")
    where = "where AWR may not be read" if settings.database.diagnostics_pack else "where Statspack is installed"
    yield from ("", f"  once, over {days} of Statspack, {where}:")
    for name, statement in known.items():
        if name.startswith("statspack_"):
            yield from shown(statement)


def _is_history(name: str) -> bool:
    return name.startswith(("awr_", "statspack_"))


def shown(statement: Statement) -> Iterator[str]:
    """A statement with what it is for, needs and is, as lines."""
    yield f"    {statement.topic}: {statement.purpose}"
    yield f"      SELECT on {', '.join(statement.grants)}; licence: {statement.licence}; Oracle {statement.versions}"
    yield from (f"        {line}" for line in statement.text.splitlines())
