"""The MTU that the kernel has now: `ip link set`, in an order that no layer refuses."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from checks.change.plan import Layer


def in_order(layers: Iterable[Layer]) -> tuple[Layer, ...]:
    """One node's layers as they are to be set: what gets smaller from the top to the bottom, then the rest upwards.

    A VLAN that is raised above its parent is refused ("Numerical result out of range"); a parent that is lowered takes
    its VLANs along, which then are set to what they ought to have.
    """
    known = tuple(layers)
    down = [layer for layer in known if layer.mtu_after < layer.mtu_before]
    rest = [layer for layer in known if layer.mtu_after >= layer.mtu_before]
    return (
        *sorted(down, key=lambda layer: -layer.level),
        *sorted(rest, key=lambda layer: layer.level),
    )


def run_time_lines(layers: Iterable[Layer]) -> tuple[str, ...]:
    """One line for each layer of one node. It acts at once, and is gone after a boot (ip-link(8))."""
    return tuple(
        shlex.join(("ip", "link", "set", "dev", layer.interface, "mtu", str(layer.mtu_after)))
        for layer in in_order(layers)
    )
