"""The largest MTU that this cluster can carry: by its fabric, its NICs, its cloud, and its switches' announcements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.change.plan import codes
from checks.change.plan.change_plan import Layer
from checks.change.plan.cloud_limits import cloud_limits
from checks.change.plan.layers import PORT, interface_of, is_tagged, networks_of
from checks.change.plan.obstacles import Obstacle, obstacle, plan_again
from checks.model.facts import Cluster, LldpNeighbour, Unknown
from checks.model.finding import NextStep
from checks.model.shell_command import shell
from checks.model.wording import listed

JUMBO, STANDARD = 9000, 1500
LOWEST, HIGHEST = 1280, 9216
"""Limits on Ethernet, in bytes: IPv6 does not work below 1280 (RFC 8200, section 5); hardly any switch carries more
than 9216."""
DATAGRAM, LARGEST_CONNECTED = (2044, 4092), 65520
"""IPoIB: in datagram mode the MTU of the fabric (2048 or 4096) without 4 bytes; connected mode carries up to 65520."""
_HEADER, _TAG = 18, 4
"""Bytes that Ethernet adds to a packet: 18 for addresses, type and checksum, and 4 for a VLAN tag."""
_STANDARD_FRAME = 1600
"""A switch that announces a smaller frame is not set to jumbo frames yet: the step switch raises it."""


def limits(cluster: Cluster, target: int, layers: Sequence[Layer]) -> Iterator[Obstacle]:
    """Yield the obstacles of a target that is too large or too small for this cluster."""
    infiniband = infiniband_of(cluster, layers)
    if infiniband:
        yield from _infiniband(cluster, target, layers, infiniband)
    elif not LOWEST <= target <= HIGHEST:
        yield obstacle(
            codes.NOT_OF_ETHERNET,
            f"The target MTU of {target} bytes is not valid for Ethernet: the range is {LOWEST} to {HIGHEST} bytes.",
            NextStep(f"Choose {JUMBO}, or the MTU that the switches carry.", own=plan_again(f"--to {JUMBO}")),
        )
    yield from _nics(cluster, target, layers)
    yield from _clouds(cluster, target)
    yield from _switches(cluster, target, layers)


def offered(cluster: Cluster, layers: Sequence[Layer]) -> int | None:
    """Return the default target: a jumbo MTU if the ports have the standard MTU, else the standard MTU.

    None for InfiniBand, whose fabric decides, and if no port is known.
    """
    mtus = [layer.mtu_before for layer in layers if layer.role == PORT]
    if not mtus or infiniband_of(cluster, layers):
        return None
    if max(mtus) > STANDARD:
        return STANDARD
    return min(
        [
            JUMBO,
            *_nic_limits(cluster, layers),
            *(limit.mtu for limit in cloud_limits(cluster)),
            *_announced(cluster, layers),
        ]
    )


def infiniband_of(cluster: Cluster, layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """The layers that are IP over InfiniBand."""
    return tuple(layer for layer in layers if (i := interface_of(cluster, layer)) and i.kind == "infiniband")


def switch_ports(cluster: Cluster, layers: Sequence[Layer]) -> tuple[tuple[str, LldpNeighbour], ...]:
    """Return the switch ports at the other end of the private networks' cables, with their node, as seen by LLDP."""
    wanted = {(layer.node, layer.interface) for layer in layers}
    return tuple(
        (setup.name, neighbour)
        for setup in cluster.read_setups()
        if not isinstance(setup.lldp, Unknown)
        for neighbour in setup.lldp
        if (setup.name, neighbour.interface) in wanted
    )


def frame_bytes(mtu: int, tagged: bool) -> int:
    """Return the size of the Ethernet frame of a full-size packet, in bytes."""
    return mtu + _HEADER + (_TAG if tagged else 0)


def not_yet_jumbo(neighbour: LldpNeighbour, target: int) -> bool:
    """Whether a switch port announces the standard frame size, which the step switch raises."""
    size = neighbour.max_frame_bytes
    return isinstance(size, int) and size < _STANDARD_FRAME and size < frame_bytes(target, False)


def _infiniband(
    cluster: Cluster, target: int, layers: Sequence[Layer], infiniband: Sequence[Layer]
) -> Iterator[Obstacle]:
    carried = {(layer.node, network) for layer in infiniband for network in layer.networks}
    ports = {(layer.node, network) for layer in layers if layer.role == PORT for network in layer.networks}
    if ports - carried:
        yield obstacle(
            codes.BOTH_FABRICS,
            "The private networks are partly InfiniBand and partly Ethernet: no single MTU fits both.",
            "Use the vendor's procedure: racwire plans one MTU for all private networks.",
            title="InfiniBand and Ethernet together",
        )
        return
    modes = {_mode(cluster, layer) for layer in infiniband}
    if target in DATAGRAM or (modes == {"connected"} and LOWEST <= target <= LARGEST_CONNECTED):
        return
    names = listed(dict.fromkeys(layer.interface for layer in infiniband))
    yield obstacle(
        codes.NOT_OF_INFINIBAND,
        f"An MTU of {target} bytes is not valid for {names}: InfiniBand in {listed(sorted(modes))} mode.",
        f"Choose {DATAGRAM[0]} or {DATAGRAM[1]} bytes in datagram mode, as the fabric allows, or up to "
        f"{LARGEST_CONNECTED} bytes in connected mode.",
        NextStep("Show the mode.", (shell("cat /sys/class/net/{nic}/mode", nic=infiniband[0].interface),)),
    )


def _mode(cluster: Cluster, layer: Layer) -> str:
    setup = cluster.setup(layer.node)
    return setup.infiniband_modes.get(layer.interface, "unknown") if setup else "unknown"


def _nics(cluster: Cluster, target: int, layers: Sequence[Layer]) -> Iterator[Obstacle]:
    for layer in layers:
        interface = interface_of(cluster, layer)
        most = interface.max_mtu if interface else None
        if isinstance(most, int) and layer.mtu_after > most:
            yield obstacle(
                codes.NIC_LIMIT,
                f"{layer.interface} of {layer.node} carries at most {most} bytes; the target is {target} bytes.",
                NextStep(f"Choose at most {most} bytes.", own=plan_again(f"--to {most}")),
                NextStep("Show the limit of the driver.", (shell("ip -details link show {nic}", nic=layer.interface),)),
            )


def _clouds(cluster: Cluster, target: int) -> Iterator[Obstacle]:
    for limit in cloud_limits(cluster):
        if target > limit.mtu:
            yield obstacle(
                codes.CLOUD_LIMIT,
                f"{limit.sentence} The target is {target} bytes.",
                NextStep(f"Choose at most {limit.mtu} bytes.", own=plan_again(f"--to {limit.mtu}")),
                "If the cloud carries more, accept this obstacle with that reason. If it does not, full-size packets "
                "vanish: the step prove-paths tests each path before Clusterware starts, and the rollback restores "
                "the old MTU.",
                acceptable=True,
            )


def _switches(cluster: Cluster, target: int, layers: Sequence[Layer]) -> Iterator[Obstacle]:
    for node, neighbour in switch_ports(cluster, layers):
        size = neighbour.max_frame_bytes
        layer = next(one for one in layers if (one.node, one.interface) == (node, neighbour.interface))
        needed = frame_bytes(layer.mtu_after, is_tagged(cluster, layer))
        if isinstance(size, int) and size < needed and not not_yet_jumbo(neighbour, target):
            yield obstacle(
                codes.SWITCH_LIMIT,
                f"The switch port of {neighbour.interface} on {node} ({port_name(neighbour)}) announces "
                f"frames of at most {size} bytes; an MTU of {layer.mtu_after} needs {needed} bytes.",
                f"Choose an MTU of at most {size - (needed - layer.mtu_after)} bytes, or ask the network team "
                "to raise the port first.",
                "If the announcement is wrong, accept this obstacle with that reason: the step prove-paths "
                "tests the port.",
                acceptable=True,
            )


def port_name(neighbour: LldpNeighbour) -> str:
    """Return the name of a switch port: `sw1 Ethernet1/7`."""
    return " ".join(part for part in (neighbour.switch, neighbour.port) if part) or "unnamed port"


def _nic_limits(cluster: Cluster, layers: Sequence[Layer]) -> list[int]:
    found = (i.max_mtu for layer in layers if (i := interface_of(cluster, layer)))
    return [most for most in found if isinstance(most, int)]


def _announced(cluster: Cluster, layers: Sequence[Layer]) -> list[int]:
    """Return the MTUs that fit the announced frame sizes of switch ports with jumbo frames."""
    most = []
    for node, neighbour in switch_ports(cluster, layers):
        layer = next(one for one in layers if (one.node, one.interface) == (node, neighbour.interface))
        if isinstance(neighbour.max_frame_bytes, int) and not not_yet_jumbo(neighbour, JUMBO):
            most.append(neighbour.max_frame_bytes - frame_bytes(0, is_tagged(cluster, layer)))
    return most


def ports_without_networks(cluster: Cluster) -> tuple[tuple[str, str], ...]:
    """Return the nodes without a port on a private network, of those that were read, each with the network."""
    return tuple(
        (node.name, network.name)
        for network in networks_of(cluster)
        for node in cluster.read_nodes()
        if network.port(node.name) is None
    )
