"""A report as JSON, read as if a stranger had written it."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from checks.report.json_report import from_json
from checks.result import SCHEMA, Report
from checks.saved.errors import SavedError
from checks.saved.manifest import damaged, newer

_SETTINGS_BYTES = 1_000_000
"""Of the settings in it at most: 1,000 waivers of the longest have less. They are read as they come, into objects many
times as large; all else has a form that it is held to."""
_DEEPEST = 20
"""Tables within tables in these settings."""
_TEXT_OR_NUMBER = re.compile(rb'"(?:[^"\\]+|\\.)*+"|[0-9]{21,}')
"""A text, so that no digits in it count, or a number of more digits than 64 bits have: no kernel, clock or database
counts so far, and arithmetic with it has no bounds."""


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
        if any(found[0][:1] != b'"' for found in _TEXT_OR_NUMBER.finditer(data)):
            raise SavedError(f"{path} could not be read: a number in it is larger than anything that is counted.")
        return from_json(data)
    except msgspec.DecodeError as error:
        if isinstance(error, msgspec.ValidationError):
            raise _unlike_a_report(path, error) from None
        raise damaged(path) from None
    except (ValueError, RecursionError) as error:
        raise _unlike_a_report(path, error) from None


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
