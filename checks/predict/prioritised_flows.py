"""Whether a switch that prioritises short flows would help this load: Cisco's dynamic packet prioritisation (DPP).

The rule, from Cisco's paper of 2017: a flow is the addresses and ports of both ends, its first packets are sent with
priority (20 there), and after a pause of 5 ms a new flow starts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean

from checks.model.packet_sizes import fragments_of
from checks.model.wording import counted
from checks.predict.measured_load import MeasuredLoad, NodeLoad

FIRST_PACKETS = 20
"""max-num-pkts of the paper."""
PAUSE_S = 0.005
_MOST_WHOLE = 0.5
"""The share of flows that end within the first packets, from which on prioritisation helps most of them."""


def prioritisation_remarks(load: MeasuredLoad, mtu: int) -> Iterator[str]:
    """Yield what DPP would do with the messages between the nodes, as they are now: a sentence for each kind of node.

    Messages are taken as independent of each other (Poisson), and as spread evenly over the LMS processes and peers:
    each sender on each peer has ports of its own.
    """
    peers = len(load.nodes) + len(load.left_out) - 1
    if peers < 1 or not load.nodes or load.version == 6:
        return
    processes = load.lms_processes or 1
    busiest = max(load.nodes, key=_messages)
    gap_s = peers * processes / _messages(busiest) if _messages(busiest) else math.inf
    if math.isinf(gap_s):
        return
    ends = math.exp(-PAUSE_S / gap_s)
    frames = fragments_of(load.block_bytes, mtu, load.version)
    blocks = max(FIRST_PACKETS // frames, 1)
    # A flow of independent messages goes on with the chance that the next one comes within the pause.
    within = 1 - (1 - ends) ** blocks
    known = counted(processes, "LMS process") if load.lms_processes else "one LMS process (not read)"
    rule = (
        f"Dynamic packet prioritisation: between {busiest.node} and one peer, a message follows another after "
        f"{1000 * gap_s:.2g} ms on average ({known}), and a pause of {1000 * PAUSE_S:g} ms ends a flow. The first "
        f"{FIRST_PACKETS} packets are {counted(blocks, 'block')} at MTU {mtu}."
    )
    if within >= _MOST_WHOLE:
        yield f"{rule} About {100 * within:.0f} % of the flows are that short: it would help them on a congested port."
    else:
        yield (
            f"{rule} Only {100 * within:.0f} % of the flows end within them: the switch takes this traffic for large "
            "flows, and it would not help. More: racwire explain dpp"
        )


def _messages(node: NodeLoad) -> float:
    """Return the datagrams that a node sends, per second: a fragmented one counts once."""
    flows = [stretch.outbound for stretch in node.stretches]
    return fmean([flow.packets - flow.fragments + flow.datagrams for flow in flows])
