"""What keeps the MTU of each layer over a boot, as far as it stands in the way: not found, not readable, overruled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.change import codes
from checks.change.change_plan import Layer
from checks.change.layers import by_dhcp
from checks.change.obstacles import Obstacle
from checks.model.facts import Cluster, FragileMtu, Keeper, KeptMtu, Unknown
from checks.model.wording import listed


def keeping(cluster: Cluster, layers: Sequence[Layer]) -> Iterator[Obstacle]:
    """Where the advice on what is kept cannot be exact, and where a script would set another MTU."""
    for node in dict.fromkeys(layer.node for layer in layers):
        own = [layer for layer in layers if layer.node == node]
        yield from _not_found(cluster, node, own)
        yield from _not_readable(cluster, node, own)
        yield from _by_dhcp(cluster, node, own)
        yield from _shared(cluster, node, own)
        yield from _overruled(cluster, node, own)


def fragile_of(cluster: Cluster, node: str, layers: Sequence[Layer]) -> tuple[tuple[FragileMtu, int], ...]:
    """The lines beside the keepers that set an MTU of this node's layers, with the MTU that they would have to set.

    A line that names no interface counts too: it is about all.
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
        return  # said by itself
    # A bond gives its MTU to members that have no file of their own.
    unknown = [
        one.interface for one in layers if one.keeper == Keeper.UNKNOWN and not one.file and one.role != "member"
    ]
    if unknown:
        yield Obstacle(
            code=codes.KEEPER_NOT_KNOWN.code,
            title=f"What keeps the MTU on {node} is not known",
            sentence=f"Nothing that racwire knows of brings up {listed(unknown)} of {node} at boot (NetworkManager, "
            "ifcfg, systemd-networkd, netplan, wicked), so how its MTU is to be kept cannot be told.",
            next=(
                f"See what names it: grep -rns -e {unknown[0]} /etc/sysconfig /etc/systemd/network "
                "/etc/NetworkManager /etc/netplan /etc/network",
                "Where you know what keeps it, accept this and set the MTU there too; survives-boot proves it.",
            ),
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
        yield Obstacle(
            code=codes.FILES_NOT_READ.code,
            title=f"What {node} keeps could not be read",
            sentence=f"Which MTU the files of {node} set now could not be read: {reasons[0].rstrip('.')}.",
            next=(
                "Run `racwire change new` as a user who may read them, or as root.",
                "Else accept this: the way back will then set what runs now, whether a file set it or not.",
            ),
            acceptable=True,
        )


def _by_dhcp(cluster: Cluster, node: str, layers: Sequence[Layer]) -> Iterator[Obstacle]:
    setup = cluster.setup(node)
    names = [layer.interface for layer in layers if setup and by_dhcp(setup.kept_mtu(layer.interface))]
    if names:
        yield Obstacle(
            code=codes.DHCP.code,
            title=f"{listed(names)} of {node} by DHCP",
            sentence=f"{listed(names)} of {node} {'gets' if len(names) == 1 else 'get'} the address by DHCP, whose "
            "server can send an MTU of its own (option 26), to one node and not to another.",
            next=(
                "Give the private interfaces fixed addresses, or have the DHCP server send the new MTU too.",
                "Where it sends none, accept this: the node's own files will set it, and survives-boot proves it.",
            ),
            acceptable=True,
        )


def _shared(cluster: Cluster, node: str, layers: Sequence[Layer]) -> Iterator[Obstacle]:
    """Files and connections that are about interfaces of the plan and others: `Name=eth*`, a netplan `match`."""
    setup = cluster.setup(node)
    if setup is None or isinstance(setup.kept, Unknown):
        return
    ours = {layer.interface for layer in layers}
    own = {_told_in(kept): kept.interface for kept in setup.kept if kept.interface in ours and any(_told_in(kept))}
    for kept in setup.kept:
        if kept.interface not in ours and (private := own.get(_told_in(kept))):
            where = kept.connection or kept.file
            yield Obstacle(
                code=codes.SHARED_FILE.code,
                title=f"{where} is about {kept.interface}, too",
                sentence=f"{where} on {node} is about {private} and about {kept.interface}, which is not private: what "
                "is set there for the one is set for the other at the next boot.",
                next=(
                    f"Give {private} of {node} a file or connection of its own first.",
                    f"Or accept this, and see at the step set-mtu that {kept.interface} keeps its MTU.",
                ),
                acceptable=True,
            )


def _told_in(kept: KeptMtu) -> tuple[str, str]:
    """What an MTU would be written into; empty for keepers that have a file for each interface."""
    match kept.keeper:
        case Keeper.NETWORKD:
            return kept.file, ""
        case Keeper.NETPLAN:
            return (kept.file, kept.connection) if kept.connection else ("", "")
        case Keeper.NETWORK_MANAGER:
            return "", kept.connection
        case _:
            return "", ""


def _overruled(cluster: Cluster, node: str, layers: Sequence[Layer]) -> Iterator[Obstacle]:
    other = [line for line, wanted in fragile_of(cluster, node, layers) if line.mtu is not None and line.mtu != wanted]
    if other:
        yield Obstacle(
            code=codes.SCRIPT.code,
            title=f"A script on {node} sets another MTU",
            sentence=f"{other[0].file} on {node} sets an MTU of {other[0].mtu} beside what keeps it: after the next "
            f"boot the change would be undone there (`{other[0].line.strip()}`).",
            next=(
                f"Take the line out of {other[0].file} before you begin, or have its owner do it.",
                "Or accept this, and edit it at the step set-mtu, which names the line again.",
            ),
            acceptable=True,
        )
