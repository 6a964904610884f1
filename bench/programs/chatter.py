"""Send a changing number of packets to each address, and read received packets: `python chatter.py ADDRESS…`."""

from __future__ import annotations

import contextlib
import random
import socket
import sys
import time

_PORT = 9
_EVERY_S = 0.05
_PACKETS = 160
"""Maximum of packets in each round, whatever the number of addresses."""
_BYTES = (100, 1400)


def main() -> None:
    """Send until the process is ended."""
    addresses = sys.argv[1:]
    most = max(1, _PACKETS // len(addresses))
    chance = random.Random(addresses[0])  # noqa: S311 - noise, not secrets
    ours = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ours.bind(("0.0.0.0", _PORT))  # noqa: S104 - in a namespace that nothing else is in
    ours.setblocking(False)
    while True:
        for address in addresses:
            for _ in range(chance.randint(1, most)):
                with contextlib.suppress(OSError):
                    ours.sendto(bytes(chance.randint(*_BYTES)), (address, _PORT))
            with contextlib.suppress(BlockingIOError):
                while True:
                    ours.recv(2048)
        time.sleep(_EVERY_S)


main()
