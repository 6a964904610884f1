"""Commands for people to type, as data: where, by whom, in which language. The one place that writes a command out.

The text of a command is racwire's own. Where it holds a value that was read from a system, the text has a field, and
the value is kept apart from the text: a name such as `eth0; reboot` stays a name.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from enum import StrEnum

import msgspec

from checks.model.sanitize import sanitize

_FIELD = re.compile(r"\{(\w+)\}")


class Language(StrEnum):
    """Who reads the command."""

    SHELL = "shell"
    SSH = "ssh"
    """Two shells: the one here, and the one at the other end of ssh."""
    SQL = "sql"
    RMAN = "rman"
    SWITCH = "switch"


_SAFE = re.compile(r"[A-Za-z0-9_@%+=:,./-][A-Za-z0-9_@%+=:,./#-]*")
"""What a shell reads as it stands: `#` starts a comment only at the start of a word."""
_NAME = r"(?!.*--)[A-Za-z0-9_$#./:,+@-]+"
_ACCEPTED = {
    Language.SQL: re.compile(rf'{_NAME}|"[A-Za-z0-9_$# ]+"'),
    Language.RMAN: re.compile(_NAME),
    Language.SWITCH: re.compile(r"(?!.*\d-\d)([A-Za-z0-9_./:+-]+|[A-Za-z-]+ [0-9/.:]+)"),
}
"""What a value may be where no quoting is known that every program accepts: a plain name, number or address; in SQL
also a quoted identifier, at a switch also a port such as `Ethernet 1/1`. At a switch it is one port: NX-OS and EOS read
`Ethernet1/1-48` and `Ethernet1/1,Ethernet1/2` as several."""


class Placeholder(StrEnum):
    """What a person fills in, where racwire does not know the value."""

    ETH = "ETH"
    PRIVATE_ADDRESS = "PRIVATE_ADDRESS"
    PORT = "PORT"


Value = str | int | tuple[str, ...]
"""A value of a field: one word, a number, or several words."""


class ShellCommand(msgspec.Struct, frozen=True, omit_defaults=True):
    """One command. racwire prints it and never runs it."""

    script: str
    """The text as racwire has it, with `{name}` for a value. Pipes, globs and `$ORACLE_BASE` stand as they are."""
    values: dict[str, str | tuple[str, ...]] = {}
    """The values of the fields: what was read, each one word or several, or a `Placeholder`."""
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
        before = self.script[: found.start()]
        could_be_option = (not before or before[-1].isspace()) and not before.rstrip().endswith(" --")
        words = value if isinstance(value, tuple) else (value,)
        return " ".join(
            ("" if could_be_option and word.startswith("-") else _written(word, self.language)) or name.upper()
            for word in words
        )


def _written(value: str, language: Language) -> str:
    """Return the value in this language; empty if it cannot be written there."""
    if accepted := _ACCEPTED.get(language):
        return value if accepted.fullmatch(value) else ""
    if value != sanitize(value):
        return ""
    word = value if _SAFE.fullmatch(value) else shlex.quote(value)
    return word if language is Language.SHELL or word == value else shlex.quote(word)


def plain(value: str, field: str) -> str:
    """Return a value for a script of sed or another language inside a word; the name of the field where the value is
    no plain name, number or address."""
    return value if re.fullmatch(_NAME, value) else field.upper()


def _line(script: str, values: dict[str, Value], language: Language) -> str:
    typed = {k: v if isinstance(v, tuple) else str(v) for k, v in values.items()}
    return ShellCommand(script, typed, language).line


def shell(script: str, **values: Value) -> str:
    """Return a line for a shell: `shell("ip link show {nic}", nic="eth1")`."""
    return _line(script, values, Language.SHELL)


def for_each(*scripts: str, **field: Iterable[str | tuple[str, ...]]) -> tuple[str, ...]:
    """Return the lines for each value of one field, each line once: `for_each("ip link show {nic}", nic=names)`."""
    ((name, values),) = field.items()
    return tuple(dict.fromkeys(shell(script, **{name: value}) for value in values for script in scripts))


def sql(statement: str, **values: Value) -> str:
    """Return a line of SQL: a value that is no plain name, number or address becomes the name of its field."""
    return _line(statement, values, Language.SQL)


def switch(line: str, **values: Value) -> str:
    """Return a line for the command line of a switch, with values as in `sql`."""
    return _line(line, values, Language.SWITCH)
