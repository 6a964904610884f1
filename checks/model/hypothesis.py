"""The diagnosis of a report: for each cause of the catalogue, its standing and the observations for and against it."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from checks.model.finding import Key, NextStep, Scalar
from checks.model.traffic import Traffic


class Certainty(StrEnum):
    """How certain a cause is. The order is the order of the report."""

    PROVED = "proved"
    """The cause was observed at its place: the counter grew there, or the value was read there."""
    SUPPORTED = "supported"
    """The cause explains observations, and no observation contradicts it."""
    POSSIBLE = "possible"
    """Something is lost, racwire examined part of the evidence, and that part does not decide."""
    EXCLUDED = "excluded"
    """An observation contradicts the cause, for this run and for what the observation covers."""
    NOT_EXAMINED = "not examined"
    """racwire has no evidence about the cause; `next` is how to get it."""


class How(StrEnum):
    """What a cause does to the packets of its footprint."""

    STOPS = "stops"
    """None of them passes."""
    SHARE = "loses a share of"
    """Some are lost, by chance or by load."""
    FLOWS = "stops some flows of"
    """Those on one link of an aggregation; which flows take it is not known of these packets."""
    AT_TIMES = "stops, for some time,"
    """All for some seconds, and none in others."""
    DELAYS = "delays"
    """They arrive late."""


class Footprint(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the footprint of a cause: packets, and what becomes of them."""

    how: How
    traffic: Traffic

    @property
    def text(self) -> str:
        """`stops full-size packets to rac2 on 192.168.11.0/24`."""
        return f"{self.how} {self.traffic.text}"


class Place(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a cause is. Empty fields are not known, or do not matter."""

    networks: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    to: tuple[str, ...] = ()
    """The receivers, where the cause is on the way from `nodes` to them."""
    text: str = ""
    """The place in a few words: `the port of rac2`."""


_NOWHERE = Place()


class Together(msgspec.Struct, frozen=True, kw_only=True):
    """A finding that ends only when several causes are fixed."""

    finding: Key
    causes: tuple[str, ...]
    """The codes of the other causes."""


class Hypothesis(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A cause with its standing in a run: one for each place where it was found, and one for each that was not.

    Findings are referred to by their keys (`Report.finding`).
    """

    cause: str
    """The code of the cause in the catalogue: `CAUSE-05`."""
    name: str
    sources: tuple[str, ...] = ()
    """`MOS 563566.1, cause 5`."""
    standing: Certainty
    entry: int = 0
    """Equal for hypotheses that the evidence cannot tell apart; 0 where the cause was not found."""
    headline: str = ""
    """The cause in one sentence that can be read aloud, with its place; empty where the cause was not found."""
    place: Place = _NOWHERE
    footprint: tuple[Footprint, ...] = ()
    """The packets that the cause touches at its place; empty where it touches none."""
    shown_by: tuple[Key, ...] = ()
    """The findings that show the cause, the strongest first."""
    explains: tuple[Key, ...] = ()
    """The other findings of which all losses end when this cause alone is fixed."""
    in_part: tuple[Key, ...] = ()
    """The other findings of which some losses end then, and others have another cause, or none that is known."""
    together: tuple[Together, ...] = ()
    because: tuple[str, ...] = ()
    """The reasons of the standing, as text."""
    against: tuple[str, ...] = ()
    """The observations that speak against a cause that was found or is possible."""
    tells_apart: str = ""
    """What would tell the hypotheses of the entry apart."""
    hides: tuple[str, ...] = ()
    """The codes of causes that were not examined behind this one: it stops every packet there."""
    excluded_on: tuple[str, ...] = ()
    """The private networks on which the cause is excluded, where it is not on all of them."""
    data: dict[str, Scalar] = msgspec.field(default_factory=dict)
    """The amounts and limits of the finding that shows the cause, `path_mtu_bytes`; empty where none was found."""
    lost_blocks: int | None = None
    """The lost blocks that this cause alone explains; None where they were not counted."""
    costs_nothing: bool = False
    """Whether the cause was found, and nothing that was observed is lost or late by it."""
    is_waived: bool = False
    """Whether every problem that shows the cause, or that it explains, is waived."""
    next: tuple[NextStep, ...] = ()
    """How to examine a cause that was not examined."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes of the place."""
        return (*self.place.nodes, *self.place.to)

    @property
    def networks(self) -> tuple[str, ...]:
        """The private networks of the place."""
        return self.place.networks


class LossAccount(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The lost blocks of one receiver, divided among the causes; no block is counted twice."""

    instance: str
    node: str
    lost: int
    explained: dict[str, int] = msgspec.field(default_factory=dict)
    """Blocks by the code of the cause, at most: a counter of the kernel can include packets of other programs. Blocks
    that several causes can have lost are under all their codes, `CAUSE-05 or CAUSE-73`."""
    while_probing: int = 0
    """Blocks lost while racwire probed: its own packets may have cost them."""
    unexplained: int = 0
    text: str = ""
    """The account as a sentence: `31 lost at prac2 = 24 in its receive buffers + 7 not explained.`"""


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The standing of every cause of the catalogue, the most certain first."""

    hypotheses: tuple[Hypothesis, ...] = ()
    unexplained: tuple[Key, ...] = ()
    """The findings about lost or late packets that no cause found explains, the worst first."""
    not_compared: tuple[str, ...] = ()
    """The checks whose findings are of a saved file without observations: they take no part in the diagnosis."""
    accounts: tuple[LossAccount, ...] = ()
    """One for each instance that lost blocks, where the counters of its node are known."""

    def with_standing(self, *standings: Certainty) -> tuple[Hypothesis, ...]:
        """Return the hypotheses with one of these standings."""
        return tuple(h for h in self.hypotheses if h.standing in standings)
