"""The state of one instance of the practice database at one moment: the source of its V$ views.

The Cache Fusion daemon of each node holds the state and sends it as JSON.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

from racwire_lab.database.backend import Cancellation, OracleError

if TYPE_CHECKING:
    from collections.abc import Collection

    import duckdb


KIND_OF_BLOCK = ("data block", "undo header", "undo block", "others")
"""Block classes of GV$INSTANCE_CACHE_TRANSFER; all blocks of the daemons are in the first class."""


class Waits(msgspec.Struct):
    """Waits of one event since the start of the instance."""

    waits: int = 0
    time_us: int = 0
    wait_class: str = "Cluster"
    histogram: dict[str, int] = msgspec.field(default_factory=dict)
    """Number of waits by the upper limit of their bucket in microseconds, a power of two, as text: `"256"`."""


class Transfer(msgspec.Struct):
    """Blocks received or lost from one other instance. Times in microseconds."""

    lost: int = 0
    lost_time: int = 0
    cr_block: int = 0
    cr_block_time: int = 0
    current_block: int = 0
    current_block_time: int = 0


class Ping(msgspec.Struct):
    """Pings to one other instance. Times in microseconds."""

    current_500b: int = 0
    max_500b: int = 0
    count_500b: int = 0
    wait_time_500b: int = 0
    current_8k: int = 0
    max_8k: int = 0
    count_8k: int = 0
    wait_time_8k: int = 0


class Interconnect(msgspec.Struct):
    """A row of V$CLUSTER_INTERCONNECTS."""

    name: str
    ip_address: str
    is_public: str = "NO"
    source: str = ""


class LiveDevice(msgspec.Struct):
    """A NIC of the interconnect as in DBA_HIST_IC_DEVICE_STATS; its counters start with the node."""

    if_name: str
    ip_addr: str
    net_mask: str
    mtu: int
    bytes_received: int = 0
    packets_received: int = 0
    receive_errors: int = 0
    receive_dropped: int = 0
    receive_buf_or: int = 0
    receive_frame_err: int = 0
    bytes_sent: int = 0
    packets_sent: int = 0
    send_errors: int = 0
    sends_dropped: int = 0
    send_buf_or: int = 0
    send_carrier_lost: int = 0


class InstanceState(msgspec.Struct):
    """One instance at one moment."""

    instance: int
    name: str
    host: str
    startup_time: float
    """Seconds since the epoch, like `taken_at`."""
    taken_at: float
    version: str = "19.22.0.0.0"
    status: str = "OPEN"
    peers: list[int] = msgspec.field(default_factory=list)
    """The numbers of the other running instances."""
    statistics: dict[str, int] = msgspec.field(default_factory=dict)
    """The values of V$SYSSTAT by name; times in centiseconds."""
    events: dict[str, Waits] = msgspec.field(default_factory=dict)
    messages: dict[str, int] = msgspec.field(default_factory=dict)
    """The values of V$DLM_MISC by name."""
    transfers: dict[str, Transfer] = msgspec.field(default_factory=dict)
    """The transfers by the number of the sending instance."""
    pings: dict[str, Ping] = msgspec.field(default_factory=dict)
    """The pings by the number of the target instance."""
    interconnects: list[Interconnect] = msgspec.field(default_factory=list)
    devices: list[LiveDevice] = msgspec.field(default_factory=list)
    clients: dict[str, tuple[int, int]] = msgspec.field(default_factory=dict)
    """Bytes sent and received, by `cache`, `dlm`, `ipq`."""
    services: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)
    """The values of V$SERVICE_STATS by service and name; times in microseconds."""
    px_statements: int = 0
    """The GV$ statements that this instance coordinated."""
    px_slaves: int = 0
    """The parallel query slaves that this instance ran for GV$ statements, its own ones included."""
    parameters: dict[str, str] = msgspec.field(default_factory=dict)
    nfs_server: str = ""
    """The address of the storage server; empty without one."""
    asm: int = 0
    """The number of the ASM instance that the instance uses; 0 for none."""
    cr_flushes: int = 0
    current_flushes: int = 0


class LiveSource(Protocol):
    """The source of the instances' states."""

    def states(self, scope: Literal["here", "everywhere"], cancellation: Cancellation) -> tuple[InstanceState, ...]:
        """Return the state of this instance, or of all running instances.

        The call hangs while an instance hangs, until it is cancelled. Raises OracleError(1013) when it was cancelled.
        """
        ...


class Slaves(Protocol):
    """The parallel query slaves of GV$ statements. Both methods raise OracleError(1013) when the call was cancelled."""

    def occupy(self, slaves: int, cancellation: Cancellation) -> None:
        """Occupy so many slaves on each instance."""
        ...

    def carry(self, rows_bytes: Mapping[int, int], cancellation: Cancellation) -> None:
        """Wait until so many bytes by instance have crossed the private networks."""
        ...


class HistorySource(Protocol):
    """The source of AWR and Statspack. The tables exist, with the columns of the version."""

    def fill(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Fill the empty tables (`dba_hist_snapshot`, `stats$snapshot`, ...) once, when a statement first reads one of
        them."""
        ...

    def add_living(
        self, connection: duckdb.DuckDBPyConnection, states: tuple[InstanceState, ...], tables: Collection[str]
    ) -> None:
        """Add the snapshots of the running instances to the tables (lower-case names) that one statement reads.

        They are rolled back after the statement.
        """
        ...


_SOCKET, _STATEMENTS = "cache_fusion.sock", "parallel.sock"
_POLL_S = 0.1
"""Seconds between two checks whether the call was cancelled."""
_STATE = msgspec.json.Decoder(InstanceState | None)


class Daemons:
    """The LiveSource that reads the states from the Cache Fusion daemons, and the Slaves that these daemons run."""

    def __init__(self, here: Path, everywhere: Sequence[Path]) -> None:
        self._here = here
        self._everywhere = tuple(everywhere)

    def states(self, scope: Literal["here", "everywhere"], cancellation: Cancellation) -> tuple[InstanceState, ...]:
        """Return the state of this instance, or of all running instances.

        The call hangs while an instance hangs, until it is cancelled. Raises OracleError: 1013 when it was cancelled,
        1034 when no instance runs.
        """
        homes = (self._here,) if scope == "here" else self._everywhere
        with contextlib.ExitStack() as stack:
            connections = [stack.enter_context(connection) for home in homes for connection in _connect(home)]
            answers = [_STATE.decode(_read(connection, cancellation)) for connection in connections]
        states = tuple(state for state in answers if state is not None)
        if not states:
            raise OracleError(1034, "ORACLE not available")
        return states

    def occupy(self, slaves: int, cancellation: Cancellation) -> None:
        """Have the daemon of this instance occupy slaves: see `Slaves`."""
        self._run_slaves({"slaves": slaves, "rows": {}}, cancellation)

    def carry(self, rows_bytes: Mapping[int, int], cancellation: Cancellation) -> None:
        """Have the daemon of this instance request the rows: see `Slaves`."""
        if rows_bytes:
            rows = {str(instance): size for instance, size in rows_bytes.items()}
            self._run_slaves({"slaves": 0, "rows": rows}, cancellation)

    def _run_slaves(self, request: Mapping[str, object], cancellation: Cancellation) -> None:
        with contextlib.ExitStack() as stack:
            for connection in _connect(self._here, _STATEMENTS):
                stack.enter_context(connection)
                with contextlib.suppress(OSError):  # the daemon has ended
                    connection.sendall(msgspec.json.encode(request) + b"\n")
                _read(connection, cancellation)


def _connect(home: Path, name: str = _SOCKET) -> Iterator[socket.socket]:
    """The connection to a node's daemon; no connection when it does not run."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # The path of a socket may have at most 107 characters; this one is short.
    handle = os.open(home, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        connection.connect(f"/proc/self/fd/{handle}/{name}")
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return
    finally:
        os.close(handle)
    yield connection


def _read(connection: socket.socket, cancellation: Cancellation) -> bytes:
    """The daemon's whole answer. A daemon that has ended has no instance."""
    answer = b""
    while True:
        ready, _, _ = select.select([connection], [], [], _POLL_S)
        if cancellation.cancelled:
            raise OracleError(1013, "user requested cancel of current operation")
        if ready:
            try:
                chunk = connection.recv(1 << 16)
            except ConnectionResetError:
                return b"null"
            if not chunk:
                return answer or b"null"
            answer += chunk
