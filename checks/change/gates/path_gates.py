"""Gates: refusals and loss counters of the nodes' kernels for full-size packets, in addition to df-ping."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.gates.gate import GateContext, gate, not_known, of_node
from checks.change.plan.change_plan import PlannedNetwork
from checks.model.check import Kind
from checks.model.facts import Cluster, PathProbe, PingSeries, Unknown
from checks.model.finding import Finding, NextStep, Status
from checks.model.own_command import VERIFY
from checks.model.packet_sizes import packet_of
from checks.model.wording import counted, listed

REFUSED = Kind("CH-PATH-001", "A node's own kernel refuses one byte more than the planned MTU")
NOT_REFUSED = Kind(
    "CH-PATH-002",
    "A node sends packets larger than the planned MTU, or refuses smaller ones",
    "Then packets that pass prove nothing about the planned MTU: the node has another MTU, or a route or an offload "
    "changes the packet size.",
)
NOT_TRIED = Kind(
    "CH-PATH-003",
    "Not every path from a node was tested",
    "Each direction of each private network must be proved: one forgotten switch port blocks one direction only.",
)
QUIET = Kind("CH-PATH-004", "A node counted no loss while full-size packets were sent")
LOUD = Kind(
    "CH-PATH-005",
    "A node dropped packets while full-size packets were sent",
    "While Clusterware is down the private networks carry almost no other traffic, so a loss has a cause.",
    ("MOS 563566.1, causes 1 to 3",),
)
NOT_COUNTED = Kind("CH-PATH-006", "The packets that a node dropped are not known")

# Drops by rp_filter are left out: stray packets of the public network cause them on healthy nodes, and df-ping fails on
# a private network whose pings rp_filter drops.
_HARM = {
    "Ip.ReasmFails": "failed reassemblies",
    "Ip.ReasmTimeout": "reassemblies timed out",
    "Udp.RcvbufErrors": "receive-buffer errors",
    "Softnet.Dropped": "packets dropped by the CPU backlog",
}


@gate(
    "one-byte-more",
    question="Does the sender's own kernel refuse one byte more, on every path?",
    needs=("networks", "paths"),
    kinds=(REFUSED, NOT_REFUSED, NOT_TRIED),
)
def one_byte_more(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Sends a ping one byte larger than the planned MTU on every path of every private network, in both directions. The
    sending node must refuse it ("message too long").

    The refusal proves that the full-size packets of df-ping had the right size. A path without a test is not proved.
    """
    probes = () if isinstance(cluster.paths, Unknown) else cluster.paths
    for node in context.plan.nodes:
        untried: list[str] = []
        wrong: list[str] = []
        for network in context.plan.networks:
            for other in context.plan.nodes:
                if other == node or node not in network.addresses or other not in network.addresses:
                    continue
                probe = _probe(probes, network, node, other)
                over = _one_over(probe, network.mtu_after) if probe else None
                if probe is None or over is None:
                    untried.append(f"to {other} on {network.name}{_because(probe)}")
                elif why := _not_refused(over, network.mtu_after):
                    wrong.append(f"to {other} on {network.name}: {why}")
        yield _of_node(context, node, wrong, untried)


def _of_node(context: GateContext, node: str, wrong: list[str], untried: list[str]) -> Finding:
    more = listed(str(size + 1) for size in sorted({network.mtu_after for network in context.plan.networks}))
    if wrong:
        rest = f", and {counted(len(wrong) - 1, 'path')} more" if len(wrong) > 1 else ""
        return of_node(
            NOT_REFUSED,
            Status.FAIL,
            node,
            f"{more} not refused",
            f"{node} must refuse {more} bytes but does not {wrong[0]}{rest}.",
            then=[
                NextStep(
                    "Check the MTU of the interface and of the route.",
                    ("ip link show", "ip route show"),
                    f"any user on {node}",
                )
            ],
            topic="path",
        )
    if untried:
        rest = f", and {counted(len(untried) - 1, 'path')} more" if len(untried) > 1 else ""
        return of_node(
            NOT_TRIED,
            Status.UNKNOWN,
            node,
            f"{counted(len(untried), 'path')} not tested",
            f"racwire could not test one byte more from {node} {untried[0]}{rest}.",
            then=[NextStep("Fix the problem that df-ping reports for this path, then verify again.", own=(VERIFY,))],
            topic="path",
        )
    return of_node(
        REFUSED, Status.PASS, node, f"{more} refused", f"{node} refuses {more} bytes on every path.", topic="path"
    )


def _probe(probes: tuple[PathProbe, ...], network: PlannedNetwork, node: str, other: str) -> PathProbe | None:
    """Return the probe of a path by its addresses: a network may have another name than in the plan."""
    source, destination = network.addresses[node], network.addresses[other]
    return next((p for p in probes if p.source_ip == source and p.destination_ip == destination), None)


def _one_over(probe: PathProbe, mtu: int) -> PingSeries | None:
    """Return the ping series of one byte more than the MTU, if packets were sent."""
    version = 6 if ":" in probe.source_ip else 4
    return next((s for s in probe.series if packet_of(s.payload, version) == mtu + 1 and s.sent), None)


def _not_refused(over: PingSeries, mtu: int) -> str:
    """Return why the refusal of the oversized ping is wrong or missing; empty if it is right."""
    if over.refused_locally and over.local_mtu in (None, mtu):
        return ""
    if over.refused_locally:
        return f"its kernel refuses packets larger than {over.local_mtu} bytes"
    return "the packets were answered" if over.received else "the packets left the node"


def _because(probe: PathProbe | None) -> str:
    return f" ({probe.verdict}{f': {probe.reason}' if probe.reason else ''})" if probe else ""


@gate(
    "quiet-counters",
    question="Do the nodes drop no packets while full-size packets are sent?",
    needs=("counters",),
    kinds=(QUIET, LOUD, NOT_COUNTED),
)
def quiet_counters(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Reads each kernel's counters of failed reassemblies, full receive buffers and drops before and after the
    full-size pings: none may increase.

    The counters cover the protocols of the whole node. The drop counters of a NIC (`ip -s -s link show`) are not read:
    df-ping detects a ping that a NIC drops.
    """
    counters = cluster.counters
    if isinstance(counters, Unknown):
        return
    for node in context.plan.nodes:
        change = counters.of(node)
        if change is None:
            reason = counters.unread[node].reason if node in counters.unread else f"{node} was not read."
            yield not_known(NOT_COUNTED, node, f"The packets that {node} dropped are not known", reason)
            continue
        counted_now = {
            text: number
            for name, text in _HARM.items()
            if (number := change.counters.value(*name.split(".", 1)) or 0) > 0
        }
        if counted_now:
            yield of_node(
                LOUD,
                Status.FAIL,
                node,
                f"{sum(counted_now.values()):,} lost",
                f"In {change.seconds:.0f} s {node} counted "
                f"{listed(f'{number:,} {text}' for text, number in counted_now.items())}.",
                then=[
                    NextStep(
                        "Check the drop counters of the private interfaces.",
                        ("ip -s -s link show", "nstat -az | grep -i reasm"),
                        f"any user on {node}",
                    ),
                    NextStep("Verify again: if the loss repeats, it has a lasting cause.", own=(VERIFY,)),
                ],
                topic="counters over time",
            )
        else:
            yield of_node(
                QUIET,
                Status.PASS,
                node,
                "nothing lost",
                f"In {change.seconds:.0f} s {node} counted no failed reassembly, no full receive buffer, and no drop "
                "of the CPU backlog.",
                topic="counters over time",
            )
