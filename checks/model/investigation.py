"""A session of guided troubleshooting, as data: its steps, what they cost, what was answered, and how it ends."""

from __future__ import annotations

from enum import IntEnum, StrEnum

import msgspec

from checks.model.facts import KernelDrops, NodeOptics, UnreadNode
from checks.model.hypothesis import Footprint, Place
from checks.model.signs import SignAt
from checks.model.traffic import Traffic

SensedFact = NodeOptics | KernelDrops | UnreadNode
FORMAT = 1
"""The format of a session's record."""


class Risk(IntEnum):
    """What a step can disturb. The order is that of preference."""

    NONE = 0
    """It reads."""
    PROBE = 1
    """It sends packets within the budget."""
    PERSON = 2
    """A person reads on a device."""
    WINDOW = 3
    """A person changes something, and takes it back: never without another network that carries the node."""


class By(StrEnum):
    """Who makes a step."""

    ITSELF = "racwire"
    COMMAND = "a person, by a command"
    HANDS = "a person, by hand"


class Price(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a step costs."""

    risk: Risk
    minutes: int = 0
    """The effort of a person."""
    seconds: float = 0.0
    packets: int = 0
    """The datagrams that it sends at most, on all paths together."""
    octets: int = 0
    """Bytes on the wire at most."""
    rights: str = ""
    """Who may make it: `root on rac2`, `the network team`."""

    @property
    def number(self) -> float:
        """One number in seconds, by which steps are compared: 60 a minute of a person, 3,600 for a window."""
        return self.seconds + 60 * self.minutes + (3600 if self.risk is Risk.WINDOW else 0)


class Fared(StrEnum):
    """What became of packets of one kind on their way."""

    NONE_LOST = "none"
    SOME_LOST = "some"
    ALL_LOST = "all"
    PORTS_LOST = "some ports"
    """Some source ports lost all, and others none."""
    PORTS_SHARE = "some ports a share"
    """Some source ports lost a share, and others none."""


class Probe(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Packets of one kind that a step looks at."""

    legs: tuple[Traffic, ...]
    """The ways that one packet takes in turn, each of one network, sender, receiver, protocol and size on the wire."""
    sent: int
    """How many."""
    ports: int = 1
    """From how many source ports."""
    is_at_nic: bool = False
    """Whether they count where they reach the receiver's NIC (a capture), before its kernel can drop them."""
    share: float = 0.3
    """The share of losses that is looked for: far fewer count as none (`Fared`)."""


class Suspect(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A cause at one place, and what it predicts."""

    cause: str
    """`CAUSE-01`."""
    kind: str = ""
    """The kind of a cause that has several, which need different hands: `cable`, `port`, `NIC`; empty: one."""
    name: str
    place: Place
    footprint: tuple[Footprint, ...]
    signs: tuple[SignAt, ...] = ()
    """What is seen at its place, if it is the cause."""
    may_show: tuple[SignAt, ...] = ()
    """What can be seen there, and need not be."""
    is_above_nic: bool = False
    """Whether it drops above the NIC of the receiver: a capture there still shows the packets."""
    is_of_flows: bool = False
    """Whether it touches the flows of one link of an aggregation, and no others."""

    @property
    def named(self) -> tuple[str, str, Place]:
        """Cause, kind and place: equal for suspects that the same hands fix, whatever share of which packets they
        lose."""
        return self.cause, self.kind, self.place

    @property
    def key(self) -> str:
        """The suspect by cause, kind, place and packets, the same in each run."""
        place = (*self.place.networks, *self.place.nodes, ">", *self.place.to)
        return " ".join((self.cause, self.kind or "-", *place, *sorted(f.text for f in self.footprint)))


class SuspectStanding(StrEnum):
    """The standing of a suspect in a session."""

    LEFT = "left"
    EXCLUDED = "excluded"
    PROVED = "proved"


class SessionStep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step that can be made now, at a place. `declared` has its words."""

    key: str
    """The step with its place, the same in each run: `each-direction 192.168.11.0/24 rac1 rac2`."""
    declared: str
    """The name of its declaration: `each-direction`."""
    by: By
    place: Place
    price: Price
    probes: tuple[Probe, ...] = ()
    """The packets that it looks at; empty where it reads signs."""
    reads: tuple[SignAt, ...] = ()
    """The signs that it can see, each seen or not."""
    commands: tuple[str, ...] = ()
    """What a person runs, ready to be copied, each word quoted."""
    where: str = ""
    """Where the commands are run: `any user on rac2`, `the switch of 192.168.11.0/24`."""
    needs_consent: bool = False
    """Whether it is asked for each time: it switches something on in a kernel, or asks a device over a slow bus."""
    is_twice: bool = False
    """Whether it is read twice, around datagrams of racwire: a counter since the start shows nothing of now."""


class StepSaid(StrEnum):
    """What came of a step."""

    DONE = "done"
    SKIPPED = "skipped"
    """Later, perhaps."""
    NOT_POSSIBLE = "not possible"
    """Not here: it is not offered again."""
    NOT_UNDERSTOOD = "not understood"
    """What was pasted was kept as a note."""
    STOPPED = "stopped"
    """By a sign of harm, or the budget: `reason`."""


class NotOffered(StrEnum):
    """Why a step by hand is not offered at its place."""

    NO_OTHER_NETWORK = "no other private network or member carries the nodes"
    OTHER_NETWORK_LOSES = "the other private network loses packets of the nodes"
    ONE_NODE = "no other node has a cable to exchange"


class StepAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of one step."""

    step: SessionStep
    said: StepSaid
    at: float
    """When, in seconds since 1970."""
    fared: tuple[Fared, ...] = ()
    """Of each probe of the step."""
    lost: tuple[tuple[int, int], ...] = ()
    """Of each probe: lost, sent."""
    seen: tuple[SignAt, ...] = ()
    looked: tuple[SignAt, ...] = ()
    """The signs of the step for which someone looked, seen or not."""
    packets: int = 0
    seconds: float = 0.0
    pasted: tuple[str, ...] = ()
    facts: tuple[SensedFact, ...] = ()
    """What a sense read: the last of each node is judged by its check."""
    reason: str = ""
    excluded: tuple[Suspect, ...] = ()
    """The suspects that it excluded, without what they predict: for those who read the record."""
    is_harm: bool = False
    """Whether a sign of harm stopped it."""
    placing: Placing | None = None
    """Where a rare loss was placed, of the step that looks for it."""


class End(StrEnum):
    """How the examination of one entry ends."""

    PROVED = "proved"
    """One cause at one place, by a sign that nothing else makes, both directions seen to fare as it says."""
    LEFT_OVER = "left over"
    """All others are excluded; it has no sign of its own: fix it and verify."""
    APART = "cannot be separated"
    """No step that is possible here separates these."""
    NONE = "none of these"
    """None of the causes that racwire knows fits what was seen."""
    NOT_PLACED = "not placed"
    """Something is lost, so rarely that no path was found to lose it: `Ending.placing` says what that would need."""


class EntryEnding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The end of one entry."""

    end: End
    suspects: tuple[Suspect, ...]
    """What is left; empty for `NONE`."""
    excluded: tuple[str, ...] = ()
    """The keys of the suspects that the session excluded."""
    sign: SignAt | None = None
    """The sign that proves it."""
    placing: Placing | None = None
    """Of `NOT_PLACED`: what was sent on which path."""
    at: float = 0.0


class Placing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a rare loss was placed, or why not."""

    path: tuple[str, str, str] | None = None
    """Network, sender, receiver; None: not placed."""
    does_all_lose: bool = False
    would_need: int = 0
    """Datagrams that would place it, estimated; 0 where that is not known."""
    sent: int = 0
    counts: tuple[tuple[str, str, str, int, int], ...] = ()
    """By path: network, sender, receiver, lost, sent."""


class SessionRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session: everything that follows from it is computed from this and the run of its start."""

    format: int = FORMAT
    started_at: float
    cluster: str
    is_of_file: bool = False
    """Whether it is about a saved file: then only people make steps."""
    run_at: float
    """The time of the run of its start."""
    suspects: tuple[Suspect, ...] = ()
    """What the diagnosis left at its start, without what they predict: for those who read the record."""
    answers: tuple[StepAnswer, ...] = ()
    endings: tuple[EntryEnding, ...] = ()
    is_ended: bool = False
