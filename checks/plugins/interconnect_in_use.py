"""Does each instance really use the private networks that are configured, and only those?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations

from checks.facts import Cluster, Clusterware, Database, Unknown
from checks.finding import Finding, Remedy, Status
from checks.plugin import check
from checks.plugins._instances import (
    Unseen,
    instance_name,
    instance_names,
    interconnects_of,
    nodes_of,
    sql,
    unseen_findings,
)
from checks.plugins._places_in_use import PARAMETER, Place, known_networks, places
from checks.plugins._use_kinds import APART, AS_MEANT, BY_PARAMETER, ELSEWHERE, FEWER, HAIP_BY_SOME, NOT_KNOWN, PUBLIC
from checks.wording import counted, listed

_STATEMENTS = ("interconnects", "parameters")
_MOST_HAIP_NICS = 4
_ENGINEERED = re.compile(r"(bondib|[a-z]{0,2}ib|[a-z]{0,2}re)\d.*")
"""How the private interfaces of Exadata and its kin are called: bondib0, ib1, re0, stre0, clre1."""


@check(
    "interconnect-in-use",
    question="Does every instance use the private networks that are configured, and no other?",
    needs=("database",),
    uses=("clusterware", "nodes", "networks"),
    kinds=(AS_MEANT, PUBLIC, ELSEWHERE, BY_PARAMETER, HAIP_BY_SOME, FEWER, APART, NOT_KNOWN),
)
def interconnect_in_use(cluster: Cluster) -> Iterator[Finding]:
    """Compares the interconnects that each instance says it uses with what oifcfg configures and the nodes have.

    None may be public, each must lie on a private network (a HAIP address on the interface below it), all instances
    must share one, and as many must be in use as there are. The parameter cluster_interconnects bypasses HAIP; on
    Exadata and its kin it is set on purpose. Without Clusterware to ask, only what the instances say themselves and
    the parameter are judged.
    """
    database = cluster.database
    if not isinstance(database, Database):
        return
    if isinstance(database.interconnects, Unknown):
        yield _nothing_known(cluster, database.interconnects)
        return
    used = {i.number: places(cluster, interconnects_of(cluster, i.number)) for i in database.instances}
    missing = [Unseen(u.number, u.reason) for u in database.unasked]
    missing += [Unseen(n, "GV$CLUSTER_INTERCONNECTS has no row of it.") for n, found in used.items() if not found]
    used = {n: found for n, found in used.items() if found}
    faults = [f for n, found in used.items() for f in _instance(cluster, database, n, found)]
    faults += [*_haip_by_some(cluster, database, used), *_apart(cluster, used)]
    yield from faults
    if used and not any(f.status in (Status.FAIL, Status.WARN) for f in faults):
        yield _as_meant(cluster, used)
    yield from unseen_findings(cluster, NOT_KNOWN, "The interconnect that is in use at {}", missing, ("interconnects",))
    if not used and not missing:
        yield _nothing_known(cluster, Unknown("No instance has a row in GV$CLUSTER_INTERCONNECTS."))


def _nothing_known(cluster: Cluster, why: Unknown) -> Finding:
    return NOT_KNOWN.finding(
        Status.UNKNOWN,
        "Which interconnects the instances use could not be read.",
        subject="not known",
        seen=(why.reason,),
        next=[Remedy("Mend the reason named above.", ("racwire grants",))],
        evidence=sql(cluster, "interconnects"),
    )


# --- one instance -----------------------------------------------------------------------------------------------------


def _instance(cluster: Cluster, database: Database, number: int, found: tuple[Place, ...]) -> Iterator[Finding]:
    name = instance_name(cluster, number)
    public = [p for p in found if p.public]
    elsewhere = [p for p in found if not p.public and p.network is None and known_networks(cluster)]
    by_parameter = _set_by_parameter(database, number, found)
    if public:
        yield PUBLIC.finding(
            Status.FAIL,
            f"{name} exchanges blocks over the public network: {listed(_short(p) for p in public)}.",
            subject=f"{name} {public[0].used.name}: public",
            seen=(
                *_lines(cluster, number, found),
                *(f"{p.used.ip} is public: {p.public}" for p in public),
                *_meant(cluster),
            ),
            expected=("Private networks only",),
            next=[_look(), *_unset(by_parameter), _reconfigure()],
            evidence=_evidence(cluster),
            nodes=nodes_of(cluster, [number]),
        )
    if elsewhere:
        yield ELSEWHERE.finding(
            Status.FAIL,
            f"{name} uses {listed(_short(p) for p in elsewhere)}, which is on none of the private networks.",
            subject=f"{name} {elsewhere[0].used.name}: not private",
            seen=(*_lines(cluster, number, found), *_meant(cluster)),
            expected=(f"Addresses on {listed(n.name for n in known_networks(cluster))}",),
            next=[_look(), *_unset(by_parameter)],
            evidence=_evidence(cluster),
            nodes=nodes_of(cluster, [number]),
        )
    if by_parameter:
        yield _by_parameter(cluster, number, found, by_parameter)
    elif not public and not elsewhere:
        yield from _fewer(cluster, number, found)


def _set_by_parameter(database: Database, number: int, found: tuple[Place, ...]) -> str:
    """What the parameter is set to; where it could not be read, what the instance has from it."""
    value = (database.parameter(number, PARAMETER) or "").strip()
    return value or ":".join(p.used.ip for p in found if p.from_parameter)


def _by_parameter(cluster: Cluster, number: int, found: tuple[Place, ...], value: str) -> Finding:
    name = instance_name(cluster, number)
    engineered = _is_engineered(found)
    haip = _haip_online(cluster)
    status = Status.INFO if engineered else Status.FAIL if haip else Status.WARN
    bypass = ", as on engineered systems" if engineered else ", and bypasses HAIP" if haip else ""
    return BY_PARAMETER.finding(
        status,
        f"cluster_interconnects is set on {name} to {value}{bypass}.",
        subject=f"{name}: {PARAMETER} set",
        seen=(*_lines(cluster, number, found), *_meant(cluster), *(["HAIP is online"] if haip else [])),
        expected=("Not set, so that Clusterware decides",) if not engineered else ("As set by the vendor",),
        next=() if engineered else (_look(), *_unset(value)),
        evidence=_evidence(cluster),
        nodes=nodes_of(cluster, [number]),
    )


def _is_engineered(found: tuple[Place, ...]) -> bool:
    """Whether the interfaces are named as on Exadata and its kin, where the vendor sets the parameter."""
    return all(_ENGINEERED.fullmatch(p.used.name) for p in found)


def _haip_online(cluster: Cluster) -> bool:
    clusterware = cluster.clusterware
    if not isinstance(clusterware, Clusterware) or isinstance(clusterware.haip, Unknown):
        return False
    return clusterware.haip.present and clusterware.haip.state == "ONLINE"


def _fewer(cluster: Cluster, number: int, found: tuple[Place, ...]) -> Iterator[Finding]:
    networks = known_networks(cluster)
    on = list(dict.fromkeys(p.network.name for p in found if p.network))
    expected = min(len(networks), _MOST_HAIP_NICS)
    if not networks or len(on) >= expected:
        return
    name = instance_name(cluster, number)
    unused = [n for n in networks if n.name not in on]
    yield FEWER.finding(
        Status.WARN,
        f"{name} uses {listed(on)} alone; oifcfg also names {listed(n.name for n in unused)}."
        if unused[0].named_by == "oifcfg"
        else f"{name} uses {listed(on)} alone, of {counted(len(networks), 'private network')}.",
        subject=f"{name}: {len(on)} of {len(networks)}",
        seen=_lines(cluster, number, found),
        expected=(f"{counted(expected, 'private network')} in use",),
        next=[
            Remedy("See what interfaces and df-ping say of the network not used.", ("racwire check interfaces",)),
            Remedy(
                "A network that was added after Clusterware started is used after a restart of Clusterware on all "
                "nodes.",
                ("crsctl stat res ora.cluster_interconnect.haip -init -t", "oifcfg getif"),
                "the Grid owner",
            ),
        ],
        evidence=_evidence(cluster),
        nodes=nodes_of(cluster, [number]),
    )


# --- all instances ----------------------------------------------------------------------------------------------------


def _haip_by_some(cluster: Cluster, database: Database, used: Mapping[int, tuple[Place, ...]]) -> Iterator[Finding]:
    """Where the parameter explains it, its own finding has said so."""
    free = {n: found for n, found in used.items() if not _set_by_parameter(database, n, found)}
    with_haip = [n for n, found in free.items() if any(p.is_haip for p in found)]
    without = [n for n, found in free.items() if not any(p.is_haip for p in found)]
    if with_haip and without:
        yield HAIP_BY_SOME.finding(
            Status.WARN,
            f"{instance_names(cluster, with_haip)} {_use(with_haip)} HAIP addresses, and "
            f"{instance_names(cluster, without)} {_use(without)} none.",
            subject="HAIP by some",
            seen=tuple(line for n, found in used.items() for line in _lines(cluster, n, found)),
            expected=("All of them, or none",),
            next=[
                Remedy(
                    "See whether HAIP is online on each node.",
                    ("crsctl stat res ora.cluster_interconnect.haip -init",),
                    f"root on {listed(nodes_of(cluster, without)) or 'each node'}",
                )
            ],
            evidence=_evidence(cluster),
            nodes=nodes_of(cluster, without),
        )


def _apart(cluster: Cluster, used: Mapping[int, tuple[Place, ...]]) -> Iterator[Finding]:
    on = {n: {p.network.name for p in found if p.network} for n, found in used.items()}
    known = {n: names for n, names in on.items() if names and all(p.network for p in used[n])}
    pairs = [(a, b) for a, b in combinations(sorted(known), 2) if not known[a] & known[b]]
    if pairs:
        a, b = pairs[0]
        others = f" (and {counted(len(pairs) - 1, 'more pair')})" if len(pairs) > 1 else ""
        both = [n for pair in pairs for n in pair]
        yield APART.finding(
            Status.FAIL,
            f"{instance_name(cluster, a)} and {instance_name(cluster, b)} use no private network in common{others}.",
            subject=f"{instance_name(cluster, a)}, {instance_name(cluster, b)}: apart",
            seen=tuple(line for n in dict.fromkeys(both) for line in _lines(cluster, n, used[n])),
            expected=("One private network or more that all instances use",),
            next=[_look()],
            evidence=_evidence(cluster),
            nodes=nodes_of(cluster, both),
        )


def _as_meant(cluster: Cluster, used: Mapping[int, tuple[Place, ...]]) -> Finding:
    networks = known_networks(cluster)
    on = list(dict.fromkeys(p.network.name for found in used.values() for p in found if p.network))
    haip = all(p.is_haip for found in used.values() for p in found)
    names = instance_names(cluster, used)
    title = f"{names} {_use(list(used))} {listed(on)}{', by HAIP' if haip else ''}."
    unnamed = f"{names} {_use(list(used))} {listed(sorted({p.used.name for f in used.values() for p in f}))}, none of "
    return AS_MEANT.finding(
        Status.PASS,
        title if on else f"{unnamed}them public.",
        subject=f"{counted(len(used), 'instance')}, {'HAIP' if haip else listed(on) or 'not public'}",
        seen=(
            *(line for n, found in used.items() for line in _lines(cluster, n, found)),
            *(() if networks else ("the private networks are not known: only what the instances say was judged",)),
        ),
        evidence=_evidence(cluster),
    )


# --- words ------------------------------------------------------------------------------------------------------------


def _use(instances: list[int]) -> str:
    return "uses" if len(instances) == 1 else "use"


def _short(place: Place) -> str:
    return f"{place.used.ip} ({place.used.name})"


def _lines(cluster: Cluster, number: int, found: tuple[Place, ...]) -> tuple[str, ...]:
    name = instance_name(cluster, number)
    return tuple(f"{name}: {p}{f', on {p.network.name}' if p.network else ''}" for p in found)


def _meant(cluster: Cluster) -> tuple[str, ...]:
    networks = known_networks(cluster)
    return (f"private networks: {listed(f'{n.interface} {n.subnet}' for n in networks)}",) if networks else ()


def _look() -> Remedy:
    return Remedy(
        "See what is configured, and what the instance said when it started.",
        ("oifcfg getif", "grep -A3 'Cluster communication is configured' alert_*.log"),
        "the Grid owner",
    )


def _unset(value: str) -> tuple[Remedy, ...]:
    if not value:
        return ()
    reset = Remedy(
        "Take the parameter away and restart the instances one after the other, in a window.",
        ("ALTER SYSTEM RESET cluster_interconnects SCOPE=SPFILE SID='*'",),
        "a DBA",
        is_change=True,
    )
    return (reset,)


def _reconfigure() -> Remedy:
    return Remedy("Have oifcfg name the right networks; the instances take it up when Clusterware is restarted.")


def _evidence(cluster: Cluster) -> list[tuple[str, str]]:
    return [*sql(cluster, *_STATEMENTS), (cluster.local_node, "oifcfg getif")]
