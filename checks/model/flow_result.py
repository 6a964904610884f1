"""The result of `racwire measure mix`: completion times of flows, how full they made a link, and what priorities do.

Data only.
"""

from __future__ import annotations

from typing import ClassVar

from checks.model.facts import Fact, Unknown
from checks.model.kept_percentiles import keep_percentiles


class FlowRound(Fact, frozen=True):
    """The flows of one class in one round. Times are flow completion times in milliseconds."""

    path: int
    flow_class: str
    """`message`, `block`, `small`, `medium` or `large`."""
    size: int
    """Bytes of a flow."""
    company: str
    """`alone`, `together` or `beside` (sent on a cluster in use)."""
    concurrency: int
    """Flows of all classes that were under way at the same time."""
    round: int
    at: float
    seconds: float
    completed: int
    broken: int
    """Flows that did not complete."""
    mean_ms: float | None
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    times_ms: tuple[float, ...] = ()
    link_share: float | None = None
    """With `beside`: the share of the link that was in use, 0 to 1; None where it is not known."""
    is_towards_here: bool = False
    """Whether the flows came from the far end to this node."""
    prioritised: bool | None = None
    """Whether the switch sent the first packets of flows first, as the operator set it; None without turns of both."""
    turn: int = 0
    """The rounds between two settings of the switch, from 0 on."""

    def __post_init__(self) -> None:
        """Keep no percentile of too few flows."""
        keep_percentiles(self, self.completed, p95_ms=0.95, p99_ms=0.99)


class FlowSummary(Fact, frozen=True):
    """All rounds of one class together, of one company and concurrency. Times are flow completion times in ms."""

    path: int
    flow_class: str
    size: int
    company: str
    """As in `FlowRound`."""
    concurrency: int
    fullness: str
    """With `beside`: `quiet`, `middle` or `busy`, the third of the seconds by the share of the link in use."""
    link_share: float | None
    """With `beside`: the mean share of the link in these seconds, 0 to 1."""
    completed: int
    broken: int
    mean_ms: float | None
    p50_ms: float | None
    p95_ms: float | Unknown
    """Unknown with fewer than 100 flows."""
    p99_ms: float | Unknown
    """Unknown with fewer than 100 flows."""
    slowdown: float | None
    """The mean, divided by that alone (with `beside`: by that of the quiet seconds); None alone."""
    slowdown_p: float | None
    """The p of the Mann-Whitney test between the means of the rounds, with those alone; None alone."""
    delivered_bps: float | None
    """Bits a second of completed flows, without headers."""
    prioritised: bool | None = None
    """As in `FlowRound`."""

    def __post_init__(self) -> None:
        """Keep no percentile of too few flows."""
        keep_percentiles(self, self.completed, "flow", p95_ms=0.95, p99_ms=0.99)


class LinkFill(Fact, frozen=True):
    """How full the flows of all classes together made one link, on average over the rounds. Bits on the wire."""

    paths: tuple[int, ...]
    """The paths that share the link."""
    concurrency: int
    """As in `FlowRound`."""
    prioritised: bool | None
    """As in `FlowRound`."""
    seconds: float
    link_bps: float | None
    """The speed of the slowest path; None where it is not known."""
    most_bps: float
    """The limit that was chosen: no second has more."""
    mean_bps: float
    """The most on average that lets no second have more."""
    planned_bps: float
    """What the flows of the plan add up to."""
    delivered_bps: float
    """What the completed flows add up to, with their headers."""
    held_bps: dict[str, float]
    """What did not go, by `checks.model.flow_bound.FlowBound`."""
    bound: str = ""
    """The `FlowBound` that held back most; empty where `mean_bps` was reached."""


class PriorityEffect(Fact, frozen=True):
    """Completion times of one class, without and with priorities of the switch: the mean of each round is a sample."""

    paths: tuple[int, ...]
    """The paths that share a link."""
    flow_class: str
    size: int
    concurrency: int
    flows_without: int
    flows_with: int
    rounds_without: int
    rounds_with: int
    without_ms: float | None
    with_ms: float | None
    """The medians of the rounds; None without a completed flow."""
    change: float | None
    """The change as a share of `without_ms`: -0.32 is 32 % less."""
    change_low: float | None
    change_high: float | None
    """The change is between these with 95 % confidence (Hodges and Lehmann)."""
    p: float | None
    """Of the Mann-Whitney test, adjusted for the number of classes; None with fewer than six rounds on a side."""
    noise: float
    """The change that counts as noise: what the turns without priorities differ by among themselves; at least 5 %."""
    verdict: str
    """As `checks.measure.priority_effect.PriorityVerdict` has it."""


class MeasuredMix(Fact, frozen=True, tag="mix"):
    """`racwire measure mix`."""

    kind: ClassVar[str] = "mix"
    rounds: tuple[FlowRound, ...] = ()
    summaries: tuple[FlowSummary, ...] = ()
    fills: tuple[LinkFill, ...] = ()
    """One for each link and number of flows at the same time, together."""
    effects: tuple[PriorityEffect, ...] = ()
    """One for each class, where the switch was set to both."""
    gap_ms: float | None = None
    """The least pause between the end of a flow and the next of its connection; None with `beside`."""
