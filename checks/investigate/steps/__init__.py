"""The steps of an investigation, declared as data: what each sends or reads, where, and at what price."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from checks.investigate.steps.declaration import Declaration
from checks.investigate.steps.hands import HANDS
from checks.investigate.steps.on_nodes import ON_NODES
from checks.investigate.steps.on_switches import ON_SWITCHES
from checks.investigate.steps.scene import scenes
from checks.investigate.steps.sending import SENDING
from checks.investigate.steps.senses import SENSES
from checks.investigate.suspects import NOTHING, Settled, SuspectEntry
from checks.model.facts import Cluster
from checks.model.investigation import NotOffered, SessionStep, StepAnswer

DECLARED: tuple[Declaration, ...] = (*SENDING, *SENSES, *ON_NODES, *ON_SWITCHES, *HANDS)


class Offered(NamedTuple):
    """The steps at the places of an entry."""

    steps: tuple[SessionStep, ...]
    withheld: tuple[tuple[SessionStep, NotOffered], ...] = ()
    """Steps by hand that are not offered, and why."""


def offered(
    entries: Sequence[SuspectEntry], cluster: Cluster, settled: Settled = NOTHING, answers: Sequence[StepAnswer] = ()
) -> list[SessionStep]:
    """Return the steps that can be made at the places of the open entries, by their keys."""
    found = [offered_for(one, cluster, answers) for one in entries if one.is_open]
    return sorted({step.key: step for every in found for step in every.steps}.values(), key=lambda step: step.key)


def offered_for(entry: SuspectEntry, cluster: Cluster, answers: Sequence[StepAnswer] = ()) -> Offered:
    """Return the steps at the places of one entry, and those by hand that would disturb more than they show."""
    steps, withheld = dict[str, SessionStep](), list[tuple[SessionStep, NotOffered]]()
    for scene in scenes(entry, cluster, answers):
        for one in DECLARED:
            for step in one.made(scene):
                why = scene.hinders(step)
                if why is None:
                    steps[step.key] = step
                else:
                    withheld.append((step, why))
    return Offered(tuple(steps.values()), tuple(withheld))
