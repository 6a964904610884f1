"""Do packets reach a node and vanish there, as behind a packet filter?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import InfoKind, Kind, PassKind, UnknownKind, WarnKind, check
from checks.model.condition import ConditionKind
from checks.model.effect import Effect
from checks.model.facts import Cluster, CounterChanges, PacketFilters, TrackedConnections, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.shell_command import for_each
from checks.model.wording import counted, listed, span
from checks.plugins.shared.counter_text import TOPIC, highest_rate, unknown_nodes_findings
from checks.plugins.shared.filter_commands import FILTERS, RULES, of_zone
from checks.plugins.shared.grouping import alike, briefly, named, some, time_of
from checks.plugins.shared.host_facts import parts_of
from checks.plugins.shared.instance_text import percent
from checks.rules.lost_blocks import lost_at
from checks.rules.node_counts import NodeCounts, counts_of, lacks, table_state, vanish, without_counts
from checks.rules.observed.counted_packets import vanished
from checks.rules.observed.states import network_at, read_on, state, states

DELIVERED = PassKind(
    "IC-FILTER-001", "The packets that arrived at a node were delivered, or dropped for a counted reason"
)
VANISHED = WarnKind(
    "IC-FILTER-002",
    "Packets arrived at a node and vanished there without a counted reason",
    "A packet filter of the node is the usual reason: firewalld, nftables or iptables, often with a rule that accepts "
    "ping and drops UDP. An IPsec policy and a source address that the node holds impossible (martian) have the same "
    "effect. The kernel counts none of them.",
    ("MOS 563566.1, cause 8", "Linux net/ipv4/ip_input.c"),
)
NOT_KNOWN = UnknownKind("IC-FILTER-003", "Whether packets vanish at a node is not known")
NOT_TRUSTED = WarnKind(
    "IC-FILTER-004",
    "firewalld filters a private interface",
    "Zones other than `trusted` accept the services they list and reject the rest: ping passes, and the UDP of "
    "instances and Clusterware does not. Blocks are lost, IPC times out, nodes are evicted.",
    ("MOS 563566.1, cause 8", "firewalld.zones(5)"),
)
RULES_NOT_READ = InfoKind(
    "IC-FILTER-005",
    "A packet filter is active on a node",
    "racwire reads no rules, since listing them can load kernel modules. Rules for the private interfaces should "
    "accept everything.",
    ("MOS 563566.1, cause 8",),
)
ZONES_NOT_KNOWN = UnknownKind(
    "IC-FILTER-006", "firewalld is active, and the zones of the private interfaces are not known"
)
TABLE_FULL = Kind(
    "IC-FILTER-007",
    "The kernel of a node dropped packets, and its table of connections was full",
    "A packet filter that tracks connections keeps one entry for each flow. Packets of a new flow are dropped while "
    "the table is full: pings and datagrams of sockets that were silent for a while, on public and private networks.",
    ("Linux kernel documentation, nf_conntrack-sysctl", "Linux net/netfilter/nf_conntrack_core.c"),
)
TABLE_NEAR = Kind(
    "IC-FILTER-008",
    "The table of connections of a node is nearly full",
    TABLE_FULL.why,
    TABLE_FULL.sources,
)
_TRUSTED = "trusted"
_WANTED = ("Ip.InReceives", "Ip.InDelivers")


@check(
    "packet-filter",
    question="Does every packet that arrives at a node reach a protocol there?",
    needs=("counters",),
    uses=("nodes", "networks", "setups", "activity"),
    only_ipv4="it reads the counters of packets of IPv4",
    about=(ConditionKind.LOST_BLOCKS,),
    kinds=(DELIVERED, VANISHED, NOT_KNOWN, NOT_TRUSTED, RULES_NOT_READ, ZONES_NOT_KNOWN, TABLE_FULL, TABLE_NEAR),
)
def packet_filter(cluster: Cluster) -> Iterator[Finding]:
    """Compares the packets that each kernel received between two readings with those that it delivered or dropped.

    Every reason for a drop that the kernel counts is subtracted: headers, addresses, routes, rp_filter, reassembly,
    forwarding; multicast and broadcast packets too, which a node may rightly ignore. What remains vanished in the
    kernel, most often in a packet filter. More than a few are a warning, and so are a few that are half of the node's
    lost blocks. The counters are those of the whole node, with its public
    network. A filter on the sender or in the network does not show here.

    The check also judges which services filter: a private interface in another zone of firewalld than `trusted` is a
    warning; an active nftables, iptables or ufw is reported for information, since its rules are not read.

    Where the kernel tracks connections, a table that is nine tenths full is a warning, and so are packets that were
    dropped or entries that were evicted from it; dropped packets with a full table are a failure.
    """
    yield from _filters(cluster)
    changes = cluster.counters
    if isinstance(changes, Unknown):
        return
    yield from _tables(changes)
    blind = dict(lacks(changes, _WANTED))
    counts = [counts_of(change) for change in changes.nodes if change.node not in blind]
    vanishing = [c for c in counts if vanish(c, lost_at(cluster, c.node))]
    if vanishing:
        yield _vanished(vanishing)
    if fine := [c for c in counts if c not in vanishing]:
        yield DELIVERED.finding(
            f"{named((c.node for c in fine), 'node')} received {counted(sum(c.received for c in fine), 'packet')} in "
            f"{time_of(fine)}, and {_few(fine)} vanished there.",
            subject=f"{_few(fine)} vanished",
            seen=some([f"{c.node}: {counted(c.received, 'packet')} received, {c.vanished:,} vanished" for c in fine]),
            evidence=[(c.node, TOPIC) for c in fine],
            observed=read_on(DELIVERED.code, [c.node for c in fine]),
        )
    unknown = {**without_counts(cluster), **blind}
    yield from unknown_nodes_findings(cluster, NOT_KNOWN, "Whether packets vanish at {}", "packet-filter", unknown)


def _tables(changes: CounterChanges) -> Iterator[Finding]:
    for change in changes.nodes:
        table = change.machine.connections
        if not isinstance(table, TrackedConnections) or (state_ := table_state(table)) is None:
            continue
        kind = TABLE_FULL if table.dropped or table.evicted else TABLE_NEAR
        gone = [
            f"dropped {counted(table.dropped, 'packet')}" if table.dropped else "",
            f"evicted {counted(table.evicted, 'connection')}" if table.evicted else "",
        ]
        did = " and ".join(filter(None, gone))
        holds = f"its table of connections held {table.entries:,} of {table.most:,}"
        yield kind.finding(
            f"The kernel of {change.node} {did} in {span(change.seconds)}: {holds}."
            if did
            else f"The table of connections of {change.node} holds {table.entries:,} of {table.most:,}.",
            status=state_,
            subject=f"{change.node}: {table.entries:,} of {table.most:,} connections",
            data={"entries": table.entries, "most": table.most, "dropped": table.dropped, "evicted": table.evicted},
            seen=(f"{change.node}: nf_conntrack_count {table.entries}, nf_conntrack_max {table.most}",),
            expected=("Room in the table, or private networks whose packets are not tracked",),
            next=[
                NextStep(
                    "Read the table's size.",
                    ("sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max",),
                    f"any user on {change.node}",
                ),
                NextStep(
                    "Read whether the kernel logged that it is full.",
                    ("dmesg -T | grep nf_conntrack",),
                    f"root on {change.node}",
                ),
                NextStep(
                    "Plan a rule that does not track the packets of the private networks (NOTRACK), or a larger "
                    "nf_conntrack_max.",
                    where=f"root on {change.node}",
                    is_change=True,
                    effect=Effect.AT_NEXT_START,
                ),
            ],
            evidence=[(change.node, TOPIC)],
            nodes=[change.node],
            extent=(100 * table.entries / max(1, table.most), "% of the table"),
            observed=[state(kind.code, change.node, value=table.entries)],
        )


def _filters(cluster: Cluster) -> Iterator[Finding]:
    filters, _ = parts_of(cluster, lambda host: host.filters)
    exposed = {
        node: found for node, read in filters.items() if (found := tuple(_exposed(_private(cluster, node), read)))
    }
    for same in alike(exposed, lambda node: exposed[node]):
        yield _not_trusted(cluster, same, exposed[same[0]])
    hidden = [node for node, read in filters.items() if isinstance(read.zones, Unknown)]
    for same in alike(hidden, lambda node: filters[node].zones):
        zones = filters[same[0]].zones
        lacks = [zones] if isinstance(zones, Unknown) else []
        yield ZONES_NOT_KNOWN.finding(
            f"firewalld is active on {named(same, 'node')}, and the zones of the private interfaces are not known.",
            subject=f"{briefly(same, 'node')}: zones not known",
            seen=[fact.reason for fact in lacks],
            evidence=[(node, "boot files") for node in same],
            nodes=same,
            lacks=lacks,
        )
    others = {node: units for node, read in filters.items() if (units := read.active_without_zones)}
    for same in alike(others, lambda node: others[node]):
        yield RULES_NOT_READ.finding(
            f"{listed(others[same[0]])} {'is' if len(others[same[0]]) == 1 else 'are'} active on "
            f"{named(same, 'node')}; racwire did not read the rules.",
            subject=f"{briefly(same, 'node')}: {', '.join(others[same[0]])} active",
            next=[_rules_by_hand(f"root on {named(same, 'node')}")],
            evidence=[(node, "boot files") for node in same],
            nodes=same,
            observed=states(RULES_NOT_READ.code, same),
        )


def _rules_by_hand(where: str) -> NextStep:
    return NextStep("Read the rules for the private interfaces.", RULES, where)


def _private(cluster: Cluster, node: str) -> list[str]:
    return list(dict.fromkeys(port.interface for network in cluster.read_networks() if (port := network.port(node))))


def _exposed(interfaces: Sequence[str], filters: PacketFilters) -> Iterator[tuple[str, str]]:
    """Yield the private interfaces that are not in the zone `trusted`, each with its zone."""
    if isinstance(filters.zones, Unknown) or not filters.zones:
        return
    zones = {found.interface: found.zone for found in filters.zones}
    for interface in interfaces:
        zone = zones.get(interface, filters.default_zone)
        if zone and zone != _TRUSTED:
            yield interface, zone


def _not_trusted(cluster: Cluster, nodes: Sequence[str], exposed: Sequence[tuple[str, str]]) -> Finding:
    where = f"root on {named(nodes, 'node')}"
    zones = list(dict.fromkeys(zone for _, zone in exposed))
    return NOT_TRUSTED.finding(
        f"firewalld has {listed(name for name, _ in exposed)} of {named(nodes, 'node')} in the "
        f"{'zone' if len(zones) == 1 else 'zones'} {listed(zones)}, not in {_TRUSTED}.",
        subject=f"{briefly(nodes, 'node')}: zone {', '.join(zones)}",
        data={"interfaces": len(exposed)},
        seen=some([f"{node}: {name} is in the zone {zone}" for node in nodes for name, zone in exposed]),
        expected=(f"Every private interface in the zone {_TRUSTED}, or another zone whose target is ACCEPT",),
        next=[
            NextStep(
                "Display what the zone accepts; a target of ACCEPT is as good as trusted.",
                tuple(map(of_zone, zones)),
                where,
            ),
            NextStep(
                f"Put the private interfaces into the zone {_TRUSTED}, now and for the next start.",
                for_each(
                    "firewall-cmd --zone=trusted --change-interface={nic}",
                    "firewall-cmd --permanent --zone=trusted --change-interface={nic}",
                    nic=(name for name, _ in exposed),
                ),
                where,
                is_change=True,
            ),
        ],
        evidence=[(node, "boot files") for node in nodes],
        nodes=nodes,
        extent=(len(exposed) * len(nodes), "interfaces"),
        observed=[
            state("firewalld zone", node, network_at(cluster, node, name), name, zone)
            for node in nodes
            for name, zone in exposed
        ],
    )


def _few(counts: Sequence[NodeCounts]) -> str:
    number = sum(c.vanished for c in counts)
    return counted(number, "packet") if number else "no packet"


def _vanished(counts: Sequence[NodeCounts]) -> Finding:
    nodes, number = [c.node for c in counts], sum(c.vanished for c in counts)
    names, where = named(nodes, "node"), f"root on {named(nodes, 'node')}"
    worst = sorted(counts, key=lambda c: (-c.vanished, c.node))
    return VANISHED.finding(
        f"{counted(number, 'packet')} arrived at {names} in {time_of(counts)} and vanished there, "
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
            NextStep(
                "Read the rules of the node: the private NICs belong in a zone that accepts everything.",
                FILTERS,
                where,
            ),
            NextStep("Check IPsec policies and martian packets.", ("ip xfrm policy", "dmesg | grep -i martian"), where),
        ],
        evidence=[(node, TOPIC) for node in nodes],
        nodes=nodes,
        extent=highest_rate(counts, lambda c: c.vanished, "packets"),
        observed=vanished(counts),
    )
