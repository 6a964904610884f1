"""Locks that show which programs of the practice nodes run, and the state that an instance derives from them.

A program holds its lock from its start to its end. The kernel releases a lock whenever its holder ends, so the state is
always current.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from dataclasses import replace

from .settings import InstanceSettings

DATABASE = "cluster/database"
"""A file in the lab's directory: ONLINE or OFFLINE, written by srvctl."""
INSTANCE = "stack/instance"
"""A file in a node's directory: ONLINE or OFFLINE, written by srvctl for the instance of that node."""
_LOCK = "stack/{}.lock"


class Lock:
    """A lock file: check whether a process holds it, or hold it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._checking: int | None = None
        self._holding: int | None = None

    def is_held(self) -> bool:
        """Whether a process holds the lock; False when the file does not exist."""
        if self._checking is None:
            try:
                self._checking = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return False
        try:
            fcntl.flock(self._checking, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(self._checking, fcntl.LOCK_UN)
        return False

    def take(self) -> bool:
        """Hold the lock. Return False while another process holds it, even if only for a check."""
        if self._holding is None:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                return False
            self._holding = handle
        return True

    def release(self) -> None:
        """Release the lock if it is held."""
        if self._holding is not None:
            os.close(self._holding)
            self._holding = None

    def close(self) -> None:
        """Release the lock, and close the file."""
        self.release()
        if self._checking is not None:
            os.close(self._checking)
            self._checking = None


class Stack:
    """The Clusterware of a node, the database, and the other instances, seen from the directory of that node."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._css = Lock(os.path.join(home, _LOCK.format("cssd")))
        self._targets = {os.path.join(home, "..", "..", DATABASE): True, os.path.join(home, INSTANCE): True}
        self._peers: dict[str, Lock] = {}
        self.instance = Lock(os.path.join(home, _LOCK.format("instance")))
        """The lock that the instance holds while it is open."""

    def restrict(self, settings: InstanceSettings) -> InstanceSettings:
        """Return the settings without impossible states: an open instance without Clusterware, or peers that are not
        open."""
        if not (settings.is_open and self._css.is_held() and self._is_wanted()):
            return replace(settings, is_open=False, peers={})
        peers = {n: addresses for n, addresses in settings.peers.items() if self._is_open(n, settings.hosts)}
        return replace(settings, peers=peers) if peers != settings.peers else settings

    def runs(self) -> bool:
        """Whether Clusterware runs on this node."""
        return self._css.is_held()

    def _is_wanted(self) -> bool:
        for path in self._targets:
            with open(path, encoding="ascii") as file:
                state = file.read().strip()
            if state:  # the file is empty while srvctl writes it
                self._targets[path] = state != "OFFLINE"
        return all(self._targets.values())

    def _is_open(self, peer: int, hosts: Mapping[int, str]) -> bool:
        host = hosts[peer]
        if host not in self._peers:
            self._peers[host] = Lock(os.path.join(self._home, "..", host, _LOCK.format("instance")))
        return self._peers[host].is_held()
