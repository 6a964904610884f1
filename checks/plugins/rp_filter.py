"""Does a kernel throw packets away because they come in on another interface than it would answer on?"""

from __future__ import annotations

from collections.abc import Iterator

from checks.facts import Cluster, Node, Unknown
from checks.finding import Finding, Remedy, Status
from checks.plugin import Kind, check
from checks.plugins._instances import sentence, span
from checks.plugins._node_counts import TOPIC, counts_of, lacks, sysctl, without_counts
from checks.wording import counted, listed

_SOURCE = "MOS 1286796.1"
_STRICT = 1

NONE_FILTERED = Kind("IC-RPF-001", "rp_filter throws no packets away")
FILTERED = Kind(
    "IC-RPF-002",
    "rp_filter throws packets of a node away",
    "With several private interfaces a packet may come in on one of them and would be answered on another. Strict "
    "filtering (1) drops it: HAIP and blocks on that network fail.",
    (_SOURCE, "Grid Infrastructure Installation Guide, multiple private interconnects and Oracle Linux"),
)
NOT_KNOWN = Kind("IC-RPF-003", "Whether rp_filter throws packets away is not known")


@check(
    "rp-filter",
    question="Does the kernel accept what comes in on the private interfaces?",
    needs=("counters",),
    uses=("nodes", "networks"),
    kinds=(NONE_FILTERED, FILTERED, NOT_KNOWN),
)
def rp_filter(cluster: Cluster) -> Iterator[Finding]:
    """Looks whether the kernels' count of packets dropped by reverse path filtering grows between two readings.

    It is a failure where a private interface of the node filters strictly: the larger one of net.ipv4.conf.all and of
    the interface's own rp_filter counts, and with several private interfaces it must be 0 or 2. Else the packets may
    have come in on any interface: a warning.
    """
    changes = cluster.counters
    if isinstance(changes, Unknown):
        return
    blind = dict(lacks(changes, ("TcpExt.IPReversePathFilter",)))
    fine, told = [], set()
    for counts in (counts_of(change) for change in changes.nodes):
        if counts.reverse_path:
            told.add(counts.node)
            yield _filtered(cluster, counts.node, counts.reverse_path, counts.seconds)
        elif counts.node not in blind:
            fine.append(counts)
    if fine:
        yield NONE_FILTERED.finding(
            Status.PASS,
            f"rp_filter threw no packet away on {listed(c.node for c in fine)} in "
            f"{span(max(c.seconds for c in fine))}.",
            subject="none filtered",
            evidence=[(c.node, TOPIC) for c in fine],
        )
    unknown = {n: why for n, why in {**without_counts(cluster), **blind}.items() if n not in told}
    for node, reason in unknown.items():
        yield NOT_KNOWN.finding(
            Status.UNKNOWN,
            f"Whether rp_filter throws packets of {node} away is not known: {sentence(reason)}",
            subject=f"{node}: not known",
            seen=(reason,),
            next=[Remedy("Mend the reason named above, then run this check again.", ("racwire check rp-filter",))],
            evidence=[(node, TOPIC), (node, "ssh")],
            nodes=[node],
        )
    if not fine and not told and not unknown:
        yield NOT_KNOWN.finding(Status.UNKNOWN, "No node's counters could be read twice.", subject="no node")


def _filtered(cluster: Cluster, node: str, packets: int, seconds: float) -> Finding:
    private = _private_interfaces(cluster, node)
    read = cluster.node(node)
    values = {nic: value for nic in private if read and (value := effective(cluster, read, nic)) is not None}
    strict = [nic for nic, value in values.items() if value == _STRICT]
    several = len(private) > 1
    return FILTERED.finding(
        Status.FAIL if strict and several else Status.WARN,
        f"rp_filter threw {counted(packets, 'packet')} of {node} away in {span(seconds)}"
        + (f"; it is strict on {listed(strict)}." if strict else "."),
        subject=f"{node}: {counted(packets, 'packet')} filtered",
        seen=(
            f"TcpExt IPReversePathFilter grew by {packets:,}",
            *(
                f"{node}: {nic} filters with {value} (the larger one of `all` and its own)"
                for nic, value in values.items()
            ),
        ),
        expected=("0 packets; rp_filter 0 or 2 on the private interfaces",),
        next=[
            Remedy(
                "See which packets they are: they come from an address that the node would answer elsewhere.",
                ("nstat -az TcpExtIPReversePathFilter", "sysctl -a --pattern rp_filter"),
                f"root on {node}",
            ),
            *(
                Remedy(
                    "Set it to loose, and in /etc/sysctl.d as well.",
                    (f"sysctl -w net.ipv4.conf.{nic.replace('.', '/')}.rp_filter=2",),
                    f"root on {node}",
                    is_change=True,
                )
                for nic in strict
            ),
        ],
        evidence=[(node, TOPIC), (node, "sysctls")],
        nodes=[node],
    )


def effective(cluster: Cluster, node: Node, interface: str) -> int | None:
    """The filtering that an interface has: the larger one of `all` and its own (kernel documentation, ip-sysctl)."""
    values = [sysctl(cluster, node.name, f"net.ipv4.conf.{name}.rp_filter") for name in ("all", interface)]
    known = [v for v in values if v is not None]
    return max(known) if len(known) == len(values) else None


def _private_interfaces(cluster: Cluster, node: str) -> list[str]:
    networks = () if isinstance(cluster.networks, Unknown) else cluster.networks
    return list(dict.fromkeys(port.interface for n in networks if (port := n.port(node))))
