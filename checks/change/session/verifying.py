"""Verify the gates of a step with the ordinary engine, or read the nodes that it stops: each is one run.

`checks.change.progress.concluding` turns the findings into journal events, without I/O.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterable
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from checks.change.gates import gate_checks
from checks.change.plan.change_plan import Plan
from checks.change.plan.codes import LOOKED
from checks.change.plan.layers import haip_addresses
from checks.change.plan.planning import look_of
from checks.change.progress.change_events import AnyEvent, ObservedState
from checks.change.progress.concluding import conclude, results_of
from checks.change.progress.state import Change
from checks.change.progress.wanted import plan_now
from checks.change.session.gate_facts import gate_facts_gatherer
from checks.change.session.open_here import continued
from checks.model.check import Check
from checks.model.facts import Cluster, HaipPaths, NotGathered
from checks.model.finding import Finding, Status
from checks.model.report import Report
from checks.model.settings import DatabaseSettings, Settings
from checks.run.check_discovery import discover
from checks.run.engine import Engine
from checks.run.events import Event, RunFinished
from checks.run.gathering import GATHERERS, Gatherer, gather_own_flows
from checks.sources.database.secret import Secret
from checks.sources.nodes.session import Session
from checks.sources.probes.haip_pings import ping_between

__all__ = ["Concluded", "Verification", "conclude", "results_of"]

_OF_DATABASE = ("database", "activity", "history")


@dataclass(frozen=True)
class Concluded:
    """The result of a step's verification."""

    events: tuple[AnyEvent, ...]
    """The events for the journal, in order: surprises, the results of the gates (`Verified`), reopened steps."""
    report: Report
    """The report of the checks with its evidence; it is not saved."""


class Verification:
    """One verification of a step's gates and the gates that must still hold. It changes nothing and writes nothing."""

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
        """Prepare a verification of the current step of `change`.

        `node` is the plan's name of the local node, `directory` holds the journal, and `built_in` replaces the built-in
        checks of racwire.
        """
        self.change = change
        self.step = change.current or change.plan.steps[-1]
        gates = gate_checks(change, self.step, discover if built_in is None else lambda: built_in)
        self.checks = (*gates.values(), _LOOK)
        """The checks that are run: the gates, and a check that reads the nodes each time, to find unexpected boots."""
        groups = {group for check in gates.values() for group in (*check.needs, *check.uses)}
        self._engine = Engine(
            self.checks,
            settings_for(settings, plan_now(change), node, with_database=not groups.isdisjoint(_OF_DATABASE)),
            gatherers=(
                *_gatherers(node, groups),
                gate_facts_gatherer(change.plan, gates.keys(), directory or Path()),
            ),
            password=password,
            udp_outweighs_pings=False,
            advise=lambda findings: continued(findings, change.opened),
        )

    async def events(self) -> AsyncGenerator[Event | Concluded, None]:
        """Yield the engine's events, and `Concluded` last. Close the generator early to cancel the verification."""
        report = None
        async with aclosing(self._engine.events()) as events:
            async for event in events:
                if isinstance(event, RunFinished):
                    report = event.report
                yield event
        if report is not None:
            yield Concluded(conclude(self.change, self.step, report), report)


def settings_for(settings: Settings, plan: Plan, node: str, *, with_database: bool) -> Settings:
    """Return the operator's settings with the nodes and private networks of the plan.

    With Clusterware down only the plan knows them. If no gate needs the database, the result has no database settings,
    and the counters are watched for a shorter time.
    """
    cluster = msgspec.structs.replace(
        settings.cluster,
        grid_home=settings.cluster.grid_home or plan.grid_homes.get(node, ""),
        networks=tuple(dict.fromkeys(network.subnet for network in plan.networks)),
        peers=tuple(other for other in plan.nodes if other != node),
    )
    database = settings.database if with_database else DatabaseSettings()
    return msgspec.structs.replace(settings, cluster=cluster, database=database)


def _gatherers(node: str, groups: Collection[str] = ()) -> tuple[Gatherer, ...]:
    """Return the gatherers for these groups of facts on the local node, whose name the plan has as `node`."""
    return tuple(_named(gatherer, node, groups) for gatherer in GATHERERS)


def _named(gatherer: Gatherer, node: str, groups: Collection[str]) -> Gatherer:
    """Return the gatherer; the one of Clusterware gathers only if a gate needs it, and sets the local node's name.

    With Clusterware down each of its tools takes long to fail. The one of HAIP asks no instance: none may be open yet.
    """
    if gatherer.group == "haip_paths":
        return replace(gatherer, needs=("nodes", "networks"), gather=_haip_paths)
    if gatherer.group == "flows":
        return replace(gatherer, gather=gather_own_flows)
    if gatherer.group != "clusterware":
        return gatherer
    needed = "clusterware" in groups or "managed" in groups

    async def gather(session: Session, cluster: Cluster) -> object:
        found = await gatherer.gather(session, cluster) if needed else NotGathered()
        if node:
            session.local_node = node
        return found

    return replace(gatherer, gather=gather)


async def _haip_paths(session: Session, cluster: Cluster) -> HaipPaths:
    found = await ping_between(haip_addresses(cluster), cluster, session)
    return found or HaipPaths(reason="No two nodes have HAIP addresses on their private NICs.")


def _look(cluster: Cluster) -> tuple[Finding, ...]:
    """Reads every node at each verification: its boot, its MTUs, and its running Oracle processes."""
    return (LOOKED.finding("The nodes were read.", status=Status.PASS, subject="read"),)


_LOOK = Check("look", "What is the state of the nodes?", (), (LOOKED,), _look, ("nodes", "setups", "changing"))


_READ = replace(_LOOK, uses=("nodes", "setups"))
"""Only what a step stops: a verification reads the evidence of the change, too."""


async def read_nodes(change: Change, settings: Settings, node: str) -> AsyncGenerator[Event | ObservedState, None]:
    """Read the nodes right before a step stops something on them: no gate is verified, and no packet is sent.

    Yields the engine's events, and the state of the plan's nodes last; a node that could not be read is left out.
    `node` is the plan's name of the local node. The limits of the groups of facts bound the time.
    """
    settings = settings_for(settings, plan_now(change), node, with_database=False)
    engine = Engine((_READ,), settings, gatherers=_gatherers(node))
    async with aclosing(engine.events()) as events:
        async for event in events:
            yield event
            if isinstance(event, RunFinished):
                yield look_of(event.report.cluster, change.plan)
