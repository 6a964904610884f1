"""Decide whether a program of plain `sh` only reads. No I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence

from checks.sources.nodes.read_only import AllowList, is_not_to_open
from checks.sources.nodes.read_only.allow_list import GRID, SYSTEM, Word
from tests.support.shell_judge.commands import PROGRAM_COMMANDS
from tests.support.shell_judge.shell_text import simple_commands
from tests.support.shell_judge.words import NotReadOnlyError, SimpleCommand

_VARIABLE = re.compile(r"(?!racwire_)[a-z][a-z0-9_]*", re.ASCII)
"""Names that a program may assign: none with a meaning for a shell or a tool, none of the persistent shell."""
_FOR_ONE_COMMAND = ("LC_ALL", "LANG", "IFS")
_EMPTY_FOR_ONE_COMMAND = ("TAR_OPTIONS",)
"""Names that a program may only empty: a value would add options to the command."""


class _InPrograms(AllowList):
    """An allow list that accepts the shell's own brackets."""

    def allows(self, words: Sequence[Word]) -> bool:
        if len(words) > 1 and words[0].text == "[" and words[-1].text == "]" and words[-1].is_known:
            words = (Word("test"), *words[1:-1])
        return super().allows(words)


_ALLOWED = _InPrograms(SYSTEM + PROGRAM_COMMANDS, GRID)


def fault_of_program(program: str) -> str:
    """Return why a program of plain `sh` may not run, as text after "because"; empty when it may run."""
    try:
        for command in simple_commands(program):
            _judge(command)
    except NotReadOnlyError as error:
        return str(error)
    return ""


def _judge(command: SimpleCommand) -> None:
    """Raises NotReadOnlyError unless the command only reads."""
    for redirection in command.redirections:
        if not _is_harmless(redirection.operator, redirection.target):
            raise NotReadOnlyError(f"`{command}` redirects to or from what it may not")
    for name, value in command.assignments:
        if name in _EMPTY_FOR_ONE_COMMAND and command.words and value == Word("", plain=True):
            continue
        if name not in _FOR_ONE_COMMAND if command.words else not _VARIABLE.fullmatch(name):
            raise NotReadOnlyError(f"`{command}` sets {name}")
    for word in command.words:
        if is_not_to_open(word):
            raise NotReadOnlyError(f"`{command}` names a file that is not for reading, or not by its plain path")
    if command.words and not _ALLOWED.allows(command.words):
        raise NotReadOnlyError(f"`{command}` is not listed")


def _is_harmless(operator: str, target: Word) -> bool:
    if target.many:
        return False
    if operator.endswith("&"):
        return re.fullmatch("[0-9]", target.text, re.ASCII) is not None
    if operator == "<":
        return target.text.startswith("/") and not is_not_to_open(target)
    return target.text == "/dev/null"
