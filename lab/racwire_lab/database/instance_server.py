"""The server of one instance of the practice database: its listener, its SQL, and the SCAN when the node holds it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from racwire_lab.cluster import stack
from racwire_lab.cluster.databases import ADMINISTRATOR, INSTANCE_FILE
from racwire_lab.cluster.instances import DesiredInstance
from racwire_lab.cluster.profiles import profile_named
from racwire_lab.cluster.topology import SCAN_ADDRESS, SECOND_DATABASE, SERVICE_PORT
from racwire_lab.database.backend import Cancellation, OracleError
from racwire_lab.database.listener_process import (
    LISTENER,
    SCAN_LISTENER,
    ListenerProcess,
    asm_services,
    registrations,
)
from racwire_lab.database.live import Daemons
from racwire_lab.database.served_databases import InstanceBackend
from racwire_lab.oracle_net.releases import release_of
from racwire_lab.oracle_net.scan import ScanListener
from racwire_lab.oracle_net.server import OracleServer
from racwire_lab.oracle_net.verifier import Verifier
from racwire_lab.programs.cache_fusion.addresses import addresses
from racwire_lab.programs.cache_fusion.settings import confirm, mark_of
from racwire_lab.programs.cache_fusion.stack_locks import Lock

_ARP = 0x0806
_BROADCAST = b"\xff" * 6
_ETHERNET_IPV4_REPLY = bytes.fromhex("0001080006040002")


USE_FILE = "use"
"""In the directory of a node: the statements that its instance has executed, and its sessions."""


def has_scan_address() -> bool:
    """Whether this node holds the SCAN's address."""
    return SCAN_ADDRESS in addresses()


def take_scan_address(nic: str) -> None:
    """Add the SCAN's address to a NIC, and announce it, so that no host continues to send to its previous owner."""
    _change_scan_address("replace", nic)
    with contextlib.suppress(OSError):
        _announce_scan_address(nic)


def release_scan_address(nic: str) -> None:
    """Remove the SCAN's address from a NIC."""
    _change_scan_address("delete", nic)


def _change_scan_address(verb: str, nic: str) -> None:
    command = ["ip", "address", verb, f"{SCAN_ADDRESS}/24", "brd", "+", "dev", nic, "label", f"{nic}:1"]
    # The command fails while the NIC is down, or when the address is there already: callers check the address itself.
    subprocess.run(command, capture_output=True, check=False)


def _announce_scan_address(nic: str) -> None:
    """Send a gratuitous ARP reply (RFC 5227, section 3): hosts that know the address learn its new owner."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as link:
        link.bind((nic, 0))
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
        self._use: tuple[int, int] | None = None
        area = self._directory / "database" / "recovery_area"
        self._engine = InstanceBackend(self._daemons, tuple(other.name for other in homes), history_ends, area)
        self._server = OracleServer(
            self._engine,
            users=self._user,
            services=(),
            sysdba=(ADMINISTRATOR,),
            instance_name=self._instance.name,
            instance_number=self._instance.number,
            db_unique_name=self._instance.parameters["db_unique_name"],
            db_domain=self._instance.parameters["db_domain"],
        )
        self._users = users
        self._scan: ScanListener | None = None
        self._listeners = {name: ListenerProcess(home, name) for name in (LISTENER, SCAN_LISTENER)}

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
            self._report_use()
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

    def _report_use(self) -> None:
        """Write what clients cost this instance: its statements so far, and its sessions now."""
        if (use := (self._server.statements, len(self._server.callers))) != self._use:
            self._use = use
            new = self._file.with_name(f"{USE_FILE}.new")
            new.write_text("{} {}\n".format(*use), encoding="ascii")
            new.replace(self._file.with_name(USE_FILE))

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
        services = tuple(service for service, _ in self._services(now.host))
        if now.version != before.version or (self._server.services and not is_open):
            self._server.drop_sessions()
        self._server.services = services
        if now.listens and runs:
            registered = [*asm_services(now.number), *registrations(self._services(now.host))]
            self._listeners[LISTENER].show([(now.address, SERVICE_PORT)], registered)
        else:
            self._listeners[LISTENER].end()
        await self._follow_scan()

    async def _follow_scan(self) -> None:
        now = self._instance
        is_ours = next((node for node in now.scan_nodes if self._runs(node, "crsd")), None) == now.host
        if is_ours != has_scan_address():
            nic = profile_named(self._instance.like).networks[0].nic
            await asyncio.to_thread(take_scan_address if is_ours else release_scan_address, nic)
        if is_ours and now.scan_listens:
            if self._scan is None:
                scan = ScanListener(self._scan_targets)
                with contextlib.suppress(OSError):  # as above
                    await scan.start(SCAN_ADDRESS, SERVICE_PORT)
                    self._scan = scan
        elif self._scan:
            await self._scan.close()
            self._scan = None
        if self._scan:
            registered = [one for node in now.scan_targets for one in registrations(self._services(node))]
            self._listeners[SCAN_LISTENER].show([(SCAN_ADDRESS, SERVICE_PORT)], registered)
        else:
            self._listeners[SCAN_LISTENER].end()

    def _scan_targets(self, service: str) -> list[tuple[str, int]]:
        """The addresses of the listeners that serve a service; without a name, of all that serve any."""
        return [
            (address, SERVICE_PORT)
            for node, address in self._instance.scan_targets.items()
            if any(service.casefold() in ("", name.casefold()) for name, _ in self._services(node))
        ]

    def _services(self, node: str) -> list[tuple[str, str]]:
        """The services that clients can reach on a node at this moment, with their instances."""
        if not self._runs(node, "crsd"):
            return []
        is_open = self._runs(node, "instance")
        # The second database runs while Clusterware does.
        return [found for found in self._instance.services[node] if is_open or found[1] == SECOND_DATABASE]

    def _user(self, name: str) -> Verifier | None:
        """The verifier of a user. Raises OracleError while the database is not open: then only SYSDBA can log in."""
        if name != ADMINISTRATOR and self._instance.open_mode == "MOUNTED":
            raise OracleError(1033, "ORACLE initialization or shutdown in progress")
        return self._users.get(name)

    def _runs(self, node: str, service: stack.Service) -> bool:
        place = node, service
        if place not in self._locks:
            self._locks[place] = Lock(stack.lock(self._directory, node, service))
        return self._locks[place].is_held()

    def _read(self) -> DesiredInstance:
        return msgspec.json.decode(self._file.read_bytes(), type=DesiredInstance)
