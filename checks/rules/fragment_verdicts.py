"""Rules for UDP datagrams of a block's size, which the sender's kernel cuts into fragments where the MTU is smaller."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from math import ceil

from checks.model.facts import FlowPort, FlowProbe, Flows, PathProbe, Verdict
from checks.rules.flow_verdicts import (
    FlowVerdict,
    counts_of,
    did_not_arrive,
    judge_flow,
    lost_here,
    of_others,
    who_sent,
    whole,
)


def cut(probe: FlowProbe) -> tuple[FlowPort, ...]:
    """Return the source ports that sent blocks in fragments."""
    return tuple(p for p in probe.ports if not p.whole and p.sent)


LEAST_CUT = 5
"""Blocks in fragments without an answer from which fragments are dropped, where none is answered. It is ours: a link
that loses one packet of a hundred loses a block in 17, and five in a row less than once in a million."""


def _lost_with(probe: FlowProbe, flows: Flows) -> tuple[int, int]:
    """Return how many blocks in fragments got no answer to the same node, and from the same node, on the network of a
    path; 0 where any was answered. Few may be incomplete on one path, so the paths of a node show it together."""
    same = [p for p in flows.probes if p.network == probe.network and cut(p)]
    to_it = [port for p in same if p.to_node == probe.to_node for port in cut(p)]
    from_it = [port for p in same if p.from_node == probe.from_node for port in cut(p)]
    lost = [0 if any(p.answered for p in ports) else sum(p.sent for p in ports) for ports in (to_it, from_it)]
    return lost[0], lost[1]


class CutVerdict(StrEnum):
    """What the datagrams that a sender's kernel cut into fragments show."""

    PASSES = "passes"
    DROPPED = "fragments are dropped"
    NOT_CUT = "a block fits one packet"
    UNDECIDED = "not decided"
    NOT_SENT = "not sent"


def judge_fragments(probe: FlowProbe, flows: Flows, paths: Sequence[PathProbe] = ()) -> CutVerdict:
    """Return what the blocks of a path show: dropped where all are, while full-size packets of the same port pass.
    `paths` are those that pings probed: a share of all packets that is lost there can lose each block."""
    ports = cut(probe)
    if not ports:
        return CutVerdict.NOT_SENT if probe.reason or not whole(probe) else CutVerdict.NOT_CUT
    if all(p.answered for p in ports):
        return CutVerdict.PASSES
    examined = [p for p in ports if p.full_sent]
    unanswered = not any(p.answered for p in ports)
    lost = sum(p.sent for p in ports)
    if (
        unanswered
        and examined
        and all(p.full_answered for p in examined)
        and max(lost, *_lost_with(probe, flows)) >= LEAST_CUT
        and did_not_arrive(flows, probe, lost)
        and not _is_by_share(probe, lost, paths)
    ):
        return CutVerdict.DROPPED
    is_counted = lost_here(flows, probe)[1] == 0 and not of_others(flows.arrived(probe.to_node)) and not who_sent(flows)
    return CutVerdict.PASSES if is_counted else CutVerdict.UNDECIDED


def _is_by_share(probe: FlowProbe, lost: int, paths: Sequence[PathProbe]) -> bool:
    """Return whether the share of the pings that is lost on a path, of which each fragment is lost too, loses all the
    blocks by chance."""
    ends = {probe.from_node, probe.to_node}
    here = [p for p in paths if p.network == probe.network and {p.from_node, p.to_node} == ends]
    series = [s for p in here if p.verdict is Verdict.LOSS for s in p.series if s.sent and not s.refused_locally]
    share = max((1 - s.received / s.sent for s in series), default=0.0)
    fragments = max((ceil(port.payload / p.expected_mtu) for p in here for port in cut(probe)), default=1)
    return float((1 - (1 - share) ** fragments) ** lost) >= _BY_CHANCE


_BY_CHANCE = 0.001
"""The probability from which on chance explains that each block was lost. It is ours."""
LEAST_UNANSWERED = 2
"""Blocks in fragments without an answer from which a network counts: a kernel limits its answers."""


def networks_that_lose_fragments(flows: Flows) -> dict[str, tuple[int, int]]:
    """Return by network how many blocks in fragments got no answer, and how many were sent; empty unless at least one
    other network answered all of them, as only then the networks differ."""
    lost: dict[str, tuple[int, int]] = {}
    for probe in flows.probes:
        ports = cut(probe)
        unanswered, sent = lost.get(probe.network, (0, 0))
        lost[probe.network] = unanswered + sum(p.sent - p.answered for p in ports), sent + sum(p.sent for p in ports)
    losing = {network: counts for network, counts in lost.items() if counts[0] >= LEAST_UNANSWERED}
    return losing if any(sent and not unanswered for unanswered, sent in lost.values()) else {}


def is_disturbed(flows: Flows, probe: FlowProbe) -> bool:
    """Return whether datagrams of others are a reason that those of a path do not decide."""
    is_counted = of_others(counts_of(flows, probe.to_node)[0])
    undecided = judge_flow(probe, flows).verdict is FlowVerdict.UNDECIDED
    undecided = undecided or judge_fragments(probe, flows) is CutVerdict.UNDECIDED
    return undecided and (is_counted or bool(who_sent(flows)))
