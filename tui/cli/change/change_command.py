"""`racwire change …` without the console. The answer goes to stdout, the next action to stderr."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

from checks.model.exit_codes import ExitCode
from tui.cli.change.new_options import add_plan_options
from tui.cli.change.workflow_help import ABOUT, WORKFLOW, WorkflowHelp
from tui.cli.errors import UsageError
from tui.cli.option import UNSET, declare
from tui.cli.options import (
    DIRECTORY,
    add_check_options,
    add_console_options,
    add_lab_option,
    add_output_options,
    add_quiet_option,
    add_settings_option,
)
from tui.cli.report_formats import OF_A_CHANGE
from tui.cli.streams import exit_past_hung_threads, print_message

if TYPE_CHECKING:
    from checks.model.settings import Settings
    from tui.cli.change.change_context import ChangeContext


def add_options(change: argparse.ArgumentParser) -> None:
    """Add the options of the console and the commands below `racwire change`."""
    change.usage = "racwire change [COMMAND] [--lab] [--file JOURNAL | --directory DIR] ..."
    change.description = ABOUT
    change.epilog = WORKFLOW
    change.add_argument(
        "-h", "--help", action=WorkflowHelp, nargs=0, help="show the steps of a change and their commands"
    )
    add_journal_options(change)
    add_check_options(change)
    add_console_options(change)
    commands = JournalCommands(change, "change")
    _add_new(commands)
    commands.add_printing("kinds", "list the kinds of change that racwire plans", "racwire change kinds")
    commands.add_all()


def _add_new(commands: JournalCommands) -> None:
    new = commands.add(
        "new",
        "check the cluster and write the plan of a change",
        """\
racwire change new --to 9000
racwire change new --to 9000 --reason CHG42
racwire change new --to 9000 --switch nexus-9000 --switch-pair no
racwire change new --to 9000 --hypervisor vmware --host esx1 --host esx2
racwire change new node-mtu --node rac2
racwire change new rp-filter
racwire change new receive-buffers --set net.core.rmem_max=16777216
racwire change new --connect rac-scan:1521/prod --user racwire
racwire change new add-network --interface eth3
racwire change new move-network --from eth1 --interface eth3
racwire change kinds""",
        OPENING_CODES,
    )
    add_next(add_plan_options(new), "the first step")
    add_quiet_and_checks(new)


OPENING_CODES = "0 the plan is written; 2 an obstacle prevents it; 3 could\nnot tell; 64 usage; 130 interrupted"
"""The exit codes of a command that opens a change or an experiment."""


class JournalCommands:
    """Adds the commands below `racwire change`, or below `racwire experiment`, whose journals are the same."""

    def __init__(self, parser: argparse.ArgumentParser, program: str) -> None:
        """`program` is `change` or `experiment`: the command, and the word for what is open."""
        self._commands = parser.add_subparsers(dest="change_command", metavar="COMMAND", prog=f"racwire {program}")
        self._program = program

    def add_all(self) -> None:
        """Add the commands that continue what is open, in the order of their use."""
        self.add_printing("status", "show the steps of the change and the next action", "racwire change status")
        following = self.add_printing(
            "next",
            "show the current step and its commands",
            """\
racwire change next
racwire change next --all
racwire change next --node rac2 --commands""",
        )
        steps = following.add_argument_group("which commands")
        steps.add_argument("--all", action="store_true", help="show all steps of the plan")
        steps.add_argument("--node", metavar="NODE", help="show only the commands of this node")
        steps.add_argument(
            "--commands",
            action="store_true",
            help="print only the commands for NODE's root shell: read them, then pipe them into it",
        )

        begin = self.add_printing(
            "begin",
            "start a step that stops something: its stop is planned, and no alarm",
            "racwire change begin\nracwire change begin --lab",
            "0 started; 3 the journal cannot be read or written; 64 usage,\n"
            "or the step stops nothing; 130 interrupted, nothing "
            "written",
        )
        begin.description = f"{begin.description}\n\n{_BEGIN}"
        begin.add_argument("step", nargs="?", default="", metavar="STEP", help="the step (default: the current one)")
        add_quiet_and_checks(begin)

        verify = self.add_printing(
            "verify",
            "check the gate of the current step on all nodes",
            "racwire change verify\nracwire change verify --next",
            "0 the gate passed; 2 the gate did not pass; 3 could not tell;\n64 usage; 130 interrupted, nothing written",
        )
        add_next(verify, "the next step, if the gate passed")
        add_quiet_and_checks(verify)

        attest = self.add(
            "attest",
            "confirm what racwire cannot check; on the last step, sign off",
            """\
racwire change attest --by 'Ann Lee'
racwire change attest --by 'Ann Lee' --note 'both switches, 02:10'
racwire change attest --by 'Ann Lee' --host esx1 --host esx2""",
        )
        _add_by(attest)
        attest.add_argument(
            "--host",
            action="append",
            default=[],
            metavar="HOST",
            help="the host of the statement, where a step is attested for each host (repeatable)",
        )
        attest.add_argument("--note", default="", metavar="TEXT", help="a note for the report")
        add_next(attest, "the next step")
        override = self.add(
            "override",
            "continue although the gate of the current step did not pass",
            """\
racwire change override --by 'Ann Lee' --reason 'the alarm is known'
racwire change override --by 'Ann Lee' --reason 'SR 3-1234' --lab""",
        )
        _add_by(override)
        _add_reason(override)
        note = self.add(
            "note",
            "write a note into the journal and the report of the change",
            """\
racwire change note 'the network team called back at 02:10'
racwire change note --file prod-2026-11-22-a.change 'backups are off'""",
        )
        note.add_argument("text", metavar="TEXT", help="the note")

        rollback = self.add(
            "rollback",
            "show the rollback from the current step; with --by and --reason, start it",
            """\
racwire change rollback
racwire change rollback --by 'Ann Lee' --reason 'the window is over'""",
        )
        rollback.add_argument("--by", default="", metavar="NAME", help="the person who decides to roll back")
        rollback.add_argument("--reason", default="", metavar="TEXT", help="why; printed in the report")
        abandon = self.add(
            "abandon",
            "end the change, before anything was stopped or changed",
            """\
racwire change abandon --by 'Ann Lee' --reason 'no window this month'
racwire change abandon --by 'Ann Lee' --reason 'a rehearsal' --lab""",
        )
        _add_by(abandon)
        _add_reason(abandon)

        report = self.add(
            "report",
            "write the report: result, outage, who did what, figures before and after",
            """\
racwire change report
racwire change report -o change.html
racwire change report --format markdown""",
            "0 written; 3 could not read or write; 64 usage",
        )
        report.add_argument("--format", choices=OF_A_CHANGE, help="format (default: by the name of FILE, else text)")
        add_output_options(report)
        self.add_printing(
            "list",
            "list all changes in the directory of the journals",
            """\
racwire change list
racwire change list --directory /var/racwire/changes""",
        )

    def add_printing(
        self, name: str, summary: str, examples: str, codes: str = "0 printed; 3 could not read or print; 64 usage"
    ) -> argparse.ArgumentParser:
        """Add a command that prints text or JSON. Return its parser."""
        parser = self.add(name, summary, f"{examples}\nracwire change {name} --format json", codes)
        parser.add_argument("--format", choices=("text", "json"), default="text", help="format (default text)")
        return parser

    def add(
        self,
        name: str,
        summary: str,
        examples: str,
        codes: str = "0 done; 3 the journal cannot be read or written; 64 usage, or not\npossible at this step",
    ) -> argparse.ArgumentParser:
        """Add a command, with texts about changes. Return its parser."""
        summary, examples = self._about(summary), self._about(examples)
        parser = self._commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=f"examples:\n{indent(examples, '  ')}\n\nexit codes: {codes}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        add_journal_options(parser, self._program)
        if name not in _CHECKING:
            cluster = parser.add_argument_group("which cluster")
            add_lab_option(cluster)
            add_settings_option(cluster)
        return parser

    def _about(self, text: str) -> str:
        """The text about what this program opens; an example of `racwire change` names this program."""
        if self._program == "change":
            return text
        return _NOUN.sub(lambda found: f"{found[1]}{self._program}", text.replace("all changes", "all experiments"))


_BEGIN = """\
Run it right before the commands of a step that stops Clusterware, boots a node
or sets an MTU. racwire reads the nodes, changes nothing, and writes the start
into the journal. What was well then and is down after it is planned: until the
step that ends it has passed, and at most for the minutes of the plan. What was
down before, or falls a second time, is an alarm. Without it every stop is one."""


_NOUN = re.compile(r"((?:racwire|the|-o) )change\b")


def add_quiet_and_checks(parser: argparse.ArgumentParser) -> None:
    """Add the options of a command that runs checks."""
    add_quiet_option(parser)
    add_check_options(parser)


def add_journal_options(options: argparse.ArgumentParser, noun: str = "change") -> None:
    """Add the options that select the journal."""
    group = options.add_argument_group(f"which {noun}")
    group.add_argument(
        "--file", metavar="JOURNAL", default=UNSET, help=f"journal of the {noun} (default: the open one)"
    )
    declare(group, (DIRECTORY,))


def _add_by(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--by", required=True, metavar="NAME", help="your name, for the journal and the report")


def add_next(parser: argparse._ActionsContainer, what: str) -> None:
    """Add the option that prints `what` afterwards."""
    parser.add_argument("--next", action="store_true", help=f"then print {what}, as `next` does")


def _add_reason(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why; printed in the report")


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Run a command of `racwire change` and return its exit code. Raises UsageError where it is not possible."""
    from checks.model.own_command import OwnCommand
    from tui.cli.change.hints import Hints
    from tui.console.start import no_console, run_console

    settings = selected(args, settings)
    if args.change_command is None:
        if not no_console(os.environ, sys.__stdin__, sys.__stderr__):
            return run_console(settings, first="change", again=Hints.of(args).line(OwnCommand()))
        args.change_command = "status"
    from tui.cli.change import kinds, new

    return run_command(args, settings, {"new": new.new, "kinds": kinds.print_kinds})


def selected(args: argparse.Namespace, settings: Settings) -> Settings:
    """Return the settings with the directory of the command line; its texts become Unicode. Raises UsageError."""
    from msgspec.structs import replace

    directory = getattr(args, "directory", None)
    for option, value in (("file", "the journal of a change"), ("directory", "the directory of the journals")):
        if getattr(args, option, None) == "":
            raise UsageError(f"--{option} is empty; name {value}, or leave the option out.")
    if args.change_command is None and (file := getattr(args, "file", None)):
        directory = str(Path(file).parent)  # the console lists all journals of its directory
    if directory:
        settings = replace(settings, change=replace(settings.change, directory=directory))
    for name in _TEXT_OPTIONS:
        if isinstance(text := getattr(args, name, None), str):
            setattr(args, name, _as_unicode(text))
    if hosts := getattr(args, "host", None):
        args.host = [_as_unicode(host) for host in hosts]
    if getattr(args, "next", False) and getattr(args, "format", "text") != "text":
        raise UsageError("--next prints text; leave --format json out.")
    return settings


def run_command(args: argparse.Namespace, settings: Settings, own: Mapping[str, Callable[[ChangeContext], int]]) -> int:
    """Run a command and return its exit code: one of `own`, or one that continues what is open. Raises UsageError."""
    from checks.change.progress.state import ChangeError
    from checks.change.record.change_journal import ChangeJournalError
    from tui.cli.change.change_context import ChangeContext
    from tui.cli.change.completion import EndedEarlyError
    from tui.cli.change.hints import Hints

    try:
        return exit_past_hung_threads({**own, **_commands()}[args.change_command](ChangeContext(args, settings)))
    except ChangeError as error:
        raise UsageError(Hints.of(args).text(error.text)) from None
    except ChangeJournalError as error:
        print_message(str(error))
        return ExitCode.COULD_NOT_TELL
    except EndedEarlyError:
        print_message("interrupted; nothing was written.")
        return exit_past_hung_threads(ExitCode.INTERRUPTED)


def _commands() -> dict[str, Callable[[ChangeContext], int]]:
    from tui.cli.change import begin, decisions, show, verify

    return {
        "status": show.status,
        "next": show.next_,
        "begin": begin.begin,
        "verify": verify.verify,
        "attest": decisions.attest,
        "override": decisions.override,
        "note": decisions.note,
        "rollback": decisions.roll_back,
        "abandon": decisions.abandon,
        "report": show.report,
        "list": show.list_,
    }


def _as_unicode(text: str) -> str:
    """The text with a replacement character for each byte that this locale does not know: the journal needs Unicode."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


_TEXT_OPTIONS = ("by", "reason", "note", "text")
"""Arguments with free text."""
_CHECKING = ("new", "begin", "verify")
"""Commands that read the cluster: they have the options of `racwire check`."""
