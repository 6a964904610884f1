"""The findings of udp-path about small datagrams: lost whole, or in part, where full-size ones pass."""

from __future__ import annotations

from checks.model.facts import Cluster, FlowProbe, PrivateNetwork, SmallDatagrams, Unknown
from checks.model.finding import Finding, Remedy, Status
from checks.model.packet_sizes import packet_of
from checks.model.wording import listed
from checks.plugins.shared.path_text import first_lines
from checks.plugins.udp_path.flow_kinds import SMALL_IN_PART, SMALL_LOST
from checks.plugins.udp_path.flow_text import Judged, filter_steps, flow_finding, packet_bytes
from checks.rules.flow_verdicts import harm

_ALL_COUNTED = "As many as were sent, counted by the kernel of the target (Udp.NoPorts)"


def _small_bytes(judged: Judged) -> int:
    """Return the bytes of the IP packets of the small datagrams."""
    first = next(j.probe for j in judged if isinstance(j.probe.small, SmallDatagrams))
    assert isinstance(first.small, SmallDatagrams)
    return packet_of(first.small.payload, 6 if ":" in first.destination_ip else 4)


def _small_counts(judged: Judged) -> tuple[int, int]:
    """Return how many small datagrams were sent on these paths, and how many arrived."""
    known = [j.probe.small for j in judged if isinstance(j.probe.small, SmallDatagrams)]
    return sum(one.sent for one in known), sum(one.counted for one in known)


def small_lines(judged: Judged) -> tuple[str, ...]:
    """Return what became of the small datagrams: a line for each path that lost some or was not examined; where all
    arrived, one line."""
    lines = [f"{j.probe.from_node} -> {j.probe.to_node}: {text}" for j in judged if (text := _small_text(j.probe))]
    sent, arrived = _small_counts(judged)
    every = [f"{arrived} of {sent} UDP packets of {_small_bytes(judged)} bytes arrived"] if arrived else []
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


def limit_steps(network: PrivateNetwork, judged: Judged) -> tuple[Remedy, ...]:
    """Return the steps that look for a limit on the rate of UDP: in the network, and on the nodes."""
    return (
        Remedy(
            f"Ask the network team for policers and queue drops on the ports of the nodes on {network.name}.",
            ("show policy-map interface PORT", "show queuing interface PORT"),
            "the network team, on each switch",
        ),
        Remedy(
            "Look for a limit on the nodes.",
            ("tc -s qdisc show", "nft list ruleset"),
            f"root on {listed(sorted({n for j in judged for n in (j.probe.from_node, j.probe.to_node)}))}",
        ),
    )


def small_lost(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> Finding:
    """Return the finding for paths on which no small datagram arrives."""
    sizes = f"{_small_bytes(judged)} bytes vanish on {{}} {{}}; those of {packet_bytes(judged):,} bytes"
    return flow_finding(
        SMALL_LOST, Status.FAIL, (cluster, network, judged), f"UDP packets of {sizes} pass.",
        "small UDP vanishes", more=small_lines(judged), expected=_ALL_COUNTED,
        next=filter_steps(cluster, network, judged),
    )  # fmt: skip


def small_in_part(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> Finding:
    """Return the finding for paths that lose a part of the small datagrams."""
    sent, arrived = _small_counts(judged)
    return flow_finding(
        SMALL_IN_PART, harm(cluster), (cluster, network, judged),
        f"{sent - arrived} of {sent} UDP packets of {_small_bytes(judged)} bytes are lost on {{}} {{}}; those of "
        f"{packet_bytes(judged):,} bytes pass.",
        "small UDP lost in part", more=small_lines(judged), expected=_ALL_COUNTED,
        next=limit_steps(network, judged),
    )  # fmt: skip
