"""How heavy the load of a node's private links is in a stretch of samples, with its pings where some were sent."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo

from checks.model.interconnect_load import LoadWeight
from checks.rules.load_weight import PingedSample, UsedLink, heaviest, weigh
from checks.traffic.rates import interface_rates
from checks.traffic.samples import Event, InterfaceCounts, LatencySample, Link, Links, NodeSample
from checks.traffic.source_id import SourceId


def weight_of_samples(
    events: Mapping[SourceId, Sequence[Event]], links: Mapping[str, Links], node: str, zone: tzinfo | None = None
) -> LoadWeight:
    """Return how heavy the load of a node is: of its private links the one with the heaviest. The pings of a network
    count with the share of the busiest link of any node there in the time of each. `zone` is that of the time of day.
    """
    private = {name: [link for link in known.links if link.network] for name, known in links.items()}
    nodes = {
        name: [event for event in events.get(SourceId.node(name), ()) if isinstance(event, NodeSample)]
        for name in private
    }
    pings = [event for source in events.values() for event in source if isinstance(event, LatencySample)]
    found = []
    for link in private.get(node, ()):
        if used := _used(nodes[node], link, node, zone):
            shares = [
                [
                    (sample.at, sample.seconds, share)
                    for sample in nodes[name]
                    if (share := _share(sample, its)) is not None
                ]
                for name, every in private.items()
                for its in every
                if its.network == link.network
            ]
            found.append(weigh(used, tuple(_pinged(pings, link.network, shares))))
    return heaviest(found)


def _used(samples: Sequence[NodeSample], link: Link, node: str, zone: tzinfo | None) -> UsedLink | None:
    known = [(sample, counts) for sample in samples if (counts := sample.interfaces.get(link.name)) is not None]
    seconds = sum(sample.seconds for sample, _ in known)
    both = InterfaceCounts(
        rx_bytes=sum(counts.rx_bytes for _, counts in known), tx_bytes=sum(counts.tx_bytes for _, counts in known)
    )
    rates = interface_rates(both, seconds, link)
    if rates is None or rates.rx.share_percent is None or rates.tx.share_percent is None:
        return None
    try:
        as_of = f"{datetime.fromtimestamp(known[-1][0].at, zone):%H:%M:%S}"
    except (ValueError, OverflowError, OSError):  # a recording can contain any time
        return None
    return UsedLink(f"{link.name} of {node}", rates.rx.share_percent, rates.tx.share_percent, as_of, seconds)


def _share(sample: NodeSample, link: Link) -> float | None:
    counts = sample.interfaces.get(link.name)
    rates = interface_rates(counts, sample.seconds, link) if counts else None
    ways = (rates.rx.share_percent, rates.tx.share_percent) if rates else ()
    return max((share for share in ways if share is not None), default=None)


def _pinged(
    pings: Iterable[LatencySample], network: str, shares: Sequence[Sequence[tuple[float, float, float]]]
) -> Iterator[PingedSample]:
    """Yield the answered pings on a network; `shares` has (end, seconds, percent) of each link, in order of time."""
    ends = [[at for at, _, _ in of_link] for of_link in shares]
    for ping in pings:
        if ping.network != network or ping.p50_us is None or ping.max_us is None:
            continue
        middle = ping.at - ping.seconds / 2
        meanwhile = []
        for of_link, ended in zip(shares, ends, strict=True):
            place = bisect_left(ended, middle)
            if place < len(of_link) and of_link[place][0] - of_link[place][1] <= middle:
                meanwhile.append(of_link[place][2])
        if meanwhile:
            yield PingedSample(max(meanwhile), ping.payload, ping.received, ping.p50_us / 1000, ping.max_us / 1000)
