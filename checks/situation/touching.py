"""What an event can change apart from its own condition: the only table of that."""

from __future__ import annotations

from checks.model.condition import Condition, ConditionKind

_LOSSES = (ConditionKind.PATH, ConditionKind.LOST_BLOCKS)
_TOUCHED: dict[ConditionKind, tuple[ConditionKind, ...]] = {
    ConditionKind.NODE: (*ConditionKind,),
    ConditionKind.STACK: (ConditionKind.INSTANCE, ConditionKind.DATABASE, ConditionKind.LOST_BLOCKS),
    ConditionKind.INSTANCE: (ConditionKind.LOST_BLOCKS, ConditionKind.INSTANCE),
    ConditionKind.DATABASE: (ConditionKind.LOST_BLOCKS, ConditionKind.INSTANCE),
    ConditionKind.LINK: (*_LOSSES, ConditionKind.SPEED),
    ConditionKind.SPEED: (),
    # Of two MTUs that differ either can be the wrong one.
    ConditionKind.MTU: (*_LOSSES, ConditionKind.REASSEMBLY, ConditionKind.MTU),
    ConditionKind.PATH: (),
    ConditionKind.LOST_BLOCKS: (ConditionKind.PATH,),
    ConditionKind.REASSEMBLY: _LOSSES,
    ConditionKind.RECEIVE_BUFFERS: _LOSSES,
    ConditionKind.CHECKSUMS: _LOSSES,
    ConditionKind.BACKLOG: _LOSSES,
    ConditionKind.NIC_DROPS: _LOSSES,
    ConditionKind.NIC_ERRORS: _LOSSES,
    ConditionKind.SETUP: (),
}
"""By the kind of the condition that changes: the kinds of those that its change can make worse or better."""

_ANYWHERE = (ConditionKind.LINK, ConditionKind.MTU, ConditionKind.DATABASE, ConditionKind.STACK)
"""Kinds whose change can make every node lose blocks: a node that sends over it is not the one that counts."""


def touched_kinds(kind: ConditionKind) -> tuple[ConditionKind, ...]:
    """Return the kinds of conditions that a change of that kind can change, its own first."""
    return (kind, *(other for other in _TOUCHED[kind] if other is not kind))


def touches(changed: Condition, network: str, other: Condition) -> bool:
    """Return whether a condition that changed can change another one. `network` is the private network of the changed
    interface; empty where it has none."""
    if changed.kind is ConditionKind.NODE:
        return changed.node in (other.node, other.peer) or not other.node
    if changed == other or other.kind not in _TOUCHED[changed.kind]:
        return changed == other
    if other.kind is ConditionKind.PATH:
        is_there = changed.node in (other.node, other.peer) or not other.node
        return is_there and (not network or other.item in ("", network))
    if other.kind is ConditionKind.LOST_BLOCKS and changed.kind in _ANYWHERE:
        return True
    if other.kind is ConditionKind.SPEED:
        return (changed.node, changed.item) == (other.node, other.item)
    if other.kind is ConditionKind.MTU:
        return changed.item == other.item
    return not changed.node or not other.node or changed.node == other.node
