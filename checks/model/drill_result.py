"""The result of a drill: how long each path was silent, and the timeline by one clock. Data only."""

from __future__ import annotations

from typing import ClassVar

from checks.model.facts import Fact, Unknown


class PathSilence(Fact, frozen=True):
    """The longest silence of one path during a drill."""

    path: int
    protocol: str
    """`icmp` or `udp`."""
    began_at: float | None
    """Seconds since 1970 by this node's clock, when the first missing answer was due; None where none was missing."""
    seconds: float
    """The length of the silence: the time between two answers, less the interval at which they should come."""
    is_over: bool
    """False where no answer had come by the end: the silence is at least this long."""
    interval_s: float
    """Seconds between two probes: the silence is exact to this."""
    sent: int
    answered: int
    lateness_p99_us: float | None = None
    """None for fewer than 100 probes."""
    lateness_max_us: float | None = None
    unsent: int = 0
    """Probes that this node could not send (no link, no route, no address): they count as silence."""
    is_from_start: bool = False
    """Whether the path was silent already at the start of the drill: the start of the silence was not seen."""
    number: int = 0
    """How often the path was silent."""
    every: tuple[tuple[float, float], ...] = ()
    """Beginning and length of each silence in the order of time: the 50 longest ones."""
    late_s: float = 0.0
    """How late this node itself sent at both ends of the silence: it may be that much shorter."""
    added_s: float | None = None
    """The part of the silence after the link was back; None where no link came back during it."""
    timer: str = ""
    """What made the silence last, a word of `checks.rules.drill_causes.Timer`; empty where it is not known."""
    standing: str = ""
    """`proved`, `supported` or `unknown`: how well the timeline shows it."""
    cause: str = ""
    """The same as a sentence."""


class DrillEvent(Fact, frozen=True):
    """One event on the timeline of a drill, by this node's clock."""

    at: float
    """Seconds since 1970, when it was seen."""
    node: str
    what: str
    """A clause: `eth2 lost its link`, `169.254.12.7 moved from eth2 to eth1`."""
    kind: str = ""
    """A word of `checks.rules.drill_causes.TimelineKind`."""
    interface: str = ""
    address: str = ""
    detail: str = ""
    """The MAC address of a neighbour, or the active slave of a bond."""
    earliest_at: float | None = None
    """The moment of the reading before, at which it had not happened yet; None where the event has its own time."""


class InterfaceTimers(Fact, frozen=True):
    """The timers of one private interface of a node that decide how long a silence lasts."""

    node: str
    interface: str
    retrans_time_ms: int | None = None
    """The kernel asks by ARP again after this time (/proc/sys/net/ipv4/neigh/IF/retrans_time_ms)."""
    members: tuple[str, ...] = ()
    """The interfaces below it that carry its link: the members of a bond, the parent of a VLAN."""
    is_bond: bool = False
    miimon_ms: int | None = None
    """How often a bond looks at the links of its members; 0 is never."""
    updelay_ms: int | None = None
    downdelay_ms: int | None = None


class DrillOf(Fact, frozen=True, tag="drill"):
    """`racwire drill link` and `racwire drill node`."""

    kind: ClassVar[str] = "drill"
    subject: str = ""
    """`link eth2 of rac2`, `node rac2`."""
    transition: str = ""
    """Of a node: `planned`, `reboot` or `halt`; empty for a link."""
    misscount_s: float | Unknown = Unknown("crsctl did not name the misscount.")
    silences: tuple[PathSilence, ...] = ()
    events: tuple[DrillEvent, ...] = ()
    cause: str = ""
    """What made the longest silence last, as a sentence; empty where none was silent."""
    css_noticed_s: float | None = None
    """From the beginning of the transition until CSS noticed."""
    reconfigured_s: float | None = None
    first_block_s: float | None = None
    """From the beginning of the transition until the instances exchanged blocks again."""
    began_at: float | None = None
    """The beginning of the transition: the first silence, or the first event where no path was silent."""
    timers: tuple[InterfaceTimers, ...] = ()
    notes: tuple[str, ...] = ()
    """What was not read, and why, a sentence each."""
