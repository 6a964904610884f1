"""What people decide on a change, from the command line: each decision is on the disk when its command has ended."""

from __future__ import annotations

from checks.model.exit_codes import ExitCode
from tui.cli.change.change_context import ChangeContext
from tui.cli.change.change_text import way_back_lines
from tui.cli.errors import UsageError
from tui.cli.streams import print_message


def attest(context: ChangeContext) -> int:
    """Attest the current step by name; on the last one, sign off."""
    session = context.session()
    by = context.args.by
    step = session.change.current
    if step is not None or not session.change.is_open:
        session.attest(by, context.args.note)
    if session.change.is_open and session.change.current is None:
        session.close(by)
    change = session.change
    if not change.is_open:
        print_message(f"the change {change.opened.id} is over: {change.outcome} by {by}.")
    elif step is not None:
        print_message(f"{by} attests: {step.attest}")
    print_message(context.hints.here(change))
    return ExitCode.PASS


def override(context: ChangeContext) -> int:
    """Go past the gate of the current step."""
    session = context.session()
    step = session.change.current
    session.override(context.args.by, context.args.reason)
    title = step.title if step else ""
    print_message(
        f"step {title}: gone past without its gate, by {context.args.by}. The report shows it under its own heading."
    )
    print_message(context.hints.here(session.change))
    return ExitCode.PASS


def note(context: ChangeContext) -> int:
    """Write something down."""
    session = context.session()
    session.note(context.args.text)
    print_message(f"noted in {session.path}.")
    return ExitCode.PASS


def roll_back(context: ChangeContext) -> int:
    """Show the way back from here; begin it where somebody decides it by name and with a reason."""
    session = context.session()
    by, reason = context.args.by, context.args.reason
    if bool(by) != bool(reason):
        raise UsageError("rollback: to begin the way back, say who decides it and why: --by NAME --reason TEXT.")
    if not by:
        plan = session.way_back()
        code = context.print(lambda width: way_back_lines(context.hints.in_struct(plan), width))
        begin = context.hints.command("rollback --by NAME --reason TEXT")
        print_message(f"nothing was written. To begin it: {begin}.")
        return code
    session.roll_back(by, reason)
    plan = session.change.plan
    code = context.print(lambda width: way_back_lines(context.hints.in_struct(plan), width))
    print_message(context.hints.here(session.change))
    return code


def abandon(context: ChangeContext) -> int:
    """Give the change up where nothing was stopped or changed yet."""
    session = context.session()
    session.abandon(context.args.by, context.args.reason)
    print_message(f"the change {session.change.opened.id} is over: abandoned by {context.args.by}.")
    return ExitCode.PASS
