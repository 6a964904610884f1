"""Any field of the facts, by its path: what a case sets where no key of its own does it."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

Part = TypeVar("Part", bound=msgspec.Struct | tuple[Any, ...])


def with_values(facts: Part, values: dict[str, Any]) -> Part:
    """Return the facts with other values: a table goes into a fact, or into the element of a sequence whose first field
    is the key, such as the name of a node.

    Raises KeyError for a field or an element that is not there, msgspec.ValidationError for a value of another type.
    """
    if isinstance(facts, tuple):
        elements = {str(getattr(e, e.__struct_fields__[0])): e for e in facts}
        assert len(elements) == len(facts), f"no key for each of {facts}"
        new = {key: with_values(elements[key], value) for key, value in values.items()}
        return tuple({**elements, **new}.values())
    types = {field.name: field.type for field in msgspec.structs.fields(facts)}
    changes = {name: _changed(getattr(facts, name, None), value, types[name]) for name, value in values.items()}
    return msgspec.structs.replace(facts, **changes)


def _changed(old: object, value: object, kind: Any) -> object:
    if isinstance(value, dict) and "fact" not in value:
        if isinstance(old, msgspec.Struct | tuple):
            return with_values(old, value)
        if isinstance(old, dict):
            value = {**msgspec.to_builtins(old), **value}
    return msgspec.convert(value, kind)
