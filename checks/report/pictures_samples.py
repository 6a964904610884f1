"""What was sampled around the report, as pictures: traffic of the private interfaces, lost blocks, failed reassemblies.

The rates are those of the Traffic screen (`checks.traffic.rates`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from statistics import median

from checks.model.facts import Cluster, Unknown
from checks.model.wording import counted, few
from checks.report.pictures import Curve, Figure, Strip, nice_top, strip
from checks.report.pictures_places import DrawnSpan, TrafficPlaces, stretch_of
from checks.report.quantities import bits, rate, seconds, whole
from checks.rules import cache_fusion
from checks.traffic.rates import highest, instance_rates, interface_rates, kernel_rates
from checks.traffic.recording import Recording
from checks.traffic.samples import Event, Gap, InstanceSample, NodeSample, Sample
from checks.traffic.timeline import Track

_LONGEST_S = 60.0
"""The longest interval between two samples that can be set: so much earlier the first one may have begun."""
_MOST_REASONS = 6
_NEVER = "never sampled"


@dataclass(frozen=True)
class Sampled:
    """What a track shows."""

    figures: tuple[Figure, ...]
    sentences: tuple[str, ...]
    """When, how often, what nothing is known of, and what was all in order and needs no picture."""


@dataclass
class _Gathered:
    """Everything of a track that is drawn, gathered in one pass."""

    places: TrafficPlaces
    private: dict[tuple[str, str], str]
    """The private networks of the interfaces, by node and interface."""
    failed: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    nodes: dict[str, None] = field(default_factory=dict)
    instances: dict[str, None] = field(default_factory=dict)
    reasons: dict[tuple[str, str], None] = field(default_factory=dict)

    def heard_of(self, kind: str, sampled: Iterable[str]) -> tuple[str, ...]:
        """The nodes or instances: those that were sampled, and those of which only gaps are told."""
        told = (source.removeprefix(f"{kind} ") for source, _ in self.reasons if source.startswith(f"{kind} "))
        return tuple(dict.fromkeys((*sampled, *told)))

    def take(self, event: Event) -> None:
        """One event of the track."""
        if isinstance(event, NodeSample):
            self._take_node(event)
        elif isinstance(event, InstanceSample):
            self.instances[event.instance] = None
            self.lost[event.instance] += cache_fusion.lost(event.statistics) or 0
            self.places.put(("lost", event.instance), event.at, event.seconds, instance_rates(event).lost_per_s)
        elif isinstance(event, Gap):
            self.reasons[event.source, event.reason] = None

    def _take_node(self, sample: NodeSample) -> None:
        node = sample.node
        self.nodes[node] = None
        self.failed[node] += sample.counters.get("Ip.ReasmFails", 0)
        failed_per_s = kernel_rates(sample).reassembly_failed_per_s
        self.places.put(("failed", node), sample.at, sample.seconds, failed_per_s)
        for name, counts in sample.interfaces.items():
            rates = interface_rates(counts, sample.seconds) if (node, name) in self.private else None
            if rates:
                self.places.put(("in", node, name), sample.at, sample.seconds, rates.rx.bits_per_s)
                self.places.put(("out", node, name), sample.at, sample.seconds, rates.tx.bits_per_s)


def sampled(track: Track, cluster: Cluster, zone: tzinfo | None) -> Sampled | None:
    """The pictures of a track; None where it holds no samples. Raises RecordingError where it cannot be read."""
    stretch = _stretch(track)
    if stretch is None:
        return None
    gathered = _Gathered(TrafficPlaces(stretch), _private(track, cluster))
    for event in _events(track):
        gathered.take(event)
    if not gathered.nodes and not gathered.instances:
        return None
    times = _times(stretch, zone)
    axis = _axis(times)
    nodes = gathered.heard_of("node", gathered.nodes)
    instances = gathered.heard_of("instance", gathered.instances)
    traffic = [_traffic(gathered, network, axis) for network in dict.fromkeys(gathered.private.values())]
    drawn = [
        *(figure for figure in traffic if figure.strips),
        *_faults(gathered, axis, "lost", "Lost blocks", "block", gathered.lost, instances),
        *_faults(gathered, axis, "failed", "Failed reassemblies", "packet", gathered.failed, nodes),
    ]
    figures = tuple(item for item in drawn if isinstance(item, Figure))
    return Sampled(figures, (_what(stretch, times), *(i for i in drawn if isinstance(i, str)), *_doubts(gathered)))


def _stretch(track: Track) -> DrawnSpan | None:
    """From the beginning of the first sample to the end of the last."""
    span = track.span()
    if span is None:
        return None
    first, last = span
    firsts = [e for s in track.sources() for e in track.window(s, first - 0.001, first + _LONGEST_S)]
    lengths = [e.seconds for e in firsts if isinstance(e, NodeSample | InstanceSample) and 0 < e.seconds <= _LONGEST_S]
    begins = [e.at - e.seconds for e in firsts if isinstance(e, Sample) and 0 < e.seconds <= _LONGEST_S]
    return stretch_of(min([first, *begins]), last, median(lengths)) if lengths else None


def _events(track: Track) -> Iterator[Event]:
    """All of it. A recording is read through once; what is in memory is asked for source by source."""
    if isinstance(track, Recording):
        yield from track.events()
        return
    for source in track.sources():
        yield from track.window(source, float("-inf"), float("inf"))


def _private(track: Track, cluster: Cluster) -> dict[tuple[str, str], str]:
    """The ports of the private networks, in the order of networks and nodes."""
    networks = () if isinstance(cluster.networks, Unknown) else cluster.networks
    ports = {(port.node, port.interface): network.name for network in networks for port in network.ports}
    if ports:
        return ports
    links = [track.links(s.removeprefix("node "), float("inf")) for s in track.sources() if s.startswith("node ")]
    return {(known.node, link.name): link.network for known in links if known for link in known.links if link.network}


def _times(stretch: DrawnSpan, zone: tzinfo | None) -> tuple[datetime, ...]:
    """The beginning, the middle and the end by the clock of the node; nothing where these are no times."""
    try:
        middle = (stretch.begin + stretch.end) / 2
        return tuple(datetime.fromtimestamp(at, zone).astimezone(zone) for at in (stretch.begin, middle, stretch.end))
    except (OverflowError, OSError, ValueError):
        return ()


def _axis(times: tuple[datetime, ...]) -> tuple[str, ...]:
    if not times:
        return ()
    form = "%H:%M:%S" if times[0].date() == times[-1].date() else "%m-%d %H:%M"
    return tuple(f"{time:{form}}" for time in times)


def _what(stretch: DrawnSpan, times: tuple[datetime, ...]) -> str:
    when = f" from {times[0]:%Y-%m-%d %H:%M:%S} {times[0].isoformat()[-6:]} on" if times else ""
    length, step = seconds(stretch.end - stretch.begin), seconds(stretch.step_s)
    return f"Sampled for {length}{when}; the pictures show the highest of each {step}."


def _doubts(gathered: _Gathered) -> Iterator[str]:
    if not gathered.private:
        yield "Which interfaces are private is not known, so that their traffic is not drawn."
    never = {f"node {name}" for name in gathered.heard_of("node", ()) if name not in gathered.nodes}
    never |= {f"instance {name}" for name in gathered.heard_of("instance", ()) if name not in gathered.instances}
    reasons = list(gathered.reasons)
    for source, reason in reasons[:_MOST_REASONS]:
        yield f"{'Never sampled' if source in never else 'Not sampled for a time'}: {source}. {reason}"
    if len(reasons) > _MOST_REASONS:
        yield f"{counted(len(reasons) - _MOST_REASONS, 'further reason')} why something was not sampled not told here."


def _traffic(gathered: _Gathered, network: str, axis: tuple[str, ...]) -> Figure:
    """All ports of a private network, to one scale."""
    places = gathered.places
    nodes = gathered.heard_of("node", gathered.nodes)
    of_network = [port for port, its in gathered.private.items() if its == network]
    is_drawn = any(("in", *port) in places for port in of_network)
    ports = [port for port in of_network if is_drawn and port[0] in nodes]
    most = max((highest(places.values((way, *p))) or 0.0 for p in ports for way in ("in", "out")), default=0.0)
    top = nice_top(most)
    strips = tuple(_port(places, node, interface, top) for node, interface in ports)
    return Figure(
        f"Traffic on {network}",
        f"Bits each second, in and out. Full height is {bits(top)}.",
        strips,
        (("area", "in"), ("line", "out"), *_gap_sign(places, [("in", *p) for p in ports])),
        axis,
    )


def _port(places: TrafficPlaces, node: str, interface: str, top: float) -> Strip:
    into, out = places.values(("in", node, interface)), places.values(("out", node, interface))
    told = _NEVER
    if ("in", node, interface) in places:
        told = f"at most {bits(highest(into))} in, {bits(highest(out))} out{_missing(places, ('in', node, interface))}"
    title = f"Traffic of {interface} on {node} over time"
    return strip(f"{node} {interface}", (Curve(into, "area"), Curve(out, "line")), top, title, told)


def _faults(
    gathered: _Gathered,
    axis: tuple[str, ...],
    kind: str,
    title: str,
    noun: str,
    totals: Counter[str],
    names: Iterable[str],
) -> Iterator[Figure | str]:
    """What ought not to be, of each instance or node: a sentence where there was none of it at any time."""
    places = gathered.places
    every = list(names)
    known = [name for name in every if (kind, name) in places]
    if not known:
        return
    if not any(totals[name] for name in known):
        missing = [
            f"{seconds(unknown_s)} of {name}" if name in known else f"all of {name}"
            for name in every
            if (unknown_s := places.unknown_s((kind, name)))
        ]
        yield f"{title}: none at {few(known)}{f'; not known are {few(missing)}' if missing else ''}."
        return
    top = nice_top(max(highest(places.values((kind, name))) or 0.0 for name in known))
    yield Figure(
        title,
        f"{noun.capitalize()}s each second. Full height is {rate(top)}.",
        tuple(_fault(places, kind, name, top, title, totals[name]) for name in every),
        (("bars", title.lower()), *_gap_sign(places, [(kind, name) for name in every])),
        axis,
    )


def _fault(places: TrafficPlaces, kind: str, name: str, top: float, title: str, total: int) -> Strip:
    values = places.values((kind, name))
    told = _NEVER
    if (kind, name) in places:
        told = f"{whole(total)} in all, at most {rate(highest(values))}" if total else "none"
        told += _missing(places, (kind, name))
    return strip(name, (Curve(values, "bars"),), top, f"{title} of {name} over time", told)


def _missing(places: TrafficPlaces, key: tuple[str, ...]) -> str:
    unknown_s = places.unknown_s(key)
    return f"; nothing known of {seconds(unknown_s)}" if unknown_s else ""


def _gap_sign(places: TrafficPlaces, keys: Iterable[tuple[str, ...]]) -> tuple[tuple[str, str], ...]:
    return (("gap", "not known"),) if any(places.unknown_s(key) for key in keys) else ()
