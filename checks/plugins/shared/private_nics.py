"""The names of the private NICs for the commands of a remedy; `ETH` stands for each where they are not known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from checks.model.facts import Cluster
from checks.model.finding import NextStep
from checks.model.networks import nics_of
from checks.model.shell_command import Placeholder, for_each

_MOST = 4
"""The most NICs that a remedy names; more would make its list of commands too long to read."""


def private_nics(cluster: Cluster, nodes: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names of the NICs that carry the private networks on these nodes, or on all nodes, each once.

    For a bond, a VLAN or a bridge these are the NICs below it: ring buffers, offloading and most errors belong to the
    members.
    """
    ports = [port for network in cluster.read_networks() for port in network.ports if not nodes or port.node in nodes]
    return tuple(dict.fromkeys(nic for port in ports for nic in nics_of(cluster, port)))


def on_nics(
    cluster: Cluster, nodes: Sequence[str], text: str, commands: Iterable[str], where: str, *, is_change: bool = False
) -> NextStep:
    """Return a remedy that repeats each command for each private NIC as its `{nic}`; a change has the first only."""
    names = private_nics(cluster, nodes)[: 1 if is_change else None]
    if not 0 < len(names) <= _MOST:
        text, names = f"{text} {Placeholder.ETH} stands for each private NIC.", (Placeholder.ETH,)
    each = tuple(line for command in commands for line in for_each(command, nic=names))
    return NextStep(text, each, where, is_change)
