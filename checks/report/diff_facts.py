"""Compares the facts of two reports, to explain why their findings differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from checks.model.facts import (
    Activity,
    Cluster,
    Clusterware,
    CounterChanges,
    Database,
    InstanceActivity,
    Node,
    PathProbe,
)
from checks.model.measurement import Measurement
from checks.model.report import Report
from checks.model.sound_measurement import sound
from checks.model.wording import counted, listed
from checks.report.age import time_text
from checks.report.measurement_headline import headline
from checks.report.quantities import milliseconds, rate
from checks.rules.cache_fusion import average_cr_receive_ms, average_current_receive_ms, lost, per_second
from checks.rules.measured_moment import misfit, moment_of
from checks.rules.receive_time import is_unusual
from checks.traffic.compare.comparison import ComparisonVerdict
from checks.traffic.compare.comparison_verdict import Runs, compare
from checks.traffic.imports.measurement_result import run_of

MUCH = 1.5
"""The factor by which two rates, shares or times must differ to count as different. The value is racwire's own: rates
over the few seconds of a run differ by a third where nothing has changed."""


def differ(one: float, other: float) -> bool:
    """Whether one of the two is more than `MUCH` times the other."""
    return one != other and max(one, other) > MUCH * min(one, other)


_ABSENT = "not in the report"
_COUNTERS = {"failed reassemblies": ("Ip", "ReasmFails"), "receive-buffer errors": ("Udp", "RcvbufErrors")}
_NOT_OF_THE_CLUSTER = ("console", "waivers")
"""Sections of the settings that do not change the result of a check. Waivers are compared with the findings."""

Values = dict[str, str]
"""The text of each fact, by the name of the thing that has it."""


class FactChange(msgspec.Struct, frozen=True):
    """A fact that differs between the two reports."""

    group: str
    """`Nodes`, `Networks`, `Interfaces`, `Paths`, `Instances`, `Rates`, `Measurements`, `Versions`, `Settings`."""
    name: str
    """The thing that the fact describes: `eth1 of rac2`."""
    before: str
    after: str


def fact_changes(before: Report, after: Report, *, by_name: bool = True) -> tuple[FactChange, ...]:
    """Return all differences, group by group. Where names do not mean the same in both reports (`by_name` is false),
    only versions are compared: settings contain names."""
    one, other = before.cluster, after.cluster
    groups: list[tuple[str, Values | None, Values | None, bool]] = [
        ("Nodes", _nodes(one), _nodes(other), True),
        ("Networks", _networks(one), _networks(other), True),
        ("Interfaces", _interfaces(one), _interfaces(other), False),
        ("Paths", _paths(one), _paths(other), False),
        ("Instances", _instances(one), _instances(other), True),
    ]
    found = [change for group in groups for change in _differing(*group)] if by_name else []
    found += _rates(one, other) if by_name else []
    found += _measured_anew(_belonging(before), _belonging(after)) if by_name else []
    found += _differing("Versions", _versions(before, by_name), _versions(after, by_name), False)
    if by_name:
        found += _differing("Settings", _flat(before.settings), _flat(after.settings), False)
    return tuple(found)


def _differing(group: str, before: Values | None, after: Values | None, absent: bool) -> Iterator[FactChange]:
    """Yield what differs, if both reports know the group. `absent`: yield also the things that only one report has."""
    if before is None or after is None:
        return
    for name in [*before, *(name for name in after if name not in before)]:
        one, other = before.get(name, _ABSENT), after.get(name, _ABSENT)
        if one != other and (absent or _ABSENT not in (one, other)):
            yield FactChange(group, name, one, other)


def _nodes(cluster: Cluster) -> Values | None:
    if not isinstance(cluster.nodes, tuple):
        return None
    return {node.name: "read" if isinstance(node, Node) else "could not be read" for node in cluster.nodes}


def _networks(cluster: Cluster) -> Values | None:
    if not isinstance(cluster.networks, tuple):
        return None
    return {n.name: f"MTU {n.mtu}" if isinstance(n.mtu, int) else "MTU not known" for n in cluster.networks}


def _interfaces(cluster: Cluster) -> Values:
    return {
        f"{interface.name} of {node.name}": f"MTU {interface.mtu}{'' if interface.is_up else ', down'}"
        for node in cluster.read_nodes()
        for interface in node.interfaces
    }


def _paths(cluster: Cluster) -> Values | None:
    if not isinstance(cluster.paths, tuple):
        return None
    return {f"{p.network} {p.from_node} -> {p.to_node}": _path(p) for p in cluster.paths}


def _path(path: PathProbe) -> str:
    small = isinstance(path.path_mtu, int) and path.path_mtu != path.expected_mtu
    return f"{path.verdict}, {path.path_mtu} bytes pass" if small else f"{path.verdict} ({path.expected_mtu} bytes)"


def _instances(cluster: Cluster) -> Values | None:
    if not isinstance(cluster.database, Database):
        return None
    queried = {i.name: f"up since {i.startup_time[:19].replace('T', ' ')}" for i in cluster.database.instances}
    return queried | {i.name: "could not be queried" for i in cluster.database.unasked}


def _rates(before: Cluster, after: Cluster) -> Iterator[FactChange]:
    """Yield the rates and average times that both reports have and that differ by `MUCH`. Times that are usual in both
    reports explain nothing and are left out."""
    one, other = dict(_measured(before)), dict(_measured(after))
    for name, (left, formatted) in one.items():
        right = other[name][0] if name in other else left
        matters = formatted is rate or is_unusual(max(left, right), before.thresholds, after.thresholds)
        if matters and differ(left, right):
            yield FactChange("Rates", name, formatted(left), formatted(right))


def _measured(cluster: Cluster) -> Iterator[tuple[str, tuple[float, Callable[[float], str]]]]:
    """Yield the name of each rate or time, its value, and the function that formats it."""
    if isinstance(cluster.activity, Activity) and isinstance(cluster.database, Database):
        for own in cluster.activity.instances:
            if isinstance(own, InstanceActivity):
                name = cluster.database.instance_name(own.instance)
                figures = {
                    "lost blocks": (per_second(lost(own.statistics), own.seconds), rate),
                    "CR blocks arrive in": (average_cr_receive_ms(own.statistics), milliseconds),
                    "current blocks arrive in": (average_current_receive_ms(own.statistics), milliseconds),
                }
                yield from (
                    (f"{name} {what}", (v, formatted)) for what, (v, formatted) in figures.items() if v is not None
                )
    if isinstance(cluster.counters, CounterChanges):
        for node in cluster.counters.nodes:
            for what, (group, counter) in _COUNTERS.items():
                value = per_second(node.counters.value(group, counter), node.seconds)
                if value is not None:
                    yield f"{node.node} {what}", (value, rate)


def _belonging(report: Report) -> tuple[Measurement, ...]:
    """Return the results that belong to the cluster of a report: those at another MTU are those of another time."""
    moment = moment_of(report.cluster)
    return tuple(one for one in sound(report.measurements) if misfit(one, moment) is None)


def _measured_anew(before: Sequence[Measurement], after: Sequence[Measurement]) -> Iterator[FactChange]:
    """Yield each kind whose newest result is another one, and differs by the tests of `racwire compare`."""
    newer = {one.kind: one for one in after}
    for one in before:
        other = newer.get(one.kind, one)
        if other == one:
            continue
        comparison = compare([Runs(run_of(one, "before"), run_of(other, "after"))])
        counts = [
            f"{counted(len(found), 'figure')} {verdict}"
            for verdict in (ComparisonVerdict.WORSE, ComparisonVerdict.BETTER, ComparisonVerdict.DIFFERS)
            if (found := comparison.having(verdict))
        ]
        counts += ["the environment shifted"] if comparison.shifted else []
        if counts:
            left = f"{headline(one)}, {time_text(one.started_at)}"
            right = f"{headline(other)}, {time_text(other.started_at)} ({', '.join(counts)})"
            yield FactChange("Measurements", one.kind, left, right)


def _versions(report: Report, by_name: bool) -> Values:
    cluster = report.cluster
    found = dict(report.versions) | {"racwire": report.racwire_version}
    if isinstance(cluster.clusterware, Clusterware) and hasattr(cluster.clusterware.version, "version"):
        found["Clusterware"] = cluster.clusterware.version.version
    if by_name:
        found |= {f"kernel of {node.name}": node.kernel_release for node in cluster.read_nodes()}
        if isinstance(cluster.database, Database):
            found |= {f"instance {i.name}": i.version for i in cluster.database.instances}
    return found


def _flat(settings: Mapping[str, Any]) -> Values:
    """The settings by names such as `probe.packets`."""
    return {
        f"{section}.{name}": _value_text(value)
        for section, values in settings.items()
        if isinstance(values, dict) and section not in _NOT_OF_THE_CLUSTER
        for name, value in values.items()
    }


def _value_text(value: object) -> str:
    """The text for a value of the settings: `rac1 and rac2`, `yes`, `100`."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return listed(map(_value_text, value)) or "none"
    if isinstance(value, dict):
        return listed(f"{name} {_value_text(part)}" for name, part in value.items()) or "none"
    return "not set" if value is None or value == "" else str(value)
