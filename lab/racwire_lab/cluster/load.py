"""The load of the practice database: how many blocks a second its instances exchange."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Iterable
from pathlib import Path

from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.lab_errors import LabError, LabUsageError
from racwire_lab.programs.cache_fusion.daemon import SOCKET

MOST_BLOCKS_PER_S = 10_000
"""Of all instances together: above this, the programs of the instances are the limit, and not their network."""
NO_LOAD, USUAL_LOAD = "off", "default"
_RECEIVED = ("gc cr blocks received", "gc current blocks received")
_MEASURED_S, _ANSWER_S = 1.0, 5.0


def checked_load(text: str) -> int | None:
    """Return the blocks a second of all instances together; None for their usual load.

    Raises LabUsageError when no practice cluster can have that load.
    """
    if text == USUAL_LOAD:
        return None
    number = 0 if text == NO_LOAD else int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
    if not 0 <= number <= MOST_BLOCKS_PER_S:
        raise LabUsageError(
            f"The load of the practice database is 1 to {MOST_BLOCKS_PER_S} blocks a second, {NO_LOAD} or "
            f"{USUAL_LOAD}, not '{text}': choose another one."
        )
    return number


def measured_load(directory: Path, nodes: Iterable[str]) -> float:
    """Return the blocks a second that all open instances received in about a second, as their own counters say.

    Raises LabError when an instance does not answer.
    """
    homes = [node_home(directory, node) for node in nodes]
    before = {home: _received(home) for home in homes}
    time.sleep(_MEASURED_S)
    total = 0.0
    for home in homes:
        first, last = before[home], _received(home)
        if first and last and last[1] >= first[1]:
            total += (last[1] - first[1]) / max(last[0] - first[0], 0.001)
    return total


def _received(home: Path) -> tuple[float, int] | None:
    """The time and the blocks received since the start of a node's instance; None when the instance is closed."""
    answer = b""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_ANSWER_S)
        # The path of a socket may have at most 107 characters; this one is short.
        handle = os.open(home, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            connection.connect(f"/proc/self/fd/{handle}/{SOCKET}")
            while chunk := connection.recv(1 << 16):
                answer += chunk
        except TimeoutError:
            raise LabError(f"The instance of {home.name} does not answer: its load is not known.") from None
        except OSError:
            return None
        finally:
            os.close(handle)
    state = None
    with contextlib.suppress(ValueError):
        state = json.loads(answer or b"null")
    return state and (state["taken_at"], sum(state["statistics"][name] for name in _RECEIVED))
