"""The options of `racwire change`, apart from what carries them out: read where that word stands in the command."""

from __future__ import annotations

import argparse
import sys

from tui.cli.common_options import add_settings_option

_UNSET = argparse.SUPPRESS
"""The default of options that may stand before and after the subcommand."""

ABOUT = """\
Leads through a change of the MTU of the private networks: each step is proved
by its gate, on every node, before the next one comes. It is a full outage:
nodes that run with different MTUs lose blocks and evict each other. racwire
changes nothing: it prints the commands, you run them, and it looks."""

WAY = """\
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


def add_change_parser(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    cluster: argparse.ArgumentParser,
    looks: argparse.ArgumentParser,
) -> None:
    """Add the command and its own commands; `cluster` are the options of those that look at it."""
    where = argparse.ArgumentParser(add_help=False)
    _add_place(where)
    change = commands.add_parser(
        "change",
        parents=[where, cluster, looks],
        usage="racwire change [COMMAND] [--lab] [--file JOURNAL | --directory DIR] ...",
        help="change the MTU, one proved step after the other, and back",
        description=ABOUT,
        epilog=WAY,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    change.add_argument("-h", "--help", action=_Help, nargs=0, help="show the whole way")
    own = change.add_subparsers(dest="change_command", metavar="COMMAND", prog="racwire change")
    _Commands(own, where, cluster).add_all()


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

    def __init__(
        self,
        commands: argparse._SubParsersAction[argparse.ArgumentParser],
        where: argparse.ArgumentParser,
        cluster: argparse.ArgumentParser,
    ) -> None:
        self._commands = commands
        self._where = where
        self._cluster = cluster
        self._settings = argparse.ArgumentParser(add_help=False)
        self._settings.add_argument(
            "--lab", action="store_true", default=_UNSET, help="the practice cluster (racwire lab up)"
        )
        add_settings_option(self._settings)

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
        _quiet(new)

        self._printing("status", "where it stands")
        following = self._printing("next", "what to do now, and the commands")
        following.add_argument("--all", action="store_true", help="the whole plan")
        following.add_argument("--node", metavar="NODE", help="only the commands of this node")
        following.add_argument(
            "--commands", action="store_true", help="only the lines for NODE's root shell, to be read and piped into it"
        )

        verify = self._printing("verify", "look at the gate of the current step, on all nodes", looks=True)
        _quiet(verify)

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
        return self._commands.add_parser(
            name,
            parents=[self._where, self._cluster if looks else self._settings],
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
        )


def _add_place(options: argparse.ArgumentParser) -> None:
    group = options.add_argument_group("which change")
    group.add_argument("--file", metavar="JOURNAL", default=_UNSET, help="its journal (default: the open one)")
    group.add_argument(
        "--directory", metavar="DIR", default=_UNSET, help="where journals are (default: [change] of the settings)"
    )


def _by(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--by", required=True, metavar="NAME", help="who says so, by name")


def _reason(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why, in words; it stands in the report")


def _quiet(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")
