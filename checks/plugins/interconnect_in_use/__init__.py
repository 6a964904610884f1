"""Does each instance really use the private networks that are configured, and only those?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import combinations

from checks.model.check import check
from checks.model.facts import Cluster, Clusterware, Database, Unknown
from checks.model.finding import Finding, Remedy, Status
from checks.model.known_instances import Unseen, instance_name, interconnects_of, nodes_of
from checks.model.wording import counted, listed
from checks.plugins.interconnect_in_use.use_kinds import (
    APART,
    AS_MEANT,
    BY_PARAMETER,
    ELSEWHERE,
    FEWER,
    HAIP_BY_SOME,
    NOT_KNOWN,
    PUBLIC,
    look,
    reconfigure,
    unset,
)
from checks.plugins.shared.engineered import is_engineered
from checks.plugins.shared.grouping import MOST_LINES, alike, briefly, named, some
from checks.plugins.shared.instance_words import sql, unseen_findings
from checks.plugins.shared.places_in_use import PARAMETER, Place, known_networks, places

_NO_NODE = "No node could be read, and oifcfg stores no netmask."
"""Why it is not known on which network an address lies."""
_STATEMENTS = ("interconnects", "parameters")
_MOST_HAIP_NICS = 4
"""Clusterware puts HAIP addresses on four interfaces at most (MOS 1210883.1)."""
Used = Mapping[int, tuple[Place, ...]]
"""The interconnects of each instance, by its number."""


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
    the parameter are judged. Instances with which the same is wrong are told together.
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
    untold = [n for n, found in used.items() if any(_cannot_be_placed(cluster, p) for p in found)]
    missing += [Unseen(n, _NO_NODE) for n in untold]
    used = {n: found for n, found in used.items() if found and n not in untold}
    faults = [*_instances(cluster, database, used), *_haip_by_some(cluster, database, used), *_apart(cluster, used)]
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


# --- instances by themselves ------------------------------------------------------------------------------------------


def _instances(cluster: Cluster, database: Database, used: Used) -> Iterator[Finding]:
    """What is wrong with the interconnects of an instance: those with which the same is wrong are told together."""
    public = {n: tuple(p for p in found if p.public) for n, found in used.items()}
    elsewhere = {n: tuple(p for p in found if _is_elsewhere(cluster, p)) for n, found in used.items()}
    set_to = {n: value for n, found in used.items() if (value := _set_by_parameter(database, n, found))}
    for same in alike([n for n in used if public[n]], lambda n: _reasons(public[n])):
        yield _public(cluster, {n: used[n] for n in same}, public, set_to)
    for same in alike([n for n in used if elsewhere[n]], lambda n: tuple(p.used.name for p in elsewhere[n])):
        yield _elsewhere(cluster, {n: used[n] for n in same}, elsewhere, set_to)
    for same in alike(set_to, lambda n: _is_engineered(used[n])):
        yield _by_parameter(cluster, {n: used[n] for n in same}, set_to)
    plain = [n for n in used if not (public[n] or elsewhere[n] or n in set_to) and _too_few(cluster, used[n])]
    for same in alike(plain, lambda n: _on(used[n])):
        yield _fewer(cluster, {n: used[n] for n in same})


def _reasons(public: tuple[Place, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((p.used.name, p.public) for p in public)


def _cannot_be_placed(cluster: Cluster, place: Place) -> bool:
    """Whether it may lie on a private network all the same: oifcfg stores no netmask, and no node could be read."""
    without_length = any("/" not in network.subnet for network in known_networks(cluster))
    return not place.public and place.network is None and without_length and not cluster.read_nodes()


def _is_elsewhere(cluster: Cluster, place: Place) -> bool:
    return not place.public and place.network is None and bool(known_networks(cluster))


def _public(cluster: Cluster, used: Used, public: Used, set_to: Mapping[int, str]) -> Finding:
    names, first = [instance_name(cluster, n) for n in used], next(iter(used))
    exchange = "exchanges" if len(used) == 1 else "exchange"
    return PUBLIC.finding(
        Status.FAIL,
        f"{named(names, 'instance')} {exchange} blocks over the public network: {_which(public, used)}.",
        subject=f"{briefly(names, 'instance')} {public[first][0].used.name}: public",
        data={"instances": ", ".join(names), "interfaces": _which(public, used)},
        seen=(
            *_lines(cluster, used),
            *some([f"{p.used.ip} is public: {p.public}" for n in used for p in public[n]]),
            *_meant(cluster),
        ),
        expected=("Private networks only",),
        next=[look(), unset() if set_to.keys() & used.keys() else reconfigure()],
        evidence=_evidence(cluster),
        nodes=nodes_of(cluster, used),
        extent=(len(used), "instances"),
    )


def _elsewhere(cluster: Cluster, used: Used, elsewhere: Used, set_to: Mapping[int, str]) -> Finding:
    names, first = [instance_name(cluster, n) for n in used], next(iter(used))
    verb = "is" if len(used) == 1 and len(elsewhere[first]) == 1 else "are"
    return ELSEWHERE.finding(
        Status.FAIL,
        f"{named(names, 'instance')} {_use(used)} {_which(elsewhere, used)}, which {verb} on none of the private "
        "networks.",
        subject=f"{briefly(names, 'instance')} {elsewhere[first][0].used.name}: not private",
        data={"instances": ", ".join(names), "interfaces": _which(elsewhere, used)},
        seen=(*_lines(cluster, used), *_meant(cluster)),
        expected=(f"Addresses on {listed(n.name for n in known_networks(cluster))}",),
        next=[look(), unset() if set_to.keys() & used.keys() else reconfigure()],
        evidence=_evidence(cluster),
        nodes=nodes_of(cluster, used),
        extent=(len(used), "instances"),
    )


def _set_by_parameter(database: Database, number: int, found: tuple[Place, ...]) -> str:
    """What the parameter is set to; where it could not be read, what the instance has from it."""
    value = (database.parameter(number, PARAMETER) or "").strip()
    return value or ":".join(p.used.ip for p in found if p.from_parameter)


def _by_parameter(cluster: Cluster, used: Used, set_to: Mapping[int, str]) -> Finding:
    names, first = [instance_name(cluster, n) for n in used], next(iter(used))
    engineered = _is_engineered(used[first])
    haip = _haip_online(cluster)
    status = Status.INFO if engineered else Status.FAIL if haip else Status.WARN
    bypass = ", as on engineered systems" if engineered else ", and bypasses HAIP" if haip else ""
    value = f" to {set_to[first]}" if len({set_to[n] for n in used}) == 1 else ""
    return BY_PARAMETER.finding(
        status,
        f"cluster_interconnects is set on {named(names, 'instance')}{value}{bypass}.",
        subject=f"{briefly(names, 'instance')}: {PARAMETER} set",
        data={"instances": ", ".join(names), "value": set_to[first], "haip_is_online": haip},
        seen=(
            *_lines(cluster, used),
            *([] if value else some([f"{instance_name(cluster, n)}: set to {set_to[n]}" for n in used])),
            *_meant(cluster),
            *(["HAIP is online"] if haip else []),
        ),
        expected=("Not set, so that Clusterware decides",) if not engineered else ("As set by the vendor",),
        next=() if engineered else (look(), unset()),
        evidence=_evidence(cluster),
        nodes=nodes_of(cluster, used),
        extent=(len(used), "instances"),
    )


def _is_engineered(found: tuple[Place, ...]) -> bool:
    """Whether the interfaces are named as on Exadata and its kin, where the vendor sets the parameter."""
    return all(is_engineered(p.used.name) for p in found)


def _haip_online(cluster: Cluster) -> bool:
    clusterware = cluster.clusterware
    if not isinstance(clusterware, Clusterware) or isinstance(clusterware.haip, Unknown):
        return False
    return clusterware.haip.present and clusterware.haip.state == "ONLINE"


def _on(found: tuple[Place, ...]) -> tuple[str, ...]:
    """The private networks that these lie on."""
    return tuple(dict.fromkeys(p.network.name for p in found if p.network))


def _too_few(cluster: Cluster, found: tuple[Place, ...]) -> bool:
    return len(_on(found)) < min(len(known_networks(cluster)), _MOST_HAIP_NICS)


def _fewer(cluster: Cluster, used: Used) -> Finding:
    networks, names = known_networks(cluster), [instance_name(cluster, n) for n in used]
    on = _on(next(iter(used.values())))
    unused = [n for n in networks if n.name not in on]
    return FEWER.finding(
        Status.WARN,
        f"{named(names, 'instance')} {_use(used)} {listed(on)} alone; oifcfg also names "
        f"{listed(n.name for n in unused)}."
        if unused[0].named_by == "oifcfg"
        else f"{named(names, 'instance')} {_use(used)} {listed(on)} alone, of "
        f"{counted(len(networks), 'private network')}.",
        subject=f"{briefly(names, 'instance')}: {len(on)} of {len(networks)}",
        data={"instances": ", ".join(names), "used_networks": len(on), "configured_networks": len(networks)},
        seen=_lines(cluster, used),
        expected=(f"{counted(min(len(networks), _MOST_HAIP_NICS), 'private network')} in use",),
        next=[
            Remedy(
                "See what interfaces and df-ping say of the network not used.", ("racwire check interfaces df-ping",)
            ),
            Remedy("See whether HAIP is online.", ("crsctl stat res ora.cluster_interconnect.haip -init -t",)),
            Remedy(
                "A network that was added after Clusterware started is used after a restart of Clusterware on all "
                "nodes, in a window.",
                where="the Grid owner",
                is_change=True,
            ),
        ],
        evidence=_evidence(cluster),
        nodes=nodes_of(cluster, used),
        extent=(len(used), "instances"),
    )


# --- all instances ----------------------------------------------------------------------------------------------------


def _haip_by_some(cluster: Cluster, database: Database, used: Used) -> Iterator[Finding]:
    """Where the parameter explains it, its own finding has said so."""
    free = {n: found for n, found in used.items() if not _set_by_parameter(database, n, found)}
    with_haip = [n for n, found in free.items() if any(p.is_haip for p in found)]
    without = [n for n, found in free.items() if not any(p.is_haip for p in found)]
    if with_haip and without:
        yield HAIP_BY_SOME.finding(
            Status.WARN,
            f"{_names(cluster, with_haip)} {_use(with_haip)} HAIP addresses, and "
            f"{_names(cluster, without)} {_use(without)} none.",
            subject="HAIP by some",
            data={
                "instances_with_haip": ", ".join(instance_name(cluster, n) for n in with_haip),
                "instances_without_haip": ", ".join(instance_name(cluster, n) for n in without),
            },
            seen=_lines(cluster, used),
            expected=("All of them, or none",),
            next=[
                Remedy(
                    "See whether HAIP is online on each node.",
                    ("crsctl stat res ora.cluster_interconnect.haip -init",),
                    f"root on {named(nodes_of(cluster, without), 'node') or 'each node'}",
                )
            ],
            evidence=_evidence(cluster),
            nodes=nodes_of(cluster, without),
        )


def _apart(cluster: Cluster, used: Used) -> Iterator[Finding]:
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
            data={"pairs": len(pairs), "first_pair": f"{instance_name(cluster, a)}, {instance_name(cluster, b)}"},
            seen=_lines(cluster, {n: used[n] for n in both}),
            expected=("One private network or more that all instances use",),
            next=[look()],
            evidence=_evidence(cluster),
            nodes=nodes_of(cluster, both),
        )


def _as_meant(cluster: Cluster, used: Used) -> Finding:
    networks = known_networks(cluster)
    on = list(dict.fromkeys(p.network.name for found in used.values() for p in found if p.network))
    haip = all(p.is_haip for found in used.values() for p in found)
    names = _names(cluster, used)
    title = f"{names} {_use(used)} {listed(on)}{', by HAIP' if haip else ''}."
    unnamed = f"{names} {_use(used)} {listed(sorted({p.used.name for f in used.values() for p in f}))}, none of "
    return AS_MEANT.finding(
        Status.PASS,
        title if on else f"{unnamed}them public.",
        subject=f"{counted(len(used), 'instance')}, {'HAIP' if haip else listed(on) or 'not public'}",
        seen=(
            *_lines(cluster, used),
            *(() if networks else ("the private networks are not known: only what the instances say was judged",)),
        ),
        evidence=_evidence(cluster),
    )


# --- words ------------------------------------------------------------------------------------------------------------


def _use(instances: Collection[int]) -> str:
    return "uses" if len(instances) == 1 else "use"


def _names(cluster: Cluster, instances: Iterable[int]) -> str:
    return named((instance_name(cluster, n) for n in instances), "instance")


def _which(chosen: Used, instances: Collection[int]) -> str:
    """`10.20.0.2 (eth0)`; of several instances the interfaces alone."""
    found = [p for n in instances for p in chosen[n]]
    if len(instances) == 1:
        return listed(f"{p.used.ip} ({p.used.name})" for p in found)
    return listed(dict.fromkeys(p.used.name for p in found))


def _lines(cluster: Cluster, used: Used) -> tuple[str, ...]:
    return some(
        [
            f"{instance_name(cluster, n)}: {p}{f', on {p.network.name}' if p.network else ''}"
            for n, found in used.items()
            for p in found
        ],
        2 * MOST_LINES,
    )


def _meant(cluster: Cluster) -> tuple[str, ...]:
    networks = known_networks(cluster)
    return (f"private networks: {listed(f'{n.interface} {n.subnet}' for n in networks)}",) if networks else ()


def _evidence(cluster: Cluster) -> list[tuple[str, str]]:
    return [*sql(cluster, *_STATEMENTS), (cluster.local_node, "oifcfg getif")]
