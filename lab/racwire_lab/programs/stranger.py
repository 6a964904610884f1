"""Copy data over a private network, as NFS or a backup does: `python stranger.py ROLE ADDRESS PORT FILE`.

`serve` accepts connections and reads them; `send` connects and writes 3 MB/s, `flood` as much as the network takes;
`greet` tries a connection each second.
The program ends when FILE is removed.
It needs only the standard library, and imports nothing of racwire.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import time
from collections.abc import Sequence

_BYTES, _PAUSE_S = 65_536, 0.02
_GREETING_S = 1.0
FLOWS = 16
"""The connections of `flood`."""


def main(argv: Sequence[str]) -> int:
    """Serve or send until the file is gone."""
    role, address, port, file = argv
    while os.path.exists(file):
        with contextlib.suppress(OSError):
            if role == "serve":
                _serve((address, int(port)), file)
            elif role == "greet":
                _greet((address, int(port)))
                time.sleep(_GREETING_S)
            elif role == "flood":
                _flood((address, int(port)), file)
            else:
                _send((address, int(port)), file)
        time.sleep(_PAUSE_S)
    return 0


def _serve(place: tuple[str, int], file: str) -> None:
    with socket.create_server(place) as server:
        known = [server]
        while os.path.exists(file):
            for ready in select.select(known, [], [], 0.2)[0]:
                if ready is server:
                    known.append(server.accept()[0])
                elif not ready.recv(_BYTES):
                    known.remove(ready)
                    ready.close()


def _greet(place: tuple[str, int]) -> None:
    """A refused connection is an answer too: the node has a neighbour entry in use."""
    with contextlib.suppress(OSError):
        socket.create_connection(place, timeout=1).close()


def _send(place: tuple[str, int], file: str) -> None:
    with socket.create_connection(place, timeout=1) as connection:
        while os.path.exists(file):
            connection.sendall(bytes(_BYTES))
            time.sleep(_PAUSE_S)


def _flood(place: tuple[str, int], file: str) -> None:
    """Open many: of each connection the kernel keeps only a few packets in the queues of its own machine."""
    with contextlib.ExitStack() as stack:
        flows = [stack.enter_context(socket.create_connection(place, timeout=1)) for _ in range(FLOWS)]
        for flow in flows:
            # Every kernel has this one. It fills the buffers on the way; others, such as BBR, leave them empty.
            flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
            flow.setblocking(False)
        while os.path.exists(file):
            for ready in select.select([], flows, [], 0.2)[1]:
                ready.send(bytes(_BYTES))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
