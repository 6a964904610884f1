"""What people paste from switches and nodes, understood: ports with their counters, tables, rules, captured packets.

Counters are totals since they were cleared. Only the difference of two pastes shows what holds now.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class DeviceSystem(StrEnum):
    """The system whose output it is."""

    NXOS = "NX-OS"
    IOS_XE = "IOS-XE"
    EOS = "EOS"
    JUNOS = "Junos"
    SONIC = "SONiC"
    CUMULUS = "Cumulus Linux"
    LINUX = "Linux"
    """A node."""
    UNKNOWN = "not known"


class PastedOutput(StrEnum):
    """What an output shows; each platform has a command of its own for it."""

    PORTS = "show interface"
    STATUS = "show interface status"
    COUNTERS = "show interface counters"
    QUEUES = "show queuing interface"
    POLICERS = "show policy-map interface"
    PAIR = "show vpc"
    MEMBERS = "show port-channel summary"
    LACP = "show lacp"
    TREE = "show spanning-tree"
    MACS = "show mac address-table"
    OPTICS = "transceivers"
    DRIVER = "ethtool -S"
    LINK = "ip -s link"
    QDISC = "queues of a node"
    KERNEL = "dmesg"
    CAPTURE = "tcpdump"
    RULES = "rules of a packet filter"
    ACCESS_LISTS = "show access-lists"
    SETUP = "show running-config interface"
    INTERNAL = "show hardware internal errors"
    NEIGHBOURS = "ip -s neigh"


class Counter(StrEnum):
    """What a counter of a port or a NIC counts. In and out are seen from the device whose counter it is."""

    CRC = "frames that arrived damaged"
    STOMPED_CRC = "frames that another switch had already marked as damaged"
    RUNTS = "frames that were too short"
    GIANTS = "frames that were too long"
    INPUT_ERRORS = "errors of arriving frames"
    OUTPUT_ERRORS = "errors of frames to send"
    INPUT_DISCARDS = "intact packets that arrived and were dropped"
    OUTPUT_DISCARDS = "packets to send that were dropped"
    NO_BUFFER = "packets that arrived while no buffer was free"
    PAUSE_IN = "pause frames received"
    PAUSE_OUT = "pause frames sent"
    FLAPS = "changes of the link"


class Note(StrEnum):
    """What to know of a paste."""

    CUT_SHORT = "the paste ends within an output"
    REPEATED = "an output occurs twice: its last values count"
    REFUSED = "a device refused a command"


class OpticLane(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The light of one lane of a transceiver; powers in dBm."""

    lane: int = 1
    rx_dbm: float | None = None
    tx_dbm: float | None = None


class OpticLimits(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The alarm thresholds of a transceiver, in dBm and degrees Celsius; None where it has none."""

    rx_least_dbm: float | None = None
    rx_most_dbm: float | None = None
    tx_least_dbm: float | None = None
    tx_most_dbm: float | None = None
    most_celsius: float | None = None


_NO_LIMITS = OpticLimits()


class PortReading(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One port of a switch, or one NIC of a node."""

    device: str = ""
    """The host name in the prompt; empty where the paste has no prompt."""
    name: str = ""
    """In the long form of the platform: `Ethernet1/1`, `Port-channel20`, `xe-0/0/1`, `eth1`. Empty where the output
    does not name it, as that of `ethtool -S`, and the command was not pasted."""
    is_up: bool | None = None
    state: str = ""
    """The platform's own words: `connected`, `Link not connected`, `err-disabled`."""
    description: str = ""
    mac: str = ""
    """In lower case with colons."""
    mtu: int | None = None
    """In bytes as the platform counts: Junos with the Ethernet header."""
    is_mtu_by_class: bool = False
    """Whether this MTU is not what the port carries: classes of packets have their own (Nexus 5000, `show queuing`)."""
    class_mtus: dict[str, int] = msgspec.field(default_factory=dict)
    """The MTU in bytes by class, where the classes have their own."""
    speed_mbps: int | None = None
    channel: str = ""
    """The port-channel whose member it is, where the output has it."""
    vlan: str = ""
    """The VLAN of an access port, or `trunk` and `routed`, as the output has it."""
    allowed_vlans: str = ""
    """The VLANs of a trunk, as the output has them: `1,811-812`."""
    forwarding_vlans: str = ""
    """Those in which spanning tree lets it forward."""
    counters: dict[Counter, int] = msgspec.field(default_factory=dict)
    """Totals. A counter that the output does not have is absent."""
    named: dict[str, int] = msgspec.field(default_factory=dict)
    """Totals by the driver's own name, of `ethtool -S`."""
    queue_drops: dict[str, int] = msgspec.field(default_factory=dict)
    """Packets that were dropped, by queue or class."""
    queue_drop_bytes: dict[str, int] = msgspec.field(default_factory=dict)
    """The same in bytes, where the platform counts no packets."""
    policer_drops: dict[str, int] = msgspec.field(default_factory=dict)
    """Packets that a policer dropped, by class."""
    policer_drop_bytes: dict[str, int] = msgspec.field(default_factory=dict)
    """The same in bytes, where the platform counts no packets."""
    cleared: str = ""
    """When its counters were cleared, in the platform's words; `never`. Empty where the output does not have it."""
    cleared_s: int | None = None
    """The same in seconds before the output; None where they never were, or that is not known."""
    optics: tuple[OpticLane, ...] = ()
    limits: OpticLimits = _NO_LIMITS
    celsius: float | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Device and name."""
        return self.device, self.name.casefold()

    @property
    def is_off_for_errors(self) -> bool:
        """Whether the switch took the port out of use because of errors."""
        state = self.state.casefold()
        return any(word in state for word in _OFF_FOR_ERRORS)


_OFF_FOR_ERRORS = ("err-disable", "errdisab", "error disable", "linkflape", "bpduguard", "udld")
"""NX-OS cuts its states to nine letters in tables: `linkFlapErrDisabled` is `linkFlapE` there."""


class MacEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row of a MAC address table: at which port a switch learned an address."""

    device: str = ""
    mac: str
    """In lower case with colons."""
    vlan: str = ""
    port: str
    is_learned: bool = True
    """False for an address that the switch has by its configuration, or of its own."""


class MemberState(StrEnum):
    """What a member does for its port-channel."""

    BUNDLED = "bundled"
    DOWN = "down"
    SUSPENDED = "suspended"
    STANDALONE = "stand-alone"
    STANDBY = "standby"
    WAITING = "waiting"
    NOT_BUNDLED = "not bundled"
    """Not in use, for a reason that the output does not have."""


class ChannelMember(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A port as member of a port-channel."""

    device: str = ""
    channel: str = ""
    """Empty where the output does not have it."""
    port: str
    state: MemberState


class PairChannel(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A port-channel over two switches."""

    port: str
    is_up: bool | None = None
    is_consistent: bool | None = None


class SwitchPair(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Two switches that nodes take for one: vPC, MLAG."""

    device: str = ""
    is_peer_up: bool | None = None
    is_link_up: bool | None = None
    """The link between the two."""
    link_port: str = ""
    is_consistent: bool | None = None
    channels: tuple[PairChannel, ...] = ()


class TreeState(StrEnum):
    """What spanning tree lets a port do."""

    FORWARDING = "forwarding"
    BLOCKING = "blocking"
    LEARNING = "learning"
    LISTENING = "listening"
    BROKEN = "broken"
    DISABLED = "disabled"


class TreePort(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A port in one spanning tree."""

    device: str = ""
    tree: str = ""
    """`VLAN0010`, `MST0`; empty where the output does not have it."""
    port: str = ""
    """Empty where the output does not have it: that of one port, without its command."""
    state: TreeState


class RuleVerdict(StrEnum):
    """What a rule of a packet filter does with a packet that it matches."""

    ACCEPT = "accept"
    DROP = "drop"
    REJECT = "reject"


class FilterRule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A rule of a node's packet filter that decides, or the policy of a chain. None or empty: the rule does not ask."""

    device: str = ""
    chain: str
    """`inet filter input`, `filter INPUT`."""
    hook: str = ""
    """`prerouting`, `input`, `forward`, `output`, `postrouting`, `ingress`; empty: other chains jump to it, or the
    paste does not have it."""
    text: str
    """As pasted, without its counters."""
    verdict: RuleVerdict
    is_policy: bool = False
    nics_in: tuple[str, ...] = ()
    nics_out: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    """`udp`, `icmp`, `tcp`."""
    sources: tuple[str, ...] = ()
    """Addresses and networks."""
    destinations: tuple[str, ...] = ()
    lengths: tuple[int, int] | None = None
    """Bytes of the IP packet, both ends included."""
    is_of_fragments: bool = False
    is_partial: bool = False
    """Whether the rule asks for more than these fields hold, as ports, marks or the state of the connection."""
    is_limit: bool = False
    """Whether it decides by a rate."""
    packets: int | None = None
    """None where the rule has no counter."""

    @property
    def drops(self) -> bool:
        """Whether it lets packets not pass."""
        return self.verdict is not RuleVerdict.ACCEPT

    @property
    def key(self) -> tuple[str, str, str]:
        """The same rule in another paste."""
        return self.device, self.chain, self.text


class AclPlace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a switch applies an access list."""

    device: str = ""
    name: str
    port: str = ""
    """Empty: to a VLAN."""
    vlan: str = ""
    is_egress: bool = False


class NeighbourLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An entry of a node's ARP table."""

    device: str = ""
    ip: str
    nic: str
    state: str
    """In lower case: `reachable`, `stale`, `failed`, `incomplete`."""


class CapturedFrame(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A packet in a capture."""

    protocol: str
    """`udp`, `tcp`, `icmp`, `arp`, or a number of IP."""
    source: str = ""
    destination: str = ""
    source_port: int | None = None
    destination_port: int | None = None
    octets: int | None = None
    """Bytes of the IP packet; None where the line does not have them."""
    is_fragment: bool = False
    fragment_id: int | None = None
    offset: int | None = None
    """Bytes before it in its datagram; None where the line does not have it."""
    nic: str = ""


class CaptureSummary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The last lines of tcpdump. Where they are absent the capture was cut, and shows nothing of what is not in it."""

    captured: int
    received: int | None = None
    """By the filter."""
    dropped: int | None = None
    """By the kernel, for want of room: packets that passed and were not seen."""


class KernelEvent(StrEnum):
    """What a line of the kernel's log reports."""

    LINK_DOWN = "the link went down"
    LINK_UP = "the link came up"
    SEND_TIMEOUT = "the send queue of a NIC hung"
    BUS_ERROR = "an error on the bus of a NIC"
    MARTIAN = "a packet with an impossible source address was dropped"
    TABLE_FULL = "the table of connections was full: packets were dropped"
    NEIGHBOURS_FULL = "the table of neighbours was full"
    DUPLICATE = "an address of the node is in use elsewhere"
    MODULE = "a transceiver was refused, or is faulty"


class KernelLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Lines of the kernel's log with one event of one NIC."""

    device: str = ""
    event: KernelEvent
    nic: str = ""
    count: int = 1
    last: str = ""
    """The last of these lines, as pasted."""


class PastedFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was understood of an output, or of all outputs of a paste together."""

    platform: DeviceSystem = DeviceSystem.UNKNOWN
    """Of a paste, that of the first output that shows it."""
    ports: tuple[PortReading, ...] = ()
    macs: tuple[MacEntry, ...] = ()
    members: tuple[ChannelMember, ...] = ()
    pairs: tuple[SwitchPair, ...] = ()
    trees: tuple[TreePort, ...] = ()
    rules: tuple[FilterRule, ...] = ()
    access_lists: tuple[FilterRule, ...] = ()
    """The lines of a switch's access lists; `chain` is the name of the list."""
    acl_places: tuple[AclPlace, ...] = ()
    neighbours: tuple[NeighbourLine, ...] = ()
    frames: tuple[CapturedFrame, ...] = ()
    captures: tuple[CaptureSummary, ...] = ()
    kernel: tuple[KernelLine, ...] = ()
    system_mtu: int | None = None
    """The MTU of the whole switch, in bytes (`show system mtu` of IOS-XE)."""
    inside: dict[str, int] = msgspec.field(default_factory=dict)
    """Drops that a switch counts of no port, by name: of a forwarding engine, of its fabric."""


class Pasted(PastedFacts, frozen=True, kw_only=True, omit_defaults=True):
    """What was understood of one paste."""

    outputs: tuple[PastedOutput, ...] = ()
    """What the paste has, in its order, each once. Empty: nothing was understood."""
    notes: tuple[Note, ...] = ()
    not_understood: tuple[str, ...] = ()
    """Parts of the paste, as pasted but for control characters: kept as notes of the session."""

    def port(self, name: str, device: str = "") -> PortReading | None:
        """Return the port with that name, on that device where one is given; None where there is none."""
        wanted = name.casefold()
        return next((p for p in self.ports if p.name.casefold() == wanted and device in ("", p.device)), None)
