"""Looking at the gates of a step: by the ordinary engine, which gathers once and judges what was gathered.

What comes of it is decided by `checks.change.concluding`, which does no I/O.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from checks.change.change_events import AnyEvent
from checks.change.change_evidence import evidence_gatherer
from checks.change.change_plan import Plan
from checks.change.codes import LOOKED
from checks.change.concluding import conclude, results_of
from checks.change.gates import gate_checks
from checks.change.state import Change
from checks.model.check import Check
from checks.model.facts import Cluster, Unknown
from checks.model.finding import Finding, Status
from checks.model.report import Report
from checks.model.settings import DatabaseSettings, Settings
from checks.run.check_discovery import discover
from checks.run.engine import Engine
from checks.run.events import Event, RunFinished
from checks.run.gathering import GATHERERS, Gatherer
from checks.sources.database.secret import Secret
from checks.sources.nodes.session import Session

__all__ = ["Concluded", "Verification", "conclude", "results_of"]

_OF_DATABASE = ("database", "activity", "history")
_NO_NEED = Unknown("No gate of this step asks Clusterware itself.")


@dataclass(frozen=True)
class Concluded:
    """The look at a step's gates is over."""

    events: tuple[AnyEvent, ...]
    """What the journal holds of it, in its order: surprises, what the gates said (`Verified`), steps reopened."""
    report: Report
    """What was read and found, with the evidence; it is not kept."""


class Verification:
    """One look at the gates of a step and at those that must still hold. It changes nothing and writes nothing."""

    def __init__(
        self,
        change: Change,
        settings: Settings,
        password: Secret | None = None,
        *,
        node: str = "",
        directory: Path | None = None,
        built_in: Iterable[Check] | None = None,
    ) -> None:
        """`node` is the plan's name of the node that this runs on, `directory` where its journal is, `built_in` the
        checks that can be gates too; those of racwire where none are given."""
        self.change = change
        self.step = change.current or change.plan.steps[-1]
        gates = gate_checks(change, self.step, discover if built_in is None else lambda: built_in)
        self.checks = (*gates.values(), _LOOK)
        """What is run: the gates, and one that has the nodes read at every look, since somebody may have booted one."""
        groups = {group for check in gates.values() for group in (*check.needs, *check.uses)}
        self._engine = Engine(
            self.checks,
            settings_for(settings, change.plan, node, with_database=not groups.isdisjoint(_OF_DATABASE)),
            gatherers=(
                *(_named(gatherer, node, groups) for gatherer in GATHERERS),
                evidence_gatherer(change.plan, gates.keys(), directory or Path()),
            ),
            password=password,
        )

    async def events(self) -> AsyncGenerator[Event | Concluded, None]:
        """Tell each event of the engine as it comes, and `Concluded` last. Close it early to give the look up."""
        report = None
        async with aclosing(self._engine.events()) as events:
            async for event in events:
                if isinstance(event, RunFinished):
                    report = event.report
                yield event
        if report is not None:
            yield Concluded(conclude(self.change, self.step, report), report)


def settings_for(settings: Settings, plan: Plan, node: str, *, with_database: bool) -> Settings:
    """The operator's settings with the nodes and private networks of the plan: with Clusterware down nobody else knows
    them. Without a gate that asks the database none is asked, and the counters are not watched for as long."""
    cluster = msgspec.structs.replace(
        settings.cluster,
        grid_home=settings.cluster.grid_home or plan.grid_homes.get(node, ""),
        networks=tuple(dict.fromkeys(network.subnet for network in plan.networks)),
        peers=tuple(other for other in plan.nodes if other != node),
    )
    database = settings.database if with_database else DatabaseSettings()
    return msgspec.structs.replace(settings, cluster=cluster, database=database)


def node_here(plan: Plan, host: str) -> str:
    """The plan's name of the node that is called so; the name itself where it is none of them."""
    short = host.partition(".")[0].casefold()
    return next((node for node in plan.nodes if node.partition(".")[0].casefold() == short), host)


def _named(gatherer: Gatherer, node: str, groups: set[str]) -> Gatherer:
    """The gatherer of Clusterware with the plan's name for this node, and only where a gate asks for what it tells:
    with the stack down each of its tools takes long to say so."""
    if gatherer.group != "clusterware":
        return gatherer
    needed = not groups.isdisjoint(("clusterware", "managed"))

    async def gather(session: Session, cluster: Cluster) -> object:
        found = await gatherer.gather(session, cluster) if needed else _NO_NEED
        if node:
            session.local_node = node
        return found

    return replace(gatherer, gather=gather)


def _look(cluster: Cluster) -> tuple[Finding, ...]:
    """Reads every node at every look: which boot it runs, which MTUs it has, what runs on it."""
    return (LOOKED.finding(Status.PASS, "The nodes were looked at.", subject="looked at"),)


_LOOK = Check("look", "How are the nodes now?", (), (LOOKED,), _look, ("nodes", "setups", "changing"))
