"""A cluster in which the fate of every packet is known: what is sent, what arrives, and what is counted where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod

from checks.model.packet_sizes import BLOCK_HEADER_BYTES, USUAL_BLOCK_BYTES
from tests.simulator.fates import Effect, Way, effect
from tests.simulator.faults import BELOW_NICS, NETWORKS, STANDARD_MTU, Fault, node_names
from tests.simulator.packets import HEADERS, Packet, chance, number, pieces

HAIP_ROUTE_MTU = 1400
_ARP_BYTES = 28
BLOCK_BYTES = USUAL_BLOCK_BYTES + BLOCK_HEADER_BYTES + HEADERS
"""Bytes of a block as one IP packet."""
_LMS_PORTS = (42_001, 42_002, 42_003, 42_004)


class World:
    """Nodes with a NIC on each private network, and faults."""

    def __init__(
        self, faults: Sequence[Fault], *, nodes: int = 3, mtu: int = 9000, seed: int = 1, is_lucky: bool = False
    ) -> None:
        self.is_lucky = is_lucky
        """Whether no packet of racwire is lost by chance: then all that is lost must be. Blocks are lost in shares."""
        self.faults = tuple(faults)
        self.names = node_names(nodes)
        self.mtu = mtu
        self.seed = seed
        self.counted: Counter[tuple[str, str]] = Counter()
        """Counters of kernels by node, `Ip.InReceives`, and of NICs by node and NIC: `eth2.rx_crc_errors`."""
        self.lost_to: Counter[Fault] = Counter()
        """The packets of racwire, and the blocks, that each fault lost."""
        self.no_ports: Counter[str] = Counter()
        self.in_echos: Counter[str] = Counter()
        self._places = frozenset((f.kind, f.node, f.network) for f in self.faults)
        self._sent: Counter[Packet] = Counter()
        self._pings: dict[tuple[int, str, str, str, int], tuple[Packet | None, tuple[Packet, ...]]] = {}
        self._tracked: set[tuple[object, ...]] = set()
        """The flows that have an entry in full tables of connections: see `_has_entry`."""
        self._effects: dict[Packet, tuple[tuple[Fault | None, Effect], ...]] = {}
        self._ways = {(s, r, n): self._way(s, r, n) for s in self.names for r in self.names for n in NETWORKS}

    # --- the state of the nodes ---------------------------------------------------------------------------------------

    def has(self, kind: str, node: str = "", network: int = 0) -> bool:
        """Return whether there is such a fault at this place."""
        return (kind, node, network) in self._places

    def of_kind(self, kind: str) -> list[Fault]:
        """Return the faults of one kind."""
        return [f for f in self.faults if f.kind == kind]

    @property
    def is_virtual(self) -> bool:
        """Whether the nodes are virtual machines: a fault is in the layer below their NICs."""
        return any(f.kind in BELOW_NICS for f in self.faults)

    def is_down(self, node: str) -> bool:
        """Return whether a node is switched off."""
        return self.has("node-down", node)

    def nic_mtu(self, node: str, network: int) -> int:
        """Return the MTU of a NIC."""
        return STANDARD_MTU if self.has("node-mtu", node, network) else self.mtu

    def route_mtu(self, node: str, network: int, address: str) -> int | None:
        """Return the MTU of the route in use of a node, where it has one of its own."""
        if address == "haip":
            return HAIP_ROUTE_MTU if self.has("haip-route-mtu", node, network) else None
        return STANDARD_MTU if self.has("policy-mtu", node, network) else None

    def mtu_to(self, node: str, network: int, address: str) -> int:
        """Return the MTU with which a node sends."""
        return min(
            self.nic_mtu(node, self.out(node, network, address)), self.route_mtu(node, network, address) or self.mtu
        )

    def out(self, node: str, network: int, address: str) -> int:
        """Return the NIC by which a node sends to an address of a network."""
        is_other = address == "haip" and self.has("haip-wrong-route", node, network)
        return len(NETWORKS) + 1 - network if is_other else network

    def has_gateway(self, node: str, network: int, address: str) -> bool:
        """Return whether a rule of a node sends to a gateway that does not exist."""
        return address == "private" and self.has("policy-gateway", node, network)

    def is_local(self, node: str, peer: str, network: int, address: str) -> bool:
        """Return whether a bridge of the node itself has the address of its peer."""
        return address == "private" and Fault("local-bridge", network, node, peer) in self.faults

    def haip_network(self, network: int) -> int:
        """Return the network on which the HAIPs of a network are: they leave one where a NIC has no link."""
        dead = {f.network for f in self.of_kind("link-down")}
        alive = [n for n in NETWORKS if n not in dead]
        return alive[0] if network in dead and alive else network

    def cable(self, node: str, nic: int) -> int:
        """Return the switch that the cable of a NIC is plugged into."""
        return len(NETWORKS) + 1 - nic if self.has("crossed-cables", node) else nic

    def _way(self, sender: str, receiver: str, network: int) -> Way:
        switch = self.cable(sender, network)
        if self.has("joined-networks"):
            # Each node answers ARP for all of its addresses on both NICs; the sender keeps one of the answers.
            return Way(switch, NETWORKS[number(self.seed, sender, receiver, network) % len(NETWORKS)])
        return Way(switch, next(nic for nic in NETWORKS if self.cable(receiver, nic) == switch))

    def way(self, sender: str, receiver: str, network: int) -> Way:
        """Return the way from one node to another on a network."""
        return self._ways[sender, receiver, network]

    # --- packets ------------------------------------------------------------------------------------------------------

    def effects(self, packet: Packet) -> tuple[tuple[Fault | None, Effect], ...]:
        """Return what becomes of a packet, in the order of its way: None is no fault but the receiver's own MTU."""
        found = self._effects.get(packet)
        if found is None:
            found = self._effects[packet] = tuple(self._effects_of(packet))
        return found

    def _effects_of(self, packet: Packet) -> list[tuple[Fault | None, Effect]]:
        way = self.way(packet.sender, packet.receiver, packet.network)
        if self.is_down(packet.receiver) or self.is_down(packet.sender):
            return [(None, Effect(1.0))]
        if packet.protocol != "arp" and not self._has_mac(packet):
            return [(None, Effect(1.0))]
        every = [(fault, e) for fault in self.faults if (e := effect(fault, packet, way, self.names))]
        found: list[tuple[Fault | None, Effect]] = [(f, e) for f, e in every if not e.arrived]
        if packet.size > self.nic_mtu(packet.receiver, way.arrives):
            found.append((None, Effect(1.0, "rx.rx_dropped")))
        return found + [(f, e) for f, e in every if e.arrived]

    def sends(self, packet: Packet) -> bool:
        """Send a packet, and return whether its receiver takes it."""
        if not (effects := self.effects(packet)):
            return True
        self._sent[packet] += 1
        for fault, e in effects:
            if fault and fault.kind == "conntrack-full" and self._has_entry(fault, packet):
                continue
            if e.share >= 1 or (
                not self.is_lucky and chance(self.seed, str(fault), packet, self._sent[packet]) < e.share
            ):
                self.count(packet, e, 1)
                if fault:
                    self.lost_to[fault] += 1
                return False
        self._tracked |= {(f, *_flow(packet)) for f, _ in effects if f and f.kind == "conntrack-full"}
        return True

    def _has_mac(self, packet: Packet) -> bool:
        """Return whether the sender of a packet can know the MAC address: it hears ARP packets of its peer."""
        sender, receiver, network, address = packet.sender, packet.receiver, packet.network, packet.address
        is_by_hand = address == "private" and Fault("wrong-neighbour", network, sender, receiver) in self.faults
        return is_by_hand or self._passes_arp(network, receiver, sender, address)

    def _has_entry(self, fault: Fault, packet: Packet) -> bool:
        """Return whether a full table of connections has the flow of a packet: then it needs no room."""
        return (fault, *_flow(packet)) in self._tracked

    def count(self, packet: Packet, e: Effect, number: int) -> None:
        """Count lost packets where a counter moves."""
        where, _, name = e.counter.partition(".")
        if where == "tx":
            self.counted[packet.sender, f"eth{packet.network}.{name}"] += number
        elif where == "rx":
            nic = f"eth{self.way(packet.sender, packet.receiver, packet.network).arrives}"
            self.counted[packet.receiver, f"{nic}.{name}"] += number
            if name != "rx_dropped":
                self.counted[packet.receiver, f"{nic}.rx_errors"] += number
        elif where:
            self.counted[packet.receiver, e.counter] += number
        if e.arrived:
            self.counted[packet.receiver, "Ip.InReceives"] += number
            if where == "Ip":  # a fragment, for which there is no room
                self.counted[packet.receiver, "Ip.ReasmReqds"] += number
            if where == "Udp":
                self.counted[packet.receiver, "Ip.InDelivers"] += number
                self.counted[packet.receiver, "Udp.InErrors"] += number

    def resolves(self, sender: str, receiver: str, network: int, address: str = "private") -> bool:
        """Return whether the ARP request of a node is answered, or its entry needs none."""
        if address == "private" and Fault("wrong-neighbour", network, sender, receiver) in self.faults:
            return True
        network = self.out(sender, network, address)
        return all(self._passes_arp(network, a, b, address) for a, b in ((sender, receiver), (receiver, sender)))

    def _passes_arp(self, network: int, sender: str, receiver: str, address: str, *, is_raw_at: str = "") -> bool:
        """Return whether an ARP packet passes; `is_raw_at`: the node of a program that does ARP itself."""
        return not any(
            e.share >= 1
            for f, e in self.effects(Packet(network, sender, receiver, address, "arp", _ARP_BYTES))
            if not (f and f.kind == "arp-off" and f.node == is_raw_at)
        )

    def answers_probe(self, sender: str, receiver: str, network: int) -> bool:
        """Return whether a node answers the ARP probes that racwire sends from the NIC of a network."""
        ways = ((sender, receiver), (receiver, sender))
        return all(self._passes_arp(network, *ends, "haip", is_raw_at=sender) for ends in ways)

    def entry(self, node: str, peer: str, network: int, address: str) -> str:
        """Return the state of the neighbour entry that a node has for an address of a peer; empty where it has none."""
        on = self.out(node, network, address)
        if self.has("arp-off", node, on):
            return ""
        if self.resolves(node, peer, network, address):
            return "stale" if self.has_gateway(node, network, address) else "reachable"
        # A kernel keeps the address of each host that asks for its own.
        is_heard = self._passes_arp(on, peer, node, address) and not self.has("arp-off", peer, on)
        return "stale" if is_heard else "failed"

    def is_unreachable(self, node: str, peer: str, network: int, address: str) -> bool:
        """Return whether the kernel of a node reports that no host answers ARP for the address, or for its gateway."""
        return self.has_gateway(node, network, address) or self.entry(node, peer, network, address) == "failed"

    def ping(self, network: int, sender: str, receiver: str, address: str, size: int) -> bool | None:
        """Send an echo request with Don't Fragment; return whether it is answered, None where the kernel refuses it."""
        way = (network, sender, receiver, address, size)
        if way not in self._pings:
            self._pings[way] = self._ping(*way)
        if self.is_local(sender, receiver, network, address):
            self.in_echos[sender] += 1
            return True
        request, back = self._pings[way]
        if request is None:
            return None
        if not self.sends(request):
            return False
        self.in_echos[receiver] += 1
        returned = [self.sends(packet) for packet in back]
        if not all(returned):
            self.incomplete(sender, returned, back)
        return all(returned)

    def _ping(
        self, network: int, sender: str, receiver: str, address: str, size: int
    ) -> tuple[Packet | None, tuple[Packet, ...]]:
        """Return an echo request, which the kernel can refuse, and the packets of its reply."""
        if size > self.mtu_to(sender, network, address):
            return None, ()
        cut = pieces(size, self.mtu_to(receiver, network, address))
        out, back = self.out(sender, network, address), self.out(receiver, network, address)
        request = Packet(out, sender, receiver, address, "icmp", size)
        return request, tuple(Packet(back, receiver, sender, address, "icmp", piece, form) for form, piece in cut)

    def datagram(
        self, network: int, sender: str, receiver: str, size: int, port: int, *, whole: bool, in_a_row: bool = False
    ) -> bool | None:
        """Send a datagram to a closed port; return whether it is answered, None where the kernel refuses it."""
        if self.is_local(sender, receiver, network, "private"):
            self.no_ports[sender] += 1
            return True
        # With IP_PMTUDISC_PROBE, which racwire's sender sets, the kernel heeds the MTU of the NIC alone.
        mtu = self.nic_mtu(sender, network) if whole else self.mtu_to(sender, network, "private")
        if whole and size > mtu:
            return None
        sent = [
            Packet(network, sender, receiver, "private", "udp", piece, form, port, in_a_row=in_a_row)
            for form, piece in pieces(size, mtu)
        ]
        arrived = [self.sends(packet) for packet in sent]
        if not all(arrived):
            self.incomplete(receiver, arrived, sent)
            return False
        self.no_ports[receiver] += 1
        answer = min(size, 576)
        return self.sends(Packet(network, receiver, sender, "private", "icmp", answer, is_error=True))

    def blocks(self, network: int, sender: str, receiver: str, address: str, number: int) -> int:
        """Send so many blocks of one instance to another, and return how many are lost: a share of them, not by chance.

        Instances send them from several source ports, one for each LMS process.
        """
        return sum(
            self._blocks(network, sender, receiver, address, port, number // len(_LMS_PORTS)) for port in _LMS_PORTS
        )

    def _blocks(self, network: int, sender: str, receiver: str, address: str, port: int, number: int) -> int:
        cut = pieces(BLOCK_BYTES, self.mtu_to(sender, network, address))
        ends = (self.out(sender, network, address), sender, receiver, address, "udp")
        packets = [Packet(*ends, size, form, port, "instance") for form, size in cut]
        shares: dict[Fault | None, list[tuple[Packet, Effect]]] = {}
        for packet in packets:
            for fault, e in self.effects(packet):
                shares.setdefault(fault, []).append((packet, e))
        left = number
        for fault, hit in shares.items():
            of_one = [e.share for _, e in (hit[:1] if hit[0][1].is_of_datagram else hit)]
            share = 1 - prod(1 - s for s in of_one)
            lost = round(left * share)
            packet, e = hit[0]
            self.count(packet, e, lost * (len(hit) if e.share >= 1 else 1))
            if (not e.arrived and share < 1) or len(hit) < len(packets):
                self.incomplete(receiver, [True] * (len(packets) - 1), packets, lost)
            if fault:
                self.lost_to[fault] += lost
            left -= lost
        return number - left

    def incomplete(self, receiver: str, arrived: Sequence[bool], sent: Sequence[Packet], number: int = 1) -> None:
        """Count datagrams of which some fragments arrived: the kernel gives them up after a time."""
        if len(sent) > 1 and any(arrived):
            self.counted[receiver, "Ip.ReasmFails"] += number
            self.counted[receiver, "Ip.ReasmTimeout"] += number
            self.counted[receiver, "Ip.InReceives"] += number * sum(arrived)
            self.counted[receiver, "Ip.ReasmReqds"] += number * sum(arrived)


def _flow(packet: Packet) -> tuple[object, ...]:
    """Return what the packets of a flow have in common, those of the other direction included."""
    ends = frozenset((packet.sender, packet.receiver))
    return packet.network, ends, packet.address, packet.protocol, packet.port


def packet_size(payload: int) -> int:
    """Return the bytes of an IP packet with the payload of a ping or a datagram."""
    return payload + HEADERS
