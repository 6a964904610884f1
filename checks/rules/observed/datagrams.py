"""What became of UDP datagrams to closed ports, as the verdicts on their paths have it: those in one packet, and blocks
that the sender's kernel cuts into fragments.

The target's kernel counts what arrives and its answers are small, so a datagram has one leg, the way there. One that
arrived without an answer was not lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from checks.model.facts import Cluster, FlowPort, FlowProbe, Flows, SmallDatagrams
from checks.model.observation import Fate, Observation
from checks.model.packet_sizes import SMALL_PAYLOAD, ip_version, packet_of, payload_for
from checks.model.traffic import Traffic
from checks.rules.flow_verdicts import OWN_FILTER, FlowJudgement, FlowVerdict, is_fine, lost_here, uncounted_at, whole
from checks.rules.fragment_verdicts import CutVerdict, cut
from checks.rules.observed.packets import fragments, legs
from checks.rules.port_shares import lost_by_port

DATAGRAM = "datagram"
FRAGMENTS = "fragments"

Ports = Sequence[FlowPort]


@dataclass(frozen=True, slots=True)
class _Way:
    """The way of a path's datagrams."""

    cluster: Cluster
    probe: FlowProbe

    @property
    def version(self) -> int:
        return ip_version(self.probe.destination_ip)

    def full(self, fate: Fate, ports: Ports) -> Iterator[Observation]:
        """Yield what became of the full-size datagrams of these ports."""
        yield from _seen(fate, self.legs_of_full(ports), sum(p.sent for p in ports))

    def small(self, fate: Fate, ports: Ports) -> Iterator[Observation]:
        """Yield what became of the small datagrams of these ports."""
        sent = [p for p in ports if p.small_sent]
        yield from _seen(fate, self.legs_of_small(sent), sum(p.small_sent for p in sent))

    def messages(self) -> Iterator[Observation]:
        """Yield what became of the small datagrams that the target counted where full-size ones pass."""
        small = self.probe.small
        if not isinstance(small, SmallDatagrams):
            return
        ports = [FlowPort(port, small.payload) for port in small.source_ports]
        found, lost = self._legs(ports or [FlowPort(0, small.payload)], small.payload), small.sent - small.counted
        if small.error:
            for seen in _seen(Fate.REFUSED, found, 1):
                yield msgspec.structs.replace(seen, nodes=(self.probe.from_node,), network=self.probe.network)
        elif small.sent:
            fate = Fate.LOST if lost else Fate.PASSED
            yield Observation(fate=fate, what=DATAGRAM, legs=found, number=lost or small.sent, of=small.sent)

    def small_answered(self, ports: Ports) -> Iterator[Observation]:
        """Yield the small datagrams that were answered: they passed; whether the others did is not known."""
        known = [p for p in ports if p.small_answered]
        for seen in _seen(Fate.PASSED, self.legs_of_small(known), sum(p.small_answered for p in known)):
            yield msgspec.structs.replace(seen, of=sum(p.small_sent for p in self.probe.ports))

    def full_answered(self, ports: Ports) -> Iterator[Observation]:
        """Yield the datagrams in one packet that ports of blocks sent, and that were answered."""
        known = [p for p in ports if p.full_answered]
        yield from _seen(Fate.PASSED, self.legs_beside_blocks(known), sum(p.full_answered for p in known))

    def blocks(self, fate: Fate, ports: Ports, number: int) -> Iterator[Observation]:
        """Yield what became of so many blocks; they are one packet where the sender's MTU is larger than theirs."""
        found = self.legs_of_blocks(ports)
        what = DATAGRAM if any(leg.forms == ("whole",) for leg in found) else FRAGMENTS
        yield from _seen(fate, found, number, what=what)

    def refused(self, ports: Ports, by: tuple[str, ...] = (), address: str = "") -> Iterator[Observation]:
        """Yield the first datagrams of these ports, which were refused with an error."""
        in_one, in_pieces = [p for p in ports if p.whole], [p for p in ports if not p.whole]
        for own, found in ((in_one, self.legs_of_full(in_one)), (in_pieces, self.legs_of_blocks(in_pieces))):
            for seen in _seen(Fate.REFUSED, found, len(own)):
                yield msgspec.structs.replace(seen, nodes=by, network=self.probe.network, value=address or None)

    def legs_of_full(self, ports: Ports) -> tuple[Traffic, ...]:
        return self._legs(ports, ports[0].payload) if ports else ()

    def legs_of_small(self, ports: Ports) -> tuple[Traffic, ...]:
        return self._legs(ports, SMALL_PAYLOAD)

    def legs_of_blocks(self, ports: Ports) -> tuple[Traffic, ...]:
        """Return the packets of a block, by the MTU of the network where that of the sender is not known."""
        found = self._legs(ports, ports[0].payload, df=False) if ports else ()
        if not found or found[0].forms is not None:
            return found
        size = packet_of(ports[0].payload, self.version)
        pieces = fragments(size, self.probe.expected_mtu, self.version)
        return tuple(msgspec.structs.replace(found[0], forms=forms, sizes=sizes) for forms, sizes in pieces)

    def legs_beside_blocks(self, ports: Ports) -> tuple[Traffic, ...]:
        """Return the packet of a full-size datagram of a port that sends blocks."""
        return self._legs(ports, payload_for(self.probe.expected_mtu, self.version))

    def _legs(self, ports: Ports, payload: int, *, df: bool = True) -> tuple[Traffic, ...]:
        probe = self.probe
        return legs(
            self.cluster, probe.from_node, probe.to_node, probe.network, packet_of(payload, self.version), df=df,
            addresses=("private",), protocols=("udp",), ends=("kernel",),
            ports=tuple(sorted({p.source_port for p in ports if p.source_port})) or None,
        ) if ports else ()  # fmt: skip


def _seen(fate: Fate, found: tuple[Traffic, ...], number: int, *, what: str = DATAGRAM) -> Iterator[Observation]:
    if number > 0:
        yield Observation(fate=fate, what=what, legs=found, number=number, of=number)


def datagrams(cluster: Cluster, judged: Iterable[FlowJudgement]) -> tuple[Observation, ...]:
    """Return what became of the datagrams of these paths by their verdicts; nothing of a path that is not decided."""
    return tuple(seen for one in judged for seen in _of_path(cluster, one))


def _of_path(cluster: Cluster, one: FlowJudgement) -> Iterator[Observation]:
    way, ports = _Way(cluster, one.probe), whole(one.probe)
    match one.verdict:
        case FlowVerdict.PASSES:
            yield from way.full(Fate.PASSED, ports)
            yield from way.small(Fate.PASSED, ports)
            yield from way.messages()
        case FlowVerdict.SMALL_LOST | FlowVerdict.SMALL_IN_PART:
            yield from way.full(Fate.PASSED, ports)
            yield from way.messages()
        case FlowVerdict.SHORT_MEMBER:
            yield from way.full(Fate.LOST, one.ports)
            yield from way.full(Fate.PASSED, [p for p in ports if is_fine(p)])
            yield from way.small_answered(one.ports)
        case FlowVerdict.DEAD_MEMBER:
            yield from way.full(Fate.LOST, one.ports)
            yield from way.small(Fate.LOST, one.ports)
            yield from way.full(Fate.PASSED, [p for p in ports if is_fine(p)])
        case FlowVerdict.LARGE_LOST:
            yield from way.full(Fate.LOST, ports)
            yield from way.small_answered(one.ports)
        case FlowVerdict.NONE | FlowVerdict.OTHER_HOST:
            yield from way.full(Fate.LOST, ports)
            yield from way.small(Fate.LOST, one.probe.ports)
            yield from way.blocks(Fate.LOST, cut(one.probe), sum(p.sent for p in cut(one.probe)))
        case FlowVerdict.IN_PART | FlowVerdict.LOSSY_MEMBER if one.probe.turns:
            yield from _by_port(way, [p.source_port for p in one.ports] * (one.verdict is FlowVerdict.LOSSY_MEMBER))
        case FlowVerdict.IN_PART if isinstance(cluster.flows, Flows):
            yield from _in_part(way, cluster.flows, ports)
        case FlowVerdict.REFUSED | FlowVerdict.NO_ROUTE:
            yield from _refused(way, one)
        case _:
            return


def lost_on_some(cluster: Cluster, judged: Sequence[FlowJudgement], number: int) -> tuple[Observation, ...]:
    """Return that so many of the datagrams of these paths did not reach the target; on which is not known."""
    found = tuple(leg for one in judged for leg in _Way(cluster, one.probe).legs_of_full(whole(one.probe)))
    of = sum(one.probe.datagrams for one in judged)
    return (Observation(fate=Fate.LOST, what=DATAGRAM, legs=found, number=number, of=of),)


def _in_part(way: _Way, flows: Flows, ports: Ports) -> Iterator[Observation]:
    """Yield the loss of those that the target did not count, of the sizes of which some got no answer.

    Which size they have is not known where several have missing answers: each of them is a leg then. Where a size lost
    all, the other sizes belong to it: the verdict is that size is not the reason.
    """
    probe, pieces = way.probe, cut(way.probe)
    sizes = (
        (way.legs_of_full(ports), [(p.sent, p.answered) for p in ports]),
        (way.legs_of_small(probe.ports), [(p.small_sent, p.small_answered) for p in probe.ports]),
        (way.legs_of_blocks(pieces), [(p.sent, p.answered) for p in pieces]),
        (way.legs_beside_blocks(pieces), [(p.full_sent, p.full_answered) for p in pieces]),
    )
    counted = [(found, sum(sent for sent, _ in of), sum(back for _, back in of)) for found, of in sizes]
    sent_sizes = [one for one in counted if one[1]]
    silent = [one for one in sent_sizes if one[2] < one[1]]
    least, most = lost_here(flows, probe)
    number = min(least or most, sum(sent - back for _, sent, back in silent))
    of_those = silent if number < sum(sent for _, sent, _ in silent) else sent_sizes
    if number:
        found = tuple(leg for found, _, _ in of_those for leg in found)
        of = sum(sent for _, sent, _ in of_those)
        yield Observation(fate=Fate.LOST, what=DATAGRAM, legs=found, number=number, of=of)


def _by_port(way: _Way, lossy: Sequence[int]) -> Iterator[Observation]:
    """Yield what became of the datagrams that were counted by source port: those of the ports of a bad link apart from
    the others; else all together, and with their ports where each port lost some."""
    counts = lost_by_port(way.probe.turns)
    payload = payload_for(way.probe.expected_mtu, way.version)
    for own in ([p for p in counts if p in lossy], [p for p in counts if p not in lossy]) if lossy else (list(counts),):
        lost, of = (sum(counts[port][place] for port in own) for place in (0, 1))
        is_known = bool(lossy) or all(one for one, _ in counts.values())
        found = way.legs_of_full([FlowPort(port if is_known else 0, payload) for port in own])
        yield Observation(fate=Fate.LOST if lost else Fate.PASSED, what=DATAGRAM, legs=found, number=lost or of, of=of)


def _refused(way: _Way, one: FlowJudgement) -> Iterator[Observation]:
    """Yield what the sender's own filter or routes refused, or a host that answered that a filter refuses it."""
    here = [p for p in one.ports if one.verdict is FlowVerdict.NO_ROUTE or p.error in OWN_FILTER]
    yield from way.refused(here, by=(one.probe.from_node,))
    elsewhere = [p for p in one.ports if p not in here and p.prohibited_by]
    for address in sorted({p.prohibited_by for p in elsewhere}):
        by = (one.probe.to_node,) if address == one.probe.destination_ip else ()
        yield from way.refused([p for p in elsewhere if p.prohibited_by == address], by, address)


def blocks_in_fragments(cluster: Cluster, verdict: CutVerdict, probes: Iterable[FlowProbe]) -> tuple[Observation, ...]:
    """Return what became of the blocks in fragments of paths with this verdict; nothing where it is not decided.

    What another host answered did not pass to the target: the verdict on the datagrams of the path has it as lost.
    """
    flows = cluster.flows
    if not isinstance(flows, Flows):
        return ()
    cut_paths = tuple(probes)
    uncounted = {node: uncounted_at(flows, node) for node in {probe.to_node for probe in cut_paths}}
    return tuple(
        seen
        for probe in cut_paths
        if verdict is CutVerdict.DROPPED or uncounted[probe.to_node] < probe.datagrams
        for seen in _of_cut(cluster, verdict, probe)
    )


def _of_cut(cluster: Cluster, verdict: CutVerdict, probe: FlowProbe) -> Iterator[Observation]:
    """Where each source port has an answer, those that were answered passed; else the target counted all."""
    way, ports = _Way(cluster, probe), cut(probe)
    if verdict is CutVerdict.PASSES:
        each_answered = all(p.answered for p in ports)
        yield from way.blocks(Fate.PASSED, ports, sum(p.answered if each_answered else p.sent for p in ports))
    elif verdict is CutVerdict.DROPPED:
        yield from way.blocks(Fate.LOST, ports, sum(p.sent for p in ports))
    else:
        return
    yield from way.full_answered(ports)
    yield from way.small_answered(ports)
