"""The targets of ARP monitoring: where they do not answer, members are down whose links are up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import Kind, WarnKind
from checks.model.effect import Effect
from checks.model.facts import Cluster
from checks.model.finding import Finding, NextStep, Status
from checks.model.shell_command import shell
from checks.model.wording import counted, listed
from checks.plugins.bonding.bond_places import CAUSE_11, DRIVER, BondPlace, driver_file, evidence_of, observed_at
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.rules.bond_states import failed_together, members_status, on_bond, out_of_reach

_ARP = f"{DRIVER}, ARP monitor operation"
UNANSWERED = Kind(
    "IC-BOND-012",
    "The target of a bond's ARP monitoring does not answer",
    "With ARP monitoring the bond asks its target for a sign of life through each member. Without one, the bond takes "
    "the member for down, though its link is up; with the last member down, the private network of the node is gone. "
    "Cables and transceivers are not the reason.",
    (CAUSE_11, _ARP),
)
OUT_OF_REACH = WarnKind(
    "IC-BOND-015",
    "The target of a bond's ARP monitoring is outside of its subnets",
    "The bond asks by ARP for the target itself, and a host on another subnet does not answer ARP. Then the members "
    "depend on other packets that arrive.",
    (CAUSE_11, _ARP),
)
FAILED = WarnKind(
    "IC-BOND-016",
    "The members of a bond with ARP monitoring failed often, and together",
    "A cable or a port fails alone. Members that fail together had no answer from the ARP target in these moments, and "
    "the bond was down.",
    (CAUSE_11, _ARP),
)
KINDS = (UNANSWERED, OUT_OF_REACH, FAILED)
_MII = "an MII polling interval of 100 ms instead of ARP monitoring, or targets on the switch"


def arp_findings(cluster: Cluster, places: Sequence[BondPlace]) -> Iterator[Finding]:
    """Yield what ARP monitoring made of the bonds, one finding for the nodes of a network with the same targets."""
    for same in alike(places, lambda p: (p.network, p.bond.name, p.bond.arp_targets, bool(p.unanswered))):
        if same[0].unanswered:
            others = [p for p in places if p.bond.arp_targets == same[0].bond.arp_targets and not p.unanswered]
            yield from (
                _unanswered(cluster, some_of, others)
                for some_of in alike(same, lambda p: (members_status(p.bond), *(m.name for m in p.unanswered)))
            )
        elif often := [place for place in same if failed_together(place.bond)]:
            yield _failed(often)
        if astray := [place for place in same if _astray(place)]:
            yield _out_of_reach(astray)


def _astray(place: BondPlace) -> tuple[str, ...]:
    if not place.bond.is_watched_by_arp:
        return ()
    return out_of_reach(place.bond.arp_targets, on_bond(place.on, place.bond.name))


def _targets(place: BondPlace) -> str:
    targets = place.bond.arp_targets
    return f"the ARP target{'s' if len(targets) > 1 else ''} {listed(targets)}" if targets else "no ARP target"


def _unanswered(cluster: Cluster, same: Sequence[BondPlace], others: Sequence[BondPlace]) -> Finding:
    first = same[0]
    members, status = listed(m.name for m in first.unanswered), members_status(first.bond)
    place = f"{first.bond.name} of {named((p.node for p in same), 'node')}"
    verb, link = ("is", "its link is") if len(first.unanswered) == 1 else ("are", "their links are")
    targets = first.bond.arp_targets
    does = "do" if len(targets) > 1 else "does"
    if not targets:
        why = "ARP monitoring has no target"
    elif status is Status.FAIL:
        why = f"{_targets(first)} {does} not answer"
    else:
        why = f"{_targets(first)} {does} not answer there"
    answered = f" The same target answers {listed(p.node for p in others)}." if others and targets else ""
    return UNANSWERED.finding(
        f"{members} of {place} {verb} down though {link} up: {why}.{answered}",
        status=status,
        subject=f"{briefly((p.node for p in same), 'node')} {first.bond.name}: {listed(targets) or 'no target'} silent",
        data={"bond": first.bond.name, "nodes": len(same), "targets": ", ".join(targets)},
        seen=some([*_target_lines(cluster, same), *(line for p in same for line in p.lines)], 10),
        expected=("An answer of the target through each member",),
        next=_steps(same, others, is_all=status is Status.FAIL),
        evidence=evidence_of(same),
        network=first.network,
        nodes=[p.node for p in same],
        extent=(sum(len(p.unanswered) for p in same), "members"),
        observed=observed_at(UNANSWERED, same),
    )


def _target_lines(cluster: Cluster, same: Sequence[BondPlace]) -> Iterator[str]:
    owners = {a.ip: f"{i.name} of {n.name}" for n in cluster.read_nodes() for i in n.interfaces for a in i.addresses}
    for place in same:
        bond = place.bond
        validate = f", arp_validate {bond.arp_validate}" if bond.arp_validate else ""
        asked = listed(bond.arp_targets) or "nobody"
        yield f"{place.node}: {bond.name} asks {asked} each {bond.arp_polling_ms} ms{validate}"
        entries = {e.ip: e for e in place.on.neighbours if e.ip in bond.arp_targets}
        for target in bond.arp_targets:
            if target in owners:
                yield f"{place.node}: {target} is {owners[target]}"
            elif target in entries:
                entry = entries[target]
                yield f"{place.node}: the neighbour entry of {target} is {entry.state} {entry.mac_address}".rstrip()


def _steps(same: Sequence[BondPlace], others: Sequence[BondPlace], *, is_all: bool) -> list[NextStep]:
    first, targets = same[0], same[0].bond.arp_targets
    where = f"root on {named((p.node for p in same), 'node')}"
    if not is_all or others:
        whose = listed(f"{listed(m.name for m in p.unanswered)} of {p.node}" for p in same)
        ask = NextStep(
            f"Ask the network team for the VLAN of the switch ports of {whose}: ARP of the target must pass."
        )
    else:
        ask = NextStep(
            f"Find out who has {listed(targets)}, whether that host is up, and whether it may leave ARP unanswered."
            if targets
            else "Find out why ARP monitoring is on without a target."
        )
    return [
        NextStep(
            "Read which targets the bond asks, and whether they answer ARP.",
            (
                driver_file(first),
                *(
                    shell("arping -c 3 -I {bond} {target}", bond=first.bond.name, target=target)
                    for target in targets
                    if "." in target
                ),
            ),
            where,
        ),
        ask,
        NextStep(
            f"Plan {_MII}, in a maintenance window.",
            where=where,
            is_change=True,
            effect=Effect.NODE_OUT_FIRST,
        ),
    ]


def _out_of_reach(same: Sequence[BondPlace]) -> Finding:
    first = same[0]
    targets = _astray(first)
    nodes = [p.node for p in same]
    own = {a.ip for i in on_bond(first.on, first.bond.name) for a in i.addresses}
    which = "an address of its own" if own.issuperset(targets) else "outside of its subnets"
    return OUT_OF_REACH.finding(
        f"ARP monitoring of {first.bond.name} of {named(nodes, 'node')} asks {listed(targets)}, {which}.",
        subject=f"{briefly(nodes, 'node')} {first.bond.name}: {listed(targets)} out of reach",
        data={"bond": first.bond.name, "nodes": len(nodes), "targets": ", ".join(targets)},
        seen=some(
            [
                f"{p.node}: {i.name} {a.ip}/{a.prefix_length}"
                for p in same
                for i in on_bond(p.on, p.bond.name)
                for a in i.addresses
            ]
        ),
        expected=("A target in a subnet of the bond, or of a VLAN on it",),
        next=[_steps(same, (), is_all=True)[-1]],
        evidence=evidence_of(same),
        network=first.network,
        nodes=nodes,
        extent=(len(nodes), "bonds"),
        observed=observed_at(OUT_OF_REACH, same),
    )


def _failed(same: Sequence[BondPlace]) -> Finding:
    first = same[0]
    nodes = [p.node for p in same]
    least = min(m.link_failures or 0 for p in same for m in p.bond.members)
    return FAILED.finding(
        f"The members of {first.bond.name} of {named(nodes, 'node')} failed together, {counted(least, 'time')} and "
        f"more: {_targets(first)} did not answer then.",
        subject=f"{briefly(nodes, 'node')} {first.bond.name}: {least:,} failures together",
        data={
            "bond": first.bond.name,
            "nodes": len(nodes),
            "failures": least,
            "targets": ", ".join(first.bond.arp_targets),
        },
        seen=some([line for p in same for line in p.lines], 10),
        expected=("Members that fail alone, if they fail",),
        next=_steps(same, (), is_all=True),
        evidence=evidence_of(same),
        network=first.network,
        nodes=nodes,
        extent=(len(nodes), "bonds"),
        observed=observed_at(FAILED, same),
    )
