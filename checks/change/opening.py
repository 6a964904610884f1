"""Open a change: run all checks, report the obstacles, make the plan, and create its journal."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from checks.change.change_evidence import open_pluggables
from checks.change.change_journal import ChangeJournal, ChangeJournalError, find, login
from checks.change.change_plan import Accepted, Plan
from checks.change.change_session import ChangeSession
from checks.change.codes import ASKED
from checks.change.copies import other_copies
from checks.change.journal_files import directory_of
from checks.change.journal_names import name_of
from checks.change.planning import cluster_name, default_target, look_of, make_plan, needed_checks, next_id
from checks.change.state import ChangeError
from checks.change.stated_network import StatedNetwork
from checks.change.vendors import Kinds
from checks.change.vendors_file import VendorsFileError, load_kinds
from checks.change.verifying import node_here
from checks.change.worker_threads import run_to_completion
from checks.model.check import Check
from checks.model.facts import Changing, Cluster, JournalCopy, Unknown
from checks.model.finding import Finding, Status
from checks.model.journal import now
from checks.model.report import Report
from checks.model.settings import Settings
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
    target: int | None = None,
    accepted: tuple[Accepted, ...] = (),
    stated: StatedNetwork | None = None,
    password: Secret | None = None,
    reason: str = "",
) -> AsyncGenerator[Event | OpeningResult, None]:
    """Run all checks, plan the change (to the default target if `target` is None), and create its journal.

    Yields the engine's events, then `OpeningResult`. Raises PlanError with the obstacles, ChangeError if another change
    of this cluster is open on this node or on a peer, or if the file of switch kinds has a mistake, and
    ChangeJournalError if the journal cannot be read or written.
    `reason` is the typed reason for the change, such as the number of its ticket.
    Only the journal is written, as the last action. If this node belongs to an open change, no check is run.
    """
    directory = directory_of(settings)
    outside = stated or StatedNetwork(_kinds(settings))
    await asyncio.to_thread(_refuse_open_here, directory, os.uname().nodename)
    engine = Engine(
        (*needed_checks(found), _look_for_copies()),
        settings,
        broken=found.broken,
        gatherers=(*GATHERERS, _copies_gatherer(directory)),
        password=password,
        udp_outweighs_pings=False,
    )
    report: Report | None = None
    async with aclosing(engine.events()) as events:
        async for event in events:
            if isinstance(event, RunFinished):
                report = event.report
            yield event
    if report is not None:
        start = partial(_start, report, settings, directory, target, accepted, outside, password, reason)
        yield OpeningResult(await run_to_completion(start))


def _kinds(settings: Settings) -> Kinds:
    try:
        return load_kinds(settings.change.switch_kinds)
    except VendorsFileError as error:
        raise ChangeError(str(error)) from error


def _start(
    report: Report,
    settings: Settings,
    directory: Path,
    target: int | None,
    accepted: tuple[Accepted, ...],
    stated: StatedNetwork,
    password: Secret | None,
    reason: str,
) -> ChangeSession:
    cluster = report.cluster
    _refuse_second(cluster, directory)
    wanted = default_target(report) if target is None else target
    if wanted is None:
        raise ChangeError("racwire has no default target MTU for this cluster: specify the MTU with --to.")
    who = login(cluster.local_node)
    plan = make_plan(
        report,
        wanted,
        settings,
        id=next_id(_ids_in_use(cluster, directory), datetime.now().astimezone().date()),
        made_by=who,
        made_at=now(),
        directory=directory,
        accepted=accepted,
        stated=stated,
        reason=reason,
    )
    journal = ChangeJournal.open_new(directory, plan, look_of(cluster, plan), who=who, version=racwire_version())
    return ChangeSession(journal, settings, password, cluster.local_node)


def _refuse_open_here(directory: Path, host: str) -> None:
    """Raise ChangeError if this host is a node of an open change in the directory.

    The journal names its nodes, so this check does not need Clusterware.
    """
    for journal in find(directory):
        if journal.change and journal.change.is_open and node_here(plan := journal.change.opened, host) in plan.nodes:
            raise _still_open(plan, journal.path)


def _still_open(plan: Plan, path: Path) -> ChangeError:
    return ChangeError(
        f"The change {plan.id} of {plan.cluster} is still open ({path}): finish it, roll it back, or abandon it first."
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
                f"A change of {name} is open on {copy.node} ({copy.path}): continue it there, or copy that file "
                f"into {directory} and continue it here."
            )


def _copies(cluster: Cluster) -> list[JournalCopy]:
    changing = cluster.changing
    return [] if isinstance(changing, Unknown) else [copy for found in changing.copies.values() for copy in found]


def _ids_in_use(cluster: Cluster, directory: Path) -> list[str]:
    """Return the ids of this cluster's changes on this node and on the peers: each change needs a unique id."""
    here = [journal.change.opened.id for journal in find(directory) if journal.change]
    prefix = f"{name_of(cluster_name(cluster))}-"
    return [*here, *(Path(copy.path).stem.removeprefix(prefix) for copy in _copies(cluster))]


def _copies_gatherer(directory: Path) -> Gatherer:
    async def gather(session: Session, cluster: Cluster) -> Changing:
        name = cluster_name(cluster)
        copies: dict[str, tuple[JournalCopy, ...]] = {}
        unasked: dict[str, Unknown] = {}

        async def ask(node: str) -> None:
            try:
                shell = await session.shell(node)
                copies[node] = await other_copies(shell, session.journal, directory, name, _COPIES_LIMIT_S)
            except ShellError as error:
                unasked[node] = Unknown(str(error))

        await asyncio.gather(*(ask(n.name) for n in cluster.read_nodes() if n.name != cluster.local_node))
        return Changing(copies=copies, unasked=unasked, pluggables=await open_pluggables(session))

    return Gatherer("changing", ("clusterware", "nodes"), gather, limit_s=_WITH_DATABASE_S, awaits=("database",))


def _look_for_copies() -> Check:
    def judge(cluster: Cluster) -> tuple[Finding, ...]:
        return (ASKED.finding(Status.PASS, "The other nodes were queried for journals of changes.", subject="queried"),)

    return Check("change-journals", "Is a change open on another node?", (), (ASKED,), judge, ("changing",))
