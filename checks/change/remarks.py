"""What the target means on this cluster, and what was found at the start without standing in the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.change.change_plan import Layer, PlannedDatabase, PlannedNetwork
from checks.change.cured import is_cured
from checks.change.headroom import headroom
from checks.change.layers import is_shared
from checks.change.packets import block_remarks, block_remarks_back
from checks.change.vendors import PRACTICE
from checks.model.facts import Cluster, Clusterware, NotAsked, Unknown
from checks.model.finding import Status
from checks.model.report import Report
from checks.model.wording import few

_MOST = 12
"""Findings that are named; the report of the checks has all."""
_NOT_IN_THE_REGISTRY = (
    "The MTU stands neither in the OCR nor in the GPnP profile, so oifcfg has nothing to do: it must say the same "
    "before and after."
)


def remarks(
    report: Report,
    target: int,
    networks: Sequence[PlannedNetwork],
    layers: Sequence[Layer],
    databases: Sequence[PlannedDatabase],
    switches: Sequence[str] = (),
) -> tuple[str, ...]:
    """Sentences for the plan: blocks, HAIP, timeouts, layers, switches, databases, findings."""
    cluster = report.cluster
    found = [
        *_practice(switches),
        *block_remarks(cluster, networks),
        *_haip(cluster, networks),
        *_misscount(cluster),
        *_layers(cluster, layers),
        *headroom(cluster, target, layers),
        *_databases(cluster, databases),
        *_autostart(cluster),
        *_findings(report, target),
    ]
    return tuple(dict.fromkeys(found))


def remarks_back(
    networks: Sequence[PlannedNetwork],
    layers: Sequence[Layer],
    databases: Sequence[PlannedDatabase],
    switches: Sequence[str] = (),
) -> tuple[str, ...]:
    """The same for a way back, which is made of what was recorded and of nothing that is looked at now."""
    found = [
        *_practice(switches),
        *block_remarks_back(networks, databases),
        _NOT_IN_THE_REGISTRY,
        *_bonds(layers),
    ]
    return tuple(dict.fromkeys(found))


def _practice(switches: Sequence[str]) -> Iterator[str]:
    if PRACTICE in switches:
        yield (
            "This is the practice cluster: `racwire lab shell rac1` is a root shell on rac1; what stands under 'On the "
            "practice switch' is typed outside it."
        )


def _haip(cluster: Cluster, networks: Sequence[PlannedNetwork]) -> Iterator[str]:
    yield _NOT_IN_THE_REGISTRY
    node = cluster.node(cluster.local_node)
    names = {p.interface for n in (cluster.networks if isinstance(cluster.networks, tuple) else ()) for p in n.ports}
    haips = [a for i in (node.interfaces if node else ()) if i.name in names for a in i.addresses if a.is_haip]
    if haips:
        why = " It can move to any private network, so all of them must have one MTU." if len(networks) > 1 else ""
        yield (
            f"HAIP has {'one address' if len(haips) == 1 else f'{len(haips)} addresses'} from 169.254.0.0/16 on "
            f"{cluster.local_node}, each with the MTU of its interface.{why}"
        )


def _misscount(cluster: Cluster) -> Iterator[str]:
    facts = cluster.clusterware
    if isinstance(facts, Clusterware) and isinstance(facts.misscount_s, int):
        yield (
            f"CSS evicts a node that sends no heartbeat for {facts.misscount_s} s (misscount); a NIC that is set to "
            "another MTU may drop its link for up to 10 s."
        )


def _bonds(layers: Sequence[Layer]) -> Iterator[str]:
    bonds = [f"{one.interface} of {one.node}" for one in layers if one.kind in ("bond", "team")]
    if bonds:
        yield (
            f"{few(bonds)}: a bond uses one member at a time (active-backup) or one for each peer, and each member "
            "has a switch port of its own; prove the paths with each member down in turn."
        )


def _layers(cluster: Cluster, layers: Sequence[Layer]) -> Iterator[str]:
    yield from _bonds(layers)
    for layer in layers:
        node = cluster.node(layer.node)
        interface = node.interface(layer.interface) if node else None
        ours = frozenset(one.interface for one in layers if one.node == layer.node)
        if node and interface and layer.role not in ("port", "member") and is_shared(node, interface, ours):
            if layer.mtu_after > layer.mtu_before:
                yield (
                    f"{layer.interface} of {layer.node} also carries what is not private: raising it harms nothing, "
                    "and the MTU of the interfaces above it that are not private is not touched."
                )
            else:
                yield f"{layer.interface} of {layer.node} also carries what is not private, and is not lowered."


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
        yield f"{few(others)} runs too, and Clusterware names no database for it: stop it by hand."
    if isinstance(cluster.database, NotAsked | Unknown):
        yield "No database was asked: lost blocks, receive times and pings of the instances are not looked at."


def _autostart(cluster: Cluster) -> Iterator[str]:
    off = [n.name for n in cluster.read_nodes() if (s := cluster.setup(n.name)) and s.autostart is False]
    if off:
        yield f"Clusterware does not start at boot on {few(off)}, and is left so (crsctl enable crs changes it)."


def _findings(report: Report, target: int) -> Iterator[str]:
    cured = [f for f in report.findings if f.status is Status.FAIL and is_cured(f, report.cluster, target)]
    yield from (f"Found at the start, and cured by this change: {f.title}" for f in cured)
    told = [f for f in report.findings if f.status is Status.WARN and f.code != "IC-GRID-005"]
    told += [f for f in report.findings if f.status is Status.UNKNOWN]
    for finding in told[:_MOST]:
        word = "not known" if finding.status is Status.UNKNOWN else "a warning"
        yield f"At the start {word}: {finding.title} ({finding.code})"
    if len(told) > _MOST:
        yield f"At the start {len(told) - _MOST} more warnings and unknowns; racwire check has them all."
