"""`racwire experiment …`: one load on a test database, before and after a change of the MTU.

The journal, the steps and the gates are those of `racwire change`.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from tui.cli.change.change_command import (
    OPENING_CODES,
    JournalCommands,
    add_journal_options,
    add_next,
    add_quiet_and_checks,
    run_command,
    selected,
)
from tui.cli.change.workflow_help import WorkflowHelp
from tui.cli.errors import UsageError
from tui.cli.options import add_check_options
from tui.cli.streams import print_message

if TYPE_CHECKING:
    from checks.model.settings import Settings
    from tui.cli.change.change_context import ChangeContext

_ABOUT = """\
Run one load on a test database, twice before a change of the MTU and once after
it, from the same data each time, and compare the runs.

For test databases only: a guaranteed restore point is created, and the database
is flashed back to it after each run. What is written after the restore point is
lost. racwire changes nothing: it prints the commands, you run them, and it
checks their effect."""

_WORKFLOW = """\
the steps of an experiment:
  racwire experiment new --load swingbench --users 150 --think-time 0ms
                                 check the cluster, write the plan; it asks for
                                 the name of the test database
  racwire experiment next        show the current step and its commands
  racwire experiment verify      check the gate of the step
  racwire experiment attest --by 'A. Lee' --note '1364 tps, 0 failed'
                                 confirm what no check can see; last, sign off
  racwire experiment status      show the progress
  racwire experiment report -o experiment.html    write the report
between the runs, the change itself, with a journal and gates of its own:
  racwire change new --to 9000   then follow `racwire change next`
if something fails:
  racwire experiment rollback    show the last steps: flash back, and the drop
                                 of the restore point; --by starts it
  racwire experiment override --by NAME --reason TEXT    continue although a
                                 gate did not pass; the report lists it
  racwire experiment abandon --by NAME --reason TEXT    end it, before the
                                 restore point is created
more:
  racwire experiment next --all  the whole plan as a checklist
  racwire experiment note TEXT   write a note into the journal and the report
  racwire experiment list        list all experiments
practise: racwire lab up --mtu 1500 --switch-mtu 9216; then add --lab to each

exit codes: 0 done, or the gate passed; 2 the gate did not pass, or an obstacle
prevents the experiment; 3 could not tell; 64 usage, or not possible at this
step; 130 interrupted, nothing written. Options: racwire experiment COMMAND -h"""


def add_options(experiment: argparse.ArgumentParser) -> None:
    """Add the commands below `racwire experiment`."""
    experiment.usage = "racwire experiment [COMMAND] [--lab] [--file JOURNAL] [--directory DIR]"
    experiment.description = _ABOUT
    experiment.epilog = _WORKFLOW
    experiment.add_argument(
        "-h", "--help", action=WorkflowHelp, nargs=0, help="show the steps of an experiment and their commands"
    )
    add_journal_options(experiment, "experiment")
    add_check_options(experiment)
    commands = JournalCommands(experiment, "experiment")
    _add_new(commands)
    commands.add_all()


def _add_new(commands: JournalCommands) -> None:
    new = commands.add(
        "new",
        "check the cluster and write the plan of an experiment",
        """\
racwire experiment new --load swingbench --users 150 --think-time 0ms
racwire experiment new --load hammerdb --users 80 --think-time 0ms --for 1h
racwire experiment new --load own --users 12 --think-time none --database T1""",
        OPENING_CODES,
    )
    plan = new.add_argument_group("plan")
    plan.add_argument(
        "--load", required=True, choices=("swingbench", "hammerdb", "own"), help="load tool, whose commands are printed"
    )
    plan.add_argument(
        "--database",
        default="",
        metavar="NAME",
        help="unique name of the test database, typed by you (default: a terminal asks for it)",
    )
    plan.add_argument("--users", required=True, type=int, metavar="N", help="users of the load, the same in each run")
    plan.add_argument(
        "--think-time",
        required=True,
        metavar="TEXT",
        help="think time of each user, the same in each run, such as 0ms",
    )
    plan.add_argument(
        "--for", dest="for_", default="30m", metavar="TIME", help="length of the recording of each run (default 30m)"
    )
    plan.add_argument(
        "--to", type=int, metavar="MTU", help="MTU of run B (default 9000; 1500 where jumbo frames are configured)"
    )
    plan.add_argument(
        "--despite",
        action="append",
        default=[],
        metavar="CODE",
        help="accept the obstacle with this code, where that is possible (repeatable; needs --reason)",
    )
    plan.add_argument(
        "--reason", default="", metavar="TEXT", help="why; with --despite, why the obstacle is accepted; in the report"
    )
    add_next(plan, "the first step")
    add_quiet_and_checks(new)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Run a command of `racwire experiment` and return its exit code. Raises UsageError where it is not possible."""
    from msgspec.structs import replace

    from checks.change.progress.journal_names import EXPERIMENTS
    from checks.change.record.change_journal import ChangeJournalError
    from checks.change.record.journal_files import directory_of

    settings = selected(args, settings)
    try:
        directory = directory_of(settings) / EXPERIMENTS
    except ChangeJournalError as error:
        raise UsageError(str(error)) from None
    own = replace(settings, change=replace(settings.change, directory=str(directory)))
    args.change_command = args.change_command or "status"
    return run_command(args, own, {"new": _new})


def _new(context: ChangeContext) -> int:
    """Open an experiment and return the exit code.

    Raises UsageError, ChangeError, ChangeJournalError, EndedEarlyError.
    """
    from pathlib import Path

    from msgspec.structs import replace

    from checks.change.kinds.experiment import ExperimentRequest
    from checks.change.progress.state import ChangeError
    from checks.change.session.open_here import open_here
    from tui.cli.change.new import open_plan
    from tui.cli.durations import seconds_of

    args, settings = context.args, context.settings
    if not 1 <= args.users <= _MOST_USERS:
        raise UsageError(f"--users: {args.users} is not a number of users from 1 to {_MOST_USERS}.")
    if not (think_time := args.think_time.strip()):
        raise UsageError("--think-time is empty; state it, such as 0ms.")
    seconds = round(seconds_of(args.for_, "--for"))
    if found := open_here(Path(settings.change.directory).parent, os.uname().nodename):
        plan, path = found
        raise ChangeError(
            f"The change {plan.id} of {plan.cluster} is open on this node ({path}): end it first. The change of the "
            "MTU is opened later, as a step of the experiment."
        )
    database = args.database.strip() or _typed_name()
    context.settings = replace(settings, change=replace(settings.change, record_s=seconds))
    return open_plan(context, ExperimentRequest(args.load, database, args.users, think_time, args.to))


_MOST_USERS = 100_000


def _typed_name() -> str:
    """Ask on the terminal for the name of the database. Raises UsageError without a terminal, or for an empty name."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("name the test database, by its unique name: --database NAME.")
    print_message("for a test database only: what is written into it after the restore point is lost.")
    sys.stderr.write("Type the unique name of the test database: ")
    sys.stderr.flush()
    if not (name := sys.stdin.readline().strip()):
        raise UsageError("no name was typed.")
    return name
