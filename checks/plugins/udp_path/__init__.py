"""Do full-size UDP datagrams pass from several source ports, as blocks do?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import msgspec

from checks.model.check import Kind, check
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster, Flows, HaipPaths, NotGathered, PathProbe, PrivateNetwork, Unknown, Verdict
from checks.model.finding import Finding, NextStep, Status
from checks.model.shell_command import for_each, shell
from checks.model.wording import counted, hub, listed
from checks.plugins.shared.path_text import pairs_of
from checks.plugins.shared.place_steps import below_steps, node_step
from checks.plugins.shared.switch_steps import on_switches
from checks.plugins.udp_path.flow_kinds import (
    BOTH_SILENT,
    DEAD_MEMBER,
    ICMP_ONLY,
    IN_PART,
    LARGE_LOST,
    LOSSY_MEMBER,
    NO_ROUTE,
    NONE,
    NOT_SENT,
    OTHER_HOST,
    PASSES,
    REFUSED,
    SHORT_MEMBER,
    SMALL_IN_PART,
    SMALL_LOST,
    SOME_PINGS,
    UNDECIDED,
)
from checks.plugins.udp_path.flow_text import (
    ALL_ANSWERED,
    Judged,
    filter_steps,
    flow_finding,
    limit_steps,
    packet_bytes,
    path_lines,
    small_bytes,
    small_counts,
    small_lines,
)
from checks.plugins.udp_path.member_findings import by_port, dead_member, lossy_member, short_member
from checks.rules.flow_verdicts import (
    OWN_FILTER,
    FlowJudgement,
    FlowVerdict,
    Pair,
    agrees_with_pings,
    contradicts_pings,
    harm,
    is_silent,
    judge_flow,
    missed_member_percent,
    uncounted_at,
)
from checks.rules.observed.datagrams import lost_on_some

_ALL_COUNTED = "As many as were sent, counted by the kernel of the target (Udp.NoPorts)"


@check(
    "udp-path",
    question="Do full-size UDP datagrams pass from several source ports, as blocks do?",
    needs=("networks",),
    uses=("paths", "flows", "activity", "effective_routes", "haip_paths"),
    shows=(ConditionKind.PATH,),
    kinds=(
        PASSES, SHORT_MEMBER, DEAD_MEMBER, NONE, IN_PART, UNDECIDED, NOT_SENT, LARGE_LOST, REFUSED, OTHER_HOST,
        ICMP_ONLY, SOME_PINGS, BOTH_SILENT, NO_ROUTE, LOSSY_MEMBER, SMALL_LOST, SMALL_IN_PART,
    ),
)  # fmt: skip
def udp_path(cluster: Cluster) -> Iterator[Finding]:
    """Sends full-size UDP datagrams from up to 12 source ports of every node to a closed port of every other node.

    The target's kernel answers each with "port unreachable". A link aggregation chooses a link by the ports, so pings,
    which have none, show one link, and these datagrams show as many as the ports happen to take. Where an answer is
    missing, racwire sends small and full-size datagrams again from the same port, a second apart, since a kernel limits
    its answers; it compares what the target's kernel counted (Udp.NoPorts). The port is closed: no socket, no service,
    below net.ipv4.ip_local_port_range. Where large ones arrive, each path sends a few of 228 bytes, as messages of the
    instances are, and the target's kernel counts them. One racwire of a node sends at a time; others use its results.
    """
    if isinstance(cluster.networks, Unknown):
        return
    if not isinstance(cluster.flows, Flows):
        reason = cluster.flows.reason
        is_off = isinstance(cluster.flows, NotGathered)
        yield NOT_SENT.finding(
            "This run sent no UDP datagrams." if is_off else f"UDP datagrams could not be sent: {reason}",
            status=Status.SKIPPED if is_off else Status.UNKNOWN,
            subject="no datagrams",
            evidence=[(node.name, "interfaces") for node in cluster.read_nodes()],
            lacks=[] if is_off else [cluster.flows],
        )
        return
    flows = cluster.flows
    every = list[FlowJudgement]()
    for network in cluster.networks:
        judged = [judge_flow(p, flows, cluster.read_paths()) for p in flows.probes if p.network == network.name]
        yield from _network(cluster, network, judged)
        every += judged
    some = [j for j in every if j.verdict is FlowVerdict.OTHER_ON_SOME]
    for node in dict.fromkeys(j.probe.to_node for j in some):
        yield _other_on_some(cluster, flows, [j for j in some if j.probe.to_node == node])
    if not every:
        yield NOT_SENT.finding(
            "No two nodes that were read have a port on the same private network.",
            subject="no paths",
            evidence=[(node.name, "interfaces") for node in cluster.read_nodes()],
        )


def _network(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> Iterator[Finding]:
    pings = _pings(cluster, network)
    by_pair = {(j.probe.from_node, j.probe.to_node): j for j in judged}
    icmp_only = [j for pair, j in by_pair.items() if contradicts_pings(j, by_pair.get(pair[::-1]), pings.get(pair))]
    as_pings = [j for j in judged if agrees_with_pings(j, pings)]
    silent = [
        j for pair, j in by_pair.items() if j.verdict is FlowVerdict.NONE and pair in pings and is_silent(pings[pair])
    ]
    left = [j for j in judged if j not in as_pings and j not in icmp_only and j not in silent]
    if any(j.verdict is FlowVerdict.IN_PART for j in left):
        # A limit on the rate lets small datagrams pass more often: where some large ones pass, size is not the reason.
        large_lost, in_part = FlowVerdict.LARGE_LOST, FlowVerdict.IN_PART
        left = [replace(j, verdict=in_part) if j.verdict is large_lost else j for j in left]
    makers: dict[FlowVerdict, Callable[[Cluster, PrivateNetwork, Judged], Finding]] = {
        FlowVerdict.SHORT_MEMBER: short_member,
        FlowVerdict.DEAD_MEMBER: dead_member,
        FlowVerdict.LOSSY_MEMBER: lossy_member,
        FlowVerdict.LARGE_LOST: _large_lost,
        FlowVerdict.NONE: _none,
        FlowVerdict.REFUSED: _refused,
        FlowVerdict.NO_ROUTE: _no_route,
        FlowVerdict.OTHER_HOST: _other_host,
        FlowVerdict.IN_PART: _in_part,
        FlowVerdict.SMALL_LOST: _small_lost,
        FlowVerdict.SMALL_IN_PART: _small_in_part,
        FlowVerdict.UNDECIDED: _undecided,
        FlowVerdict.NOT_SENT: _not_sent,
        FlowVerdict.PASSES: _passes,
    }
    for verdict, maker in makers.items():
        if of_verdict := [j for j in left if j.verdict is verdict]:
            yield maker(cluster, network, of_verdict)
    partly = [j for j in icmp_only if pings[j.probe.from_node, j.probe.to_node].verdict is Verdict.LOSS]
    if of_all := [j for j in icmp_only if j not in partly]:
        yield _icmp_only(cluster, network, of_all, ICMP_ONLY)
    if partly:
        yield _icmp_only(cluster, network, partly, SOME_PINGS)
    if silent:
        yield flow_finding(
            BOTH_SILENT, (cluster, network, silent),
            "Neither UDP datagrams nor pings get an answer on {} {}, although the nodes are up.", "silent",
            more=[_counted_at(cluster, node) for node in dict.fromkeys(j.probe.to_node for j in silent)],
            expected=ALL_ANSWERED, next=filter_steps(cluster, network, silent),
        )  # fmt: skip
    if as_pings:
        title = "UDP datagrams are lost on {} {}, as pings are: df-ping has the finding."
        yield flow_finding(NOT_SENT, (cluster, network, as_pings), title, "as the pings")


def _pings(cluster: Cluster, network: PrivateNetwork) -> dict[Pair, PathProbe]:
    return {(p.from_node, p.to_node): p for p in cluster.read_paths() if p.network == network.name}


def _and_pings(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> str:
    """The end of a title: what pings did on the paths of the datagrams; empty where pings do not show that."""
    pings = _pings(cluster, network)
    same = [pings.get((j.probe.from_node, j.probe.to_node)) for j in judged]
    if any(p is None or p.verdict is not Verdict.PASSES for p in same) or _haip_loses(cluster, network, judged):
        return ""
    return ", while pings were lost once and then pass" if any(p and p.reason for p in same) else ", while pings pass"


def _haip_loses(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> bool:
    """Return whether pings between HAIP addresses are lost on the paths of the datagrams, or back."""
    found = cluster.haip_paths.paths if isinstance(cluster.haip_paths, HaipPaths) else ()
    ends = [{j.probe.from_node, j.probe.to_node} for j in judged]
    lossy = [p for p in found if (p.small_answered, p.full_answered) != (p.small_sent, p.full_sent)]
    return any(p.network == network.name and {p.from_node, p.to_node} in ends for p in lossy)


def _large_lost(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> Finding:
    place = (cluster, network, judged)
    as_large = ", and so do pings of that size" if _and_pings(*place) else ""
    return flow_finding(
        LARGE_LOST, place,
        f"UDP packets of {packet_bytes(judged):,} bytes vanish on {{}} {{}} from each of {judged[0].of} source ports; "
        f"small datagrams pass{as_large}.",
        "large UDP vanishes", expected=ALL_ANSWERED, next=filter_steps(cluster, network, judged),
    )  # fmt: skip


def _none(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> Finding:
    arrived = [_counted_at(cluster, node) for node in dict.fromkeys(j.probe.to_node for j in judged)]
    place = (cluster, network, judged)
    return flow_finding(
        NONE, place, f"No UDP datagram arrives on {{}} {{}}{_and_pings(*place)}.",
        "no UDP arrives", more=arrived, expected=ALL_ANSWERED, next=filter_steps(cluster, network, judged),
    )  # fmt: skip


def _counted_at(cluster: Cluster, node: str) -> str:
    arrived = cluster.flows.arrived(node) if isinstance(cluster.flows, Flows) else None
    known = f"{arrived.counted} of {arrived.sent}" if arrived else "an unknown number of the"
    return f"{node}: its kernel counted {known} datagrams to closed ports (Udp.NoPorts)"


def _refused(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> Finding:
    by = sorted({p.prohibited_by for j in judged for p in j.ports if p.prohibited_by})
    says = [f"{address} answers that the datagrams are administratively prohibited" for address in by]
    counts = [_counted_at(cluster, node) for node in dict.fromkeys(j.probe.to_node for j in judged)]
    title = f"A packet filter refuses UDP datagrams on {{}} {{}}: {listed(by)} answers."
    if own := sorted({j.probe.from_node for j in judged for p in j.ports if p.error in OWN_FILTER}):
        title = f"A packet filter of {listed(own)} refuses to send UDP datagrams on {{}} {{}}."
        counts = []  # of the datagrams that the filter let pass
    return flow_finding(
        REFUSED, (cluster, network, judged), title, "filter refuses UDP", status=harm(cluster),
        more=says or counts, expected="Port unreachable, from the kernel of the target",
        next=filter_steps(cluster, network, judged),
    )  # fmt: skip


def _no_route(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> Finding:
    nodes = sorted({j.probe.from_node for j in judged})
    routes = dict.fromkeys(
        shell("ip route get {to} from {source}", to=j.probe.destination_ip, source=j.probe.source_ip) for j in judged
    )
    finding = flow_finding(
        NO_ROUTE, (cluster, network, judged),
        f"The routes of {listed(nodes)} refuse packets for private addresses on {{}} {{}}.",
        "routes refuse packets", expected="A route over the NIC of the network",
        next=(
            NextStep(
                "Display the route in use, the rules, and the routes of each type and table.",
                (*routes, "ip rule show", "ip route show table all"),
                f"any user on {listed(nodes)}",
            ),
            NextStep("Find out which service set the route or the rule, and remove it there and from the kernel."),
        ),
    )  # fmt: skip
    return msgspec.structs.replace(finding, nodes=tuple(nodes))


def _other_host(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> Finding:
    nodes = list(dict.fromkeys(j.probe.to_node for j in judged))
    return flow_finding(
        OTHER_HOST, (cluster, network, judged),
        "UDP datagrams are answered on {} {}, but not by the kernel of the target, which did not count them.",
        "answered by another", status=harm(cluster), more=[_counted_at(cluster, node) for node in nodes],
        expected="Port unreachable, from the kernel of the target",
        next=(_search_owner(judged), *filter_steps(cluster, network, judged)),
    )  # fmt: skip


def _search_owner(judged: Judged) -> NextStep:
    return NextStep(
        "Search the hosts on the network for a second owner of the address, the NICs of the sender first.",
        for_each("ip -brief address | grep -F {to}", to=(j.probe.destination_ip for j in judged)),
        "any user on each node",
    )


def _other_on_some(cluster: Cluster, flows: Flows, judged: Judged) -> Finding:
    """Return the finding about a node whose kernel counts all networks together: on which path is not known."""
    node, networks = judged[0].probe.to_node, {j.probe.network for j in judged}
    uncounted, answers = uncounted_at(flows, node), sum(j.probe.datagrams for j in judged)
    return OTHER_HOST.finding(
        f"The kernel of {node} did not count {uncounted} of {answers} UDP datagrams to it that were answered: another "
        "host answers on a path to it.",
        status=harm(cluster),
        subject=f"{node}: another answers in part",
        seen=(*path_lines(judged), _counted_at(cluster, node)),
        expected=("Port unreachable, from the kernel of the target",),
        next=(_search_owner(judged),),
        evidence=[(sender, "udp datagrams") for sender in dict.fromkeys(j.probe.from_node for j in judged)],
        observed=lost_on_some(cluster, judged, uncounted),
        network=networks.pop() if len(networks) == 1 else "",
        nodes=(node,),
    )


def _small_lost(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> Finding:
    """Return the finding for paths on which no small datagram arrives."""
    sizes = f"{small_bytes(judged)} bytes vanish on {{}} {{}}; those of {packet_bytes(judged):,} bytes"
    return flow_finding(
        SMALL_LOST, (cluster, network, judged), f"UDP packets of {sizes} pass.",
        "small UDP vanishes", more=small_lines(judged), expected=_ALL_COUNTED,
        next=filter_steps(cluster, network, judged),
    )  # fmt: skip


def _small_in_part(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> Finding:
    """Return the finding for paths that lose a part of the small datagrams."""
    sent, arrived = small_counts(judged)
    return flow_finding(
        SMALL_IN_PART, (cluster, network, judged),
        f"{sent - arrived} of {sent} UDP packets of {small_bytes(judged)} bytes are lost on {{}} {{}}; those of "
        f"{packet_bytes(judged):,} bytes pass.",
        "small UDP lost in part", status=harm(cluster), more=small_lines(judged), expected=_ALL_COUNTED,
        next=limit_steps(network, judged),
    )  # fmt: skip


def _in_part(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> Finding:
    place = (cluster, network, judged)
    silent, of = sum(len(j.ports) for j in judged), sum(j.of for j in judged)
    arrived = [_counted_at(cluster, node) for node in dict.fromkeys(j.probe.to_node for j in judged)]
    arrived += [by_port(j.probe) for j in judged if j.probe.turns]
    return flow_finding(
        IN_PART, place,
        f"{silent} of {of} full-size UDP datagrams are lost on {{}} {{}}{_and_pings(*place)}.",
        "UDP lost in part", more=arrived, expected=ALL_ANSWERED,
        next=limit_steps(network, judged),
    )  # fmt: skip


def _undecided(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> Finding:
    return flow_finding(
        UNDECIDED, (cluster, network, judged),
        "Whether all UDP datagrams arrive on {} {} is not decided: some got no answer.", "not decided",
        next=(NextStep("Run this check again, alone.", ("racwire check udp-path",)),),
    )  # fmt: skip


def _not_sent(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> Finding:
    return flow_finding(NOT_SENT, (cluster, network, judged), "No UDP was sent on {} {}.", "not sent")


def _passes(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> Finding:
    fewest = min(j.of for j in judged)
    missed = [f"one of {n} links: {missed_member_percent(fewest, n):.2g} %" for n in (2, 4)]
    return flow_finding(
        PASSES, (cluster, network, judged),
        f"UDP packets of {packet_bytes(judged):,} bytes from {counted(fewest, 'source port')} of each path arrive on "
        "{} {}.",
        f"{fewest} source ports",
        more=[
            f"chance that no source port of a path took a certain link of an aggregation: {'; '.join(missed)}",
            *small_lines(judged),
        ],
    )  # fmt: skip


def _icmp_only(cluster: Cluster, network: PrivateNetwork, judged: Judged, kind: Kind) -> Finding:
    fewest = min(j.of for j in judged)
    pairs = pairs_of(j.probe for j in judged)
    centre = hub(pairs, [p.node for p in network.ports])
    near = [centre] if centre else sorted({node for pair in pairs for node in pair})
    return flow_finding(
        kind, (cluster, network, judged),
        f"UDP packets of {packet_bytes(judged):,} bytes from {counted(fewest, 'source port')} pass on {{}} {{}}, where "
        f"{'pings' if kind is ICMP_ONLY else 'some pings'} are lost.",
        "UDP passes, pings do not",
        next=(
            node_step(cluster, network, near), *below_steps(cluster, network, near),
            on_switches(
                f"Ask the network team for a policer or a filter of ICMP on the ports and the VLAN of {network.name}. "
                "Control-plane policing is not it: it limits what is sent to the switch itself.",
                "show policy-map interface PORT", "show access-lists",
            ),
        ),
    )  # fmt: skip
