"""Next actions as complete commands, with the options that select the change."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from datetime import datetime

from checks.change.plan.change_plan import Step
from checks.change.plan.step_stops import stops_of
from checks.change.progress.own_commands import OwnCommands
from checks.change.progress.planned_stops import is_started
from checks.change.progress.state import Change, StepNeed
from checks.model.own_command import OwnCommand
from checks.model.shell_command import shell
from checks.model.wording import listed
from tui.cli.options import ENTERED


@dataclass(frozen=True)
class Hints(OwnCommands):
    """Suggested commands of `racwire change`, or of `racwire experiment`, for this change."""

    @classmethod
    def of(cls, args: argparse.Namespace) -> Hints:
        """The hints that repeat the options of the command line."""
        options = [entered] if (entered := os.environ.get(ENTERED)) else []
        for name in ("settings", "directory", "file"):
            if value := getattr(args, name, None):
                options += [f"--{name}", shell("{value}", value=str(value))]
        program = "experiment" if getattr(args, "command", "") == "experiment" else "change"
        return cls(" ".join(options), program, entered or "")

    def command(self, arguments: str = "") -> str:
        """A command with these arguments, in backquotes."""
        return self.text((OwnCommand(arguments),))

    def after_step(self, change: Change) -> str:
        """The next action after `racwire change next` printed the current step."""
        step = change.current
        if step is None or not change.is_open:
            return self.next_action(change)
        waits = change.mark(step).waits_for(step)
        ways = [self.command("verify")] if StepNeed.GATE in waits else []
        ways += [self.command(_attest(change, step))] if StepNeed.ATTESTATION in waits else []
        is_last = step is change.plan.steps[-1]
        if change.is_way_back and step.commands and StepNeed.GATE in waits and not is_last:
            return f"next: {' and '.join(ways)}. If the gate does not pass, run the commands and verify again."
        is_due = stops_of(change.plan, step) and not is_started(change, step, datetime.now().astimezone())
        start = f"{self.command('begin')}, then " if is_due else ""
        done = "run the commands, then " if any(not block.optional for block in step.commands) else ""
        return f"next: {start}{done}{' and '.join(ways)}."

    def one_line_a_node(self, step: Step) -> str:
        """How to run the root commands of a node in one line; empty where no node has several lines."""
        lines: dict[str, int] = {}
        for block in step.commands:
            if block.is_piped:
                lines[block.node] = lines.get(block.node, 0) + len(block.lines)
        if max(lines.values(), default=0) < 2:
            return ""
        pipe = f"{self.line(OwnCommand('next', '--node NODE --commands'))} | ssh root@NODE sh -e"
        return f"the root commands of one node, in one line and in the order of the step: `{pipe}`."

    def next_action(self, change: Change) -> str:
        """The next action for the status of the change."""
        step = change.current
        if not change.is_open:
            return f"next: {self.command(f'report -o {self.program}.html')} writes the report of the {self.program}."
        if step is None:
            return f"next: every step is done; {self.command('attest --by NAME')} signs the {self.program} off."
        waits = change.mark(step).waits_for(step)
        if change.mark(step).verified is not None and StepNeed.GATE not in waits:
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


def _attest(change: Change, step: Step) -> str:
    """The arguments that attest the step; one host at a time, or several by repeating --host."""
    host = " --host HOST" if change.mark(step).unattested(step) else ""
    return f"attest --by NAME{host}{' --note TEXT' if step.attest_asks else ''}"
