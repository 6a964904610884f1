"""The log of the blocks that an instance lost, one JSON document a line: `racwire lab status --losses` reads it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from typing import Any

from .messages import BLOCK_BYTES
from .requests import BlockRequest
from .sockets import FusionNetwork

FILE, BEFORE = "lost_blocks.log", "lost_blocks.log.1"
_MOST_BYTES = 4_000_000
"""The size at which a new file starts; the one before remains."""


class LossLog:
    """The log in the directory of the node."""

    def __init__(self, home: str, receiver: int) -> None:
        self._path, self._before = os.path.join(home, FILE), os.path.join(home, BEFORE)
        self._receiver = receiver
        self._dropped: dict[FusionNetwork, int] = {}

    def lost(self, lost: Iterable[tuple[BlockRequest, int]]) -> None:
        """Log the blocks of these requests; the bits say which."""
        self._write(
            {
                "at": time.time(),
                "sender": request.holder,
                "receiver": self._receiver,
                "network": request.network,
                "bytes": BLOCK_BYTES,
                "request": request.number,
                "bit": 1 << place,
            }
            for request, bits in lost
            for place in range(bits.bit_length())
            if bits >> place & 1
        )

    def dropped(self, networks: Mapping[int, FusionNetwork]) -> None:
        """Log how many blocks found no room in the receive buffers since the last call."""
        before, self._dropped = self._dropped, {network: network.blocks_dropped for network in networks.values()}
        self._write(
            {"at": time.time(), "receiver": self._receiver, "network": network.number, "dropped": number}
            for network, now in self._dropped.items()
            if (number := now - before.get(network, 0)) > 0
        )

    def _write(self, documents: Iterable[Mapping[str, Any]]) -> None:
        if not (lines := [f"{json.dumps(document)}\n" for document in documents]):
            return
        with open(self._path, "a", encoding="ascii") as file:
            file.writelines(lines)
            size = file.tell()
        if size > _MOST_BYTES:
            os.replace(self._path, self._before)
