"""A few datagrams in fragments, one by one, before a measurement sends many: any loss refuses it."""

from __future__ import annotations

from collections.abc import Sequence

from checks.measure.far_end.far_process import FarEnd, FarEndError
from checks.measure.load_limits import incomplete_bytes
from checks.measure.load_plan import LoadPlan
from checks.measure.load_refusals import LoadRefusal
from checks.measure.measure_error import HaltedError, MeasureError
from checks.measure.near_end.incomplete import memory_in_use
from checks.measure.near_end.messages import ACKNOWLEDGE, ECHO, PULL
from checks.measure.testbed import Testbed
from checks.model.measurement import MeasuredPath
from checks.model.packet_sizes import IP_HEADER, UDP_HEADER, USUAL_BLOCK_BYTES, WIRE_BYTES, fragments_of
from checks.model.wording import counted

TRIALS = 32
"""Datagrams of a path and direction. Where one fragment in 50 is lost, so is one of 32 datagrams of 8 KB in 98 % of all
trials. Ours."""
_CODE = "ME-LOAD-012"


async def try_fragments(
    plan: LoadPlan, here: str, testbed: Testbed, far_ends: Sequence[FarEnd]
) -> tuple[LoadRefusal, ...]:
    """Return why nothing may be sent in fragments: what a node holds already, or what was lost. Raises MeasureError.

    `here`: this node. `far_ends`: also those that only hold the lock: they look at the memory of their node.
    """
    if not plan.load.most_incomplete_bytes:
        return ()
    try:
        used = {here: memory_in_use(), **{far.node: (await far.counts()).fragment_bytes for far in far_ends}}
        full = tuple(_full(node, own) for node, own in used.items() if own > plan.rooms[node].stop_bytes)
        return full or await _lost(plan, testbed)
    except (FarEndError, HaltedError) as error:
        raise MeasureError(str(error)) from None


async def _lost(plan: LoadPlan, testbed: Testbed) -> tuple[LoadRefusal, ...]:
    for number, path in enumerate(plan.paths):
        for kind in (ECHO,) if path.far_end == "kernel" else (ACKNOWLEDGE, PULL):
            nodes = {ECHO: (path.source_node, path.target_node), ACKNOWLEDGE: (path.target_node,)}.get(
                kind, (path.source_node,)
            )
            size = _size(path)
            packets = fragments_of(size, path.mtu)
            found = await testbed.order(
                {
                    "order": "exchange",
                    **testbed.address(number),
                    "size": size,
                    "train": 1,
                    "kind": kind,
                    "rate": 0,
                    "packets": packets * len(nodes) + 1,
                    "wire_bytes": (size + UDP_HEADER + packets * (IP_HEADER[4] + WIRE_BYTES)) * len(nodes),
                    "bits_per_s": plan.limits.bits_per_s(path.speed_mbps),
                    "holds": dict.fromkeys(nodes, incomplete_bytes(size, path.mtu)),
                    "seconds": plan.limits.whole_s,
                    "most": TRIALS,
                },
                plan.limits.whole_s,
            )
            testbed.demand_running()
            if found["lost"]:
                return (_missing(path, kind, size, found["sent"]),)
    return ()


def _size(path: MeasuredPath) -> int:
    return USUAL_BLOCK_BYTES if fragments_of(USUAL_BLOCK_BYTES, path.mtu) > 1 else 2 * path.mtu


def _missing(path: MeasuredPath, kind: int, size: int, sent: int) -> LoadRefusal:
    ends = {
        ECHO: f"between {path.source_node} and {path.target_node}",
        ACKNOWLEDGE: f"from {path.source_node} to {path.target_node}",
        PULL: f"from {path.target_node} to {path.source_node}",
    }
    return LoadRefusal(
        _CODE,
        f"Fragments are lost {ends[kind]} on {path.network}: of {counted(sent, 'datagram')} of {size:,} bytes, sent "
        "one by one, the last had no answer. Find out why first: `racwire check fragments reassembly udp-path`.",
    )


def _full(node: str, used: int) -> LoadRefusal:
    return LoadRefusal(
        _CODE,
        f"Incomplete datagrams hold {used:,} bytes of the memory for reassembly of {node}, more than a quarter. "
        "Find out which fragments are lost first: `racwire check reassembly fragments`.",
    )
