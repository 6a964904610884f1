"""A block of commands in a plan: who types it, where and what for, as data, and its heading."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from checks.model.command_effect import effect_of
from checks.model.effect import Effect
from checks.model.own_command import VERIFY, OwnCommand, Text, joined
from checks.model.sanitize import sanitize
from checks.model.shell_command import Language


class Who(StrEnum):
    """Who types a block of commands."""

    ROOT = "root"
    GRID_OWNER = "Grid owner"
    DATABASE_OWNER = "database owner"
    SYSDBA = "SYSDBA"
    SYSASM = "SYSASM"
    AGENT_OWNER = "Enterprise Manager agent"
    ANY_USER = "any user"
    RACWIRE_USER = "user of racwire"
    OPERATOR = "operator"
    """Who operates a switch, a hypervisor, a load generator."""
    ASKED = "asked"
    """The lines are no commands, but questions to a team."""


class Commands(msgspec.Struct, frozen=True, omit_defaults=True):
    """Commands for a person to copy. racwire never runs them."""

    who: Who
    lines: tuple[str, ...] = ()
    node: str = ""
    """The node whose shell the commands are for; empty for a switch, or for any place."""
    note: Text = ""
    """A note to read before pasting the commands."""
    name: str = ""
    """The login of the Grid owner or of the user of racwire, the database, the kind of switch, or the team that the
    questions are for; empty where it is not known."""
    place: str = ""
    """The place, where it is no single node: `each node`; of an operator with its preposition: `On sw1`."""
    purpose: str = ""
    """When, or what for: `for its bonds`, `while the usual load runs`."""
    language: Language = Language.SHELL
    optional: bool = False
    """Whether the change goes on without the commands."""
    by_hand: bool = False
    """Whether the commands only show what a person then changes by hand."""
    own: tuple[OwnCommand, ...] = ()
    """racwire's own commands, after the lines."""
    others_run: bool = False
    """Whether the other nodes keep running while the commands are typed."""

    @property
    def effect(self) -> Effect:
        """What the commands do to a running cluster. Those of a switch are judged with its kind (vendors.toml)."""
        return effect_of(self.lines)

    @property
    def remarks(self) -> Text:
        """The note, after what must be down where the commands are typed: the steps before have stopped it."""
        down = {Effect.NODE_OUT_FIRST: "this node", Effect.CLUSTER_DOWN_FIRST: "all nodes"}.get(self.effect, "")
        down = "this node" if down and self.others_run else down
        return joined(f"Only while Clusterware is down on {down}." if down and self.node else "", self.note)

    @property
    def is_piped(self) -> bool:
        """Whether the lines may be piped into the root shell of their node."""
        is_root = self.who is Who.ROOT and bool(self.node) and self.language is Language.SHELL
        return is_root and not self.optional and not self.by_hand

    @property
    def heading(self) -> str:
        """Who types the commands, where and what for: `As root on rac3:`."""
        where = self.node or self.place
        match self.who:
            case Who.OPERATOR:
                start = f"{self.place} ({self.name})" if self.name else self.place
            case Who.ASKED:
                start = f"To ask {self.name}"
            case Who.RACWIRE_USER if not where:
                start = "Where racwire runs"
            case _:
                start = f"{'By hand, as' if self.by_hand else 'As'} {self._user}{f' on {where}' if where else ''}"
        purpose = f", {self.purpose}" if self.purpose else ""
        return f"{start}{purpose}{' (optional)' if self.optional else ''}:"

    @property
    def _user(self) -> str:
        match self.who:
            case Who.GRID_OWNER:
                return f"the Grid owner ({self.name})" if self.name else "the Grid owner"
            case Who.DATABASE_OWNER:
                return f"the owner of database {self.name}" if self.name else "the owner of the database"
            case Who.SYSDBA:
                return f"SYSDBA of {self.name}, in SQL*Plus"
            case Who.SYSASM:
                return "SYSASM (sqlplus / as sysasm)"
            case Who.AGENT_OWNER:
                return "the owner of the Enterprise Manager agent"
            case Who.RACWIRE_USER:
                return self.name or "the user of racwire"
        return self.who.value


REPORT = Commands(Who.RACWIRE_USER, own=(OwnCommand("report"),))
"""The block that prints the report."""
VERIFY_AND_READ: Text = (
    "Run ",
    VERIFY,
    " once more. Then read the report (",
    OwnCommand("report"),
    "), file it, and sign off.",
)
"""The instructions before a signature."""


def as_comments(*lines: str) -> tuple[str, ...]:
    """Return questions as comments: people copy them into a message, and pasted into a shell they do nothing."""
    return tuple(f"# {sanitize(line)}" for line in lines)


def as_sysdba(
    database: str, lines: tuple[str, ...], purpose: str = "", note: str = "", *, place: str = "", optional: bool = True
) -> Commands:
    """Return statements for SYSDBA of a database."""
    return Commands(
        Who.SYSDBA,
        lines,
        note=note,
        name=database,
        place=place,
        purpose=purpose,
        language=Language.SQL,
        optional=optional,
    )
