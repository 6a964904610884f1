"""What every fact is: frozen, typed, and Unknown with a reason where it could not be read."""

from __future__ import annotations

import msgspec


class Fact(msgspec.Struct, frozen=True, tag_field="fact", tag=True, omit_defaults=True):
    """A thing that is so; in JSON its class name stands in the field `fact`."""


class Unknown(Fact, frozen=True):
    """A fact that could not be read, and why: one sentence that a DBA can act on."""

    reason: str
    commands: tuple[str, ...] = ()
    """What makes it readable, as commands to copy: `GRANT SELECT ON SYS.GV_$SYSSTAT TO RACWIRE;`."""


class NotGathered(Unknown, frozen=True):
    """A group of facts that no check of the run needed, or that was not reached yet: nobody looked.

    It is Unknown like what could not be read, since nothing can be said of it either.
    """

    reason: str = "not asked for"


class NotAsked(Fact, frozen=True):
    """Facts that were left out by the operator's choice, or by an option not given: neither a doubt nor a fault."""

    reason: str
    """Why, in one sentence: `No database connection is set; prod1 and prod2 run here.`"""
    commands: tuple[str, ...] = ()
    """How to have them, as commands to copy."""
