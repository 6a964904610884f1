"""racwire's commands about what is open, as they are typed: with the options that select the journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from checks.change.progress.change_events import GateResult
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
            yield sentence_of_step(step, ":" if lines else "."), lines

    def document(self, result: GateResult) -> dict[str, Any]:
        """Return a result of a gate for JSON; of its next steps each sentence, and the commands after it."""
        written_steps = [text for sentence, lines in self.steps(result.next) for text in (sentence, *lines)]
        return {**msgspec.to_builtins(result), **({"next": written_steps} if written_steps else {})}


def sentence_of_step(step: NextStep, end: str) -> str:
    """Return the sentence of a next step, with where it is done, and `end` as its last characters."""
    where = f" ({step.where})" if step.where else ""
    return f"{step.advice.rstrip('.:')}{where}{end}"
