"""racwire's own commands as each view writes them: with the options of the command line, or as keys of a screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from checks.model.finding import NextStep
from checks.model.own_command import CHANGE, OwnCommand, Text, written


@dataclass(frozen=True)
class OwnCommands:
    """Writes racwire's commands about what is open, and the texts and next steps that have them."""

    options: str = ""
    """The options that select the journal: `--lab --file X`."""
    program: str = CHANGE
    """The command: `change` or `experiment`."""
    entered: str = ""
    """The options that enter the practice cluster, for commands of the other program."""

    def line(self, command: OwnCommand) -> str:
        """Return a command as it is typed here."""
        is_about_the_journal = command.program in ("", self.program)
        return command.line(self.program, self.options if is_about_the_journal else self.entered)

    def text(self, text: Text) -> str:
        """Return a text with its commands."""
        return written(text, lambda command: f"`{self.line(command)}`")

    def steps(self, steps: Iterable[NextStep]) -> Iterator[tuple[str, list[str]]]:
        """Yield the sentence of each next step with its commands."""
        for step in steps:
            lines = [*step.commands, *map(self.line, step.own)]
            yield _sentence(step, ":" if lines else "."), lines


class OwnKeys(OwnCommands):
    """Writes the keys of the Change screen in place of the commands that they replace."""

    def text(self, text: Text) -> str:
        """Return a text with keys: `v` for `racwire change verify`."""
        keys = {**_KEYS, "next": "this page"}
        return written(text, lambda command: keys.get(command.name, f"`{self.line(command)}`"))

    def steps(self, steps: Iterable[NextStep]) -> Iterator[tuple[str, list[str]]]:
        """Yield the sentence of each next step with its commands, without those that a key replaces."""
        for step in steps:
            lines = [*step.commands, *(self.line(command) for command in step.own if command.name not in _KEYS)]
            key = next((f" ({key})" for command in step.own if (key := _KEYS.get(command.name))), "")
            if not step.only_verifies:
                yield _sentence(step, ":" if lines else f"{key}."), lines


_KEYS = {"verify": "v", "rollback": "b", "override": "o", "next": ""}
"""The key of each command; empty for the command that prints the step on this screen."""
KEYS = OwnKeys()


def _sentence(step: NextStep, end: str) -> str:
    where = f" ({step.where})" if step.where else ""
    return f"{step.advice.rstrip('.:')}{where}{end}"
