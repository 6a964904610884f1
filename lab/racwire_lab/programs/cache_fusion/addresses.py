"""The node's own current addresses and NICs, from the kernel."""

from __future__ import annotations

import array
import fcntl
import socket
import struct
from collections.abc import Mapping
from typing import NamedTuple

_SIOCGIFCONF, _SIOCGIFNETMASK = 0x8912, 0x891B
_ROW = struct.calcsize("16s24s")
_ROOM = 64

_COUNTERS = {
    "bytes_received": "rx_bytes",
    "packets_received": "rx_packets",
    "receive_errors": "rx_errors",
    "receive_dropped": "rx_dropped",
    "receive_buf_or": "rx_fifo_errors",
    "receive_frame_err": "rx_frame_errors",
    "bytes_sent": "tx_bytes",
    "packets_sent": "tx_packets",
    "send_errors": "tx_errors",
    "sends_dropped": "tx_dropped",
    "send_buf_or": "tx_fifo_errors",
    "send_carrier_lost": "tx_carrier_errors",
}


class NodeAddress(NamedTuple):
    """An address of this node."""

    ip: str
    label: str
    """The interface, or the alias: `eth1:1`."""
    mask: str

    @property
    def device(self) -> str:
        """The name of the NIC, without the number of an alias."""
        return self.label.partition(":")[0]


def addresses() -> dict[str, NodeAddress]:
    """Return all IPv4 addresses of this node, by address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        rows = array.array("B", bytes(_ROW * _ROOM))
        start, _ = rows.buffer_info()
        answer = fcntl.ioctl(handle, _SIOCGIFCONF, struct.pack("iP", len(rows), start))
        length = struct.unpack("iP", answer)[0]
        found = {}
        for offset in range(0, length, _ROW):
            name = rows[offset : offset + 16].tobytes().rstrip(b"\0")
            ip = socket.inet_ntoa(rows[offset + 20 : offset + 24].tobytes())
            found[ip] = NodeAddress(ip, name.decode(), _mask(handle, name, ip))
        return found


def _mask(handle: socket.socket, name: bytes, ip: str) -> str:
    # With several addresses on one name, the kernel answers for the address in the request.
    request = struct.pack("16sH2s4s16x", name, socket.AF_INET, b"", socket.inet_aton(ip))
    try:
        return socket.inet_ntoa(fcntl.ioctl(handle, _SIOCGIFNETMASK, request)[20:24])
    except OSError:
        return "255.255.255.255"


def device(address: NodeAddress, here: Mapping[str, NodeAddress]) -> dict[str, str | int] | None:
    """Return the NIC of an address as `racwire_lab.database.live.LiveDevice`; None when the NIC has been removed.

    Its address is the NIC's own first address, not that of an alias.
    """
    first = next((other for other in here.values() if other.label == address.device), address)
    try:
        found: dict[str, str | int] = {"if_name": address.device, "ip_addr": first.ip, "net_mask": first.mask}
        found["mtu"] = _number(f"/sys/class/net/{address.device}/mtu")
        for name, file in _COUNTERS.items():
            found[name] = _number(f"/sys/class/net/{address.device}/statistics/{file}")
        return found
    except (OSError, ValueError):
        return None


def _number(path: str) -> int:
    with open(path, encoding="ascii") as file:
        return int(file.read())
