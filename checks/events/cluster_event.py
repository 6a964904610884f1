"""An event of the cluster: its kind, its places, its time and its peak; and the checks that examine it."""

from __future__ import annotations

from enum import StrEnum

from checks.model.facts import Fact
from checks.model.finding import Status
from checks.model.wording import NodePair


class EventKind(StrEnum):
    """What happened. The values are an interface: `racwire watch --events --format json` prints them."""

    LOST_BLOCKS = "lost-blocks"
    REASSEMBLY = "reassembly"
    RECEIVE_BUFFERS = "receive-buffers"
    CHECKSUMS = "checksums"
    BACKLOG = "backlog"
    NIC_DROPS = "nic-drops"
    NIC_ERRORS = "nic-errors"
    NODE_SILENT = "node-silent"
    INSTANCE_SILENT = "instance-silent"
    INSTANCE_DOWN = "instance-down"
    DATABASE_SILENT = "database-silent"
    """The query of all instances returns nothing, and which instance delays it is not known."""
    LINK_DOWN = "link-down"
    LINK_SPEED = "link-speed"
    MTU = "mtu"
    CLOCK_JUMP = "clock-jump"
    NO_SAMPLES = "no-samples"


_SILENCES = frozenset(
    {EventKind.NODE_SILENT, EventKind.INSTANCE_SILENT, EventKind.INSTANCE_DOWN, EventKind.DATABASE_SILENT}
)


class EventPlace(Fact, frozen=True):
    """One place of an event, and its time there. Times are seconds since 1970 by the clock of racwire's node."""

    since: float
    node: str = ""
    interface: str = ""
    network: str = ""
    """The private network of the interface."""
    instance: str = ""
    until: float | None = None
    """None while it lasts here."""

    @property
    def key(self) -> tuple[str, str, str]:
        """What differs between the places of one event."""
        return self.node, self.interface, self.instance


class ClusterEvent(Fact, frozen=True):
    """Something that happened to the cluster, from its first to its last sign."""

    number: int
    """Counts the events of one watch from 1 on."""
    kind: EventKind
    status: Status
    """The worst status so far, by the rule of the check that judges the same counts."""
    places: tuple[EventPlace, ...]
    start: float
    """The latest moment before the first sign: the event started in the interval after that."""
    end: float | None = None
    """The last sign; None while it lasts."""
    peak: float = 0.0
    """The worst value, in `unit`: a rate over all places, or the new MTU or speed, or a time."""
    unit: str = ""
    """`blocks/s`, `bytes`, `Mbit/s`, `s`."""
    peak_at: float = 0.0
    count: int = 0
    """All blocks, packets or datagrams of the event, where it has such a count."""
    former: float | None = None
    """The MTU or the speed before, in `unit`."""
    reason: str = ""
    """Why a source does not answer, as far as racwire knows: one sentence."""
    pairs: tuple[NodePair, ...] = ()
    """Lost blocks: the nodes that sent them, and the nodes that did not receive them, as far as known."""

    @property
    def is_over(self) -> bool:
        """Whether the event has ended."""
        return self.end is not None

    @property
    def is_silence(self) -> bool:
        """Whether a node or an instance does not answer."""
        return self.kind in _SILENCES

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes of the event, each once."""
        return tuple(dict.fromkeys(place.node for place in self.places if place.node))

    @property
    def open_nodes(self) -> tuple[str, ...]:
        """The nodes where it still lasts."""
        return tuple(dict.fromkeys(p.node for p in self.places if p.node and p.until is None and not self.is_over))

    def duration_s(self, now: float) -> float:
        """Return the time from the start to the end, or until now."""
        return max(0.0, (now if self.end is None else self.end) - self.start)


_LOSS = ("gc-blocks-lost", "udp-path", "df-ping", "mtu-consistency")
_CHECKS: dict[EventKind, tuple[str, ...]] = {
    EventKind.LOST_BLOCKS: (*_LOSS, "fragments", "reassembly", "udp-receive-buffers", "nic-counters", "packet-filter"),
    EventKind.REASSEMBLY: ("reassembly", "fragments", *_LOSS, "nic-counters"),
    EventKind.RECEIVE_BUFFERS: ("udp-receive-buffers", "gc-blocks-lost", "cpu-pressure", "kernel-minimums"),
    EventKind.CHECKSUMS: ("udp-receive-buffers", "gc-blocks-lost", "nic-counters"),
    EventKind.BACKLOG: ("udp-receive-buffers", "cpu-pressure", "gc-blocks-lost"),
    EventKind.NIC_DROPS: ("nic-counters", "link-saturation", "gc-blocks-lost", "mtu-consistency"),
    EventKind.NIC_ERRORS: ("nic-counters", "link-speed", "gc-blocks-lost"),
    EventKind.NODE_SILENT: ("clusterware", "interfaces", "df-ping", "log-lines"),
    EventKind.INSTANCE_SILENT: ("interconnect-in-use", "instance-ping", "gc-blocks-lost", "log-lines"),
    EventKind.DATABASE_SILENT: ("interconnect-in-use", "instance-ping", "gc-blocks-lost", "log-lines"),
    EventKind.INSTANCE_DOWN: ("interconnect-in-use", "instance-ping", "clusterware", "log-lines"),
    EventKind.LINK_DOWN: ("interfaces", "bonding", "link-speed", "df-ping", "gc-blocks-lost"),
    EventKind.LINK_SPEED: ("link-speed", "bonding", "link-saturation"),
    EventKind.MTU: ("mtu-consistency", "df-ping", "boot-mtu", "gc-blocks-lost"),
    EventKind.CLOCK_JUMP: ("log-lines",),
    EventKind.NO_SAMPLES: (),
}


def checks_for(kind: EventKind) -> tuple[str, ...]:
    """Return the ids of the checks that examine such an event, the most telling first."""
    return _CHECKS[kind]
