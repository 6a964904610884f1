"""The keys of the Change screen in place of racwire's own commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checks.change.progress.own_commands import OwnCommands, sentence_of_step
from checks.model.finding import NextStep
from checks.model.own_command import Text, written


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
                yield sentence_of_step(step, ":" if lines else f"{key}."), lines


_KEYS = {"verify": "v", "rollback": "b", "override": "o", "next": ""}
"""The key of each command; empty for the command that prints the step on this screen."""
KEYS = OwnKeys()
