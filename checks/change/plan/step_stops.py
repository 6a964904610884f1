"""What the steps of a plan stop or change on nodes, and which gate shows that it is back: one table. No I/O.

Only what can look like a fault is here: a service that moves to another node does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from checks.change.plan.change_plan import Plan, Step


class StopKind(StrEnum):
    """What a step stops on a node."""

    STACK = "stack"
    """Clusterware is down."""
    INSTANCE = "instance"
    """The instances are down."""
    LINK = "link"
    """Private interfaces lose their link or their address: for a moment, or for good where the plan drops a network."""
    MTU = "mtu"
    """The MTU of private interfaces is changed."""
    NODE = "node"
    """The node is booted."""


@dataclass(frozen=True)
class Stops:
    """What a step stops on some nodes, and what shows that it is back."""

    kinds: frozenset[StopKind]
    nodes: frozenset[str]
    ends_with: tuple[str, ...] = ()
    """The checks of the gates that show it: of the first check that a step from this one on has for a node. Empty: what
    the step itself waits for."""
    not_before: str = ""
    """The id of the first step whose gates count; empty for the step itself."""


def stops_of(plan: Plan, step: Step) -> tuple[Stops, ...]:
    """Return what a step of a plan stops; nothing for a step that stops nothing."""
    return tuple(stops for stops in _stops(plan, step) if stops.nodes)


def _stops(plan: Plan, step: Step) -> Iterator[Stops]:
    for rule in _OF_EXPERIMENT if plan.experiment else _OF_CHANGE:
        if step.id.startswith(rule.step):
            yield Stops(frozenset(rule.kinds), rule.nodes(plan, step), rule.ends_with, rule.not_before)


def _stopped(plan: Plan, _: Step) -> frozenset[str]:
    """The nodes that the plan stops and changes."""
    return frozenset((plan.node,) if plan.node else plan.nodes)


def _of_commands(_: Plan, step: Step) -> frozenset[str]:
    """The nodes that the step has commands for."""
    return frozenset(block.node for block in step.commands if block.node and not block.optional)


def _below_the_stop(plan: Plan, step: Step) -> frozenset[str]:
    """All nodes, where the step comes after the stop of Clusterware: before it, no link may drop."""
    return frozenset(plan.nodes) if plan.position(step.id) > plan.position(_STACK_DOWN) else frozenset()


def _of_database(plan: Plan, _: Step) -> frozenset[str]:
    """The nodes with instances of the test database."""
    name = plan.experiment.database if plan.experiment else ""
    return frozenset(node for database in plan.databases if database.name == name for node in database.instances)


@dataclass(frozen=True)
class _Rule:
    step: str
    """The beginning of the ids of its steps: those of a restart end with the name of their node."""
    kinds: tuple[StopKind, ...]
    nodes: Callable[[Plan, Step], frozenset[str]] = _stopped
    ends_with: tuple[str, ...] = ()
    not_before: str = ""


_STACK_DOWN = "stack-down"
_INSTANCES = ("instances-up", "stack-up")
"""Without a step that starts instances, their end is that of Clusterware."""
_OF_CHANGE = (
    _Rule(_STACK_DOWN, (StopKind.STACK,), ends_with=("stack-up",)),
    _Rule(_STACK_DOWN, (StopKind.INSTANCE,), ends_with=_INSTANCES),
    # Its gate reads every layer: from then on, another MTU or a lost link is no part of the plan. prove-paths only
    # sends packets over what is set then.
    _Rule("set-mtu", (StopKind.LINK, StopKind.MTU), ends_with=("running-mtu",)),
    _Rule("survives-boot", (StopKind.NODE, StopKind.LINK), _of_commands, ends_with=("rebooted",)),
    _Rule("prove-paths", (StopKind.LINK,), _of_commands),  # the members of a bond, in turn
    _Rule("switch", (StopKind.LINK,), _below_the_stop),
    _Rule("hypervisor", (StopKind.LINK,), _below_the_stop),
    # The interface stays down, and the network is one of the cluster until its line is deleted.
    _Rule("old-network-down", (StopKind.LINK,), ends_with=("oifcfg-planned",), not_before="deregister"),
    _Rule("networks-back", (StopKind.LINK,), ends_with=("oifcfg-planned",), not_before="deregister"),
    _Rule("restart-", (StopKind.INSTANCE,), _of_commands, ends_with=_INSTANCES),
)
_OF_EXPERIMENT = tuple(_Rule(step, (StopKind.INSTANCE,), _of_database, _INSTANCES) for step in ("run-", "flash-back"))
"""The MTU is changed by a change of its own, with a journal of its own."""
