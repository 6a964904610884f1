"""Converts recordings to runs: all those of one comparison together, since their stretches must have one length."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median

from checks.model.facts import Database, NotAsked, Unknown
from checks.model.wording import continued, counted
from checks.rules.measured_moment import moment_of
from checks.traffic.compare.disturbances import disturbed_text
from checks.traffic.compare.environment import are_alike, environment_of, of_database, piece_length, times_longer
from checks.traffic.compare.metrics import (
    BLOCKS,
    DATAGRAMS_IN,
    INSTANCE_METRICS,
    LOAD,
    NODE_METRICS,
    PATH_METRICS,
    PING_METRICS,
    SERVICE_METRICS,
    USER_METRICS,
    Metric,
)
from checks.traffic.compare.readings import COVERED, SERVICE, USERS, Rates, Readings, Recorded, Subject, read, time_of
from checks.traffic.compare.run import ComparedRun, ImportProblem, Measured
from checks.traffic.source_id import SourceKind

KIND = "recording"
_RAMP = 0.8
"""A first stretch with less than this share of the usual load is a ramp-up."""
_SAMPLED = 0.9
_MOST_GAPS = 4
_MOST_PIECES = 5000
_TOLERANCE = 0.1
_KINDS = ("node", "instance", USERS, SERVICE, "pings", "path")
_OF_INSTANCES = ("instance", USERS, "pings")
"""What a recording of another database adds: its nodes and paths are those of the first recording once more."""
_OF_NODES = (SourceKind.NODE, SourceKind.LATENCY, SourceKind.RACWIRE)


def runs_of(
    recordings: Sequence[tuple[str, Recorded]],
    *,
    others: Mapping[int, Sequence[tuple[str, Recorded]]] | None = None,
    skip_first_s: float = 0.0,
    stretch_s: float | None = None,
) -> tuple[list[ComparedRun], float]:
    """Return the recordings, each with its name, as runs in the same order, and the seconds of their stretches. A
    stretch is never shorter than the interval between samples, even if that was changed during the recording.

    `others`: by the place of a recording, those of other databases of the same cluster and time, whose instances are
    added to it. Raises RecordingError where a file is damaged, ImportProblem where another one does not fit.
    """
    lasting = [time_of(recording, skip_first_s)[1] for _, recording in recordings]
    interval_s = max((recording.header.interval_s for _, recording in recordings), default=1.0)
    least_s = max(interval_s, max(lasting, default=0.0) / _MOST_PIECES)
    piece_s = max(stretch_s or piece_length(lasting, interval_s), least_s)
    all_readings = [read(recording, piece_s, skip_first_s) for _, recording in recordings]
    beside = {place: tuple(more) for place, more in (others or {}).items() if more}
    for place, more in beside.items():
        _add_databases(all_readings[place], recordings[place], more)
    subjects = {kind: sorted({n for r in all_readings for n in r.subjects(kind)}) for kind in _KINDS}
    longest_s = max((readings.longest_s for readings in all_readings), default=0.0)
    times = fewest = max(math.ceil(longest_s / piece_s - _TOLERANCE), 1)
    measured = [_measured(readings, subjects, fewest) for readings in all_readings]
    if stretch_s is None:
        for longer in times_longer([[m.values for m in each] for each in measured]):
            times = longer * fewest
            measured = [_measured(readings, subjects, times) for readings in all_readings]
            if not any(are_alike([m.values for m in each]) for each in measured):
                break
    runs = [
        ComparedRun(
            kind=KIND,
            name=" with ".join((name, *(own for own, _ in beside.get(place, ())))),
            begun_at=recording.header.started_at,
            seconds=seconds,
            measured=tuple(found),
            environment=environment_of(recording.header, readings)
            | {key: value for _, other in beside.get(place, ()) for key, value in _of_other_database(other).items()},
            warnings=tuple(_warnings(readings, found, times, seconds, skip_first_s)),
            moment=moment_of(recording.header.cluster, readings.ports, readings.times),
            sampled=readings.sampled("node") | readings.sampled("instance"),
            are_values_independent=True,
        )
        for place, ((name, recording), readings, found, seconds) in enumerate(
            zip(recordings, all_readings, measured, lasting, strict=True)
        )
    ]
    return runs, times * piece_s


def _add_databases(readings: Readings, first: tuple[str, Recorded], others: Sequence[tuple[str, Recorded]]) -> None:
    """Add the instances of other recordings to the readings of the first one. Raises ImportProblem where a recording
    has no database, the same one, or another time; RecordingError where a file is damaged."""
    begin, end = readings.times
    readings.databases = {_database(*first): readings.subjects("instance")}
    for piece in readings.pieces:
        for name in [name for kind, name in piece if kind == SERVICE]:
            piece[SERVICE, f"{_database(*first)} {name}"] = piece.pop((SERVICE, name))
    for name, recording in others:
        database, (own_begin, own_s) = _database(name, recording), time_of(recording)
        if min(end, own_begin + own_s) - max(begin, own_begin) < COVERED * (end - begin):
            raise ImportProblem(f"{name} is not of the same time as {first[0]}: record both databases at once.")
        own = read(recording, readings.piece_s, times=(begin, end - begin))
        instances = own.subjects("instance")
        known = [one for each in readings.databases.values() for one in each]
        if database in readings.databases or set(known) & set(instances):
            raise ImportProblem(f"{name} and {first[0]} are of the same database, {database}: name one of each.")
        readings.databases[database] = instances
        readings.hosts |= own.hosts
        readings.disturbances += [one for one in own.disturbances if one.of_instance]
        for piece, added in zip(readings.pieces, own.pieces, strict=True):
            piece |= {subject: sums for subject, sums in added.items() if subject[0] in _OF_INSTANCES}
            piece |= {(SERVICE, f"{database} {name}"): sums for (kind, name), sums in added.items() if kind == SERVICE}
        for length, covered in own.lengths.get("instance", {}).items():
            lengths = readings.lengths.setdefault("instance", {})
            lengths[length] = lengths.get(length, 0.0) + covered
        for source, reasons in own.gaps.items():
            if source.kind not in _OF_NODES:
                readings.gaps.setdefault(source, []).extend(reasons)


def _of_other_database(recording: Recorded) -> dict[str, str]:
    """Return the facts about the database of a recording that should be equal in two runs, by name."""
    database = recording.header.cluster.database
    if not isinstance(database, Database):
        return {}
    return {f"{database.name} {name}": value for name, value in of_database(database).items()}


def _database(name: str, recording: Recorded) -> str:
    """Return the name of the database of a recording. Raises ImportProblem where it has none."""
    database = recording.header.cluster.database
    if not isinstance(database, Database):
        why = continued(database.reason) if isinstance(database, Unknown | NotAsked) else "record it with --connect"
        raise ImportProblem(f"{name} has no database: {why.rstrip('.')}.")
    return database.name


def _measured(readings: Readings, subjects: Mapping[str, Sequence[str]], pieces_each: int) -> list[Measured]:
    """The metrics of a run. `subjects` are those of all runs, by kind. If one subject was not sampled, there is no sum:
    otherwise a node that refuses ssh after the change would halve every sum, and fewer failures would look better."""
    stretches = readings.stretches(pieces_each)
    for stretch in stretches:
        for node in readings.subjects("node"):
            if ("node", node) in stretch:
                stretch["node", node] = _with_blocks(node, stretch, readings.instances_of(node))
    node_metrics = NODE_METRICS if readings.subjects("instance") else [_as_load(metric) for metric in NODE_METRICS]
    of_kind = zip(
        _KINDS, (node_metrics, INSTANCE_METRICS, USER_METRICS, SERVICE_METRICS, PING_METRICS, PATH_METRICS), strict=True
    )
    databases = readings.databases
    return [
        m
        for kind, metrics in of_kind
        for m in (
            _measured_databases(stretches, databases)
            if kind == "instance" and databases
            else _measured_kind(stretches, kind, subjects[kind], metrics)
        )
    ]


def _measured_databases(
    stretches: Sequence[dict[Subject, Rates]], databases: Mapping[str, Sequence[str]]
) -> Iterator[Measured]:
    """Yield each metric of all databases together, of each database, and of its instances. That of a database is no
    part that is left out where it has the verdict of all: each is compared with its own."""
    for stretch in stretches:
        for database, names in databases.items():
            stretch["database", database] = _summed([stretch.get(("instance", name), {}) for name in names])
    for one in _measured_kind(stretches, "database", [*databases], INSTANCE_METRICS):
        yield replace(one, part_of="")
    for database, names in databases.items():
        for one in _measured_kind(stretches, "instance", names, INSTANCE_METRICS):
            if one.part_of:
                yield replace(one, part_of=f"{database} {one.part_of}")


def _as_load(metric: Metric) -> Metric:
    """Without a database that counts the blocks, datagrams measure the load: a block is one datagram at every MTU."""
    return replace(metric, is_control=True, group=LOAD) if metric.name == DATAGRAMS_IN else metric


def _with_blocks(node: str, stretch: Mapping[Subject, Rates], instances: Sequence[str]) -> Rates:
    """The node's rates, with the blocks of its instances if all of these are known."""
    received = ("gc cr blocks received", "gc current blocks received")
    try:
        blocks = sum(stretch["instance", instance][name] for instance in instances for name in received)
    except KeyError:
        return stretch["node", node]
    return {**stretch["node", node], BLOCKS: blocks} if instances else stretch["node", node]


def _measured_kind(
    stretches: Sequence[Mapping[Subject, Rates]], kind: str, names: Sequence[str], metrics: Iterable[Metric]
) -> Iterator[Measured]:
    """Yield each metric for all subjects of a kind together, and for each subject."""
    together = [_summed([stretch.get((kind, name), {}) for name in names]) for stretch in stretches]
    alone = {name: [stretch.get((kind, name), {}) for stretch in stretches] for name in names}
    for metric in metrics:
        whole = [together] if metric.adds_up else []
        parts = alone if len(names) > 1 or not metric.adds_up else {}
        named = [(metric.name, "", rates) for rates in whole]
        of = "service " if kind == SERVICE else ""
        named += [(f"{of}{name} {metric.name}", metric.name if whole else "", rates) for name, rates in parts.items()]
        for name, part_of, all_rates in named:
            values = tuple(value for rates in all_rates if (value := _value(metric.formula, rates)) is not None)
            if values:
                yield Measured(
                    name=name,
                    unit=metric.unit,
                    values=values,
                    better=metric.better,
                    is_control=metric.is_control,
                    group=metric.group,
                    note=metric.note,
                    part_of=part_of,
                )


def _summed(all_rates: Sequence[Rates]) -> Rates:
    """The sums over all subjects, without the names that one subject does not have."""
    first, *others = all_rates or [{}]
    return {name: sum(rates[name] for rates in all_rates) for name in first if all(name in o for o in others)}


def _value(formula: Callable[[Rates], float], rates: Rates) -> float | None:
    try:
        value = formula(rates)
    except (KeyError, ZeroDivisionError):
        return None
    # Rounded, since a rank test would count rounding errors as differences.
    return float(f"{value:.9g}") if math.isfinite(value) else None


def _warnings(
    readings: Readings, measured: Sequence[Measured], pieces_each: int, seconds: float, skip_first_s: float
) -> Iterator[str]:
    if not readings.pieces:
        after = f" after the first {skip_first_s:g} s" if skip_first_s else ""
        yield f"The recording has {seconds:.0f} s{after}: less than one stretch of {readings.piece_s:g} s."
        return
    yield from readings.changes
    stretches, stretch_s = len(readings.pieces) // pieces_each, pieces_each * readings.piece_s
    if disturbed := disturbed_text(readings.disturbances, readings.times[0], stretch_s, stretches):
        yield disturbed
    for kind in filter(readings.is_uneven, sorted(readings.lengths, reverse=True)):
        shortest_s, longest_s = readings.intervals_s(kind)
        slowed = ", or racwire slowed down while the instances or the interconnect were in trouble"
        yield (
            f"The samples of {kind}s are {shortest_s:g} to {longest_s:g} s long: the interval was changed during the "
            f"recording, or a source was slow to answer{slowed if kind == 'instance' else ''}."
        )
    for source, reasons in list(readings.gaps.items())[:_MOST_GAPS]:
        yield f"{source}: {counted(len(reasons), 'gap')}, first: {reasons[0]}"
    if len(readings.gaps) > _MOST_GAPS:
        yield f"{counted(len(readings.gaps) - _MOST_GAPS, 'further source')} had gaps."
    for node, share in readings.sampled("node").items():
        if share < _SAMPLED:
            yield f"{node} was sampled during only {100 * share:.0f} % of the time."
        links = readings.links.get(node)
        if links is None or not any(link.network for link in links.links):
            yield f"The private interfaces of {node} are not known: their traffic is left out."
    load = next((m.values for m in measured if m.group == LOAD), ())
    if len(load) > 2 and load[0] < _RAMP * median(load):
        yield "The recording starts with less load than it has later: leave the ramp-up out with --skip-first."
