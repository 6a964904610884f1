"""Errors and drops that the NICs of the interconnect counted in the range of AWR."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.model.check import Kind
from checks.model.facts import Cluster, DeviceHistory
from checks.model.finding import Finding, Remedy, Status
from checks.model.instance_facts import nodes_of
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
from checks.plugins.shared.instance_words import percent

FAULTS = Kind(
    "IC-DEV-004",
    "A NIC of the interconnect counted errors or drops",
    "Every packet that the NIC drops or finds broken loses the block it carried.",
    ("MOS 563566.1, causes 1, 15 and 16", "Database Reference, DBA_HIST_IC_DEVICE_STATS"),
)


@dataclass(frozen=True)
class _Faults:
    device: DeviceHistory
    found: tuple[str, ...]
    """`3 frame errors`."""
    is_grave: bool


def device_faults(cluster: Cluster, devices: Sequence[DeviceHistory]) -> Iterator[Finding]:
    """One finding for all NICs of a network whose faults are as grave."""
    faulty = [faults for device in devices if (faults := _faults(cluster, device)).found]
    for same in alike(faulty, lambda f: (known_network(cluster, f.device), f.is_grave)):
        yield _finding(cluster, same)


def _faults(cluster: Cluster, device: DeviceHistory) -> _Faults:
    hard = {
        "receive error": device.receive_errors,
        "receive overrun": device.receive_overruns,
        "frame error": device.receive_frame_errors,
        "send error": device.send_errors,
        "send overrun": device.send_overruns,
        "lost carrier": device.send_carrier_lost,
    }
    drops = {
        "on receipt": (device.receive_dropped, device.packets_received),
        "when sending": (device.sends_dropped, device.packets_sent),
    }
    found = [counted(number, what) for what, number in hard.items() if number > 0]
    is_grave = bool(found)
    for what, (number, of) in drops.items():
        if number > 0:
            share = min(100.0, 100 * number / of) if of > 0 else 100.0
            is_grave = is_grave or share >= cluster.thresholds.device_drop_warn_percent
            share_text = f" ({percent(share)} of them)" if of > 0 else ""
            found.append(f"{counted(number, 'packet')} dropped {what}{share_text}")
    return _Faults(device, tuple(found), is_grave)


def _finding(cluster: Cluster, same: Sequence[_Faults]) -> Finding:
    devices = [f.device for f in same]
    names = [device_name(cluster, d) for d in devices]
    nodes = nodes_of(cluster, [d.instance for d in devices])
    nics = dict.fromkeys(nic_of(d) for d in devices)
    what = listed(same[0].found) if len(same) == 1 else "errors or drops" if same[0].is_grave else "a few drops"
    return FAULTS.finding(
        Status.WARN if same[0].is_grave else Status.INFO,
        f"{devices_named(cluster, devices)} counted {what} in the range of AWR.",
        subject=f"{briefly(names, 'NIC')}: {same[0].found[0] if len(same) == 1 else what}",
        seen=some([line for f in same for line in _lines(cluster, f, alone=len(same) == 1)], 12),
        expected=(f"No errors; drops under {percent(cluster.thresholds.device_drop_warn_percent)} of the packets",),
        next=[
            Remedy(
                "See whether they go on, and which they are.",
                tuple(command for nic in nics for command in (f"ip -s -s link show {nic}", f"ethtool -S {nic}")),
                f"root on {named(nodes, 'node') or 'its node'}",
            ),
            Remedy("Ask the network team to look at cable, optics and the switch port."),
        ],
        evidence=device_evidence(cluster),
        network=known_network(cluster, devices[0]),
        nodes=nodes,
        extent=(len(devices), "NICs"),
    )


def _lines(cluster: Cluster, faults: _Faults, alone: bool) -> Iterator[str]:
    device = faults.device
    if not alone:
        yield f"{device_name(cluster, device)}: {listed(faults.found)}"
        return
    yield device_line(cluster, device)
    yield f"{counted(device.packets_received, 'packet')} received, {device.packets_sent:,} sent in the same time"
