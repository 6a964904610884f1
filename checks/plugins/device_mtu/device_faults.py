"""Errors and drops that the NICs of the interconnect counted within the range of AWR."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import Kind
from checks.model.facts import Cluster, DeviceHistory
from checks.model.finding import Finding, NextStep, Status
from checks.model.known_instances import node_of, nodes_of
from checks.model.shell_command import for_each
from checks.model.wording import counted, listed
from checks.plugins.device_mtu.device_names import (
    device_evidence,
    device_line,
    device_name,
    devices_named,
    known_network,
    nic_of,
)
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.plugins.shared.instance_text import percent
from checks.rules.nic_faults import NicFaults, nic_faults, tolerated_drops_percent
from checks.rules.observed.states import state

FAULTS = Kind(
    "IC-DEV-004",
    "A NIC of the interconnect counted errors or drops",
    "When the NIC drops a packet, or finds it corrupt, the block that the packet carried is lost.",
    ("MOS 563566.1, causes 1, 15 and 16", "Database Reference, DBA_HIST_IC_DEVICE_STATS"),
)


def device_faults(cluster: Cluster, devices: Sequence[DeviceHistory]) -> Iterator[Finding]:
    """Yield one finding for all NICs of a network whose faults have the same status."""
    judged = [nic_faults(device, cluster.thresholds) for device in devices]
    faulty = [faults for faults in judged if faults.status is not Status.PASS]
    for same in alike(faulty, lambda f: (known_network(cluster, f.device), f.status)):
        yield _finding(cluster, same)


def _texts(faults: NicFaults) -> list[str]:
    """Return `3 frame errors`, `12 packets dropped on receipt (0.5 % of the packets)`."""
    found = [counted(number, what) for what, number in faults.errors.items()]
    for drop in faults.drops:
        share = f" ({percent(drop.percent)} of the packets)" if drop.of > 0 else ""
        found.append(f"{counted(drop.dropped, 'packet')} dropped {drop.where}{share}")
    return found


def _finding(cluster: Cluster, same: Sequence[NicFaults]) -> Finding:
    devices = [f.device for f in same]
    names = [device_name(cluster, d) for d in devices]
    nodes = nodes_of(cluster, [d.instance for d in devices])
    nics = dict.fromkeys(nic_of(d) for d in devices)
    status = same[0].status
    what = "errors or drops" if status is Status.WARN else "a few drops"
    what = listed(_texts(same[0])) if len(same) == 1 else what
    return FAULTS.finding(
        f"{devices_named(cluster, devices)} counted {what} in the range of AWR.",
        status=status,
        subject=f"{briefly(names, 'NIC')}: {_texts(same[0])[0] if len(same) == 1 else what}",
        data={
            "nics": len(devices),
            "errors": sum(sum(f.errors.values()) for f in same),
            "dropped_packets": sum(drop.dropped for f in same for drop in f.drops),
            "worst_dropped_percent": max((drop.percent for f in same for drop in f.drops), default=0.0),
        },
        seen=some([line for f in same for line in _lines(cluster, f, alone=len(same) == 1)], 12),
        expected=(f"No errors; drops under {percent(tolerated_drops_percent(cluster.thresholds))} of the packets",),
        next=[
            NextStep(
                "Find out whether the counters still grow, and which ones.",
                for_each("ip -s -s link show {nic}", "ethtool -S {nic}", nic=nics),
                f"any user on {named(nodes, 'node') or 'its node'}",
            ),
            NextStep("Ask the network team to check the cable, the optics and the switch port."),
        ],
        evidence=device_evidence(cluster),
        network=known_network(cluster, devices[0]),
        nodes=nodes,
        extent=(len(devices), "NICs"),
        observed=[
            state(FAULTS.code, node_of(cluster, d.instance), known_network(cluster, d), nic_of(d)) for d in devices
        ],
    )


def _lines(cluster: Cluster, faults: NicFaults, alone: bool) -> Iterator[str]:
    device = faults.device
    if not alone:
        yield f"{device_name(cluster, device)}: {listed(_texts(faults))}"
        return
    yield device_line(cluster, device)
    yield f"{counted(device.packets_received, 'packet')} received, {device.packets_sent:,} sent in the same time"
