"""An engine over facts that were gathered before: it judges them, and reads and sends nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from checks.model.check import Check
from checks.model.facts import FACT_GROUPS, Cluster
from checks.model.settings import Settings
from checks.run.check_discovery import BrokenPlugin
from checks.run.engine import Engine
from checks.run.gathering import GATHERERS, Gatherer
from checks.sources.nodes.session import Session


class GivenFacts(Engine):
    """An engine whose gatherers give what is known of a cluster already."""

    def __init__(
        self, cluster: Cluster, checks: Iterable[Check], settings: Settings, *, broken: Iterable[BrokenPlugin] = ()
    ) -> None:
        super().__init__(checks, settings, broken=broken, gatherers=_giving(cluster))


def _giving(cluster: Cluster) -> list[Gatherer]:
    def give(group: str) -> Callable[[Session, Cluster], Awaitable[object]]:
        async def gather(session: Session, known: Cluster) -> object:
            session.local_node = cluster.local_node
            return getattr(cluster, group)

        return gather

    needs = {gatherer.group: gatherer.needs for gatherer in GATHERERS}
    return [Gatherer(group, needs[group], give(group), limit_s=5) for group in FACT_GROUPS]
