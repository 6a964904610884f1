"""The findings of df-ping in which small packets get no answer either: loss, no answer, filters, no probe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from checks.model.facts import Cluster, PathProbe, PrivateNetwork, Verdict
from checks.model.finding import Finding, NextStep, check_again
from checks.model.shell_command import for_each, shell
from checks.model.wording import counted, listed
from checks.plugins.df_ping.path_kinds import FILTERED, IGNORED, LOSS, LOST_ONCE, NOT_PROBED, SPLIT, UNREACHABLE
from checks.plugins.df_ping.path_places import (
    ask_network_team,
    at_fault,
    end_lines,
    path_data,
    side_names,
    sides_of,
    silent_nodes,
    where_either_way,
)
from checks.plugins.shared.filter_commands import RULES
from checks.plugins.shared.grouping import briefly, named
from checks.plugins.shared.path_text import (
    evidence_of,
    first_lines,
    pairs_of,
    reasons_of,
    result_lines,
    short_name,
    where,
)
from checks.plugins.shared.place_steps import below_steps, capture_steps, node_step
from checks.rules.neighbour_entries import Whose, neighbour_entries
from checks.rules.node_counts import sysctl
from checks.rules.observed.pings import pings
from checks.rules.observed.states import state
from checks.rules.path_status import loss_status, packet_loss
from checks.rules.unanswered_pings import heard_lines, ladder_line


def lost_once_finding(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Finding:
    """Return the finding for packets that were lost while all paths were probed at once, and not one path at a time."""
    return LOST_ONCE.finding(
        f"Packets were lost once on {network.name} {where_either_way(cluster, network, pairs_of(paths))}, "
        "and not again.",
        subject=f"{short_name(network)}: lost once",
        data=path_data(paths),
        seen=first_lines([f"{p.from_node} -> {p.to_node}: {p.reason}" for p in paths], "path like these"),
        expected=("None lost",),
        next=[NextStep("Run this check again several times.", ("racwire check df-ping",))],
        evidence=evidence_of(paths),
        observed=pings(cluster, paths),
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
        f"{percent:.1f} % of the {found.sizes} are lost on {network.name} "
        f"{where_either_way(cluster, network, pairs_of(paths))}.",
        status=loss_status(percent, cluster.thresholds),
        subject=f"{short_name(network)}: {percent:.1f} % lost",
        data={**path_data(paths), "lost_packets": found.lost, "sent_packets": found.sent, "lost_percent": percent},
        seen=(
            f"{found.lost:,} of {counted(found.sent, 'packet')} got no answer",
            *reasons_of(going_on),
            *result_lines(paths),
            *(
                f"pid {pid} may have pinged too: it kept the lock of racwire's pings on {cluster.local_node} for 30 s"
                for pid in sorted({p.beside_pid for p in paths if p.beside_pid})
            ),
        ),
        expected=("None lost",),
        next=[
            NextStep(
                "Look for errors and drops on the NICs, and for drops in their send queues.",
                for_each(
                    "ip -s -s link show {nic}",
                    "tc -s qdisc show dev {nic}",
                    nic=sorted({p.interface for p in network.ports}),
                ),
                "any user on each node",
            ),
            NextStep(
                f"Ask the network team for errors, discards and queue drops of the ports on {network.name}"
                + (f", that of {centre} first." if centre else ".")
            ),
        ],
        evidence=evidence_of(paths),
        observed=pings(cluster, paths),
        network=network.name,
        nodes=[centre] if centre else [],
        extent=(percent, "% of packets lost"),
    )


def unreachable(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Iterator[Finding]:
    """Yield the finding for nodes between which no packet of any size passes."""
    pairs = pairs_of(paths)
    centre = at_fault(cluster, network, pairs)
    if groups := sides_of(cluster, network, pairs):
        yield _divided(cluster, network, paths, groups)
        return
    ends = [centre] if centre else sorted({n for pair in pairs for n in pair})
    yield UNREACHABLE.finding(
        f"No packet passes on {network.name} {_where_silent(cluster, network, pairs)}.",
        subject=f"{short_name(network, centre)}: unreachable",
        data=path_data(paths),
        seen=(
            *heard_lines(cluster, network, paths),
            *reasons_of(paths),
            *_ladders(cluster, network, paths),
            *result_lines(paths),
        ),
        expected=("Answers to small and full-size pings",),
        next=[
            node_step(cluster, network, ends, ("ip neighbour",)),
            *capture_steps(network, ends[0], next(n for p in paths for n in (p.from_node, p.to_node) if n != ends[0])),
            *below_steps(cluster, network, ends),
            NextStep(
                f"Check that the node is up; then check cable, switch port, port security and VLAN of {network.name} "
                "with the network team."
            ),
        ],
        evidence=evidence_of(paths),
        observed=pings(cluster, paths),
        network=network.name,
        nodes=ends,
        extent=(len(paths), "paths"),
    )


def _where_silent(cluster: Cluster, network: PrivateNetwork, pairs: set[tuple[str, str]]) -> str:
    """Return where no host answered ARP: the request or its answer vanished, so the direction is not known."""
    both = {(b, a) for a, b in pairs} <= pairs
    return where(cluster, network, pairs) if both else where_either_way(cluster, network, pairs)


def _divided(
    cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe], groups: Sequence[Sequence[str]]
) -> Finding:
    first = [side[0] for side in groups]
    nodes = [node for side in groups for node in side]
    return SPLIT.finding(
        f"No packet passes on {network.name} {where(cluster, network, pairs_of(paths))}; each group reaches its own "
        "nodes.",
        subject=f"{short_name(network)}: {side_names(groups)}",
        data=path_data(paths),
        seen=(*result_lines(paths), *end_lines(cluster, network, nodes)),
        expected=("Every node reaches every other node",),
        next=[
            ask_network_team(
                cluster,
                network,
                first,
                f"Ask the network team for the link between the switches of {listed(listed(side) for side in groups)}: "
                f"its state, its VLANs (is that of {network.name} allowed?), spanning tree.",
            ),
            NextStep(
                "Repeat one ping across the link while they look.",
                (shell("ping -c 3 -I {source} {to}", source=paths[0].source_ip, to=paths[0].destination_ip),),
                f"any user on {paths[0].from_node}",
            ),
        ],
        evidence=evidence_of(paths),
        observed=pings(cluster, paths),
        network=network.name,
        nodes=nodes,
        extent=(len(paths), "paths"),
    )


_ECHO_IGNORED = "net.ipv4.icmp_echo_ignore_all"
_MOST_LADDERS = 2


def _ladders(cluster: Cluster, network: PrivateNetwork, paths: Sequence[PathProbe]) -> list[str]:
    """Return what was examined for the silence of a path, for a path of each direction of the first pair."""
    first = {paths[0].from_node, paths[0].to_node}
    chosen = [p for p in paths if {p.from_node, p.to_node} == first][:_MOST_LADDERS]
    return [ladder_line(cluster, network, path) for path in chosen]


def _not_the_peers(cluster: Cluster, network: PrivateNetwork, paths: Iterable[PathProbe]) -> list[str]:
    """Return the neighbour entries that explain the silence: the pings went to another NIC than the peer's."""
    pairs = {(p.from_node, p.to_node) for p in paths} | {(p.to_node, p.from_node) for p in paths}
    entries = [e for e in neighbour_entries(cluster) if e.whose is not Whose.OWN and e.network == network.name]
    return [e.line for e in entries if (e.node, e.peer) in pairs]


def _ignoring(cluster: Cluster, nodes: Iterable[str]) -> list[str]:
    """Return the nodes whose kernel is set to answer no pings."""
    return [
        f"{node}: {_ECHO_IGNORED} is 1: the kernel answers no pings"
        for node in nodes
        if sysctl(cluster, node, _ECHO_IGNORED) == 1
    ]


def filtered(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Iterator[Finding]:
    """Yield the finding for nodes that are alive and answer no pings; it names those without any answered ping."""
    suspects = silent_nodes(cluster, network, paths)
    wrong = first_lines(_not_the_peers(cluster, network, paths), "entry like these")
    one = suspects[0] if len(suspects) == 1 else ""
    yield FILTERED.finding(
        f"Pings get no answer on {network.name} {where(cluster, network, pairs_of(paths))}, although the nodes are up: "
        "whether full-size packets pass is not known.",
        subject=f"{short_name(network, one)}: no answer to pings",
        data=path_data(paths),
        seen=(
            *reasons_of(paths),
            *_ignoring(cluster, suspects),
            *_ladders(cluster, network, paths),
            *wrong,
            *result_lines(paths),
        ),
        expected=("Answers to pings; no packet filter on a private network",),
        next=[
            *([NextStep("Fix the finding of neighbours first: the pings went to another NIC.")] if wrong else []),
            NextStep(
                f"Look for a packet filter on {listed(suspects)}"
                + (", which exchanges pings with none of the other nodes" if one else "")
                + "; the checks packet-filter and neighbours examine other reasons.",
                (
                    *RULES,
                    "systemctl is-active firewalld",
                    "sysctl net.ipv4.icmp_echo_ignore_all",
                ),
                f"root on {listed(suspects)}",
            ),
        ],
        evidence=evidence_of(paths),
        observed=pings(cluster, paths),
        network=network.name,
        nodes=suspects,
        extent=(len(paths), "paths"),
    )


def ignored(cluster: Cluster, paths: Sequence[PathProbe]) -> Iterator[Finding]:
    """Yield the finding for nodes whose kernel is set to answer no pings, where their paths are silent."""
    silent = {p.to_node for p in paths if p.verdict in (Verdict.FILTERED, Verdict.UNREACHABLE)}
    nodes = [node for node in sorted(silent) if sysctl(cluster, node, _ECHO_IGNORED) == 1]
    if nodes:
        yield IGNORED.finding(
            f"{named(nodes, 'node')} {'is' if len(nodes) == 1 else 'are'} set to answer no pings "
            "(net.ipv4.icmp_echo_ignore_all is 1).",
            subject=f"{briefly(nodes, 'node')}: ignores pings",
            seen=_ignoring(cluster, nodes),
            expected=(f"{_ECHO_IGNORED} = 0",),
            next=[
                NextStep(
                    "Find the file that sets it.",
                    (shell("grep -rs {key} /etc/sysctl.conf /etc/sysctl.d /usr/lib/sysctl.d", key=_ECHO_IGNORED),),
                ),
                NextStep(
                    "Let the node answer pings, and test the paths again.",
                    (shell("sysctl -w {key}=0", key=_ECHO_IGNORED), "racwire check df-ping"),
                    f"root on {named(nodes, 'node')}",
                    is_change=True,
                ),
            ],
            evidence=[(node, "sysctls") for node in nodes],
            nodes=nodes,
            observed=[state(_ECHO_IGNORED, node, value=1) for node in nodes],
        )


def not_probed(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Iterator[Finding]:
    """Yield the finding for paths that could not be judged, with the reasons."""
    yield NOT_PROBED.finding(
        f"{counted(len(paths), 'path')} on {network.name} could not be judged: "
        f"{where(cluster, network, pairs_of(paths))}.",
        subject=f"{short_name(network)}: {counted(len(paths), 'path')} unknown",
        data=path_data(paths),
        seen=reasons_of(paths),
        expected=("Every node probes every other",),
        next=[check_again("df-ping")],
        evidence=evidence_of(paths),
        observed=pings(cluster, paths),
        network=network.name,
        extent=(len(paths), "paths"),
    )
