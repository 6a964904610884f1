"""The ports of the practice switch on the private networks, and which of them somebody means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from racwire_lab.cluster.topology import MAX_MTU, MIN_MTU, NETWORKS, Port, Shape
from racwire_lab.errors import LabUsageError

ALL = "all"


@dataclass(frozen=True)
class SwitchPort:
    """A port of the switch: what is larger than its MTU, in bytes, it loses both ways without a word."""

    name: str
    node: str
    nic: str
    mtu: int


def ports(shape: Shape, port_mtus: Mapping[Port, int]) -> tuple[SwitchPort, ...]:
    """All ports of the private networks, network by network."""
    private = sorted((port for port in shape.ports if port.is_private), key=lambda port: port.network)
    return tuple(
        SwitchPort(port.name, port.node, NETWORKS[port.network].nic, port_mtus.get(port, shape.port_mtu(port)))
        for port in private
    )


def named(text: str, shape: Shape) -> tuple[Port, ...]:
    """The ports meant by `rac2-eth1` or `all`; LabUsageError when there is no such port."""
    private = tuple(port for port in shape.ports if port.is_private)
    found = tuple(port for port in private if text in (ALL, port.name))
    if not found:
        raise LabUsageError(
            f"There is no switch port '{text}' on the private networks: choose {ALL}, or one of "
            f"{', '.join(port.name for port in private)}."
        )
    return found


def checked(mtu: int) -> int:
    """The MTU itself; LabUsageError when no port can have it."""
    if not MIN_MTU <= mtu <= MAX_MTU:
        raise LabUsageError(f"The MTU of a practice switch port is {MIN_MTU} to {MAX_MTU} bytes, not {mtu}.")
    return mtu
