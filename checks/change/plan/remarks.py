"""Remarks of a plan: the effect of the target on this cluster, and findings that are no obstacles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.change.plan.block_packets import block_remarks, block_remarks_back
from checks.change.plan.change_plan import Layer, Plan, PlannedDatabase, PlannedNetwork
from checks.change.plan.fixed_findings import is_fixed
from checks.change.plan.headroom import headroom
from checks.change.plan.layers import interface_of, is_shared
from checks.model.facts import Cluster, Clusterware, NotAsked, Unknown
from checks.model.finding import Finding, Status
from checks.model.own_command import Text
from checks.model.report import Report
from checks.model.vendors import PRACTICE
from checks.model.wording import counted, few

_MOST = 12
"""The number of findings that are listed; the report of the checks has all."""
_NOT_IN_THE_REGISTRY = (
    "Neither the OCR nor the GPnP profile contains the MTU, so oifcfg needs no change: its output must be the same "
    "before and after."
)


def remarks(
    report: Report,
    target: int,
    networks: Sequence[PlannedNetwork],
    layers: Sequence[Layer],
    databases: Sequence[PlannedDatabase],
) -> tuple[str, ...]:
    """Return the sentences of a plan about blocks, HAIP, timeouts, layers, databases and findings."""
    cluster = report.cluster
    fixed = [f for f in report.findings if f.status is Status.FAIL and is_fixed(f, cluster, target)]
    found = [
        *block_remarks(cluster, networks),
        *_haip(cluster, networks),
        *_misscount(cluster),
        *_layers(cluster, layers),
        *headroom(cluster, target, layers),
        *_databases(cluster, databases),
        *_autostart(cluster),
        *finding_remarks(report, fixed, "fixed by this change"),
    ]
    return tuple(dict.fromkeys(found))


def remarks_back(
    networks: Sequence[PlannedNetwork],
    layers: Sequence[Layer],
    databases: Sequence[PlannedDatabase],
) -> tuple[str, ...]:
    """Return the sentences of a rollback plan, from the recorded facts only."""
    found = [
        *block_remarks_back(networks, databases),
        _NOT_IN_THE_REGISTRY,
        *_bonds(layers),
    ]
    return tuple(dict.fromkeys(found))


def operator_remarks(plan: Plan) -> Iterator[Text]:
    """Yield the remarks of a plan for the person who carries it out, who also needs to know how to use the practice
    cluster."""
    if PRACTICE in plan.switches:
        yield (
            "This is the practice cluster: `racwire lab shell rac1` opens a root shell on rac1. Type the commands "
            "under 'On the practice switch' outside that shell."
        )
    yield from plan.remarks


def _haip(cluster: Cluster, networks: Sequence[PlannedNetwork]) -> Iterator[str]:
    yield _NOT_IN_THE_REGISTRY
    node = cluster.node(cluster.local_node)
    names = {p.interface for n in (cluster.networks if isinstance(cluster.networks, tuple) else ()) for p in n.ports}
    haips = [a for i in (node.interfaces if node else ()) if i.name in names for a in i.addresses if a.is_link_local]
    if haips:
        why = " HAIP can move to any private network, so all must have the same MTU." if len(networks) > 1 else ""
        yield (
            f"HAIP has {'one address' if len(haips) == 1 else f'{len(haips)} addresses'} from 169.254.0.0/16 on "
            f"{cluster.local_node}, each with the MTU of its interface.{why}"
        )


def _misscount(cluster: Cluster) -> Iterator[str]:
    facts = cluster.clusterware
    if isinstance(facts, Clusterware) and isinstance(facts.misscount_s, int):
        yield (
            f"CSS evicts a node that sends no heartbeat for {facts.misscount_s} s (misscount). A NIC may drop its link "
            "for up to 10 s when its MTU is set."
        )


def _bonds(layers: Sequence[Layer]) -> Iterator[str]:
    bonds = [f"{one.interface} of {one.node}" for one in layers if one.kind in ("bond", "team")]
    if bonds:
        yield (
            f"{few(bonds)}: a bond uses one member at a time (active-backup) or one for each peer, and each member "
            "has its own switch port. Prove the paths with each member down in turn."
        )


def _layers(cluster: Cluster, layers: Sequence[Layer]) -> Iterator[str]:
    yield from _bonds(layers)
    for layer in layers:
        node, interface = cluster.node(layer.node), interface_of(cluster, layer)
        ours = frozenset(one.interface for one in layers if one.node == layer.node)
        if node and interface and layer.role not in ("port", "member") and is_shared(node, interface, ours):
            if layer.mtu_after > layer.mtu_before:
                yield (
                    f"{layer.interface} of {layer.node} also carries networks that are not private. Raising it does no "
                    "harm: the MTU of their interfaces above it is not changed."
                )
            else:
                yield (
                    f"{layer.interface} of {layer.node} also carries networks that are not private, so it is not "
                    "lowered."
                )


def _databases(cluster: Cluster, databases: Sequence[PlannedDatabase]) -> Iterator[str]:
    known = {instance for database in databases for instance in database.instances.values()}
    others = [
        f"{instance} on {setup.name}"
        for setup in cluster.read_setups()
        if not isinstance(setup.instances, Unknown)
        for instance in setup.instances
        if instance not in known and not instance.startswith(("+", "-"))
    ]
    if others:
        verb = "runs" if len(others) == 1 else "run"
        yield f"{few(others)} also {verb}, but Clusterware has no database for it: stop it by hand."
    if isinstance(cluster.database, NotAsked | Unknown):
        yield "No database is connected: lost blocks, receive times and pings of the instances are not checked."


def _autostart(cluster: Cluster) -> Iterator[str]:
    off = [n.name for n in cluster.read_nodes() if (s := cluster.setup(n.name)) and s.autostart is False]
    if off:
        yield (
            f"Clusterware does not start at boot on {few(off)}. The plan leaves this unchanged (crsctl enable crs "
            "enables it)."
        )


def finding_remarks(report: Report, fixed: Sequence[Finding] = (), why: str = "") -> Iterator[str]:
    """Yield the findings of the checks before the change. `why` says what the change has to do with those in `fixed`:
    `the reason for this change`."""
    yield from (f"Found at the start, and {why}: {finding.title}" for finding in fixed)
    others = [f for f in report.findings if f.status is Status.WARN and f.code != "IC-GRID-005" and f not in fixed]
    others += [f for f in report.findings if f.status is Status.UNKNOWN]
    for finding in others[:_MOST]:
        status = "unknown" if finding.status is Status.UNKNOWN else "a warning"
        yield f"At the start {status}: {finding.title} ({finding.code})"
    if len(others) > _MOST:
        more = counted(len(others) - _MOST, "more finding")
        yield f"At the start there were {more} with WARN or UNKNOWN; racwire check lists all."
