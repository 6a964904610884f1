"""What the samples of a timeline show: the items of a feed, each at the time at which it came."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from msgspec.structs import replace

from checks.traffic.samples import Event, Gap, GapCause, Link, Links
from checks.traffic.source_id import SourceId
from tests.agreement.truth import END, EVERY, NETWORKS, NODES, SUBNETS, Place, Truth
from tests.unit.events_support import instance_sample, node_sample

_MTU, _SMALL_MTU = 9000, 1500


class Feed:
    """The feed of a timeline."""

    def __init__(self, truth: Truth) -> None:
        self._truth = truth
        self._rng = Random(truth.seed + 2)
        self._links: dict[str, tuple[Link, ...]] = {}
        self._answered: dict[str, float] = {}
        """When each node, and each instance, was sampled last."""
        self._gaps: set[SourceId] = set()
        self.sampled: list[tuple[float, str, float]] = []
        """When each node and instance answered, and when it did before."""

    def items(self) -> Iterator[tuple[float, Event]]:
        """Yield the items with their times by a clock that nothing sets."""
        for t in range(0, END + 1, EVERY):
            if self._truth.pause[0] <= t < self._truth.pause[1]:
                continue
            for number, node in enumerate(NODES):
                yield from self._of_node(node, t + 0.01 * number)
            for number, node in enumerate(NODES):
                yield from self._of_instance(node, t + 0.05 + 0.01 * number)

    def _of_node(self, node: str, t: float) -> Iterator[tuple[float, Event]]:
        if self._truth.is_down(node, t) or (node != NODES[0] and self._rng.random() < 0.01):
            yield from self._gap(SourceId.node(node), t, f"{node} does not answer.")
            return
        links = tuple(self._link(node, network, t) for network in NETWORKS)
        if links != self._links.get(node):
            self._links[node] = links
            yield t, Links(node, self._truth.wall.time(t), links)
        before = self._answered.get(node)
        self._answered[node] = t
        self._gaps.discard(SourceId.node(node))
        if before is not None:
            self.sampled.append((t, node, before))
            yield t, replace(node_sample(node, self._truth.wall.time(t), t - before))

    def _link(self, node: str, network: int, t: float) -> Link:
        has = lambda kind: self._truth.has(Place(kind, node, network), t)  # noqa: E731
        mtu = _SMALL_MTU if has("mtu") else _MTU
        return Link(f"eth{network}", "ethernet", mtu, not has("link"), 10_000, network=SUBNETS[network])

    def _of_instance(self, node: str, t: float) -> Iterator[tuple[float, Event]]:
        number = int(node[3:])
        source = SourceId.instance(f"prod{number}")
        if not self._truth.has_stack(node, t):
            yield from self._gap(source, t, f"prod{number} is down.", GapCause.INSTANCE_DOWN)
            self._answered.pop(f"prod{number}", None)
            return
        before = self._answered.get(f"prod{number}")
        self._answered[f"prod{number}"] = t
        self._gaps.discard(source)
        if before is not None:
            self.sampled.append((t, f"prod{number}", before))
            lost = self._truth.lost(node, before, t)
            yield t, instance_sample(number, self._truth.wall.time(t), t - before, lost)

    def _gap(
        self, source: SourceId, t: float, reason: str, cause: GapCause = GapCause.NOT_KNOWN
    ) -> Iterator[tuple[float, Event]]:
        if source not in self._gaps:
            self._gaps.add(source)
            yield t, Gap(source, self._truth.wall.time(t), reason, cause=cause)
