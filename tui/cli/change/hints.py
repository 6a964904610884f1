"""Next actions as complete commands, with the options that select the change."""

from __future__ import annotations

import argparse
import os
import shlex
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from checks.change.plan.change_plan import Commands, Step
from checks.change.progress.change_events import AnyEvent, JournalLine, Opened, RolledBack, Surprised, Verified
from checks.change.progress.state import Change, fold
from checks.change.progress.written_steps import of_experiment, with_options
from checks.model.wording import listed
from tui.cli.change.change_text import waits_for
from tui.cli.options import ENTERED

_Struct = TypeVar("_Struct", bound=msgspec.Struct)
_AS_ROOT = "As root"
"""The start of the place of commands for the root shell of a node."""


@dataclass(frozen=True)
class Hints:
    """Suggested commands of `racwire change`, or of `racwire experiment`, for this change."""

    options: str = ""
    program: str = "change"
    """The command: `change` or `experiment`."""
    entered: str = ""
    """The options that enter the practice cluster, for commands of another program."""

    @classmethod
    def of(cls, args: argparse.Namespace) -> Hints:
        """The hints that repeat the options of the command line."""
        options = [entered] if (entered := os.environ.get(ENTERED)) else []
        for name in ("settings", "directory", "file"):
            if value := getattr(args, name, None):
                options += [f"--{name}", shlex.quote(str(value))]
        program = "experiment" if getattr(args, "command", "") == "experiment" else "change"
        return cls("".join(f" {option}" for option in options), program, f" {entered}" if entered else "")

    def command(self, arguments: str = "") -> str:
        """A command with these arguments, in backquotes."""
        return f"`racwire {self.program}{f' {arguments}' if arguments else ''}{self.options}`"

    def in_text(self, text: str) -> str:
        """The text with these options in each of its commands."""
        if self.program == "experiment":
            return with_options(of_experiment(text, self.options), self.entered)
        if not self.options or self.options in text:
            return text
        return with_options(text, self.options)

    def in_struct(self, struct: _Struct) -> _Struct:
        """The struct with these options in each of its texts."""
        return msgspec.convert(self._in_all(msgspec.to_builtins(struct)), type(struct)) if self._differs else struct

    @property
    def _differs(self) -> bool:
        return bool(self.options) or self.program != "change"

    def in_change(self, change: Change) -> Change:
        """The change with these options in the texts of racwire, but not in the texts of people."""
        return fold(self._in_line(line) for line in change.lines) if self._differs else change

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

    def after_step(self, change: Change) -> str:
        """The next action after `racwire change next` printed the current step."""
        step = change.current
        if step is None or not change.is_open:
            return self.next_action(change)
        waits = waits_for(change, step)
        ways = [self.command("verify")] if "its gate" in waits else []
        ways += [self.command(_attest(change, step))] if "an attestation" in waits else []
        is_last = step is change.plan.steps[-1]
        if change.is_way_back and step.commands and "its gate" in waits and not is_last:
            return f"next: {' and '.join(ways)}. If the gate does not pass, run the commands and verify again."
        done = "run the commands, then " if any(not block.may_be_skipped for block in step.commands) else ""
        return f"next: {done}{' and '.join(ways)}."

    def one_line_a_node(self, step: Step) -> str:
        """How to run the root commands of a node in one line; empty where no node has several lines."""
        lines: dict[str, int] = {}
        for block in step.commands:
            if is_for_root(block) and not block.may_be_skipped:
                lines[block.node] = lines.get(block.node, 0) + len(block.lines)
        if max(lines.values(), default=0) < 2:
            return ""
        pipe = f"{self.command('next --node NODE --commands').strip('`')} | ssh root@NODE sh -e"
        return f"the root commands of one node, in one line and in the order of the step: `{pipe}`."

    def next_action(self, change: Change) -> str:
        """The next action for the status of the change."""
        step = change.current
        if not change.is_open:
            return f"next: {self.command(f'report -o {self.program}.html')} writes the report of the {self.program}."
        if step is None:
            return f"next: every step is done; {self.command('attest --by NAME')} signs the {self.program} off."
        waits = waits_for(change, step)
        if change.mark(step).verified is not None and "its gate" not in waits:
            return f"next: {self.command(_attest(change, step))}: {step.to_attest}"
        if change.mark(step).verified is not None:
            return (
                f"next: fix what the gate names, then {self.command('verify')}; {self.command('next')} shows the step."
            )
        hosts = change.mark(step).unattested(step)
        if hosts and hosts != step.attest_for:
            return f"next: {self.command(_attest(change, step))}, for {listed(hosts)}."
        number = change.plan.position(step.id) + 1
        return f"next: step {number}, {step.title}: {self.command('next')}."


def is_for_root(block: Commands) -> bool:
    """Whether commands are for the root shell of a node, so that they can be piped into it."""
    return bool(block.node) and block.where.startswith(_AS_ROOT)


def _attest(change: Change, step: Step) -> str:
    """The arguments that attest the step; one host at a time, or several by repeating --host."""
    host = " --host HOST" if change.mark(step).unattested(step) else ""
    return f"attest --by NAME{host}{' --note TEXT' if step.attest_asks else ''}"
