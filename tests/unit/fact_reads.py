"""Who reads each field of a fact: the field's own descriptor notes the package of the code that asked."""

from __future__ import annotations

import sys
import typing
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from checks.model.facts import Cluster, CounterGroup, KernelCounters, Node, SystemCounters, Thresholds, Unknown
from checks.model.facts.base import MissingRight

JUDGING = ("checks.plugins", "checks.rules", "checks.diagnosis")
"""The packages whose reading of a fact can decide what a run says. The model reads for its caller."""
_PASSED_ON = ("checks.model", "typing", "functools", "tests.unit.fact_reads")
_NO_FACTS = (Unknown, MissingRight, Thresholds)
"""Reasons, and settings: these are no facts about a cluster."""


@cache
def fields() -> dict[type, tuple[str, ...]]:
    """Return the own fields of every fact that is reachable from a cluster; those of a change alone left out."""
    found: dict[type, tuple[str, ...]] = {}
    pending: list[Any] = [Cluster]
    while pending:
        kind = pending.pop()
        pending += typing.get_args(kind)
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind not in found:
            if issubclass(kind, _NO_FACTS) or kind.__module__.endswith("change_facts"):
                continue
            hints = typing.get_type_hints(kind)
            found[kind] = tuple(name for name in kind.__struct_fields__ if name in kind.__dict__)
            pending += [hints[name] for name in kind.__struct_fields__]
            pending += kind.__mro__[1:-1]
    return {kind: own for kind, own in found.items() if own}


def names() -> tuple[str, ...]:
    """Return `Interface.mtu` and all others, sorted."""
    return tuple(sorted(f"{kind.__name__}.{name}" for kind, own in fields().items() for name in own))


def reader(frame: FrameType | None) -> str:
    """Return the module that asked, behind the model."""
    while frame is not None:
        module: str = frame.f_globals.get("__name__", "")
        if not module.startswith(_PASSED_ON):
            return module
        frame = frame.f_back
    return ""


class _Noted:
    """Takes the place of the descriptor of a field until a judging package has read the field."""

    def __init__(self, kind: type, name: str, left: dict[str, _Noted]) -> None:
        self.kind, self.name, self.left = kind, name, left
        self.own = kind.__dict__[name]
        self.key = f"{kind.__name__}.{name}"
        left[self.key] = self
        setattr(kind, name, self)

    def __get__(self, fact: Any, of: type | None = None) -> Any:
        if fact is None:
            return self
        if self.key in self.left and reader(sys._getframe(1)).startswith(JUDGING):
            self.restore()
            del self.left[self.key]
        return self.own.__get__(fact, of)

    def __set__(self, fact: Any, value: Any) -> None:
        self.own.__set__(fact, value)

    def restore(self) -> None:
        setattr(self.kind, self.name, self.own)


@contextmanager
def unread() -> Iterator[Mapping[str, object]]:
    """Yield the fields that no judging package has read yet, by name: fewer and fewer."""
    left: dict[str, _Noted] = {}
    every = [_Noted(kind, name, left) for kind, own in fields().items() for name in own]
    try:
        yield left
    finally:
        for noted in every:
            noted.restore()


class _Asked(dict[str, Any]):
    """A mapping that notes which of its names a judging package reads; `*` where it reads all of them."""

    def __init__(self, known: Mapping[str, Any], kind: str, asked: set[str]) -> None:
        super().__init__(known)
        self._kind, self._asked = kind, asked

    def _note(self, name: str) -> None:
        if reader(sys._getframe(2)).startswith(JUDGING):
            self._asked.add(f"{self._kind}{name}")

    def get(self, name: str, default: Any = None) -> Any:
        self._note(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> Any:
        self._note(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self._note(str(name))
        return super().__contains__(name)

    def items(self) -> Any:
        self._note("*")
        return super().items()

    def values(self) -> Any:
        self._note("*")
        return super().values()

    def __iter__(self) -> Iterator[str]:
        self._note("*")
        return super().__iter__()


def note_names(cluster: Cluster, asked: set[str]) -> None:
    """Let the mappings of a cluster note the names that are read of them: `sysctl NAME`, `nics NAME`, `Udp.NAME`."""
    for fact in tuple(facts(cluster)):
        if isinstance(fact, Node):
            force_setattr(fact, "sysctls", _Asked(fact.sysctls, "sysctl ", asked))
        elif isinstance(fact, SystemCounters):
            groups = {name: getattr(fact, name) for name in ("nics", "cpus", "stalls", "drivers")}
            groups["memory"] = (fact.memory,)
            for kind, of_kind in groups.items():
                for group in () if isinstance(of_kind, Unknown) else of_kind:
                    if isinstance(group, CounterGroup):
                        force_setattr(group, "counts", _Asked(group.counts, f"{kind} ", asked))
        elif isinstance(fact, KernelCounters):
            named = {group: _Asked(of, f"{group}.", asked) for group, of in fact.groups.items()}
            force_setattr(fact, "groups", named)


def facts(of: object) -> Iterator[msgspec.Struct]:
    """Yield every fact in this one, itself first, each object once."""
    known: set[int] = set()
    pending = [of]
    while pending:
        one = pending.pop()
        if isinstance(one, msgspec.Struct) and id(one) not in known:
            known.add(id(one))
            yield one
            pending += [getattr(one, name) for name in one.__struct_fields__]
        elif isinstance(one, Mapping):
            pending += one.values()
        elif isinstance(one, Iterable) and not isinstance(one, str):
            pending += one
