"""Obstacles in the boot configuration of the layers: not found, not readable, shared, or overridden by a script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.change.plan import codes
from checks.change.plan.change_plan import Layer
from checks.change.plan.layers import by_dhcp
from checks.change.plan.obstacles import Obstacle, obstacle, plan_again
from checks.model.facts import Cluster, FragileMtu, KeptMtu, NetworkService, Unknown
from checks.model.finding import NextStep
from checks.model.shell_command import shell
from checks.model.wording import listed

_SEARCH = "grep -rns -e {nic} /etc/sysconfig /etc/systemd/network /etc/NetworkManager /etc/netplan /etc/network"


def keeping(cluster: Cluster, layers: Sequence[Layer]) -> Iterator[Obstacle]:
    """Yield the obstacles in the boot configuration: commands for it would be inexact, or a script overrides it."""
    for node in dict.fromkeys(layer.node for layer in layers):
        own = [layer for layer in layers if layer.node == node]
        yield from _not_found(cluster, node, own)
        yield from _not_readable(cluster, node, own)
        yield from _by_dhcp(cluster, node, own)
        yield from _shared(cluster, node, own)
        yield from _overruled(cluster, node, own)


def fragile_of(cluster: Cluster, node: str, layers: Sequence[Layer]) -> tuple[tuple[FragileMtu, int], ...]:
    """Return the lines of scripts and rules that set an MTU of the node's layers, each with the planned MTU.

    A line without an interface name counts, too: it may apply to all interfaces.
    """
    setup = cluster.setup(node)
    after = {layer.interface: layer.mtu_after for layer in layers if layer.node == node}
    if setup is None or not after:
        return ()
    return tuple(
        (line, after.get(line.interface, max(after.values())))
        for line in setup.fragile
        if line.interface in after or not line.interface
    )


def _not_found(cluster: Cluster, node: str, layers: Sequence[Layer]) -> Iterator[Obstacle]:
    setup = cluster.setup(node)
    if setup is None or isinstance(setup.kept, Unknown):
        return  # an obstacle of its own
    # A bond gives its MTU to members that have no file of their own.
    unknown = [
        one.interface
        for one in layers
        if one.network_service == NetworkService.UNKNOWN and not one.file and one.role != "member"
    ]
    if unknown:
        yield obstacle(
            codes.NETWORK_SERVICE_NOT_KNOWN,
            "No network service that racwire knows (NetworkManager, ifcfg, systemd-networkd, netplan, "
            f"wicked) configures {listed(unknown)} of {node} at boot. So racwire has no command to set the MTU at "
            "boot.",
            NextStep("Search for the configuration.", (shell(_SEARCH, nic=unknown[0]),)),
            "If you know the configuration, accept this obstacle and set the MTU there, too; the step "
            "survives-boot proves it.",
            title=f"The boot configuration of {unknown[0]} on {node} is not known",
            acceptable=True,
        )


def _not_readable(cluster: Cluster, node: str, layers: Sequence[Layer]) -> Iterator[Obstacle]:
    setup = cluster.setup(node)
    if setup is None:
        return
    reasons = [setup.kept.reason] if isinstance(setup.kept, Unknown) else []
    for layer in layers:
        kept = setup.kept_mtu(layer.interface)
        if kept and isinstance(kept.mtu, Unknown) and not by_dhcp(kept):
            reasons.append(f"{layer.interface}: {kept.mtu.reason}")
    if reasons:
        yield obstacle(
            codes.FILES_NOT_READ,
            f"The MTU in the boot configuration of {node} could not be read: {reasons[0].rstrip('.')}.",
            NextStep("Plan again as a user who may read the files, or as root.", own=plan_again()),
            "Otherwise accept this obstacle: a rollback then writes the present MTU into the files, whether "
            "they set it before or not.",
            title=f"The boot configuration of {node} could not be read",
            acceptable=True,
        )


def _by_dhcp(cluster: Cluster, node: str, layers: Sequence[Layer]) -> Iterator[Obstacle]:
    setup = cluster.setup(node)
    names = [layer.interface for layer in layers if setup and by_dhcp(setup.kept_mtu(layer.interface))]
    if names:
        yield obstacle(
            codes.DHCP,
            f"{listed(names)} of {node} {'gets' if len(names) == 1 else 'get'} the address by DHCP. The DHCP "
            "server can send an MTU of its own (option 26), to one node and not to another.",
            "Give the private interfaces fixed addresses, or make the DHCP server send the new MTU, too.",
            "If the server sends no MTU, accept this obstacle: the node's own files will set the MTU, and the "
            "step survives-boot proves it.",
            title=f"{listed(names)} of {node} by DHCP",
            acceptable=True,
        )


def _shared(cluster: Cluster, node: str, layers: Sequence[Layer]) -> Iterator[Obstacle]:
    """Yield obstacles of files and connections for private and other interfaces: `Name=eth*`, a netplan `match`."""
    setup = cluster.setup(node)
    if setup is None or isinstance(setup.kept, Unknown):
        return
    ours = {layer.interface for layer in layers}
    own = {_set_in(kept): kept.interface for kept in setup.kept if kept.interface in ours and any(_set_in(kept))}
    for kept in setup.kept:
        if kept.interface not in ours and (private := own.get(_set_in(kept))):
            where = kept.connection or kept.file
            yield obstacle(
                codes.SHARED_FILE,
                f"{where} on {node} configures {private} and also {kept.interface}, which is not private: an "
                "MTU set there applies to both at the next boot.",
                f"Give {private} of {node} a file or connection of its own first.",
                f"Or accept this obstacle, and make sure at the step set-mtu that {kept.interface} keeps its MTU.",
                title=f"{where} also configures {kept.interface}",
                acceptable=True,
            )


def _set_in(kept: KeptMtu) -> tuple[str, str]:
    """Return the file and connection that hold the MTU; empty for network services with a file for each interface."""
    match kept.network_service:
        case NetworkService.NETWORKD:
            return kept.file, ""
        case NetworkService.NETPLAN:
            return (kept.file, kept.connection) if kept.connection else ("", "")
        case NetworkService.NETWORK_MANAGER:
            return "", kept.connection
        case _:
            return "", ""


def _overruled(cluster: Cluster, node: str, layers: Sequence[Layer]) -> Iterator[Obstacle]:
    other = [line for line, wanted in fragile_of(cluster, node, layers) if line.mtu is not None and line.mtu != wanted]
    if other:
        yield obstacle(
            codes.SCRIPT,
            f"{other[0].file} on {node} sets an MTU of {other[0].mtu} in addition to the network service. The "
            f"next boot would undo the change there (`{other[0].line.strip()}`).",
            f"Remove the line from {other[0].file} before the change, or ask its owner to do so.",
            "Or accept this obstacle, and edit the line at the step set-mtu, which shows it again.",
            title=f"A script on {node} sets another MTU",
            acceptable=True,
        )
