"""Clusters with a setup of the nodes outside Clusterware, and texts as the nodes print them."""

from __future__ import annotations

import msgspec

from checks.model.facts import Bond, BondMember, Cluster, HostSetup, NicDriver, Node, NodeMemory, NodeSetup
from tests.fixtures.clusters import cluster, node, setup, with_interface

GIGABYTE_KB = 2**20


def with_hosts(built: Cluster, *hosts: HostSetup) -> Cluster:
    """The cluster with these setups of rac1, rac2, ..."""
    assert isinstance(built.setups, tuple)
    setups = [
        msgspec.structs.replace(s, host=host) if isinstance(s, NodeSetup) else s
        for s, host in zip(built.setups, hosts, strict=True)
    ]
    return msgspec.structs.replace(built, setups=tuple(setups))


def of_hosts(*hosts: HostSetup) -> Cluster:
    """A healthy cluster with one node for each setup."""
    return with_hosts(cluster(len(hosts)), *hosts)


def healthy_host() -> HostSetup:
    """The setup of a physical machine without bonds."""
    nics = ("eth1", "eth2")
    return HostSetup(
        memory=NodeMemory(256 * GIGABYTE_KB, 2_000_000, 1, 32),
        bonds=(),
        drivers=tuple(driver(nic) for nic in nics),
        drivers_in_use=dict.fromkeys(nics, "ixgbe"),
        processes=(),
        others=(),
        is_virtual=False,
    )


def driver(nic: str, **changes: object) -> NicDriver:
    """The driver of a NIC with a full ring."""
    facts: dict[str, object] = {
        "driver": "ixgbe", "version": "5.1.0-k", "firmware": "0x800003e7", "rx_ring": 4096, "rx_ring_most": 4096,
        "pause_negotiated": True, "pause_rx": True, "pause_tx": True,
    }  # fmt: skip
    return NicDriver(nic, **{**facts, **changes})  # type: ignore[arg-type]


LACP, BACKUP = "IEEE 802.3ad Dynamic link aggregation", "fault-tolerance (active-backup)"


def bonded(*members: BondMember, mode: str = LACP, **changes: object) -> Cluster:
    """Two nodes whose eth2 is a bond; that of rac2 has these members."""
    nodes = [_with_bond(node(number)) for number in (1, 2)]
    sound = Bond("eth2", mode, "up", "", 100, members=(member("p0"), member("p1")))
    other = msgspec.structs.replace(sound, members=members, **changes)
    hosts = [msgspec.structs.replace(healthy_host(), bonds=(bond,)) for bond in (sound, other)]
    return with_hosts(cluster(nodes), *hosts)


def member(name: str, status: str = "up", speed: int | None = 25_000, aggregator: int | None = 1) -> BondMember:
    """A member of a bond."""
    return BondMember(name, status, speed, "full" if speed else "", 0, aggregator)


def _with_bond(of: Node) -> Node:
    return with_interface(of, "eth2", kind="bond", members=("p0", "p1"))


__all__ = ["BACKUP", "LACP", "bonded", "driver", "healthy_host", "member", "of_hosts", "setup", "with_hosts"]
