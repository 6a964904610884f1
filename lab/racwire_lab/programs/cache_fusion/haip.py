"""The HAIPs of a node: they leave a NIC that has no link, announce themselves on another one, and come back."""

from __future__ import annotations

import contextlib
import socket
import struct
import subprocess

from .addresses import NodeAddress
from .settings import InstanceSettings

_FRESH_S = 3.0
"""Seconds for which the report of another node about its dead networks holds."""
LINGERS_S = 10.0
"""Seconds for which a node keeps the old MAC address of a HAIP that has moved, with the fault stale-arp-after-move."""
_NEIGHBOURS = "/proc/net/arp"
_COMPLETE = 2
_ETH_P_ARP = 0x0806
_ARP = struct.Struct("!HHBBH6s4s6s4s")
_ANYONE, _NO_MAC = b"\xff" * 6, bytes(6)
_ETHERNET, _IPV4, _REQUEST = 1, 0x0800, 1


class Haips:
    """The HAIPs of one node, and what it knows of the links of the others."""

    def __init__(self) -> None:
        self._now = 0.0
        self._dead_since: dict[int, float] = {}
        self._dead_at_peers: dict[int, tuple[float, int]] = {}
        self._macs: dict[str, str] = {}
        """The MAC address of each HAIP of another node, as known before it moved."""
        self._lingering: dict[str, tuple[str, float]] = {}
        """The NIC of each neighbour entry with an old MAC address, and the time of its end."""

    def dead_bits(self, settings: InstanceSettings) -> int:
        """Return the networks without a link on this node for longer than the delay of HAIP, as bits."""
        return sum(1 << network for network in self._own_dead(settings))

    def heard(self, peer: int, dead_bits: int, now: float) -> None:
        """Record the dead networks of another node."""
        self._dead_at_peers[peer] = (now, dead_bits)

    def act(self, settings: InstanceSettings, here: dict[str, NodeAddress], now: float) -> None:
        """Move the HAIP of each network that is dead on any node, on all nodes: else the two ends could not meet."""
        self._now = now
        linked = {network: _has_link(nic) for network, (nic, _) in settings.private.items()}
        for network, has_link in linked.items():
            if has_link:
                self._dead_since.pop(network, None)
            else:
                self._dead_since.setdefault(network, now)
        dead = self._own_dead(settings)
        for at, bits in self._dead_at_peers.values():
            if now - at <= _FRESH_S:
                dead |= {network for network in settings.private if bits >> network & 1}
        alive = [network for network in sorted(settings.private) if network not in dead and linked[network]]
        self._forget_neighbours(settings)
        for network, address in settings.haips.items():
            target = network if network not in dead or not alive else alive[0]
            nic, (ip, _, length) = settings.private[target][0], address.partition("/")
            if ip in here and here[ip].device != nic:
                _move(f"{ip}/{length}", here[ip].device, nic, f"{nic}:{1 if target == network else 2}")
                if settings.host not in settings.stale_arp_of:
                    _announce(ip, nic)
                if target != network:
                    self._keep_neighbours(settings, network, nic)

    def _own_dead(self, settings: InstanceSettings) -> set[int]:
        return {n for n, since in self._dead_since.items() if self._now - since >= settings.haip_after_s}

    # --- neighbour entries that linger --------------------------------------------------------------------------------

    def _forget_neighbours(self, settings: InstanceSettings) -> None:
        """Learn the MAC addresses of HAIPs at their own NICs, and end the entries whose time is over."""
        for ip, (nic, end) in list(self._lingering.items()):
            if self._now >= end or not settings.stale_arp_of:
                _ip(f"neigh delete {ip} dev {nic}\n")
                del self._lingering[ip]
        nics = {
            ip: settings.private[n][0]
            for peer in settings.peers.values()
            for n, ip in peer.items()
            if n in settings.private
        }
        self._macs |= {ip: mac for ip, nic, mac in _neighbours() if nics.get(ip) == nic}

    def _keep_neighbours(self, settings: InstanceSettings, network: int, nic: str) -> None:
        """Keep the MAC addresses of HAIPs that have moved with a network: frames to them now reach no node."""
        for number, host in settings.hosts.items():
            ip = settings.peers.get(number, {}).get(network, "")
            if host in settings.stale_arp_of and ip in self._macs:
                _ip(f"neigh replace {ip} lladdr {self._macs[ip]} dev {nic} nud permanent\n")
                self._lingering[ip] = (nic, self._now + LINGERS_S)


def _has_link(nic: str) -> bool:
    try:
        with open(f"/sys/class/net/{nic}/carrier", encoding="ascii") as file:
            return file.read().strip() == "1"
    except OSError:  # the NIC is down
        return False


def _move(address: str, device: str, nic: str, label: str) -> None:
    _ip(f"address delete {address} dev {device}\naddress add {address} brd + dev {nic} label {label}\n")


def _ip(lines: str) -> None:
    with contextlib.suppress(OSError):
        subprocess.run(["ip", "-batch", "-"], input=lines.encode(), check=False, stderr=subprocess.DEVNULL)


def _announce(ip: str, nic: str) -> None:
    """Announce an address by ARP (RFC 5227), so that the neighbours replace its MAC address."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM) as opened:
        opened.bind((nic, _ETH_P_ARP))
        mac, own = opened.getsockname()[4], socket.inet_aton(ip)
        packet = _ARP.pack(_ETHERNET, _IPV4, len(mac), len(own), _REQUEST, mac, own, _NO_MAC, own)
        opened.sendto(packet, (nic, _ETH_P_ARP, 0, 0, _ANYONE))


def _neighbours() -> list[tuple[str, str, str]]:
    """The address, the NIC and the MAC address of each neighbour that has answered."""
    with open(_NEIGHBOURS, encoding="ascii") as file:
        rows = [line.split() for line in file.readlines()[1:]]
    return [(row[0], row[-1], row[3]) for row in rows if int(row[2], 16) & _COMPLETE]
