"""What one practice switch has at a moment: its ports with their counters, MAC addresses, access lists and policers."""

from __future__ import annotations

from dataclasses import dataclass

NUMBER_OF_TRUNK = 48
"""The port to a second switch; the links of an aggregation are the ports 47 and 48."""


@dataclass(frozen=True)
class PortTraffic:
    """Packets and bytes of one direction."""

    packets: int = 0
    octets: int = 0

    def plus(self, other: PortTraffic) -> PortTraffic:
        """Return the sum."""
        return PortTraffic(self.packets + other.packets, self.octets + other.octets)


@dataclass(frozen=True)
class PortView:
    """A port. Its counters count since the switch started."""

    number: int
    description: str = ""
    why_down: str = ""
    """What the switch shows in brackets; empty for a port that is up."""
    mtu: int = 9216
    is_trunk: bool = False
    rx: PortTraffic = PortTraffic()
    """From the cable."""
    tx: PortTraffic = PortTraffic()
    rx_now: PortTraffic = PortTraffic()
    """The part that came since the practice cluster started."""
    tx_now: PortTraffic = PortTraffic()
    crc: int = 0
    discards: int = 0
    """Packets that found no room in the queue of the port."""
    resets: int = 0
    flapped_s: float | None = None
    """Seconds since its link last came up; None for long ago."""
    policed: Policed | None = None
    acl: str = ""
    """The access list for what leaves by the port; empty for none."""
    receives_dbm: float = -2.3
    """The optical power that its transceiver receives."""

    @property
    def is_up(self) -> bool:
        """Whether its link is up."""
        return not self.why_down

    @property
    def name(self) -> str:
        """The long name."""
        return f"Ethernet1/{self.number}"

    @property
    def short(self) -> str:
        """The name in tables."""
        return f"Eth1/{self.number}"


@dataclass(frozen=True)
class Policed:
    """A policer: its rate in kbit/s and its burst in bytes, and what conformed and what violated."""

    rate_kbps: int
    burst: int
    match: str
    conformed: PortTraffic
    violated: PortTraffic


@dataclass(frozen=True)
class AclLine:
    """One line of an access list, and the packets that matched it."""

    rule: str
    matches: int


@dataclass(frozen=True)
class Acl:
    """An access list, and where it is: the port, or nothing for the VLAN."""

    name: str
    lines: tuple[AclLine, ...]
    port: str = ""


@dataclass(frozen=True)
class Learned:
    """A MAC address and the port where it was learned."""

    mac: str
    port: str
    age_s: int


@dataclass(frozen=True)
class Aggregation:
    """An aggregation to a second switch: its links, and which of them are bundled."""

    ports: tuple[PortView, ...]
    bundled: tuple[int, ...]
    """The numbers of the ports that carry packets as LACP sees it."""


@dataclass(frozen=True)
class SwitchView:
    """One switch."""

    name: str
    vlan: int
    ports: tuple[PortView, ...]
    up_s: float
    """Seconds for which the kernel counts: rates are means of them."""
    macs: tuple[Learned, ...] = ()
    acls: tuple[Acl, ...] = ()
    policed: Policed | None = None
    """The policer of the VLAN."""
    channel: Aggregation | None = None
    fabric_drops: int = 0
    """Packets that the forwarding engine dropped, of no port."""
