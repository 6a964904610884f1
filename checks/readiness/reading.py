"""The engine of `racwire doctor`: all checks, on facts that are read without pings and without an interval.

The checks themselves find what will be UNKNOWN, so there is no second set of rules. Kernel counters and views of the
instances are read twice in a row: nothing grows between the readings, but each reading shows whether it is permitted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from checks.model.broken_dependency import error_text
from checks.model.check import Check
from checks.model.facts import (
    Activity,
    Cluster,
    CounterChanges,
    Database,
    NotAsked,
    PathProbe,
    Unknown,
)
from checks.model.settings import Settings
from checks.run.check_discovery import BrokenPlugin
from checks.run.engine import Engine
from checks.run.gathering import GATHERERS, Gatherer
from checks.sources.database.history import find_history
from checks.sources.database.sampling import read_activity
from checks.sources.nodes.counter_change import read_counter_changes
from checks.sources.nodes.session import Session
from checks.sources.nodes.user_rights import Account, read_account

if TYPE_CHECKING:
    from checks.sources.database.secret import Secret

__all__ = ["READINESS_GATHERERS", "Account", "account", "readiness_engine"]

_ACCOUNT_LIMIT_S = 5.0
_AS_IN_A_CHECK = ("clusterware", "nodes", "networks", "database", "setups")
"""The groups of facts that are gathered as in a check."""


def readiness_engine(
    checks: Iterable[Check],
    settings: Settings,
    *,
    broken: Iterable[BrokenPlugin] = (),
    password: Secret | None = None,
) -> Engine:
    """Return an engine that reads what a check reads, once, and sends no packet over a private network."""
    return Engine(checks, settings, broken=broken, gatherers=READINESS_GATHERERS, password=password)


async def account() -> Account | Unknown:
    """Return the user who runs racwire; Unknown where the name service of this node does not answer in time."""
    try:
        async with asyncio.timeout(_ACCOUNT_LIMIT_S):
            return await asyncio.to_thread(read_account)
    except TimeoutError:
        return Unknown(f"The name service of this node did not answer within {_ACCOUNT_LIMIT_S:g} s.")
    except Exception as error:  # the page must appear in any case
        return Unknown(f"The user could not be read: {error_text(error)}")


async def _no_packets(session: Session, cluster: Cluster) -> tuple[PathProbe, ...] | Unknown:
    if isinstance(cluster.networks, Unknown):
        return cluster.networks
    return cluster.nodes if isinstance(cluster.nodes, Unknown) else ()


async def _counters(session: Session, cluster: Cluster) -> CounterChanges | Unknown:
    if isinstance(cluster.nodes, Unknown):
        return cluster.nodes
    return await read_counter_changes(session, cluster.read_nodes(), 0.0)


async def _activity(session: Session, cluster: Cluster) -> Activity | Unknown | NotAsked:
    if not isinstance(cluster.database, Database):
        return cluster.database
    return await read_activity(session.databases, cluster.database, 0.0, session.progress)


async def _history(session: Session, cluster: Cluster) -> Unknown | NotAsked:
    """Return why the history will not be known. Where it can be, it is not read: it costs the database too much."""
    if not isinstance(cluster.database, Database):
        return cluster.database
    return await find_history(session.databases, cluster.database, session.progress)


READINESS_GATHERERS = (
    *(gatherer for gatherer in GATHERERS if gatherer.group in _AS_IN_A_CHECK),
    Gatherer("paths", ("nodes", "networks"), _no_packets, limit_s=5),
    Gatherer("counters", ("nodes",), _counters, limit_s=150),
    Gatherer("activity", ("database",), _activity, limit_s=300),
    Gatherer("history", ("database",), _history, limit_s=150),
)
