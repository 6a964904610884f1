"""Gates: refusals and loss counters of the nodes' kernels for full-size packets, in addition to df-ping."""

from __future__ import annotations

from checks.change.gates.gate import GatePlace, node_gate
from checks.change.plan.change_plan import PlannedNetwork
from checks.model.check import Kind
from checks.model.facts import CounterChange, PathProbe, PingSeries, Unknown
from checks.model.finding import Finding, NextStep
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


@node_gate(
    "one-byte-more",
    question="Does the sender's own kernel refuse one byte more, on every path?",
    needs=("networks", "paths"),
    topic="path",
    kinds=(REFUSED, NOT_REFUSED, NOT_TRIED),
    read=lambda at: () if isinstance(at.cluster.paths, Unknown) else at.cluster.paths,
    unread=(NOT_TRIED, "The paths of {} were not tested"),
)
def one_byte_more(at: GatePlace, probes: tuple[PathProbe, ...]) -> Finding:
    """Sends a ping one byte larger than the planned MTU on every path of every private network, in both directions. The
    sending node must refuse it ("message too long").

    The refusal proves that the full-size packets of df-ping had the right size. A path without a test is not proved.
    """
    untried: list[str] = []
    wrong: list[str] = []
    for network in at.plan.networks:
        for other in at.plan.nodes:
            if other == at.node or at.node not in network.addresses or other not in network.addresses:
                continue
            probe = _probe(probes, network, at.node, other)
            over = _one_over(probe, network.mtu_after) if probe else None
            if probe is None or over is None:
                untried.append(f"to {other} on {network.name}{_because(probe)}")
            elif why := _not_refused(over, network.mtu_after):
                wrong.append(f"to {other} on {network.name}: {why}")
    more = listed(str(size + 1) for size in sorted({network.mtu_after for network in at.plan.networks}))
    if wrong:
        return at.fails(
            NOT_REFUSED,
            f"{more} not refused",
            f"{at.node} must refuse {more} bytes but does not {_first(wrong)}.",
            at.look("Check the MTU of the interface and of the route.", "ip link show", "ip route show"),
        )
    if untried:
        return at.undecided(
            NOT_TRIED,
            f"{counted(len(untried), 'path')} not tested",
            f"racwire could not test one byte more from {at.node} {_first(untried)}.",
            NextStep("Fix the problem that df-ping reports for this path, then verify again.", own=(VERIFY,)),
        )
    return at.holds(REFUSED, f"{more} refused", f"{at.node} refuses {more} bytes on every path.")


def _first(paths: list[str]) -> str:
    return f"{paths[0]}, and {counted(len(paths) - 1, 'path')} more" if paths[1:] else paths[0]


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


def _counters(at: GatePlace) -> CounterChange | Unknown:
    counters = at.cluster.counters
    if isinstance(counters, Unknown):
        return counters
    return counters.of(at.node) or counters.unread.get(at.node, Unknown(f"{at.node} was not read."))


@node_gate(
    "quiet-counters",
    question="Do the nodes drop no packets while full-size packets are sent?",
    needs=("counters",),
    topic="counters over time",
    kinds=(QUIET, LOUD, NOT_COUNTED),
    read=_counters,
    unread=(NOT_COUNTED, "The packets that {} dropped are not known"),
)
def quiet_counters(at: GatePlace, change: CounterChange) -> Finding:
    """Reads each kernel's counters of failed reassemblies, full receive buffers and drops before and after the
    full-size pings: none may increase.

    The counters cover the protocols of the whole node. The drop counters of a NIC (`ip -s -s link show`) are not read:
    df-ping detects a ping that a NIC drops.
    """
    increases = {text: change.counters.value(*name.split(".", 1)) or 0 for name, text in _HARM.items()}
    lost = {text: number for text, number in increases.items() if number > 0}
    if not lost:
        return at.holds(
            QUIET,
            "nothing lost",
            f"In {change.seconds:.0f} s {at.node} counted no failed reassembly, no full receive buffer, and no drop of "
            "the CPU backlog.",
        )
    return at.fails(
        LOUD,
        f"{sum(lost.values()):,} lost",
        f"In {change.seconds:.0f} s {at.node} counted {listed(f'{number:,} {text}' for text, number in lost.items())}.",
        at.look(
            "Check the drop counters of the private interfaces.", "ip -s -s link show", "nstat -az | grep -i reasm"
        ),
        NextStep("Verify again: if the loss repeats, it has a lasting cause.", own=(VERIFY,)),
    )
