"""What does AWR say of the NICs of the interconnect: their MTU on every node, its past, their drops and errors?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from checks.facts import Cluster, DeviceHistory, History, InterconnectInUse, Unknown
from checks.finding import Finding, Remedy, Status, Table
from checks.plugin import Kind, check
from checks.plugins._instances import instance_name, moment, node_of, nodes_of, percent
from checks.plugins._places_in_use import network_of
from checks.wording import counted, listed

_VIEW = "Database Reference, DBA_HIST_IC_DEVICE_STATS"
_CAUSE_5 = "MOS 563566.1, causes 5 and 12"
_TOPIC = "sql awr_devices"

ALIKE = Kind("IC-DEV-001", "AWR shows one MTU and no fault on the interconnect's NICs")
DIFFER = Kind(
    "IC-DEV-002",
    "AWR shows NICs of one interconnect with different MTUs",
    "The node with the larger MTU sends packets that the others throw away without an answer: blocks are lost, and "
    "the node may be evicted or fail to join.",
    (_CAUSE_5, _VIEW),
)
CHANGED = Kind(
    "IC-DEV-003",
    "The MTU of a NIC changed within the range of the history",
    "A change on some nodes only breaks the interconnect; the time of a change often is the time when losses began.",
    (_VIEW,),
)
FAULTS = Kind(
    "IC-DEV-004",
    "A NIC of the interconnect counted errors or drops",
    "Every packet that the NIC drops or finds broken loses the block it carried.",
    ("MOS 563566.1, causes 1, 15 and 16", _VIEW),
)
OUTDATED = Kind(
    "IC-DEV-005",
    "A NIC's MTU is not what AWR last had",
    "It was changed since the last snapshot, or a file sets another value than the one in use before a restart.",
    (_VIEW,),
)
NOT_KNOWN = Kind("IC-DEV-006", "What AWR says of the interconnect's NICs is not known")
NO_DEVICES = Kind("IC-DEV-007", "This history keeps no NICs")


@check(
    "device-mtu",
    question="What does AWR say of the interconnect's NICs, on every node?",
    needs=("history",),
    uses=("database", "nodes", "networks"),
    kinds=(ALIKE, DIFFER, CHANGED, FAULTS, OUTDATED, NOT_KNOWN, NO_DEVICES),
)
def device_mtu(cluster: Cluster) -> Iterator[Finding]:
    """Compares, by SQL alone, the NICs that each instance uses for the interconnect, as AWR has them.

    On one network all must have one MTU; a change within the range is told; errors, overruns and carrier losses are
    warnings, and so are drops from device_drop_warn_percent of the packets on. What the nodes themselves say now, where
    they could be read, is held against it. AWR needs the Diagnostics Pack; Statspack does not keep these figures.
    """
    history = cluster.history
    if not isinstance(history, History):
        return
    if isinstance(history.devices, Unknown):
        yield _without_devices(cluster, history, history.devices)
        return
    devices = history.devices
    faults = [
        *_differ(cluster, devices),
        *(f for device in devices for f in _changed(cluster, device)),
        *(f for device in devices for f in _faulty(cluster, device)),
        *(f for device in devices for f in _outdated(cluster, device)),
    ]
    yield from faults
    seen = {d.instance for d in devices}
    absent = [i.instance for i in history.instances if i.instance not in seen]
    if devices and not any(f.status in (Status.FAIL, Status.WARN) for f in faults):
        yield _alike(cluster, history, devices)
    if absent or not devices:
        names = listed(instance_name(cluster, n) for n in absent) or "any instance"
        yield NOT_KNOWN.finding(
            Status.UNKNOWN,
            f"AWR has no NIC of {names} in this range.",
            subject=f"{names}: no NIC",
            seen=(f"AWR, {moment(history.begin)} to {moment(history.end)}",),
            evidence=_evidence(cluster),
            nodes=nodes_of(cluster, absent),
        )


def _without_devices(cluster: Cluster, history: History, why: Unknown) -> Finding:
    if history.source == "Statspack":
        return NO_DEVICES.finding(
            Status.SKIPPED,
            "Statspack keeps no MTU, drops or errors of NICs; AWR does.",
            subject="Statspack has none",
            seen=(why.reason,),
            evidence=_evidence(cluster),
        )
    return NOT_KNOWN.finding(
        Status.UNKNOWN,
        "What AWR says of the interconnect's NICs could not be read.",
        subject="not known",
        seen=(why.reason,),
        next=[Remedy("Mend the reason named above.", ("racwire grants",))],
        evidence=_evidence(cluster),
    )


def _differ(cluster: Cluster, devices: Sequence[DeviceHistory]) -> Iterator[Finding]:
    groups: dict[str, list[DeviceHistory]] = defaultdict(list)
    for device in devices:
        groups[_network(cluster, device)].append(device)
    if all(len({d.instance for d in group}) == 1 for group in groups.values()):
        groups = {"the interconnect": list(devices)}  # no two nodes call theirs alike: a HAIP may move to any of them
    for network, group in groups.items():
        by_mtu = {mtu: [d for d in group if d.mtu == mtu] for mtu in sorted({d.mtu for d in group})}
        if len(by_mtu) < 2:
            continue
        usual, most = Counter(d.mtu for d in group).most_common(1)[0]
        odd = [d for d in group if d.mtu != usual] if 2 * most > len(group) else list(group)
        told = listed(f"{mtu} on {listed(_device(cluster, d) for d in own)}" for mtu, own in by_mtu.items())
        yield DIFFER.finding(
            Status.FAIL,
            f"In AWR the NICs on {network} do not have one MTU: {told}.",
            subject=f"{network}: {' and '.join(str(mtu) for mtu in by_mtu)}",
            seen=tuple(_line(cluster, d) for d in group),
            expected=("One value on every node",),
            next=[
                Remedy("See what the nodes have now.", ("racwire check mtu-consistency",)),
                Remedy(
                    "Bring them to one MTU under the safe-change procedure, Clusterware down on all nodes.",
                    is_change=True,
                ),
            ],
            evidence=_evidence(cluster),
            table=_table(cluster, group),
            network=_known_network(cluster, group[0]),
            nodes=nodes_of(cluster, [d.instance for d in odd]),
        )


def _changed(cluster: Cluster, device: DeviceHistory) -> Iterator[Finding]:
    if not device.earlier_mtus:
        return
    steps = [*reversed(device.earlier_mtus), device.mtu]
    yield CHANGED.finding(
        Status.INFO if _all_changed_alike(cluster, device) else Status.WARN,
        f"The MTU of {_device(cluster, device)} changed in the range of AWR: {', then '.join(str(m) for m in steps)}.",
        subject=f"{_device(cluster, device)}: {' -> '.join(str(m) for m in steps)}",
        seen=(_line(cluster, device), *(f"{a} became {b}" for a, b in pairwise(steps))),
        expected=("The same MTU throughout, or the same change on every node",),
        next=[Remedy("See whether lost blocks began at that time.", ("racwire check gc-blocks-lost",))],
        evidence=_evidence(cluster),
        network=_known_network(cluster, device),
        nodes=nodes_of(cluster, [device.instance]),
    )


def _all_changed_alike(cluster: Cluster, device: DeviceHistory) -> bool:
    history = cluster.history
    devices = history.devices if isinstance(history, History) and isinstance(history.devices, tuple) else ()
    network = _network(cluster, device)
    return all(
        (d.mtu, d.earlier_mtus) == (device.mtu, device.earlier_mtus) for d in devices if _network(cluster, d) == network
    )


def _faulty(cluster: Cluster, device: DeviceHistory) -> Iterator[Finding]:
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
    shares = {what: _share(n, of) for what, (n, of) in drops.items() if n > 0}
    if not found and not shares:
        return
    grave = bool(found) or any(s >= cluster.thresholds.device_drop_warn_percent for s in shares.values())
    for what, share in shares.items():
        number, of = drops[what]
        found.append(f"{counted(number, 'packet')} dropped {what}{f' ({percent(share)} of them)' if of > 0 else ''}")
    yield FAULTS.finding(
        Status.WARN if grave else Status.INFO,
        f"{_device(cluster, device)} counted {listed(found)} in the range of AWR.",
        subject=f"{_device(cluster, device)}: {found[0]}",
        seen=(
            _line(cluster, device),
            f"{counted(device.packets_received, 'packet')} received, {device.packets_sent:,} sent in the same time",
        ),
        expected=(f"No errors; drops under {percent(cluster.thresholds.device_drop_warn_percent)} of the packets",),
        next=[
            Remedy(
                "See whether they go on, and which they are.",
                (f"ip -s -s link show {_nic(device)}", f"ethtool -S {_nic(device)}"),
                f"root on {node_of(cluster, device.instance) or 'its node'}",
            ),
            Remedy("Have the network team look at cable, optics and the switch port."),
        ],
        evidence=_evidence(cluster),
        network=_known_network(cluster, device),
        nodes=nodes_of(cluster, [device.instance]),
    )


def _share(number: int, of: int) -> float:
    return min(100.0, 100 * number / of) if of > 0 else 100.0


def _outdated(cluster: Cluster, device: DeviceHistory) -> Iterator[Finding]:
    node = cluster.node(node_of(cluster, device.instance))
    nic = node.interface(_nic(device)) if node else None
    if node is None or nic is None or nic.mtu == device.mtu:
        return
    yield OUTDATED.finding(
        Status.WARN,
        f"{nic.name} of {node.name} has MTU {nic.mtu} now; AWR had {device.mtu} at {moment(device.last_seen)}.",
        subject=f"{node.name} {nic.name}: {device.mtu} -> {nic.mtu}",
        seen=(_line(cluster, device), f"{node.name}: {nic.name} has MTU {nic.mtu} now"),
        expected=("The MTU that AWR had, or a change that all nodes made",),
        next=[Remedy("See whether all nodes agree now.", ("racwire check mtu-consistency df-ping",))],
        evidence=[*_evidence(cluster), (node.name, "interfaces")],
        network=_known_network(cluster, device),
        nodes=[node.name],
    )


def _alike(cluster: Cluster, history: History, devices: Sequence[DeviceHistory]) -> Finding:
    mtus = listed(sorted({str(d.mtu) for d in devices}))
    instances = len({d.instance for d in devices})
    return ALIKE.finding(
        Status.PASS,
        f"AWR shows MTU {mtus} on {counted(len(devices), 'NIC')} of {counted(instances, 'instance')}, without faults.",
        subject=f"{counted(len(devices), 'NIC')}, {mtus}",
        seen=(
            f"AWR, {moment(history.begin)} to {moment(history.end)}",
            *(_line(cluster, device) for device in devices),
        ),
        evidence=_evidence(cluster),
        table=_table(cluster, devices),
    )


# --- names ------------------------------------------------------------------------------------------------------------


def _nic(device: DeviceHistory) -> str:
    """The interface, without the alias of a HAIP address."""
    return device.name.partition(":")[0]


def _device(cluster: Cluster, device: DeviceHistory) -> str:
    owner = node_of(cluster, device.instance) or instance_name(cluster, device.instance)
    return f"{device.name} of {owner}"


def _line(cluster: Cluster, device: DeviceHistory) -> str:
    return f"{_device(cluster, device)} ({device.ip}): MTU {device.mtu} at {moment(device.last_seen)}"


def _known_network(cluster: Cluster, device: DeviceHistory) -> str:
    """The private network that the NIC is on; empty where that is not known."""
    found = network_of(cluster, InterconnectInUse(device.instance, device.name, device.ip, None, ""))
    return found.name if found else ""


def _network(cluster: Cluster, device: DeviceHistory) -> str:
    """What NICs are compared within: their private network, or where it is not known those of one name."""
    return _known_network(cluster, device) or _nic(device)


def _table(cluster: Cluster, devices: Iterable[DeviceHistory]) -> Table:
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


def _evidence(cluster: Cluster) -> list[tuple[str, str]]:
    return [(cluster.local_node, _TOPIC)]
