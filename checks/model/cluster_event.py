"""An event of the cluster: its kind, its places, its time and its peak."""

from __future__ import annotations

from enum import StrEnum

from checks.model.condition import Condition, ConditionKind
from checks.model.facts import Fact
from checks.model.finding import PROBLEMS, Status
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
    NODE_RESTART = "node-restart"
    INSTANCE_RESTART = "instance-restart"
    RECONFIGURATION = "reconfiguration"
    """Instances left or joined, at which the others reconfigure the global cache."""
    DATABASE_SILENT = "database-silent"
    """The query of all instances returns nothing, and which instance delays it is not known."""
    LINK_DOWN = "link-down"
    LINK_FLAP = "link-flap"
    """A link was lost and came back between two readings: the kernel counts each change."""
    LINK_SPEED = "link-speed"
    MTU = "mtu"
    CLOCK_JUMP = "clock-jump"
    NO_SAMPLES = "no-samples"


_SILENCES = frozenset(
    {
        EventKind.NODE_SILENT,
        EventKind.INSTANCE_SILENT,
        EventKind.INSTANCE_DOWN,
        EventKind.DATABASE_SILENT,
        EventKind.NODE_RESTART,
        EventKind.INSTANCE_RESTART,
    }
)
_MOMENTS = frozenset(
    {EventKind.NODE_RESTART, EventKind.INSTANCE_RESTART, EventKind.RECONFIGURATION, EventKind.LINK_FLAP}
)

_CONDITIONS = {
    EventKind.LOST_BLOCKS: ConditionKind.LOST_BLOCKS,
    EventKind.REASSEMBLY: ConditionKind.REASSEMBLY,
    EventKind.RECEIVE_BUFFERS: ConditionKind.RECEIVE_BUFFERS,
    EventKind.CHECKSUMS: ConditionKind.CHECKSUMS,
    EventKind.BACKLOG: ConditionKind.BACKLOG,
    EventKind.NIC_DROPS: ConditionKind.NIC_DROPS,
    EventKind.NIC_ERRORS: ConditionKind.NIC_ERRORS,
    EventKind.NODE_SILENT: ConditionKind.NODE,
    EventKind.INSTANCE_SILENT: ConditionKind.INSTANCE,
    EventKind.INSTANCE_DOWN: ConditionKind.INSTANCE,
    EventKind.NODE_RESTART: ConditionKind.NODE,
    EventKind.INSTANCE_RESTART: ConditionKind.INSTANCE,
    EventKind.DATABASE_SILENT: ConditionKind.DATABASE,
    EventKind.LINK_DOWN: ConditionKind.LINK,
    EventKind.LINK_FLAP: ConditionKind.LINK,
    EventKind.LINK_SPEED: ConditionKind.SPEED,
    EventKind.MTU: ConditionKind.MTU,
}


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
    noticed: float = 0.0
    """When the samples showed it here, later than `since`."""
    end_noticed: float | None = None
    """When the samples showed that it is over here, later than `until`; None while they do not."""

    @property
    def key(self) -> tuple[str, str, str]:
        """What differs between the places of one event."""
        return self.node, self.interface, self.instance

    def condition(self, kind: EventKind) -> Condition | None:
        """Return the condition that an event of that kind makes bad here; None for one that makes none bad."""
        what = _CONDITIONS.get(kind)
        item = self.instance if what is ConditionKind.INSTANCE else self.interface
        return Condition(what, self.node, item) if what else None


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
    noticed: float = 0.0
    """When the samples showed the event, later than `start`: before that, it was not known."""
    end_noticed: float | None = None
    """When the samples showed that it is over: a loss is over some time after its last block."""
    last_sign: float = 0.0
    """The newest sign; of a count, the end of the last sample that has one."""
    sample_s: float = 0.0
    """Of a count: the seconds of the sample with the newest sign."""
    clock_s: float = 0.0
    """How far the clock had been set, in seconds since the first sample, when the event was noticed: two times compare
    where this is taken from each."""
    peak: float = 0.0
    """The worst value, in `unit`: a rate over all places, or the new MTU or speed, or a time; of a reconfiguration the
    instances after it."""
    unit: str = ""
    """`blocks/s`, `bytes`, `Mbit/s`, `s`, `instances`, `losses`."""
    peak_at: float = 0.0
    count: int = 0
    """All blocks, packets or datagrams of the event, where it has such a count; of a link, how often it was lost."""
    former: float | None = None
    """The MTU, the speed or the instances before, in `unit`."""
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
    def is_moment(self) -> bool:
        """Whether it was over when the samples showed it."""
        return self.kind in _MOMENTS

    @property
    def is_problem(self) -> bool:
        """Whether it is one that an operator must examine."""
        return self.status in PROBLEMS

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that it made bad, one for each place."""
        return tuple(c for place in self.places if (c := place.condition(self.kind)) is not None)

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
