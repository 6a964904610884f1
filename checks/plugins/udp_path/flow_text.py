"""How findings about UDP datagrams read: directions, the counts of each path, next steps, the fields of a finding."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from checks.model.check import Kind
from checks.model.facts import (
    Cluster,
    FlowPort,
    FlowProbe,
    Flows,
    Held,
    OtherSender,
    PrivateNetwork,
    SmallDatagrams,
    Unknown,
)
from checks.model.finding import FAULTS, Finding, NextStep, Status
from checks.model.observation import Observation
from checks.model.packet_sizes import ip_version, packet_of
from checks.model.wording import counted, few, hub, listed
from checks.plugins.shared.filter_commands import FILTERS, NFTABLES
from checks.plugins.shared.path_text import first_lines, pairs_of, short_name, where
from checks.plugins.shared.place_steps import below_steps, capture_steps
from checks.plugins.shared.switch_steps import on_switches
from checks.plugins.udp_path.flow_kinds import ICMP_ONLY, SMALL_IN_PART, SMALL_LOST, SOME_PINGS
from checks.rules.flow_verdicts import OWN_FILTER, FlowJudgement, flows_of, is_fine, whole
from checks.rules.observed.datagrams import datagrams
from checks.rules.observed.pings import pings

Judged = Sequence[FlowJudgement]


def packet_bytes(judged: Judged) -> int:
    """Return the bytes of the IP packets of the full-size datagrams."""
    first = judged[0].probe
    return packet_of(whole(first)[0].payload, ip_version(first.destination_ip))


def path_lines(judged: Judged) -> tuple[str, ...]:
    """Return what the source ports of each path show, the first paths of them."""
    return first_lines([f"{j.probe.from_node} -> {j.probe.to_node}: {_line(j)}" for j in judged], "path like these")


def _line(judged: FlowJudgement) -> str:
    ports = whole(judged.probe)
    answers = (
        f"{sum(map(is_fine, ports))} of {counted(len(ports), 'source port')} got an answer to each full-size datagram"
    )
    parts = [answers] if ports else []
    again = [p for p in ports if p.small_sent]
    if again:
        large, answered = sum(p.sent for p in again), sum(p.answered for p in again)
        small, of_small = sum(p.small_answered for p in again), sum(p.small_sent for p in again)
        parts.append(
            f"{counted(len(again), 'other')} examined: {answered} of {large} full-size and {small} of {of_small} small "
            "answered"
        )
    return "; ".join([*parts, *([judged.reason] if judged.reason else [])])


_HELD = {
    Held.MEMORY: "more than 5 % of the memory for reassembly of {} is in use",
    Held.SHARE: "others to {} got no answer, and incomplete ones may hold 5 % of its memory for reassembly",
    Held.OTHERS: "another racwire sent before, and what it left in the memory of {} is not known",
}


def held_text(probe: FlowProbe) -> str:
    """Return how many datagrams in fragments were not sent on a path, and why; empty where all were sent."""
    held = sum(port.held for port in probe.ports)
    return f"{held} in fragments not sent: {_HELD[probe.held].format(probe.to_node)}" if probe.held else ""


def others_text(flows: Flows | None, nodes: Sequence[str]) -> tuple[str, ...]:
    """Return who else sent from these nodes at the same time, a line each."""
    others = [other for other in (flows.others if flows else ()) if other.node in nodes]
    return first_lines([f"{other.node}: {_other_text(other)}" for other in others], "line like these")


def _other_text(other: OtherSender) -> str:
    who = f"pid {other.pid}" if other.pid else "another process"
    if other.age_s is not None:
        return f"probed by {who}, another racwire, {other.age_s:.0f} s before; its results are used"
    end = "did not end, so both sent" if other.is_still else "ended, and then this one sent"
    return f"{who} had the lock of racwire's senders; racwire waited {other.waited_s:.0f} s; it {end}"


def small_bytes(judged: Judged) -> int:
    """Return the bytes of the IP packets of the small datagrams."""
    first = next(j.probe for j in judged if isinstance(j.probe.small, SmallDatagrams))
    assert isinstance(first.small, SmallDatagrams)
    return packet_of(first.small.payload, ip_version(first.destination_ip))


def small_counts(judged: Judged) -> tuple[int, int]:
    """Return how many small datagrams were sent on these paths, and how many arrived."""
    known = [j.probe.small for j in judged if isinstance(j.probe.small, SmallDatagrams)]
    return sum(one.sent for one in known), sum(one.counted for one in known)


def small_lines(judged: Judged) -> tuple[str, ...]:
    """Return what became of the small datagrams: a line for each path that lost some or was not examined; where all
    arrived, one line."""
    lines = [f"{j.probe.from_node} -> {j.probe.to_node}: {text}" for j in judged if (text := _small_text(j.probe))]
    sent, arrived = small_counts(judged)
    every = [f"{arrived} of {sent} UDP packets of {small_bytes(judged)} bytes arrived"] if arrived else []
    return (*every, *first_lines(lines, "path like these"))


def _small_text(probe: FlowProbe) -> str:
    small = probe.small
    if isinstance(small, Unknown):
        return f"small datagrams were not examined: {small.reason}"
    if small is None or 0 < small.sent == small.counted:
        return ""
    if small.error:
        return f"the kernel of {probe.from_node} does not send small datagrams: {small.error}"
    return f"{small.counted} of {small.sent} small datagrams arrived"


def port_numbers(ports: Sequence[FlowPort]) -> str:
    """Return the numbers of the source ports, the first six of them."""
    return few((str(p.source_port) for p in ports), 6)


Place = tuple[Cluster, PrivateNetwork, Judged]


def flow_finding(
    kind: Kind,
    place: Place,
    title: str,
    subject: str,
    *,
    status: Status | None = None,
    more: Sequence[str] = (),
    expected: str = "",
    next: Sequence[NextStep] = (),  # noqa: A002 - the word on the screen
) -> Finding:
    """Return a finding about paths of one network; the title has `{}` for the network and for the directions."""
    cluster, network, judged = place
    pairs = pairs_of(j.probe for j in judged)
    centre = hub(pairs, [p.node for p in network.ports])
    ports = [p for j in judged for p in j.probe.ports]
    own = (*more, *path_lines(judged)) if kind in (SMALL_LOST, SMALL_IN_PART) else (*path_lines(judged), *more)
    is_fault = (status or kind.status) in FAULTS
    return kind.finding(
        title.format(network.name, where(cluster, network, pairs)),
        status=status,
        subject=f"{short_name(network, centre)}: {subject}",
        data={
            "paths": len(judged),
            "source_ports": max(j.of for j in judged),
            "datagrams": sum(j.probe.datagrams for j in judged),
            "answered": sum(p.answered + p.small_answered + p.full_answered for p in ports),
        },
        seen=(*own, *others_text(flows_of(cluster), [j.probe.from_node for j in judged])),
        expected=(expected,) if expected else (),
        next=next,
        evidence=[
            *((node, "udp datagrams") for node in dict.fromkeys(j.probe.from_node for j in judged)),
            *((j.probe.from_node, f"path {network.name} {j.probe.from_node} {j.probe.to_node}") for j in judged),
        ],
        observed=(*datagrams(cluster, judged), *_pings_beside(cluster, network, kind, pairs)),
        network=network.name,
        nodes=([centre] if centre else sorted({n for pair in pairs for n in pair})) if is_fault else (),
        extent=(len(judged), "paths") if is_fault else None,
    )


def _pings_beside(
    cluster: Cluster, network: PrivateNetwork, kind: Kind, pairs: Collection[tuple[str, str]]
) -> tuple[Observation, ...]:
    """Return what became of the pings on the same paths, where the finding is about both."""
    if kind not in (ICMP_ONLY, SOME_PINGS):
        return ()
    paths = cluster.read_paths()
    return pings(cluster, [p for p in paths if p.network == network.name and (p.from_node, p.to_node) in pairs])


def _errors(probe: FlowProbe) -> tuple[str, ...]:
    small = (probe.small.error,) if isinstance(probe.small, SmallDatagrams) else ()
    return (*(port.error for port in probe.ports), *small)


def filter_steps(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> tuple[NextStep, ...]:
    """Return the steps that look for a filter: on the nodes, by a capture, below the NICs, in the network."""
    own = {j.probe.from_node for j in judged for error in _errors(j.probe) if error in OWN_FILTER}
    pairs = pairs_of(j.probe for j in judged)
    ends = [hub(pairs, [p.node for p in network.ports])] if len(pairs) > 1 else []
    nodes = sorted(own or [node for node in ends if node] or {j.probe.to_node for j in judged})
    on_nodes = NextStep(
        "Look for a packet filter on the node: the private NICs belong in a zone that accepts everything.",
        FILTERS,
        f"root on {listed(nodes)}",
    )
    if own:  # the packets never reached a switch
        return (on_nodes,)
    ask = NextStep(f"Ask the network team for filters (ACLs) and policers on the ports and the VLAN of {network.name}.")
    peer = next((node for pair in sorted(pairs) for node in sorted(pair) if node not in nodes[:1]), "")
    packets = ("icmp", "or", "udp", "port", str(judged[0].probe.destination_port))
    during = "`racwire check udp-path` runs"
    return (
        on_nodes,
        *capture_steps(network, nodes[0], peer, packets, during),
        *below_steps(cluster, network, nodes),
        ask,
    )


def limit_steps(network: PrivateNetwork, judged: Judged) -> tuple[NextStep, ...]:
    """Return the steps that look for a limit on the rate of UDP: in the network, and on the nodes."""
    return (
        on_switches(
            f"Ask the network team for policers and queue drops on the ports of the nodes on {network.name}.",
            "show policy-map interface PORT",
            "show queuing interface PORT",
        ),
        NextStep(
            "Look for a limit on the nodes.",
            ("tc -s qdisc show", NFTABLES),
            f"root on {listed(sorted({n for j in judged for n in (j.probe.from_node, j.probe.to_node)}))}",
        ),
    )


ALL_ANSWERED = "An answer to a full-size datagram of each source port"
