"""Does each instance use the private networks that are configured, and only those?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import combinations

from checks.model.check import check
from checks.model.condition import ConditionKind
from checks.model.effect import Effect
from checks.model.facts import Cluster, Clusterware, Database, Unknown
from checks.model.finding import Finding, NextStep, Status, check_again
from checks.model.known_instances import Unseen, instance_name, interconnects_of, nodes_of, nodes_without_instance
from checks.model.wording import counted, listed
from checks.plugins.interconnect_in_use.use_kinds import (
    APART,
    AS_CONFIGURED,
    BY_PARAMETER,
    ELSEWHERE,
    FEWER,
    HAIP_BY_SOME,
    NOT_KNOWN,
    PUBLIC,
    inspect,
    reconfigure,
    unset,
)
from checks.plugins.shared.grouping import MOST_LINES, alike, briefly, named, some
from checks.plugins.shared.instance_text import statement_topics, unknown_instance_findings
from checks.rules.engineered import is_engineered, is_infiniband
from checks.rules.network_setup import haip_status
from checks.rules.observed.interconnects import unused_networks, used_on, used_places
from checks.rules.places_in_use import PARAMETER, UsedPlace, places

_NO_NODE = "No node could be read, and oifcfg stores no netmask."
"""The reason why the network of an address is not known."""
_STATEMENTS = ("interconnects", "parameters")
_MOST_HAIP_NICS = 4
"""Clusterware puts HAIP addresses on four interfaces at most (MOS 1210883.1)."""
Used = Mapping[int, tuple[UsedPlace, ...]]
"""The interconnects of each instance, by its number."""


@check(
    "interconnect-in-use",
    question="Does every instance use the private networks that are configured, and no other?",
    needs=("database",),
    uses=("clusterware", "nodes", "networks"),
    shows=(ConditionKind.INSTANCE, ConditionKind.DATABASE),
    kinds=(AS_CONFIGURED, PUBLIC, ELSEWHERE, BY_PARAMETER, HAIP_BY_SOME, FEWER, APART, NOT_KNOWN),
)
def interconnect_in_use(cluster: Cluster) -> Iterator[Finding]:
    """Compares the interconnects that each instance reports with the networks of oifcfg and of the nodes.

    No interconnect may be public. Each must be on a private network (a HAIP address on the interface below it), all
    instances must share one, and every private network must be in use. The parameter cluster_interconnects bypasses
    HAIP; on Exadata and other engineered systems it is set on purpose. Without Clusterware, the check judges only the
    parameter and the reports of the instances. Instances with the same fault share one finding.
    """
    database = cluster.database
    if not isinstance(database, Database):
        return
    if isinstance(database.interconnects, Unknown):
        yield _nothing_known(cluster, database.interconnects)
        return
    used = {i.number: places(cluster, interconnects_of(cluster, i.number)) for i in database.instances}
    missing = [Unseen(u.number, u.reason, u.right) for u in database.unasked]
    missing += [
        Unseen(n, "GV$CLUSTER_INTERCONNECTS has no row for this instance.") for n, found in used.items() if not found
    ]
    unplaced = [n for n, found in used.items() if any(_cannot_be_placed(cluster, p) for p in found)]
    missing += [Unseen(n, _NO_NODE) for n in unplaced]
    public = {n: own for n in unplaced if (own := tuple(p for p in used[n] if p.public))}
    used = {n: found for n, found in used.items() if found and n not in unplaced}
    faults = [
        *_instances(cluster, database, {**used, **public}),
        *_haip_by_some(cluster, database, used),
        *_apart(cluster, used),
    ]
    yield from faults
    if used and not any(f.status in (Status.FAIL, Status.WARN) for f in faults):
        yield _as_configured(cluster, used)
    yield from unknown_instance_findings(cluster, NOT_KNOWN, "The interconnect of {}", missing, ("interconnects",))
    if not used and not missing:
        yield _nothing_known(cluster, Unknown("No instance has a row in GV$CLUSTER_INTERCONNECTS."))


def _nothing_known(cluster: Cluster, why: Unknown) -> Finding:
    return NOT_KNOWN.finding(
        "The interconnects that the instances use could not be read.",
        subject="not known",
        seen=(why.reason,),
        next=[check_again("interconnect-in-use")],
        lacks=[why],
        evidence=statement_topics(cluster, "interconnects"),
    )


# --- instances by themselves ------------------------------------------------------------------------------------------


def _instances(cluster: Cluster, database: Database, used: Used) -> Iterator[Finding]:
    """Yield the faults of the interconnects of each instance, one finding for all instances with the same fault."""
    public = {n: tuple(p for p in found if p.public) for n, found in used.items()}
    elsewhere = {n: tuple(p for p in found if _is_elsewhere(cluster, p)) for n, found in used.items()}
    set_to = {n: value for n, found in used.items() if (value := _set_by_parameter(database, n, found))}
    for same in alike([n for n in used if public[n]], lambda n: _reasons(public[n])):
        yield _public(cluster, {n: used[n] for n in same}, public, set_to)
    for same in alike([n for n in used if elsewhere[n]], lambda n: tuple(p.used.name for p in elsewhere[n])):
        yield _elsewhere(cluster, {n: used[n] for n in same}, elsewhere, set_to)
    for same in alike(set_to, lambda n: _is_engineered(cluster, used[n])):
        yield _by_parameter(cluster, {n: used[n] for n in same}, set_to)
    plain = [n for n in used if not (public[n] or elsewhere[n] or n in set_to) and _too_few(cluster, used[n])]
    for same in alike(plain, lambda n: _on(used[n])):
        yield _fewer(cluster, {n: used[n] for n in same})


def _reasons(public: tuple[UsedPlace, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((p.used.name, p.public) for p in public)


def _cannot_be_placed(cluster: Cluster, place: UsedPlace) -> bool:
    """Return whether the place may be on a private network: oifcfg stores no netmask, and no node could be read."""
    without_length = any("/" not in network.subnet for network in cluster.read_networks())
    return not place.public and place.network is None and without_length and not cluster.read_nodes()


def _is_elsewhere(cluster: Cluster, place: UsedPlace) -> bool:
    return not place.public and place.network is None and bool(cluster.read_networks())


def _public(cluster: Cluster, used: Used, public: Used, set_to: Mapping[int, str]) -> Finding:
    names, first = [instance_name(cluster, n) for n in used], next(iter(used))
    exchange = "exchanges" if len(used) == 1 else "exchange"
    return PUBLIC.finding(
        f"{named(names, 'instance')} {exchange} blocks over the public network: {_interfaces(public, used)}.",
        subject=f"{briefly(names, 'instance')} {public[first][0].used.name}: public",
        data={"instances": ", ".join(names), "interfaces": _interfaces(public, used)},
        seen=(
            *_lines(cluster, used),
            *some([f"{p.used.ip} is public: {p.public}" for n in used for p in public[n]]),
            *_configured(cluster),
        ),
        expected=("Private networks only",),
        next=[inspect(), _unset(cluster, used, set_to) if set_to.keys() & used.keys() else reconfigure()],
        evidence=_evidence(cluster),
        nodes=nodes_of(cluster, used),
        extent=(len(used), "instances"),
        observed=used_places(cluster, PUBLIC.code, {n: public[n] for n in used}),
    )


def _elsewhere(cluster: Cluster, used: Used, elsewhere: Used, set_to: Mapping[int, str]) -> Finding:
    names, first = [instance_name(cluster, n) for n in used], next(iter(used))
    verb = "is" if len(used) == 1 and len(elsewhere[first]) == 1 else "are"
    return ELSEWHERE.finding(
        f"{named(names, 'instance')} {_use(used)} {_interfaces(elsewhere, used)}, which {verb} on none of the private "
        "networks.",
        subject=f"{briefly(names, 'instance')} {elsewhere[first][0].used.name}: not private",
        data={"instances": ", ".join(names), "interfaces": _interfaces(elsewhere, used)},
        seen=(*_lines(cluster, used), *_configured(cluster)),
        expected=(f"Addresses on {listed(n.name for n in cluster.read_networks())}",),
        next=[inspect(), _unset(cluster, used, set_to) if set_to.keys() & used.keys() else reconfigure()],
        evidence=_evidence(cluster),
        nodes=nodes_of(cluster, used),
        extent=(len(used), "instances"),
        observed=used_places(cluster, ELSEWHERE.code, {n: elsewhere[n] for n in used}),
    )


def _set_by_parameter(database: Database, number: int, found: tuple[UsedPlace, ...]) -> str:
    """Return the value of the parameter; where it could not be read, the addresses that come from it."""
    value = (database.parameter(number, PARAMETER) or "").strip()
    return value or ":".join(p.used.ip for p in found if p.from_parameter)


def _by_parameter(cluster: Cluster, used: Used, set_to: Mapping[int, str]) -> Finding:
    names, first = [instance_name(cluster, n) for n in used], next(iter(used))
    engineered = _is_engineered(cluster, used[first])
    haip = _haip_online(cluster)
    bypass = ", as on engineered systems" if engineered else ", and bypasses HAIP" if haip else ""
    value = f" to {set_to[first]}" if len({set_to[n] for n in used}) == 1 else ""
    return BY_PARAMETER.finding(
        f"cluster_interconnects is set on {named(names, 'instance')}{value}{bypass}.",
        status=Status.INFO if engineered else haip_status(haip),
        subject=f"{briefly(names, 'instance')}: {PARAMETER} set",
        data={"instances": ", ".join(names), "value": set_to[first], "haip_is_online": haip},
        seen=(
            *_lines(cluster, used),
            *([] if value else some([f"{instance_name(cluster, n)}: set to {set_to[n]}" for n in used])),
            *_configured(cluster),
            *(["HAIP is online"] if haip else []),
        ),
        expected=("Not set, so that Clusterware chooses the networks",)
        if not engineered
        else ("As set by the vendor",),
        next=() if engineered else (inspect(), _unset(cluster, used, set_to)),
        evidence=_evidence(cluster),
        nodes=nodes_of(cluster, used),
        extent=(len(used), "instances"),
        observed=used_places(cluster, BY_PARAMETER.code, used),
    )


def _unset(cluster: Cluster, used: Used, set_to: Mapping[int, str]) -> NextStep:
    names = [instance_name(cluster, n) for n in sorted(used.keys() & set_to.keys())]
    return unset(names, any(is_infiniband(_nic(place)) for found in used.values() for place in found))


def _is_engineered(cluster: Cluster, found: tuple[UsedPlace, ...]) -> bool:
    """Return whether the interfaces have the names of engineered systems, where the vendor sets the parameter."""
    return all(is_engineered(cluster, _nic(p)) for p in found)


def _nic(place: UsedPlace) -> str:
    return place.used.name.partition(":")[0]


def _haip_online(cluster: Cluster) -> bool:
    clusterware = cluster.clusterware
    if not isinstance(clusterware, Clusterware) or isinstance(clusterware.haip, Unknown):
        return False
    return clusterware.haip.present and clusterware.haip.state == "ONLINE"


def _on(found: tuple[UsedPlace, ...]) -> tuple[str, ...]:
    """Return the names of the private networks of these places."""
    return tuple(dict.fromkeys(p.network.name for p in found if p.network))


def _too_few(cluster: Cluster, found: tuple[UsedPlace, ...]) -> bool:
    return len(_on(found)) < min(len(cluster.read_networks()), _MOST_HAIP_NICS)


def _fewer(cluster: Cluster, used: Used) -> Finding:
    networks, names = cluster.read_networks(), [instance_name(cluster, n) for n in used]
    on = _on(next(iter(used.values())))
    unused = [n for n in networks if n.name not in on]
    return FEWER.finding(
        f"{named(names, 'instance')} {_use(used)} only {listed(on)}; oifcfg also names "
        f"{listed(n.name for n in unused)}."
        if unused[0].named_by == "oifcfg"
        else f"{named(names, 'instance')} {_use(used)} only {listed(on)}, of "
        f"{counted(len(networks), 'private network')}.",
        subject=f"{briefly(names, 'instance')}: {len(on)} of {len(networks)}",
        data={"instances": ", ".join(names), "used_networks": len(on), "configured_networks": len(networks)},
        seen=_lines(cluster, used),
        expected=(f"{counted(min(len(networks), _MOST_HAIP_NICS), 'private network')} in use",),
        next=[
            NextStep("Check the network that is not used.", ("racwire check interfaces df-ping",)),
            NextStep("Check whether HAIP is online.", ("crsctl stat res ora.cluster_interconnect.haip -init -t",)),
            NextStep(
                "If the network was added after Clusterware started, stop Clusterware on all nodes in a maintenance "
                "window, then start it: HAIP then uses it.",
                where="root on each node",
                is_change=True,
                effect=Effect.CLUSTER_DOWN_FIRST,
            ),
        ],
        evidence=_evidence(cluster),
        # A network without a link is left by its HAIPs: that cause is at the same place.
        network=unused[0].name if len(unused) == 1 else "",
        nodes=nodes_of(cluster, used),
        extent=(len(used), "instances"),
        observed=unused_networks(cluster, FEWER.code, used, unused),
    )


# --- all instances ----------------------------------------------------------------------------------------------------


def _haip_by_some(cluster: Cluster, database: Database, used: Used) -> Iterator[Finding]:
    """Yield the finding for HAIP on only some instances; those with the parameter have a finding of their own."""
    free = {n: found for n, found in used.items() if not _set_by_parameter(database, n, found)}
    with_haip = [n for n, found in free.items() if any(p.is_haip for p in found)]
    without = [n for n, found in free.items() if not any(p.is_haip for p in found)]
    if with_haip and without:
        yield HAIP_BY_SOME.finding(
            f"{_names(cluster, with_haip)} {_use(with_haip)} HAIP addresses, and "
            f"{_names(cluster, without)} {_use(without)} none.",
            subject="HAIP by some",
            data={
                "instances_with_haip": ", ".join(instance_name(cluster, n) for n in with_haip),
                "instances_without_haip": ", ".join(instance_name(cluster, n) for n in without),
            },
            seen=_lines(cluster, used),
            expected=("HAIP addresses on all instances, or on none",),
            next=[
                NextStep(
                    "Check whether HAIP is online on each node.",
                    ("crsctl stat res ora.cluster_interconnect.haip -init",),
                    f"any user on {named(nodes_of(cluster, without), 'node') or 'each node'}",
                )
            ],
            evidence=_evidence(cluster),
            nodes=nodes_of(cluster, without),
            observed=used_places(cluster, HAIP_BY_SOME.code, {n: used[n] for n in without}),
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
            f"{instance_name(cluster, a)} and {instance_name(cluster, b)} use no private network in common{others}.",
            subject=f"{instance_name(cluster, a)}, {instance_name(cluster, b)}: apart",
            data={"pairs": len(pairs), "first_pair": f"{instance_name(cluster, a)}, {instance_name(cluster, b)}"},
            seen=_lines(cluster, {n: used[n] for n in both}),
            expected=("At least one private network that all instances use",),
            next=[inspect()],
            evidence=_evidence(cluster),
            nodes=nodes_of(cluster, both),
            observed=used_places(cluster, APART.code, {n: used[n] for n in both}),
        )


def _as_configured(cluster: Cluster, used: Used) -> Finding:
    networks = cluster.read_networks()
    on = list(dict.fromkeys(p.network.name for found in used.values() for p in found if p.network))
    haip = all(p.is_haip for found in used.values() for p in found)
    names = _names(cluster, used)
    title = f"{names} {_use(used)} {listed(on)}{', through HAIP' if haip else ''}."
    interfaces = listed(sorted({p.used.name for f in used.values() for p in f}))
    return AS_CONFIGURED.finding(
        title if on else f"{names} {_use(used)} {interfaces}; no interface is public.",
        subject=f"{counted(len(used), 'instance')}, {'HAIP' if haip else listed(on) or 'not public'}",
        seen=(
            *_lines(cluster, used),
            *(f"{node}: no instance of the database runs there" for node in nodes_without_instance(cluster)),
            *(
                ()
                if networks
                else ("the private networks are not known: only the reports of the instances were judged",)
            ),
        ),
        evidence=_evidence(cluster),
        observed=used_on(cluster, AS_CONFIGURED.code, used),
    )


# --- texts ------------------------------------------------------------------------------------------------------------


def _use(instances: Collection[int]) -> str:
    return "uses" if len(instances) == 1 else "use"


def _names(cluster: Cluster, instances: Iterable[int]) -> str:
    return named((instance_name(cluster, n) for n in instances), "instance")


def _interfaces(chosen: Used, instances: Collection[int]) -> str:
    """Return `10.20.0.2 (eth0)`; for several instances only the interfaces."""
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


def _configured(cluster: Cluster) -> tuple[str, ...]:
    networks = cluster.read_networks()
    return (f"private networks: {listed(f'{n.interface} {n.subnet}' for n in networks)}",) if networks else ()


def _evidence(cluster: Cluster) -> list[tuple[str, str]]:
    return [*statement_topics(cluster, *_STATEMENTS), (cluster.local_node, "oifcfg getif")]
