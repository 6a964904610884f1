"""Make the plan of a change from the facts of a cluster: the part that all kinds of change share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from string import ascii_lowercase
from typing import Protocol, runtime_checkable

from checks.change.plan import codes
from checks.change.plan.change_plan import (
    Accepted,
    ChangeKind,
    KnownWarning,
    Layer,
    Plan,
    PlannedDatabase,
    PlannedNetwork,
    PlannedPluggable,
    Step,
)
from checks.change.plan.layers import haip_addresses, interface_of, networks_of
from checks.change.plan.obstacles import Obstacle, PlanError
from checks.change.plan.other_users import uses_of
from checks.change.plan.registered_networks import interconnect_lines
from checks.change.plan.socket_buffers import largest_buffers
from checks.change.progress.change_events import ObservedState
from checks.change.steps import expected_minutes
from checks.change.steps.draft import Draft
from checks.change.steps.recording_commands import options_of
from checks.model.check import Check
from checks.model.facts import Cluster, Clusterware, Database, PrivateNetwork, Unknown, part_of
from checks.model.finding import Finding, Status
from checks.model.own_command import Text
from checks.model.report import Report
from checks.model.settings import Settings
from checks.model.wording import all_nodes, listed


def databases_of(cluster: Cluster) -> tuple[PlannedDatabase, ...]:
    """Return each running database with its instance on each node; databases that are down are left out.

    If Clusterware does not list databases, the result is the connected database. `instances` maps nodes to instances.
    """
    managed_ones = part_of(cluster.managed, lambda managed: managed.databases)
    if not isinstance(managed_ones, Unknown):
        running = [one for one in managed_ones if isinstance(one.instances, Unknown) or one.instances]
        return tuple(
            _planned_database(cluster, one.name, {}, None)
            if isinstance(one.instances, Unknown)
            else _planned_database(cluster, one.name, {node: name for name, node in one.instances}, one.services)
            for one in running
        )
    if isinstance(cluster.database, Database):
        instances = {_node(cluster, i.host): i.name for i in cluster.database.instances}
        return (_planned_database(cluster, cluster.database.name, instances, None),)
    return ()


def _planned_database(
    cluster: Cluster, name: str, instances: dict[str, str], services: tuple[tuple[str, str], ...] | None
) -> PlannedDatabase:
    """Return a database, with its block size and its open PDBs if it is the connected one."""
    if not isinstance(cluster.database, Database) or cluster.database.name.casefold() != name.casefold():
        return PlannedDatabase(name=name, instances=instances, services=services)
    found = part_of(cluster.changing, lambda changing: changing.pluggables)
    pdbs = None if isinstance(found, Unknown) else tuple(PlannedPluggable(p.name, p.instance, p.mode) for p in found)
    return PlannedDatabase(
        name=name, instances=instances, block_bytes=cluster.block_size_bytes, services=services, pluggables=pdbs
    )


def _node(cluster: Cluster, host: str) -> str:
    """Return the node of a host name, in the spelling of Clusterware."""
    return next((n.name for n in cluster.read_nodes() if n.name.casefold() == host.casefold()), host)


PLAN_CHECK = "change-plan"
"""The check that gathers the facts for a plan."""


def needed_checks(found: Iterable[Check]) -> tuple[Check, ...]:
    """Return the checks before a plan: all checks, and one that gathers the facts that only a plan needs."""
    return (
        *found,
        Check(
            PLAN_CHECK,
            "Are all facts for the plan of a change known?",
            (),
            (codes.PLAN_READ, codes.PLAN_NOT_READ),
            _plan_facts,
            ("clusterware", "nodes", "networks", "paths", "setups", "managed"),
        ),
    )


@dataclass(frozen=True)
class PlanContext:
    """What a plan is made from, next to what the operator requests."""

    report: Report
    """The checks before the change, with all facts."""
    settings: Settings
    id: str
    made_by: str
    """The login and node: `oracle@rac1`."""
    made_at: str
    directory: Path
    """The directory of the journal and of the recordings."""
    accepted: tuple[Accepted, ...] = ()
    """The obstacles that the operator accepted with a reason, by code."""
    reason: str = ""
    """The typed reason for the change, such as the number of its ticket."""
    tested: Report | None = None
    """The checks of the networks that the request names; None if it names none, or they are not there."""


@runtime_checkable
class NamesNetworks(Protocol):
    """A request that names a network which Clusterware does not know yet: it is tested before the plan."""

    def subnets_to_test(self, cluster: Cluster) -> tuple[str, ...]:
        """Return all private networks with the named one; empty if there is nothing to test."""


class ChangeRequest(Protocol):
    """What the operator requests: a kind of change, and its options."""

    def plan(self, context: PlanContext) -> Plan:
        """Return the plan. Raises PlanError with the obstacles, ChangeError for a request that fits no cluster."""


def accept(context: PlanContext, found: Iterable[Obstacle]) -> tuple[Accepted, ...]:
    """Return the obstacles that the operator accepted. Raises PlanError with the obstacles that remain."""
    all_found = tuple(found)
    reasons = {one.code: one.reason for one in context.accepted}
    if standing := tuple(o for o in all_found if not (o.acceptable and o.code in reasons)):
        raise PlanError(standing)
    return tuple(Accepted(o.code, o.sentence, reasons[o.code]) for o in all_found)


def draft_of(
    context: PlanContext,
    kind: ChangeKind,
    layers: tuple[Layer, ...],
    outweighed: Iterable[Accepted],
) -> Draft:
    """Return the draft of a plan with what every kind of change needs."""
    report, settings = context.report, context.settings
    cluster = report.cluster
    nodes = tuple(node.name for node in cluster.read_nodes())
    name = cluster_name(cluster)
    facts = cluster.clusterware
    checks_of = {f.code: f.check for f in report.findings}
    return Draft(
        id=context.id,
        kind=kind,
        nodes=nodes,
        first=cluster.local_node if cluster.local_node in nodes else nodes[0],
        made_by=context.made_by,
        networks=tuple(_planned(network, layers) for network in networks_of(cluster)),
        layers=layers,
        grid_homes=_grid_homes(cluster),
        databases=databases_of(cluster),
        grid_owner=facts.grid_home.owner if isinstance(facts, Clusterware) else "",
        uses=uses_of(cluster, layers),
        not_starting=frozenset(s.name for s in cluster.read_setups() if s.autostart is False),
        has_database=settings.database.is_set and isinstance(cluster.database, Database),
        has_haip=bool(haip_addresses(cluster)),
        has_pack=settings.database.diagnostics_pack,
        excused=frozenset(checks_of[a.code] for a in outweighed if a.code in checks_of),
        record_s=settings.change.record_s,
        baseline_file=str(context.directory / f"{name}-{context.id}-before.rec"),
        after_file=str(context.directory / f"{name}-{context.id}-after.rec"),
        options=options_of(settings),
    )


def plan_of(
    context: PlanContext,
    draft: Draft,
    steps: Iterable[Step],
    outweighed: tuple[Accepted, ...],
    remarks: Iterable[Text],
    *,
    goal: str = "",
) -> Plan:
    """Return the plan of a draft: with the expected minutes of its steps, and what was so when it was made."""
    report = context.report
    cluster = report.cluster
    estimated = tuple(expected_minutes.estimated(step, draft) for step in steps)
    return Plan(
        id=context.id,
        cluster=cluster_name(cluster),
        kind=draft.kind,
        goal=goal,
        made_at=context.made_at,
        made_by=context.made_by,
        nodes=draft.nodes,
        node=draft.node,
        networks=draft.networks,
        layers=draft.layers,
        grid_homes=draft.grid_homes,
        values=draft.values,
        databases=draft.databases,
        interconnects=known_lines(cluster),
        boot_ids={s.name: s.boot_id for s in cluster.read_setups() if isinstance(s.boot_id, str)},
        switches=draft.switches,
        guests=draft.guests,
        reason=context.reason,
        uses=draft.uses,
        remarks=(*remarks, *expected_minutes.outage_remarks(estimated)),
        accepted=outweighed,
        known=tuple(KnownWarning(f.code, f.subject) for f in report.findings if f.status is Status.WARN and f.subject),
        record_s=draft.record_s,
        baseline_file=draft.baseline_file,
        after_file=draft.after_file,
        steps=estimated,
    )


def _planned(network: PrivateNetwork, layers: Sequence[Layer]) -> PlannedNetwork:
    """Return a private network with the MTU that its ports get."""
    ports = [one for one in layers if one.role == "port" and network.name in one.networks]
    before = network.mtu if isinstance(network.mtu, int) else min(port.mtu_before for port in ports)
    is_changed = any(port.mtu_after != port.mtu_before for port in ports)
    return PlannedNetwork(
        name=network.name,
        subnet=network.subnet,
        mtu_before=before,
        mtu_after=min(port.mtu_after for port in ports) if is_changed else before,
        addresses={port.node: port.ip for port in network.ports},
    )


def look_of(cluster: Cluster, plan: Plan) -> ObservedState:
    """Return the present state of a plan's nodes, as far as they could be read."""
    setups = [setup for setup in cluster.read_setups() if setup.name in plan.nodes]
    mtus: dict[str, dict[str, int]] = {}
    for layer in plan.layers:
        if interface := interface_of(cluster, layer):
            mtus.setdefault(layer.node, {})[layer.interface] = interface.mtu
    return ObservedState(
        boot_ids={s.name: s.boot_id for s in setups if isinstance(s.boot_id, str)},
        mtus=mtus,
        running={s.name: not s.is_down for s in setups if s.is_down is not None},
        instances={s.name: tuple(s.instances) for s in setups if not isinstance(s.instances, Unknown)},
        values=_values_of(cluster, plan),
        buffers=largest_buffers(cluster, plan),
        interconnects=known_lines(cluster),
    )


def _values_of(cluster: Cluster, plan: Plan) -> dict[str, dict[str, str]]:
    """Return the present kernel settings that the plan changes, as far as they could be read."""
    found: dict[str, dict[str, str]] = {}
    for value in plan.values:
        node = cluster.node(value.node)
        if node and isinstance(now := node.sysctls.get(value.key), str):
            found.setdefault(value.node, {})[value.key] = now
    return found


def next_id(existing: Iterable[str], today: date) -> str:
    """Return a new id, `2026-11-20-a`: the day, and the first unused letters of that day (`a` to `z`, `aa`, ...)."""
    taken = set(existing)
    return next(id for letters in _letters() if (id := f"{today.isoformat()}-{letters}") not in taken)  # noqa: A001


def known_lines(cluster: Cluster) -> tuple[str, ...]:
    """Return the sorted lines of `oifcfg getif`; none if oifcfg was not run."""
    lines = interconnect_lines(cluster)
    return () if isinstance(lines, Unknown) else lines


def cluster_name(cluster: Cluster) -> str:
    """Return the cluster's name; if Clusterware does not report it, the names of its nodes."""
    facts = cluster.clusterware
    if isinstance(facts, Clusterware) and isinstance(facts.cluster_name, str) and facts.cluster_name:
        return facts.cluster_name
    return "-".join(sorted(node.name for node in cluster.read_nodes()))


def _grid_homes(cluster: Cluster) -> dict[str, str]:
    facts = cluster.clusterware
    usual = facts.grid_home.path if isinstance(facts, Clusterware) else ""
    homes = {node.name: usual for node in cluster.read_nodes()}
    homes |= {s.name: s.grid_home for s in cluster.read_setups() if isinstance(s.grid_home, str) and s.grid_home}
    return {node: home for node, home in homes.items() if home}


def _plan_facts(cluster: Cluster) -> Iterator[Finding]:
    """Reads the facts for a plan on every node: interfaces, their boot configuration, running processes and backups."""
    missing = [n.name for n in cluster.unread_nodes()]
    missing += [n.name for n in cluster.read_nodes() if cluster.setup(n.name) is None]
    if missing:
        yield codes.PLAN_NOT_READ.finding(
            f"The setup of {listed(missing)} is not known.", status=Status.UNKNOWN, subject="not read", nodes=missing
        )
        return
    number = len(cluster.read_nodes())
    yield codes.PLAN_READ.finding(f"The setup of {all_nodes(number)} was read.", status=Status.PASS, subject="read")


def _letters() -> Iterator[str]:
    before = [""]
    while True:
        before = [stem + letter for stem in before for letter in ascii_lowercase]
        yield from before
