"""Other interfaces of the nodes that have a private address of a node: bridges of containers, dummies, macvlans."""

from __future__ import annotations

from collections.abc import Iterable

from checks.model.facts import Cluster
from checks.model.shell_command import for_each

_BY_PREFIX = {
    "br-": "docker network ls",
    "docker": "docker network ls",
    "cni": "podman network ls",
    "podman": "podman network ls",
    "virbr": "virsh net-list --all",
}
"""The programs that make interfaces with these names."""


def also_has(cluster: Cluster, ip: str, owner: str) -> list[tuple[str, str]]:
    """Return the other nodes that have the address, each with its interface."""
    return [
        (node.name, interface.name)
        for node in cluster.read_nodes()
        if node.name != owner
        for interface in node.interfaces
        if any(address.ip == ip for address in interface.addresses)
    ]


def owner_commands(interfaces: Iterable[str]) -> tuple[str, ...]:
    """Return the commands that show who made these interfaces."""
    names = list(dict.fromkeys(interfaces))
    programs = [command for name in names for prefix, command in _BY_PREFIX.items() if name.startswith(prefix)]
    return (*for_each("ip -details address show {nic}", nic=names), *dict.fromkeys(programs))


def owner_user(interfaces: Iterable[str]) -> str:
    """Return who may type `owner_commands`: the programs of container engines and hypervisors answer root alone."""
    return "root" if any(name.startswith(tuple(_BY_PREFIX)) for name in interfaces) else "any user"
