"""The server of one instance of the practice database: its listener, its SQL, and the SCAN where the node has it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from racwire_lab.cluster import stack
from racwire_lab.cluster.databases import INSTANCE_FILE
from racwire_lab.cluster.instances import Instance
from racwire_lab.cluster.topology import DATABASE, SCAN_ADDRESS, SERVICE_PORT
from racwire_lab.database import scan_address
from racwire_lab.database.backend import Cancellation, OracleError
from racwire_lab.database.daemons import Daemons
from racwire_lab.database.engine import Engine
from racwire_lab.oracle_net.profiles import profile_of
from racwire_lab.oracle_net.scan import ScanListener
from racwire_lab.oracle_net.server import OracleServer
from racwire_lab.oracle_net.verifier import Verifier
from racwire_lab.programs.cache_fusion.locks import Lock

_LOOK_S = 0.1
_PATIENCE_S = 1.0
"""For an instance that may hang."""
_SOON_S = 0.02
_OPEN_S = 5.0
"""How long to wait for the instance to open before it is said that all is ready."""


class InstanceServer:
    """Serves an instance as its node's file says and as the node's Clusterware lets it, and follows both.

    While the instance is not open, its listener knows no service (12514); while Clusterware does not run, nobody
    listens.
    """

    def __init__(
        self, home: Path, homes: Sequence[Path], users: Mapping[str, Verifier], history_ends: datetime
    ) -> None:
        self._file = home / INSTANCE_FILE
        self._seen = self._mark()
        self._instance = self._read()
        self._directory = home.parents[1]
        self._locks: dict[tuple[str, stack.Service], Lock] = {}
        self._daemons = Daemons(home, homes)
        self._started: float | None = None
        self._engine = Engine(self._daemons, tuple(other.name for other in homes), history_ends)
        self._server = OracleServer(
            self._engine,
            users=users,
            services=(),
            sysdba=(),
            instance_name=self._instance.name,
            instance_number=self._instance.number,
            db_unique_name=DATABASE,
        )
        self._scan: ScanListener | None = None

    async def run(self, ready: Callable[[], object]) -> None:
        """Serve for good; tells when a client is served. Raises OSError when it cannot listen at first."""
        await self._server.start(self._instance.address, SERVICE_PORT)
        deadline = asyncio.get_running_loop().time() + _OPEN_S
        await self._follow(self._instance)
        while not self._server.services and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(_SOON_S)
            await self._follow(self._instance)
        ready()
        while True:
            await asyncio.sleep(_LOOK_S)
            before, mark = self._instance, self._mark()
            if mark != self._seen:
                self._seen = mark
                self._instance = self._read()
            await self._follow(before)
            if self._instance.restart_every_s:
                await self._follow_restarts()

    async def _follow_restarts(self) -> None:
        """Drop all sessions when the instance has started anew: they were those of the one that ended."""
        patience = Cancellation()
        asyncio.get_running_loop().call_later(_PATIENCE_S, patience.cancel)
        try:
            (state,) = await asyncio.to_thread(self._daemons.states, "here", patience)
        except OracleError:
            return
        if self._started not in (None, state.startup_time):
            self._server.drop_sessions()
        self._started = state.startup_time

    async def _follow(self, before: Instance) -> None:
        now = self._instance
        runs, is_open = self._runs(now.host, "crsd"), self._runs(now.host, "instance")
        self._server.profile = profile_of(now.version)
        self._engine.follow(now)
        if now.listens and runs:
            with contextlib.suppress(OSError):  # the node does not have the address yet: the next look will tell
                self._server.listen()
        else:
            self._server.stop_listening()
        if now.version != before.version or (self._server.services and not is_open):
            self._server.drop_sessions()
        self._server.services = (DATABASE,) if is_open else ()
        await self._follow_scan()

    async def _follow_scan(self) -> None:
        now = self._instance
        is_ours = next((node for node in now.scan_nodes if self._runs(node, "crsd")), None) == now.host
        if is_ours != scan_address.is_here():
            await asyncio.to_thread(scan_address.take if is_ours else scan_address.give_up)
        if is_ours and now.scan_listens:
            if self._scan is None:
                scan = ScanListener(self._scan_targets, services=(DATABASE,))
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

    def _mark(self) -> tuple[int, int]:
        status = self._file.stat()
        return status.st_ino, status.st_mtime_ns

    def _read(self) -> Instance:
        return msgspec.json.decode(self._file.read_bytes(), type=Instance)
