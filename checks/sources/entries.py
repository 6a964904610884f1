"""The kinds of entry in the registry of everything that racwire reads, runs and sends. Data only."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class RunsOn(StrEnum):
    """On which nodes an entry is read."""

    HERE = "on this node"
    PEERS = "on each peer"
    NODES = "on each node"
    SENDERS = "on a node that pings with its own ping"
    ENDS = "on both ends of a path"
    SENDER = "on the sender's end of a path"
    TARGETS = "on the target of a path"
    DATABASE = "in the database"


@dataclass(frozen=True, slots=True)
class Read:
    """One line of an entry: its subject, and the command or the files."""

    topic: str
    """The topic in the journal, to which findings refer; empty where the journal has no topic for it."""
    what: str
    """A label for the dry run."""
    how: str
    """The command, files or action, in a form that a person can repeat or check."""
    right: str = ""
    """The right that it needs, as a noun phrase; empty where any user may do it."""


@dataclass(frozen=True, kw_only=True)
class RegistryEntry:
    """One thing that racwire reads, runs or sends."""

    name: str
    """Unique in the registry."""
    groups: tuple[str, ...]
    """The groups of facts that need it: fields of `Cluster`, `changing` (a change), `samples` (live samples)."""
    where: RunsOn
    purpose: str
    """What is read and why, as a short phrase."""
    reads: tuple[Read, ...] = ()
    every_s: float | None = None
    """Seconds from one reading to the next; None where it is read once, or at an interval from the settings."""

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics in the journal, each once, in order. A word in capitals is a placeholder for any name."""
        return tuple(dict.fromkeys(read.topic for read in self.reads if read.topic))

    def action(self, topic: str) -> str:
        """The action for a topic, as the journal records it."""
        return "; ".join(read.how for read in self.reads if read.topic == topic)


@dataclass(frozen=True, kw_only=True)
class KernelFileList(RegistryEntry):
    """Files of the kernel, read on this node."""

    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Argument:
    """A positional argument of a program."""

    name: str
    """In capitals, as in `how` of the entry."""
    pattern: str
    """A regular expression that each whole value must match."""
    is_many: bool = False
    """Whether it accepts one or more values; only the last argument can."""


_PRINTED = r"[^\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]"
"""No control character but tab and newline, and no half of a character."""
INTERFACE = Argument("INTERFACE", rf"(?!\.\.?\Z)(?:(?!/){_PRINTED})+")
ADDRESS = Argument("ADDRESS", r"[0-9A-Fa-f.:]{2,45}(?:%[^/\s]{1,15})?")
DIRECTORY = Argument("DIRECTORY", rf"/{_PRINTED}*")
BY_SUDO = "sudo"
SUDO = Argument("SUDO", f"{BY_SUDO}|no")
"""Whether the program may run a refused tool again by `sudo -n`."""
CLUSTER = Argument("CLUSTER", r"[A-Za-z0-9._-]+")
FILES = Argument("FILE", rf"/{_PRINTED}*", is_many=True)


@dataclass(frozen=True, kw_only=True)
class Program(RegistryEntry):
    """A fixed program of plain `sh` for the open shell of a node. It has its arguments as "$1", "$2" and "$@"."""

    text: str
    arguments: tuple[Argument, ...] = ()
    example: tuple[str, ...] = ()
    """Example arguments for the dry run."""
    sections: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The names of its sections by topic, for a program that has sections."""
    limit_s: float | None = None
    """Seconds after which racwire closes the connection; None takes the setting `ssh.read_timeout_s`."""
    limit_bytes: int = 4_000_000
    """Bytes of output after which racwire closes the connection."""

    def fault(self, values: Sequence[str]) -> str:
        """Why the program cannot run with these arguments, as a clause without capital; empty where it can."""
        wanted = list(self.arguments)
        if wanted and wanted[-1].is_many:
            wanted += [wanted[-1]] * (len(values) - len(wanted))
        if len(values) != len(wanted):
            return f"the program {self.name!r} takes {len(self.arguments)} arguments, not {len(values)}"
        for argument, value in zip(wanted, values, strict=True):
            if re.fullmatch(argument.pattern, value) is None:
                return f"{value!r} is not a valid {argument.name} for the program {self.name!r}"
        return ""

    def action_on(self, *values: str) -> str:
        """The command with these arguments, as a person would repeat it; one line for each value of a list."""
        fixed = {argument.name: shlex.quote(value) for argument, value in zip(self.arguments, values, strict=False)}
        many = next((argument.name for argument in self.arguments if argument.is_many), "")
        rows = [fixed | {many: shlex.quote(value)} for value in values[len(self.arguments) - 1 :]] if many else [fixed]
        names = re.compile("|".join(fixed) or r"(?!)")
        return "\n".join(names.sub(lambda found, row=row: row[found[0]], self.reads[0].how) for row in rows)  # type: ignore[misc]


@dataclass(frozen=True, kw_only=True)
class GridCommand(RegistryEntry):
    """A query to a tool of the Grid home, run without a shell. A word in capitals is a placeholder for any name."""

    tool: str
    arguments: tuple[str, ...]
    limit_s: float = 10.0
    """Seconds after which racwire kills it. The tools answer in under 1 s; on a hanging stack they take minutes."""

    def of(self, name: str) -> GridCommand:
        """The same query with the placeholder NAME replaced by this name."""

        def named(word: str) -> str:
            return word.replace("NAME", name)

        return GridCommand(
            name=self.name, groups=self.groups, where=self.where, purpose=self.purpose,
            reads=tuple(Read(named(read.topic), read.what, named(read.how)) for read in self.reads),
            tool=self.tool, arguments=tuple(map(named, self.arguments)), limit_s=self.limit_s,
        )  # fmt: skip

    @property
    def topic(self) -> str:
        """Its topic in the journal."""
        return self.reads[0].topic

    @property
    def command(self) -> str:
        """The command line for a shell with the Grid home in its PATH."""
        return " ".join((self.tool, *self.arguments))

    def argv(self, grid_home: str) -> tuple[str, ...]:
        """The argv with the absolute path of the tool: a database home may have tools of the same name."""
        return (f"{grid_home}/bin/{self.tool}", *self.arguments)
