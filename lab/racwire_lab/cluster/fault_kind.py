"""A kind of fault, and a fault at its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Scope = Literal["nic", "node", "network", "cluster"]


@dataclass(frozen=True)
class Fault:
    """One fault of the catalogue. Its scope says whether its place is a NIC, a node, a network or the cluster."""

    name: str
    summary: str
    effect: str
    scope: Scope
    default_node: str | None = "rac2"
    default_network: int | None = 2
    needs_nft: bool = False
    needs_jumbo: bool = False
    needs_fragments: bool = False
    needs_database: bool = False
    needs_sshd: bool = False
    needs_users: bool = False
    needs_storage: bool = False
    needs_rate: bool = False
    needs_hypervisor: bool = False
    share: float | None = None
    """The default share of the packets that it drops, in percent; None where it has none."""

    @property
    def default_place(self) -> str:
        """Where the fault is unless `lab break` names another place: `rac2 eth2`, or the scope."""
        network = f"eth{self.default_network}" if self.default_network else ""
        place = " ".join(part for part in (self.default_node, network) if part)
        return place or ("every node" if self.scope == "node" else "the whole cluster")

    @property
    def needs(self) -> str:
        """Requirements of the fault in addition to the running cluster; empty when there are none."""
        needs = []
        if self.needs_nft:
            needs.append("the nft command")
        if self.needs_jumbo:
            needs.append("a cluster with an MTU above 1500")
        if self.needs_fragments:
            needs.append("a cluster with an MTU of 1500, where blocks are cut into fragments")
        if self.needs_database:
            needs.append("the practice database")
        if self.needs_sshd:
            needs.append("sshd")
        if self.needs_users:
            needs.append("a cluster with users (`racwire lab up --like hardened`)")
        if self.needs_storage:
            needs.append("a storage server (`racwire lab up --storage`)")
        if self.needs_rate:
            needs.append("switch ports with a rate (`racwire lab up --rate 1g`)")
        if self.needs_hypervisor:
            needs.append("a node behind a hypervisor (`racwire lab up --hypervisor`)")
        return " and ".join(needs)


@dataclass(frozen=True)
class ActiveFault:
    """An active fault and its place; None for all nodes or all networks."""

    fault: str
    node: str | None
    network: int | None
    share: float | None = field(default=None, compare=False)
    """The share of the packets that it drops, in percent. Two faults with different shares are the same."""

    def __str__(self) -> str:
        where = [self.node or "", f"eth{self.network}" if self.network else ""]
        place = " ".join(part for part in where if part)
        return f"{self.fault} ({place})" if place else self.fault


def of_nic(name: str, summary: str, effect: str) -> Fault:
    """Return a fault of a private NIC."""
    return Fault(name, summary, effect, "nic")


def of_node(name: str, summary: str, effect: str) -> Fault:
    """Return a fault of a node."""
    return Fault(name, summary, effect, "node", default_network=None)
