"""`racwire change …` without the full screen. stdout is the answer; stderr tells what is next."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from checks.model.exit_codes import ExitCode
from tui.cli.errors import UsageError
from tui.cli.options import (
    DIRECTORY,
    UNSET,
    add_check_options,
    add_console_options,
    add_lab_option,
    add_quiet_option,
    add_settings_option,
)
from tui.cli.options import add_options as declare
from tui.cli.streams import exit_past_hung_threads, tell

if TYPE_CHECKING:
    from checks.model.settings import Settings
    from tui.cli.change.change_context import ChangeContext

_ABOUT = """\
Leads through a change of the MTU of the private networks: each step is proved
by its gate, on every node, before the next one comes. It is a full outage:
nodes that run with different MTUs lose blocks and evict each other. racwire
changes nothing: it prints the commands, you run them, and it looks."""

_WAY = """\
the whole way:
  racwire change new --to 9000      what stands in the way, else the plan
  racwire change next               what to do now, why, the exact commands
  racwire change verify             look at the step's gate, on all nodes
  racwire change attest --by 'A. Lee'   say by name what no check can see: an
                                    agreement, a switch; at last, sign off
  racwire change status             where it stands; after a logout or reboot,
                                    and from another node, it goes on there
  racwire change report -o change.md    who did what, what was seen, before
                                    and after
when it goes wrong:
  racwire change rollback           show the way back from here; with --by NAME
                                    --reason TEXT, begin it
  racwire change override --by NAME --reason TEXT    past a gate that does not
                                    pass; the report shows it by itself
  racwire change abandon --by NAME --reason TEXT     give it up, where nothing
                                    was stopped or changed yet
and:
  racwire change next --all         the whole plan; --node rac2: of one node
  racwire change note TEXT          for the report, and for who comes next
  racwire change list               all changes; --file JOURNAL names one
  racwire change                    the console, on its Change screen

to practise: racwire lab up --mtu 1500 --switch-mtu 1500, and --lab with each

exit codes: 0 done, or the gate passed; 2 it did not, or something stands in
the way; 3 could not tell; 64 usage, or it does not fit where the change stands;
130 interrupted, nothing written. Options: racwire change COMMAND --help"""


def add_options(change: argparse.ArgumentParser) -> None:
    """Add the options of the console and the commands below `racwire change`."""
    change.usage = "racwire change [COMMAND] [--lab] [--file JOURNAL | --directory DIR] ..."
    change.description = _ABOUT
    change.epilog = _WAY
    change.add_argument("-h", "--help", action=_Help, nargs=0, help="show the whole way")
    _add_place(change)
    add_check_options(change)
    add_console_options(change)
    own = change.add_subparsers(dest="change_command", metavar="COMMAND", prog="racwire change")
    _Commands(own).add_all()


class _Help(argparse.Action):
    """The way first, and only this: the options stand with each of its commands."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        formatter = argparse.RawDescriptionHelpFormatter(parser.prog)
        formatter.add_text(parser.description)
        formatter.add_text(parser.epilog)
        sys.stdout.write(f"{parser.format_usage()}\n{formatter.format_help()}")
        parser.exit()


class _Commands:
    """The commands below `racwire change`."""

    def __init__(self, commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
        self._commands = commands

    def add_all(self) -> None:
        """Add them, in the order in which they are used."""
        new = self._add("new", "look at the cluster, and write the plan", looks=True)
        new.add_argument(
            "--to", type=int, metavar="MTU", help="the MTU to come (default 9000; 1500 where jumbo frames are set)"
        )
        new.add_argument(
            "--switch",
            action="append",
            default=[],
            metavar="KIND",
            help="which kind of switch carries the networks (racwire explain switches lists them; repeatable)",
        )
        new.add_argument(
            "--despite",
            action="append",
            default=[],
            metavar="CODE",
            help="begin in spite of what stands in the way with this code, where that can be done (repeatable)",
        )
        new.add_argument("--reason", default="", metavar="TEXT", help="why; it stands in the report")
        add_quiet_option(new)

        self._printing("status", "where it stands")
        following = self._printing("next", "what to do now, and the commands")
        following.add_argument("--all", action="store_true", help="the whole plan")
        following.add_argument("--node", metavar="NODE", help="only the commands of this node")
        following.add_argument(
            "--commands", action="store_true", help="only the lines for NODE's root shell, to be read and piped into it"
        )

        verify = self._printing("verify", "look at the gate of the current step, on all nodes", looks=True)
        add_quiet_option(verify)

        attest = self._add("attest", "say by name what racwire cannot see; on the last step it signs off")
        _by(attest)
        attest.add_argument("--note", default="", metavar="TEXT", help="what is to be remembered of it")
        override = self._add("override", "go past a gate that does not pass")
        _by(override)
        _reason(override)
        self._add("note", "write something down").add_argument("text", metavar="TEXT")

        back = self._add("rollback", "show the way back from here; with --by and --reason, begin it")
        back.add_argument("--by", default="", metavar="NAME", help="who decides it")
        back.add_argument("--reason", default="", metavar="TEXT", help="why")
        abandon = self._add("abandon", "give the change up, where nothing was stopped or changed yet")
        _by(abandon)
        _reason(abandon)

        report = self._printing("report", "the whole change: who, when, what was seen, before and after")
        report.add_argument("-o", "--output", metavar="FILE", help="write it to a file, whole or not at all")
        report.add_argument("--force", action="store_true", help="replace FILE if it is there")
        self._printing("list", "all changes in the directory of the journals")

    def _printing(self, name: str, summary: str, *, looks: bool = False) -> argparse.ArgumentParser:
        parser = self._add(name, summary, looks=looks)
        parser.add_argument("--format", choices=("text", "json"), default="text", help="how it is written")
        return parser

    def _add(self, name: str, summary: str, *, looks: bool = False) -> argparse.ArgumentParser:
        parser = self._commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        _add_place(parser)
        if looks:
            add_check_options(parser)
        else:
            add_lab_option(parser)
            add_settings_option(parser)
        return parser


def _add_place(options: argparse.ArgumentParser) -> None:
    group = options.add_argument_group("which change")
    group.add_argument("--file", metavar="JOURNAL", default=UNSET, help="its journal (default: the open one)")
    declare(group, (DIRECTORY,))


def _by(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--by", required=True, metavar="NAME", help="who says so, by name")


def _reason(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why, in words; it stands in the report")


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Carry out a command of `racwire change`; its exit code. Raises UsageError for what does not fit."""
    from msgspec.structs import replace

    from tui.cli.change.hints import Hints
    from tui.console.start import no_console, run_console

    directory = getattr(args, "directory", None)
    for option, what in (("file", "the journal of a change"), ("directory", "where journals are")):
        if getattr(args, option, None) == "":
            raise UsageError(f"--{option}: it is empty; name {what}, or leave the option out.")
    if args.change_command is None and (file := getattr(args, "file", None)):
        directory = str(Path(file).parent)  # the console has all that lie there
    if directory:
        settings = replace(settings, change=replace(settings.change, directory=directory))
    for name in _TYPED:
        if isinstance(typed := getattr(args, name, None), str):
            setattr(args, name, _as_text(typed))
    if args.change_command is None:
        if not no_console(os.environ, sys.__stdin__, sys.__stderr__):
            return run_console(settings, first="change", again=Hints.of(args).command().strip("`"))
        args.change_command = "status"
    return _carry_out(args, settings)


def _carry_out(args: argparse.Namespace, settings: Settings) -> int:
    """One of the commands below `racwire change`; its exit code. Raises UsageError."""
    from checks.change.change_journal import ChangeJournalError
    from checks.change.state import ChangeError
    from tui.cli.change.change_context import ChangeContext
    from tui.cli.change.completion import EndedEarlyError
    from tui.cli.change.hints import Hints

    try:
        return exit_past_hung_threads(_commands()[args.change_command](ChangeContext(args, settings)))
    except ChangeError as error:
        raise UsageError(Hints.of(args).in_text(str(error))) from None
    except ChangeJournalError as error:
        tell(Hints.of(args).in_text(str(error)))
        return ExitCode.COULD_NOT_TELL
    except EndedEarlyError:
        tell("interrupted; nothing was written.")
        return exit_past_hung_threads(ExitCode.INTERRUPTED)


def _commands() -> dict[str, Callable[[ChangeContext], int]]:
    from tui.cli.change import decisions, new, show, verify

    return {
        "new": new.new,
        "status": show.status,
        "next": show.next_,
        "verify": verify.verify,
        "attest": decisions.attest,
        "override": decisions.override,
        "note": decisions.note,
        "rollback": decisions.roll_back,
        "abandon": decisions.abandon,
        "report": show.report,
        "list": show.list_,
    }


def _as_text(typed: str) -> str:
    """What was typed, with a sign for each byte that is no character in this locale: it is to be kept all the same."""
    return typed.encode(errors="surrogateescape").decode(errors="replace")


_TYPED = ("by", "reason", "note", "text")
"""Options that are words of people."""
