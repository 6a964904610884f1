"""One racwire of a node pings at a time: two at once lose packets to each other, and count each other's."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

PING_LOCK = "\0racwire-pings"
"""An abstract socket: all users of the node see its name, and it ends with its process."""
WAIT_S = 30.0
"""The most seconds to wait for another racwire, and for who else holds its lock."""
_AGAIN_S = 0.1, 0.3
_CREDENTIALS = struct.Struct("iII")


@asynccontextmanager
async def turn_to_ping(wait_s: float = WAIT_S) -> AsyncIterator[int]:
    """Wait for the lock and hold it. Yields 0, or the process that still holds it when the time is over."""
    until, lock = time.monotonic() + wait_s, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    holder = 0
    with lock:
        while True:
            try:
                lock.bind(PING_LOCK)
                lock.listen()
                holder = 0
                break
            except OSError:
                holder = _holder() or holder
            if time.monotonic() >= until:
                break
            await asyncio.sleep(random.uniform(*_AGAIN_S))  # noqa: S311 - no secret
        yield holder


def _holder() -> int:
    """Return the process that holds the lock; 0 where it is not known."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.setblocking(False)
        try:
            line.connect(PING_LOCK)
            found = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        except OSError:
            return 0
        return int(_CREDENTIALS.unpack(found)[0])
