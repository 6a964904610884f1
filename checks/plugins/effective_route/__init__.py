"""Do the kernels send the packets for each private address over its own NIC, with the whole MTU?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import check
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster, NotGathered, Unknown
from checks.model.finding import Finding, Status
from checks.model.wording import counted
from checks.plugins.effective_route.judging import JUDGES, found
from checks.plugins.effective_route.route_kinds import KINDS, LEFT_OUT, NOT_KNOWN, WHOLE
from checks.plugins.effective_route.ways_in_use import LeftOut, WayInUse, ways_in_use
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.plugins.shared.host_facts import not_known_findings
from checks.rules.observed.states import read_at
from checks.rules.policy_rules import is_for_some

_TOPIC = "routes in use"


@check(
    "effective-route",
    question="Do the kernels send the packets for each private address over its own NIC, with the whole MTU?",
    needs=("nodes", "networks"),
    uses=("effective_routes", "paths"),
    about=(ConditionKind.LINK, ConditionKind.MTU),
    kinds=KINDS,
)
def effective_route(cluster: Cluster) -> Iterator[Finding]:
    """Compares the answers of `ip route get`, for each private and HAIP address and those of its peers, with the NICs.

    The answers include policy rules, other tables, exceptions and learned path MTUs, which the main table does not
    show. Peers on one network need no gateway: a way over a gateway is a failure, as is one through another NIC. Faults
    of the main table itself are findings of private-routes and mtu-consistency, those of a NIC or a netmask of
    interfaces: such ways are counted and left out. A learned path MTU on a path where df-ping found a fault is reported
    for information. Rules for packets with a mark, a port or a user are displayed and not judged.
    """
    if isinstance(cluster.networks, Unknown):
        return
    if isinstance(cluster.effective_routes, NotGathered):
        yield WHOLE.finding("These facts have no routes in use.", status=Status.SKIPPED, subject="not in the file")
        return
    ways = ways_in_use(cluster)
    bad: list[WayInUse] = []
    for judge in JUDGES:
        wrong = [(way.place, judge.clause(way), way) for way in ways.judged if judge.applies(way)]
        for group in alike(wrong, lambda one: one[:2]):
            same = [way for _, _, way in group]
            yield found(cluster, judge, same)
            bad += same
    fine = [w for w in ways.judged if w not in bad]
    if fine:
        yield _passes(cluster, fine, bad, ways.left_out)
    for left in alike(ways.left_out, lambda one: (one.check, one.reason, one.network)):
        yield from _left_out(left)
    yield from not_known_findings(NOT_KNOWN, "The routes in use on {} are", ways.unknown, "effective-route", _TOPIC)
    if not (fine or bad or ways.unknown or ways.left_out):
        yield WHOLE.finding(
            "No two nodes that were read have addresses on one private network, with a route to judge here.",
            status=Status.SKIPPED,
            subject="no pairs",
        )


def _passes(
    cluster: Cluster, fine: Sequence[WayInUse], bad: Sequence[WayInUse], left_out: Sequence[LeftOut]
) -> Finding:
    nodes = list(dict.fromkeys(way.node.name for way in fine))
    wrong = {id(way) for way in bad}
    others = len(wrong) + len(left_out)
    of = f" of {len(fine) + others}" if others else ""
    not_all = {*(way.place for way in bad), *((one.node, one.network) for one in left_out)}
    whole = [way.place for way in fine if way.place not in not_all]
    lines = [
        *([f"{len(wrong)} more are wrong"] if wrong else []),
        *([f"{len(left_out)} more are not judged here"] if left_out else []),
    ]
    return WHOLE.finding(
        f"The kernels of {named(nodes, 'node')} use the right NIC for {len(fine)}{of} "
        f"{'pair' if len(fine) == 1 and not others else 'pairs'} of private addresses.",
        subject=f"{briefly(nodes, 'node')}: {len(fine)}{of} pairs",
        seen=(*lines, *some([way.line for way in fine]), *_rules_for_some(cluster)),
        evidence=[(node, _TOPIC) for node in nodes],
        observed=read_at(WHOLE.code, dict.fromkeys(whole)),
    )


def _rules_for_some(cluster: Cluster) -> tuple[str, ...]:
    known = () if isinstance(cluster.effective_routes, Unknown) else cluster.effective_routes
    return some([f"{of.node}: not judged: rule {rule}" for of in known for rule in of.rules if is_for_some(rule)])


def _left_out(left: Sequence[LeftOut]) -> Iterator[Finding]:
    first, nodes = left[0], list(dict.fromkeys(one.node for one in left))
    pairs, verb = counted(len(left), "pair"), "is" if len(left) == 1 else "are"
    if not first.check:
        title = f"The routes in use for {pairs} of addresses on {first.network} on {{}} are"
        unknown = dict.fromkeys(nodes, Unknown(first.reason))
        yield from not_known_findings(NOT_KNOWN, title, unknown, "effective-route", _TOPIC)
        return
    yield LEFT_OUT.finding(
        f"{pairs} of addresses on {first.network} {verb} judged by {first.check}: {first.reason}.",
        subject=f"{briefly(nodes, 'node')}: {pairs} left to {first.check}",
        evidence=[(node, _TOPIC) for node in nodes],
        network=first.network,
        nodes=nodes,
    )
