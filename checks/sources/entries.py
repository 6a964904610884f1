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
    """One line of an entry: what is read, and how."""

    topic: str
    """The journal's word for it, to which findings point; empty where the entry has no place of its own there."""
    what: str
    """A label for the dry run."""
    how: str
    """What is done, as a person would repeat it or follow it."""


@dataclass(frozen=True, kw_only=True)
class RegistryEntry:
    """One thing that racwire reads, runs or sends."""

    name: str
    """Unique in the registry."""
    groups: tuple[str, ...]
    """The groups of facts that need it: fields of `Cluster`, `changing` (a change), `samples` (live samples)."""
    where: RunsOn
    purpose: str
    """What it is for, in a few words."""
    reads: tuple[Read, ...] = ()
    every_s: float | None = None
    """Seconds from one reading to the next; None for what is read once, or as often as the settings say."""

    @property
    def topics(self) -> tuple[str, ...]:
        """The journal's topics, each once, in order. A word in capitals stands for any name."""
        return tuple(dict.fromkeys(read.topic for read in self.reads if read.topic))

    def action(self, topic: str) -> str:
        """What is done for a topic, as the journal records it."""
        return "; ".join(read.how for read in self.reads if read.topic == topic)


@dataclass(frozen=True, kw_only=True)
class KernelFileList(RegistryEntry):
    """Files of the kernel, read on this node."""

    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Argument:
    """A positional argument of a program."""

    name: str
    """In capitals, as `how` of the entry spells it."""
    pattern: str
    """A regular expression that each value matches whole."""
    is_many: bool = False
    """Whether one or more values follow; only the last argument can."""


_PRINTED = r"[^\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]"
"""No control character but tab and newline, and no half of a character."""
INTERFACE = Argument("INTERFACE", rf"(?!\.\.?\Z)(?:(?!/){_PRINTED})+")
ADDRESS = Argument("ADDRESS", r"[0-9A-Fa-f.:]{2,45}(?:%[^/\s]{1,15})?")
DIRECTORY = Argument("DIRECTORY", rf"/{_PRINTED}*")
CLUSTER = Argument("CLUSTER", r"[A-Za-z0-9._-]+")
FILES = Argument("FILE", rf"/{_PRINTED}*", is_many=True)


@dataclass(frozen=True, kw_only=True)
class Program(RegistryEntry):
    """A fixed program of plain `sh`, run by the held shell of a node. Arguments reach it as "$1", "$2" and "$@"."""

    text: str
    arguments: tuple[Argument, ...] = ()
    example: tuple[str, ...] = ()
    """Arguments as they can be, for the dry run."""
    sections: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For a program of sections: their names by topic."""
    limit_s: float | None = None
    """Seconds after which the connection is given up; None where the settings say (`ssh.read_timeout_s`)."""
    limit_bytes: int = 4_000_000
    """More output than that costs the connection."""

    def fault(self, values: Sequence[str]) -> str:
        """Why it cannot run with these arguments, in words that follow "because"; empty where it can."""
        wanted = list(self.arguments)
        if wanted and wanted[-1].is_many:
            wanted += [wanted[-1]] * (len(values) - len(wanted))
        if len(values) != len(wanted):
            return f"the program {self.name!r} takes other arguments"
        for argument, value in zip(wanted, values, strict=True):
            if re.fullmatch(argument.pattern, value) is None:
                return f"{value!r} is no {argument.name} for the program {self.name!r}"
        return ""

    def action_on(self, *values: str) -> str:
        """What is done with these arguments, as a person would repeat it; a line for each of many."""
        fixed = {argument.name: shlex.quote(value) for argument, value in zip(self.arguments, values, strict=False)}
        many = next((argument.name for argument in self.arguments if argument.is_many), "")
        rows = [fixed | {many: shlex.quote(value)} for value in values[len(self.arguments) - 1 :]] if many else [fixed]
        words = re.compile("|".join(fixed) or r"(?!)")
        return "\n".join(words.sub(lambda found, row=row: row[found[0]], self.reads[0].how) for row in rows)  # type: ignore[misc]


@dataclass(frozen=True, kw_only=True)
class GridCommand(RegistryEntry):
    """A query to a tool of the Grid home, run without a shell. Words in capitals stand for any name."""

    tool: str
    arguments: tuple[str, ...]
    limit_s: float = 10.0
    """Seconds after which it is killed. The tools answer in well under one; on a hanging stack they take minutes."""

    def of(self, name: str) -> GridCommand:
        """The same about the object of that name, in place of NAME."""

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
        """The command as a person would type it with the Grid home in the PATH."""
        return " ".join((self.tool, *self.arguments))

    def argv(self, grid_home: str) -> tuple[str, ...]:
        """The command as it is run: a database home may hold tools of the same name, so by absolute path."""
        return (f"{grid_home}/bin/{self.tool}", *self.arguments)


def topic_pattern(topic: str) -> re.Pattern[str]:
    """The topics in a journal that an entry's topic stands for: each word in capitals is any name."""
    words = (r".+" if re.fullmatch(r"[A-Z]{2,}", word) else re.escape(word) for word in topic.split(" "))
    return re.compile(" ".join(words))
