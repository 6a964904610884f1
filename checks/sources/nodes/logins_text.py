"""Read /proc/net/tcp and /proc/net/tcp6: on which of the node's addresses connections are (proc_net_tcp of Linux)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

_BIG_ENDIAN = ("s390x", "s390", "ppc64", "ppc")
"""Machines, as uname names them, on which the kernel prints the words of an address in network order."""
_LOCAL = re.compile(r"\s*\d+:\s+([0-9A-Fa-f]{32}|[0-9A-Fa-f]{8}):[0-9A-Fa-f]{4}\s")
_WORD_DIGITS = 8


def parse_logins(text: str, machine: str) -> tuple[str, ...]:
    """The local addresses of the lines, sorted and each once; an IPv4 address within IPv6 as what it is."""
    return tuple(sorted(set(_addresses(text, machine in _BIG_ENDIAN))))


def _addresses(text: str, is_big_endian: bool) -> Iterator[str]:
    for line in text.split("\n"):
        if found := _LOCAL.match(line):
            words = re.findall(f".{{{_WORD_DIGITS}}}", found[1])
            octets = b"".join(bytes.fromhex(w) if is_big_endian else bytes.fromhex(w)[::-1] for w in words)
            address = ipaddress.ip_address(octets)
            mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
            yield str(mapped or address)
