"""What people decide on a change, from the command line: each decision is on the disk when its command has ended."""

from __future__ import annotations

from checks.model.exit_codes import ExitCode
from tui.cli.change.change_context import ChangeContext
from tui.cli.change.change_text import way_back_lines
from tui.cli.errors import UsageError
from tui.cli.streams import tell


def attest(context: ChangeContext) -> int:
    """Attest the current step by name; on the last one, sign off."""
    conduct = context.conduct()
    by = context.args.by
    step = conduct.change.current
    if step is not None or not conduct.change.is_open:
        conduct.attest(by, context.args.note)
    if conduct.change.is_open and conduct.change.current is None:
        conduct.close(by)
    change = conduct.change
    if not change.is_open:
        tell(f"the change {change.opened.id} is over: {change.outcome} by {by}.")
    elif step is not None:
        tell(f"{by} attests: {step.attest}")
    tell(context.hints.here(change))
    return ExitCode.PASS


def override(context: ChangeContext) -> int:
    """Go past the gate of the current step."""
    conduct = context.conduct()
    step = conduct.change.current
    conduct.override(context.args.by, context.args.reason)
    title = step.title if step else ""
    tell(f"step {title}: gone past without its gate, by {context.args.by}. The report shows it under its own heading.")
    tell(context.hints.here(conduct.change))
    return ExitCode.PASS


def note(context: ChangeContext) -> int:
    """Write something down."""
    conduct = context.conduct()
    conduct.note(context.args.text)
    tell(f"noted in {conduct.path}.")
    return ExitCode.PASS


def roll_back(context: ChangeContext) -> int:
    """Show the way back from here; begin it where somebody decides it by name and with a reason."""
    conduct = context.conduct()
    by, reason = context.args.by, context.args.reason
    if bool(by) != bool(reason):
        raise UsageError("rollback: to begin the way back, say who decides it and why: --by NAME --reason TEXT.")
    if not by:
        plan = conduct.way_back()
        code = context.print(lambda width: way_back_lines(context.hints.in_struct(plan), width))
        begin = context.hints.command("rollback --by NAME --reason TEXT")
        tell(f"nothing was written. To begin it: {begin}.")
        return code
    conduct.roll_back(by, reason)
    plan = conduct.change.plan
    code = context.print(lambda width: way_back_lines(context.hints.in_struct(plan), width))
    tell(context.hints.here(conduct.change))
    return code


def abandon(context: ChangeContext) -> int:
    """Give the change up where nothing was stopped or changed yet."""
    conduct = context.conduct()
    conduct.abandon(context.args.by, context.args.reason)
    tell(f"the change {conduct.change.opened.id} is over: abandoned by {context.args.by}.")
    return ExitCode.PASS
