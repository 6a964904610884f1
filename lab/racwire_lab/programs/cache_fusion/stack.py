"""What an instance follows besides its settings: the Clusterware of its node, the database, the other instances."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from .locks import Lock
from .settings import Settings

DATABASE = "cluster/database"
"""In the lab's directory: ONLINE or OFFLINE, as srvctl has it."""
_LOCK = "stack/{}.lock"


class Stack:
    """What runs, seen from the directory of one node."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._css = Lock(os.path.join(home, _LOCK.format("cssd")))
        self._database = os.path.join(home, "..", "..", DATABASE)
        self._is_wanted = True
        self._peers: dict[str, Lock] = {}
        self.instance = Lock(os.path.join(home, _LOCK.format("instance")))
        """Held by the instance while it is open."""

    def as_it_is(self, settings: Settings) -> Settings:
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
