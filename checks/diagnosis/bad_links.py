"""A link of an aggregation that loses the flows that take it: all of their packets, or a share of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb

from checks.diagnosis.candidate import A_ROW, Candidate
from checks.diagnosis.cause import At, Cause, Touch
from checks.diagnosis.predict import LostPaths
from checks.diagnosis.seen import RARE, Loss, Pair, Seen, pair_of
from checks.model.hypothesis import Certainty, Footprint, How, Place
from checks.model.traffic import MOST, Traffic
from checks.rules.port_shares import SUSPECTS


def bad_links(cause: Cause, lost: LostPaths) -> Iterator[Candidate]:
    """Yield the link on each network on which some source ports of a path lose all, or a share, and others none; and
    each place where a share is lost and the source ports do not tell whether all lose alike."""
    for touch in cause.patterns:
        if touch.how is How.STOPS:
            yield from _shown_by_ports(cause, touch, lost)
        else:
            yield from (one for one in lost.candidates(cause, touch) if not _each_port_loses(one, lost.seen))
    if any(touch.how is How.SHARE for touch in cause.patterns):
        yield from _shown_by_ports(cause, Touch(How.SHARE), lost)


def _shown_by_ports(cause: Cause, touch: Touch, lost: LostPaths) -> Iterator[Candidate]:
    """Yield the link that the source ports show on each network.

    Which flows of other packets take the link is not known: of these it explains no more losses than its share of the
    source ports allows.
    """
    is_share = touch.how is How.SHARE
    for network, losses in lost.by_network.items():
        short = [
            (loss, leg)
            for loss, leg in losses
            if loss.finding.code in cause.supported_by and leg.ports and loss.observation.is_total is not is_share
        ]
        if not short:
            continue
        certain = min(leg.sizes[0] for _, leg in short) if touch.is_sized else 0
        of_ports = [
            Traffic(networks=(network,), senders=g.senders, receivers=g.receivers, ports=g.ports) for _, g in short
        ]
        large = Traffic(sizes=(1501 if certain > 1500 else certain, MOST)) if certain else Traffic()
        effects = [Footprint(how=touch.how, traffic=traffic & large) for traffic in of_ports]
        pairs = frozenset(pair for _, leg in short if (pair := pair_of(leg)))
        nodes = lost.nodes.get(network, ())
        share = _share_of_ports(lost.seen, short)
        for kind in _FLOWS:
            own = kind & large & Traffic(networks=(network,))
            if not _too_many_flows(own, nodes, lost.seen, share, in_part=is_share):
                effects.append(Footprint(how=How.SHARE if is_share else How.FLOWS, traffic=own))
        yield Candidate(
            cause=cause,
            place=Place(networks=(network,), text=f"on {network}"),
            effects=tuple(effects),
            standing=Certainty.SUPPORTED,
            width=At.NETWORK.width,
            certain_from=certain,
            share_of_flows=share,
            pairs=pairs,
        )


_SELDOM = 0.05
"""The probability below which so many flows on one link are no chance: there are few flows, and a link that took
them all would explain everything. Ours."""
_FLOWS = (
    Traffic(protocols=("icmp",)),
    Traffic(protocols=("udp",), forms=("fragment",)),
    Traffic(protocols=("udp",), forms=("whole",)),
)
"""The kinds of packets of which it is not known which link their flows take."""


def _share_of_ports(seen: Seen, short: Sequence[tuple[Loss, Traffic]]) -> float:
    """Return the share of the source ports that lost, on the paths on which some did."""
    ways = {pair_of(leg): len(leg.ports or ()) for _, leg in short}
    of = sum(_ports_passed(seen, pair) + lost for pair, lost in ways.items() if pair)
    return sum(ways.values()) / of if of else 0.5


def _too_many_flows(kind: Traffic, nodes: Sequence[str], seen: Seen, share: float, *, in_part: bool) -> bool:
    """Return whether more flows of a kind are lost, whole or `in_part`, than one link's share of the flows explains."""
    networks = kind.networks or ()
    ways = [(network, s, r) for network in networks for s in nodes for r in nodes if s != r]
    sent = [
        0 < one.lost < one.of if in_part else one.lost == one.of
        for way in ways
        for one in seen.on.get(way, ())
        if one.leg <= kind and (one.leg.forms == ("fragment",) or not one.leg.ports)
    ]
    if in_part and kind.protocols == ("icmp",):
        share = 1 - (1 - share) ** 2  # the answer of a ping may take the link as well
    lost, of = sum(sent), len(sent)
    return bool(of) and 1 - _binomial(lost - 1, of, share) < _SELDOM


def _each_port_loses(made: Candidate, seen: Seen) -> bool:
    """Return whether so many source ports lose datagrams that they do not all take one link of two by chance. Those
    that were examined for their losses do not count."""
    lossy = clean = 0
    for pair in made.pairs:
        for sent in seen.on.get(pair, ()):
            ports = len(sent.leg.ports or ())
            if ports and sent.of >= A_ROW * ports:  # all of them, or those of a bad link
                lossy += max(0, ports - SUSPECTS) if sent.lost else 0
                clean += 0 if sent.lost else ports
    return bool(lossy) and 1 - _binomial(lossy - 1, lossy + clean, 0.5) < RARE


def _binomial(most: int, of: int, share: float) -> float:
    return sum(comb(of, k) * share**k * (1 - share) ** (of - k) for k in range(most + 1))


def _ports_passed(seen: Seen, pair: Pair) -> int:
    return len({port for sent in seen.on.get(pair, ()) if not sent.lost for port in sent.leg.ports or ()})
