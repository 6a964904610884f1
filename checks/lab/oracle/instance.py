"""The server of one instance of the practice database: its listener, its SQL, and the SCAN where the node has it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from checks.lab.databases import INSTANCE_FILE
from checks.lab.instances import Instance
from checks.lab.oracle.backend import Cancellation, OracleError
from checks.lab.oracle.daemons import Daemons
from checks.lab.oracle.engine import Engine
from checks.lab.oracle.net.profiles import profile_of
from checks.lab.oracle.net.scan import ScanListener
from checks.lab.oracle.net.server import OracleServer
from checks.lab.oracle.net.verifier import Verifier
from checks.lab.topology import DATABASE, SERVICE_PORT

_LOOK_S = 0.1
_PATIENCE_S = 1.0
"""For an instance that may hang."""


class InstanceServer:
    """Serves an instance as its node's file says, and follows the file."""

    def __init__(
        self, home: Path, homes: Sequence[Path], users: Mapping[str, Verifier], history_ends: datetime
    ) -> None:
        self._file = home / INSTANCE_FILE
        self._seen = self._mark()
        self._instance = self._read()
        self._daemons = Daemons(home, homes)
        self._started: float | None = None
        self._engine = Engine(self._daemons, tuple(other.name for other in homes), history_ends)
        self._server = OracleServer(
            self._engine,
            users=users,
            services=(DATABASE,),
            sysdba=(),
            instance_name=self._instance.name,
            instance_number=self._instance.number,
            db_unique_name=DATABASE,
        )
        self._scan: ScanListener | None = None

    async def run(self, ready: Callable[[], object]) -> None:
        """Serve for good; tells when it listens. Raises OSError when it cannot listen at first."""
        await self._server.start(self._instance.address, SERVICE_PORT)
        await self._follow(self._instance)
        ready()
        while True:
            await asyncio.sleep(_LOOK_S)
            mark = self._mark()
            if mark != self._seen:
                self._seen = mark
                before, self._instance = self._instance, self._read()
                await self._follow(before)
            if self._instance.restart_every_s:
                await self._follow_restarts()
            await self._follow_scan()

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
        self._server.profile = profile_of(now.version)
        self._engine.follow(now)
        if now.listens:
            self._server.listen()
        else:
            self._server.stop_listening()
        if now.version != before.version or not now.is_open:
            self._server.drop_sessions()
        await self._follow_scan()

    async def _follow_scan(self) -> None:
        address = self._instance.scan_address
        if address and self._scan is None:
            scan = ScanListener(self._scan_targets, services=(DATABASE,))
            with contextlib.suppress(OSError):  # the node does not have the address yet: the next look will tell
                await scan.start(address, SERVICE_PORT)
                self._scan = scan
        elif self._scan and not address:
            await self._scan.close()
            self._scan = None

    def _scan_targets(self) -> list[tuple[str, int]]:
        return [(address, SERVICE_PORT) for address in self._instance.scan_targets]

    def _mark(self) -> tuple[int, int]:
        status = self._file.stat()
        return status.st_ino, status.st_mtime_ns

    def _read(self) -> Instance:
        return msgspec.json.decode(self._file.read_bytes(), type=Instance)
