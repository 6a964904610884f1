"""How full flows make a link, and what keeps them from more: clauses and sentences for the plan and the report."""

from __future__ import annotations

from checks.model.flow_bound import FlowBound
from checks.model.measurement import LinkFill

NOT_MORE = {
    FlowBound.LIMITS: "flows waited, so that no second had more than the limit",
    FlowBound.PACKETS: "the limit of packets a second is reached first (--packets)",
    FlowBound.CLASSES: "these classes, with this pause between flows, offer no more (--classes, --flows, --gap)",
    FlowBound.ANSWERS: "flows took longer than planned, and the next one of a connection waits for the one before",
    FlowBound.LINK: "the link was full",
    FlowBound.CPU_THERE: "the program of a peer used up a CPU",
    FlowBound.CPU_HERE: "the program of this node used up its share of a CPU",
    FlowBound.LATE: "the program of this node did not run when flows were due",
    FlowBound.BROKEN: "flows did not complete",
}
"""Why flows do not fill more of a link, as a clause."""


def planned_fill_text(one: LinkFill, bound: str) -> str:
    """Return how full the flows of a plan make the link, and why not more (`bound`, a `FlowBound`; empty: they do)."""
    least = f", {part_text(one.mean_bps, one)} were possible: {NOT_MORE[FlowBound(bound)]}" if bound else ""
    return (
        f"Together, {one.concurrency} at the same time, the flows use {part_text(one.planned_bps, one)} on average; no "
        f"second has more than {part_text(one.most_bps, one)}{least}."
    )


def part_text(bps: float, one: LinkFill) -> str:
    """Return bits a second as a part of the link; where its speed is not known, as they are."""
    return f"{bps / one.link_bps * 100:.0f} % of the link" if one.link_bps else f"{bps / 1e6:,.0f} Mb/s"
