"""Pictures of the samples around a report: traffic of the private interfaces, lost blocks, failed reassemblies.

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
from checks.report.quantities import bits, rate, seconds, whole
from checks.report.time_slots import DrawnSpan, TimeSlots, drawn_span
from checks.rules import cache_fusion
from checks.traffic.rates import highest, instance_rates, interface_rates, kernel_rates
from checks.traffic.recording import all_events
from checks.traffic.samples import Event, Gap, InstanceSample, NodeSample, Sample
from checks.traffic.source_id import SourceId, SourceKind
from checks.traffic.timeline import Track

_LONGEST_S = 60.0
"""The longest interval between two samples that the settings allow. The first sample may have started that much
earlier."""
_MOST_REASONS = 6
_NEVER = "never sampled"


@dataclass(frozen=True)
class Sampled:
    """The pictures and sentences for a track of samples."""

    figures: tuple[Figure, ...]
    sentences: tuple[str, ...]
    """The time and interval of the samples, the missing samples, and the counts that are 0 and need no picture."""


@dataclass
class _TrackFigures:
    """All figures of a track that are drawn, collected in one pass."""

    slots: TimeSlots
    private: dict[tuple[str, str], str]
    """The private network of each private interface, by node and interface."""
    failed: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    nodes: dict[str, None] = field(default_factory=dict)
    instances: dict[str, None] = field(default_factory=dict)
    reasons: dict[tuple[SourceId, str], None] = field(default_factory=dict)

    def names_of(self, kind: SourceKind, sampled: Iterable[str]) -> tuple[str, ...]:
        """Return the names of the nodes or instances: those with samples, and those that have only gaps."""
        with_gaps = (source.name for source, _ in self.reasons if source.kind is kind)
        return tuple(dict.fromkeys((*sampled, *with_gaps)))

    def take(self, event: Event) -> None:
        """Add one event of the track."""
        if isinstance(event, NodeSample):
            self._take_node(event)
        elif isinstance(event, InstanceSample):
            self.instances[event.instance] = None
            self.lost[event.instance] += cache_fusion.lost(event.statistics) or 0
            self.slots.put(("lost", event.instance), event.at, event.seconds, instance_rates(event).lost_per_s)
        elif isinstance(event, Gap):
            self.reasons[event.source, event.reason] = None

    def _take_node(self, sample: NodeSample) -> None:
        node = sample.node
        self.nodes[node] = None
        self.failed[node] += sample.counters.get("Ip.ReasmFails", 0)
        failed_per_s = kernel_rates(sample).reassembly_failed_per_s
        self.slots.put(("failed", node), sample.at, sample.seconds, failed_per_s)
        for name, counts in sample.interfaces.items():
            rates = interface_rates(counts, sample.seconds) if (node, name) in self.private else None
            if rates:
                self.slots.put(("in", node, name), sample.at, sample.seconds, rates.rx.bits_per_s)
                self.slots.put(("out", node, name), sample.at, sample.seconds, rates.tx.bits_per_s)


def sampled(track: Track, cluster: Cluster, zone: tzinfo | None) -> Sampled | None:
    """Return the pictures of a track; None where it has no samples. Raises RecordingError where it cannot be read."""
    span = _span(track)
    if span is None:
        return None
    collected = _TrackFigures(TimeSlots(span), _private(track, cluster))
    for event in all_events(track):
        collected.take(event)
    if not collected.nodes and not collected.instances:
        return None
    times = _times(span, zone)
    axis = _axis(times)
    nodes = collected.names_of(SourceKind.NODE, collected.nodes)
    instances = collected.names_of(SourceKind.INSTANCE, collected.instances)
    traffic = [_traffic(collected, network, axis) for network in dict.fromkeys(collected.private.values())]
    drawn = [
        *(figure for figure in traffic if figure.strips),
        *_problem_figure(collected, axis, "lost", "Lost blocks", "block", collected.lost, instances),
        *_problem_figure(collected, axis, "failed", "Failed reassemblies", "packet", collected.failed, nodes),
    ]
    figures = tuple(item for item in drawn if isinstance(item, Figure))
    return Sampled(
        figures, (_span_sentence(span, times), *(i for i in drawn if isinstance(i, str)), *_missing_samples(collected))
    )


def _span(track: Track) -> DrawnSpan | None:
    """The time from the start of the first sample to the end of the last sample."""
    span = track.span()
    if span is None:
        return None
    first, last = span
    firsts = [e for s in track.sources() for e in track.window(s, first - 0.001, first + _LONGEST_S)]
    lengths = [e.seconds for e in firsts if isinstance(e, NodeSample | InstanceSample) and 0 < e.seconds <= _LONGEST_S]
    begins = [e.at - e.seconds for e in firsts if isinstance(e, Sample) and 0 < e.seconds <= _LONGEST_S]
    return drawn_span(min([first, *begins]), last, median(lengths)) if lengths else None


def _private(track: Track, cluster: Cluster) -> dict[tuple[str, str], str]:
    """The private network of each private interface, in the order of networks and nodes."""
    networks = () if isinstance(cluster.networks, Unknown) else cluster.networks
    ports = {(port.node, port.interface): network.name for network in networks for port in network.ports}
    if ports:
        return ports
    links = [track.links(s.name, float("inf")) for s in track.sources() if s.kind is SourceKind.NODE]
    return {(known.node, link.name): link.network for known in links if known for link in known.links if link.network}


def _times(span: DrawnSpan, zone: tzinfo | None) -> tuple[datetime, ...]:
    """The start, the middle and the end by the clock of the node; empty where these are outside the calendar."""
    try:
        middle = (span.begin + span.end) / 2
        return tuple(datetime.fromtimestamp(at, zone).astimezone(zone) for at in (span.begin, middle, span.end))
    except (OverflowError, OSError, ValueError):
        return ()


def _axis(times: tuple[datetime, ...]) -> tuple[str, ...]:
    if not times:
        return ()
    form = "%H:%M:%S" if times[0].date() == times[-1].date() else "%m-%d %H:%M"
    return tuple(f"{time:{form}}" for time in times)


def _span_sentence(span: DrawnSpan, times: tuple[datetime, ...]) -> str:
    when = f", since {times[0]:%Y-%m-%d %H:%M:%S} {times[0].isoformat()[-6:]}" if times else ""
    length, step = seconds(span.end - span.begin), seconds(span.step_s)
    return f"Sampled for {length}{when}; the pictures show the highest value in each {step}."


def _missing_samples(collected: _TrackFigures) -> Iterator[str]:
    if not collected.private:
        yield "The private interfaces are not known, so no picture shows their traffic."
    answered = {SourceKind.NODE: collected.nodes, SourceKind.INSTANCE: collected.instances}
    reasons = list(collected.reasons)
    for source, reason in reasons[:_MOST_REASONS]:
        is_never = source.kind in answered and source.name not in answered[source.kind]
        yield f"{'Never sampled' if is_never else 'Not sampled for a time'}: {source}. {reason}"
    if len(reasons) > _MOST_REASONS:
        yield f"{counted(len(reasons) - _MOST_REASONS, 'further reason')} for missing samples not listed here."


def _traffic(collected: _TrackFigures, network: str, axis: tuple[str, ...]) -> Figure:
    """The traffic of all ports of a private network, with one scale."""
    slots = collected.slots
    nodes = collected.names_of(SourceKind.NODE, collected.nodes)
    of_network = [port for port, name in collected.private.items() if name == network]
    is_drawn = any(("in", *port) in slots for port in of_network)
    ports = [port for port in of_network if is_drawn and port[0] in nodes]
    most = max((highest(slots.values((way, *p))) or 0.0 for p in ports for way in ("in", "out")), default=0.0)
    top = nice_top(most)
    strips = tuple(_port(slots, node, interface, top) for node, interface in ports)
    return Figure(
        f"Traffic on {network}",
        f"Bits per second, in and out. Full height is {bits(top)}.",
        strips,
        (("area", "in"), ("line", "out"), *_gap_sign(slots, [("in", *p) for p in ports])),
        axis,
    )


def _port(slots: TimeSlots, node: str, interface: str, top: float) -> Strip:
    into, out = slots.values(("in", node, interface)), slots.values(("out", node, interface))
    caption = _NEVER
    if ("in", node, interface) in slots:
        caption = (
            f"at most {bits(highest(into))} in, {bits(highest(out))} out{_missing(slots, ('in', node, interface))}"
        )
    title = f"Traffic of {interface} on {node} over time"
    return strip(f"{node} {interface}", (Curve(into, "area"), Curve(out, "line")), top, title, caption)


def _problem_figure(
    collected: _TrackFigures,
    axis: tuple[str, ...],
    kind: str,
    title: str,
    noun: str,
    totals: Counter[str],
    names: Iterable[str],
) -> Iterator[Figure | str]:
    """Yield the picture of a problem count (lost blocks, failed reassemblies) of each instance or node; a sentence if
    the count is always 0."""
    slots = collected.slots
    every = list(names)
    known = [name for name in every if (kind, name) in slots]
    if not known:
        return
    if not any(totals[name] for name in known):
        missing = [
            f"{seconds(unknown_s)} of {name}" if name in known else f"all of {name}"
            for name in every
            if (unknown_s := slots.unknown_s((kind, name)))
        ]
        yield f"{title}: none on {few(known)}{f'; not known: {few(missing)}' if missing else ''}."
        return
    top = nice_top(max(highest(slots.values((kind, name))) or 0.0 for name in known))
    yield Figure(
        title,
        f"{noun.capitalize()}s per second. Full height is {rate(top)}.",
        tuple(_problem_strip(slots, kind, name, top, title, totals[name]) for name in every),
        (("bars", title.lower()), *_gap_sign(slots, [(kind, name) for name in every])),
        axis,
    )


def _problem_strip(slots: TimeSlots, kind: str, name: str, top: float, title: str, total: int) -> Strip:
    values = slots.values((kind, name))
    caption = _NEVER
    if (kind, name) in slots:
        caption = f"{whole(total)} in all, at most {rate(highest(values))}" if total else "none"
        caption += _missing(slots, (kind, name))
    return strip(name, (Curve(values, "bars"),), top, f"{title} of {name} over time", caption)


def _missing(slots: TimeSlots, key: tuple[str, ...]) -> str:
    unknown_s = slots.unknown_s(key)
    return f"; not known for {seconds(unknown_s)}" if unknown_s else ""


def _gap_sign(slots: TimeSlots, keys: Iterable[tuple[str, ...]]) -> tuple[tuple[str, str], ...]:
    return (("gap", "not known"),) if any(slots.unknown_s(key) for key in keys) else ()
