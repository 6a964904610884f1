"""Facts of what Clusterware manages and has saved: databases with their instances, and backups of its registries."""

from __future__ import annotations

from checks.model.facts.base import Fact, Unknown


class ManagedDatabase(Fact, frozen=True):
    """A database that Clusterware starts and stops."""

    name: str
    """Its DB_UNIQUE_NAME, by which srvctl knows it."""
    instances: tuple[tuple[str, str], ...] | Unknown = ()
    """Those that run: instance and node. Unknown where srvctl does not tell, as for a database of an older release."""
    not_running: tuple[tuple[str, str], ...] = ()
    """Those that do not: instance and node, the node empty where srvctl names none."""


class OcrBackup(Fact, frozen=True):
    """A backup of the cluster's registry (OCR) or of a node's own (OLR) that an administrator took."""

    node: str
    taken_at: str
    """ISO 8601 without a zone: the clock of that node."""
    file: str
    """A path, or from 12.2 on mostly a file in ASM: `+DATA:/prodrac/OCRBACKUP/backup_20261121_091849.ocr.258....`."""


class Managed(Fact, frozen=True):
    """What Clusterware manages, asked on this node."""

    databases: tuple[ManagedDatabase, ...] | Unknown
    ocr_backup: OcrBackup | Unknown | None
    """The newest one taken by hand; None where there is none."""


class FileSeen(Fact, frozen=True):
    """A file that is there."""

    size_bytes: int
    mtime_s: float
    """When it was last written, in seconds since 1970."""
