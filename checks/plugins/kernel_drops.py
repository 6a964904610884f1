"""What do the kernels drop of the interconnect, and why?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import InfoKind, Kind, PassKind, UnknownKind, check
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster, KernelDrops, UnreadNode
from checks.model.finding import Finding, NextStep, Status
from checks.model.shell_command import for_each
from checks.model.wording import counted, span
from checks.plugins.shared.filter_commands import RULES
from checks.plugins.shared.grouping import alike, named, some, topics_of
from checks.plugins.shared.host_facts import not_known_findings
from checks.rules.drop_reasons import DropKind, HarmfulDrops, harmful_drops
from checks.rules.observed.states import network_at, read_on, state

TOPIC = "kernel drops"
_LINUX = "Linux, include/net/dropreason-core.h"

KEPT = PassKind("IC-DROPS-001", "The kernels dropped no packet of the interconnect while they were watched")
DROPPED = Kind(
    "IC-DROPS-002",
    "A kernel drops packets that a private NIC received or was to send",
    "The packets reached the node and its kernel dropped them, or they were dropped before they left it. The network "
    "between the nodes did not lose them.",
    (_LINUX,),
)
SOMEWHERE = InfoKind(
    "IC-DROPS-003",
    "A kernel drops packets, and not which NIC they came through is known",
    "The kernel's event names no NIC. They can be packets of the interconnect, or of any other network of the node.",
    (_LINUX,),
)
NOT_KNOWN = UnknownKind("IC-DROPS-004", "Why a kernel drops packets is not known")


@check(
    "kernel-drops",
    question="What do the kernels drop of the interconnect, and why?",
    needs=("nodes", "networks", "kernel_drops"),
    about=(ConditionKind.NIC_DROPS,),
    kinds=(KEPT, DROPPED, SOMEWHERE, NOT_KNOWN),
)
def kernel_drops(cluster: Cluster) -> Iterator[Finding]:
    """Judges the reasons that the kernel gives for dropped packets of IP and ARP (event `skb:kfree_skb`).

    The event has no NIC. Packets of racwire's own size are followed from the private NIC to the drop, so their NIC is
    known: most of them dropped is a failure, some a warning. Other drops are for information. What every node drops
    counts as none: packets for closed ports or for other hosts, and what a driver frees without a reason. Kernels
    before Linux 5.17 have no reasons, where they were not added later: then the result is UNKNOWN. Only a step of
    `racwire investigate` watches a kernel, as root, with a consent, for 10 s at most.
    """
    known = cluster.kernel_drops if isinstance(cluster.kernel_drops, tuple) else ()
    watched = [k for k in known if isinstance(k, KernelDrops)]
    with_reasons = [k for k in watched if k.has_reasons]
    harmful = list(harmful_drops(with_reasons))
    for each in harmful:
        if each.status is not Status.INFO:
            yield _dropped(cluster, each)
    for node in alike((h for h in harmful if h.status is Status.INFO), lambda h: h.node):
        yield _somewhere(node)
    ill = {(h.node, bool(h.nic)) for h in harmful}
    quiet = [k for k in with_reasons if (k.name, True) not in ill and (k.followed or (k.name, False) not in ill)]
    if quiet:
        followed = sum(map(_followed, quiet))
        through = f" {counted(followed, 'packet')} of racwire's own went through." if followed else ""

        yield KEPT.finding(
            f"The kernel of {named((k.name for k in quiet), 'node')} dropped no packet that was followed from a "
            f"private NIC, in {span(max(k.seconds for k in quiet))}.{through}",
            subject=f"{counted(len(quiet), 'node')} watched",
            data={"nodes": len(quiet), "followed": followed},
            seen=some([_watched(k) for k in quiet]),
            evidence=topics_of((k.name for k in quiet), TOPIC),
            observed=read_on(KEPT.code, [k.name for k in quiet]),
        )
    silent = [k for k in watched if not k.has_reasons]
    if silent:
        yield _without_reasons(cluster, silent)
    unread = {k.name: k for k in known if isinstance(k, UnreadNode)}
    yield from not_known_findings(NOT_KNOWN, "What the kernel of {} drops is", unread, "kernel-drops", TOPIC)


def _followed(node: KernelDrops) -> int:
    return sum(f.number for f in node.followed)


def _watched(node: KernelDrops) -> str:
    early = ", stopped early above its limit of events" if node.is_stopped else ""
    missed = f", {counted(node.missed, 'event')} not seen" if node.missed else ""
    return (
        f"{node.name}: watched for {span(node.seconds)}{early}{missed}; {counted(_followed(node), 'packet')} followed"
    )


def _without_reasons(cluster: Cluster, silent: Sequence[KernelDrops]) -> Finding:
    nodes = [k.name for k in silent]
    releases = ", ".join(dict.fromkeys(n.kernel_release for name in nodes if (n := cluster.node(name))))
    return NOT_KNOWN.finding(
        f"The kernel of {named(nodes, 'node')} does not say why it drops packets: Linux does so from 5.17 on.",
        subject=f"{counted(len(nodes), 'node')} without reasons",
        seen=some([f"{k.name}: {counted(sum(d.number for d in k.drops), 'packet')} dropped" for k in silent]),
        expected=(f"A kernel with reasons; here {releases}",) if releases else (),
        evidence=topics_of(nodes, TOPIC),
        nodes=nodes,
    )


def _dropped(cluster: Cluster, drops: HarmfulDrops) -> Finding:
    way = "was to send" if drops.is_sent else "received"
    network = network_at(cluster, drops.node, drops.nic)
    on = f" on {network}" if network else ""
    return DROPPED.finding(
        f"The kernel of {drops.node} dropped {drops.number:,} of {drops.followed:,} packets that {drops.nic} {way}{on}"
        f": {drops.kind.value}.",
        status=drops.status,
        subject=f"{drops.nic} of {drops.node}: {drops.number:,} dropped",
        data={"dropped": drops.number, "followed": drops.followed, "seconds": drops.seconds},
        seen=some(_lines(drops)),
        expected=("0",),
        next=_steps(drops),
        evidence=topics_of([drops.node], TOPIC),
        network=network,
        nodes=[drops.node],
        extent=(100 * drops.number / drops.followed, "% of packets dropped") if drops.followed else None,
        observed=[state(drops.kind.name, drops.node, network, drops.nic, drops.number)],
    )


def _somewhere(same: Sequence[HarmfulDrops]) -> Finding:
    node, number = same[0].node, sum(h.number for h in same)
    return SOMEWHERE.finding(
        f"The kernel of {node} dropped {counted(number, 'packet')} in {span(same[0].seconds)}; which NIC they came "
        "through is not known.",
        subject=f"{node}: {number:,} dropped somewhere",
        data={"dropped": number, "seconds": same[0].seconds},
        seen=some([line for drops in same for line in _lines(drops)]),
        next=[NextStep("Compare their reasons with the counters of the node.", ("racwire check",))],
        evidence=topics_of([node], TOPIC),
        nodes=[node],
        extent=(number / same[0].seconds, "a second on average") if same[0].seconds else None,
    )


def _lines(drops: HarmfulDrops) -> list[str]:
    return [
        f"{drops.node}: {drop.number:,} {drop.code}{f' in {drop.location}' if drop.location else ''}: "
        f"{drops.kind.value}"
        for drop in sorted(drops.drops, key=lambda d: (-d.number, d.code, d.location))
    ]


_LOOK: dict[DropKind, tuple[str, tuple[str, ...]]] = {
    DropKind.POLICED: ("Read the policers and queues of the node.", ("tc -s qdisc show",)),
    DropKind.QUEUE: ("Read the queues of the node, with their drops.", ("tc -s qdisc show",)),
    DropKind.SOCKET: ("Read the receive buffers.", ("sysctl net.core.rmem_max net.core.rmem_default",)),
    DropKind.BACKLOG: ("Read the backlog and its drops by CPU.", ("cat /proc/net/softnet_stat",)),
    DropKind.REASSEMBLY: ("Read the failures of reassembly.", ("netstat -s | grep -iE 'reassembl'",)),
    DropKind.RETURN_PATH: ("Read rp_filter of the interfaces.", ("sysctl -a | grep '[.]rp_filter'",)),
    DropKind.ROUTE: ("Read the addresses and the routes.", ("ip addr show", "ip route show table all")),
    DropKind.NEIGHBOUR: ("Read the neighbour entries.", ("ip neigh show",)),
}


def _steps(drops: HarmfulDrops) -> list[NextStep]:
    if drops.kind is DropKind.FILTER:
        return [NextStep("Read the rules of the packet filter.", RULES, f"root on {drops.node}")]
    errors = for_each("ip -s -s link show {nic}", nic=[drops.nic])
    text, commands = _LOOK.get(drops.kind, ("Read the errors of the NIC.", errors))
    return [NextStep(text, commands, f"any user on {drops.node}")]
