"""Locks by which the programs of the practice nodes know of each other, and what an instance learns from them.

A program holds its lock from its first moment to its last. The kernel gives a lock up when its holder ends, however it
ends, so what is known is always true.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from dataclasses import replace

from .settings import InstanceSettings

DATABASE = "cluster/database"
"""In the lab's directory: ONLINE or OFFLINE, as srvctl has it."""
_LOCK = "stack/{}.lock"


class Lock:
    """A lock file, to look whether somebody holds it, or to hold it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._looking: int | None = None
        self._holding: int | None = None

    def is_held(self) -> bool:
        """Whether anybody holds it; not where there is no such file."""
        if self._looking is None:
            try:
                self._looking = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return False
        try:
            fcntl.flock(self._looking, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(self._looking, fcntl.LOCK_UN)
        return False

    def take(self) -> bool:
        """Hold it; False while somebody else does, if only to look."""
        if self._holding is None:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                return False
            self._holding = handle
        return True

    def give_up(self) -> None:
        """Hold it no longer; also when it is not held."""
        if self._holding is not None:
            os.close(self._holding)
            self._holding = None

    def close(self) -> None:
        """Neither look at it nor hold it any longer."""
        self.give_up()
        if self._looking is not None:
            os.close(self._looking)
            self._looking = None


class Stack:
    """The Clusterware of a node, the database, and the other instances, seen from the directory of that node."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._css = Lock(os.path.join(home, _LOCK.format("cssd")))
        self._database = os.path.join(home, "..", "..", DATABASE)
        self._is_wanted = True
        self._peers: dict[str, Lock] = {}
        self.instance = Lock(os.path.join(home, _LOCK.format("instance")))
        """Held by the instance while it is open."""

    def as_it_is(self, settings: InstanceSettings) -> InstanceSettings:
        """The settings without what cannot be: open without Clusterware, or with peers that are not open."""
        if not (settings.is_open and self._css.is_held() and self._is_database_wanted()):
            return replace(settings, is_open=False, peers={})
        peers = {n: addresses for n, addresses in settings.peers.items() if self._is_open(n, settings.hosts)}
        return replace(settings, peers=peers) if peers != settings.peers else settings

    def _is_database_wanted(self) -> bool:
        with open(self._database, encoding="ascii") as file:
            said = file.read().strip()
        if said:  # not while srvctl writes it
            self._is_wanted = said != "OFFLINE"
        return self._is_wanted

    def _is_open(self, peer: int, hosts: Mapping[int, str]) -> bool:
        host = hosts[peer]
        if host not in self._peers:
            self._peers[host] = Lock(os.path.join(self._home, "..", host, _LOCK.format("instance")))
        return self._peers[host].is_held()
