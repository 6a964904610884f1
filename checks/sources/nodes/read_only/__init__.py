"""The guard before every command and program: racwire starts nothing on a node that could change it.

A held shell runs the fixed programs of the registry and nothing else: `checks/sources/registry.py` lists them, and the
tests take each apart and judge every command in it. A command that is started by its arguments is judged by the list of
`allow_list.py`. What is not registered or not listed is refused. This keeps a slip in racwire's own code, or a hostile
name in what a node tells, from changing a node. It is no prison for Python code: a check of a third party runs as the
operator, as any program they install does.
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

# Opening some devices does something: a watchdog begins to count, a tape rewinds; bash makes connections of /dev/tcp.
# Reading these files takes away what others would have read.
_NOT_TO_OPEN = re.compile(
    r"(?:^|[=:]|\.\./)(?:\./)*/?dev/(?!null$)|^/proc/kmsg|^/sys/kernel/(?:debug|tracing)"
    # Paths that could be these: by way of a directory above, or of one that is not known.
    r"|^/(?s:.)*/\.\.(?:/|$)|^/[^/]*\0"
)
_SLASHES = re.compile(r"/(?:\.?/)+")


class ChangingCommandError(Exception):
    """A command was refused because it is not known to change nothing; nothing of it ran. One sentence."""

    def __init__(self, node: str, fault: str) -> None:
        super().__init__(
            f"A command was not run on {node}, because {fault}: racwire only reads, and runs only what it knows to "
            "change nothing; this is a fault of racwire, please report it."
        )


def demand_registered_program(program: Program, arguments: Sequence[str], node: str) -> None:
    """Raise ChangingCommandError unless the registry holds the program, and the arguments are of the kinds it takes."""
    if fault := fault_of_program(program, arguments):
        raise ChangingCommandError(node, fault)


def demand_read_only_command(argv: Sequence[str], node: str) -> None:
    """Raise ChangingCommandError unless the command, given as its arguments, is one that only reads."""
    if fault := fault_of_command(tuple(argv)):
        raise ChangingCommandError(node, fault)


def fault_of_program(program: Program, arguments: Sequence[str]) -> str:
    """Why a program may not run with these arguments, in words that follow "because"; empty where it may."""
    if registry.PROGRAMS.get(program.text) is not program:
        return f"the program {program.name!r} is not registered"
    if any(is_not_to_open(Word(value)) for value in arguments):
        return f"an argument of the program {program.name!r} names a file that is not for reading"
    return program.fault(arguments)


@lru_cache(1024)
def fault_of_command(argv: tuple[str, ...]) -> str:
    """Why a command may not run, given as its arguments, the program first; empty where it may."""
    words = tuple(map(Word, argv))
    said = " ".join(argv).replace(UNKNOWN, "…")
    if any(UNKNOWN in word for word in argv):
        return f"a word of `{said}` holds a NUL"
    if any(map(is_not_to_open, words)):
        return f"`{said}` names a file that is not for reading, or not by its plain path"
    return "" if ALLOWED.allows(words) else f"`{said}` is not listed"


def is_not_to_open(word: Word) -> bool:
    """Whether a word can be the path of a file that something happens to when it is opened."""
    return _NOT_TO_OPEN.search(_SLASHES.sub("/", word.text)) is not None


class AllowList:
    """Commands that only read, from synopses: those of the system, and those in the `bin` of a Grid home."""

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
        """The forms that a command of this name can have: by its name alone or by a path, each as the list wants it."""
        directory, program = posixpath.split(name.text)
        if name.many or UNKNOWN in program:
            return ()
        if posixpath.basename(directory) == "bin" and _is_absolute(directory) and program in self._grid:
            return self._grid[program]
        if directory in SYSTEM_DIRECTORIES or name.text == program:
            return self._system.get(program, ())
        return ()


ALLOWED = AllowList(SYSTEM, GRID)
"""What may be started by its arguments: pings by a held shell, and queries to the tools of a Grid home."""


def _is_absolute(directory: str) -> bool:
    """Whether it begins with a slash, or with a home that is known only when it runs: "$home/bin"."""
    known = directory.removeprefix(UNKNOWN)
    return known.startswith("/") and UNKNOWN not in known


def _by_name(synopses: str) -> Mapping[str, Sequence[Form]]:
    forms: dict[str, list[Form]] = {}
    for form in read_forms(synopses):
        for name in form.names:
            forms.setdefault(name, []).append(form)
    return forms
