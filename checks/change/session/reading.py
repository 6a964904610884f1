"""Read the nodes right before a step stops something on them: one run of the engine, with no gate and no packet."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from checks.change.plan.planning import look_of
from checks.change.progress.change_events import ObservedState
from checks.change.progress.state import Change
from checks.change.progress.wanted import plan_now
from checks.change.session.verifying import LOOK, named_gatherers, settings_for
from checks.model.settings import Settings
from checks.run.engine import Engine
from checks.run.events import Event, RunFinished

_READ = replace(LOOK, uses=("nodes", "setups"))
"""Only what a step stops: a verification reads the evidence of the change, too."""


async def read_nodes(change: Change, settings: Settings, node: str) -> AsyncGenerator[Event | ObservedState, None]:
    """Yield the engine's events, and the state of the plan's nodes last; a node that could not be read is left out.

    `node` is the plan's name of the local node. The limits of the groups of facts bound the time.
    """
    plan = plan_now(change)
    engine = Engine((_READ,), settings_for(settings, plan, node, with_database=False), gatherers=named_gatherers(node))
    async with aclosing(engine.events()) as events:
        async for event in events:
            yield event
            if isinstance(event, RunFinished):
                yield look_of(event.report.cluster, change.plan)
