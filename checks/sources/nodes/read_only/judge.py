"""Whether a command or a program is one that only reads. No I/O."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from checks.sources.nodes.read_only.commands import GRID, SYSTEM, SYSTEM_DIRECTORIES
from checks.sources.nodes.read_only.forms import Form, read_forms
from checks.sources.nodes.read_only.shell_text import simple_commands
from checks.sources.nodes.read_only.words import UNKNOWN, NotReadOnlyError, SimpleCommand, Word

_REMEMBERED = 1024
_VARIABLE = re.compile(r"(?!racwire_)[a-z][a-z0-9_]*", re.ASCII)
"""Names that a program may give a value: none that a shell or a tool gives a meaning, none of the held shell's own."""
_FOR_ONE_COMMAND = ("LC_ALL", "LANG", "IFS")
# Opening some devices does something: a watchdog begins to count, a tape rewinds; bash makes connections of /dev/tcp.
# Reading these files takes away what others would have read.
_NOT_TO_OPEN = re.compile(
    r"(?:^|[=:]|\.\./)(?:\./)*/?dev/(?!null$)|^/proc/kmsg|^/sys/kernel/(?:debug|tracing)"
    # Paths that could be these: by way of a directory above, or of one that is not known.
    r"|^/(?s:.)*/\.\.(?:/|$)|^/[^/]*\0"
)
_SLASHES = re.compile(r"/(?:\.?/)+")


@lru_cache(_REMEMBERED)
def fault_of_program(program: str) -> str:
    """Why a program of plain `sh` may not run, in words that follow "because"; empty where it may."""
    try:
        for command in simple_commands(program):
            _judge(command)
    except NotReadOnlyError as error:
        return str(error)
    return ""


@lru_cache(_REMEMBERED)
def fault_of_command(argv: tuple[str, ...]) -> str:
    """Why a command may not run, given as its arguments, the program first; empty where it may."""
    try:
        if any(UNKNOWN in word for word in argv):
            raise NotReadOnlyError("a word holds a NUL")
        _judge(SimpleCommand(tuple(map(Word, argv))))
    except NotReadOnlyError as error:
        return str(error)
    return ""


def _judge(command: SimpleCommand) -> None:
    """Raises NotReadOnlyError unless the command only reads."""
    for redirection in command.redirections:
        if not _is_harmless(redirection.operator, redirection.target):
            raise NotReadOnlyError(f"`{command}` redirects to or from what it may not")
    for name, _ in command.assignments:
        if name not in _FOR_ONE_COMMAND if command.words else not _VARIABLE.fullmatch(name):
            raise NotReadOnlyError(f"`{command}` sets {name}")
    for word in command.words:
        if _is_not_to_open(word):
            raise NotReadOnlyError(f"`{command}` names a file that is not for reading, or not by its plain path")
    if command.words and not _is_listed(command.words):
        raise NotReadOnlyError(f"`{command}` is not listed")


def _is_not_to_open(word: Word) -> bool:
    return _NOT_TO_OPEN.search(_SLASHES.sub("/", word.text)) is not None


def _is_harmless(operator: str, target: Word) -> bool:
    if target.many:
        return False
    if operator.endswith("&"):
        return re.fullmatch("[0-9]", target.text, re.ASCII) is not None
    if operator == "<":
        return target.text.startswith("/") and not _is_not_to_open(target)
    return target.text == "/dev/null"


def _is_listed(words: Sequence[Word]) -> bool:
    if not words:
        return False
    name, *arguments = words
    if name.text == "[" and arguments and arguments[-1].text == "]" and arguments[-1].is_known:
        name, arguments = Word("test"), arguments[:-1]
    return any(form.allows(arguments, _is_listed) for form in _forms_of(name))


def _forms_of(name: Word) -> Sequence[Form]:
    """The forms that a command of this name can have: by its name alone or by a path, each as the list wants it."""
    directory, program = posixpath.split(name.text)
    if name.many or UNKNOWN in program:
        return ()
    if posixpath.basename(directory) == "bin" and _is_absolute(directory) and program in _grid():
        return _grid()[program]
    if directory in SYSTEM_DIRECTORIES or name.text == program:
        return _system().get(program, ())
    return ()


def _is_absolute(directory: str) -> bool:
    """Whether it begins with a slash, or with a home that is known only when it runs: "$home/bin"."""
    known = directory.removeprefix(UNKNOWN)
    return known.startswith("/") and UNKNOWN not in known


@cache
def _system() -> Mapping[str, Sequence[Form]]:
    return _by_name(SYSTEM)


@cache
def _grid() -> Mapping[str, Sequence[Form]]:
    return _by_name(GRID)


def _by_name(synopses: str) -> Mapping[str, Sequence[Form]]:
    forms: dict[str, list[Form]] = {}
    for form in read_forms(synopses):
        for name in form.names:
            forms.setdefault(name, []).append(form)
    return forms
