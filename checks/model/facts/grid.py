"""Facts about the cluster that Grid Infrastructure reports."""

from __future__ import annotations

from checks.model.facts.base import Fact, NotGathered, Unknown


class ToolMessage(Fact, frozen=True):
    """A message line of an Oracle tool, such as `PRIF-29: Warning: wildcard in network parameters ...`."""

    code: str
    text: str


class StaleHome(Fact, frozen=True):
    """A file or setting that names a Grid home other than the one in use."""

    path: str
    named_by: str
    reason: str


class GridHome(Fact, frozen=True):
    """The directory in which Grid Infrastructure is installed, and the source that names it."""

    path: str
    named_by: str
    """`settings`, `environment GRID_HOME`, `/etc/oracle/olr.loc`, `running ocssd.bin`, `/etc/oratab`, `inventory`."""
    owner: str = ""
    """The user who owns the home: this user may run oifcfg."""
    stale: tuple[StaleHome, ...] = ()


class ConfiguredInterface(Fact, frozen=True):
    """A line of `oifcfg getif`."""

    name: str
    """The name can be a pattern (`eth*`, `*`): then the subnet selects the interface."""
    subnet: str
    scope: str
    """`global` or `node-specific`."""
    roles: tuple[str, ...]
    """Sorted: `asm`, `cluster_interconnect`, `public`, ..."""

    @property
    def is_private(self) -> bool:
        """Whether Cache Fusion and Clusterware may use the network."""
        return "cluster_interconnect" in self.roles

    @property
    def is_public(self) -> bool:
        """Whether clients connect over the network."""
        return "public" in self.roles

    @property
    def is_pattern(self) -> bool:
        """Whether the name is a wildcard, as the installer stores it when names differ between nodes."""
        return "*" in self.name or "?" in self.name


class InterfaceConfiguration(Fact, frozen=True):
    """The output of `oifcfg getif`: the networks, and the messages between them."""

    interfaces: tuple[ConfiguredInterface, ...] = ()
    messages: tuple[ToolMessage, ...] = ()
    only_in_ocr: tuple[ConfiguredInterface, ...] = ()
    """Entries under `Only in OCR:`, which are in the OCR and not in the GPnP profile."""
    not_understood: tuple[str, ...] = ()
    """Lines with an unknown format, as printed."""


class ListedInterface(Fact, frozen=True):
    """A line of `oifcfg iflist -p -n`: an interface of this node. Its PRIVATE/PUBLIC is a guess and decides nothing."""

    name: str
    subnet: str
    guess: str = ""
    prefix_length: int | None = None


class ClusterMember(Fact, frozen=True):
    """A line of `olsnodes -n -i -s -t`."""

    name: str
    number: int | Unknown = Unknown("not printed")
    vip: str = ""
    status: str = ""
    """`Active` or `Inactive`."""
    pinning: str = ""
    """`Pinned` or `Unpinned`."""


class ActiveVersion(Fact, frozen=True):
    """`crsctl query crs activeversion -f`."""

    version: str
    upgrade_state: str | Unknown = Unknown("crsctl did not print it (before 12.1)")
    """`NORMAL`, `ROLLING PATCH`, `ROLLING UPGRADE`, ..."""
    patch_level: str | Unknown = Unknown("crsctl did not print it (before 12.1)")


class Haip(Fact, frozen=True):
    """The resource ora.cluster_interconnect.haip on this node."""

    present: bool
    """False where this Grid Infrastructure has no such resource (Exadata, Oracle Restart, disabled at install)."""
    target: str = ""
    state: str = ""
    server: str = ""


class Clusterware(Fact, frozen=True):
    """The facts about the cluster that Grid Infrastructure reports on this node."""

    grid_home: GridHome
    local_node: str | Unknown
    cluster_name: str | Unknown
    members: tuple[ClusterMember, ...] | Unknown
    configuration: InterfaceConfiguration | Unknown
    listed: tuple[ListedInterface, ...] | Unknown
    version: ActiveVersion | Unknown
    services: tuple[ToolMessage, ...] | Unknown
    """The lines of `crsctl check crs`."""
    haip: Haip | Unknown
    misscount_s: int | Unknown
    """Seconds without network heartbeat after which CSS evicts a node."""


class ManagedDatabase(Fact, frozen=True):
    """A database that Clusterware starts and stops."""

    name: str
    """The DB_UNIQUE_NAME, which srvctl uses."""
    instances: tuple[tuple[str, str], ...] | Unknown = ()
    """Running instances with their nodes. Unknown where srvctl does not report them, as for databases of older
    releases."""
    not_running: tuple[tuple[str, str], ...] = ()
    """Stopped instances with their nodes; the node is empty where srvctl names none."""
    services: tuple[tuple[str, str], ...] = ()
    """Running services with the nodes that offer them. Services that start with the instance by themselves, as that of
    DB_UNIQUE_NAME, are not among them: Clusterware does not manage them."""


class OcrBackup(Fact, frozen=True):
    """A manual backup of the cluster's registry (OCR) or of a node's local registry (OLR)."""

    node: str
    taken_at: str
    """ISO 8601 without a zone: the clock of that node."""
    file: str
    """A path, or from 12.2 on mostly a file in ASM: `+DATA:/prodrac/OCRBACKUP/backup_20261121_091849.ocr.258....`."""


class VotingFile(Fact, frozen=True):
    """A voting file of Clusterware."""

    state: str
    """As `crsctl query css votedisk` prints it: `ONLINE`, `OFFLINE`, `PENDOFFL`."""
    place: str
    """A device or a path."""
    disk_group: str = ""
    """The ASM disk group; empty where the file is not in ASM."""


class AsmListener(Fact, frozen=True):
    """A listener of Flex ASM, from `srvctl config listener -asmlistener`."""

    name: str
    """`ASMNET1LSNR_ASM`."""
    subnet: str


class Managed(Fact, frozen=True):
    """The resources that Clusterware manages, queried on this node."""

    databases: tuple[ManagedDatabase, ...] | Unknown
    ocr_backup: OcrBackup | Unknown | None
    """The newest manual backup; None where there is none."""
    voting_files: tuple[VotingFile, ...] | Unknown | NotGathered = NotGathered()
    asm_listeners: tuple[AsmListener, ...] | Unknown | NotGathered = NotGathered()
    """Empty where ASM is not Flex ASM."""


class FileSeen(Fact, frozen=True):
    """An existing file."""

    size_bytes: int
    mtime_s: float
    """The time of the last modification, in seconds since 1970."""


class ArchiveSeen(Fact, frozen=True):
    """The list of names that `tar` printed for an archive."""

    names: tuple[str, ...]
    """As tar prints them: without a slash at the start, directories with one at the end."""
    fault: str = ""
    """What tar complained of; empty where it read the whole archive."""
