"""Parse the open TCP connections in the output of `ss -t -i -n`, of any release. No I/O.

The texts are those of all releases in use: `ss` without pmtu (iproute 2.6 to 4.11), without bytes (before 4.1).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Socket:
    """One connection as `ss` prints it: its ends, and its values by name; `retrans` is the sum since it was opened."""

    local: tuple[str, int]
    remote: tuple[str, int]
    values: Mapping[str, int]


_SOCKET = re.compile(
    r"(?:tcp\s+)?(?:ESTAB\s+)?[0-9]+\s+[0-9]+\s+(\S+):([0-9]{1,5})\s+(\S+):([0-9]{1,5})(?:\s+(.*))?", re.ASCII
)
_NAMES = "mss|pmtu|advmss|segs_out|segs_in|bytes_sent|bytes_acked|bytes_received|backoff|retrans"
_VALUE = re.compile(rf"(?<!\S)({_NAMES}):([0-9]{{1,19}})(?:/([0-9]{{1,19}}))?(?!\S)", re.ASCII)


def parse_sockets(text: str) -> tuple[Socket, ...]:
    """Parse the open connections in the output of `ss -t -i -n`, of any release.

    The values follow in the same line or in the lines below, which are indented. Connections in other states, such as
    SYN-SENT, are left out.
    """
    found: list[Socket] = []
    current: tuple[tuple[str, int], tuple[str, int]] | None = None
    values: dict[str, int] = {}
    for line in [*text.split("\n"), "end"]:
        if line[:1].isspace():
            values |= _values(line)
            continue
        if current:
            found.append(Socket(*current, values))
        current, values = None, {}
        if matched := _SOCKET.fullmatch(line.strip()):
            ends = (_address(matched[1]), int(matched[2])), (_address(matched[3]), int(matched[4]))
            if all(address for address, _ in ends):
                current, values = ends, _values(matched[5] or "")
    return tuple(found)


def _address(text: str) -> str:
    """An address without brackets and scope; an IPv4 address that is written as one of IPv6 is IPv4."""
    plain = re.sub(r"%[^\]]*", "", text).strip("[]")
    mapped = re.fullmatch(r"::ffff:([0-9.]+)", plain, re.IGNORECASE)
    plain = mapped[1] if mapped else plain
    try:
        return str(ipaddress.ip_address(plain))
    except ValueError:
        return ""


def _values(line: str) -> dict[str, int]:
    return {name: int(total or value) for name, value, total in _VALUE.findall(line)}
