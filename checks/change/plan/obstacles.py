"""The obstacles to a change, with their remedies."""

from __future__ import annotations

import msgspec

from checks.model.check import Kind
from checks.model.finding import NextStep
from checks.model.own_command import CHANGE, OwnCommand


class Obstacle(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One reason not to start the change now."""

    code: str
    """A stable code: of the finding that it comes from (`IC-PATH-005`), or of a change (`CH-START-001`)."""
    title: str
    """A short text for a list."""
    sentence: str
    """The problem in a complete sentence."""
    next: tuple[NextStep, ...] = ()
    acceptable: bool = False
    """Whether the operator may open the change in spite of this obstacle, with a typed reason."""


def obstacle(kind: Kind, sentence: str, *steps: str | NextStep, title: str = "", acceptable: bool = False) -> Obstacle:
    """Return the obstacle of a kind, with its remedies; a remedy without commands is its text."""
    remedies = tuple(NextStep(step) if isinstance(step, str) else step for step in steps)
    return Obstacle(code=kind.code, title=title or kind.title, sentence=sentence, next=remedies, acceptable=acceptable)


class PlanError(Exception):
    """No plan can be made: `obstacles` has the reasons, each with its remedies."""

    def __init__(self, obstacles: tuple[Obstacle, ...]) -> None:
        super().__init__(" ".join(o.sentence for o in obstacles))
        self.obstacles = obstacles


def plan_again(arguments: str = "") -> tuple[OwnCommand, ...]:
    """Return the command that plans a change with other options."""
    return (OwnCommand("new", arguments, CHANGE),)
