"""What a feed follows: who the nodes are, their private networks and the database, without any check."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

import msgspec

from checks.model.broken_dependency import error_text
from checks.model.facts import Cluster, Unknown
from checks.model.journal import Journal, now
from checks.model.settings import Settings
from checks.run.gathering import GATHERERS, Gatherer
from checks.sources.database.secret import Secret
from checks.sources.nodes.session import Session

_GROUPS = ("clusterware", "nodes", "networks", "database")


async def find_cluster(
    settings: Settings, *, password: Secret | None = None, progress: Callable[[str], None] | None = None
) -> Cluster:
    """What a feed follows: Clusterware, nodes, networks and database as facts, without any check.

    Every group that could not be had is Unknown with its reason; nothing is raised but cancellation.
    """

    def tell(group: str, text: str, done: int, total: int) -> None:
        if progress is not None:
            progress(text)

    session = Session(settings, Journal(), tell, password=password)
    try:
        return await _gathered(session, tuple(g for g in GATHERERS if g.group in _GROUPS))
    finally:
        await session.close()


async def _gathered(session: Session, gatherers: Iterable[Gatherer]) -> Cluster:
    """Each group as soon as those that it needs are there, the others beside it."""
    cluster = Cluster(
        local_node=session.local_node,
        taken_at=now(),
        named_networks=session.settings.cluster.networks,
        thresholds=session.settings.thresholds.as_facts(),
    )
    there = {gatherer.group: asyncio.Event() for gatherer in gatherers}

    async def gather(gatherer: Gatherer) -> None:
        nonlocal cluster
        for need in gatherer.needs:
            await there[need].wait()
        found = await _found(gatherer, session, cluster)
        cluster = msgspec.structs.replace(cluster, **{gatherer.group: found}, local_node=session.local_node)
        there[gatherer.group].set()

    async with asyncio.TaskGroup() as gathering:
        for gatherer in gatherers:
            gathering.create_task(gather(gatherer))
    return cluster


async def _found(gatherer: Gatherer, session: Session, cluster: Cluster) -> object:
    try:
        async with asyncio.timeout(gatherer.limit_s):
            return await gatherer.gather(session, cluster)
    except TimeoutError:
        return Unknown(f"Gathering the {gatherer.group} took over {gatherer.limit_s:.0f} s and was given up.")
    except Exception as error:  # a source may fail in any way; what it would have told is unknown, the rest goes on
        return Unknown(f"Gathering the {gatherer.group} failed: {error_text(error)}")
