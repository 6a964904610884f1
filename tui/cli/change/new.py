"""`racwire change new`: check the whole cluster, then list the obstacles, or write the plan."""

from __future__ import annotations

import argparse

from checks.change.change_plan import Accepted
from checks.change.change_text import headline
from checks.change.obstacles import Obstacle, PlanError
from checks.change.opening import open_change
from checks.change.vendors import keys, vendor
from checks.model.exit_codes import ExitCode
from checks.model.wording import counted
from checks.run.check_discovery import discover
from tui.cli.change.change_context import ChangeContext
from tui.cli.change.change_text import obstacle_lines, opened_lines
from tui.cli.change.completion import open_new_change
from tui.cli.errors import UsageError
from tui.cli.password import password_for
from tui.cli.streams import print_message


def new(context: ChangeContext) -> int:
    """Open a change and return the exit code, 2 where an obstacle prevents it.

    Raises UsageError, ChangeError, ChangeJournalError, EndedEarlyError.
    """
    args, settings = context.args, context.settings
    for kind in args.switch:
        if vendor(kind) is None:
            raise UsageError(
                f"--switch: racwire does not know {kind}; `racwire explain switches` lists {', '.join(keys())}."
            )
    found = discover()
    opening = open_change(
        settings,
        found,
        target=args.to,
        accepted=_accepted(args),
        switches=tuple(args.switch) or settings.change.switches,
        password=password_for(settings.database, found),
    )
    try:
        session = open_new_change(opening, quiet=args.quiet).session
    except PlanError as error:
        return _report_obstacles(context, error.obstacles)
    plan = session.change.plan
    change = context.hints.in_change(session.change)
    code = context.print(lambda width: opened_lines(change, width, path=str(session.path)))
    print_message(f"{headline(plan)}: the plan has {counted(len(plan.steps), 'step')}. Nothing was changed.")
    print_message(context.hints.next_action(session.change))
    return code


def _accepted(args: argparse.Namespace) -> tuple[Accepted, ...]:
    """The obstacles that --despite accepts. Raises UsageError where --despite or --reason is missing."""
    if args.despite and not args.reason.strip():
        raise UsageError("--despite needs a reason for the report: add --reason TEXT.")
    if args.reason and not args.despite:
        raise UsageError("--reason needs an obstacle: add --despite CODE.")
    return tuple(Accepted(code.upper(), "", args.reason.strip()) for code in args.despite)


def _report_obstacles(context: ChangeContext, obstacles: tuple[Obstacle, ...]) -> int:
    lines = tuple(map(context.hints.in_struct, obstacles))
    context.print(lambda width: obstacle_lines(lines, width))
    verb = "prevents" if len(obstacles) == 1 else "prevent"
    print_message(f"no change was opened: {counted(len(obstacles), 'obstacle')} {verb} it.")
    if all(obstacle.acceptable for obstacle in obstacles):
        codes = " ".join(dict.fromkeys(f"--despite {obstacle.code}" for obstacle in obstacles))
        print_message(f"to accept that: {context.hints.command(f'new {codes} --reason TEXT')}")
    return ExitCode.FAILURES
