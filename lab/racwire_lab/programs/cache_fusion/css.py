"""CSS of a node: heartbeats over all private networks, and eviction."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import subprocess
from collections.abc import Iterable

from .addresses import NodeAddress, addresses
from .alert_log import AlertLogs, evicted_lines
from .haip import Haips
from .membership import Membership
from .settings import InstanceSettings
from .stack_locks import Lock

HEARTBEAT_PORT = 42426
_TURN_S = 0.2
_MOST_S = 1.0
"""Seconds between two heartbeats of the real CSS."""
_HEARTBEAT = struct.Struct("!4sBB")
_MARK = b"CSSH"
_AT_ONCE = 64
_BYTES = 128
"""Size of a heartbeat; what follows the header is zero."""


class KillBlock:
    """The place on the voting disk where the other nodes tell a node to leave the cluster."""

    def __init__(self, path: str) -> None:
        self._path = path

    def write(self, killer: str) -> None:
        """Tell the node to leave, with the number of the node that decided it."""
        with open(self._path, "w", encoding="ascii") as file:
            file.write(killer)

    def take(self) -> str:
        """Return the number of the node that decided it, once; empty where no node did."""
        try:
            with open(self._path, encoding="ascii") as file:
                killer = file.read()
            os.unlink(self._path)
        except OSError:
            return ""
        return killer if killer.isdigit() else ""


class Css:
    """CSS of one node, in the directory of that node."""

    def __init__(self, home: str, logs: AlertLogs) -> None:
        self._home = home
        self._logs = logs
        self._sockets: dict[int, tuple[str, socket.socket]] = {}
        self._locks: dict[str, Lock] = {}
        self._members: Membership | None = None
        self._eviction: subprocess.Popen[bytes] | None = None
        self._next_turn = self._next_send = 0.0
        self._haips = Haips()

    def act(self, settings: InstanceSettings, is_running: bool, now: float) -> None:
        """Send and read heartbeats, and act on those that are missing. `is_running`: whether the node's CSS runs."""
        if now < self._next_turn:
            return
        self._next_turn = now + _TURN_S
        if self._eviction is not None and self._eviction.poll() is not None:
            self._eviction = None
        if not (is_running and settings.members and settings.host not in settings.powered_off):
            if self._members is not None and settings.host not in settings.powered_off and self._eviction is None:
                self._logs.of_css(f"CRS-1603: CSSD on node {settings.host} has been shut down.")
            self._members = None
            self._close(set(self._sockets))
            return
        if self._members is None:
            names = {number: host for number, (host, _) in settings.members.items()}
            self._members = Membership(settings.number, {settings.number: settings.host, **names}, now)
        here = addresses()
        self._open(settings, here)
        self._read(now)
        self._haips.act(settings, here, now)
        if now >= self._next_send:
            self._next_send = now + min(_MOST_S, settings.misscount_s / 10)
            self._send(settings)
        powered = {n: host for n, (host, _) in settings.members.items() if host not in settings.powered_off}
        running = [n for n, host in powered.items() if self._runs(host, "cssd")]
        stopped = [
            n for n, (host, _) in settings.members.items() if n not in running and self._is_stopped(host, settings)
        ]
        turn = self._members.turn(running, stopped, settings.misscount_s, now)
        for message in turn.messages:
            self._logs.of_css(message)
        for line in turn.traced:
            self._logs.trace_of_css(line)
        for number in turn.kills:
            self._kill_block(powered[number]).write(str(settings.number))
        killer = self._kill_block(settings.host).take()
        if killer and not turn.is_evicted:
            name = powered.get(int(killer), "")
            self._logs.of_css(f"CRS-1608: This node was evicted by node {killer}, {name}; details at (:CSSNM00005:)")
        if (turn.is_evicted or killer) and self._eviction is None:
            script = os.path.join(os.path.abspath(self._home), "grid", "lib", "evicted.sh")
            self._eviction = subprocess.Popen(["sh", script], stdin=subprocess.DEVNULL, start_new_session=True)
            self._members = None
            if settings.is_open:
                self._logs.of_instance(settings.version, evicted_lines())

    def _kill_block(self, host: str) -> KillBlock:
        return KillBlock(os.path.join(self._home, "..", host, "stack", "kill_block"))

    def _is_stopped(self, host: str, settings: InstanceSettings) -> bool:
        """Whether a node whose CSS does not run was stopped in order, or is off."""
        stack = os.path.join(self._home, "..", host, "stack")
        if host in settings.powered_off or os.path.exists(os.path.join(stack, "stopping")):
            return True
        if not self._runs(host, "ohasd"):
            return True
        try:
            with open(os.path.join(stack, "target"), encoding="ascii") as file:
                return file.read().strip() == "OFFLINE"
        except OSError:
            return True

    def _runs(self, host: str, service: str) -> bool:
        path = os.path.join(self._home, "..", host, "stack", f"{service}.lock")
        return self._locks.setdefault(path, Lock(path)).is_held()

    # --- heartbeats ---------------------------------------------------------------------------------------------------

    def _open(self, settings: InstanceSettings, here: dict[str, NodeAddress]) -> None:
        wanted = {network: ip for network, (_, ip) in settings.private.items() if ip in here}
        self._close({n for n, (ip, _) in self._sockets.items() if wanted.get(n) != ip})
        for network in wanted.keys() - self._sockets.keys():
            opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
            try:
                opened.bind((wanted[network], HEARTBEAT_PORT))
            except OSError:
                opened.close()
                continue
            self._sockets[network] = (wanted[network], opened)

    def _close(self, networks: Iterable[int]) -> None:
        for network in networks:
            self._sockets.pop(network)[1].close()

    def _send(self, settings: InstanceSettings) -> None:
        datagram = _HEARTBEAT.pack(_MARK, settings.number, self._haips.dead_bits(settings)).ljust(_BYTES, b"\0")
        for _, peer in settings.members.values():
            for network, ip in peer.items():
                if network in self._sockets:
                    with contextlib.suppress(OSError):
                        self._sockets[network][1].sendto(datagram, (ip, HEARTBEAT_PORT))

    def _read(self, now: float) -> None:
        for _, opened in self._sockets.values():
            with contextlib.suppress(OSError):
                for _ in range(_AT_ONCE):
                    data = opened.recv(_BYTES)
                    if len(data) >= _HEARTBEAT.size and data.startswith(_MARK) and self._members is not None:
                        _, number, dead = _HEARTBEAT.unpack_from(data)
                        self._members.heard(number, now)
                        self._haips.heard(number, dead, now)
