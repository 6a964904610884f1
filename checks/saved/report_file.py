"""A report as JSON, read as if a stranger had written it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from checks.model.report import SCHEMA, Report
from checks.report.json_report import from_json
from checks.saved.manifest import SavedError, damaged, newer

_SETTINGS_BYTES = 1_000_000
"""Of the settings in it at most: 1,000 waivers of the longest have less. They are read as they come, into objects many
times as large; all else has a form that it is held to."""
_DEEPEST = 20
"""Tables within tables in these settings."""
_LONG_NUMBER = re.compile(rb"[0-9]{21}")
_TEXT_OR_NUMBER = re.compile(rb'"(?:[^"\\]+|\\.)*+"|[0-9]{21,}')
"""A text, so that no digits in it count, or a number of more digits than 64 bits have: no kernel, clock or database
counts so far, and arithmetic with it has no bounds."""
_WITHOUT_WEIGHT = b" \t\r\n[]{}"
"""What stands between texts and numbers without holding them apart; there can be megabytes of it."""
_CLUSTER_NODES = 300
"""A cluster has 255 nodes at most."""
_OF_PAIRS = 300_000
"""What there is one of for each two nodes and network: 255 nodes on four networks have 260,000."""
_MOST = {
    "nodes": _CLUSTER_NODES,
    "setups": _CLUSTER_NODES,
    "networks": 100,
    "paths": _OF_PAIRS,
    "findings": 5_000,
    "journal": 500_000,
    "reruns": 10_000,
    "waivers": 1_000,
    "instances": 1_100,
    "transfers": _OF_PAIRS,
    "pings": _OF_PAIRS,
}
"""How many there can be in a report that racwire wrote, and some more. What is made of them takes time and memory by
their number, or by its square: a file of a few megabytes could hold a screen up for hours. Instances are as many as an
Oracle control file takes (MAXINSTANCES), waivers as the settings take."""

_WORDS = {"setups": "nodes", "journal": "entries in its journal", "transfers": "pairs of instances",
          "pings": "pairs of instances", "networks": "private networks"}  # fmt: skip


class _Outline(msgspec.Struct, frozen=True):
    schema: str
    settings: msgspec.Raw = msgspec.Raw(b"{}")


def report_in(data: bytes, path: object) -> Report:
    """The report, of the file at `path`. Raises SavedError."""
    try:
        outline = msgspec.json.decode(data, type=_Outline)
        _refuse_newer(outline.schema, path)
        if len(outline.settings) > _SETTINGS_BYTES or _depth(msgspec.json.decode(outline.settings)) > _DEEPEST:
            raise SavedError(f"{path} could not be read: the settings in it are none that racwire writes.")
        if _LONG_NUMBER.search(data) and _has_a_number_without_end(data):
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
                f"writes has more than {_MOST[name]:,}; ask whoever made it."
            )
    return report


def _has_a_number_without_end(data: bytes) -> bool:
    texts_and_numbers = _TEXT_OR_NUMBER.finditer(data.translate(None, _WITHOUT_WEIGHT))
    return any(found[0][:1] != b'"' for found in texts_and_numbers)


def _lists_of(report: Report) -> Iterator[tuple[str, object]]:
    """The lists in it that have a limit, by their names there; what is not known is none."""
    cluster = report.cluster
    yield from ((name, getattr(report, name)) for name in ("findings", "journal", "reruns", "waivers"))
    yield from ((name, getattr(cluster, name)) for name in ("nodes", "setups", "networks", "paths"))
    for of_database in (cluster.database, cluster.activity, cluster.history):
        for name in ("instances", "transfers", "pings"):
            yield name, getattr(of_database, name, ())


def _refuse_newer(schema: str, path: object) -> None:
    if schema != SCHEMA and re.fullmatch(r"racwire-report/\d{1,4}", schema):
        raise newer(path, schema, SCHEMA)


def _unlike_a_report(path: object, error: Exception) -> SavedError:
    cause = error.__cause__ if error.__cause__ is not None else error
    why = "it is nested too deep" if isinstance(cause, RecursionError) else str(cause)[:200]
    return SavedError(f"{path} holds no report that this racwire can read: {why}; open it with the one that made it.")


def _depth(value: Any) -> int:
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        one, depth = waiting.pop()
        deepest = max(deepest, depth)
        if isinstance(one, (dict, list)):
            waiting.extend((inner, depth + 1) for inner in (one.values() if isinstance(one, dict) else one))
    return deepest
