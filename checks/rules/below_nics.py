"""What may be below a private NIC of a node: a hypervisor, a cloud or a container host, which can filter its packets.

A machine whose CPUs report no hypervisor, with a NIC that is no container's, has a cable below its NIC.
"""

from __future__ import annotations

from enum import Enum

from checks.model.facts import Cluster, HostSetup, PrivateNetwork, Unknown
from checks.model.networks import nics_of


class Below(Enum):
    """What is below a private NIC."""

    CABLE = "cable"
    HYPERVISOR = "hypervisor or cloud"
    CONTAINER_HOST = "container host"
    NOT_KNOWN = "not known"

    @property
    def can_filter(self) -> bool:
        """Whether it can be a layer that filters packets."""
        return self is not Below.CABLE


_OF_CONTAINERS = frozenset({"veth", "macvlan", "macvtap", "ipvlan", "ipvtap"})
"""The kinds of NIC that a container host gives to its containers (ip-link(8))."""


def below(cluster: Cluster, network: PrivateNetwork, node: str) -> Below:
    """Return what is below the private NIC of a node on a network."""
    port = network.port(node)
    interface = cluster.interface(port) if port else None
    if port is None or interface is None:
        return Below.NOT_KNOWN
    read = cluster.node(node)
    kinds = {nic.kind for name in nics_of(cluster, port) if read and (nic := read.interface(name))}
    if not kinds.isdisjoint(_OF_CONTAINERS):
        return Below.CONTAINER_HOST
    is_virtual = host.is_virtual if (host := _host(cluster, node)) else None
    if is_virtual is None:
        return Below.NOT_KNOWN
    return Below.HYPERVISOR if is_virtual else Below.CABLE


def product_of(cluster: Cluster, node: str) -> str:
    """Return the cloud or the product of a machine, as its firmware has it; empty where it was not read."""
    setup, host = cluster.setup(node), _host(cluster, node)
    return (setup.platform if setup else "") or (host.product if host else "")


def bridge_of(cluster: Cluster, network: PrivateNetwork, node: str) -> str:
    """Return the bridge of the node itself that its private NIC is, or is a port of; empty where there is none."""
    port, read = network.port(node), cluster.node(node)
    if port is None or read is None:
        return ""
    names = (port.interface, *nics_of(cluster, port))
    own = [nic for name in names if (nic := read.interface(name))]
    masters = [master for nic in own if nic.master and (master := read.interface(nic.master))]
    return next((nic.name for nic in (*own, *masters) if nic.kind == "bridge"), "")


def _host(cluster: Cluster, node: str) -> HostSetup | None:
    setup = cluster.setup(node)
    return setup.host if setup and not isinstance(setup.host, Unknown) else None
