"""What the practice database is called and how it is open."""

from __future__ import annotations

from dataclasses import dataclass

from racwire_lab.oracle_sql.dictionary import Version, parse_version


@dataclass(frozen=True)
class DatabaseIdentity:
    """One database, as V$DATABASE and SYS_CONTEXT tell it."""

    name: str
    unique_name: str
    dbid: int
    version: str = "19.22.0.0.0"
    role: str = "PRIMARY"
    open_mode: str = "READ WRITE"
    is_multitenant: bool = True
    container: str = "CDB$ROOT"
    """The container that sessions are in; `CDB$ROOT` or a pluggable database."""
    container_id: int = 1
    has_statspack: bool = False
    """Whether PERFSTAT and its tables are there."""
    domain: str = ""

    @property
    def release(self) -> Version:
        """The version whose views it has. Before 12.1 there are no containers."""
        return parse_version(self.version)

    @property
    def has_containers(self) -> bool:
        """Whether it is a container database."""
        return self.is_multitenant and self.release >= (12, 1)
