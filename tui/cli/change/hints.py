"""What comes next, as a command that can be typed as it stands: with the options that say which change is meant."""

from __future__ import annotations

import argparse
import os
import shlex
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from checks.change.change_events import AnyEvent, JournalLine, Opened, RolledBack, Surprised, Verified
from checks.change.state import Change, fold
from checks.change.written_steps import with_options
from tui.cli.change.change_text import waits_for
from tui.cli.options import ENTERED

_OPTIONAL = "if you"
"""In the place of commands that may be left out: `if you like`."""
_Struct = TypeVar("_Struct", bound=msgspec.Struct)


@dataclass(frozen=True)
class Hints:
    """Commands of `racwire change` for this change."""

    options: str = ""

    @classmethod
    def of(cls, args: argparse.Namespace) -> Hints:
        """Those that repeat what was said on the command line."""
        words = ["--lab"] if os.environ.get(ENTERED) else []
        for name in ("settings", "directory", "file"):
            if value := getattr(args, name, None):
                words += [f"--{name}", shlex.quote(str(value))]
        return cls("".join(f" {word}" for word in words))

    def command(self, words: str = "") -> str:
        """One command, in backquotes."""
        return f"`racwire change{f' {words}' if words else ''}{self.options}`"

    def in_text(self, text: str) -> str:
        """The same sentence or command with these options in each command of `racwire change`."""
        if not self.options or self.options in text:
            return text
        return with_options(text, self.options)

    def in_struct(self, struct: _Struct) -> _Struct:
        """The same with these options in every text of it."""
        return msgspec.convert(self._in_all(msgspec.to_builtins(struct)), type(struct)) if self.options else struct

    def in_change(self, change: Change) -> Change:
        """The same change as it is shown to who typed these options: in what racwire says, not in what people said."""
        return fold(self._in_line(line) for line in change.lines) if self.options else change

    def _in_line(self, line: JournalLine) -> JournalLine:
        return msgspec.structs.replace(line, event=self._in_event(line.event))

    def _in_event(self, event: AnyEvent) -> AnyEvent:
        match event:
            case Opened() | RolledBack():
                return msgspec.structs.replace(event, plan=self.in_struct(event.plan))
            case Verified():
                return msgspec.structs.replace(event, results=tuple(map(self.in_struct, event.results)))
            case Surprised():
                return msgspec.structs.replace(event, sentence=self.in_text(event.sentence))
        return event

    def _in_all(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.in_text(value)
        if isinstance(value, dict):
            return {key: self._in_all(each) for key, each in value.items()}
        return [self._in_all(each) for each in value] if isinstance(value, list | tuple) else value

    def after_step_shown(self, change: Change) -> str:
        """What to do once the current step was read, and done."""
        step = change.current
        if step is None or not change.is_open:
            return self.here(change)
        waits = waits_for(change, step)
        ways = [self.command("verify")] if "its gate" in waits else []
        ways += [self.command("attest --by NAME")] if "an attestation" in waits else []
        is_last = step is change.plan.steps[-1]
        if change.is_way_back and step.commands and "its gate" in waits and not is_last:
            return f"next: {' and '.join(ways)}; what is so already passes at once. If not, run them, and look again."
        done = "run them, then " if any(_OPTIONAL not in block.where for block in step.commands) else ""
        return f"next: {done}{' and '.join(ways)}."

    def here(self, change: Change) -> str:
        """What to do where a change stands."""
        step = change.current
        if not change.is_open:
            return f"next: {self.command('report -o change.md')} writes what was done, for who was not there."
        if step is None:
            return f"next: {self.command('attest --by NAME')} closes it: every step is done."
        waits = waits_for(change, step)
        if change.mark(step).verified is not None and "its gate" not in waits:
            return f"next: {self.command('attest --by NAME')}: {step.attest}"
        if change.mark(step).verified is not None:
            return (
                f"next: mend what the gate names, then {self.command('verify')}; {self.command('next')} shows the step."
            )
        number = change.plan.position(step.id) + 1
        return f"next: step {number}, {step.title}: {self.command('next')}."
