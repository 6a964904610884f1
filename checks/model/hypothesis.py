"""The diagnosis of a report: for each cause of the catalogue, its standing and the observations for and against it."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from checks.model.finding import Remedy, Scalar


class Standing(StrEnum):
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


class Hypothesis(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A cause with its standing in a run."""

    cause: str
    """The code of the cause in the catalogue: `CAUSE-05`."""
    name: str
    sources: tuple[str, ...] = ()
    """`MOS 563566.1, cause 5`."""
    standing: Standing
    headline: str = ""
    """The cause in one sentence that can be read aloud, with its place; empty where the cause was not found."""
    because: tuple[str, ...] = ()
    """The titles of the findings, or the reasons, that decide the standing."""
    against: tuple[str, ...] = ()
    """The observations that speak against a cause that was found or is possible."""
    places: tuple[str, ...] = ()
    """The subjects of the findings that show the cause."""
    nodes: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()
    """The titles of the findings that are effects of this cause."""
    data: dict[str, Scalar] = msgspec.field(default_factory=dict)
    """The amounts and limits of the finding that shows the cause, `path_mtu_bytes`; empty where none was found."""
    lost_blocks: int | None = None
    """The lost blocks that this cause explains; None where they were not counted."""
    is_waived: bool = False
    """Whether every problem that shows the cause, or that it explains, is waived."""
    next: tuple[Remedy, ...] = ()
    """How to examine a cause that was not examined."""


class LossAccount(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The lost blocks of one receiver, divided among the causes; no block is counted twice."""

    instance: str
    node: str
    lost: int
    explained: dict[str, int] = msgspec.field(default_factory=dict)
    """Blocks by the code of the cause, at most: a counter of the kernel can include packets of other programs."""
    while_probing: int = 0
    """Blocks lost while racwire probed: its own packets may have cost them."""
    unexplained: int = 0
    text: str = ""
    """The account as a sentence: `31 lost at prac2 = 24 in its receive buffers + 7 not explained.`"""


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The standing of every cause of the catalogue, the most certain first."""

    hypotheses: tuple[Hypothesis, ...] = ()
    unexplained: tuple[str, ...] = ()
    """The titles of the effects that no proved or supported cause explains."""
    accounts: tuple[LossAccount, ...] = ()
    """One for each instance that lost blocks, where the counters of its node are known."""

    def with_standing(self, *standings: Standing) -> tuple[Hypothesis, ...]:
        """Return the hypotheses with one of these standings."""
        return tuple(h for h in self.hypotheses if h.standing in standings)
