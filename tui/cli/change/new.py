"""`racwire change new`: check the whole cluster, then list the obstacles, or write the plan."""

from __future__ import annotations

import argparse

from checks.change.change_plan import Accepted
from checks.change.change_text import headline
from checks.change.obstacles import Obstacle, PlanError
from checks.change.opening import open_change
from checks.change.stated_network import NONE, StatedNetwork
from checks.change.vendors_file import VendorsFileError, load_kinds
from checks.model.exit_codes import ExitCode
from checks.model.settings import Settings
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
    stated = _stated(args, settings)
    found = discover()
    opening = open_change(
        settings,
        found,
        target=args.to,
        accepted=accepted(args),
        stated=stated,
        password=password_for(settings.database, found),
        reason=args.reason.strip(),
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


def _stated(args: argparse.Namespace, settings: Settings) -> StatedNetwork:
    """What the options state about the network. Raises UsageError for a kind that is not known."""
    try:
        kinds = load_kinds(settings.change.switch_kinds)
    except VendorsFileError as error:
        raise UsageError(str(error)) from None
    if args.hypervisor and NONE in args.hypervisor and (args.host or len(set(args.hypervisor)) > 1):
        raise UsageError("--hypervisor none has no host and no other kind: leave them out.")
    for option, stated, known in (
        ("--switch", args.switch, (*kinds.switches, *kinds.hypervisors)),
        ("--hypervisor", args.hypervisor, (*kinds.hypervisors, NONE)),
    ):
        if wrong := next((key for key in stated if key not in known), ""):
            raise UsageError(
                f"{option}: racwire does not know {wrong}; `racwire explain switches` lists {', '.join(known)}."
            )
    if empty := next((host for host in args.host if not host.strip()), None):
        raise UsageError(f"--host has no name: {empty!r}.")
    return StatedNetwork(
        kinds,
        tuple(args.switch),
        args.switch_pair,
        tuple(dict.fromkeys(args.hypervisor)),
        tuple(dict.fromkeys(host.strip() for host in args.host)),
    )


def accepted(args: argparse.Namespace) -> tuple[Accepted, ...]:
    """The obstacles that --despite accepts, for the typed reason. Raises UsageError where the reason is missing."""
    if args.despite and not args.reason.strip():
        raise UsageError("--despite needs a reason for the report: add --reason TEXT.")
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
