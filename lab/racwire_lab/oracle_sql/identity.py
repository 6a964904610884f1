"""One database: its names, its open mode, and the grants of its users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from racwire_lab.database.backend import Caller
from racwire_lab.oracle_sql.dictionary import Version, View, parse_version
from racwire_lab.oracle_sql.restore_points import RestorePoints


@dataclass(frozen=True)
class DatabaseIdentity:
    """One database, as V$DATABASE and SYS_CONTEXT report it."""

    name: str
    unique_name: str
    dbid: int
    version: str = "19.22.0.0.0"
    role: str = "PRIMARY"
    open_mode: str = "READ WRITE"
    is_multitenant: bool = True
    container: str = "CDB$ROOT"
    """The container of all sessions: `CDB$ROOT` or a pluggable database."""
    container_id: int = 1
    has_statspack: bool = False
    """Whether PERFSTAT and its tables exist."""
    domain: str = ""
    restore_points: RestorePoints | None = None
    """Its restore points; None for a database that has no recovery area."""

    @property
    def release(self) -> Version:
        """The version whose views the database has. Before 12.1 there are no containers."""
        return parse_version(self.version)

    @property
    def has_containers(self) -> bool:
        """Whether it is a container database."""
        return self.is_multitenant and self.release >= (12, 1)


EVERYTHING = "*"
"""A value of `Access` for all objects: SELECT ANY DICTIONARY and the tables of PERFSTAT."""


@dataclass(frozen=True)
class Access:
    """The objects that each user may read, such as `PERFSTAT.STATS$SNAPSHOT`, or `EVERYTHING`."""

    granted: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def all(cls, *users: str) -> Access:
        """Return an Access with which these users may read everything."""
        return cls({user.upper(): frozenset({EVERYTHING}) for user in users})

    def may_read(self, caller: Caller, view: View) -> bool:
        """Whether the session may read the view."""
        if caller.is_sysdba or view.is_public or caller.user.upper() == view.owner:
            return True
        granted = self.granted.get(caller.user.upper(), frozenset())
        return EVERYTHING in granted or view.grant in granted

    def objects(self, user: str) -> frozenset[str]:
        """Return the objects granted to the user."""
        return self.granted.get(user.upper(), frozenset())
