"""The declaration of a cause: what shows it, what it does to which packets, what excludes it, how to examine it.

A cause is data. `checks.diagnosis.predict` makes hypotheses from it: at the places where its state or its counter was
read, and at the places where packets are lost in one of its patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from checks.diagnosis.seen import Seen
from checks.model.facts import Cluster
from checks.model.finding import Finding, NextStep
from checks.model.hypothesis import Footprint, How, Place
from checks.model.signs import Sign
from checks.model.traffic import SMALL, Traffic

MOS_LIST = "MOS 563566.1"
"""Oracle's list of 26 causes of lost blocks."""
_OF_ORACLE = 26


class Way(StrEnum):
    """Which packets of a node a cause touches."""

    TO = "to"
    FROM = "from"
    BOTH = "to and from"


class At(StrEnum):
    """The kind of place at which a pattern is looked for, and how much it assumes."""

    NODE = "a node"
    """The kernel of a node, or its port: one direction, or both, as the touch says."""
    PATH = "a path"
    """One direction between two nodes."""
    SIDES = "two groups of nodes"
    NETWORK = "a network"

    @property
    def width(self) -> int:
        """How much it assumes: a narrower place comes first."""
        return {At.NODE: 1, At.PATH: 2, At.SIDES: 2, At.NETWORK: 3}[self]


class Fit(IntEnum):
    """How well a place fits a cause, from what was read there."""

    NOT = 0
    """The cause cannot be there."""
    LESS = 1
    """It is not known whether it can be there, or another cause is nearer: it comes after others of the same losses."""
    AS_ANY = 2
    MORE = 3
    """What was read points to it: it comes before others of the same losses."""


@dataclass(frozen=True)
class Touch:
    """What a cause does to which packets, without a place."""

    how: How
    packets: Traffic = field(default_factory=Traffic)
    way: Way = Way.BOTH
    every_network: bool = False
    """Whether it touches the packets of all private networks of its nodes, whatever network its finding names."""

    @property
    def is_sized(self) -> bool:
        """Whether it touches full-size packets: the limit follows from what passed and what was lost."""
        return self.packets.sizes[0] == SMALL + 1


@dataclass(frozen=True, kw_only=True)
class CauseForm:
    """A cause in one of its forms, which needs other hands than the others: a cable, a port.

    An investigation separates them by signs; packets show them alike.
    """

    name: str = ""
    """`cable`; empty where the cause has one form."""
    signs: tuple[Sign, ...] = ()
    """What is seen at its place, if it is the cause; the same signs are of its network where it is at no one node."""
    may_show: tuple[Sign, ...] = ()
    """What can be seen there, and need not be: not each driver and switch counts it."""
    at: tuple[At, ...] = ()
    """Where it can be; empty: wherever its cause is looked for."""
    patterns: tuple[Touch, ...] = ()
    """What it does to packets; empty: the patterns of its cause."""
    is_above_nic: bool = False
    """Whether it drops above the NIC of the receiver: a capture there still shows the packets."""


@dataclass(frozen=True, kw_only=True)
class Cause:
    """A cause of lost or slow blocks, or of evicted nodes."""

    code: str
    """`CAUSE-01` to `CAUSE-26` have Oracle's numbers; others follow from `CAUSE-31` on. Never reused."""
    name: str
    further_sources: tuple[str, ...] = ()
    """The sources other than Oracle's list, which has the causes 1 to 26."""
    proved_by: tuple[str, ...] = ()
    """The codes of problems that are the cause itself, observed at its place."""
    supported_by: tuple[str, ...] = ()
    """The codes of problems that the cause explains better than others do."""
    touches: tuple[Touch, ...] = ()
    """What it does where it was found, in full."""
    patterns: tuple[Touch, ...] = ()
    """What shows it where only losses were seen: each alone."""
    beside: Traffic | None = None
    """Packets that must have passed where a pattern loses others: the cause is about the difference."""
    at: tuple[At, ...] = ()
    """Where its patterns are looked for."""
    fits: Callable[[Seen, Place], Fit] | None = None
    """How well a place fits the cause, where its patterns are met; None: as well as any."""
    moves: tuple[str, ...] = ()
    """The codes of findings about counters and values at its nodes that it leads to: NIC down, HAIP elsewhere."""
    is_of_each_node: bool = False
    """Whether a finding that names several nodes is the cause at each of them by itself."""
    mixes_networks: bool = False
    """Whether the packets of its nodes may take another network than their addresses say: it may have a part in each of
    their losses."""
    hides_settings: bool = False
    """Whether routes and interfaces of its node go with it, so that their settings are not seen."""
    blinds: bool = False
    """Whether what is UNKNOWN of its nodes follows from it."""
    is_shown: Callable[[Seen, Finding], bool] | None = None
    """Whether a finding with one of its codes shows it, where the numbers of what passed decide; None: each does."""
    effects_of: Callable[[Seen, Finding], Iterable[Footprint]] | None = None
    """What it does at the place of a finding that states it, where the value there decides; None: its touches."""
    is_link_of_aggregation: bool = False
    """Whether it loses the flows that take one link, which the source ports show."""
    is_symptom: bool = False
    """Whether it is reported only for what no other cause explains."""
    is_late: bool = False
    """Whether it is what Clusterware or an instance suffered, as logs report it: it stands last."""
    is_bound: bool = False
    """Whether the counter that proves it bounds what it lost."""
    hinted_by: tuple[str, ...] = ()
    """The codes of findings that make the cause possible, such as counts of the past, which need not be of now."""
    cleared_by: tuple[str, ...] = ()
    """The checks that together exclude the cause where none of them shows it or is UNKNOWN."""
    excluded_by: tuple[str, ...] = ()
    """The codes that together exclude the cause on a network: each was found there without a problem or an UNKNOWN of
    its check."""
    covers: str = ""
    """What the exclusion covers, as a clause: `for the packets of this run`."""
    kinds: tuple[CauseForm, ...] = ()
    """Its forms, with the signs of each; each cause with patterns declares at least one."""
    look: tuple[NextStep, ...] = ()
    """How to examine the cause where racwire does not."""
    ruled_out: Callable[[Cluster], str] | None = None
    """Returns the sentence that excludes the cause on this cluster, from its facts; empty where none does."""
    other_platform: str = ""
    """The platform to which the cause is confined; the nodes run Linux."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources of the cause: `MOS 563566.1, cause 5`."""
        number = int(self.code.rpartition("-")[2])
        return (*((mos(number),) if number <= _OF_ORACLE else ()), *self.further_sources)

    @property
    def shown_by(self) -> tuple[str, ...]:
        """The codes that prove it, then those that support it."""
        return (*self.proved_by, *self.supported_by)

    @property
    def is_examined(self) -> bool:
        """Whether racwire has evidence for or against the cause."""
        return any((self.shown_by, self.patterns, self.hinted_by, self.excluded_by, self.cleared_by)) or bool(
            self.other_platform
        )


def mos(number: int) -> str:
    """Return the source for a number of Oracle's list."""
    return f"{MOS_LIST}, cause {number}"


def look(text: str, *commands: str, where: str = "any user on each node") -> tuple[NextStep, ...]:
    """Return the step that examines a cause by hand."""
    return (NextStep(text, commands, where),)
