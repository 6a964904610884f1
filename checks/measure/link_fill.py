"""How full flows of all classes together make a link, and what holds them back where it is less than the limits allow.

No I/O.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from checks.measure.near_end.control import SECOND_S
from checks.model.flow_bound import FlowBound
from checks.model.flow_result import LinkFill

REACHED = 0.95
"""The part of what the limits allow on average that reaches them. Ours: a round has a start and an end."""
_FULL_LINK = 0.93
"""The share of a link that fills it: acknowledgements and packets that were sent again come on top. Ours."""
_FULL_CPU = 0.9
"""The share of a CPU at which the program of a peer is slower than its flows. Ours."""


@dataclass(slots=True)
class Filling:
    """The flows together on one link, summed over the rounds."""

    paths: tuple[int, ...]
    concurrency: int
    prioritised: bool | None
    link_bps: float | None
    most_bps: float
    planned_bps: float
    is_by_packets: bool
    """Whether the packets a second are the closer limit, not the share of the link."""
    seconds: float = 0.0
    _delivered: float = 0.0
    _broken: float = 0.0
    _cpu_s: float = 0.0
    _held: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def mean_bps(self) -> float:
        """The most on average that lets no second have more than `most_bps`."""
        return self.most_bps / SECOND_S

    @property
    def _bound_of_plan(self) -> FlowBound:
        return FlowBound.PACKETS if self.is_by_packets else FlowBound.CLASSES

    @property
    def planned_bound(self) -> str:
        """What holds back the flows of the plan; empty where they reach what the limits allow on average."""
        return "" if self.planned_bps >= REACHED * self.mean_bps else self._bound_of_plan

    def add(
        self, seconds: float, delivered: float, broken: float, held: Iterable[Mapping[str, float]], cpu_s: float
    ) -> None:
        """Add a round: its seconds, its bytes on the wire, and the CPU time of the busiest program of a peer."""
        self.seconds += seconds
        self._delivered += delivered
        self._broken += broken
        self._cpu_s += cpu_s
        for one in held:
            for reason, size in one.items():
                self._held[reason] += size

    def fact(self) -> LinkFill:
        """Return the averages, and what held back most."""
        seconds = self.seconds or 1.0
        delivered = self._delivered * 8 / seconds
        held = {reason: size * 8 / seconds for reason, size in self._held.items() if size > 0}
        held[FlowBound.BROKEN] = self._broken * 8 / seconds
        planned = self._bound_of_plan
        held[planned] = held.get(planned, 0.0) + max(self.mean_bps - self.planned_bps, 0.0)
        # What no wait explains is in flows that ended later than their pace: the round goes on until they have.
        rest = self.mean_bps - delivered - sum(held.values())
        held[FlowBound.ANSWERS] = held.get(FlowBound.ANSWERS, 0.0) + max(rest, 0.0)
        return LinkFill(
            paths=self.paths,
            concurrency=self.concurrency,
            prioritised=self.prioritised,
            seconds=self.seconds,
            link_bps=self.link_bps,
            most_bps=self.most_bps,
            mean_bps=self.mean_bps,
            planned_bps=self.planned_bps,
            delivered_bps=delivered,
            held_bps={reason: bps for reason, bps in held.items() if bps > 0},
            bound="" if delivered >= REACHED * self.mean_bps else self._bound(held, delivered),
        )

    def _bound(self, held: dict[str, float], delivered: float) -> str:
        most = max(held, key=held.__getitem__)
        if most != FlowBound.ANSWERS:
            return most
        if self.link_bps and delivered >= _FULL_LINK * self.link_bps:
            return FlowBound.LINK
        return FlowBound.CPU_THERE if self._cpu_s >= _FULL_CPU * self.seconds else FlowBound.ANSWERS
