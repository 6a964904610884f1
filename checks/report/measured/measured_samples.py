"""The samples of a result for `checks.report.openmetrics`, whose table says what each metric is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from statistics import median

from checks.model.facts import Unknown
from checks.model.measured_rate import MeasuredRate
from checks.model.measurement import (
    DrillOf,
    MeasuredHashes,
    MeasuredMix,
    MeasuredPath,
    MeasuredSizes,
    MeasuredStorage,
    Measurement,
)
from checks.report.measurement_headline import remark

Sample = tuple[str, tuple[str, ...], float | int | None]
"""A metric's name, the values of its labels in the order of the table, and its value. None is an unknown value."""
_Way = tuple[str, str, str]
"""The network, the sending and the receiving node."""
_ENDED = {"": "as_planned"}


def measured_samples(measurement: Measurement) -> Iterator[Sample]:
    """Yield the samples of a result: metric, values of its labels, and value."""
    doubt = remark(measurement)
    ended = _ENDED.get(doubt, doubt.replace(" ", "_"))
    yield "racwire_measured_timestamp_seconds", (measurement.kind, ended), unix_time(measurement.started_at)
    paths = measurement.paths
    match measurement.result:
        case MeasuredSizes() as result:
            yield from _sizes(result, paths)
        case MeasuredRate() as result:
            yield from _rate(result, paths)
        case MeasuredMix() as result:
            yield from _mix(result, paths)
        case MeasuredHashes() as result:
            for own in result.directions:
                way = _way(paths[own.path], own.is_towards_here)
                yield "racwire_measured_source_ports", (*way, "pass"), own.of - own.dead
                yield "racwire_measured_source_ports", (*way, "dead"), own.dead
        case MeasuredStorage() as result:
            yield from _storage(result)
        case DrillOf() as result:
            for silence in result.silences:
                labels = (*_way(paths[silence.path]), silence.protocol)
                yield "racwire_measured_silence_seconds", labels, silence.seconds


def _way(path: MeasuredPath, is_towards_here: bool = False) -> _Way:
    ends = (path.source_node, path.target_node)
    return (path.network, *(ends[::-1] if is_towards_here else ends))


def _sizes(result: MeasuredSizes, paths: tuple[MeasuredPath, ...]) -> Iterator[Sample]:
    for own in (one for one in result.summaries if one.train == 1):
        pace = "fixed_rate" if own.rate else "one_at_a_time"
        for quantile, value in (("0.5", own.p50_us), ("0.99", own.p99_us), ("0.999", own.p999_us)):
            labels = (*_way(paths[own.path]), f"{own.size}", pace, quantile)
            yield "racwire_measured_round_trip_seconds", labels, over(value, 1e6)
    yield from _losses("sizes", ((_way(paths[own.path]), own.sent, own.lost) for own in result.summaries))


def _rate(result: MeasuredRate, paths: tuple[MeasuredPath, ...]) -> Iterator[Sample]:
    best: dict[tuple[str, ...], float] = defaultdict(float)
    for own in (step for step in result.steps if len(step.paths) == 1):
        labels = (*_way(paths[own.paths[0]], own.is_towards_here), own.protocol)
        best[labels] = max(best[labels], own.received_bps)
    yield from (("racwire_measured_received_bits_per_second", labels, value) for labels, value in best.items())
    udp = (step for step in result.steps if step.protocol == "udp" and len(step.paths) == 1)
    ways = ((_way(paths[step.paths[0]], step.is_towards_here), step.sent, step.lost) for step in udp)
    yield from _losses("rate", ways)


def _mix(result: MeasuredMix, paths: tuple[MeasuredPath, ...]) -> Iterator[Sample]:
    is_here = any(one.is_towards_here for one in result.rounds)
    for own in result.summaries:
        priorities = {None: "", False: "_not_prioritised", True: "_prioritised"}[own.prioritised]
        company = f"{own.fullness or own.company}{priorities}"
        for quantile, value in (("0.5", own.p50_ms), ("0.95", own.p95_ms), ("0.99", own.p99_ms)):
            labels = (*_way(paths[own.path], is_here), own.flow_class, company, quantile)
            yield "racwire_measured_flow_seconds", labels, over(value, 1e3)


def _storage(result: MeasuredStorage) -> Iterator[Sample]:
    for direction, is_write in (("write", True), ("read", False)):
        rates = [one.transferred / one.seconds for one in result.rounds if one.is_write is is_write and one.seconds > 0]
        labels = (result.directory, direction)
        yield "racwire_measured_storage_bytes_per_second", labels, median(rates) if rates else None


def _losses(kind: str, counts: Iterable[tuple[_Way, int, int]]) -> Iterator[Sample]:
    """Yield the share of what was lost on each way, of all that was sent on it."""
    sums: dict[_Way, list[int]] = defaultdict(lambda: [0, 0])
    for way, sent, lost in counts:
        sums[way][0] += sent
        sums[way][1] += lost
    yield from (("racwire_measured_lost_ratio", (kind, *way), over(lost, sent)) for way, (sent, lost) in sums.items())


def over(dividend: float | Unknown | None, divisor: float | None) -> float | None:
    """Return the quotient; None where one of the numbers is not known, or the divisor is not above 0."""
    if dividend is None or isinstance(dividend, Unknown) or divisor is None or not divisor > 0:
        return None
    try:
        return dividend / divisor
    except OverflowError:
        return None


def unix_time(time: str) -> float | None:
    """Return the seconds since 1970; None where the text is no time with a zone."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo else None
