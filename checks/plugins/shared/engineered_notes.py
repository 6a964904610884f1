"""Notes of findings about engineered systems (Exadata and similar), whose blocks travel over RDS."""

from __future__ import annotations

from collections.abc import Iterable

from checks.model.effect import Effect
from checks.model.facts import Cluster
from checks.model.finding import NextStep
from checks.plugins.shared.grouping import briefly, named
from checks.rules.engineered import engineered_ports


def beside_udp(cluster: Cluster, nodes: Iterable[str]) -> tuple[str, ...]:
    """Return the note that counters of IP and UDP miss blocks sent over RDS (MOS 563566.1, cause 10)."""
    return _note(engineered_ports(cluster, nodes), "these counters do not include traffic over RDS")


def beside_pings(cluster: Cluster, nodes: Iterable[str]) -> tuple[str, ...]:
    """Return the note that pings do not test the path of blocks sent over RDS, which can have another packet size."""
    return _note(engineered_ports(cluster, nodes), "pings travel over IP and do not test RDS")


def by_the_vendor(what: str) -> NextStep:
    """Return the remedy for a configuration that only the procedures of the vendor may change."""
    return NextStep(
        f"Have {what} corrected by the vendor's procedure for the engineered system, or open a service request: the "
        "storage cells use the same network.",
        is_change=True,
        effect=Effect.CLUSTER_DOWN_FIRST,
    )


def _note(ports: Iterable[tuple[str, str]], what: str) -> tuple[str, ...]:
    found = list(ports)
    if not found:
        return ()
    return (
        f"{named((node for node, _ in found), 'node')}: NICs as on engineered systems "
        f"({briefly((nic for _, nic in found), 'NIC')}); {what}",
    )
