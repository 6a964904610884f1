"""Look for a second owner of each private and HAIP address, and for private networks that are one broadcast domain: ARP
probes as RFC 5227 has them, and who answers.

A probe has the sender address 0.0.0.0, so no host puts it into its neighbour table. racwire sends no announcement.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from checks.model.facts import AddressProbe, AddressProbes, Interface, Node, Port, PrivateNetwork, Unknown
from checks.sources.probes.probe_hosts import ProbeSession
from checks.sources.probes.safety import public_overlap
from checks.sources.registry import ARP_PROBES

ATTEMPTS = 2
"""Probes for each address: one may be lost. RFC 5227 sends three (PROBE_NUM)."""
APART_S, ANSWER_S = 0.2, 0.4
MOST_ADDRESSES = 64
"""Addresses for which one NIC asks. Where there are more, it does not ask for those of other networks."""
_ETH_ARP, _ETH_IP = 0x0806, 0x0800
_FRAME = struct.Struct("!6s6sHHHBBH6s4s6s4s")
_REQUEST, _REPLY = 1, 2
_ALL, _UNSET = b"\xff" * 6, b"\0" * 6


def arp_probe(mac: bytes, ip: str) -> bytes:
    """Return the frame of a probe: who has this address, with the sender address 0.0.0.0."""
    target = ipaddress.IPv4Address(ip).packed
    return _FRAME.pack(_ALL, mac, _ETH_ARP, 1, _ETH_IP, 6, 4, _REQUEST, mac, b"\0" * 4, _UNSET, target)


def arp_answer(frame: bytes) -> tuple[str, str] | None:
    """Return the address and the MAC address of an ARP reply; None for any other frame."""
    if len(frame) < _FRAME.size:
        return None
    fields = _FRAME.unpack(frame[: _FRAME.size])
    _, _, kind, hardware, protocol, mac_bytes, ip_bytes, operation, mac, ip, _, _ = fields
    if (kind, hardware, protocol, mac_bytes, ip_bytes, operation) != (_ETH_ARP, 1, _ETH_IP, 6, 4, _REPLY):
        return None
    return str(ipaddress.IPv4Address(ip)), mac.hex(":")


@dataclass(slots=True)
class _Port:
    """An interface of this node, and the addresses to look for behind it."""

    interface: Interface
    addresses: list[tuple[str, str, str]] = field(default_factory=list)
    """Network, owner and address."""
    across: list[tuple[str, str, str]] = field(default_factory=list)
    """The same of other private networks."""
    found: dict[str, set[str]] = field(default_factory=dict)


async def probe_addresses(
    networks: Sequence[PrivateNetwork],
    nodes: Sequence[Node],
    node: Node,
    session: ProbeSession,
    *,
    public_subnets: Iterable[str] = (),
) -> AddressProbes:
    """Send the probes from the private interfaces of this node. They need CAP_NET_RAW.

    `nodes` are those that were read: a link-local address of a private NIC is that of a HAIP, and is asked for too.
    """
    known = {n.name: n for n in nodes}
    subnets = tuple(public_subnets)
    ports: dict[str, _Port] = {}
    for network in networks:
        own = network.port(node.name)
        interface = node.interface(own.interface) if own else None
        if interface is None or public_overlap(network, subnets) or not _mac(interface):
            continue
        port = ports.setdefault(interface.name, _Port(interface))
        port.addresses += [(network.name, p.node, ip) for p in network.ports for ip in _addresses(p, known)]
    for port in ports.values():
        here = {name for name, _, _ in port.addresses}
        subnets_here = {n.subnet for n in networks if n.name in here}
        port.across = [
            (network.name, p.node, p.ip)
            for network in networks
            if network.name not in here and network.subnet not in subnets_here and not public_overlap(network, subnets)
            for p in network.ports
            if ":" not in p.ip
        ]
        if len(port.addresses) + len(port.across) > MOST_ADDRESSES:
            port.across = []
    with session.journal.entry(node.name, "arp probes", ARP_PROBES.action("arp probes")) as entry:
        try:
            await asyncio.gather(*map(_probe, ports.values()))
        except PermissionError:
            entry.outcome = f"this user of {node.name} may not send ARP probes: they need CAP_NET_RAW"
            return AddressProbes(node.name, Unknown(entry.outcome))
        except OSError as error:
            entry.outcome = f"ARP probes could not be sent from {node.name}: {error.strerror}"
            return AddressProbes(node.name, Unknown(entry.outcome))
        probes = tuple(_result(port, *asked) for port in ports.values() for asked in port.addresses)
        across = tuple(_result(port, *asked) for port in ports.values() for asked in port.across)
        entry.text = "\n".join(
            f"{p.ip} of {p.node} on {p.interface}: {', '.join(p.macs) or 'silent'}" for p in (*probes, *across)
        )
    return AddressProbes(node.name, probes, across or None)


def _addresses(port: Port, nodes: Mapping[str, Node]) -> Iterator[str]:
    """Yield the address of a port, and the HAIP addresses of its interface."""
    interface = nodes[port.node].interface(port.interface) if port.node in nodes else None
    haip = [a.ip for a in interface.addresses if a.is_link_local] if interface else []
    yield from dict.fromkeys(ip for ip in (port.ip, *haip) if ":" not in ip)


def _result(port: _Port, network: str, owner: str, ip: str) -> AddressProbe:
    return AddressProbe(network, owner, ip, port.interface.name, ATTEMPTS, tuple(sorted(port.found.get(ip, ()))))


def _mac(interface: Interface) -> bytes:
    """Return the MAC address; empty where the interface has no Ethernet address."""
    try:
        mac = bytes.fromhex(interface.mac_address.replace(":", ""))
    except ValueError:
        return b""
    return mac if len(mac) == 6 and any(mac) else b""


async def _probe(port: _Port) -> None:
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_ARP)) as sock:
        sock.setblocking(False)
        sock.bind((port.interface.name, _ETH_ARP))
        wanted = tuple(dict.fromkeys(ip for _, _, ip in (*port.addresses, *port.across)))

        def receive() -> None:
            while True:
                try:
                    frame = sock.recv(2048)
                except OSError:
                    return
                if (answer := arp_answer(frame)) and answer[0] in wanted:
                    port.found.setdefault(answer[0], set()).add(answer[1])

        loop.add_reader(sock.fileno(), receive)
        try:
            for attempt in range(ATTEMPTS):
                for ip in wanted:
                    await loop.sock_sendall(sock, arp_probe(_mac(port.interface), ip))
                await asyncio.sleep(APART_S if attempt < ATTEMPTS - 1 else ANSWER_S)
        finally:
            loop.remove_reader(sock.fileno())
