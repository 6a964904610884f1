"""The address of the SCAN: taken by the node whose turn it is, and made known to the others on the public network."""

from __future__ import annotations

import contextlib
import socket
import subprocess

from racwire_lab.cluster.topology import PUBLIC, SCAN_ADDRESS
from racwire_lab.programs.cache_fusion.addresses import addresses

_ARP = 0x0806
_BROADCAST = b"\xff" * 6
_ETHERNET_IPV4_REPLY = bytes.fromhex("0001080006040002")


def is_here() -> bool:
    """Whether this node has it."""
    return SCAN_ADDRESS in addresses()


def take() -> None:
    """Give it to this node, and tell everyone, so that nobody goes on sending to where it was."""
    _change("replace")
    with contextlib.suppress(OSError):
        _announce()


def give_up() -> None:
    """Take it from this node."""
    _change("delete")


def _change(verb: str) -> None:
    nic = PUBLIC.nic
    command = ["ip", "address", verb, f"{SCAN_ADDRESS}/24", "brd", "+", "dev", nic, "label", f"{nic}:1"]
    # Refused while the NIC is down, or when it is done already: whoever needs it looks whether it is here.
    subprocess.run(command, capture_output=True, check=False)


def _announce() -> None:
    """A gratuitous ARP reply (RFC 5227, section 3): who knows the address from before, takes the new owner."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as link:
        link.bind((PUBLIC.nic, 0))
        own: bytes = link.getsockname()[4]
        ip = socket.inet_aton(SCAN_ADDRESS)
        link.send(_BROADCAST + own + _ARP.to_bytes(2, "big") + _ETHERNET_IPV4_REPLY + own + ip + _BROADCAST + ip)
