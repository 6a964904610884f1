"""Asks the Cache Fusion daemons for the states of their instances."""

from __future__ import annotations

import contextlib
import os
import select
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from racwire_lab.database.backend import Cancellation, OracleError
from racwire_lab.database.live import InstanceState

_SOCKET = "cache_fusion.sock"
_LOOK_S = 0.1
"""How often it is looked whether the call was cancelled."""
_STATE = msgspec.json.Decoder(InstanceState | None)


class Daemons:
    """The states of the instances, as a LiveSource."""

    def __init__(self, here: Path, everywhere: Sequence[Path]) -> None:
        self._here = here
        self._everywhere = tuple(everywhere)

    def states(self, scope: Literal["here", "everywhere"], cancellation: Cancellation) -> tuple[InstanceState, ...]:
        """Of the own instance, or of all that are up. Hangs while an instance that is asked hangs, until cancelled.

        Raises OracleError: 1013 when it was cancelled, 1034 when no instance is there.
        """
        homes = (self._here,) if scope == "here" else self._everywhere
        with contextlib.ExitStack() as stack:
            asked = [stack.enter_context(connection) for home in homes for connection in _connect(home)]
            answers = [_STATE.decode(_read(connection, cancellation)) for connection in asked]
        states = tuple(state for state in answers if state is not None)
        if not states:
            raise OracleError(1034, "ORACLE not available")
        return states


def _connect(home: Path) -> Iterator[socket.socket]:
    """The connection to a node's daemon; none where there is none."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # The path of a socket may have no more than 107 characters; this one is short.
    handle = os.open(home, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        connection.connect(f"/proc/self/fd/{handle}/{_SOCKET}")
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return
    finally:
        os.close(handle)
    yield connection


def _read(connection: socket.socket, cancellation: Cancellation) -> bytes:
    """All that the daemon says. A daemon that ends meanwhile has no instance any more."""
    said = b""
    while True:
        ready, _, _ = select.select([connection], [], [], _LOOK_S)
        if cancellation.cancelled:
            raise OracleError(1013, "user requested cancel of current operation")
        if ready:
            try:
                chunk = connection.recv(1 << 16)
            except ConnectionResetError:
                return b"null"
            if not chunk:
                return said or b"null"
            said += chunk
