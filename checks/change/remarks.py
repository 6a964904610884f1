"""What the target means on this cluster, and what was found at the start without standing in the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.change.cured import is_cured
from checks.change.layers import is_shared, is_tagged
from checks.change.limits import frame_bytes, not_yet_jumbo, port_name, switch_ports
from checks.change.packets import block_remarks
from checks.change.plan import Layer, PlannedDatabase, PlannedNetwork
from checks.facts import Cluster, Clusterware, NotAsked, Unknown
from checks.finding import Status
from checks.result import Report
from checks.wording import listed

_MOST = 12
"""Findings that are named; the report of the checks has all."""
_FEW = 4


def remarks(
    report: Report,
    target: int,
    networks: Sequence[PlannedNetwork],
    layers: Sequence[Layer],
    databases: Sequence[PlannedDatabase],
) -> tuple[str, ...]:
    """Sentences for the plan: blocks, HAIP, timeouts, layers, switches, databases, findings."""
    cluster = report.cluster
    found = [
        *(block_remarks(cluster, networks[0]) if networks else ()),
        *_haip(cluster, networks),
        *_misscount(cluster),
        *_layers(cluster, layers),
        *_frames(cluster, target, layers),
        *_announced(cluster, target, layers),
        *_databases(cluster, databases),
        *_autostart(cluster),
        *_findings(report, target),
    ]
    return tuple(dict.fromkeys(found))


def _haip(cluster: Cluster, networks: Sequence[PlannedNetwork]) -> Iterator[str]:
    yield (
        "The MTU stands neither in the OCR nor in the GPnP profile, so oifcfg has nothing to do: it must say the same "
        "before and after."
    )
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


def _layers(cluster: Cluster, layers: Sequence[Layer]) -> Iterator[str]:
    bonds = [f"{one.interface} of {one.node}" for one in layers if one.kind in ("bond", "team")]
    if bonds:
        yield (
            f"{_some(bonds)}: a bond uses one member at a time (active-backup) or one for each peer, and each member "
            "has a switch port of its own; prove the paths with each member down in turn."
        )
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


def _frames(cluster: Cluster, target: int, layers: Sequence[Layer]) -> Iterator[str]:
    if any(is_tagged(cluster, layer) for layer in layers):
        yield (
            f"VLAN tags add 4 bytes: the largest frame is {frame_bytes(target, True)} bytes, and the switch ports must "
            "carry it."
        )


def _announced(cluster: Cluster, target: int, layers: Sequence[Layer]) -> Iterator[str]:
    small = [port_name(n) for _, n in switch_ports(cluster, layers) if not_yet_jumbo(n, target)]
    if small:
        yield f"By LLDP {_some(small)} still {'announces' if len(small) == 1 else 'announce'} standard frames."


def _databases(cluster: Cluster, databases: Sequence[PlannedDatabase]) -> Iterator[str]:
    known = {instance for database in databases for instance in database.instances.values()}
    setups = [s for node in cluster.read_nodes() if (s := cluster.setup(node.name))]
    others = [
        f"{instance} on {setup.name}"
        for setup in setups
        if not isinstance(setup.instances, Unknown)
        for instance in setup.instances
        if instance not in known and not instance.startswith(("+", "-"))
    ]
    if others:
        yield f"{_some(others)} runs too, and Clusterware names no database for it: stop it by hand."
    if isinstance(cluster.database, NotAsked | Unknown):
        yield "No database was asked: lost blocks, receive times and pings of the instances are not looked at."


def _autostart(cluster: Cluster) -> Iterator[str]:
    off = [n.name for n in cluster.read_nodes() if (s := cluster.setup(n.name)) and s.autostart is False]
    if off:
        yield f"Clusterware does not start at boot on {_some(off)}, and is left so (crsctl enable crs changes it)."


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


def _some(names: Sequence[str]) -> str:
    each = list(dict.fromkeys(names))
    return listed(each) if len(each) <= _FEW else f"{', '.join(each[:_FEW])} and {len(each) - _FEW} more"
