"""Do the sizes of the frames show that a large MTU is used?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import InfoKind, PassKind, SkippedKind, UnknownKind, WarnKind, check
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster, Unknown
from checks.model.finding import Finding, NextStep, Scalar
from checks.model.shell_command import for_each
from checks.model.wording import continued, counted
from checks.plugins.shared.counter_text import TOPIC, not_counted_finding, unknown_nodes_findings
from checks.plugins.shared.filter_commands import capture
from checks.plugins.shared.frame_table import frame_table
from checks.plugins.shared.grouping import alike, briefly, named, some, time_of
from checks.rules.frame_sizes import STANDARD_MTU, CountedSizes, FrameSizes, SizeUse, frame_sizes
from checks.rules.observed.states import state

_DRIVER_TOPIC = "driver counters"
_RMON = "RFC 2819, etherStatsTable"
USED = PassKind("IC-SIZE-001", "The frames on a private network use its large MTU", sources=(_RMON,))
UNUSED = WarnKind(
    "IC-SIZE-002",
    "A private network has a large MTU, and its frames are those of MTU 1500",
    "Each block of 8 KB crosses the network in six packets instead of one, as without the large MTU. A route with an "
    "MTU of its own, a path MTU that the kernel learned, a VLAN or a bridge with a smaller MTU, or senders other than "
    "the instances are the usual reasons.",
    ("MOS 563566.1, cause 5", _RMON),
)
SHOWN = InfoKind("IC-SIZE-003", "The sizes of the frames on a private network with a standard MTU", sources=(_RMON,))
NOT_SHOWN = InfoKind("IC-SIZE-004", "The sizes of the frames do not show whether a large MTU is used", sources=(_RMON,))
NOT_KNOWN = UnknownKind("IC-SIZE-005", "The sizes of the frames on a private NIC are not known")
NOT_ASKED = SkippedKind("IC-SIZE-006", "The drivers of the private NICs were not queried for the sizes of frames")

_KINDS = {
    SizeUse.UNUSED: UNUSED,
    SizeUse.USED: USED,
    SizeUse.STANDARD: SHOWN,
    SizeUse.FEW: NOT_SHOWN,
    SizeUse.MIXED: NOT_SHOWN,
    SizeUse.IDLE: NOT_SHOWN,
}


@check(
    "packet-sizes",
    question="Do the sizes of the frames show that a large MTU is used?",
    needs=("networks", "counters"),
    uses=("nodes", "activity"),
    about=(ConditionKind.MTU,),
    kinds=(USED, UNUSED, SHOWN, NOT_SHOWN, NOT_KNOWN, NOT_ASKED),
)
def packet_sizes(cluster: Cluster) -> Iterator[Finding]:
    """Compares the sizes of the frames that each private NIC received and sent in the interval with its MTU.

    The NICs count them: in the counters of their drivers (`ethtool -S` of mlx5_core, mlx4_en, i40e, ice, bnxt_en, bnx2,
    bnx2x, tg3, qede, cxgb4, enic, sfc, hns3, ionic), else in the standard groups of the kernel (`--groups rmon`, from
    ethtool and Linux 5.13). The sizes contain the header and the frame check sequence: a full frame has 1,518 bytes at
    MTU 1500. Some drivers count one direction only. The NIC counts all frames of its port, also those of its other
    virtual functions and VLANs.

    Where the MTU is 1600 or more and frames that are full at MTU 1500 carry more than half of the bytes, even if all
    other frames are as large as their class permits, the large MTU is not used: a warning. Under 300 frames of 1,024
    bytes or more, and where the instances of the node exchanged few blocks, the sizes are for information. A driver
    without these counters is UNKNOWN. The drivers are queried where the interval is 30 s or more.
    """
    if isinstance(cluster.counters, Unknown):
        return
    sizes = frame_sizes(cluster)
    for same in alike(sizes.known, lambda found: (found.nic.network, found.use)):
        yield _finding(same)
    yield from _not_known(sizes)
    if sizes.unasked:
        yield not_counted_finding(NOT_ASKED, "The size of the frames of {}", sizes.unasked, "node")
    yield from unknown_nodes_findings(cluster, NOT_KNOWN, "The size of the frames of {}", "packet-sizes")


def _finding(same: Sequence[FrameSizes]) -> Finding:
    kind = _KINDS[same[0].use]
    nodes = list(dict.fromkeys(found.nic.node for found in same))
    network = same[0].nic.network
    least = min(found.full_percent for found in same)
    return kind.finding(
        _title(same, least),
        subject=f"{briefly((found.nic.place for found in same), 'NIC')}: {_brief(same, least)}",
        data=_data(same),
        seen=some([_line(found) for found in same]),
        expected=_EXPECTED.get(same[0].use, ()),
        table=frame_table(same),
        next=_steps(same) if kind is UNUSED else (),
        evidence=[(node, topic) for node in nodes for topic in (_DRIVER_TOPIC, TOPIC, "interfaces")],
        network=network,
        nodes=nodes,
        extent=(least, "% of the bytes in frames of MTU 1500") if kind is UNUSED else None,
        observed=[state(kind.code, f.nic.node, f.nic.network, f.nic.name, f.full_percent) for f in same],
    )


_EXPECTED = {SizeUse.UNUSED: ("Blocks of 8 KB in one frame each",), SizeUse.USED: ("Frames above 1,522 bytes",)}


def _title(same: Sequence[FrameSizes], least: float) -> str:
    network, mtu = same[0].nic.network, max(found.mtu for found in same)
    at = f"{named((found.nic.place for found in same), 'private NIC')}{f' on {network}' if network else ''}"
    time, frames = time_of(found.nic for found in same), sum(found.frames for found in same)
    full, large = sum(found.full for found in same), sum(found.large for found in same)
    match same[0].use:
        case SizeUse.UNUSED:
            return (
                f"The MTU of {at} is {mtu}, and frames that are full at MTU {STANDARD_MTU} carried {int(least)} % or "
                f"more of the bytes in {time}."
            )
        case SizeUse.USED:
            return f"{at} passed {counted(large, 'frame')} in {time} that need an MTU above {STANDARD_MTU}."
        case SizeUse.STANDARD:
            return f"{at} passed {counted(frames, 'frame')} in {time} with MTU {mtu}."
        case SizeUse.FEW:
            return (
                f"{at} passed {counted(full + large, 'frame')} of 1,024 bytes or more in {time}: too few to tell "
                f"whether MTU {mtu} is used."
            )
        case SizeUse.IDLE:
            return (
                f"{at} passed {counted(full, 'frame')} in {time} that are full at MTU {STANDARD_MTU}, while the "
                f"instances exchanged few blocks: whether blocks use MTU {mtu} is not shown."
            )
        case SizeUse.MIXED:
            return (
                f"{at} passed {counted(full, 'frame')} in {time} that are full at MTU {STANDARD_MTU} and "
                f"{counted(large, 'larger frame')}: most bytes may be in small frames, so whether each sender uses MTU "
                f"{mtu} is not shown."
            )


def _brief(same: Sequence[FrameSizes], least: float) -> str:
    large = sum(found.large for found in same)
    what = {
        SizeUse.UNUSED: f"{int(least)} % or more as at MTU {STANDARD_MTU}",
        SizeUse.USED: f"{large:,} large frames",
        SizeUse.STANDARD: f"{sum(found.frames for found in same):,} frames",
        SizeUse.FEW: "too few frames",
        SizeUse.IDLE: "few blocks",
        SizeUse.MIXED: "not shown",
    }
    return what[same[0].use]


def _line(found: FrameSizes) -> str:
    way = "in" if found.way == "rx" else "out"
    return (
        f"{found.nic.node}: {found.nic.name} {counted(found.frames, 'frame')} {way}, {found.full:,} of them full at "
        f"MTU {STANDARD_MTU}, {found.large:,} larger"
    )


def _data(same: Sequence[FrameSizes]) -> dict[str, Scalar]:
    data: dict[str, Scalar] = {
        "mtu": max(found.mtu for found in same),
        "seconds": max(found.nic.seconds for found in same),
        "frames": sum(found.frames for found in same),
        "full_frames": sum(found.full for found in same),
        "large_frames": sum(found.large for found in same),
    }
    for found in same:
        for size in found.classes:
            ends = f"{size.low}_{'max' if size.high is None else size.high}"
            data[f"{found.nic.node} {found.nic.name} {found.way}_{ends}_bytes_frames"] = size.frames
    return data


def _steps(same: Sequence[FrameSizes]) -> list[NextStep]:
    nics = list(dict.fromkeys(found.nic.name for found in same))[:3]
    nodes = named((found.nic.node for found in same), "node")
    senders = [found.nic.node for found in same if found.way == "tx"]
    sent = f" The frames that {named(senders, 'node')} sent show it at the sender." if senders else ""
    return [
        NextStep(
            f"Find the smaller MTU on the way: that of a route, or a path MTU that the kernel learned.{sent}",
            (
                *for_each("ip route show table all dev {nic}", nic=nics),
                "ip route get ADDRESS_OF_THE_PEER",
                "racwire check private-routes mtu-consistency df-ping",
            ),
            f"any user on {nodes}",
        ),
        NextStep(
            "Find out what the frames carry: blocks between instances are UDP, or other traffic uses the network.",
            tuple(capture(nic, "greater", "1024") for nic in nics),
            f"root on {nodes}",
        ),
    ]


def _not_known(sizes: CountedSizes) -> Iterator[Finding]:
    """Yield one UNKNOWN finding for each reason for which the sizes at some NICs are not known."""
    for same in alike(sizes.silent.items(), lambda item: item[1][1].reason):
        places = [place for place, _ in same]
        nics = [nic for _, (nic, _) in same]
        nodes = list(dict.fromkeys(nic.node for nic in nics))
        why = same[0][1][1]
        yield NOT_KNOWN.finding(
            f"The sizes of the frames of {named(places, 'private NIC')} are not known: {continued(why.reason)}",
            subject=f"{briefly(places, 'NIC')}: not counted",
            data={"driver": (nics[0].driver.driver if nics[0].driver else "") or "not known", "nics": len(nics)},
            seen=(why.reason,),
            next=[
                NextStep(
                    "Compare with the counters that the driver has. Where it lacks these, the MTU is judged by "
                    "df-ping and mtu-consistency; waive this finding.",
                    (
                        *for_each("ethtool -S {nic}", nic=list(dict.fromkeys(n.name for n in nics))[:3]),
                        "racwire check df-ping mtu-consistency",
                    ),
                    f"any user on {named(nodes, 'node')}",
                )
            ],
            evidence=[(node, _DRIVER_TOPIC) for node in nodes],
            nodes=nodes,
            lacks=[why],
            extent=(len(nics), "NICs"),
        )
