"""The lines about the interconnect in the alert logs of a node: Clusterware, database instances, ASM."""

from __future__ import annotations

from enum import StrEnum

from checks.model.facts.base import Fact, Unknown


class LogKind(StrEnum):
    """Who writes a log: an alert log, or one of the traces of Clusterware."""

    CLUSTERWARE = "Clusterware"
    DATABASE = "database"
    ASM = "ASM"
    OCSSD = "ocssd"
    GIPCD = "gipcd"
    OHASD = "ohasd"

    @property
    def is_trace(self) -> bool:
        """Whether it is a trace, which reaches back a shorter time than an alert log."""
        return self in (LogKind.OCSSD, LogKind.GIPCD, LogKind.OHASD)

    @property
    def is_of_instance(self) -> bool:
        """Whether an instance writes it."""
        return self in (LogKind.DATABASE, LogKind.ASM)


class LogLine(Fact, frozen=True):
    """A listed line of an alert log, without control characters and of limited length."""

    at: str
    """ISO 8601 with the zone of the node, or with the zone in the log; the same clock as the counters of the node."""
    code: str
    """`CRS-1612`, `ORA-29740`; for a line without a code a fixed phrase, such as `IPC Send timeout`."""
    text: str


class AlertLog(Fact, frozen=True):
    """An alert log that was found, or a trace of Clusterware that was read."""

    kind: LogKind
    path: str
    owner: str
    """The instance (SID) for a database or ASM, else the host."""
    lines: tuple[LogLine, ...] | Unknown = ()
    """The listed lines of the last day, the oldest first."""
    ipc: str = ""
    """The last text behind `cluster interconnect IPC version:`, of any age in the part that was read: the transport
    that the instance chose at its start."""
    database: str = ""
    """The DB_UNIQUE_NAME in the path of a database's log."""


class NodeLogs(Fact, frozen=True):
    """The alert logs of a node."""

    logs: tuple[AlertLog, ...] = ()
    looked_in: tuple[str, ...] = ()
    """Each ORACLE_BASE whose directory diag was searched."""
    closed: tuple[str, ...] = ()
    """The directories of logs that this user may not list."""
    cut: str = ""
    """Why logs are missing, as a clause; empty where all were read: `they took over 6 s`."""
    read_at: str = ""
    """The clock of the node, as ISO 8601 with its zone."""
