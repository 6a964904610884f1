"""What grew between two pastes. A counter that fell was cleared in between, and shows nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from checks.model.pasted import Counter, FilterRule, Pasted, PortReading

_Name = TypeVar("_Name", bound=str)


class PortChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The growth of the counters of one port; only of those that both pastes have. Never negative."""

    device: str = ""
    name: str
    counters: dict[Counter, int] = msgspec.field(default_factory=dict)
    named: dict[str, int] = msgspec.field(default_factory=dict)
    queue_drops: dict[str, int] = msgspec.field(default_factory=dict)
    queue_drop_bytes: dict[str, int] = msgspec.field(default_factory=dict)
    policer_drops: dict[str, int] = msgspec.field(default_factory=dict)
    policer_drop_bytes: dict[str, int] = msgspec.field(default_factory=dict)
    is_cleared: bool = False
    """Whether its counters were cleared between the two, or the device restarted: then nothing grew that is known."""

    @property
    def key(self) -> tuple[str, str]:
        """Device and name."""
        return self.device, self.name.casefold()


class RuleChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The packets that a rule of a packet filter matched between the two; None where that is not known."""

    rule: FilterRule
    packets: int | None = None


class PasteDifference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What grew between two pastes, and what could not be compared."""

    ports: tuple[PortChange, ...] = ()
    rules: tuple[RuleChange, ...] = ()
    access_lists: tuple[RuleChange, ...] = ()
    inside: dict[str, int] = msgspec.field(default_factory=dict)
    cleared: tuple[tuple[str, str], ...] = ()
    """The ports, by device and name, whose counters were cleared in between."""
    only_before: tuple[tuple[str, str], ...] = ()
    only_after: tuple[tuple[str, str], ...] = ()
    """The ports that one paste alone has: another port or another switch was read."""

    def of(self, port: PortReading) -> PortChange | None:
        """Return the change of a port of the later paste; None where it was not read twice."""
        return next((change for change in self.ports if change.key == port.key), None)


def difference(before: Pasted, after: Pasted) -> PasteDifference:
    """Return what grew. Ports are the same where device and name are; a device that one paste does not name is the
    other's, if that has one device only."""
    only = _only_device(before, after)
    earlier = {(port.device or only, port.name.casefold()): port for port in before.ports}
    later = {(port.device or only, port.name.casefold()): port for port in after.ports}
    pairs = [(earlier.get(key), port) for key, port in later.items()]
    changes = tuple(_change(old, new) for old, new in pairs if old is not None)
    return PasteDifference(
        ports=changes,
        rules=tuple(_rules(before.rules, after.rules)),
        access_lists=tuple(_rules(before.access_lists, after.access_lists)),
        inside={name: number for name, number in _grown(before.inside, after.inside).items() if number >= 0},
        cleared=tuple((change.device, change.name) for change in changes if change.is_cleared),
        only_before=tuple((port.device, port.name) for key, port in earlier.items() if key not in later),
        only_after=tuple((port.device, port.name) for old, port in pairs if old is None),
    )


def _only_device(before: Pasted, after: Pasted) -> str:
    """The one device of both pastes, where one of them does not name it; else empty."""
    names = [{port.device for port in paste.ports} for paste in (before, after)]
    both = set().union(*names) - {""}
    return next(iter(both)) if len(both) == 1 and any("" in each for each in names) else ""


def _change(before: PortReading, after: PortReading) -> PortChange:
    change = PortChange(
        device=after.device,
        name=after.name,
        counters=_grown(before.counters, after.counters),
        named=_grown(before.named, after.named),
        queue_drops=_grown(before.queue_drops, after.queue_drops),
        queue_drop_bytes=_grown(before.queue_drop_bytes, after.queue_drop_bytes),
        policer_drops=_grown(before.policer_drops, after.policer_drops),
        policer_drop_bytes=_grown(before.policer_drop_bytes, after.policer_drop_bytes),
    )
    grown = (*change.counters.values(), *change.named.values(), *change.queue_drops.values())
    more = (*change.queue_drop_bytes.values(), *change.policer_drops.values(), *change.policer_drop_bytes.values())
    if min((*grown, *more), default=0) < 0 or _was_cleared(before, after):
        return PortChange(device=after.device, name=after.name, is_cleared=True)
    return change


def _was_cleared(before: PortReading, after: PortReading) -> bool:
    """Whether the platform says so: cleared later than before. Both lie some time apart, so `cleared_s` grows."""
    if after.cleared_s is None or not before.cleared:
        return False
    return before.cleared_s is None or after.cleared_s < before.cleared_s


def _grown(before: Mapping[_Name, int], after: Mapping[_Name, int]) -> dict[_Name, int]:
    """The growth of the counters that both have; negative where one fell."""
    return {name: after[name] - number for name, number in before.items() if name in after}


def _rules(before: Sequence[FilterRule], after: Sequence[FilterRule]) -> Iterator[RuleChange]:
    """Equal rules of one chain are compared in their order."""
    earlier: dict[tuple[str, str, str], list[FilterRule]] = {}
    for rule in before:
        earlier.setdefault(rule.key, []).append(rule)
    for rule in after:
        same = earlier.get(rule.key)
        old = same.pop(0) if same else None
        if old is None or old.packets is None or rule.packets is None or rule.packets < old.packets:
            yield RuleChange(rule=rule)
        else:
            yield RuleChange(rule=rule, packets=rule.packets - old.packets)
