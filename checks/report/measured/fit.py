"""Whether a kept result fits the cluster of a report: the addresses, MTUs and speeds of its paths are the same."""

from __future__ import annotations

from collections.abc import Iterator

from checks.model.facts import Cluster, Interface
from checks.model.measurement import MeasuredPath, Measurement, command_of
from checks.report.age import time_text


def not_shown(measurement: Measurement, cluster: Cluster) -> str:
    """Return why a report has no figures of a result, and how to make a new one, on one line; empty where it fits.

    A node that was not read shows no change.
    """
    if not (change := change_since(measurement, cluster)):
        return ""
    when = time_text(measurement.started_at)
    command = command_of(measurement.kind)
    return f"{measurement.kind}, {when}, is older than a change: {change}. `{command}` makes a new one."


def change_since(measurement: Measurement, cluster: Cluster) -> str:
    """Return the first difference between the paths of a result and the cluster as it was read; empty without one:
    `rac1 to rac2 on 192.168.10.0/24 had MTU 1500, and has 9000 now`."""
    return next((found for path in measurement.paths for found in _changes(path, cluster)), "")


def _changes(path: MeasuredPath, cluster: Cluster) -> Iterator[str]:
    ends = []
    for name, address in ((path.source_node, path.source), (path.target_node, path.target)):
        if (node := cluster.node(name)) is None:
            return
        interface = next((i for i in node.interfaces if any(a.ip == address for a in i.addresses)), None)
        if interface is None:
            yield f"{name} had {address}, and has it no more"
            return
        ends.append(interface)
    where = f"{path.source_node} to {path.target_node} on {path.network}"
    if (mtu := min(end.mtu for end in ends)) != path.mtu:
        yield f"{where} had MTU {path.mtu}, and has {mtu} now"
    speed = _speed(ends)
    if speed is not None and path.speed_mbps is not None and speed != path.speed_mbps:
        yield f"{where} had {path.speed_mbps:,} Mbit/s, and has {speed:,} now"


def _speed(ends: list[Interface]) -> int | None:
    """Return the speed of the slower end, as in `MeasuredPath.speed_mbps`."""
    return min((end.speed_mbps for end in ends if isinstance(end.speed_mbps, int)), default=None)
