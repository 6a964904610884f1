"""Do packets reach a node and vanish there, as behind a packet filter?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import Kind, check
from checks.model.facts import Cluster, Unknown
from checks.model.finding import Finding, Remedy, Status
from checks.model.wording import counted, span
from checks.plugins.shared.counter_text import TOPIC, highest_rate, unknown_nodes_finding
from checks.plugins.shared.grouping import briefly, named, some
from checks.plugins.shared.instance_text import percent
from checks.rules.node_counts import NodeCounts, counts_of, lacks, vanish, without_counts

DELIVERED = Kind("IC-FILTER-001", "The packets that arrived at a node were delivered, or dropped for a counted reason")
VANISHED = Kind(
    "IC-FILTER-002",
    "Packets arrived at a node and vanished there without a counted reason",
    "A packet filter of the node is the usual reason: firewalld, nftables or iptables, often with a rule that accepts "
    "ping and drops UDP. An IPsec policy and a source address that the node holds impossible (martian) have the same "
    "effect. The kernel counts none of them.",
    ("MOS 563566.1, cause 8", "Linux net/ipv4/ip_input.c"),
)
NOT_KNOWN = Kind("IC-FILTER-003", "Whether packets vanish at a node is not known")
_WANTED = ("Ip.InReceives", "Ip.InDelivers")


@check(
    "packet-filter",
    question="Does every packet that arrives at a node reach a protocol there?",
    needs=("counters",),
    uses=("nodes",),
    kinds=(DELIVERED, VANISHED, NOT_KNOWN),
)
def packet_filter(cluster: Cluster) -> Iterator[Finding]:
    """Compares the packets that each kernel received between two readings with those that it delivered or dropped.

    Every reason for a drop that the kernel counts is subtracted: headers, addresses, routes, rp_filter, reassembly,
    forwarding; multicast and broadcast packets too, which a node may rightly ignore. What remains vanished in the
    kernel, most often in a packet filter, and is a warning. The counters are those of the whole node, with its public
    network. A filter on the sender or in the network does not show here.
    """
    changes = cluster.counters
    if isinstance(changes, Unknown):
        return
    blind = dict(lacks(changes, _WANTED))
    counts = [counts_of(change) for change in changes.nodes if change.node not in blind]
    vanishing = [c for c in counts if vanish(c)]
    if vanishing:
        yield _vanished(vanishing)
    if fine := [c for c in counts if c not in vanishing]:
        yield DELIVERED.finding(
            Status.PASS,
            f"{named((c.node for c in fine), 'node')} received {counted(sum(c.received for c in fine), 'packet')} in "
            f"{span(max(c.seconds for c in fine))}, and no packet vanished there.",
            subject="none vanished",
            seen=some([f"{c.node}: {counted(c.received, 'packet')} received, {c.vanished:,} vanished" for c in fine]),
            evidence=[(c.node, TOPIC) for c in fine],
        )
    unknown = {**without_counts(cluster), **blind}
    if unknown:
        yield unknown_nodes_finding(cluster, NOT_KNOWN, "Whether packets vanish at {}", unknown, "packet-filter")
    if not counts and not unknown:
        yield NOT_KNOWN.finding(Status.UNKNOWN, "The counters of no node could be read twice.", subject="no node")


def _vanished(counts: Sequence[NodeCounts]) -> Finding:
    nodes, number = [c.node for c in counts], sum(c.vanished for c in counts)
    names, where = named(nodes, "node"), f"root on {named(nodes, 'node')}"
    worst = sorted(counts, key=lambda c: (-c.vanished, c.node))
    return VANISHED.finding(
        Status.WARN,
        f"{counted(number, 'packet')} arrived at {names} in {span(max(c.seconds for c in counts))} and vanished there, "
        "as behind a packet filter.",
        subject=f"{briefly(nodes, 'node')}: {number:,} vanished",
        data={"vanished_packets": number, "seconds": max(c.seconds for c in counts)},
        seen=some(
            [
                f"{c.node}: {c.vanished:,} of {counted(c.received, 'packet')} neither delivered nor dropped for a "
                f"counted reason ({percent(100 * c.vanished / c.received)}); {c.rejected:,} answered with an ICMP error"
                for c in worst
            ]
        ),
        expected=("0, apart from multicast and broadcast",),
        next=[
            Remedy(
                "Read the rules of the node: the private NICs belong in a zone that accepts everything.",
                (
                    "systemctl is-active firewalld nftables iptables",
                    "firewall-cmd --get-active-zones",
                    "nft list ruleset",
                ),
                where,
            ),
            Remedy("Check IPsec policies and martian packets.", ("ip xfrm policy", "dmesg | grep -i martian"), where),
        ],
        evidence=[(node, TOPIC) for node in nodes],
        nodes=nodes,
        extent=highest_rate(counts, lambda c: c.vanished, "packets"),
    )
