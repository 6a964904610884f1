"""Does a kernel drop packets because they arrive on another interface than the answer would leave by?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from checks.model.check import Kind, PassKind, UnknownKind, WarnKind, check
from checks.model.facts import Cluster, Unknown
from checks.model.finding import Finding, NextStep, Status
from checks.model.observation import Observation
from checks.model.shell_command import shell
from checks.model.wording import counted, listed
from checks.plugins.shared.counter_text import TOPIC, highest_rate, unknown_nodes_findings
from checks.plugins.shared.grouping import alike, briefly, named, some, time_of
from checks.plugins.shared.settings_text import plan_of
from checks.rules.network_setup import filtered_status
from checks.rules.node_counts import NodeCounts, counts_of, lacks, without_counts
from checks.rules.observed.counted_packets import filtered_by_path
from checks.rules.observed.states import network_at, read_on, state
from checks.rules.sysctls_at_boot import (
    LOOSE,
    effective_rp_filter,
    private_interfaces,
    rp_filter_key,
    spelled,
    strict_interfaces,
)
from checks.rules.sysctls_at_boot import STRICT as STRICT_FILTER

_SOURCE = "MOS 1286796.1"

NONE_FILTERED = PassKind("IC-RPF-001", "rp_filter drops no packets")
FILTERED = Kind(
    "IC-RPF-002",
    "rp_filter drops packets on a node",
    "With several private interfaces, a packet may arrive on one of them while the answer would leave by another. "
    "Strict filtering (1) drops such a packet: HAIP and blocks on that network fail.",
    (_SOURCE, "Grid Infrastructure Installation Guide, multiple private interconnects and Oracle Linux"),
)
STRICT = WarnKind(
    "IC-RPF-004",
    "rp_filter is strict on several private interfaces of a node",
    "The filter may drop no packet while each network works. When HAIP moves an address to another interface, or a "
    "second private network is added, packets arrive where strict filtering (1) drops them, and instances are evicted.",
    (_SOURCE, "Grid Infrastructure Installation Guide, multiple private interconnects and Oracle Linux"),
)
NOT_KNOWN = UnknownKind("IC-RPF-003", "Whether rp_filter drops packets is not known")


@check(
    "rp-filter",
    question="Does rp_filter accept all packets that arrive on the private interfaces?",
    needs=("counters",),
    uses=("nodes", "networks"),
    only_ipv4="rp_filter is a setting of IPv4",
    kinds=(NONE_FILTERED, FILTERED, NOT_KNOWN, STRICT),
)
def rp_filter(cluster: Cluster) -> Iterator[Finding]:
    """Checks whether the kernels' count of packets dropped by reverse path filtering grows between two readings.

    Growth is a failure where a private interface of the node filters strictly and the node has several of them: the
    larger of net.ipv4.conf.all and the interface's own rp_filter applies, and must be 0 or 2 there. Otherwise the
    packets may have arrived on any interface, and growth is a warning. Strict filtering on several private interfaces
    of a node is a warning also while nothing is dropped.
    """
    changes = cluster.counters
    if isinstance(changes, Unknown):
        return
    blind = dict(lacks(changes, ("TcpExt.IPReversePathFilter",)))
    counts = [counts_of(change) for change in changes.nodes]
    filtering = []
    for c in counts:
        strict = strict_interfaces(cluster, c.node)
        filtering.append(_Filtering(c, strict, filtered_status(strict, private_interfaces(cluster, c.node))))
    dropping = [f for f in filtering if f.counts.reverse_path]
    for same in alike(dropping, lambda f: (f.status, f.strict)):
        yield _filtered(cluster, same)
    reported = {f.counts.node for f in dropping}
    uncounted = {**without_counts(cluster), **blind}
    waiting = {f.counts.node: f.strict for f in filtering if f.status is Status.FAIL and f.counts.node not in reported}
    for node in uncounted:
        strict = strict_interfaces(cluster, node)
        if filtered_status(strict, private_interfaces(cluster, node)) is Status.FAIL and node not in reported:
            waiting[node] = strict
    for nodes in alike(waiting, lambda node: (waiting[node], node in uncounted)):
        yield _strict_without_drops(cluster, waiting[nodes[0]], nodes, is_counted=nodes[0] not in uncounted)
    fine = [c for c in counts if c.node not in reported and c.node not in blind]
    if fine:
        yield NONE_FILTERED.finding(
            f"rp_filter dropped no packet on {named((c.node for c in fine), 'node')} in {time_of(fine)}.",
            subject="none filtered",
            evidence=[(c.node, TOPIC) for c in fine],
            observed=read_on(NONE_FILTERED.code, [c.node for c in fine]),
        )
    unknown = {n: why for n, why in uncounted.items() if n not in reported}
    yield from unknown_nodes_findings(cluster, NOT_KNOWN, "Whether rp_filter drops packets on {}", "rp-filter", unknown)


class _Filtering(NamedTuple):
    """A node whose rp_filter drops packets, and its private interfaces that filter strictly."""

    counts: NodeCounts
    strict: tuple[str, ...]
    status: Status
    """The status of packets that the filter drops there."""


def _filtered(cluster: Cluster, same: Sequence[_Filtering]) -> Finding:
    strict = same[0].strict
    nodes, packets = [f.counts.node for f in same], sum(f.counts.reverse_path for f in same)
    worst = sorted(same, key=lambda f: (-f.counts.reverse_path, f.counts.node))
    return FILTERED.finding(
        f"rp_filter dropped {counted(packets, 'packet')} on {named(nodes, 'node')} in "
        f"{time_of(f.counts for f in same)}" + (f"; it is strict on {listed(strict)}." if strict else "."),
        status=same[0].status,
        subject=f"{briefly(nodes, 'node')}: {counted(packets, 'packet')} filtered",
        data={
            "filtered_packets": packets,
            "strict_interfaces": ", ".join(strict),
            "seconds": max(f.counts.seconds for f in same),
        },
        seen=(
            *some([f"{f.counts.node}: TcpExt IPReversePathFilter grew by {f.counts.reverse_path:,}" for f in worst]),
            *some([line for node in nodes for line in _settings(cluster, node)]),
        ),
        expected=("0 packets; rp_filter 0 or 2 on the private interfaces",),
        next=[
            NextStep(
                "Find the packets: they come from an address that the node would answer by another interface.",
                ("nstat -az TcpExtIPReversePathFilter", "sysctl -a --pattern rp_filter"),
                f"any user on {named(nodes, 'node')}",
            ),
            *_loosen(strict, nodes),
        ],
        evidence=[(node, topic) for node in nodes for topic in (TOPIC, "sysctls")],
        nodes=nodes,
        extent=highest_rate([f.counts for f in same], lambda c: c.reverse_path, "packets"),
        observed=(*filtered_by_path([f.counts for f in same]), *_strict(cluster, strict, nodes)),
    )


def _strict_without_drops(
    cluster: Cluster, strict: Sequence[str], nodes: Sequence[str], *, is_counted: bool
) -> Finding:
    dropped = "it dropped no packet in the interval" if is_counted else "whether it drops packets was not counted"
    return STRICT.finding(
        f"rp_filter is strict on {listed(strict)} of {named(nodes, 'node')}, which "
        f"{'has' if len(nodes) == 1 else 'have'} several private interfaces; {dropped}.",
        subject=f"{briefly(nodes, 'node')}: strict",
        data={"strict_interfaces": ", ".join(strict)},
        seen=some([_setting(node, nic, STRICT_FILTER) for node in nodes for nic in strict]),
        expected=("rp_filter 0 or 2 on every private interface",),
        next=list(_loosen(strict, nodes)),
        evidence=[(node, topic) for node in nodes for topic in (TOPIC, "sysctls")],
        nodes=nodes,
        extent=(len(nodes), "nodes"),
        observed=_strict(cluster, strict, nodes),
    )


def _strict(cluster: Cluster, strict: Sequence[str], nodes: Sequence[str]) -> tuple[Observation, ...]:
    return tuple(
        state("rp_filter", node, network_at(cluster, node, nic), nic, STRICT_FILTER) for node in nodes for nic in strict
    )


def _loosen(strict: Sequence[str], nodes: Sequence[str]) -> Iterator[NextStep]:
    if strict:
        yield plan_of("rp-filter")
    for nic in strict:
        yield NextStep(
            "Set rp_filter to loose (2) on one node after the other, and in /etc/sysctl.d.",
            (shell("sysctl -w {key}={value}", key=spelled(rp_filter_key(nic)), value=LOOSE),),
            f"root on {named(nodes, 'node')}",
            is_change=True,
        )


def _settings(cluster: Cluster, node: str) -> list[str]:
    return [_setting(node, nic, value) for nic, value in _filters(cluster, node).items()]


def _setting(node: str, nic: str, value: int) -> str:
    return f"{node}: {nic} has rp_filter {value} (the larger of `all` and its own)"


def _filters(cluster: Cluster, node: str) -> dict[str, int]:
    """Return the effective rp_filter of the private interfaces of a node, where it is known."""
    private = private_interfaces(cluster, node)
    return {nic: value for nic in private if (value := effective_rp_filter(cluster, node, nic)) is not None}
