"""A node's readings, one after the other, as samples of the times between them."""

from __future__ import annotations

from checks.model.facts import Unknown
from checks.traffic.node_difference import node_sample
from checks.traffic.node_text import NodeReading
from checks.traffic.samples import Gap, NodeSample


class NodeCounter:
    """Makes samples of readings that follow each other."""

    def __init__(self) -> None:
        self._before: tuple[NodeReading, float] | None = None

    def sample(self, node: str, reading: NodeReading | Unknown, clock_s: float, at: float) -> NodeSample | Gap | None:
        """The sample up to this reading; None for the first one. `clock_s` is when it was taken, by a clock that only
        ever goes forward."""
        before, self._before = self._before, None
        if isinstance(reading, Unknown):
            return Gap(f"node {node}", at, f"The counters of {node} could not be read: {reading.reason}")
        self._before = reading, clock_s
        if before is None or clock_s <= before[1]:
            return None
        sample = node_sample(node, before[0], reading, seconds=clock_s - before[1], at=at)
        if isinstance(sample, Unknown):
            return Gap(f"node {node}", at, f"{node}: {sample.reason}")
        return sample
