"""What a started step of a change stops on purpose, and for how long."""

from __future__ import annotations

import msgspec

from checks.model.condition import Condition, ConditionKind


class ExplainedStop(msgspec.Struct, frozen=True, kw_only=True):
    """What one step stops: from its start until the gate of the step that ends it. Times are seconds since 1970."""

    step: str
    """The title of the step: `stack down`."""
    nodes: frozenset[str]
    kinds: frozenset[ConditionKind]
    """STACK, INSTANCE, LINK, MTU, NODE; DATABASE where the step stops all nodes with its instances."""
    begin: float
    most_s: float
    """The planned minutes, at most, from this step to the one that ends it."""
    over: float | None = None
    """When the gate of the step that ends it passed or was overridden, or the change closed; None before."""
    was_well: frozenset[Condition] = frozenset()
    """What racwire read as well when the step was started: only that is stopped on purpose."""


class Look(msgspec.Struct, frozen=True):
    """What the journal of a change holds of the nodes at one time: each condition, and whether it was bad."""

    at: float
    read: tuple[tuple[Condition, bool], ...]
