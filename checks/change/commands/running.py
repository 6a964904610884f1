"""The MTU that the kernel has now: `ip link set`, in an order that no layer refuses."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from checks.change.change_plan import Layer


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
    """One line for each layer of one node. It acts at once, and is gone after a boot (ip-link(8)).

    None for the members of a team: it sets them itself, and the kernel refuses it to anybody else (team_device_event,
    NETDEV_PRECHANGEMTU).
    """
    known = tuple(layers)
    return tuple(
        shlex.join(("ip", "link", "set", "dev", layer.interface, "mtu", str(layer.mtu_after)))
        for layer in in_order(known)
        if not _is_set_by_team(layer, known)
    )


def _is_set_by_team(layer: Layer, layers: tuple[Layer, ...]) -> bool:
    above = {
        one.kind for one in layers if one.kind in ("bond", "team") and not {*one.networks}.isdisjoint(layer.networks)
    }
    return layer.role == "member" and above == {"team"}
