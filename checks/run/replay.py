"""An engine for facts that were gathered earlier: it judges them, and reads and sends nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from msgspec.structs import replace

from checks.model.check import Check
from checks.model.facts import FACT_GROUPS, Cluster
from checks.model.settings import Settings
from checks.run.check_discovery import BrokenPlugin
from checks.run.engine import Engine
from checks.run.gathering import GATHERERS, Gatherer
from checks.sources.nodes.session import Session


class ReplayedFacts(Engine):
    """An engine whose gatherers return the facts of an existing cluster."""

    def __init__(
        self, cluster: Cluster, checks: Iterable[Check], settings: Settings, *, broken: Iterable[BrokenPlugin] = ()
    ) -> None:
        super().__init__(checks, settings, broken=broken, gatherers=_replaying(cluster))
        self._cluster = replace(self._cluster, recent_load=cluster.recent_load)


def _replaying(cluster: Cluster) -> list[Gatherer]:
    def replay(group: str) -> Callable[[Session, Cluster], Awaitable[object]]:
        async def gather(session: Session, known: Cluster) -> object:
            session.local_node = cluster.local_node
            return getattr(cluster, group)

        return gather

    needs = {gatherer.group: gatherer.needs for gatherer in GATHERERS}
    return [Gatherer(group, needs[group], replay(group), limit_s=5) for group in FACT_GROUPS if group in needs]
