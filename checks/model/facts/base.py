"""The base of all facts: frozen, typed, and Unknown with a reason where a value could not be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import msgspec

Whole = TypeVar("Whole")
Part = TypeVar("Part")


class Fact(msgspec.Struct, frozen=True, tag_field="fact", tag=True, omit_defaults=True):
    """A fact; in JSON the field `fact` has its class name."""


class MissingRight(Fact, frozen=True):
    """The smallest right with which a refused source can be read."""

    needed: str
    """The right as a noun phrase: `SELECT on SYS.GV_$SYSSTAT for RACWIRE`."""
    commands: tuple[str, ...] = ()
    """Commands that grant or use the right: `GRANT SELECT ON SYS.GV_$SYSSTAT TO RACWIRE;`."""
    where: str = ""
    """The user who runs the commands, and the node: `root on rac2`."""
    script: str = ""
    """The command of racwire that prints the lines that grant this right and all others of its kind."""


class Unknown(Fact, frozen=True):
    """A fact that could not be read, with the reason: one sentence that a DBA can act on."""

    reason: str
    right: MissingRight | None = None
    """The missing right, where one is missing."""


class Unread(Protocol):
    """Anything that could not be read, with the reason and the right that is missing, if one is."""

    @property
    def reason(self) -> str: ...  # noqa: D102 - see Unknown
    @property
    def right(self) -> MissingRight | None: ...  # noqa: D102 - see Unknown


class NotGathered(Unknown, frozen=True):
    """A group of facts that was not gathered: no check of the run needed it, or the run has not reached it.

    It is a kind of Unknown, since there is no data, as with facts that could not be read.
    """

    reason: str = "not requested"


class NotAsked(Fact, frozen=True):
    """Facts that the operator did not request, by a choice or a missing option: neither UNKNOWN nor a fault."""

    reason: str
    """The reason in one sentence: `No database connection is set; prod1 and prod2 run here.`"""
    commands: tuple[str, ...] = ()
    """Commands that include the facts."""


def part_of(fact: Whole | Unknown, part: Callable[[Whole], Part | Unknown]) -> Part | Unknown:
    """Return a part of a fact, or the reason why the fact or its part is unknown."""
    return fact if isinstance(fact, Unknown) else part(fact)
