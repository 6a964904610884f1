"""Facts about storage: the connections and NFS mounts of a node, and the Direct NFS and ASM of an instance."""

from __future__ import annotations

from checks.model.facts.base import Fact, Unknown


class StorageConnection(Fact, frozen=True):
    """The connections of a node to one port of one storage server that have the same packet sizes.

    Sizes are those at the end of the interval, in bytes; None where the node's `ss` does not show them.
    """

    service: str
    """`NFS`, `iSCSI`, `NVMe over TCP`."""
    local_ip: str
    remote_ip: str
    remote_port: int
    connections: int = 1
    mss: int | None = None
    """The largest segment that the node sends: the smallest of the server's offer, the path and the node's own MTU."""
    path_mtu: int | None = None
    """The path MTU as the node's kernel knows it: that of its interface or route, or less where ICMP reported less."""
    advertised_mss: int | None = None
    """The largest segment that the node offered to receive when the connection was opened."""
    stalled: int = 0
    """Connections whose oldest segment was sent again several times without an answer (`backoff` of `ss`)."""
    seconds: float = 0.0
    """From one reading to the other."""
    compared: int = 0
    """Connections that were open at both readings; the values below are theirs."""
    silent: int | None = None
    """Connections that received nothing in the interval; None where `ss` does not show received bytes."""
    segments: int | None = None
    """Segments that the node sent in the interval; None where `ss` does not show them."""
    retransmits: int | None = None
    """Segments that the node sent again in the interval. `ss` leaves out a count of 0."""


class StorageMount(Fact, frozen=True):
    """An NFS mount, from /proc/self/mountstats. Counts are those of the interval."""

    mount: str
    server_ip: str
    """Empty where the kernel does not show it."""
    protocol: str
    """The transport: `tcp`, `udp`, `rdma`."""
    version: str = ""
    """`3`, `4.1`."""
    seconds: float = 0.0
    """From one reading to the other."""
    operations: int | None = None
    """Reads and writes (RPC); None where the mount has no counts of both readings."""
    retransmits: int | None = None
    """Reads and writes that were sent again."""
    round_trip_ms: float | None = None
    """Average time from sending a read or a write to its answer; None without operations."""
    read_bytes: int | None = None
    """Bytes read from the server."""
    written_bytes: int | None = None
    server: str = ""
    """The server's name or address, as the mount names it."""


class StorageUse(Fact, frozen=True):
    """The storage that a node uses over the network."""

    connections: tuple[StorageConnection, ...] | Unknown
    """Empty where the node has none to a known port of storage."""
    mounts: tuple[StorageMount, ...] | Unknown
    """Empty where the node mounts nothing by NFS."""


class DnfsServer(Fact, frozen=True):
    """A storage server that an instance uses by Direct NFS, from GV$DNFS_SERVERS."""

    instance: int
    name: str
    """The server's name or address, as in the instance's oranfstab or the mount."""
    port: int | None = None


class AsmClient(Fact, frozen=True):
    """An instance that uses an ASM instance, from GV$ASM_CLIENT."""

    instance: int
    asm: str
    """The ASM instance: `+ASM1`."""
