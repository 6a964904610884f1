"""Every field of the facts that can hold text, found by walking their types; and facts with another text in one."""

from __future__ import annotations

import builtins
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec

_TIME = "2026-11-20T19:00:00.000+01:00"


@dataclass(frozen=True)
class TextField:
    """A field of a struct that holds a text, several, or a table with texts."""

    kind: type[msgspec.Struct]
    name: str

    def __str__(self) -> str:
        return f"{self.kind.__name__}.{self.name}"

    @property
    def hint(self) -> Any:
        return get_type_hints(self.kind)[self.name]


@cache
def text_fields(root: type[msgspec.Struct]) -> tuple[TextField, ...]:
    """Return the fields of the struct and of all structs in it, each class once."""
    return tuple(TextField(kind, name) for kind in _kinds(root) for name, hint in _hints(kind) if _holds_text(hint))


def _kinds(root: type[msgspec.Struct]) -> list[type[msgspec.Struct]]:
    found = [root]
    for kind in found:
        found += [inner for _, hint in _hints(kind) for inner in dict.fromkeys(_structs(hint)) if inner not in found]
    return list(dict.fromkeys(found))


@cache
def _hints(kind: type[msgspec.Struct]) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(kind)
    return tuple((name, hints[name]) for name in kind.__struct_fields__)


def _structs(hint: Any) -> Iterator[type[msgspec.Struct]]:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        yield hint
    for inner in get_args(hint):
        yield from _structs(inner)


def _holds_text(hint: Any) -> bool:
    return hint is str or any(map(_holds_text, get_args(hint)))


def with_text(value: Any, field: TextField, change: Callable[[str], str]) -> Any:
    """Return the value with each text of that field changed; an empty list or table gets one item."""
    if isinstance(value, msgspec.Struct):
        changed = {}
        for name in value.__struct_fields__:
            before = getattr(value, name)
            if type(value) is field.kind and name == field.name:
                changed[name] = _retold(before, field.hint, change)
            elif isinstance(before, msgspec.Struct | dict | tuple):
                after = with_text(before, field, change)
                if after is not before:
                    changed[name] = after
        return msgspec.structs.replace(value, **changed) if changed else value
    if isinstance(value, dict):
        items = {key: with_text(each, field, change) for key, each in value.items()}
        return value if all(items[key] is value[key] for key in value) else items
    if isinstance(value, tuple):
        parts = tuple(with_text(each, field, change) for each in value)
        return value if all(a is b for a, b in zip(parts, value, strict=True)) else parts
    return value


def _retold(value: Any, hint: Any, change: Callable[[str], str]) -> Any:
    if type(value) is str:
        return change(value)
    if isinstance(value, tuple) and value:
        return tuple(_retold(each, Any, change) for each in value)
    if isinstance(value, dict) and value:
        return {change(key): _retold(each, Any, change) for key, each in value.items()}
    return _one_item(value, get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,), change)


def _one_item(value: Any, parts: tuple[Any, ...], change: Callable[[str], str]) -> Any:
    """Return one text where there is none, if the field can hold it."""
    if str in parts:
        return change("")
    for part in parts:
        if get_origin(part) is dict:
            of = get_args(part)[1]
            return {change(""): change("") if of is str else filled(of)}
        if get_origin(part) is tuple:
            return (filled(get_args(part)[0], change("")),)
    return value


def filled(hint: Any, text: str = "1") -> Any:
    """Return a value of the type in which each field has something, and each text is this one."""
    if hint in (str, int, float, bool, Any):
        return {str: text, int: 1, float: 1.0, bool: True, Any: text}[hint]
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return hint(**{name: filled(inner, _TIME if name.endswith("_at") else text) for name, inner in _hints(hint)})
    if isinstance(hint, type) and issubclass(hint, Enum):
        return next(iter(hint))
    inner = get_args(hint)
    match get_origin(hint):
        case builtins.tuple:
            return tuple(filled(one, text) for one in inner if one is not ...)
        case builtins.dict:
            return {filled(inner[0], text): filled(inner[1], text)}
        case typing.Annotated:
            return filled(inner[0], text)
        case typing.Literal:
            return inner[0]
    return filled(inner[0], text)


def holds(value: Any, field: TextField, text: str) -> bool:
    """Whether the text is anywhere in the value, at that field."""
    if isinstance(value, msgspec.Struct):
        own = getattr(value, field.name) if type(value) is field.kind else ()
        return text in _texts(own) or any(holds(getattr(value, name), field, text) for name in value.__struct_fields__)
    each = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else ()
    return any(holds(one, field, text) for one in each)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from _texts(each)
