"""What does AWR record about the NICs of the interconnect: their MTU on every node, its changes, drops and errors?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from checks.model.check import FailKind, Kind, PassKind, SkippedKind, UnknownKind, WarnKind, check
from checks.model.effect import Effect
from checks.model.facts import Cluster, DeviceHistory, History, Interface, Unknown
from checks.model.finding import Finding, NextStep, Status, check_again
from checks.model.known_instances import instance_name, node_of, nodes_of
from checks.model.observation import Observation
from checks.model.wording import counted, listed, moment
from checks.plugins.device_mtu.device_faults import FAULTS, device_faults
from checks.plugins.device_mtu.device_names import (
    compared_within,
    device_evidence,
    device_line,
    device_name,
    devices_named,
    devices_table,
    known_network,
    nic_of,
)
from checks.plugins.shared.grouping import alike, briefly, some
from checks.plugins.shared.mtu_remedy import same_mtu
from checks.rules.nic_faults import mtu_change_status
from checks.rules.node_apart import nodes_apart
from checks.rules.observed.states import read_on, state

_VIEW = "Database Reference, DBA_HIST_IC_DEVICE_STATS"
_CAUSE_5 = "MOS 563566.1, causes 5 and 12"

ALIKE = PassKind("IC-DEV-001", "AWR shows the same MTU and no fault on all NICs of the interconnect")
DIFFER = FailKind(
    "IC-DEV-002",
    "AWR shows NICs of one interconnect with different MTUs",
    "The node with the larger MTU sends packets that the others drop silently: blocks are lost, and the node may be "
    "evicted or fail to join.",
    (_CAUSE_5, _VIEW),
)
CHANGED = Kind(
    "IC-DEV-003",
    "The MTU of a NIC changed within the range of the history",
    "A change on only some nodes breaks the interconnect. Losses often start at the time of such a change.",
    (_VIEW,),
)
OUTDATED = WarnKind(
    "IC-DEV-005",
    "The MTU of a NIC differs from the last one in AWR",
    "The MTU changed after the last snapshot, or a restart applied a file with a different MTU.",
    (_VIEW,),
)
NOT_KNOWN = UnknownKind("IC-DEV-006", "The data of AWR about the NICs of the interconnect is not known")
NO_DEVICES = SkippedKind("IC-DEV-007", "This history has no data about NICs")


@check(
    "device-mtu",
    question="Does AWR show the same MTU and no fault on all NICs of the interconnect?",
    needs=("history",),
    uses=("database", "nodes", "networks"),
    kinds=(ALIKE, DIFFER, CHANGED, FAULTS, OUTDATED, NOT_KNOWN, NO_DEVICES),
)
def device_mtu(cluster: Cluster) -> Iterator[Finding]:
    """Compares, with SQL only, the NICs that each instance uses for the interconnect, as AWR records them.

    All NICs on one network must have the same MTU. A change of MTU within the range is reported. Errors, overruns and
    carrier losses are warnings; drops are a warning from device_drop_warn_percent of the packets. The check compares
    AWR with the present MTU of each node that could be read. AWR needs the Diagnostics Pack; Statspack does not record
    these figures.
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
        *_changed(cluster, devices),
        *device_faults(cluster, devices),
        *_outdated(cluster, devices),
    ]
    yield from faults
    seen = {d.instance for d in devices}
    absent = [i.instance for i in history.instances if i.instance not in seen]
    if devices and not any(f.status in (Status.FAIL, Status.WARN) for f in faults):
        yield _alike(cluster, history, devices)
    if absent or not devices:
        names = listed(instance_name(cluster, n) for n in absent) or "any instance"
        yield NOT_KNOWN.finding(
            f"AWR has no NIC of {names} in this range.",
            subject=f"{names}: no NIC",
            seen=(f"AWR, {moment(history.begin)} to {moment(history.end)}",),
            evidence=device_evidence(cluster),
            nodes=nodes_of(cluster, absent),
        )


def _without_devices(cluster: Cluster, history: History, why: Unknown) -> Finding:
    if history.source == "Statspack":
        return NO_DEVICES.finding(
            "Statspack records no MTU, drops or errors of NICs; AWR does.",
            subject="Statspack has none",
            seen=(why.reason,),
            evidence=device_evidence(cluster),
        )
    return NOT_KNOWN.finding(
        "The data of AWR about the NICs of the interconnect could not be read.",
        subject="not known",
        seen=(why.reason,),
        next=[check_again("device-mtu")],
        lacks=[why],
        evidence=device_evidence(cluster),
    )


def _differ(cluster: Cluster, devices: Sequence[DeviceHistory]) -> Iterator[Finding]:
    groups: dict[str, list[DeviceHistory]] = defaultdict(list)
    for device in devices:
        groups[compared_within(cluster, device)].append(device)
    if all(len({d.instance for d in group}) == 1 for group in groups.values()):
        groups = {"the interconnect": list(devices)}  # no two nodes use one name: a HAIP may move to any NIC
    for network, group in groups.items():
        by_mtu = {mtu: [d for d in group if d.mtu == mtu] for mtu in sorted({d.mtu for d in group})}
        if len(by_mtu) < 2:
            continue
        usual, most = Counter(d.mtu for d in group).most_common(1)[0]
        odd = [d for d in group if d.mtu != usual] if 2 * most > len(group) else list(group)
        mtus = listed(f"{mtu} on {devices_named(cluster, own)}" for mtu, own in by_mtu.items())
        yield DIFFER.finding(
            f"AWR shows different MTUs on the NICs of {network}: {mtus}.",
            subject=f"{network}: {' and '.join(str(mtu) for mtu in by_mtu)}",
            data={"nics": len(group), "smallest_mtu_bytes": min(by_mtu), "largest_mtu_bytes": max(by_mtu)},
            seen=some([device_line(cluster, d) for d in group], 12),
            expected=("The same MTU on every node",),
            next=[
                NextStep("Compare the present MTUs of the nodes.", ("racwire check mtu-consistency",)),
                same_mtu(cluster, usual, nodes_of(cluster, [d.instance for d in group if d.mtu != usual]))
                if nodes_apart(cluster)
                else NextStep(
                    "If they still differ, ask which MTU is intended, and set it on the others with the safe-change "
                    "procedure.",
                    ("racwire change new --to MTU",),
                    is_change=True,
                    effect=Effect.CLUSTER_DOWN_FIRST,
                ),
            ],
            evidence=device_evidence(cluster),
            table=devices_table(cluster, group),
            network=known_network(cluster, group[0]),
            nodes=nodes_of(cluster, [d.instance for d in odd]),
            extent=(len(odd), "NICs"),
            observed=[_observed(cluster, DIFFER, d, d.mtu) for d in odd],
        )


def _changed(cluster: Cluster, devices: Sequence[DeviceHistory]) -> Iterator[Finding]:
    changed = [device for device in devices if device.earlier_mtus]
    for same in alike(changed, lambda d: (compared_within(cluster, d), d.earlier_mtus, d.mtu)):
        steps = [str(mtu) for mtu in (*reversed(same[0].earlier_mtus), same[0].mtu)]
        network = compared_within(cluster, same[0])
        everywhere = len(same) == sum(compared_within(cluster, d) == network for d in devices)
        yield CHANGED.finding(
            f"The MTU of {devices_named(cluster, same)} changed in the range of AWR: {', then '.join(steps)}.",
            status=mtu_change_status(everywhere),
            subject=f"{briefly((device_name(cluster, d) for d in same), 'NIC')}: {' -> '.join(steps)}",
            data={"nics": len(same), "mtu_bytes": same[0].mtu, "earlier_mtu_bytes": same[0].earlier_mtus[0]},
            seen=(
                *some([device_line(cluster, d) for d in same]),
                *(f"MTU {a} changed to {b}" for a, b in pairwise(steps)),
            ),
            expected=("The same MTU in the whole range, or the same change on every node",),
            next=[NextStep("Find out whether blocks were lost from that time on.", ("racwire check gc-blocks-lost",))],
            evidence=device_evidence(cluster),
            network=known_network(cluster, same[0]),
            nodes=nodes_of(cluster, [d.instance for d in same]),
            extent=(len(same), "NICs"),
            observed=[_observed(cluster, CHANGED, d, d.mtu) for d in same],
        )


def _outdated(cluster: Cluster, devices: Sequence[DeviceHistory]) -> Iterator[Finding]:
    found = [(d, nic) for d in devices if (nic := _present_nic(cluster, d)) and nic.mtu != d.mtu]
    for same in alike(found, lambda pair: (compared_within(cluster, pair[0]), pair[0].mtu, pair[1].mtu)):
        before, now = same[0][0].mtu, same[0][1].mtu
        owners = [(nic.name, node_of(cluster, d.instance)) for d, nic in same]
        verb = "has" if len(same) == 1 else "have"
        yield OUTDATED.finding(
            f"{devices_named(cluster, [d for d, _ in same])} {verb} MTU {now} now; AWR had {before} at "
            f"{moment(max(d.last_seen for d, _ in same))}.",
            subject=f"{briefly((f'{node} {nic}' for nic, node in owners), 'NIC')}: {before} -> {now}",
            data={"nics": len(same), "mtu_bytes": now, "earlier_mtu_bytes": before},
            seen=some(
                [
                    line
                    for (d, nic), (_, node) in zip(same, owners, strict=True)
                    for line in (device_line(cluster, d), f"{node}: {nic.name} has MTU {nic.mtu} now")
                ],
                8,
            ),
            expected=("The last MTU in AWR, or the same change on all nodes",),
            next=[
                NextStep(
                    "Find out whether all nodes have the same MTU now.", ("racwire check mtu-consistency df-ping",)
                )
            ],
            evidence=[*device_evidence(cluster), *((node, "interfaces") for _, node in owners)],
            network=known_network(cluster, same[0][0]),
            nodes=[node for _, node in owners],
            extent=(len(same), "NICs"),
            observed=[_observed(cluster, OUTDATED, d, nic.mtu) for d, nic in same],
        )


def _present_nic(cluster: Cluster, device: DeviceHistory) -> Interface | None:
    """Return the NIC with its present state, or None where its node could not be read."""
    node = cluster.node(node_of(cluster, device.instance))
    return node.interface(nic_of(device)) if node else None


def _alike(cluster: Cluster, history: History, devices: Sequence[DeviceHistory]) -> Finding:
    mtus = listed(sorted({str(d.mtu) for d in devices}))
    instances = len({d.instance for d in devices})
    return ALIKE.finding(
        f"AWR shows MTU {mtus} on {counted(len(devices), 'NIC')} of {counted(instances, 'instance')}, without faults.",
        subject=f"{counted(len(devices), 'NIC')}, {mtus}",
        seen=(
            f"AWR, {moment(history.begin)} to {moment(history.end)}",
            *some([device_line(cluster, device) for device in devices], 12),
        ),
        evidence=device_evidence(cluster),
        table=devices_table(cluster, devices),
        observed=read_on(ALIKE.code, nodes_of(cluster, [device.instance for device in devices])),
    )


def _observed(cluster: Cluster, kind: Kind, device: DeviceHistory, mtu: int) -> Observation:
    """Return an MTU that AWR or the node shows. It is no state `mtu`: that is read on the nodes now."""
    node = node_of(cluster, device.instance)
    return state(kind.code, node, known_network(cluster, device), nic_of(device), mtu)
