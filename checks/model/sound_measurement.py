"""Whether a result can be what was measured. A file and a report of another person can hold any number."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from checks.model.measurement import Measurement

_MOST = 1e15
"""No time, count or rate of a network is as large, in any unit of a result."""
_POSITIVE = frozenset({"size", "train", "mtu"})


def is_sound(measurement: Measurement) -> bool:
    """Return whether every figure is of a path that the result names, and every number can have been measured."""
    return _is_sound(measurement, len(measurement.paths))


def sound(measurements: Iterable[Measurement]) -> tuple[Measurement, ...]:
    """Return the results that can be shown: those that are sound."""
    return tuple(one for one in measurements if is_sound(one))


def _is_sound(part: msgspec.Struct, paths: int) -> bool:
    return all(_is_value(name, getattr(part, name), paths) for name in part.__struct_fields__)


def _is_value(name: str, value: object, paths: int) -> bool:
    match value:
        case bool() | str() | None | dict():
            return True
        case int() | float():
            if not math.isfinite(value) or abs(value) >= _MOST or (name in _POSITIVE and value <= 0):
                return False
            return name != "path" or 0 <= value < paths
        case tuple():
            if name == "paths" and not all(isinstance(one, msgspec.Struct) for one in value):
                return bool(value) and all(isinstance(one, int) and 0 <= one < paths for one in value)
            return all(_is_value("", one, paths) for one in value)
        case msgspec.Struct():
            return _is_sound(value, paths)
    return True
