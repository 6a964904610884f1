"""Facts that only a change needs: its recordings, its backups, and other copies of its journal."""

from __future__ import annotations

import msgspec

from checks.model.facts.base import Fact, NotGathered, Unknown
from checks.model.facts.database_facts import OpenPluggable
from checks.model.facts.grid import ArchiveSeen, FileSeen, OcrBackup
from checks.model.facts.sysctl_facts import SysctlFiles, UdpSocket


class SeenRecording(Fact, frozen=True, kw_only=True):
    """The content of a recording that a change needs."""

    path: str
    begun_at: str
    """ISO 8601, with the zone of the node that recorded."""
    seconds: float
    """From its first sample to its last."""
    sampled: dict[str, float] = msgspec.field(default_factory=dict)
    """The share of that time, 0 to 1, that samples of each node cover."""
    mtus: dict[str, dict[str, tuple[int, ...]]] = msgspec.field(default_factory=dict)
    """The MTUs of each private interface during the recording, in order: by node, by interface."""
    private_bytes_per_s: dict[str, float] = msgspec.field(default_factory=dict)
    """The traffic of each node's private interfaces, both directions together."""
    cluster: str = ""
    """The name of the recorded cluster; empty where Clusterware did not report it."""


class RestorePoint(Fact, frozen=True, kw_only=True):
    """A restore point of the connected database (V$RESTORE_POINT)."""

    name: str
    is_guaranteed: bool
    storage_bytes: int | None = None
    """The size of its flashback logs; None where the database does not report it."""


class RecoveryArea(Fact, frozen=True, kw_only=True):
    """The recovery area of the connected database, and its modes (V$RECOVERY_FILE_DEST, V$DATABASE)."""

    log_mode: str
    """`ARCHIVELOG`, `NOARCHIVELOG`."""
    location: str
    """`+RECO`; empty where the database has no recovery area."""
    limit_bytes: int
    used_bytes: int
    reclaimable_bytes: int
    """The part of the used bytes that the database deletes when it needs the space."""

    @property
    def free_bytes(self) -> int:
        """The bytes that are free, or that the database can free."""
        return max(self.limit_bytes - self.used_bytes + self.reclaimable_bytes, 0)


class JournalSeen(Fact, frozen=True, kw_only=True):
    """The journal of a change of the MTU, in short."""

    id: str
    cluster: str
    opened_at: str
    """ISO 8601, with the zone of the node, as `closed_at`."""
    closed_at: str
    """Empty while the change is open."""
    outcome: str
    """`signed off`, `rolled back`, `abandoned`; empty while the change is open."""
    headline: str
    """`MTU 1500 → 9000`."""
    mtu_after: int


class NoRecording(Fact, frozen=True):
    """A recording that does not exist on this node."""

    path: str


class BeforeAfter(msgspec.Struct, frozen=True, kw_only=True):
    """The values before and after a change, each with its unit: `0.61 ms`."""

    before: str
    after: str


class PredictedFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure that was predicted from the recording before a change, with its measurement after the change."""

    name: str
    """`rac1 packets in`."""
    predicted: str
    """With its interval and unit: `291/s (283 to 298)`."""
    measured: str
    at_load: str
    """The load measured after the change, as a share of that before it: `99 % of the blocks`; empty if not known."""


class RecordingsCompared(Fact, frozen=True, kw_only=True):
    """The result of `racwire compare` on the recordings before and after, in short."""

    summary: tuple[str, ...]
    """The result as text, one or two sentences each."""
    harm: tuple[str, ...] = ()
    """Metrics that a change of MTU must not harm and that got worse by more than noise: losses, failed reassemblies,
    errors, receive times. `blocks lost from 0 to 3.2 1/s`."""
    worse: tuple[str, ...] = ()
    """Other metrics that got worse, such as CPU time."""
    open: tuple[str, ...] = ()
    """Reasons why some or all metrics have no verdict: the environment changed, too few samples, losses too rare."""
    figures: dict[str, BeforeAfter] = msgspec.field(default_factory=dict)
    """The values by the name of the metric."""
    predicted: tuple[PredictedFigure, ...] = ()
    """What the first recording predicts for the MTU of the second one, and what the second one has."""


class JournalCopy(Fact, frozen=True, kw_only=True):
    """A copy of a change journal of this cluster on another node."""

    node: str
    path: str
    begins: str
    """The first few hundred bytes, which are the same in every copy."""
    lines: int | Unknown
    """The number of the last complete line."""
    outcome: str = ""
    """`signed off`, `rolled back`, `abandoned`; empty while it is open."""


class StoredHash(Fact, frozen=True):
    """The hash of a line of this change's journal that people stored on another node."""

    path: str
    line: int
    """The number of the line, which was the last one then."""
    sha256: str


class Changing(Fact, frozen=True, kw_only=True):
    """The facts of one change, in addition to the facts of the cluster."""

    before: SeenRecording | NoRecording | Unknown | NotGathered = NotGathered()
    after: SeenRecording | NoRecording | Unknown | NotGathered = NotGathered()
    compared: RecordingsCompared | NoRecording | Unknown | NotGathered = NotGathered()
    backups: dict[str, dict[str, FileSeen | Unknown]] = msgspec.field(default_factory=dict)
    """The expected backup files of the change, by node and path."""
    archives: dict[str, ArchiveSeen | Unknown] = msgspec.field(default_factory=dict)
    """The contents of the archive of each node's network files; missing where the node has no such archive."""
    registries: dict[str, OcrBackup | Unknown | None] = msgspec.field(default_factory=dict)
    """The newest manual backup of each node's local registry (OLR); None where there is none."""
    registry_files: dict[str, FileSeen | Unknown] = msgspec.field(default_factory=dict)
    """The files of these backups, by node."""
    ocr_file: FileSeen | Unknown | NotGathered = NotGathered()
    """The file of the newest manual backup of the cluster's registry (OCR)."""
    asm_metadata: FileSeen | Unknown | NotGathered = NotGathered()
    """The file of the ASM metadata on the node where the plan makes it."""
    unasked: dict[str, Unknown] = msgspec.field(default_factory=dict)
    """The nodes that could not be queried for these facts, with the reasons."""
    addresses: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """The addresses to which each node's name resolves on this node; a missing name could not be resolved."""
    copies: dict[str, tuple[JournalCopy, ...]] = msgspec.field(default_factory=dict)
    """Journals of this cluster's changes in the same directory on each peer."""
    hashes: dict[str, tuple[StoredHash, ...]] = msgspec.field(default_factory=dict)
    """The stored hashes of this change's journal, by peer."""
    pluggables: tuple[OpenPluggable, ...] | Unknown | NotGathered = NotGathered()
    """The open PDBs of the connected database; none where it has no containers."""
    sysctl_files: dict[str, SysctlFiles | Unknown] = msgspec.field(default_factory=dict)
    """What sets the kernel settings of each node at its next boot; empty for a change of other things."""
    udp_sockets: dict[str, tuple[UdpSocket, ...] | Unknown] = msgspec.field(default_factory=dict)
    """The UDP sockets of each node; empty for a change of other things than receive buffers."""
    again: SeenRecording | NoRecording | Unknown | NotGathered = NotGathered()
    """The second recording before the change, of an experiment."""
    unlike: tuple[str, ...] | NoRecording | Unknown | NotGathered = NotGathered()
    """What differs in the environments of the two recordings before the change: `rac1 kernel: 5.4 and 5.15`."""
    restore_points: tuple[RestorePoint, ...] | Unknown | NotGathered = NotGathered()
    recovery_area: RecoveryArea | Unknown | NotGathered = NotGathered()
    changes: tuple[JournalSeen, ...] | Unknown | NotGathered = NotGathered()
    """The changes whose journals are on this node, as an experiment needs them."""
