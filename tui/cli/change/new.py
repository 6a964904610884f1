"""`racwire change new`: looks at the whole cluster, names what stands in the way, else writes the plan."""

from __future__ import annotations

import argparse

from checks.change.change_plan import Accepted
from checks.change.change_text import headline
from checks.change.obstacles import Obstacle, PlanError
from checks.change.opening import open_change
from checks.change.vendors import keys, vendor
from checks.model.exit_codes import ExitCode
from checks.run.check_discovery import discover
from tui.cli.change.change_context import ChangeContext
from tui.cli.change.change_text import obstacle_lines, opened_lines
from tui.cli.change.completion import open_new_change
from tui.cli.errors import UsageError
from tui.cli.password import password_for
from tui.cli.streams import print_message


def new(context: ChangeContext) -> int:
    """Begin a change; 2 where something stands in the way. Raises UsageError, ChangeError, ChangeJournalError."""
    args, settings = context.args, context.settings
    for kind in args.switch:
        if vendor(kind) is None:
            raise UsageError(
                f"--switch: {kind} is none that racwire knows; `racwire explain switches` tells of {', '.join(keys())}."
            )
    found = discover()
    beginning = open_change(
        settings,
        found,
        target=args.to,
        accepted=_accepted(args),
        switches=tuple(args.switch) or settings.change.switches,
        password=password_for(settings.database, found),
    )
    try:
        session = open_new_change(beginning, quiet=args.quiet).conduct
    except PlanError as error:
        return _in_the_way(context, error.obstacles)
    plan = session.change.plan
    told = context.hints.in_change(session.change)
    code = context.print(lambda width: opened_lines(told, width, path=str(session.path)))
    print_message(f"{headline(plan)} is planned in {len(plan.steps)} steps. Nothing was changed.")
    print_message(context.hints.here(session.change))
    return code


def _accepted(args: argparse.Namespace) -> tuple[Accepted, ...]:
    """What is to be begun in spite of. Raises UsageError without a reason."""
    if args.despite and not args.reason.strip():
        raise UsageError("--despite: say why with --reason TEXT; it stands in the report.")
    if args.reason and not args.despite:
        raise UsageError("--reason: name what it is about with --despite CODE.")
    return tuple(Accepted(code.upper(), "", args.reason.strip()) for code in args.despite)


def _in_the_way(context: ChangeContext, obstacles: tuple[Obstacle, ...]) -> int:
    told = tuple(map(context.hints.in_struct, obstacles))
    context.print(lambda width: obstacle_lines(told, width))
    count = "one thing stands" if len(obstacles) == 1 else f"{len(obstacles)} things stand"
    print_message(f"no change was begun: {count} in the way.")
    if all(obstacle.acceptable for obstacle in obstacles):
        codes = " ".join(dict.fromkeys(f"--despite {obstacle.code}" for obstacle in obstacles))
        print_message(f"where that is known and weighed: {context.hints.command(f'new {codes} --reason TEXT')}")
    return ExitCode.FAILURES
