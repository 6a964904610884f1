"""Count the datagrams of a path by source port, where it lost a part of them: some ports of a bad link, or all alike.

A target's kernel answers one datagram a second and counts all of them (Udp.NoPorts), so the ports send one after the
other, a row each, and the count is read between them. Two turns in opposite order: what comes and goes spoils the ports
of one turn only.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from checks.model.facts import FlowPort, FlowProbe, Flows, PortTurn
from checks.rules.flow_verdicts import FlowVerdict, is_of_others, judge_flow
from checks.rules.port_shares import MOST_PATHS, SUSPECTS
from checks.sources.nodes.shell import Shell
from checks.sources.probes.limits import GentlePace
from checks.sources.probes.path import Path
from checks.sources.probes.probe_hosts import ProbeSession
from checks.sources.probes.udp_plan import ANSWER_MS, Datagram, Receiver, UdpEnds, closed_port, parse_answers, word
from checks.sources.probes.udp_sender import COUNTED
from checks.sources.probes.udp_sending import sent

PORTS = 8
"""Source ports that are counted on a path."""
ROW = 16
"""Datagrams of a row."""
TURNS = 2
LEAST_APART_MS = 15
"""Between the datagrams of a row, where these are small enough."""

Ends = Callable[[], Awaitable[UdpEnds | None]]
"""Reads the ports and the counts of the target."""


def ports_to_count(ports: Sequence[FlowPort]) -> list[int]:
    """Return the source ports to count: a few that lost a datagram, then others in their order; 0 for one that the
    kernel chooses."""
    whole = [port for port in ports if port.whole and port.source_port]
    lossy = [port.source_port for port in whole if port.answered < port.sent][:SUSPECTS]
    others = [port.source_port for port in whole if port.source_port not in lossy]
    return [*lossy, *others, *[0] * PORTS][:PORTS]


def paths_to_count(flows: Flows) -> list[FlowProbe]:
    """Return the paths to count, at most MOST_PATHS: those that lost most, and not all; none whose counts others
    disturb."""
    judged = [judge_flow(probe, flows) for probe in flows.probes if not probe.reason]
    doubts = [j for j in judged if j.verdict in _IN_PART and j.ports and not is_of_others(flows, j.probe)]
    doubts.sort(key=lambda j: (j.verdict is not FlowVerdict.IN_PART, -len(j.ports)))
    return [j.probe for j in doubts[:MOST_PATHS]]


_IN_PART = (FlowVerdict.IN_PART, FlowVerdict.UNDECIDED)


def apart_ms(path_mtu: int) -> int:
    """Return the time between datagrams that fill a packet: they keep the pace for a node to which packets are lost."""
    return max(LEAST_APART_MS, 1000 * path_mtu // GentlePace.BYTES_PER_S)


async def take_turns(
    path: Path, port: int, source_ports: Sequence[int], ends: Ends, session: ProbeSession, shell: Shell, python: str
) -> tuple[PortTurn, ...]:
    """Send the rows, and return what the target counted of each; nothing where a row could not be sent or counted, or
    the port is no longer known to be closed. One turn is enough where all ports lose, or none does."""
    numbers, found = list(source_ports), list[PortTurn]()
    before = await ends()
    for turn in range(TURNS):
        order = range(len(numbers)) if turn % 2 == 0 else reversed(range(len(numbers)))
        for slot in order:
            if before is None or before.no_ports is None or closed_port(before) != port:
                return ()
            row = [
                Datagram(k * apart_ms(path.mtu), slot, numbers[slot], path.full_payload, COUNTED) for k in range(ROW)
            ]
            words = [f"{ANSWER_MS}:{ANSWER_MS}:0", word(path, port, row, Receiver(0, 0, None))]
            answers = parse_answers((await sent(session, shell, path.source.node, python, words))[0])
            left = [answer for answer in answers if answer.what == "sent"]
            after = await ends()
            if not left or after is None or after.no_ports is None:
                return ()
            numbers[slot] = left[0].source_port
            found.append(PortTurn(numbers[slot], turn, len(left), after.no_ports - before.no_ports))
            before = after
        if len({one.counted < one.sent for one in found}) == 1:
            break
    return tuple(found)
