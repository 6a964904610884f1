"""Open a change: run all checks, report the obstacles, make the plan, and create its journal."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

import msgspec

from checks.change.kinds.experiment import NeedsTestDatabase
from checks.change.kinds.shared_settings import SettingsRequest
from checks.change.plan.change_plan import Accepted, Plan
from checks.change.plan.codes import ASKED
from checks.change.plan.planning import (
    PLAN_CHECK,
    ChangeRequest,
    NamesNetworks,
    PlanContext,
    cluster_name,
    look_of,
    needed_checks,
    next_id,
)
from checks.change.progress.journal_names import name_of, noun_of
from checks.change.progress.state import ChangeError
from checks.change.record.change_journal import ChangeJournal, ChangeJournalError, find, login
from checks.change.record.copies import other_copies
from checks.change.record.journal_files import directory_of
from checks.change.session.change_session import ChangeSession
from checks.change.session.experiment_facts import not_restored, restore_facts
from checks.change.session.gate_facts import open_pluggables
from checks.change.session.open_here import open_here
from checks.change.session.settings_facts import KEPT, SOCKETS, FoundSettings, read_settings
from checks.change.session.worker_threads import run_to_completion
from checks.model.check import Check
from checks.model.facts import Changing, Cluster, JournalCopy, Unknown
from checks.model.finding import Finding, Status
from checks.model.journal import now
from checks.model.report import Report
from checks.model.settings import DatabaseSettings, Settings
from checks.run.check_discovery import Checks
from checks.run.engine import Engine, racwire_version
from checks.run.events import Event, RunFinished
from checks.run.gathering import GATHERERS, Gatherer
from checks.sources.database.secret import Secret
from checks.sources.nodes.session import Session
from checks.sources.nodes.shell import ShellError

_COPIES_LIMIT_S = 5.0
_WITH_DATABASE_S = 420.0
"""Longer than the limit of the database, which is awaited: a slow database must not hide a journal on a peer."""


@dataclass(frozen=True)
class OpeningResult:
    """The result of opening a change: its session."""

    session: ChangeSession


async def open_change(
    settings: Settings,
    found: Checks,
    *,
    request: ChangeRequest,
    accepted: tuple[Accepted, ...] = (),
    password: Secret | None = None,
    reason: str = "",
) -> AsyncGenerator[Event | OpeningResult, None]:
    """Run all checks, plan the requested change, and create its journal.

    Yields the engine's events, then `OpeningResult`. Raises PlanError with the obstacles, ChangeError if another change
    of this cluster is open on this node or on a peer, or if no plan fits the request, and ChangeJournalError if the
    journal cannot be read or written.
    `reason` is the typed reason for the change, such as the number of its ticket.
    Only the journal is written, as the last action. If this node belongs to an open change, no check is run.
    """
    directory = directory_of(settings)
    await asyncio.to_thread(_refuse_open_here, directory, os.uname().nodename)
    engine = Engine(
        (*needed_checks(found), _look_for_copies()),
        settings,
        broken=found.broken,
        gatherers=(
            *GATHERERS,
            _evidence_gatherer(directory, request),
        ),
        password=password,
        udp_outweighs_pings=False,
    )
    report: Report | None = None
    async with aclosing(engine.events()) as events:
        async for event in events:
            if isinstance(event, RunFinished):
                report = event.report
            yield event
    tested: Report | None = None
    if report is not None and isinstance(request, NamesNetworks):
        subnets = request.subnets_to_test(report.cluster)
        if subnets:
            async with aclosing(_test_of(subnets, report, settings, found).events()) as events:
                async for event in events:
                    if isinstance(event, RunFinished):
                        tested = event.report
                    yield event
    if report is not None:
        start = partial(_start, report, tested, settings, directory, request, accepted, password, reason)
        yield OpeningResult(await run_to_completion(start))


_TESTS = ("address-owners", "df-ping", "interfaces", "mtu-consistency", "neighbours", "private-routes", "udp-path")
"""The checks that examine a network before it is registered."""


def _test_of(subnets: tuple[str, ...], report: Report, settings: Settings, found: Checks) -> Engine:
    """Return the run that tests these private networks, on the nodes of the first run."""
    cluster = report.cluster
    peers = tuple(node.name for node in cluster.read_nodes() if node.name != cluster.local_node)
    own = msgspec.structs.replace(settings.cluster, networks=subnets, peers=settings.cluster.peers or peers)
    checks = tuple(check for check in needed_checks(found) if check.id in (*_TESTS, PLAN_CHECK))
    return Engine(checks, msgspec.structs.replace(settings, cluster=own, database=DatabaseSettings()))


def _start(
    report: Report,
    tested: Report | None,
    settings: Settings,
    directory: Path,
    request: ChangeRequest,
    accepted: tuple[Accepted, ...],
    password: Secret | None,
    reason: str,
) -> ChangeSession:
    cluster = report.cluster
    _refuse_second(cluster, directory)
    who = login(cluster.local_node)
    plan = request.plan(
        PlanContext(
            report,
            settings,
            id=next_id(_ids_in_use(cluster, directory), datetime.now().astimezone().date()),
            made_by=who,
            made_at=now(),
            directory=directory,
            accepted=accepted,
            reason=reason,
            tested=tested,
        )
    )
    journal = ChangeJournal.open_new(directory, plan, look_of(cluster, plan), who=who, version=racwire_version())
    return ChangeSession(journal, settings, password, cluster.local_node)


def _refuse_open_here(directory: Path, host: str) -> None:
    """Raise ChangeError if this host is a node of an open change in the directory."""
    if found := open_here(directory, host):
        raise _still_open(*found)


_A = {"change": "A change", "experiment": "An experiment"}


def _still_open(plan: Plan, path: Path) -> ChangeError:
    return ChangeError(
        f"The {plan.noun} {plan.id} of {plan.cluster} is still open ({path}): finish it, roll it back, or "
        "abandon it first."
    )


def _refuse_second(cluster: Cluster, directory: Path) -> None:
    """Raise ChangeError if another change of the cluster is open, ChangeJournalError if a damaged journal may be it."""
    name = cluster_name(cluster)
    for journal in find(directory):
        if journal.change and journal.change.is_open and journal.change.opened.cluster == name:
            raise _still_open(journal.change.opened, journal.path)
        if journal.change is None and journal.path.name.startswith(f"{name_of(name)}-"):
            raise ChangeJournalError(f"{journal.problem} The journal may belong to an open change.")
    for copy in _copies(cluster):
        if not copy.outcome:
            raise ChangeError(
                f"{_A[noun_of(directory)]} of {name} is open on {copy.node} ({copy.path}): continue it there, or copy "
                f"that file into {directory} and continue it here."
            )


def _copies(cluster: Cluster) -> list[JournalCopy]:
    changing = cluster.changing
    return [] if isinstance(changing, Unknown) else [copy for found in changing.copies.values() for copy in found]


def _ids_in_use(cluster: Cluster, directory: Path) -> list[str]:
    """Return the ids of this cluster's changes on this node and on the peers: each change needs a unique id."""
    here = [journal.change.opened.id for journal in find(directory) if journal.change]
    prefix = f"{name_of(cluster_name(cluster))}-"
    return [*here, *(Path(copy.path).stem.removeprefix(prefix) for copy in _copies(cluster))]


def _copies_gatherer(directory: Path, evidence: Collection[str] = (), *, has_points: bool = False) -> Gatherer:
    async def gather(session: Session, cluster: Cluster) -> Changing:
        name = cluster_name(cluster)
        copies: dict[str, tuple[JournalCopy, ...]] = {}
        unasked: dict[str, Unknown] = {}
        settings = FoundSettings()

        async def ask(node: str) -> None:
            try:
                shell = await session.shell(node)
                if node != cluster.local_node:
                    copies[node] = await other_copies(shell, session.journal, directory, name, _COPIES_LIMIT_S)
                if evidence:
                    await read_settings(session, shell, evidence, "", settings)
            except ShellError as error:
                unasked[node] = Unknown(str(error))

        nodes = [n.name for n in cluster.read_nodes() if evidence or n.name != cluster.local_node]
        await asyncio.gather(*map(ask, nodes))
        restore_points, area = await (restore_facts(session) if has_points else not_restored())
        return Changing(
            restore_points=restore_points,
            recovery_area=area,
            copies=copies,
            unasked=unasked,
            pluggables=await open_pluggables(session),
            sysctl_files=settings.files,
            udp_sockets=settings.sockets,
        )

    return Gatherer("changing", ("clusterware", "nodes"), gather, limit_s=_WITH_DATABASE_S, awaits=("database",))


def _evidence_gatherer(directory: Path, request: ChangeRequest) -> Gatherer:
    """Return the gatherer of journals on the peers; for a change of settings, also of what the plan needs."""
    if isinstance(request, NeedsTestDatabase):
        return _copies_gatherer(directory, has_points=True)
    return _copies_gatherer(directory, *([(KEPT, SOCKETS)] if isinstance(request, SettingsRequest) else []))


def _look_for_copies() -> Check:
    def judge(cluster: Cluster) -> tuple[Finding, ...]:
        return (
            ASKED.finding(
                "The other nodes were queried for journals of changes.", status=Status.PASS, subject="queried"
            ),
        )

    return Check("change-journals", "Is a change open on another node?", (), (ASKED,), judge, ("changing",))
