"""Read the counters of the kernel that the practice switches consist of: links, queues, packet filter, bridges."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from racwire_lab.cluster import aggregation
from racwire_lab.cluster.desired import Desired
from racwire_lab.cluster.drop_rules import TABLE, named
from racwire_lab.cluster.fault_kind import ActiveFault
from racwire_lab.cluster.hands import MEMBERS, Cabling
from racwire_lab.cluster.networks import Network
from racwire_lab.cluster.nics import Nic
from racwire_lab.cluster.port_faults import (
    BRIGHT_DBM,
    DAMAGING,
    DARK_DBM,
    FULL_BUFFER,
    IN,
    POLICED_KBYTES,
    POLICER,
    is_port_dark,
)
from racwire_lab.cluster.processes import Process, into
from racwire_lab.cluster.state import State
from racwire_lab.cluster.topology import STANDARD_MTU, SWITCH_MTU, PortId
from racwire_lab.lab_errors import LabError, LabUsageError
from racwire_lab.switch.view import (
    NUMBER_OF_TRUNK,
    Acl,
    AclLine,
    Aggregation,
    Learned,
    Policed,
    PortTraffic,
    PortView,
    SwitchView,
)

_OPERSTATES_UP = ("UP", "UNKNOWN")
_PORT_ACLS = {
    "udp-filtered-port": "deny udp any any",
    "icmp-filtered-port": "deny icmp any any",
    "private-filtered": "deny ip any {private}/32",
    "haip-filtered": "deny ip any 169.254.0.0/16",
}
_VLAN_ACLS = {
    "haip-filtered": "deny ip any 169.254.0.0/16",
    "fragments-filtered": "deny ip any any fragments",
    "icmp-size-filtered": "deny icmp any any packet-length gt 1500",
}
_VLAN_POLICERS = {
    "udp-policed": ("match protocol udp", 400, 55_000),
    "icmp-policed": ("match protocol icmp", 16, 5_000),
}


@dataclass(frozen=True)
class SwitchReader:
    """Reads the switches of a running cluster; each reading is of one moment."""

    init: Process
    rootless: bool
    state: State
    target: Desired

    def read(self, network: Network, *, second: bool = False) -> SwitchView:
        """Return the switch of a private network, or the second one that a fault connected to it.

        Raises LabUsageError where there is no second one, and LabError when a counter cannot be read.
        """
        bridge, links = network.bridge, self._links(network)
        if second:
            if not links:
                raise LabUsageError(f"The private network {network.nic} has one switch: leave out --second.")
            bridge, links = links[0].other, [SwitchLink(links[0].far, links[0].near, bridge, links[0].mtu)]
        return _Reading(self, network, bridge, tuple(links)).switch()

    def _links(self, network: Network) -> list[SwitchLink]:
        """The links from the switch of a network to others."""
        found = [SwitchLink(*t.ends, t.second, t.mtu) for t in self.target.trunks if t.bridge == network.bridge]
        hosts = sorted(host for host in self.target.second if host.bridge == network.bridge)
        return found + [SwitchLink(*host.trunk, host.switch, SWITCH_MTU) for host in hosts]

    def json(self, *command: str) -> Any:
        """Return what a program in the switch prints as JSON."""
        argv = [*into(self.init, "net", rootless=self.rootless), *command]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LabError(f"Could not read the counters of the practice switch ({done.stderr.strip()}).")
        return json.loads(done.stdout or "[]")


@dataclass(frozen=True)
class SwitchLink:
    """A link to another switch: its end here, its end there, the other switch, and the MTU; None where it is dead."""

    near: str
    far: str
    other: str
    mtu: int | None


@dataclass(frozen=True)
class _Reading:
    reader: SwitchReader
    network: Network
    bridge: str
    trunks: tuple[SwitchLink, ...]

    @cached_property
    def cabling(self) -> Cabling:
        return Cabling(self.reader.state.hands)

    @cached_property
    def broken(self) -> Mapping[tuple[str, str | None], ActiveFault]:
        """The faults that have a place on this network, by name and node."""
        return {(f.fault, f.node): f for f in self.reader.state.faults if f.network == self.network.number}

    @cached_property
    def links(self) -> dict[str, dict[str, Any]]:
        return {link["ifname"]: link for link in self.reader.json("ip", "-j", "-s", "link", "show")}

    @cached_property
    def counters(self) -> dict[str, PortTraffic]:
        """What the rules of the switch dropped, by name."""
        if not self.reader.target.switch_rules:
            return {}
        found = self.reader.json("nft", "-j", "list", "counters", "table", "bridge", TABLE)["nftables"]
        counters = (entry["counter"] for entry in found if "counter" in entry)
        return {counter["name"]: PortTraffic(counter["packets"], counter["bytes"]) for counter in counters}

    @cached_property
    def ids(self) -> list[PortId]:
        """The ports of NICs on this switch."""
        cables = self.reader.target.cables
        return [port for port in self.reader.target.nics if cables[port].bridge == self.bridge]

    def counted(self, fault: str, node: str | None = None, suffix: str = "") -> PortTraffic:
        name = named(fault, node, self._nic(node).name if node else self.network.nic) + suffix
        return self.counters.get(name, PortTraffic())

    def _nic(self, node: str) -> Nic:
        return self.reader.target.nics[PortId(node, self.network.number)]

    def switch(self) -> SwitchView:
        trunks = tuple(self._trunks())
        is_first = self.bridge == self.network.bridge
        nodes = [self._node_port(port) for port in self.ids]
        free = [self._free_port(port) for port in self.ids if self.cabling.is_moved(port)]
        channel = self._channel() if is_first else None
        ports = sorted((*nodes, *free, *trunks, *(channel.ports if channel else ())), key=lambda port: port.number)
        return SwitchView(
            name=f"practice-{self.bridge}",
            vlan=vlan_of(self.network),
            ports=tuple(ports),
            up_s=max(1.0, time.monotonic() - self.reader.init.started / os.sysconf("SC_CLK_TCK")),
            macs=tuple(self._macs(trunks)),
            acls=tuple(self._acls()),
            policed=self._vlan_policer(),
            channel=channel,
            fabric_drops=_drops_before(self.network.number) + self.counted("loss").packets,
        )

    def _node_port(self, port: PortId) -> PortView:
        number, link = self.cabling.number_of(port), self.links[port.name]
        cable = self.reader.target.cables[port]
        mtu = cable.uplink_mtu or SWITCH_MTU
        if ("switch-mtu-one-way", port.node) in self.broken:
            mtu = min(mtu, STANDARD_MTU)
        # A tunnel below the network is nothing that a port shows.
        if ("tunnel-mtu", port.node) in self.broken or ("tunnel-mtu", None) in self.broken:
            mtu = self.reader.state.port_mtus.get(port, SWITCH_MTU)
        rx, tx = _traffic(link)
        crc = sum(self.counted(fault, port.node, IN).packets for fault in DAMAGING)
        discards = self.counted(FULL_BUFFER, port.node).packets + self._queue_drops(port.name)
        at = self.cabling.changed_at(port)
        acl = "" if self.cabling.is_moved(port) else next((n for n in _PORT_ACLS if (n, port.node) in self.broken), "")
        return PortView(
            number=number,
            description=port.name,
            why_down="" if link["operstate"] in _OPERSTATES_UP else "Link not connected",
            mtu=mtu,
            rx=_traffic_before(self.network.number, number).plus(rx),
            tx=_traffic_before(self.network.number, number + 1).plus(tx),
            rx_now=rx,
            tx_now=tx,
            crc=_crc_before(self.network.number, number) + crc,
            discards=_discards_before(self.network.number, number) + discards,
            resets=int(bool(at)),
            flapped_s=time.time() - at if at else None,
            policed=self._port_policer(port, tx),
            acl=acl_name(port) if acl else "",
            receives_dbm=DARK_DBM if is_port_dark(port, self.cabling, self.broken) else BRIGHT_DBM,
        )

    def _free_port(self, port: PortId) -> PortView:
        """The port that a cable was taken from."""
        number = replace(self.cabling, hands=()).number_of(port)
        network = self.network.number
        return PortView(
            number=number,
            description=port.name,
            why_down="Link not connected",
            rx=_traffic_before(network, number),
            tx=_traffic_before(network, number + 1),
            crc=_crc_before(network, number),
            discards=_discards_before(network, number),
        )

    def _queue_drops(self, device: str) -> int:
        if not any(queue.device == device for queue in self.reader.target.queues):
            return 0
        queues = self.reader.json("tc", "-s", "-j", "qdisc", "show", "dev", device)
        return sum(queue["drops"] for queue in queues if queue.get("root"))

    def _port_policer(self, port: PortId, tx: PortTraffic) -> Policed | None:
        if (POLICER, port.node) not in self.broken or self.cabling.is_moved(port):
            return None
        violated = self.counted(POLICER, port.node)
        return Policed(POLICED_KBYTES * 8, 55_000, "match packet length 1001-9216", tx, violated)

    def _vlan_policer(self) -> Policed | None:
        for fault, (match, rate, burst) in _VLAN_POLICERS.items():
            if (fault, None) in self.broken:
                return Policed(rate, burst, match, PortTraffic(), self.counted(fault))
        return None

    def _trunks(self) -> Iterator[PortView]:
        """The ports to second switches that faults connect."""
        for place, trunk in enumerate(self.trunks):
            number, (rx, tx) = NUMBER_OF_TRUNK - place, _traffic(self.links[trunk.near])
            is_up = self.links[trunk.near]["operstate"] in _OPERSTATES_UP
            yield PortView(
                number=number,
                description=f"practice-{trunk.other}",
                why_down="" if is_up else "Link not connected",
                mtu=trunk.mtu or SWITCH_MTU,
                is_trunk=True,
                rx=_traffic_before(self.network.number, number).plus(rx),
                tx=_traffic_before(self.network.number, number + 1).plus(tx),
            )

    def _channel(self) -> Aggregation | None:
        broken = frozenset(self.reader.state.faults)
        if not aggregation.has_aggregation(self.network.number, self.cabling, broken):
            return None
        up = self.cabling.members_up(self.network.number)
        dead = (aggregation.DEAD, None) in self.broken
        small = any((name, None) in self.broken for name in (aggregation.SMALL, aggregation.SMALL_OF_4))
        ports = []
        for member in MEMBERS:
            number, is_bad = NUMBER_OF_TRUNK - len(MEMBERS) + member, member == aggregation.BAD
            crc = self.counted(aggregation.SHARE).packets if is_bad else 0
            rx = _traffic_before(self.network.number, number)
            ports.append(
                PortView(
                    number=number,
                    description="to the second switch",
                    why_down="" if member in up else "Administratively down",
                    mtu=STANDARD_MTU if is_bad and small else SWITCH_MTU,
                    is_trunk=True,
                    rx=PortTraffic() if is_bad and dead else rx,
                    tx=_traffic_before(self.network.number, number + 1),
                    crc=_crc_before(self.network.number, number) + crc,
                )
            )
        bundled = tuple(
            p.number for m, p in zip(MEMBERS, ports, strict=True) if m in up and not (dead and m == aggregation.BAD)
        )
        return Aggregation(tuple(ports), bundled)

    def _macs(self, trunks: tuple[PortView, ...]) -> Iterator[Learned]:
        ports = {port.name: f"Eth1/{self.cabling.number_of(port)}" for port in self.ids}
        # What is behind the small switch of a port, or behind a router, is behind the port.
        ports |= {f"{port.name}-{part}": ports[port.name] for port in self.ids for part in ("up", "rf")}
        ports |= {trunk.near: port.short for trunk, port in zip(self.trunks, trunks, strict=True)}
        ports |= {f"{host.link}-s": "Eth1/1" for host in self.reader.target.second if host.switch == self.bridge}
        for entry in self.reader.json("bridge", "-j", "-s", "fdb", "show", "br", self.bridge):
            dynamic = entry.get("state", "") not in ("permanent", "static") and "self" not in entry.get("flags", ())
            if dynamic and entry["ifname"] in ports:
                yield Learned(entry["mac"], ports[entry["ifname"]], int(entry.get("updated", 0)))

    def _acls(self) -> Iterator[Acl]:
        for port in self.ids:
            lines = []
            for fault, rule in _PORT_ACLS.items():
                if (fault, port.node) in self.broken and not self.cabling.is_moved(port):
                    private = self._nic(port.node).address.partition("/")[0]
                    lines.append(AclLine(rule.format(private=private), self.counted(fault, port.node).packets))
            if lines:
                _, tx = _traffic(self.links[port.name])
                passed = AclLine("permit ip any any", tx.packets)
                yield Acl(acl_name(port), (*lines, passed), f"Ethernet1/{self.cabling.number_of(port)}")
        of_vlan = [
            AclLine(rule, self.counted(fault).packets)
            for fault, rule in _VLAN_ACLS.items()
            if (fault, None) in self.broken
        ]
        if of_vlan:
            yield Acl(f"VLAN{vlan_of(self.network)}", (*of_vlan, AclLine("permit ip any any", 88_123_401)))


def vlan_of(network: Network) -> int:
    """Return the VLAN of a private network: the third number of its subnet."""
    return int(network.subnet.split(".")[2])


def acl_name(port: PortId) -> str:
    """Return the name of the access list of a port."""
    return f"{port.name}-out"


def _traffic(link: Mapping[str, Any]) -> tuple[PortTraffic, PortTraffic]:
    """What came from the cable, and what went into it."""
    stats = link["stats64"]
    return tuple(PortTraffic(stats[way]["packets"], stats[way]["bytes"]) for way in ("rx", "tx"))  # type: ignore[return-value]


# An old switch shows no zeros: its counters have counted before anything happens, the same in each run. So a total, and
# whether it is zero, shows nothing: only what is added does.


def _traffic_before(network: int, number: int) -> PortTraffic:
    """The packets and bytes of one direction of a port."""
    packets = 1_876_004_511 + (network * 31 + number) * 40_817_233
    return PortTraffic(packets, packets * 1_204)


def _crc_before(network: int, number: int) -> int:
    """The damaged frames of a port: of the days when it was cabled."""
    return (number + network) % 3 * 37


def _discards_before(network: int, number: int) -> int:
    """The packets that found no room in the queue of a port: of the nights with backups."""
    return (number * 5 + network) % 4 * 4_211


def _drops_before(network: int) -> int:
    """The packets that the forwarding engine dropped."""
    return 12 * network
