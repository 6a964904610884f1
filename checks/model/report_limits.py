"""The limits of a report in a file that is not trusted: no report that racwire writes exceeds one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from checks.model.finding import Finding
from checks.model.investigation import SessionRecord
from checks.model.report import Report

_SETTINGS_BYTES = 1_000_000
"""The largest accepted settings of a report; 1,000 waivers of the greatest length have less. Settings have no schema,
so they become objects many times as large; all other parts have a schema."""
_DEEPEST = 20
"""The deepest accepted nesting of tables in the settings."""
_CLUSTER_NODES = 300
"""A cluster has 255 nodes at most."""
_OF_PAIRS = 300_000
"""Most entries that exist once for each pair of nodes and network: 255 nodes on four networks have 260,000."""
_MOST = {
    "nodes": _CLUSTER_NODES,
    "setups": _CLUSTER_NODES,
    "networks": 100,
    "paths": _OF_PAIRS,
    "findings": 5_000,
    "journal": 500_000,
    "reruns": 10_000,
    "waivers": 1_000,
    "measurements": 100,
    "sessions": 100,
    "answers": 2_000,
    "instances": 1_100,
    "transfers": _OF_PAIRS,
    "pings": _OF_PAIRS,
    "former": 5_000,
    "episodes": 20_000,
    "conditions": _OF_PAIRS,
}
"""The longest accepted lists, longer than in any report that racwire writes. Time and memory grow with their length, or
with its square: a file of a few megabytes could block a screen for hours. The limit of instances is that of an Oracle
control file (MAXINSTANCES), the limit of waivers is that of the settings."""

_WORDS = {"setups": "nodes", "journal": "entries in its journal", "transfers": "pairs of instances",
          "pings": "pairs of instances", "networks": "private networks", "former": "former findings",
          "episodes": "events", "sessions": "sessions of `racwire investigate`",
          "answers": "answers in a session"}  # fmt: skip
_TIMES = (-6e10, 2.5e11)
"""No time of a situation is outside: the first and the last year that a calendar has."""


def settings_fit(settings: bytes | msgspec.Raw) -> bool:
    """Return whether the settings of a report, as JSON, are no larger and no deeper than racwire's own.

    Raises msgspec.DecodeError where they are no JSON.
    """
    return len(settings) <= _SETTINGS_BYTES and _depth(msgspec.json.decode(settings)) <= _DEEPEST


def too_long_list(report: Report) -> tuple[str, int, int] | None:
    """Return a list that is longer than any that racwire writes: what it lists, how many, and the most; None where
    there is none."""
    for name, several in _lists_of(report):
        if isinstance(several, tuple) and len(several) > _MOST[name]:
            return _WORDS.get(name, name), len(several), _MOST[name]
    return None


def without_impossible_situation(report: Report) -> Report:
    """Return the report without its situation where a time in that is none."""
    possible = report.situation is None or all(_TIMES[0] < number < _TIMES[1] for number in _floats(report.situation))
    return report if possible else msgspec.structs.replace(report, situation=None)


def without_impossible_sessions(report: Report) -> Report:
    """Return the report without the sessions of guided troubleshooting that have a time that is none."""
    possible = tuple(s for s in report.sessions if all(_TIMES[0] < time < _TIMES[1] for time in _times_of(s)))
    return report if len(possible) == len(report.sessions) else msgspec.structs.replace(report, sessions=possible)


def _times_of(session: SessionRecord) -> Iterator[float]:
    yield from (session.started_at, session.run_at)
    yield from (answer.at for answer in session.answers)
    yield from (ending.at for ending in session.endings)


def _floats(value: object) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, msgspec.Struct) and not isinstance(value, Finding):
        for name in value.__struct_fields__:
            yield from _floats(getattr(value, name))
    elif isinstance(value, tuple):
        for item in value:
            yield from _floats(item)


def _lists_of(report: Report) -> Iterator[tuple[str, object]]:
    """The lists of a report that have a limit, by name; empty where a fact is not known."""
    cluster, situation = report.cluster, report.situation
    yield from ((name, getattr(situation, name, ())) for name in ("findings", "former", "episodes", "conditions"))
    own = ("findings", "journal", "reruns", "waivers", "measurements", "sessions")
    yield from ((name, getattr(report, name)) for name in own)
    yield from (("answers", session.answers) for session in report.sessions[: _MOST["sessions"]])
    yield from ((name, getattr(cluster, name)) for name in ("nodes", "setups", "networks", "paths"))
    for of_database in (cluster.database, cluster.activity, cluster.history):
        for name in ("instances", "transfers", "pings"):
            yield name, getattr(of_database, name, ())


def _depth(value: Any) -> int:
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        one, depth = waiting.pop()
        deepest = max(deepest, depth)
        if isinstance(one, (dict, list)):
            waiting.extend((inner, depth + 1) for inner in (one.values() if isinstance(one, dict) else one))
    return deepest
