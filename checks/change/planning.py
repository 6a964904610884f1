"""Make the plan of a change from the facts of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from string import ascii_lowercase

from checks.change import codes
from checks.change.change_events import ObservedState
from checks.change.change_plan import (
    Accepted,
    KnownWarning,
    Layer,
    Plan,
    PlannedDatabase,
    PlannedNetwork,
    PlannedPluggable,
    Step,
)
from checks.change.layers import haip_addresses, inheriting, kind_of, layers_of, networks_of
from checks.change.mtu_limits import JUMBO, offered, switch_ports
from checks.change.next_boot_limits import fragile_of
from checks.change.obstacles import PlanError
from checks.change.other_users import uses_of
from checks.change.packets import block_size
from checks.change.preflight import all_obstacles
from checks.change.remarks import remarks
from checks.change.stated_network import StatedNetwork, guests_of, maybe_guests
from checks.change.steps import after, before, expected_minutes, outage, outside, people, starting
from checks.change.steps.draft import Draft, Fragile
from checks.change.steps.recording_commands import options_of
from checks.change.switch_order import order_of_hypervisors, order_of_switches
from checks.model.check import Check
from checks.model.facts import Cluster, Clusterware, Database, Managed, PrivateNetwork, Unknown
from checks.model.finding import Finding, Status
from checks.model.report import Report
from checks.model.settings import Settings
from checks.model.wording import all_nodes, listed


def databases_of(cluster: Cluster) -> tuple[PlannedDatabase, ...]:
    """Return each running database with its instance on each node; databases that are down are left out.

    If Clusterware does not list databases, the result is the connected database. `instances` maps nodes to instances.
    """
    managed = cluster.managed
    if isinstance(managed, Managed) and not isinstance(managed.databases, Unknown):
        return tuple(
            PlannedDatabase(
                name=d.name,
                instances={}
                if isinstance(d.instances, Unknown)
                else {node: instance for instance, node in d.instances},
                block_bytes=_block(cluster, d.name),
                services=None if isinstance(d.instances, Unknown) else d.services,
                pluggables=_pluggables(cluster, d.name),
            )
            for d in managed.databases
            if isinstance(d.instances, Unknown) or d.instances
        )
    if isinstance(cluster.database, Database):
        name = cluster.database.name
        instances = {_node(cluster, i.host): i.name for i in cluster.database.instances}
        return (
            PlannedDatabase(
                name=name,
                instances=instances,
                block_bytes=_block(cluster, name),
                pluggables=_pluggables(cluster, name),
            ),
        )
    return ()


def _node(cluster: Cluster, host: str) -> str:
    """Return the node of a host name, in the spelling of Clusterware."""
    return next((n.name for n in cluster.read_nodes() if n.name.casefold() == host.casefold()), host)


def _block(cluster: Cluster, name: str) -> int | None:
    database = cluster.database
    if isinstance(database, Database) and database.name.casefold() == name.casefold():
        return block_size(cluster)
    return None


def _pluggables(cluster: Cluster, name: str) -> tuple[PlannedPluggable, ...] | None:
    """Return the open PDBs of a database; None if it is not the connected one, or they were not read."""
    database = cluster.database
    found = cluster.changing if isinstance(cluster.changing, Unknown) else cluster.changing.pluggables
    if not isinstance(database, Database) or database.name.casefold() != name.casefold() or isinstance(found, Unknown):
        return None
    return tuple(PlannedPluggable(pdb.name, pdb.instance, pdb.mode) for pdb in found)


def needed_checks(found: Iterable[Check]) -> tuple[Check, ...]:
    """Return the checks before a plan: all checks, and one that gathers the facts that only a plan needs."""
    return (
        *found,
        Check(
            "change-plan",
            "Are all facts for the plan of a change known?",
            (),
            (codes.PLAN_READ, codes.PLAN_NOT_READ),
            _plan_facts,
            ("clusterware", "nodes", "networks", "paths", "setups", "managed"),
        ),
    )


def default_target(report: Report) -> int | None:
    """Return the default target MTU; None for InfiniBand, whose fabric decides, or if no port is known."""
    return offered(report.cluster, layers_of(report.cluster, JUMBO))


def make_plan(
    report: Report,
    target: int,
    settings: Settings,
    *,
    id: str,  # noqa: A002
    made_by: str,
    made_at: str,
    directory: Path,
    accepted: tuple[Accepted, ...] = (),
    stated: StatedNetwork,
    reason: str = "",
) -> Plan:
    """Return the plan that sets the private networks of this cluster to `target`. Raises PlanError with the obstacles.

    `accepted` are the obstacles that the operator accepted with a reason, by code. `stated` is what the operator
    states about the network; without kinds of switch, those of the settings hold. The recordings before and after will
    be in `directory`. `reason` is the typed reason for the change.
    """
    cluster = report.cluster
    stated = stated.with_switches(stated.switches or settings.change.switches)
    found = (*stated.unknown(), *all_obstacles(report, target))
    codes = {one.code: one for one in accepted}
    if standing := tuple(o for o in found if not (o.acceptable and o.code in codes)):
        raise PlanError(standing)
    draft = _draft(report, target, settings, id=id, made_by=made_by, directory=directory, stated=stated)
    outweighed = tuple(Accepted(o.code, o.sentence, codes[o.code].reason) for o in found)
    checks_of = {f.code: f.check for f in report.findings}
    draft = replace(draft, excused=frozenset(checks_of[a.code] for a in outweighed if a.code in checks_of))
    setups = [s for s in cluster.read_setups() if isinstance(s.boot_id, str)]
    steps = tuple(expected_minutes.estimated(step, draft) for step in _steps(draft))
    return Plan(
        id=id,
        cluster=cluster_name(cluster),
        kind=draft.kind,
        made_at=made_at,
        made_by=made_by,
        nodes=draft.nodes,
        networks=draft.networks,
        layers=draft.layers,
        grid_homes=draft.grid_homes,
        databases=draft.databases,
        interconnects=interconnect_lines(cluster),
        boot_ids={s.name: str(s.boot_id) for s in setups},
        switches=draft.switches,
        switch_pair=stated.pair,
        guests=draft.guests,
        reason=reason,
        uses=draft.uses,
        remarks=(
            *outside.remarks(draft),
            *remarks(report, target, draft.networks, draft.layers, draft.databases, draft.switches),
            *expected_minutes.outage_remarks(steps),
        ),
        accepted=outweighed,
        known=tuple(KnownWarning(f.code, f.subject) for f in report.findings if f.status is Status.WARN and f.subject),
        record_s=draft.record_s,
        baseline_file=draft.baseline_file,
        after_file=draft.after_file,
        steps=steps,
    )


def look_of(cluster: Cluster, plan: Plan) -> ObservedState:
    """Return the present state of a plan's nodes, as far as they could be read."""
    setups = [setup for setup in cluster.read_setups() if setup.name in plan.nodes]
    mtus: dict[str, dict[str, int]] = {}
    for layer in plan.layers:
        node = cluster.node(layer.node)
        if node and (interface := node.interface(layer.interface)):
            mtus.setdefault(layer.node, {})[layer.interface] = interface.mtu
    return ObservedState(
        boot_ids={s.name: s.boot_id for s in setups if isinstance(s.boot_id, str)},
        mtus=mtus,
        running={s.name: not s.is_down for s in setups if s.is_down is not None},
    )


def next_id(existing: Iterable[str], today: date) -> str:
    """Return a new id, `2026-11-20-a`: the day, and the first unused letters of that day (`a` to `z`, `aa`, ...)."""
    taken = set(existing)
    return next(id for letters in _letters() if (id := f"{today.isoformat()}-{letters}") not in taken)  # noqa: A001


def interconnect_lines(cluster: Cluster) -> tuple[str, ...]:
    """Return the sorted lines of `oifcfg getif` (name, subnet, scope, roles); none if oifcfg was not run."""
    facts = cluster.clusterware
    if isinstance(facts, Unknown) or isinstance(facts.configuration, Unknown):
        return ()
    entries = facts.configuration.interfaces
    return tuple(sorted(f"{e.name}  {e.subnet}  {e.scope}  {','.join(sorted(e.roles))}" for e in entries))


def cluster_name(cluster: Cluster) -> str:
    """Return the cluster's name; if Clusterware does not report it, the names of its nodes."""
    facts = cluster.clusterware
    if isinstance(facts, Clusterware) and isinstance(facts.cluster_name, str) and facts.cluster_name:
        return facts.cluster_name
    return "-".join(sorted(node.name for node in cluster.read_nodes()))


def _draft(
    report: Report,
    target: int,
    settings: Settings,
    *,
    id: str,  # noqa: A002
    made_by: str,
    directory: Path,
    stated: StatedNetwork,
) -> Draft:
    cluster = report.cluster
    nodes = tuple(node.name for node in cluster.read_nodes())
    layers = layers_of(cluster, target)
    neighbours = switch_ports(cluster, layers)
    name = cluster_name(cluster)
    facts = cluster.clusterware
    kinds = tuple(dict.fromkeys((*stated.switches, *stated.kinds.recognised(n for _, n in neighbours))))
    guests = guests_of(cluster, stated, kinds)
    return Draft(
        id=id,
        kind=kind_of(cluster, target),
        nodes=nodes,
        first=cluster.local_node if cluster.local_node in nodes else nodes[0],
        made_by=made_by,
        networks=tuple(_network(network, layers, target) for network in networks_of(cluster)),
        layers=layers,
        grid_homes=_grid_homes(cluster),
        databases=databases_of(cluster),
        grid_owner=facts.grid_home.owner if isinstance(facts, Clusterware) else "",
        neighbours=neighbours,
        kinds=stated.kinds,
        switches=kinds,
        switch_order=order_of_switches(cluster, layers, neighbours, stated, guests),
        guests=guests,
        maybe_guests=maybe_guests(cluster, stated, kinds),
        hosts=stated.hosts,
        hypervisor_order=order_of_hypervisors(guests, stated.kinds.hypervisors),
        uses=uses_of(cluster, layers),
        fragile=tuple(
            Fragile(node, line, wanted) for node in nodes for line, wanted in fragile_of(cluster, node, layers)
        ),
        inheriting=inheriting(cluster, layers),
        not_starting=frozenset(s.name for s in cluster.read_setups() if s.autostart is False),
        has_database=settings.database.is_set and isinstance(cluster.database, Database),
        has_haip=bool(haip_addresses(cluster)),
        has_pack=settings.database.diagnostics_pack,
        record_s=settings.change.record_s,
        baseline_file=str(directory / f"{name}-{id}-before.rec"),
        after_file=str(directory / f"{name}-{id}-after.rec"),
        options=options_of(settings),
    )


def _network(network: PrivateNetwork, layers: Sequence[Layer], target: int) -> PlannedNetwork:
    mtus = [one.mtu_before for one in layers if one.role == "port" and network.name in one.networks]
    return PlannedNetwork(
        name=network.name,
        subnet=network.subnet,
        mtu_before=network.mtu if isinstance(network.mtu, int) else min(mtus),
        mtu_after=target,
        addresses={port.node: port.ip for port in network.ports},
    )


def _steps(draft: Draft) -> Iterator[Step]:
    yield people.agree(draft)
    yield before.baseline(draft)
    yield before.backups(draft)
    yield people.console_access(draft)
    yield from outside.steps(draft, after_stop=False)
    yield outage.stack_down(draft)
    yield from outside.steps(draft, after_stop=True)
    yield outage.set_mtu(draft)
    yield outage.survives_boot(draft)
    yield outage.prove_paths(draft)
    yield starting.first_node(draft)
    yield starting.other_nodes(draft)
    yield from starting.databases(draft)
    yield after.interconnect(draft)
    yield after.compare(draft)
    yield people.sign_off(draft)


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
            Status.UNKNOWN, f"The setup of {listed(missing)} is not known.", subject="not read", nodes=missing
        )
        return
    number = len(cluster.read_nodes())
    yield codes.PLAN_READ.finding(Status.PASS, f"The setup of {all_nodes(number)} was read.", subject="read")


def _letters() -> Iterator[str]:
    before = [""]
    while True:
        before = [stem + letter for stem in before for letter in ascii_lowercase]
        yield from before
