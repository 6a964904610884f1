"""Names, networks, lines and table rows for the NICs in AWR."""

from __future__ import annotations

from collections.abc import Iterable

from checks.model.facts import Cluster, DeviceHistory, InterconnectInUse
from checks.model.finding import Table
from checks.model.known_instances import instance_name, node_of
from checks.model.wording import listed, moment
from checks.plugins.shared.grouping import alike, named
from checks.rules.places_in_use import network_of


def nic_of(device: DeviceHistory) -> str:
    """Return the interface name without the alias suffix of a HAIP address."""
    return device.name.partition(":")[0]


def device_name(cluster: Cluster, device: DeviceHistory) -> str:
    """Return `eth2 of rac1`."""
    owner = node_of(cluster, device.instance) or instance_name(cluster, device.instance)
    return f"{device.name} of {owner}"


def devices_named(cluster: Cluster, devices: Iterable[DeviceHistory]) -> str:
    """Return `eth2 of rac1 and rac2`, `eth1 of rac1 and ens1f1 of rac2`."""
    by_name = alike(devices, lambda d: d.name)
    owners = [[node_of(cluster, d.instance) or instance_name(cluster, d.instance) for d in same] for same in by_name]
    return listed(f"{same[0].name} of {named(own, 'node')}" for same, own in zip(by_name, owners, strict=True))


def device_line(cluster: Cluster, device: DeviceHistory) -> str:
    """Return a line with the last address and MTU that AWR recorded for the NIC."""
    return f"{device_name(cluster, device)} ({device.ip}): MTU {device.mtu} at {moment(device.last_seen)}"


def known_network(cluster: Cluster, device: DeviceHistory) -> str:
    """Return the name of the NIC's private network; empty where it is not known."""
    found = network_of(cluster, InterconnectInUse(device.instance, device.name, device.ip, None, ""))
    return found.name if found else ""


def compared_within(cluster: Cluster, device: DeviceHistory) -> str:
    """Return the group within which NICs are compared: the private network, else the name of the NIC."""
    return known_network(cluster, device) or nic_of(device)


def devices_table(cluster: Cluster, devices: Iterable[DeviceHistory]) -> Table:
    """Return a table with one row for each NIC."""
    rows = tuple(
        (
            instance_name(cluster, d.instance),
            d.name,
            d.ip,
            str(d.mtu),
            f"{d.receive_dropped:,} / {d.sends_dropped:,}",
            f"{d.receive_errors:,} / {d.send_errors:,}",
        )
        for d in devices
    )
    return Table(("instance", "NIC", "address", "MTU", "dropped in / out", "errors in / out"), rows)


def device_evidence(cluster: Cluster) -> list[tuple[str, str]]:
    """Return the journal topic of the NICs in AWR."""
    return [(cluster.local_node, "sql awr_devices")]
