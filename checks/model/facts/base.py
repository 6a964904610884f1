"""The base of all facts: frozen, typed, and Unknown with a reason where a value could not be read."""

from __future__ import annotations

import msgspec


class Fact(msgspec.Struct, frozen=True, tag_field="fact", tag=True, omit_defaults=True):
    """A fact; in JSON the field `fact` has its class name."""


class Unknown(Fact, frozen=True):
    """A fact that could not be read, with the reason: one sentence that a DBA can act on."""

    reason: str
    commands: tuple[str, ...] = ()
    """Commands that make the fact readable: `GRANT SELECT ON SYS.GV_$SYSSTAT TO RACWIRE;`."""


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
