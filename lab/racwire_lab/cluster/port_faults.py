"""Faults at one switch port, one cable or one NIC that look alike from the nodes.

Each is a rule of the switch with a counter of its own, by direction: what damages frames from the node counts at the
port (`-in`), what damages frames to the node counts at the NIC (`-out`).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from racwire_lab.cluster.drop_rules import DropRule, named
from racwire_lab.cluster.fault_kind import ActiveFault, Fault
from racwire_lab.cluster.hands import Cabling
from racwire_lab.cluster.nics import Nic
from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.cluster.topology import PortId, Shape

_SHARE_PERCENT, _FEW_PERCENT = 30.0, 0.5
_LARGE = 1000
"""Packets above so many bytes fill a buffer, or belong to the class that is policed."""
POLICED_KBYTES, _BURST_KBYTES = 50, 5
IN, OUT = "-in", "-out"
"""What the names of the rules of one direction end with: from the node, and to the node."""


def _at_port(name: str, summary: str, effect: str, share: float | None = None) -> Fault:
    return Fault(name, summary, effect, "nic", needs_nft=True, share=share)


PORT_FAULTS = (
    _at_port(
        "cable-bad",
        "The cable of one private NIC damages frames in both directions.",
        "Drops that share of the frames from and to the node. The switch port counts those from the node, and the NIC "
        "those to the node, as CRC errors; the optics of both receive too little power. "
        "The fault goes with the cable (`racwire lab hand swap-cable`).",
        _SHARE_PERCENT,
    ),
    _at_port(
        "port-bad",
        "The switch port of one private NIC damages what it receives.",
        "Drops that share of the frames from the node, which the port counts as CRC errors; frames to the node pass. "
        "The fault ends at another port (`racwire lab hand move-port`).",
        _SHARE_PERCENT,
    ),
    _at_port(
        "nic-bad",
        "One private NIC damages what it sends.",
        "Drops that share of the frames from the node, which the switch port counts as CRC errors; frames to the node "
        "pass. The fault stays with another cable and at another port.",
        _SHARE_PERCENT,
    ),
    _at_port(
        "loss-in",
        "One strand of the cable of a private NIC damages frames to the node.",
        "Drops that share of the frames to the node, which the NIC counts as CRC errors; frames from the node pass. "
        "The fault goes with the cable.",
        _FEW_PERCENT,
    ),
    _at_port(
        "loss-out",
        "One strand of the cable of a private NIC damages frames from the node.",
        "Drops that share of the frames from the node, which the switch port counts as CRC errors; frames to the node "
        "pass. The fault goes with the cable.",
        _FEW_PERCENT,
    ),
    _at_port(
        "buffer-full",
        "The buffer of one switch port is full: it discards packets to the node.",
        f"Drops that share of the packets above {_LARGE} bytes to the node, and counts them as output discards of the "
        "port. Small packets, and packets from the node, pass.",
        _SHARE_PERCENT,
    ),
    _at_port(
        "port-policer",
        "A policer of one switch port limits the large packets to the node.",
        f"Drops packets above {_LARGE} bytes to the node beyond {POLICED_KBYTES} KB/s, after a burst of "
        f"{POLICED_KBYTES + _BURST_KBYTES} KB, and counts them as violating. Small packets, and packets from the node, "
        "pass.",
    ),
    _at_port(
        "udp-filtered-port",
        "An access list of one switch port drops UDP to the node; pings pass.",
        "Drops every UDP packet that leaves the switch by the port; the node receives none.",
    ),
    _at_port(
        "icmp-filtered-port",
        "An access list of one switch port drops pings to the node; UDP passes.",
        "Drops every ICMP packet that leaves the switch by the port; the node receives none.",
    ),
    _at_port(
        "private-filtered",
        "An access list of one switch port drops the packets to the node's private address; those to its HAIP pass.",
        "Drops every IP packet to the fixed private address of the node at its port; ARP passes.",
    ),
)
"""These faults, for the catalogue."""

_Way = Literal["in", "out", "both"]


@dataclass(frozen=True)
class _Damage:
    """A part that damages frames: which part, and in which direction."""

    part: Literal["cable", "port", "NIC"]
    way: _Way


_DAMAGES = {
    "cable-bad": _Damage("cable", "both"),
    "port-bad": _Damage("port", "in"),
    "nic-bad": _Damage("NIC", "in"),
    "loss-in": _Damage("cable", "out"),
    "loss-out": _Damage("cable", "in"),
}
"""The direction is that of the switch: `in` from the node, `out` to the node."""
DAMAGING = tuple(_DAMAGES)
"""The faults that damage frames."""
_DARK_AT_NIC, _DARK_AT_PORT = ("cable-bad", "loss-in"), ("cable-bad", "loss-out")
BRIGHT_DBM, DARK_DBM, _LOW_DBM = -2.3, -16.8, -13.97
"""What arrives through a good strand and through a bad one; and the threshold of the alarm."""
_MODULE = ".module"
POLICER, FULL_BUFFER = "port-policer", "buffer-full"


def port_rules(
    shape: Shape, nics: Mapping[PortId, Nic], cabling: Cabling, broken: frozenset[ActiveFault]
) -> Iterator[DropRule]:
    """Yield the rules of these faults in the switch."""
    active = {(fault.fault, fault.node, fault.network): fault for fault in broken}
    for port in shape.private_ports:
        nic = nics[port]
        for name, damage in _DAMAGES.items():
            bad = cabling.cable_of(port) if damage.part == "cable" else port
            fault = active.get((name, *bad))
            if fault and not (damage.part == "port" and cabling.is_moved(port)):
                share = share_of(fault)
                if damage.way in ("in", "both"):
                    rule = named(name, port.node, nic.name) + IN
                    yield DropRule(rule, "prerouting", f'iifname "{port.name}" {share}')
                if damage.way in ("out", "both"):
                    rule = named(name, port.node, nic.name) + OUT
                    yield DropRule(rule, "forward", f'oifname "{port.name}" {share}')
        if cabling.is_moved(port):
            continue  # the queue and the lists of the port stay behind
        large = f"ip length > {_LARGE}"
        limit = f"limit rate over {POLICED_KBYTES} kbytes/second burst {_BURST_KBYTES} kbytes"
        for name, match in {
            POLICER: f"{large} {limit}",
            "udp-filtered-port": "ip protocol udp",
            "icmp-filtered-port": "ip protocol icmp",
            "private-filtered": f"ip daddr {nic.address.partition('/')[0]}",
        }.items():
            if (name, *port) in active:
                yield DropRule(named(name, port.node, nic.name), "forward", f'oifname "{port.name}" {match}')
        if full := active.get((FULL_BUFFER, *port)):
            name = named(FULL_BUFFER, port.node, nic.name)
            yield DropRule(name, "forward", f'oifname "{port.name}" {large} {share_of(full)}')


def optics(
    shape: Shape, nics: Mapping[PortId, Nic], cabling: Cabling, broken: frozenset[ActiveFault]
) -> dict[tuple[str, str], float]:
    """Return the optical power in dBm that each NIC of a network receives where a strand of the network is bad, by node
    and NIC. On the other networks the cables are of copper.
    """
    dark = {(f.node, f.network) for f in broken if f.fault in _DARK_AT_NIC}
    networks = {f.network for f in broken if f.fault in (*_DARK_AT_NIC, *_DARK_AT_PORT)}
    return {
        (port.node, nic.name): DARK_DBM if cabling.cable_of(port) in dark else BRIGHT_DBM
        for port, nic in nics.items()
        if port in shape.private_ports and port.network in networks
    }


def write_optics(directory: Path, powers: Mapping[tuple[str, str], float]) -> None:
    """Write the powers where `ethtool` of each node reads them."""
    for old in directory.glob(f"nodes/*/*{_MODULE}"):
        old.unlink()
    for (node, nic), dbm in powers.items():
        text = f"{10 ** (dbm / 10):.4f} {dbm:.2f} {'On' if dbm < _LOW_DBM else 'Off'}\n"
        (node_home(directory, node) / f"{nic}{_MODULE}").write_text(text, encoding="ascii")


def is_port_dark(port: PortId, cabling: Cabling, broken: Container[tuple[str, str | None]]) -> bool:
    """Whether the switch port of a NIC receives too little light. `broken` has faults and nodes of its network."""
    return any((fault, cabling.cable_of(port).node) in broken for fault in _DARK_AT_PORT)


def share_of(fault: ActiveFault) -> str:
    """Return the match of the share of a fault; the smallest is 0.01 %."""
    return f"numgen random mod 10000 < {round((fault.share or 0) * 100)}"
