"""Facts about what racwire itself sends and costs: its packets are packets of the cluster too."""

from __future__ import annotations

from checks.model.facts.base import Fact


class RecentLoad(Fact, frozen=True):
    """A measurement or drill of racwire that ended shortly before a run, or during it."""

    kind: str
    """`sizes`, `rate`, `mix`, `hashes`, `drill`."""
    node: str
    """The node that it was started on."""
    nodes: tuple[str, ...]
    """The nodes of its paths."""
    ended_at: str
    """ISO 8601, with the zone of the node."""


class QuietLosses(Fact, frozen=True):
    """The blocks lost in the part of an interval in which the run sent no packet on the private networks."""

    seconds: float
    lost: dict[int, int]
    """Growth of `gc blocks lost`, by instance."""
