"""The guard before every command and program: racwire starts nothing on a node that could change the node.

An open shell runs only the fixed programs of the registry (`checks/sources/registry.py`); the tests parse each program
and judge every command in it. A command that is started by its arguments must be in the list of `allow_list.py`. The
guard refuses all else. So neither a mistake in racwire's own code nor a hostile name in a node's output can change a
node. The guard does not confine Python code: a check of a third party runs with the operator's rights, as any program
that the operator installs does.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

from checks.sources import registry
from checks.sources.entries import Program
from checks.sources.nodes.read_only.allow_list import GRID, SYSTEM, SYSTEM_DIRECTORIES, UNKNOWN, Form, Word, read_forms

__all__ = ["AllowList", "ChangingCommandError", "demand_read_only_command", "demand_registered_program"]

# Opening some devices has effects: a watchdog starts, a tape rewinds; bash opens connections for /dev/tcp. Reading some
# files removes data that other programs would have read.
_NOT_TO_OPEN = re.compile(
    r"(?:^|[=:]|\.\./)(?:\./)*/?dev/(?!null$)|^/proc/kmsg|^/sys/kernel/(?:debug|tracing)"
    # Paths that could be such files, because they contain a parent directory or an unknown one.
    r"|^/(?s:.)*/\.\.(?:/|$)|^/[^/]*\0"
)
_SLASHES = re.compile(r"/(?:\.?/)+")


class ChangingCommandError(Exception):
    """racwire refused a command that is not known to be read-only; no part of the command ran."""

    def __init__(self, node: str, fault: str) -> None:
        super().__init__(
            f"racwire refused to run a command on {node}, because {fault}. racwire runs only commands that change "
            "nothing. This is a fault of racwire: please report it."
        )


def demand_registered_program(program: Program, arguments: Sequence[str], node: str) -> None:
    """Raise ChangingCommandError unless the registry has the program and the program accepts the arguments."""
    if fault := fault_of_program(program, arguments):
        raise ChangingCommandError(node, fault)


def demand_read_only_command(argv: Sequence[str], node: str) -> None:
    """Raise ChangingCommandError unless the command, a list of arguments, is in the allow-list."""
    if fault := fault_of_command(tuple(argv)):
        raise ChangingCommandError(node, fault)


def fault_of_program(program: Program, arguments: Sequence[str]) -> str:
    """Why a program may not run with these arguments, as a clause after "because"; empty where it may."""
    if registry.PROGRAMS.get(program.text) is not program:
        return f"the program {program.name!r} is not registered"
    if any(is_not_to_open(Word(value)) for value in arguments):
        return f"an argument of the program {program.name!r} names a file that racwire must not open"
    return program.fault(arguments)


@lru_cache(1024)
def fault_of_command(argv: tuple[str, ...]) -> str:
    """Why a command, a list of arguments with the program first, may not run; empty where it may."""
    words = tuple(map(Word, argv))
    command = " ".join(argv).replace(UNKNOWN, "…")
    if any(UNKNOWN in word for word in argv):
        return f"an argument of `{command}` contains a NUL character"
    if any(map(is_not_to_open, words)):
        return f"`{command}` names a file that racwire must not open, or has a path that is not plain"
    return "" if ALLOWED.allows(words) else f"`{command}` is not in the allow-list"


def is_not_to_open(word: Word) -> bool:
    """Whether a word can be the path of a file that has effects when it is opened."""
    return _NOT_TO_OPEN.search(_SLASHES.sub("/", word.text)) is not None


class AllowList:
    """Read-only commands as synopses: commands of the system, and commands in the `bin` of a Grid home."""

    def __init__(self, system: str, grid: str) -> None:
        self._texts = system, grid

    @cached_property
    def _system(self) -> Mapping[str, Sequence[Form]]:
        return _by_name(self._texts[0])

    @cached_property
    def _grid(self) -> Mapping[str, Sequence[Form]]:
        return _by_name(self._texts[1])

    def allows(self, words: Sequence[Word]) -> bool:
        """Whether a command of these words is listed."""
        if not words:
            return False
        name, *arguments = words
        return any(form.allows(arguments, self.allows) for form in self._forms_of(name))

    def _forms_of(self, name: Word) -> Sequence[Form]:
        """The allowed forms of a command, by its plain name or by its path."""
        directory, program = posixpath.split(name.text)
        if name.many or UNKNOWN in program:
            return ()
        if posixpath.basename(directory) == "bin" and _is_absolute(directory) and program in self._grid:
            return self._grid[program]
        if directory in SYSTEM_DIRECTORIES or name.text == program:
            return self._system.get(program, ())
        return self._system.get(name.text, ())


ALLOWED = AllowList(SYSTEM, GRID)
"""The commands that may be started by their arguments: pings, racwire's own datagrams, and queries to Grid tools."""


def _is_absolute(directory: str) -> bool:
    """Whether it starts with a slash, or with a home that is known only when it runs: "$home/bin"."""
    known = directory.removeprefix(UNKNOWN)
    return known.startswith("/") and UNKNOWN not in known


def _by_name(synopses: str) -> Mapping[str, Sequence[Form]]:
    forms: dict[str, list[Form]] = {}
    for form in read_forms(synopses):
        for name in form.names:
            forms.setdefault(name, []).append(form)
    return forms
