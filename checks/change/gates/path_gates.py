"""Gates: what the nodes' own kernels say of full-size packets, beside the pings of df-ping."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.change_plan import PlannedNetwork
from checks.change.gates.gate import LOOK_AGAIN, GateContext, gate, not_known, of_node
from checks.model.check import Kind
from checks.model.facts import Cluster, PathProbe, PingSeries, Unknown
from checks.model.finding import Finding, Remedy, Status
from checks.model.packet_sizes import packet_of
from checks.model.wording import counted, listed

REFUSED = Kind("CH-PATH-001", "A node's own kernel refuses one byte more than the planned MTU")
NOT_REFUSED = Kind(
    "CH-PATH-002",
    "A node sends more than the planned MTU, or refuses less",
    "Then what passes says nothing of the planned MTU: the node has another one, or a route or an offload stands "
    "between.",
)
NOT_TRIED = Kind(
    "CH-PATH-003",
    "Not every path from a node was tried",
    "Each way of each private network has to be proved: one switch port that was forgotten blocks one way only.",
)
QUIET = Kind("CH-PATH-004", "A node counted nothing lost while full-size packets were sent")
LOUD = Kind(
    "CH-PATH-005",
    "A node threw packets away while full-size packets were sent",
    "While Clusterware is down nearly nothing else is on the private networks: what is lost then is lost for a reason.",
    ("MOS 563566.1, causes 1 to 3",),
)
NOT_COUNTED = Kind("CH-PATH-006", "What a node threw away is not known")

# What rp_filter drops is left out: stray packets of the public network do it on healthy nodes, and a private network
# whose pings it drops does not pass df-ping.
_HARM = {
    "Ip.ReasmFails": "failed reassemblies",
    "Ip.ReasmTimeout": "reassemblies timed out",
    "Udp.RcvbufErrors": "receive-buffer errors",
    "Softnet.Dropped": "packets dropped by the CPUs' backlog",
}


@gate(
    "one-byte-more",
    question="Does the sender's own kernel refuse one byte more, on every path?",
    needs=("networks", "paths"),
    kinds=(REFUSED, NOT_REFUSED, NOT_TRIED),
)
def one_byte_more(scene: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """On every path of every private network, in both directions, a ping one byte larger than the planned MTU must be
    refused by the node that sends it ("message too long"): it proves that the full-size packets of df-ping were as
    large as they should be. A path that was not tried is not proved.
    """
    probes = () if isinstance(cluster.paths, Unknown) else cluster.paths
    for node in scene.plan.nodes:
        untried: list[str] = []
        wrong: list[str] = []
        for network in scene.plan.networks:
            for other in scene.plan.nodes:
                if other == node or node not in network.addresses or other not in network.addresses:
                    continue
                probe = _probe(probes, network, node, other)
                over = _one_over(probe, network.mtu_after) if probe else None
                if probe is None or over is None:
                    untried.append(f"to {other} on {network.name}{_because(probe)}")
                elif why := _not_refused(over, network.mtu_after):
                    wrong.append(f"to {other} on {network.name}: {why}")
        yield _of_node(scene, node, wrong, untried)


def _of_node(scene: GateContext, node: str, wrong: list[str], untried: list[str]) -> Finding:
    more = listed(str(size + 1) for size in sorted({network.mtu_after for network in scene.plan.networks}))
    if wrong:
        rest = f", and {counted(len(wrong) - 1, 'path')} more" if len(wrong) > 1 else ""
        return of_node(
            NOT_REFUSED,
            Status.FAIL,
            node,
            f"{more} not refused",
            f"{node} does not refuse {more} bytes as it should {wrong[0]}{rest}.",
            then=[
                Remedy("Look at the interface and the route.", ("ip link show", "ip route show"), f"any user on {node}")
            ],
            topic="path",
        )
    if untried:
        rest = f", and {counted(len(untried) - 1, 'path')} more" if len(untried) > 1 else ""
        return of_node(
            NOT_TRIED,
            Status.UNKNOWN,
            node,
            f"{counted(len(untried), 'path')} not tried",
            f"One byte more could not be tried from {node} {untried[0]}{rest}.",
            then=[Remedy("Mend what df-ping says of it, then look again.", (LOOK_AGAIN,))],
            topic="path",
        )
    return of_node(
        REFUSED, Status.PASS, node, f"{more} refused", f"{node} refuses {more} bytes on every path.", topic="path"
    )


def _probe(probes: tuple[PathProbe, ...], network: PlannedNetwork, node: str, other: str) -> PathProbe | None:
    """By the addresses: a network may be called otherwise than when the plan was made."""
    source, destination = network.addresses[node], network.addresses[other]
    return next((p for p in probes if p.source_ip == source and p.destination_ip == destination), None)


def _one_over(probe: PathProbe, mtu: int) -> PingSeries | None:
    """The ping of one byte more than the MTU, where it was tried; a larger one says the same."""
    version = 6 if ":" in probe.source_ip else 4
    return next((s for s in probe.series if packet_of(s.payload, version) == mtu + 1 and s.sent), None)


def _not_refused(over: PingSeries, mtu: int) -> str:
    """Why it was not refused as it should be; empty where it was."""
    if over.refused_locally and over.local_mtu in (None, mtu):
        return ""
    if over.refused_locally:
        return f"its kernel refuses what is larger than {over.local_mtu}"
    return "they were answered" if over.received else "they left the node"


def _because(probe: PathProbe | None) -> str:
    return f" ({probe.verdict}{f': {probe.reason}' if probe.reason else ''})" if probe else ""


@gate(
    "quiet-counters",
    question="Do the nodes throw nothing away meanwhile?",
    needs=("counters",),
    kinds=(QUIET, LOUD, NOT_COUNTED),
)
def quiet_counters(scene: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Compares what each kernel counted of failed reassemblies, full receive buffers, and drops, while the full-size
    pings were sent: it must be nothing. The counters are those of the whole node, as its protocols keep them; what a
    NIC drops by itself stands in its own (`ip -s -s link show`), which are not read: a ping that it drops is one that
    df-ping misses.
    """
    counters = cluster.counters
    if isinstance(counters, Unknown):
        return
    for node in scene.plan.nodes:
        change = counters.of(node)
        if change is None:
            reason = counters.unread[node].reason if node in counters.unread else f"{node} was not read."
            yield not_known(NOT_COUNTED, node, f"What {node} threw away is not known", reason)
            continue
        counted_now = {
            words: number
            for name, words in _HARM.items()
            if (number := change.counters.value(*name.split(".", 1)) or 0) > 0
        }
        if counted_now:
            yield of_node(
                LOUD,
                Status.FAIL,
                node,
                f"{sum(counted_now.values()):,} lost",
                f"In {change.seconds:.0f} s {node} counted "
                f"{listed(f'{number:,} {words}' for words, number in counted_now.items())}.",
                then=[
                    Remedy(
                        "Look at the drops of the private interfaces.",
                        ("ip -s -s link show", "nstat -az | grep -i reasm"),
                        f"any user on {node}",
                    ),
                    Remedy("Look again: if it stays, it is no accident.", (LOOK_AGAIN,)),
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
                "of the CPUs' backlog.",
                topic="counters over time",
            )
