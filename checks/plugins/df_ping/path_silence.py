"""The findings of df-ping in which small packets get no answer either: loss, no answer, filters, no probe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checks.model.facts import Cluster, PathProbe, PrivateNetwork, Verdict
from checks.model.finding import Finding, Remedy, Status
from checks.model.wording import counted, listed
from checks.plugins.df_ping.path_kinds import FILTERED, LOSS, LOST_ONCE, NOT_PROBED, UNREACHABLE
from checks.plugins.df_ping.path_places import at_fault, pairs_of, path_data, silent_nodes, where, where_either_way
from checks.plugins.shared.path_text import evidence_of, first_lines, reasons_of, result_lines, short_name
from checks.rules.node_counts import sysctl
from checks.rules.path_status import loss_status, packet_loss


def lost_once_finding(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Finding:
    """Return the finding for packets that were lost while all paths were probed at once, and not one path at a time."""
    return LOST_ONCE.finding(
        Status.INFO,
        f"Packets were lost once on {network.name} {where_either_way(cluster, network, pairs_of(paths))}, "
        "and not again.",
        subject=f"{short_name(network)}: lost once",
        data=path_data(paths),
        seen=first_lines([f"{p.from_node} -> {p.to_node}: {p.reason}" for p in paths], "path like these"),
        expected=("None lost",),
        next=[Remedy("Run this check again several times.", ("racwire check df-ping",))],
        evidence=evidence_of(paths),
        network=network.name,
    )


def loss(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Iterator[Finding]:
    """Yield the finding for packets that are lost now and then, in a direction that is not known."""
    found = packet_loss(paths)
    if found is None:
        return
    paths, percent = list(found.paths), found.percent
    centre = at_fault(cluster, network, pairs_of(paths))
    going_on = [p for p in paths if p.verdict is Verdict.LOSS]
    yield LOSS.finding(
        loss_status(percent, cluster.thresholds),
        f"{percent:.1f} % of the {found.sizes} are lost on {network.name} "
        f"{where_either_way(cluster, network, pairs_of(paths))}.",
        subject=f"{short_name(network)}: {percent:.1f} % lost",
        data={**path_data(paths), "lost_packets": found.lost, "sent_packets": found.sent, "lost_percent": percent},
        seen=(
            f"{found.lost:,} of {counted(found.sent, 'packet')} got no answer",
            *reasons_of(going_on),
            *result_lines(paths),
        ),
        expected=("None lost",),
        next=[
            Remedy(
                "Look for errors and drops on the NICs.",
                tuple(f"ip -s -s link show {i}" for i in sorted({p.interface for p in network.ports})),
                "root on each node",
            ),
            Remedy(
                "Ask the network team for errors, discards and queue drops of the ports"
                + (f", that of {centre} first." if centre else ".")
            ),
        ],
        evidence=evidence_of(paths),
        network=network.name,
        nodes=[centre] if centre else [],
        extent=(percent, "% of packets lost"),
    )


def unreachable(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Iterator[Finding]:
    """Yield the finding for nodes between which no packet of any size passes."""
    pairs = pairs_of(paths)
    centre = at_fault(cluster, network, pairs)
    yield UNREACHABLE.finding(
        Status.FAIL,
        f"No packet passes on {network.name} {where(cluster, network, pairs)}.",
        subject=f"{short_name(network, centre)}: unreachable",
        data=path_data(paths),
        seen=(*reasons_of(paths), *result_lines(paths)),
        expected=("Answers to small and full-size pings",),
        next=[
            Remedy("Check the link at both ends.", ("ip -brief link", "ip neighbour"), "any user on both nodes"),
            Remedy("Check that the node is up; then check cable, switch port and VLAN with the network team."),
        ],
        evidence=evidence_of(paths),
        network=network.name,
        nodes=[centre] if centre else sorted({n for pair in pairs for n in pair}),
        extent=(len(paths), "paths"),
    )


def _ignoring(cluster: Cluster, nodes: Iterable[str]) -> list[str]:
    """Return the nodes whose kernel is set to answer no pings."""
    key = "net.ipv4.icmp_echo_ignore_all"
    return [f"{node}: {key} is 1: the kernel answers no pings" for node in nodes if sysctl(cluster, node, key) == 1]


def filtered(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Iterator[Finding]:
    """Yield the finding for nodes that are alive and answer no pings; it names those without any answered ping."""
    suspects = silent_nodes(cluster, network, paths)
    one = suspects[0] if len(suspects) == 1 else ""
    yield FILTERED.finding(
        Status.UNKNOWN,
        f"Pings get no answer on {network.name} {where(cluster, network, pairs_of(paths))}, although the nodes are up: "
        "whether full-size packets pass is not known.",
        subject=f"{short_name(network, one)}: no answer to pings",
        data=path_data(paths),
        seen=(*reasons_of(paths), *_ignoring(cluster, suspects), *result_lines(paths)),
        expected=("Answers to pings; no packet filter on a private network",),
        next=[
            Remedy(
                f"Look for a packet filter on {listed(suspects)}"
                + (", which exchanges pings with none of the other nodes" if one else "")
                + "; the checks packet-filter and neighbours examine other reasons.",
                (
                    "nft list ruleset",
                    "iptables -S",
                    "systemctl is-active firewalld",
                    "sysctl net.ipv4.icmp_echo_ignore_all",
                ),
                f"root on {listed(suspects)}",
            ),
        ],
        evidence=evidence_of(paths),
        network=network.name,
        nodes=suspects,
        extent=(len(paths), "paths"),
    )


def not_probed(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Iterator[Finding]:
    """Yield the finding for paths that could not be judged, with the reasons."""
    yield NOT_PROBED.finding(
        Status.UNKNOWN,
        f"{counted(len(paths), 'path')} on {network.name} could not be judged: "
        f"{where(cluster, network, pairs_of(paths))}.",
        subject=f"{short_name(network)}: {counted(len(paths), 'path')} unknown",
        data=path_data(paths),
        seen=reasons_of(paths),
        expected=("Every node probes every other",),
        next=[Remedy("Mend the reason named above, then run this check again.", ("racwire check df-ping",))],
        evidence=evidence_of(paths),
        network=network.name,
        extent=(len(paths), "paths"),
    )
