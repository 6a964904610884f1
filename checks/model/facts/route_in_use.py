"""Facts about the routes that the kernels choose for packets between private addresses, from `ip route get`."""

from __future__ import annotations

from checks.model.facts.base import Fact, Unknown


class RouteInUse(Fact, frozen=True):
    """The kernel's answer for packets of one address of a node to one address of a peer."""

    network: str
    """The private network whose interface has the source address."""
    source_ip: str
    to_node: str
    destination_ip: str
    interface: str = ""
    """Empty where the kernel refuses such packets."""
    gateway: str = ""
    mtu: int | None = None
    """The MTU of this route, its own or a learned one; None where that of the interface applies."""
    mtu_locked: bool = False
    advmss: int | None = None
    """The largest TCP segment that the node announces, in bytes; None where the kernel computes it from the MTU."""
    expires_s: int | None = None
    """Seconds until the kernel forgets the MTU, which a router reported for a packet that was too large."""
    unbound_source: str = ""
    """The source address for programs that do not choose one."""
    refusal: str = ""
    """The kernel's reason, in its own words: `No route to host`."""
    table: str = ""
    """The routing table that has the route, where `ip` names one; old kernels do not, nor for the main table."""


class NodeRoutes(Fact, frozen=True):
    """The routes in use on one node."""

    node: str
    routes: tuple[RouteInUse, ...] | Unknown = ()
    rules: tuple[str, ...] = ()
    """The policy rules, as `ip rule show` prints them, without those that each Linux has."""
