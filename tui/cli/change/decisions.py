"""The commands with which people decide: each decision is on the disk when its command ends."""

from __future__ import annotations

from checks.change.progress import decisions
from checks.change.progress.change_events import Overridden
from checks.model.exit_codes import ExitCode
from checks.model.wording import listed
from tui.cli.change.change_context import ChangeContext
from tui.cli.change.change_text import rollback_lines
from tui.cli.change.show import finish
from tui.cli.errors import UsageError
from tui.cli.streams import print_message


def attest(context: ChangeContext) -> int:
    """Attest the current step with the name of a person; on the last step, sign off the change. Return the exit code.

    Raises ChangeError, ChangeJournalError.
    """
    session = context.session()
    by = context.args.by
    step = session.change.current
    hosts = tuple(dict.fromkeys(context.args.host))
    if step is not None or not session.change.is_open:
        for host in hosts:  # all, before the first is written
            decisions.attest(session.change, step.id if step else "", by, context.args.note, host)
        for host in hosts or ("",):
            session.attest(by, context.args.note, host)
    if session.change.is_open and session.change.current is None:
        session.close(by)
    change = session.change
    if not change.is_open:
        print_message(f"the {change.opened.noun} {change.opened.id} has ended: {change.outcome} by {by}.")
    elif step is not None:
        where = f" for {listed(hosts)}" if hosts else ""
        print_message(f"attested{where} by {by}: {step.attest}")
    return finish(context, change, ExitCode.PASS)


def override(context: ChangeContext) -> int:
    """Override the gate of the current step. Return the exit code. Raises ChangeError, ChangeJournalError."""
    session = context.session()
    step = session.change.current
    line = session.override(context.args.by, context.args.reason)
    title = step.title if step else ""
    overridden = line.event
    for result in overridden.not_held if isinstance(overridden, Overridden) else ():
        print_message(f"overridden: {result.sentence or f'{result.check} {result.node} {result.text}'}")
    print_message(f"step {title}: the gate was overridden by {context.args.by}. The report lists it under Overrides.")
    print_message(context.hints.next_action(session.change))
    return ExitCode.PASS


def note(context: ChangeContext) -> int:
    """Write a note into the journal. Return the exit code. Raises ChangeError, ChangeJournalError."""
    session = context.session()
    session.note(context.args.text)
    print_message(f"the note is in {session.path}.")
    return ExitCode.PASS


def roll_back(context: ChangeContext) -> int:
    """Show the rollback from the current step; start it with --by and --reason. Return the exit code.

    Raises ChangeError, ChangeJournalError, UsageError.
    """
    session = context.session()
    by, reason = context.args.by, context.args.reason
    if bool(by) != bool(reason):
        raise UsageError("rollback: to start it, name the person who decides and the reason: --by NAME --reason TEXT.")
    if not by:
        plan = session.way_back()
        code = context.print(lambda width: rollback_lines(plan, width, context.hints))
        start = context.hints.command("rollback --by NAME --reason TEXT")
        print_message(f"nothing was written. To start the rollback: {start}.")
        return code
    session.roll_back(by, reason)
    plan = session.change.plan
    code = context.print(lambda width: rollback_lines(plan, width, context.hints))
    print_message(context.hints.next_action(session.change))
    return code


def abandon(context: ChangeContext) -> int:
    """End the change where nothing was stopped or changed yet. Return the exit code.

    Raises ChangeError, ChangeJournalError.
    """
    session = context.session()
    session.abandon(context.args.by, context.args.reason)
    print_message(
        f"the {session.change.opened.noun} {session.change.opened.id} has ended: abandoned by {context.args.by}."
    )
    return ExitCode.PASS
