"""The turn of one racwire of the cluster to send: it has the lock of measurements here, and no other node has it.

Who wants to send holds the lock of its own node first, and then looks for those of the others. Of two that want it at
the same time at least one sees the other, gives its own back and tries again after a random time. The lock is an
abstract socket, which ends with its process; nothing runs on the other nodes.
"""

from __future__ import annotations

import asyncio
import random
import re
import socket
import time
from collections.abc import Iterable

from checks.sources.kernel_files import UDP_ARRIVALS
from checks.sources.nodes.shell import ShellError
from checks.sources.probes.probe_hosts import ProbeSession

SENDING = "racwire-measure"
"""The lock that a measurement holds on each of its nodes, too: no two of them send at the same time."""
_AGAIN_S = 0.3, 1.5
_LOCK = re.compile(rf"^@({SENDING})", re.MULTILINE)


class TurnTakenError(Exception):
    """Another racwire sends, and did not end in time. The text says where, as a clause."""


class ClusterTurn:
    """The turn; `release` gives it back at any time."""

    def __init__(self, session: ProbeSession, nodes: Iterable[str]) -> None:
        self._session = session
        self._peers = [node for node in nodes if node != session.local_node]
        self._lock: socket.socket | None = None

    async def take(self, wait_s: float) -> None:
        """Take the turn, unless it is held already. Raises TurnTakenError after so many seconds."""
        until = time.monotonic() + wait_s
        while self._lock is None:
            lock = _locked()
            busy = self._session.local_node if lock is None else await self._busy_peer(lock)
            if not busy:
                self._lock = lock
                return
            if lock is not None:
                lock.close()
            if time.monotonic() >= until:
                raise TurnTakenError(f"another racwire of {busy} measures or sends")
            await asyncio.sleep(random.uniform(*_AGAIN_S))  # noqa: S311 - no secret

    def release(self) -> None:
        """Give the turn back."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    async def _busy_peer(self, lock: socket.socket) -> str:
        """Return the first peer on which another racwire has the lock; a peer that cannot be read counts as free."""

        async def one(node: str) -> bool:
            try:
                text = (await (await self._session.shell(node)).run(UDP_ARRIVALS)).text
            except ShellError:
                return False
            return _LOCK.search(text) is not None

        try:
            found = await asyncio.gather(*map(one, self._peers))
        except BaseException:
            lock.close()
            raise
        return next((node for node, is_busy in zip(self._peers, found, strict=True) if is_busy), "")


def _locked() -> socket.socket | None:
    lock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        lock.bind(f"\0{SENDING}")
    except OSError:
        lock.close()
        return None
    return lock
