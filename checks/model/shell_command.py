"""Commands for people to type, as data: where, by whom, in which language. The one place that writes a command out.

The text of a command is racwire's own. Where it holds a value that was read from a system, the text has a field, and the
value is kept apart from the text: a name such as `eth0; reboot` stays a name.
"""

from __future__ import annotations

import re
import shlex
from enum import StrEnum

import msgspec

from checks.model.sanitize import sanitize

_FIELD = re.compile(r"\{(\w+)\}")
_PLAIN = re.compile(r"[A-Za-z0-9_$#./:,+@-]+")
"""What a value may hold where no quoting is known that every program accepts: SQL, RMAN, and the lines of switches."""


class Language(StrEnum):
    """Who reads the command."""

    SHELL = "shell"
    SSH = "ssh"
    """Two shells: the one here, and the one at the other end of ssh."""
    SQL = "sql"
    RMAN = "rman"
    SWITCH = "switch"


class Placeholder(StrEnum):
    """What a person fills in, where racwire does not know the value."""

    NODE = "NODE"
    HOST = "HOST"
    NAME = "NAME"
    ETH = "ETH"
    PRIVATE_ADDRESS = "PRIVATE_ADDRESS"
    RIGHT_SUBNET = "RIGHT_SUBNET"
    ALERT_LOG = "ALERT_LOG"
    PORT = "PORT"


class ShellCommand(msgspec.Struct, frozen=True, omit_defaults=True):
    """One command. racwire prints it and never runs it."""

    script: str
    """The text as racwire has it, with `{name}` for a value. Pipes, globs and `$ORACLE_BASE` stand as they are."""
    values: dict[str, str] = {}
    """The values of the fields: what was read, or a `Placeholder`."""
    language: Language = Language.SHELL

    @property
    def line(self) -> str:
        """The command as it is typed. A value that could be taken for syntax is replaced by the name of its field."""
        return _FIELD.sub(self._filled, self.script)

    def _filled(self, found: re.Match[str]) -> str:
        name = found[1]
        if name not in self.values:
            return found[0]  # braces of the command's own language, as in awk
        value = self.values[name]
        if value in Placeholder.__members__:
            return value
        starts_word = not found.start() or self.script[found.start() - 1].isspace()
        if starts_word and value.startswith("-") and not self.script[: found.start()].rstrip().endswith(" --"):
            return name.upper()  # would be read as an option
        return _written(value, self.language) or name.upper()


def _written(value: str, language: Language) -> str:
    """Return the value in this language; empty if it cannot be written there."""
    if value != sanitize(value):
        return ""
    match language:
        case Language.SHELL:
            return shlex.quote(value)
        case Language.SSH:
            return shlex.quote(shlex.quote(value)) if shlex.quote(value) != value else value
    return value if _PLAIN.fullmatch(value) else ""


def shell(script: str, **values: str | int) -> str:
    """Return a line for a shell: `shell("ip link show {nic}", nic="eth1")`."""
    return ShellCommand(script, {name: str(value) for name, value in values.items()}).line


def sql(statement: str, **values: str | int) -> str:
    """Return a line of SQL: a value that is no plain name, number or address becomes the name of its field."""
    return ShellCommand(statement, {name: str(value) for name, value in values.items()}, Language.SQL).line


def switch(line: str, **values: str | int) -> str:
    """Return a line for the command line of a switch, with values as in `sql`."""
    return ShellCommand(line, {name: str(value) for name, value in values.items()}, Language.SWITCH).line
