"""The server of one instance of the practice database: its listener, its SQL, and the SCAN when the node holds it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from racwire_lab.cluster import stack
from racwire_lab.cluster.databases import INSTANCE_FILE, USER
from racwire_lab.cluster.instances import DesiredInstance
from racwire_lab.cluster.topology import DATABASE, PUBLIC, SCAN_ADDRESS, SERVICE_PORT, default_service, index_of
from racwire_lab.database.backend import Backend, Caller, Cancellation, OracleError, Result
from racwire_lab.database.live import Daemons, LiveSource
from racwire_lab.oracle_net.releases import release_of
from racwire_lab.oracle_net.scan import ScanListener
from racwire_lab.oracle_net.server import OracleServer
from racwire_lab.oracle_net.verifier import Verifier
from racwire_lab.programs.cache_fusion.addresses import addresses
from racwire_lab.programs.cache_fusion.settings import confirm, mark_of
from racwire_lab.programs.cache_fusion.stack_locks import Lock

_DBID = 1973061500


class InstanceBackend:
    """A Backend that loads duckdb and sqlglot at the first statement, so that a cluster starts quickly."""

    def __init__(self, source: LiveSource, nodes: tuple[str, ...], history_ends: datetime) -> None:
        self._source = source
        self._nodes = nodes
        self._history_ends = history_ends
        self._lock = threading.Lock()
        self._instance: DesiredInstance | None = None
        self._backend: Backend | None = None

    def follow(self, instance: DesiredInstance) -> None:
        """Adopt the desired state of the instance."""
        with self._lock:
            before, self._instance = self._instance, instance
            if before and (before.version, before.has_grants) != (instance.version, instance.has_grants):
                self._backend = None  # a backend that still runs a statement ends after it

    def execute(self, caller: Caller, sql: str, binds: Mapping[str, Any], cancellation: Cancellation) -> Result | None:
        """Run one statement. Raises OracleError, with 1034 when the instance is not open."""
        with self._lock:
            if self._instance is None:
                raise OracleError(1034, "ORACLE not available")
            if self._backend is None:
                self._backend = _engine(self._source, self._instance, self._nodes, self._history_ends)
            backend = self._backend
        return backend.execute(caller, sql, binds, cancellation)

    def closed(self, caller: Caller) -> None:
        """Release the session's data."""
        with self._lock:
            backend = self._backend
        if backend is not None:
            backend.closed(caller)


def granted_objects() -> frozenset[str]:
    """Return the objects that the practice user can read: the grants of the practice database."""
    lines = files(__package__).joinpath("grants.txt").read_text(encoding="ascii").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


def _engine(source: LiveSource, instance: DesiredInstance, nodes: tuple[str, ...], history_ends: datetime) -> Backend:
    # Import here and not above: these modules load duckdb and sqlglot.
    from racwire_lab.history.history_plan import healthy_week
    from racwire_lab.history.source import GeneratedHistory
    from racwire_lab.oracle_sql.engine import SqlEngine
    from racwire_lab.oracle_sql.identity import Access, DatabaseIdentity

    named = tuple((index_of(node), f"{DATABASE}{index_of(node)}", node) for node in nodes)
    plan = replace(healthy_week(history_ends, named), dbid=_DBID, db_name=DATABASE.upper(), mtu=instance.usual_mtu)
    return SqlEngine(
        source=source,
        identity=DatabaseIdentity(
            DATABASE.upper(),
            instance.parameters["db_unique_name"],
            _DBID,
            instance.version,
            domain=instance.parameters["db_domain"],
        ),
        instance=instance.number,
        access=Access({USER: granted_objects() if instance.has_grants else frozenset()}),
        history=GeneratedHistory(plan),
    )


_ARP = 0x0806
_BROADCAST = b"\xff" * 6
_ETHERNET_IPV4_REPLY = bytes.fromhex("0001080006040002")


def has_scan_address() -> bool:
    """Whether this node holds the SCAN's address."""
    return SCAN_ADDRESS in addresses()


def take_scan_address() -> None:
    """Add the SCAN's address to this node, and announce it, so that no host continues to send to its previous owner."""
    _change_scan_address("replace")
    with contextlib.suppress(OSError):
        _announce_scan_address()


def release_scan_address() -> None:
    """Remove the SCAN's address from this node."""
    _change_scan_address("delete")


def _change_scan_address(verb: str) -> None:
    nic = PUBLIC.nic
    command = ["ip", "address", verb, f"{SCAN_ADDRESS}/24", "brd", "+", "dev", nic, "label", f"{nic}:1"]
    # The command fails while the NIC is down, or when the address is there already: callers check the address itself.
    subprocess.run(command, capture_output=True, check=False)


def _announce_scan_address() -> None:
    """Send a gratuitous ARP reply (RFC 5227, section 3): hosts that know the address learn its new owner."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as link:
        link.bind((PUBLIC.nic, 0))
        own: bytes = link.getsockname()[4]
        ip = socket.inet_aton(SCAN_ADDRESS)
        link.send(_BROADCAST + own + _ARP.to_bytes(2, "big") + _ETHERNET_IPV4_REPLY + own + ip + _BROADCAST + ip)


_POLL_S = 0.1
_HANG_TIMEOUT_S = 1.0
"""Seconds to wait for an instance that may hang."""
_SOON_S = 0.02
_OPEN_S = 5.0
"""Seconds to wait for the instance to open before the server reports that it is ready."""


class InstanceServer:
    """The server of an instance: it follows the desired state in its node's file and the state of the node's
    Clusterware.

    While the instance is not open, its listener knows no service (12514). While Clusterware does not run, there is no
    listener.
    """

    def __init__(
        self, home: Path, homes: Sequence[Path], users: Mapping[str, Verifier], history_ends: datetime
    ) -> None:
        self._file = home / INSTANCE_FILE
        self._seen = mark_of(str(self._file))
        self._instance = self._read()
        self._directory = home.parents[1]
        self._locks: dict[tuple[str, stack.Service], Lock] = {}
        self._daemons = Daemons(home, homes)
        self._started: float | None = None
        self._engine = InstanceBackend(self._daemons, tuple(other.name for other in homes), history_ends)
        self._server = OracleServer(
            self._engine,
            users=users,
            services=(),
            sysdba=(),
            instance_name=self._instance.name,
            instance_number=self._instance.number,
            db_unique_name=self._instance.parameters["db_unique_name"],
            db_domain=self._instance.parameters["db_domain"],
        )
        self._service = default_service(self._server.db_unique_name, self._server.db_domain)
        self._scan: ScanListener | None = None

    async def run(self, ready: Callable[[], object]) -> None:
        """Serve until the program ends; call `ready` when the first client can be served.

        Raises OSError when it cannot listen at the start.
        """
        await self._server.start(self._instance.address, SERVICE_PORT)
        deadline = asyncio.get_running_loop().time() + _OPEN_S
        await self._follow(self._instance)
        while not self._server.services and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(_SOON_S)
            await self._follow(self._instance)
        confirm(str(self._file.parent), "server", self._seen)
        ready()
        while True:
            await asyncio.sleep(_POLL_S)
            before, mark = self._instance, mark_of(str(self._file))
            is_news = mark != self._seen
            if is_news:
                self._seen = mark
                self._instance = self._read()
            await self._follow(before)
            if is_news:
                confirm(str(self._file.parent), "server", mark)
            if self._instance.restart_every_s:
                await self._follow_restarts()

    async def _follow_restarts(self) -> None:
        """Drop all sessions after a restart of the instance: they belong to the instance that ended."""
        patience = Cancellation()
        asyncio.get_running_loop().call_later(_HANG_TIMEOUT_S, patience.cancel)
        try:
            (state,) = await asyncio.to_thread(self._daemons.states, "here", patience)
        except OracleError:
            return
        if self._started not in (None, state.startup_time):
            self._server.drop_sessions()
        self._started = state.startup_time

    async def _follow(self, before: DesiredInstance) -> None:
        now = self._instance
        runs, is_open = self._runs(now.host, "crsd"), self._runs(now.host, "instance")
        self._server.profile = release_of(now.version)
        self._engine.follow(now)
        if now.listens and runs:
            with contextlib.suppress(OSError):  # the node does not have the address yet: try again at the next poll
                self._server.listen()
        else:
            self._server.stop_listening()
        if now.version != before.version or (self._server.services and not is_open):
            self._server.drop_sessions()
        self._server.services = (self._service,) if is_open else ()
        await self._follow_scan()

    async def _follow_scan(self) -> None:
        now = self._instance
        is_ours = next((node for node in now.scan_nodes if self._runs(node, "crsd")), None) == now.host
        if is_ours != has_scan_address():
            await asyncio.to_thread(take_scan_address if is_ours else release_scan_address)
        if is_ours and now.scan_listens:
            if self._scan is None:
                scan = ScanListener(self._scan_targets, services=(self._service,))
                with contextlib.suppress(OSError):  # as above
                    await scan.start(SCAN_ADDRESS, SERVICE_PORT)
                    self._scan = scan
        elif self._scan:
            await self._scan.close()
            self._scan = None

    def _scan_targets(self) -> list[tuple[str, int]]:
        targets = self._instance.scan_targets.items()
        return [(address, SERVICE_PORT) for node, address in targets if self._runs(node, "instance")]

    def _runs(self, node: str, service: stack.Service) -> bool:
        place = node, service
        if place not in self._locks:
            self._locks[place] = Lock(stack.lock(self._directory, node, service))
        return self._locks[place].is_held()

    def _read(self) -> DesiredInstance:
        return msgspec.json.decode(self._file.read_bytes(), type=DesiredInstance)
