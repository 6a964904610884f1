"""Do full-size UDP datagrams pass from several source ports, as blocks do?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from checks.model.check import Kind, check
from checks.model.facts import Cluster, FlowPort, Flows, NotGathered, PrivateNetwork, Unknown, Verdict
from checks.model.finding import FAULTS, Finding, Remedy, Status
from checks.model.packet_sizes import packet_of
from checks.model.wording import between, counted, few, hub, listed
from checks.plugins.shared.path_text import first_lines, short_name
from checks.plugins.udp_path.flow_kinds import (
    DEAD_MEMBER,
    ICMP_ONLY,
    IN_PART,
    LARGE_LOST,
    NONE,
    NOT_SENT,
    PASSES,
    REFUSED,
    SHORT_MEMBER,
    UNDECIDED,
)
from checks.rules.udp_flows import (
    FlowJudgement,
    FlowVerdict,
    agrees_with_pings,
    contradicts_pings,
    harm,
    is_fine,
    judge_flow,
    missed_member_percent,
    whole,
)

_Judged = Sequence[FlowJudgement]


@check(
    "udp-path",
    question="Do full-size UDP datagrams pass from several source ports, as blocks do?",
    needs=("networks",),
    uses=("paths", "flows", "activity"),
    kinds=(
        PASSES, SHORT_MEMBER, DEAD_MEMBER, NONE, IN_PART, UNDECIDED, NOT_SENT, LARGE_LOST, REFUSED, ICMP_ONLY,
    ),
)  # fmt: skip
def udp_path(cluster: Cluster) -> Iterator[Finding]:
    """Sends full-size UDP datagrams from up to 12 source ports of every node to a closed port of every other node.

    The target's kernel answers each with "port unreachable". A link aggregation chooses a link by the ports, so pings,
    which have none, show one link, and these datagrams show as many as the ports happen to take. Where an answer is
    missing, racwire sends small and full-size datagrams again from the same port, a second apart, since a kernel limits
    its answers; it compares what the target's kernel counted (Udp.NoPorts). The port is closed: no socket, no service,
    below net.ipv4.ip_local_port_range.
    """
    if isinstance(cluster.networks, Unknown):
        return
    if not isinstance(cluster.flows, Flows):
        reason = cluster.flows.reason
        is_off = isinstance(cluster.flows, NotGathered)
        yield NOT_SENT.finding(
            Status.SKIPPED if is_off else Status.UNKNOWN,
            "This run sent no UDP datagrams." if is_off else f"UDP datagrams could not be sent: {reason}",
            subject="no datagrams",
            lacks=[] if is_off else [cluster.flows],
        )
        return
    flows = cluster.flows
    found = False
    for network in cluster.networks:
        probes = [p for p in flows.probes if p.network == network.name]
        if probes:
            found = True
            yield from _network(cluster, network, [judge_flow(p, flows) for p in probes])
    if not found:
        yield NOT_SENT.finding(
            Status.SKIPPED, "No two nodes that were read have a port on the same private network.", subject="no paths"
        )


def _network(cluster: Cluster, network: PrivateNetwork, judged: _Judged) -> Iterator[Finding]:
    pings = {} if isinstance(cluster.paths, Unknown) else {
        (p.from_node, p.to_node): p.verdict for p in cluster.paths if p.network == network.name
    }  # fmt: skip

    def ping(one: FlowJudgement) -> Verdict | None:
        return pings.get((one.probe.from_node, one.probe.to_node))

    as_pings = [j for j in judged if agrees_with_pings(j, ping(j))]
    icmp_only = [j for j in judged if contradicts_pings(j, ping(j))]
    left = [j for j in judged if j not in as_pings and j not in icmp_only]
    if any(j.verdict is FlowVerdict.IN_PART for j in left):
        # A limit on the rate lets small datagrams pass more often: where some large ones pass, size is not the reason.
        large_lost, in_part = FlowVerdict.LARGE_LOST, FlowVerdict.IN_PART
        left = [replace(j, verdict=in_part) if j.verdict is large_lost else j for j in left]
    makers: dict[FlowVerdict, Callable[[Cluster, PrivateNetwork, _Judged], Finding]] = {
        FlowVerdict.SHORT_MEMBER: _short_member,
        FlowVerdict.DEAD_MEMBER: _dead_member,
        FlowVerdict.LARGE_LOST: _large_lost,
        FlowVerdict.NONE: _none,
        FlowVerdict.REFUSED: _refused,
        FlowVerdict.IN_PART: _in_part,
        FlowVerdict.UNDECIDED: _undecided,
        FlowVerdict.NOT_SENT: _not_sent,
        FlowVerdict.PASSES: _passes,
    }
    for verdict, maker in makers.items():
        if of_verdict := [j for j in left if j.verdict is verdict]:
            yield maker(cluster, network, of_verdict)
    if icmp_only:
        yield _icmp_only(cluster, network, icmp_only)
    if as_pings:
        title = "UDP datagrams are lost on {} {}, as pings are: df-ping has the finding."
        yield _finding(NOT_SENT, Status.SKIPPED, (cluster, network, as_pings), title, "as the pings")


# --- texts ------------------------------------------------------------------------------------------------------------


def _where(cluster: Cluster, network: PrivateNetwork, judged: _Judged) -> str:
    nodes = () if isinstance(cluster.nodes, Unknown) else cluster.nodes
    complete = all(network.port(node.name) for node in nodes)
    pairs = {(j.probe.from_node, j.probe.to_node) for j in judged}
    return between(pairs, [p.node for p in network.ports], complete)


def _size(judged: _Judged) -> int:
    """Return the bytes of the IP packets of the full-size datagrams."""
    first = judged[0].probe
    return packet_of(whole(first)[0].payload, 6 if ":" in first.destination_ip else 4)


def _lines(judged: _Judged) -> tuple[str, ...]:
    return first_lines([f"{j.probe.from_node} -> {j.probe.to_node}: {_line(j)}" for j in judged], "path like these")


def _line(judged: FlowJudgement) -> str:
    ports = whole(judged.probe)
    parts = [
        f"{sum(map(is_fine, ports))} of {counted(len(ports), 'source port')} got an answer to each full-size datagram"
    ]
    again = [p for p in ports if p.small_sent]
    if again:
        large, answered = sum(p.sent for p in again), sum(p.answered for p in again)
        small, of_small = sum(p.small_answered for p in again), sum(p.small_sent for p in again)
        parts.append(
            f"{counted(len(again), 'other')} examined: {answered} of {large} full-size and {small} of {of_small} small "
            "answered"
        )
    return "; ".join([*parts, *([judged.reason] if judged.reason else [])])


def _numbers(ports: Sequence[FlowPort]) -> str:
    return few((str(p.source_port) for p in ports), 6)


_Place = tuple[Cluster, PrivateNetwork, _Judged]


def _finding(
    kind: Kind,
    status: Status,
    place: _Place,
    title: str,
    subject: str,
    *,
    more: Sequence[str] = (),
    expected: str = "",
    next: Sequence[Remedy] = (),  # noqa: A002 - the word on the screen
) -> Finding:
    """Return a finding about paths of one network; the title has `{}` for the network and for the directions."""
    cluster, network, judged = place
    pairs = {(j.probe.from_node, j.probe.to_node) for j in judged}
    centre = hub(pairs, [p.node for p in network.ports])
    ports = [p for j in judged for p in j.probe.ports]
    return kind.finding(
        status,
        title.format(network.name, _where(cluster, network, judged)),
        subject=f"{short_name(network, centre)}: {subject}",
        data={
            "paths": len(judged),
            "source_ports": max(j.of for j in judged),
            "datagrams": sum(j.probe.datagrams for j in judged),
            "answered": sum(p.answered + p.small_answered + p.full_answered for p in ports),
        },
        seen=(*_lines(judged), *more),
        expected=(expected,) if expected else (),
        next=next,
        evidence=[
            *((node, "udp datagrams") for node in dict.fromkeys(j.probe.from_node for j in judged)),
            *((j.probe.from_node, f"path {network.name} {j.probe.from_node} {j.probe.to_node}") for j in judged),
        ],
        network=network.name,
        nodes=([centre] if centre else sorted({n for pair in pairs for n in pair})) if status in FAULTS else (),
        extent=(len(judged), "paths") if status in FAULTS else None,
    )


_ALL_ANSWERED = "An answer to a full-size datagram of each source port"
_AGGREGATION = (
    "cat /proc/net/bonding/*",
    "ip -details link show",
)


def _members(judged: _Judged, what: str) -> tuple[str, ...]:
    """Return the source ports that lose, and how many links their share suggests."""
    worst = max(judged, key=lambda j: len(j.ports))
    probe = worst.probe
    lines = [f"{probe.from_node} -> {probe.to_node}: source ports that lose {what}: {_numbers(worst.ports)}"]
    fine = [p for p in whole(probe) if is_fine(p)]
    return (*lines, f"source ports that lose none: {_numbers(fine)}; target port {probe.destination_port}")


def _reproduce(judged: _Judged, size: int) -> Remedy:
    probe = judged[0].probe
    fine = [p.source_port for p in whole(probe) if is_fine(p)]
    commands = tuple(
        f"iperf3 -u -c {probe.destination_ip} -B {probe.source_ip} --cport {port} -l {size} -n 10"
        for port in (judged[0].ports[0].source_port, *fine[:1])
    )
    return Remedy(
        f"Reproduce by hand, with `iperf3 -s` on {probe.to_node}: the first source port loses, the second does not.",
        commands,
        f"any user on {probe.from_node}",
    )


def _ask_for_members(network: PrivateNetwork, text: str) -> tuple[Remedy, ...]:
    nics = " ".join(dict.fromkeys(p.interface for p in network.ports))
    return (
        Remedy(
            f"Ask the network team to test each link of every aggregation on the way, those of the nodes ({nics}) and "
            f"those between switches: {text}.",
            ("show port-channel summary", "show interface PORT | include MTU", "show interface PORT counters errors"),
            "the network team, on each switch",
        ),
        Remedy("Where the node itself has a bond, compare its members.", _AGGREGATION, "any user on each node"),
    )


def _short_member(cluster: Cluster, network: PrivateNetwork, judged: _Judged) -> Finding:
    size = _size(judged)
    return _finding(
        SHORT_MEMBER, Status.FAIL, (cluster, network, judged),
        f"UDP packets of {size:,} bytes vanish from {_share(judged)} on {{}} {{}}; other source ports lose none, and "
        "small datagrams pass from all.",
        f"{_share(judged)} lose jumbo frames" if size > 1500 else f"{_share(judged)} lose full-size packets",
        more=_members(judged, "full-size datagrams"), expected=_ALL_ANSWERED,
        next=(
            *_ask_for_members(network, f"one of them carries no packets of {size:,} bytes"),
            _reproduce(judged, size - 28),
        ),
    )  # fmt: skip


def _share(judged: _Judged) -> str:
    worst = max(judged, key=lambda j: len(j.ports))
    return f"{len(worst.ports)} of {worst.of} source ports"


def _dead_member(cluster: Cluster, network: PrivateNetwork, judged: _Judged) -> Finding:
    return _finding(
        DEAD_MEMBER, Status.FAIL, (cluster, network, judged),
        f"UDP datagrams of every size vanish from {_share(judged)} on {{}} {{}}; other source ports lose none.",
        f"{_share(judged)} pass nothing", more=_members(judged, "all datagrams"), expected=_ALL_ANSWERED,
        next=(*_ask_for_members(network, "one of them passes nothing"), _reproduce(judged, 1000)),
    )  # fmt: skip


def _filter_steps(judged: _Judged) -> tuple[Remedy, ...]:
    nodes = sorted({j.probe.to_node for j in judged})
    return (
        Remedy(
            "Look for a packet filter on the node: the private NICs belong in a zone that accepts everything.",
            ("systemctl is-active firewalld nftables iptables", "firewall-cmd --get-active-zones", "nft list ruleset"),
            f"root on {listed(nodes)}",
        ),
        Remedy("Ask the network team for filters (ACLs) and policers on the ports and the VLAN of the network."),
    )


def _large_lost(cluster: Cluster, network: PrivateNetwork, judged: _Judged) -> Finding:
    size = _size(judged)
    return _finding(
        LARGE_LOST, Status.FAIL, (cluster, network, judged),
        f"UDP packets of {size:,} bytes vanish on {{}} {{}} from each of {judged[0].of} source ports; small datagrams "
        "pass, and so do pings of that size.",
        "large UDP vanishes", expected=_ALL_ANSWERED, next=_filter_steps(judged),
    )  # fmt: skip


def _none(cluster: Cluster, network: PrivateNetwork, judged: _Judged) -> Finding:
    arrived = [_counted_at(cluster, node) for node in dict.fromkeys(j.probe.to_node for j in judged)]
    return _finding(
        NONE, harm(cluster), (cluster, network, judged), "No UDP datagram arrives on {} {}, while pings pass.",
        "no UDP arrives", more=arrived, expected=_ALL_ANSWERED, next=_filter_steps(judged),
    )  # fmt: skip


def _counted_at(cluster: Cluster, node: str) -> str:
    arrived = cluster.flows.arrived(node) if isinstance(cluster.flows, Flows) else None
    known = f"{arrived.counted} of {arrived.sent}" if arrived else "an unknown number of the"
    return f"{node}: its kernel counted {known} datagrams to closed ports (Udp.NoPorts)"


def _refused(cluster: Cluster, network: PrivateNetwork, judged: _Judged) -> Finding:
    by = sorted({p.prohibited_by for j in judged for p in j.ports if p.prohibited_by})
    says = [f"{address} answers that the datagrams are administratively prohibited" for address in by]
    counts = [_counted_at(cluster, node) for node in dict.fromkeys(j.probe.to_node for j in judged)]
    title = f"A packet filter refuses UDP datagrams on {{}} {{}}: {listed(by)} answers."
    if not by:
        title = "UDP datagrams are answered on {} {}, but not by the kernel of the target, which did not count them."
    return _finding(
        REFUSED, harm(cluster), (cluster, network, judged), title,
        "filter refuses UDP", more=says or counts, expected="Port unreachable, from the kernel of the target",
        next=_filter_steps(judged),
    )  # fmt: skip


def _in_part(cluster: Cluster, network: PrivateNetwork, judged: _Judged) -> Finding:
    silent, of = sum(len(j.ports) for j in judged), sum(j.of for j in judged)
    arrived = [_counted_at(cluster, node) for node in dict.fromkeys(j.probe.to_node for j in judged)]
    return _finding(
        IN_PART, Status.WARN, (cluster, network, judged),
        f"{silent} of {of} full-size UDP datagrams are lost on {{}} {{}}, while pings pass.",
        "UDP lost in part", more=arrived, expected=_ALL_ANSWERED,
        next=(
            Remedy(
                "Ask the network team for policers and queue drops on the ports of the nodes.",
                ("show policy-map interface PORT", "show queuing interface PORT"), "the network team, on each switch",
            ),
            Remedy(
                "Look for a limit on the nodes.", ("tc -s qdisc show", "nft list ruleset"),
                f"root on {listed(sorted({n for j in judged for n in (j.probe.from_node, j.probe.to_node)}))}",
            ),
        ),
    )  # fmt: skip


def _undecided(cluster: Cluster, network: PrivateNetwork, judged: _Judged) -> Finding:
    return _finding(
        UNDECIDED, Status.INFO, (cluster, network, judged),
        "Whether all UDP datagrams arrive on {} {} is not decided: some got no answer.", "not decided",
        next=(Remedy("Run this check again, alone.", ("racwire check udp-path",)),),
    )  # fmt: skip


def _not_sent(cluster: Cluster, network: PrivateNetwork, judged: _Judged) -> Finding:
    return _finding(NOT_SENT, Status.SKIPPED, (cluster, network, judged), "No UDP was sent on {} {}.", "not sent")


def _passes(cluster: Cluster, network: PrivateNetwork, judged: _Judged) -> Finding:
    fewest = min(j.of for j in judged)
    missed = [f"one of {n} links: {missed_member_percent(fewest, n):.2g} %" for n in (2, 4)]
    return _finding(
        PASSES, Status.PASS, (cluster, network, judged),
        f"UDP packets of {_size(judged):,} bytes from {counted(fewest, 'source port')} of each path arrive on {{}} "
        "{}.",
        f"{fewest} source ports",
        more=[f"chance that no source port of a path took a certain link of an aggregation: {'; '.join(missed)}"],
    )  # fmt: skip


def _icmp_only(cluster: Cluster, network: PrivateNetwork, judged: _Judged) -> Finding:
    fewest = min(j.of for j in judged)
    return _finding(
        ICMP_ONLY, Status.WARN, (cluster, network, judged),
        f"UDP packets of {_size(judged):,} bytes from {counted(fewest, 'source port')} pass on {{}} {{}}, where pings "
        "are lost.",
        "UDP passes, pings do not",
        next=(
            Remedy(
                "Ask the network team for a policer or a filter of ICMP on the ports and the VLAN of the network.",
                ("show policy-map interface control-plane", "show access-lists"), "the network team, on each switch",
            ),
        ),
    )  # fmt: skip
