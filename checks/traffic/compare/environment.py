"""The facts that should be equal in two compared recordings, like the host configuration comparison of AWR."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

from checks.model.facts import Clusterware, Database, Unknown
from checks.traffic.compare.readings import Readings
from checks.traffic.compare.statistics import dependence_of
from checks.traffic.recording import Header

MTU = "MTU"
"""The last word in the names of the facts that are the change itself."""
_ANOTHER = 1.8
"""The ratio of two intervals from which on late samples cannot explain the difference."""


def environment_of(header: Header, readings: Readings) -> dict[str, str]:
    """Return the facts by name, without the facts that were not known at the time of the recording."""
    first = "instance" if "node" not in readings.lengths else "node"
    facts = {"seconds between samples": _between_samples(header, readings, first), "racwire": header.racwire_version}
    if first == "node" and "instance" in readings.lengths:
        facts["seconds between samples of instances"] = _between_samples(header, readings, "instance")
    for node, cpus in sorted(readings.cpus.items()):
        facts[f"{node} CPUs"] = str(cpus)
    for node, links in sorted(readings.links.items()):
        for link in links.links:
            if link.network:
                if link.mtu:
                    facts[f"{node} {link.name} {MTU}"] = str(link.mtu)
                facts[f"{node} {link.name} network"] = link.network
                if link.speed_mbps:
                    facts[f"{node} {link.name} speed"] = f"{link.speed_mbps} Mb/s"
    cluster = header.cluster
    for known in cluster.read_nodes():
        if known.kernel_release:
            facts[f"{known.name} kernel"] = known.kernel_release
        for name, value in sorted(known.sysctls.items()):
            if not isinstance(value, Unknown):
                facts[f"{known.name} {name}"] = " ".join(value.split())
    if isinstance(cluster.clusterware, Clusterware) and not isinstance(cluster.clusterware.version, Unknown):
        facts["Clusterware"] = cluster.clusterware.version.version
    nodes = sorted({*readings.subjects("node"), *(node.name for node in cluster.read_nodes())})
    facts["nodes"] = " ".join(nodes)
    if isinstance(cluster.database, Database):
        facts |= of_database(cluster.database)
    if instances := readings.subjects("instance"):
        facts["instances sampled"] = " ".join(instances)
    return facts


def _between_samples(header: Header, readings: Readings, kind: str) -> str:
    """The interval from the header; the interval of the samples where it was changed later, or slowed down."""
    shortest_s, longest_s = readings.intervals_s(kind)
    if readings.is_uneven(kind):
        return f"{shortest_s:g} to {longest_s:g}"
    least_s, most_s = sorted((shortest_s, header.interval_s))
    return f"{shortest_s if most_s >= _ANOTHER * least_s > 0 else header.interval_s:g}"


def of_database(database: Database) -> dict[str, str]:
    """Return the facts about a database, by name."""
    facts = {"database": database.name, "database version": database.version}
    facts["instances"] = " ".join(sorted(f"{i.name}@{i.host}" for i in database.instances))
    for instance in database.instances:
        facts[f"{instance.name} version"] = instance.version
    if not isinstance(database.parameters, Unknown):
        for parameter in database.parameters:
            facts[f"{database.instance_name(parameter.instance)} {parameter.name}"] = parameter.value or "(none)"
    return facts


FEWEST = 6
"""The fewest stretches for a verdict: fewer have no confidence interval."""
_SAMPLES = 10
_MOST = 60
_MOST_OF_LONGEST = 240
_ENOUGH = 12
_ALIKE = 0.3
"""The correlation of neighbouring stretches above which they are made longer."""
_ROUND_S = (1, 2, 5, 10, 15, 20, 30, 60, 90, 120, 180, 300, 600, 900, 1200, 1800, 3600, 7200, 14400)
_TIMES = (1, 2, 3, 4, 5, 6, 8, 10)


def piece_length(spans_s: Sequence[float], interval_s: float) -> float:
    """Return the shortest useful stretch in seconds, for runs of these lengths."""
    shortest = min(spans_s)
    least = max(_SAMPLES * interval_s, shortest / _MOST, min(max(spans_s) / _MOST_OF_LONGEST, shortest / _ENOUGH))
    rounded = next((float(length) for length in _ROUND_S if length >= least * 0.999), least)
    return rounded if shortest >= FEWEST * rounded else least


def times_longer(runs: Sequence[Sequence[Sequence[float]]]) -> list[int]:
    """Return the possible numbers of pieces in a stretch, smallest first. The shortest run keeps at least 12 stretches.

    `runs` are those of one comparison, each with the values of its pieces by metric.
    """
    pieces = min((max((len(values) for values in run), default=0) for run in runs), default=0)
    return [times for times in _TIMES if times == 1 or pieces // times >= _ENOUGH]


def are_alike(series: Sequence[Sequence[float]]) -> bool:
    """Return whether neighbouring stretches correlate in most metrics."""
    found = [dependence_of(values) for values in series if len(set(values)) > 1]
    return bool(found) and median(found) > _ALIKE


def thinned(values: Sequence[float]) -> tuple[float, ...]:
    """Return the values of another tool, with neighbours averaged: at most sixty, and fewer where neighbours
    correlate."""
    size = -(-len(values) // _MOST)
    averaged = _averaged(values, size)
    for times in _TIMES[1:]:
        if dependence_of(averaged) <= _ALIKE or len(values) // (size * times) < _ENOUGH:
            break
        averaged = _averaged(values, size * times)
    return averaged


def _averaged(values: Sequence[float], size: int) -> tuple[float, ...]:
    """The averages of groups of `size` values. An incomplete group at the end is dropped."""
    if size <= 1:
        return tuple(values)
    return tuple(fmean(values[start : start + size]) for start in range(0, len(values) - size + 1, size))
