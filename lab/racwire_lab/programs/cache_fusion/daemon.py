"""The daemon of one node: runs the node's instance, and reports its state to each client that connects."""

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

from .addresses import addresses
from .instance import CacheFusionInstance
from .settings import InstanceSettings, SettingsFile, confirm
from .sockets import FusionNetwork
from .stack_locks import Stack

SOCKET = "cache_fusion.sock"
_TURN_S = 0.05
"""Seconds between two turns of the daemon when no packet arrives."""
_LOOK_S = 0.5
"""Seconds between two looks at the node's addresses."""
_ANSWER_S = 2.0


def main(arguments: Sequence[str]) -> int:
    """Begin to answer, and go on in the background: the caller knows by our end that the instance runs."""
    os.chdir(arguments[0])  # the path of a socket may have no more than 107 characters
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    listener.bind(SOCKET)
    listener.listen(128)
    daemon = Daemon(listener, SettingsFile("."))
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
    """A process by the name that a database administrator looks for; it does nothing, and ends with this one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, instance: str) -> None:
        """Start it for an instance, where it does not run."""
        if self._process is None:
            name = f"ora_pmon_{instance}"
            with contextlib.suppress(OSError):
                self._process = subprocess.Popen([name], executable=f"bin/{name}", cwd=".", stdin=subprocess.PIPE)

    def end(self) -> None:
        """End it, where it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process = None


def run_in_real_time() -> None:
    """As the LMS processes do, so that what is measured is the network and not the turn on a busy processor."""
    with contextlib.suppress(OSError):  # an ordinary user may not
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))


class Daemon:
    """The node's instance, the networks that it uses, and those who ask for its state."""

    def __init__(self, listener: socket.socket, file: SettingsFile) -> None:
        settings = file.news()
        if settings is None:
            raise RuntimeError("a file that was never read has no news")
        self._told: InstanceSettings = settings
        self._file = file
        self._confirmed = ""
        self._stack = Stack(".")
        self._monitor = ProcessMonitor()
        self.settings = dataclasses.replace(settings, is_open=False, peers={})
        self._listener = listener
        self._askers: list[socket.socket] = []
        self._instance = CacheFusionInstance(self.settings)
        self._networks: dict[int, FusionNetwork] = {}
        self._labels: dict[str, str] = {}
        self._next_look = self._next_turn = time.monotonic()
        self._poller = select.poll()
        self._poller.register(listener, select.POLLIN)

    def run(self) -> None:
        """For good."""
        while True:
            self._poller.poll(max(0.0, self._next_turn - time.monotonic()) * 1000)
            self._read()
            now = time.monotonic()
            if now >= self._next_turn:
                self._next_turn = now + _TURN_S
                self._follow_settings()
                self._restart_when_due()
                if now >= self._next_look:
                    self._next_look = now + _LOOK_S
                    self._follow_addresses()
            self._instance.act(self._networks)
            self._tell()

    def _read(self) -> None:
        # Blocks before messages: when a holder says that it sent a block, the block is looked for first.
        for network in self._networks.values():
            for message, received_ns in network.read(network.blocks):
                self._instance.received(network, message, received_ns)
        for network in self._networks.values():
            for message, received_ns in network.read(network.messages):
                self._instance.received(network, message, received_ns)

    def _follow_settings(self) -> None:
        self._told = self._file.news() or self._told
        settings = self._stack.as_it_is(self._told)
        if settings != self.settings:
            if settings.is_open and not self._stack.instance.take():
                return  # somebody looks at it in this moment
            self._change_settings(settings)
        if self._confirmed != self._file.mark:
            self._confirmed = self._file.mark
            confirm(".", "daemon", self._confirmed)

    def _change_settings(self, settings: InstanceSettings) -> None:
        before, self.settings = self.settings, settings
        if settings.version != before.version or (settings.is_open and not before.is_open):
            self._instance = CacheFusionInstance(settings)
        else:
            self._instance.change(settings)
        for network in self._networks.values():
            network.limit_buffer(settings.receive_buffer_bytes)
        self._follow_addresses()
        if settings.is_open:
            self._monitor.start(settings.name)
        else:
            self._monitor.end()
            self._stack.instance.give_up()

    def _restart_when_due(self) -> None:
        every_s = self.settings.restart_every_s
        if every_s is not None and time.time() - self._instance.startup_time >= every_s:
            self._instance = CacheFusionInstance(self.settings)

    def _follow_addresses(self) -> None:
        """Use those of the instance's addresses that the node has now."""
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
            with contextlib.suppress(OSError):  # gone again meanwhile: the next look will tell
                network = FusionNetwork(number, wanted[number], self.settings.receive_buffer_bytes)
                self._networks[number] = network
                self._poller.register(network.messages, select.POLLIN)
                self._poller.register(network.blocks, select.POLLIN)

    def _tell(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                asker, _ = self._listener.accept()
                self._askers.append(asker)
        if not self._askers:
            return
        if self.settings.hangs:
            self._askers = [asker for asker in self._askers if not _left(asker)]
            return
        state = json.dumps(self._instance.state(self._networks)).encode() if self.settings.is_open else b"null"
        for asker in self._askers:
            with asker, contextlib.suppress(OSError):
                asker.settimeout(_ANSWER_S)
                asker.sendall(state)
        self._askers.clear()


def _left(asker: socket.socket) -> bool:
    try:
        gone = not asker.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        gone = True
    if gone:
        asker.close()
    return gone
