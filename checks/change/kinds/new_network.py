"""Find the networks that the operator names on the nodes: `eth3`, or `eth3/192.168.12.0`. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from checks.change.plan.layers import networks_of
from checks.change.plan.registered_networks import private_lines
from checks.change.progress.state import ChangeError
from checks.model.facts import (
    Address,
    Cluster,
    ConfiguredInterface,
    Interface,
    Node,
    PrivateNetwork,
)
from checks.model.networks import in_subnet, subnet_of
from checks.model.wording import listed


@dataclass(frozen=True)
class NamedNetwork:
    """An interface, and a subnet where the operator names one."""

    interface: str
    subnet: str = ""
    """With or without a prefix length; empty for the only subnet of the interface."""

    def __str__(self) -> str:
        """Return it as the operator types it."""
        return f"{self.interface}/{self.subnet}" if self.subnet else self.interface


def named_network(text: str) -> NamedNetwork:
    """Return the network of `eth3` or `eth3/192.168.12.0`. Raises ChangeError if the text names none."""
    interface, slash, subnet = text.strip().partition("/")
    if not interface or (slash and subnet_of(subnet) is None):
        raise ChangeError(f"{text!r} names no network: type an interface (eth3), or eth3/192.168.12.0.")
    return NamedNetwork(interface, subnet)


@dataclass(frozen=True)
class FoundNetwork:
    """A named network as the nodes have it."""

    interface: str
    subnet: str
    """The subnet of most nodes, with its prefix length; empty if no node has one."""
    places: tuple[tuple[Node, Interface, Address], ...]
    """The nodes that have an address in the subnet on this interface."""
    elsewhere: tuple[tuple[Node, Interface, Address], ...]
    """The nodes that have an address in the subnet on another interface only."""


def find_network(cluster: Cluster, named: NamedNetwork) -> FoundNetwork:
    """Return the named network. Raises ChangeError if the interface has several subnets and none is named."""
    own = list(_addresses(cluster, named))
    subnets = Counter(str(address.network) for _, _, address in own)
    if len({str(a.network.network_address) for _, _, a in own}) > 1:
        listed_ = listed(sorted(subnets))
        first = sorted(subnets)[0].partition("/")[0]
        raise ChangeError(
            f"{named.interface} has addresses in several subnets: {listed_}. Name one of them, as in "
            f"{named.interface}/{first}."
        )
    if not own:
        return FoundNetwork(
            named.interface, named.subnet if "/" in named.subnet else "", (), tuple(_in(cluster, named))
        )
    subnet = subnets.most_common(1)[0][0]
    there = {node.name for node, _, _ in own}
    others = (place for place in _in(cluster, NamedNetwork("", subnet)) if place[0].name not in there)
    return FoundNetwork(named.interface, subnet, tuple(own), tuple(others))


def _addresses(cluster: Cluster, named: NamedNetwork) -> Iterator[tuple[Node, Interface, Address]]:
    """Yield the addresses of the named interface, without link-local ones, in the named subnet if there is one."""
    for node in cluster.read_nodes():
        interface = node.interface(named.interface)
        if interface is None:
            continue
        for address in interface.addresses:
            if _counts(address) and (not named.subnet or in_subnet(address, named.subnet)):
                yield node, interface, address


def _in(cluster: Cluster, named: NamedNetwork) -> Iterator[tuple[Node, Interface, Address]]:
    if not named.subnet:
        return
    for node in cluster.read_nodes():
        for interface in node.interfaces:
            for address in interface.addresses:
                if _counts(address) and in_subnet(address, named.subnet) and interface.name != named.interface:
                    yield node, interface, address


def _counts(address: Address) -> bool:
    return not address.is_link_local and not address.ip.casefold().startswith("fe80:")


def old_network(cluster: Cluster, named: NamedNetwork) -> tuple[PrivateNetwork, ConfiguredInterface]:
    """Return the private network that the operator wants to leave, with its line of oifcfg.

    Raises ChangeError if oifcfg has no such private network, or several.
    """
    lines = private_lines(cluster)
    found = [
        line
        for line in lines
        if fnmatchcase(named.interface, line.name)
        and (not named.subnet or line.subnet.partition("/")[0] == named.subnet.partition("/")[0])
    ]
    known = listed(f"{line.name}/{line.subnet}" for line in lines) or "none"
    if len(found) != 1:
        how = "several private networks" if found else "no private network"
        raise ChangeError(f"--from {named}: oifcfg has {how} of this name; its private networks are {known}.")
    line = found[0]
    for network in networks_of(cluster):
        if network.subnet.partition("/")[0] == line.subnet.partition("/")[0]:
            return network, line
    raise ChangeError(f"--from {named}: no node is on {line.subnet}, so racwire cannot plan a rollback to it.")
