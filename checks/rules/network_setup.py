"""Rules for how the private networks are set up: names, subnets, HAIP, routes, and what the kernel filters."""

from __future__ import annotations

from collections.abc import Collection

from checks.model.facts import FlowProbe, PrivateNetwork, RouteInUse
from checks.model.finding import Status


def names_status(network: PrivateNetwork) -> Status:
    """Return the status of a network on interfaces of other names than oifcfg has: the installer stores a wildcard
    where names differ between nodes, which Clusterware takes."""
    return Status.WARN if network.is_pattern else Status.FAIL


def same_subnet_status(engineered: bool) -> Status:
    """Return the status of two private networks in one subnet: the vendor configures engineered systems so."""
    return Status.INFO if engineered else Status.FAIL


def haip_status(is_online: bool) -> Status:
    """Return the status of a setup that HAIP disagrees with: a failure where HAIP is in use (MOS 1210883.1)."""
    return Status.FAIL if is_online else Status.WARN


def forwarding_status(bridges: Collection[str]) -> Status:
    """Return the status of a node that forwards packets, as bridges of containers and virtual machines need it."""
    return Status.INFO if bridges else Status.WARN


def missing_route_status(in_vain: Collection[FlowProbe]) -> Status:
    """Return the status of a route that the main table lacks: a failure where datagrams got no answer, since a rule can
    lead to another table."""
    return Status.FAIL if in_vain else Status.WARN


def gateway_status(route: RouteInUse) -> Status:
    """Return the status of a route to a private address by a gateway: a warning where that is the peer itself."""
    return Status.WARN if route.gateway == route.destination_ip else Status.FAIL


def learned_mtu_status(*, explained: bool) -> Status:
    """Return the status of a smaller path MTU that a kernel learned; `explained` where df-ping has the fault."""
    return Status.INFO if explained else Status.WARN


def absent_group_status(*, is_member: bool) -> Status:
    """Return the status of a multicast group that Clusterware joined on other nodes: a warning where the node is not an
    active member, since a member has found the others."""
    return Status.INFO if is_member else Status.WARN


def filtered_status(strict: Collection[str], private: Collection[str]) -> Status:
    """Return the status of packets that rp_filter drops on a node with these private interfaces, of which some filter
    strictly: a packet may arrive on one while the answer would leave by another."""
    return Status.FAIL if strict and len(private) > 1 else Status.WARN
