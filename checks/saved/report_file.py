"""Read a report as JSON. The report is not trusted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from checks.model.impossible_values import without_impossible
from checks.model.report import SCHEMA, Report
from checks.model.sanitize import has_a_number_without_end
from checks.report.json_report import SCHEMA_OF_0_2_0, from_json
from checks.saved.manifest import SavedError, damaged, newer

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
    "instances": 1_100,
    "transfers": _OF_PAIRS,
    "pings": _OF_PAIRS,
}
"""The longest accepted lists, longer than in any report that racwire writes. Time and memory grow with their length, or
with its square: a file of a few megabytes could block a screen for hours. The limit of instances is that of an Oracle
control file (MAXINSTANCES), the limit of waivers is that of the settings."""

_WORDS = {"setups": "nodes", "journal": "entries in its journal", "transfers": "pairs of instances",
          "pings": "pairs of instances", "networks": "private networks"}  # fmt: skip


class _Outline(msgspec.Struct, frozen=True):
    schema: str
    settings: msgspec.Raw = msgspec.Raw(b"{}")


def report_in(data: bytes, path: object) -> Report:
    """Decode the report of the file `path`, with impossible facts Unknown.

    Raises SavedError where it is no report, or exceeds a limit.
    """
    try:
        outline = msgspec.json.decode(data, type=_Outline)
        _refuse_newer(outline.schema, path)
        if len(outline.settings) > _SETTINGS_BYTES or _depth(msgspec.json.decode(outline.settings)) > _DEEPEST:
            raise SavedError(f"{path} was not read: its settings are too large or too deep for racwire's own.")
        if has_a_number_without_end(data):
            raise SavedError(f"{path} could not be read: a number in it is larger than anything that is counted.")
        report = from_json(data)
    except msgspec.DecodeError as error:
        if isinstance(error, msgspec.ValidationError):
            raise _unlike_a_report(path, error) from None
        raise damaged(path) from None
    except (ValueError, RecursionError) as error:
        raise _unlike_a_report(path, error) from None
    for name, several in _lists_of(report):
        if isinstance(several, tuple) and len(several) > _MOST[name]:
            raise SavedError(
                f"{path} was not opened: it has {len(several):,} {_WORDS.get(name, name)}, and no report that racwire "
                f"writes has more than {_MOST[name]:,}; ask the person who sent it."
            )
    cluster = without_impossible(report.cluster, is_redacted=report.is_redacted)
    return report if cluster is report.cluster else msgspec.structs.replace(report, cluster=cluster)


def _lists_of(report: Report) -> Iterator[tuple[str, object]]:
    """The lists of a report that have a limit, by name; empty where a fact is not known."""
    cluster = report.cluster
    yield from ((name, getattr(report, name)) for name in ("findings", "journal", "reruns", "waivers", "measurements"))
    yield from ((name, getattr(cluster, name)) for name in ("nodes", "setups", "networks", "paths"))
    for of_database in (cluster.database, cluster.activity, cluster.history):
        for name in ("instances", "transfers", "pings"):
            yield name, getattr(of_database, name, ())


def _refuse_newer(schema: str, path: object) -> None:
    if schema not in (SCHEMA, SCHEMA_OF_0_2_0) and re.fullmatch(r"racwire-report/\d{1,4}", schema):
        raise newer(path, schema, SCHEMA)


def _unlike_a_report(path: object, error: Exception) -> SavedError:
    cause = error.__cause__ if error.__cause__ is not None else error
    why = "it is nested too deep" if isinstance(cause, RecursionError) else str(cause)[:200]
    return SavedError(
        f"{path} has no report that this racwire can read: {why}; open it with the racwire that wrote it."
    )


def _depth(value: Any) -> int:
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        one, depth = waiting.pop()
        deepest = max(deepest, depth)
        if isinstance(one, (dict, list)):
            waiting.extend((inner, depth + 1) for inner in (one.values() if isinstance(one, dict) else one))
    return deepest
