"""The completion times of racwire's flows as tcpdump saw them on the NIC, from a pcap file. No I/O."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

_HEADER, _TOKEN, _ANSWER = 16, 16, 8
_ETHERNET = 14


@dataclass(frozen=True, slots=True)
class SeenFlow:
    """One flow."""

    size: int
    began_s: float
    """When its first packet left, in seconds since 1970."""
    took_s: float
    """Until the last packet of the answer came."""


@dataclass
class _Connection:
    data: list[tuple[float, int, bytes]] = field(default_factory=list)
    """Time, first byte of the stream and payload of each segment to the far end."""
    answers: list[tuple[float, int]] = field(default_factory=list)
    """Time and end in the stream of each segment from the far end."""


def flows_seen(pcap: bytes, target: str) -> Iterator[SeenFlow]:
    """Yield the flows to a target in a capture of the near node's NIC, by connection."""
    for one in _connections(pcap, bytes(map(int, target.split(".")))).values():
        yield from _flows(one)


def _flows(one: _Connection) -> Iterator[SeenFlow]:
    begins = {first: (at, payload) for at, first, payload in reversed(one.data)}
    answers = sorted(one.answers, key=lambda answer: (answer[1], answer[0]))
    place, number = _TOKEN, 0
    while place in begins and len(begins[place][1]) >= _HEADER:
        at, payload = begins[place]
        size = struct.unpack_from("!Q", payload, 8)[0]
        number += _ANSWER
        if not (came := [when for when, end in answers if end >= number]):
            return
        yield SeenFlow(size, at, min(came) - at)
        place += _HEADER + size


def _connections(pcap: bytes, target: bytes) -> dict[tuple[int, int], _Connection]:
    found: dict[tuple[int, int], _Connection] = {}
    starts: dict[tuple[int, int, bool], int] = {}
    nanoseconds = struct.unpack_from("<I", pcap)[0] == 0xA1B23C4D
    place = 24
    while place + 16 <= len(pcap):
        seconds, part, kept, _ = struct.unpack_from("<IIII", pcap, place)
        packet = pcap[place + 16 : place + 16 + kept]
        place += 16 + kept
        ip = packet[_ETHERNET:]
        if len(ip) < 40 or packet[12:14] != b"\x08\x00" or ip[9] != 6:
            continue
        tcp, length = ip[(ip[0] & 15) * 4 :], struct.unpack_from("!H", ip, 2)[0]
        source_port, target_port, sequence = struct.unpack_from("!HHI", tcp)
        is_out = ip[16:20] == target
        ports = (source_port, target_port) if is_out else (target_port, source_port)
        if tcp[13] & 2:
            starts[*ports, is_out] = sequence
            continue
        if (*ports, is_out) not in starts:
            continue
        header = (tcp[12] >> 4) * 4
        size = length - (ip[0] & 15) * 4 - header
        if size <= 0:
            continue
        first = (sequence - starts[*ports, is_out] - 1) % (1 << 32)
        at = seconds + part / (1e9 if nanoseconds else 1e6)
        own = found.setdefault(ports, _Connection())
        if is_out:
            own.data.append((at, first, tcp[header:]))
        else:
            own.answers.append((at, first + size))
    return found
