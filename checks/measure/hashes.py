"""`measure hashes`: each parallel link of a path, by full-size datagrams from many source ports.

A switch chooses the member of a link aggregation by a hash of addresses and ports. Pings have no ports, so all pings of
two nodes take one member, and a member that loses full-size packets stays unseen.
"""

from __future__ import annotations

from collections.abc import Sequence

from checks.measure.far_end.far_process import FarCounts
from checks.measure.load_limits import LoadLimits
from checks.measure.load_plan import PlannedLoad
from checks.measure.measure_error import MeasureError
from checks.measure.testbed import Experiment, Testbed
from checks.model.facts import FlowArrivals, FlowPort, FlowProbe, Flows
from checks.model.measurement import HashDirection, HashPort, MeasuredHashes, MeasuredPath
from checks.model.packet_sizes import IP_HEADER, UDP_HEADER, WIRE_BYTES
from checks.model.wording import counted
from checks.rules.flow_verdicts import LEAST_LARGE, FlowVerdict, judge_flow, members_of

USUAL_PORTS = 64
_LEAST_PORTS, _MOST_PORTS = 16, 256
_ROUNDS = LEAST_LARGE
"""Datagrams of a port: the rule for a dead port needs as many."""
_SMALL_ROUNDS = 2
_ROUND_S = 0.6
"""Seconds of a round after its sending: an answer has 0.5 s."""


class Hashes(Experiment):
    """The experiment. `result` has what was measured so far at any time."""

    kind = "hashes"
    needs_program = True
    looks_for = ("IC-FLOW-002", "IC-FLOW-003")

    def __init__(self, ports: int = USUAL_PORTS) -> None:
        """`ports`: source ports of a path and direction. Raises MeasureError."""
        if not _LEAST_PORTS <= ports <= _MOST_PORTS:
            raise MeasureError(f"The source ports must be from {_LEAST_PORTS} to {_MOST_PORTS}.")
        self._number = ports
        self._ports: list[HashPort] = []
        self._directions: list[HashDirection] = []
        self._paths: Sequence[MeasuredPath] = ()

    def plan(self, paths: Sequence[MeasuredPath], limits: LoadLimits) -> PlannedLoad:
        """Return what will be sent at most."""
        directions = 2 * len(paths)
        messages = self._number * (_ROUNDS + _SMALL_ROUNDS)
        wire = sum(2 * _wire_bytes(path) for path in paths) * messages
        gap_s = max(
            max(2 / limits.packets_per_s, _wire_bytes(path) * 8 / limits.bits_per_s(path.speed_mbps)) for path in paths
        )
        gap_s = max(gap_s, 0.0005)
        return PlannedLoad(
            title=f"{_ROUNDS} full-size datagrams with Don't Fragment from each of {self._number} source ports, both "
            f"ways, on {counted(len(paths), 'path')}",
            seconds=directions * (messages * (gap_s + 0.0005) + (_ROUNDS + _SMALL_ROUNDS) * _ROUND_S),
            packets=2 * messages * directions,
            wire_bytes=wire,
            peak_packets_per_s=min(limits.packets_per_s / 2, 1 / gap_s),
            peak_bps=max(_wire_bytes(path) * 8 / gap_s for path in paths),
        )

    async def run(self, testbed: Testbed) -> None:
        """Measure until done. Raises HaltedError; `result` then has the directions so far."""
        self._paths = testbed.paths
        done = 0
        for number, path in enumerate(testbed.paths):
            for back in (False, True):
                way = "from" if back else "to"
                testbed.progress(f"datagrams {way} {path.target_node} on {path.network}", done, 2 * len(testbed.paths))
                await self._measure(testbed, number, back)
                done += 1
        testbed.demand_running()

    def result(self) -> MeasuredHashes:
        """Return the ports and verdicts so far."""
        size = min((_payload(path) for path in self._paths), default=0)
        return MeasuredHashes(size=size, ports=tuple(self._ports), directions=tuple(self._directions))

    async def _measure(self, testbed: Testbed, number: int, back: bool) -> None:
        path = testbed.paths[number]
        before = await testbed.far_counts(number)
        order = {
            "order": "source_ports",
            **testbed.address(number),
            "ports": self._number,
            "rounds": _ROUNDS,
            "size": _payload(path),
            "wire_bytes": _wire_bytes(path),
            "bits_per_s": testbed.limits.bits_per_s(path.speed_mbps),
            "is_towards_here": back,
        }
        found = await testbed.order(order, self.plan([path], testbed.limits).seconds)
        after = await testbed.far_counts(number)
        if found["stopped"]:
            return  # the ports have not had all their datagrams, so they show nothing
        assert before is not None, "hashes needs a program"
        assert after is not None
        ports = [HashPort(path=number, is_towards_here=back, **one) for one in found["ports"]]
        self._ports += ports
        self._directions.append(judge_ports(path, ports, before, after))


def judge_ports(path: MeasuredPath, ports: Sequence[HashPort], before: FarCounts, after: FarCounts) -> HashDirection:
    """Return what the ports of one direction show, by the rule of the check udp-flows. `ports`: one or more.

    The far end counts what arrived and what it sent, which separates lost datagrams from lost answers.
    """
    back = ports[0].is_towards_here
    answered = sum(one.answered + one.small_answered for one in ports)
    if back:
        sent, arrived = after.packets_out - before.packets_out, answered
        from_node, to_node = path.target_node, path.source_node
    else:
        sent = sum(one.sent + one.small_sent for one in ports)
        # What its own full socket dropped had arrived.
        arrived = after.packets_in - before.packets_in + after.dropped - before.dropped
        from_node, to_node = path.source_node, path.target_node
    payload = _payload(path)
    flow_ports = tuple(
        FlowPort(
            source_port=one.source_port,
            payload=payload,
            sent=one.sent,
            answered=one.answered,
            small_sent=one.small_sent,
            small_answered=one.small_answered,
        )
        for one in ports
    )
    probe = FlowProbe(
        network=path.network,
        from_node=from_node,
        to_node=to_node,
        source_ip=path.target if back else path.source,
        destination_ip=path.source if back else path.target,
        expected_mtu=path.mtu,
        ports=flow_ports,
    )
    flows = Flows((probe,), (FlowArrivals(to_node, sent, arrived),))
    judgement = judge_flow(probe, flows)
    is_member = judgement.verdict in (FlowVerdict.SHORT_MEMBER, FlowVerdict.DEAD_MEMBER)
    dead = len(judgement.ports) if is_member else sum(not one.answered for one in ports)
    members, least, most = members_of(dead, len(ports)) if is_member else (None, None, None)
    return HashDirection(
        path=ports[0].path,
        is_towards_here=back,
        verdict=judgement.verdict.value,
        dead=dead,
        of=len(ports),
        sent=sent,
        counted=arrived,
        members=members,
        least_members=least,
        most_members=most,
        reason=judgement.reason,
    )


def _payload(path: MeasuredPath) -> int:
    return path.mtu - IP_HEADER[4] - UDP_HEADER


def _wire_bytes(path: MeasuredPath) -> int:
    """Return the bytes on the wire of a full-size datagram; the small ones of the other way stay well below."""
    return path.mtu + WIRE_BYTES
