"""Answer ARP requests for an address, and announce it twice a second: `python claiming.py LINK ADDRESS FILE`.

The program ends when FILE is removed. It needs only the standard library, and imports nothing of racwire.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
import time
from collections.abc import Sequence

_ARP, _REQUEST, _REPLY = 0x806, 1, 2
_HEAD = struct.pack("!HHBB", 1, 0x800, 6, 4)
_EVERYONE = b"\xff" * 6
_EVERY_S = 0.5
_BODY = slice(8, 28)
"""Of an ARP packet: the sender's MAC and address, the target's MAC and address."""


def main(argv: Sequence[str]) -> int:
    """Claim the address until the file is gone."""
    link, text, file = argv
    address = socket.inet_aton(text)
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ARP)) as opened:
        opened.bind((link, _ARP))
        mac: bytes = opened.getsockname()[4]
        announced_at = -_EVERY_S
        while os.path.exists(file):
            if time.monotonic() - announced_at >= _EVERY_S:
                announced_at = time.monotonic()
                _send(opened, link, _REQUEST, mac + address + bytes(6) + address, _EVERYONE)
            opened.settimeout(max(0.01, announced_at + _EVERY_S - time.monotonic()))
            try:
                packet = opened.recv(64)
            except TimeoutError:
                continue
            asker, _, target = packet[_BODY][:10], packet[_BODY][10:16], packet[_BODY][16:]
            if packet[:8] == _HEAD + struct.pack("!H", _REQUEST) and target == address != asker[6:]:
                _send(opened, link, _REPLY, mac + address + asker, asker[:6])
    return 0


def _send(opened: socket.socket, link: str, operation: int, body: bytes, to: bytes) -> None:
    opened.sendto(_HEAD + struct.pack("!H", operation) + body, (link, _ARP, 0, 0, to))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
