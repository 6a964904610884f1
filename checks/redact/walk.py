"""Yield the texts and the structs of a report, a fact or a sample, and copy it with other texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, TypeVar, cast

import msgspec

from checks.model.condition import Condition
from checks.redact.fields import (
    FIXED_KEYS,
    STRUCTS_WITHOUT_NAMES,
    UNCHANGED_SETTINGS,
    UNCHANGED_VALUES,
    Treatment,
    treatment_of,
    treatment_of_item,
)
from checks.traffic.source_id import SourceId

T = TypeVar("T", bound=msgspec.Struct)


def structs(value: object) -> Iterator[msgspec.Struct]:
    """Yield the struct itself, and all structs in it."""
    if isinstance(value, STRUCTS_WITHOUT_NAMES):
        return
    if isinstance(value, msgspec.Struct):
        yield value
        for field in value.__struct_fields__:
            yield from structs(getattr(value, field))
    elif isinstance(value, dict):
        for item in value.values():
            yield from structs(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from structs(item)


def texts(value: object, treatment: Treatment = Treatment.REPLACE) -> Iterator[tuple[Treatment, str]]:
    """Yield every text in a value, with its treatment."""
    if isinstance(value, STRUCTS_WITHOUT_NAMES):
        return
    if isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            own = getattr(value, field)
            own = tuple(own.values()) if (type(value), field) in FIXED_KEYS else own
            yield from texts(own, treatment_of(type(value), field))
    elif isinstance(value, Enum):
        return
    elif isinstance(value, SourceId):
        yield treatment, value.short
    elif isinstance(value, str):
        yield treatment, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts(key, treatment)
            yield from texts(item, treatment)
    elif isinstance(value, Condition):
        yield from ((treatment, value.node), (treatment_of_item(value), value.item), (treatment, value.peer))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from texts(item, treatment)


def rebuilt(value: T, replace: Callable[[Treatment, str], str]) -> T:
    """Return a copy with every text and every DBID replaced; other numbers and enums are unchanged."""
    return cast(T, _struct(value, replace))


def rebuilt_settings(value: Any, replace: Callable[[Treatment, str], str]) -> Any:
    """Return a copy of the settings with every value replaced that can contain a name; the keys are unchanged."""
    if isinstance(value, dict):
        return {
            key: item if key in UNCHANGED_SETTINGS else rebuilt_settings(item, replace) for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return type(value)(rebuilt_settings(item, replace) for item in value)
    return _rebuilt(value, Treatment.REPLACE, replace)


def _rebuilt(value: Any, treatment: Treatment, replace: Callable[[Treatment, str], str]) -> Any:
    if isinstance(value, msgspec.Struct):
        return _struct(value, replace)
    if isinstance(value, Enum):
        return value
    if isinstance(value, SourceId):
        return value.renamed(lambda name: replace(treatment, name))
    if isinstance(value, str):
        return replace(treatment, value)
    if isinstance(value, dict):
        return {_rebuilt(k, treatment, replace): _rebuilt(v, treatment, replace) for k, v in value.items()}
    if isinstance(value, Condition):
        node, peer = replace(treatment, value.node), replace(treatment, value.peer)
        return value._replace(node=node, item=replace(treatment_of_item(value), value.item), peer=peer)
    if isinstance(value, (list, tuple)):
        make = getattr(type(value), "_make", type(value))  # a named tuple takes no iterable
        return make(_rebuilt(item, treatment, replace) for item in value)
    return value


def _is_empty(value: msgspec.Struct) -> bool:
    """Return whether a struct has nothing but defaults. It stays the same object: a default is left out of files."""
    return all(getattr(value, field) in ("", (), None) for field in value.__struct_fields__)


def _struct(value: msgspec.Struct, replace: Callable[[Treatment, str], str]) -> msgspec.Struct:
    kind = type(value)
    if kind in STRUCTS_WITHOUT_NAMES or _is_empty(value):
        return value
    changed: dict[str, Any] = {}
    for field in kind.__struct_fields__:
        old = getattr(value, field)
        treatment = treatment_of(kind, field)
        if treatment is Treatment.DATABASE_ID:
            changed[field] = int(replace(treatment, str(old)))
            continue
        if isinstance(old, (int, float)) or old is None or UNCHANGED_VALUES.get((kind, field)) == old:
            continue
        if treatment is Treatment.UNCHANGED and not isinstance(old, msgspec.Struct):
            continue
        if (kind, field) in FIXED_KEYS:
            changed[field] = {key: _rebuilt(item, treatment, replace) for key, item in old.items()}
            continue
        changed[field] = rebuilt_settings(old, replace) if field == "settings" else _rebuilt(old, treatment, replace)
    return msgspec.structs.replace(value, **changed)
