"""The daemon of one node: it runs the node's instance, and sends its state to each client that connects."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import select
import socket
import subprocess
import time
from collections.abc import Sequence
from typing import Any

from .addresses import addresses
from .alert_log import AlertLogs, Silence, ipc_version
from .css import Css
from .instance import CacheFusionInstance
from .loss_log import LossLog
from .networks_in_use import NetworksInUse
from .parallel import StatementSocket
from .settings import InstanceSettings, SettingsFile, confirm
from .sockets import FusionNetwork
from .stack_locks import Stack

SOCKET, STATEMENTS = "cache_fusion.sock", "parallel.sock"
_TURN_S = 0.05
"""Seconds between two iterations of the daemon when no packet arrives."""
_ADDRESSES_S = 0.5
"""Seconds between two checks of the node's addresses."""
_ANSWER_S = 2.0


def main(arguments: Sequence[str]) -> int:
    """Listen, and continue in a background process. The end of this process shows the caller that the instance runs."""
    os.chdir(arguments[0])  # the path of a socket may have no more than 107 characters
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    listener.bind(SOCKET)
    listener.listen(128)
    daemon = Daemon(listener, StatementSocket(STATEMENTS), SettingsFile("."))
    if os.fork():
        return 0
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    log = os.open("cache_fusion.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for descriptor, target in ((0, nowhere), (1, log), (2, log)):
        os.dup2(target, descriptor)
    run_in_real_time()
    daemon.run()
    return 0


class ProcessMonitor:
    """A process with the name that administrators search for. It does nothing, and ends with this daemon."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, instance: str) -> None:
        """Start the process of an instance if it does not run."""
        if self._process is None:
            name = f"ora_pmon_{instance}"
            with contextlib.suppress(OSError):
                self._process = subprocess.Popen(
                    [name], executable=f"bin/{name}", cwd=".", stdin=subprocess.PIPE, **_owner_of(f"bin/{name}")
                )

    def end(self) -> None:
        """End the process if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process = None


def _owner_of(program: str) -> dict[str, Any]:
    """The arguments that start a program as its owner; none when that is the user of this process."""
    file = os.stat(program)
    if file.st_uid == os.geteuid():
        return {}
    return {"user": file.st_uid, "group": file.st_gid, "extra_groups": ()}


def run_in_real_time() -> None:
    """Run in real time, as the LMS processes do: the times are then those of the network, and not of a busy CPU."""
    with contextlib.suppress(OSError):  # an ordinary user may not
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))


class Daemon:
    """The node's instance, the networks that it uses, and the clients that request its state."""

    def __init__(self, listener: socket.socket, statements: StatementSocket, file: SettingsFile) -> None:
        settings = file.changed_settings()
        if settings is None:
            raise RuntimeError("the first read of a file returns its settings")
        self._in_use = NetworksInUse(".")
        self._lab = settings
        self._desired: InstanceSettings = self._in_use.applied(settings)
        self._file = file
        self._confirmed = ""
        self._stack = Stack(".")
        self._logs = AlertLogs(".", settings.host, settings.parameters, settings.name)
        self._css = Css(".", self._logs)
        self._silence = Silence()
        self._losses = LossLog(".", settings.number)
        self._monitor = ProcessMonitor()
        self._others = {name: ProcessMonitor() for name in settings.others}
        self.settings = dataclasses.replace(settings, is_open=False, peers={})
        self._listener = listener
        self._statements = statements
        self._clients: list[socket.socket] = []
        self._instance = CacheFusionInstance(self.settings)
        self._networks: dict[int, FusionNetwork] = {}
        self._labels: dict[str, str] = {}
        self._next_address_check = self._next_turn = time.monotonic()
        self._poller = select.poll()
        self._poller.register(listener, select.POLLIN)
        self._poller.register(statements.listener, select.POLLIN)

    def run(self) -> None:
        """Run until the process ends."""
        while True:
            due = min(self._next_turn - time.monotonic(), self._instance.pause_s())
            self._poller.poll(max(0.0, due) * 1000)
            self._read()
            now = time.monotonic()
            if now >= self._next_turn:
                self._next_turn = now + _TURN_S
                self._follow_settings()
                self._restart_when_due()
                self._css.act(self._desired, self._stack.runs(), now)
                self._report_silence(now)
                if now >= self._next_address_check:
                    self._next_address_check = now + _ADDRESSES_S
                    self._follow_addresses()
            for client, request in self._statements.requests():
                self._instance.queries.start(client, request, self._networks, now)
            self._instance.act(self._networks)
            # Before the state is sent: a block that it counts is in the log.
            self._losses.lost(self._instance.requests.take_lost())
            self._losses.dropped(self._networks)
            self._send_state()

    def _read(self) -> None:
        # Blocks before messages: when a message says that a block was sent, the block must have been read first.
        now = time.monotonic()
        for sockets in ("blocks", "messages"):
            for network in self._networks.values():
                for message, received_ns in network.read(getattr(network, sockets)):
                    own = message.origin == self.settings.number
                    self._silence.heard(message.holder if own else message.origin, now)
                    self._instance.received(network, message, received_ns)

    def _report_silence(self, now: float) -> None:
        settings = self.settings
        for lines in self._silence.turn(settings.peers, settings.host, settings.ipc_timeout_s, now):
            self._logs.of_instance(settings.version, lines)

    def _follow_settings(self) -> None:
        self._lab = self._file.changed_settings() or self._lab
        self._desired = self._in_use.applied(self._lab)
        settings = self._stack.restrict(self._desired)
        for name, monitor in self._others.items():
            if self._stack.runs():
                monitor.start(name)
            else:
                monitor.end()
        if settings != self.settings:
            if settings.is_open and not self._stack.instance.take():
                return  # another process checks the lock at this moment
            self._change_settings(settings)
        if self._confirmed != self._file.mark:
            self._confirmed = self._file.mark
            confirm(".", "daemon", self._confirmed)

    def _change_settings(self, settings: InstanceSettings) -> None:
        before, self.settings = self.settings, settings
        if settings.version != before.version or (settings.is_open and not before.is_open):
            self._restart(settings)
        else:
            self._instance.change(settings)
        for network in self._networks.values():
            network.limit_buffer(settings.receive_buffer_bytes)
        self._follow_addresses()
        if settings.is_open:
            self._monitor.start(settings.name)
        else:
            self._monitor.end()
            self._stack.instance.release()

    def _restart_when_due(self) -> None:
        every_s = self.settings.restart_every_s
        if every_s is not None and time.time() - self._instance.startup_time >= every_s:
            self._restart(self.settings)

    def _restart(self, settings: InstanceSettings) -> None:
        self._instance.queries.end()
        self._silence = Silence()
        self._logs.of_instance(settings.version, ["Starting ORACLE instance (normal)", ipc_version(settings.version)])
        self._instance = CacheFusionInstance(settings)

    def _follow_addresses(self) -> None:
        """Use the instance's addresses that the node has."""
        here = addresses()
        wanted = {i.network: i.ip for i in self.settings.interconnects if i.ip in here and self.settings.is_open}
        gone = {number for number, network in self._networks.items() if wanted.get(number) != network.ip}
        for number in gone:
            network = self._networks.pop(number)
            self._poller.unregister(network.messages)
            self._poller.unregister(network.blocks)
            network.close()
        if gone:
            self._instance.requests.drop_networks(gone)
        for number in sorted(wanted.keys() - self._networks.keys()):
            with contextlib.suppress(OSError):  # the address has been removed: try at the next check
                network = FusionNetwork(number, wanted[number], self.settings.receive_buffer_bytes)
                self._networks[number] = network
                self._poller.register(network.messages, select.POLLIN)
                self._poller.register(network.blocks, select.POLLIN)

    def _send_state(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                client, _ = self._listener.accept()
                self._clients.append(client)
        if not self._clients:
            return
        if self.settings.hangs:
            self._clients = [client for client in self._clients if not _left(client)]
            return
        state = json.dumps(self._instance.state(self._networks)).encode() if self.settings.is_open else b"null"
        for client in self._clients:
            with client, contextlib.suppress(OSError):
                client.settimeout(_ANSWER_S)
                client.sendall(state)
        self._clients.clear()


def _left(client: socket.socket) -> bool:
    try:
        gone = not client.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        gone = True
    if gone:
        client.close()
    return gone
