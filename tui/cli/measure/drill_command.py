"""`racwire drill link` and `racwire drill node`: people pull a cable or stop a node, and racwire holds the clock."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from tui.cli.durations import seconds_of
from tui.cli.errors import UsageError
from tui.cli.measure.measure_command import carry_out
from tui.cli.measure.measure_options import PACKETS, add_consent_options
from tui.cli.option import Option, declare
from tui.cli.options import (
    TRANSITIONS,
    add_check_options,
    add_document_options,
    add_quiet_option,
    refuse_check_options,
)

if TYPE_CHECKING:
    from checks.measure.drill.course import Call
    from checks.measure.drill.drill_subject import DrillSubject
    from checks.model.settings import Settings

_ABOUT = """\
Rehearse a failure: you pull a cable or stop a node, and racwire holds the
clock.

racwire probes every private path from this node every 10 ms, by ping and,
where Perl or Python can run on the peer, by UDP to the HAIPs. The result says
how long each path was silent, how much of misscount that is, and what made it
last so long.

Without --go, racwire prints what it would send, and sends nothing. With
--go CLUSTER, the name of this cluster, it probes, and prints what you do now."""
_LINK = """\
Pull the cable of a private link, and plug it in again when racwire says so, at
the latest: at half of misscount.

The drill ends by itself 5 s after everything answers
again. racwire refuses a link without which a node has no private path left."""
_NODE = """\
Stop Clusterware on a node (planned), reboot it, or halt it.

racwire says how
long it took until CSS noticed, until the cluster was reconfigured, and until
the instances that remain exchanged blocks again."""
_LINK_EXAMPLES = """\
examples:
  racwire drill link eth2 of rac2        print the plan; nothing is sent
  racwire drill link eth2 of rac2 --go practice
                                         probe; pull the cable when asked
  racwire drill link --for 5m --go practice
                                         any private link, for five minutes"""
_NODE_EXAMPLES = """\
examples:
  racwire drill node rac2 --as planned   print the plan; nothing is sent
  racwire drill node rac2 --as halt --go practice
                                         probe; halt rac2 when asked"""
_CODES = """\
exit codes: 0 every silence was under 10 % of misscount, or the plan was
printed; 1 over 10 %; 2 over 50 %, or stopped by a sign of harm; 3 could not
tell: disturbed, or nothing was silent; 64 usage, or refused; 130 interrupted."""
_INTERVALS = {"10ms": 0.01, "1ms": 0.001}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the two kinds of drill and their options."""
    parser.description = _ABOUT
    parser.epilog = f"{_LINK_EXAMPLES}\n  racwire drill node --help              how to stop a node\n\n{_CODES}"
    add_check_options(parser)
    kinds = parser.add_subparsers(dest="drill_command", title="drills", metavar="KIND")
    rest = _ABOUT.partition("\n\n")[2]
    link = kinds.add_parser(
        "link",
        help="you pull the cable of a private link",
        description=f"{_LINK}\n\n{rest}",
        epilog=f"{_LINK_EXAMPLES}\n\n{_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    link.add_argument("link", nargs="*", metavar="INTERFACE of NODE", help="the links that you pull (default: any)")
    node = kinds.add_parser(
        "node",
        help="you stop, reboot or halt a node",
        description=f"{_NODE}\n\n{rest}",
        epilog=f"{_NODE_EXAMPLES}\n\n{_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        conflict_handler="resolve",
    )
    node.add_argument("node", metavar="NODE", help="the node that you stop; not this one")
    for one in (link, node):
        _add_shared(one)
    # In place of the user of the practice nodes, which goes before the command: `racwire --lab --as dba1 drill`.
    node.add_argument(
        "--as",
        dest="transition",
        required=True,
        choices=TRANSITIONS,
        help="planned: Clusterware is stopped; reboot; halt: power off, or an eviction",
    )


_PROBES = (
    Option("--every", "interval (default {default})", choices=tuple(_INTERVALS), default="10ms", attribute="pace"),
    Option("--for", "length, and longer while a path is silent", "TIME", reads=seconds_of, attribute="for_time"),
    Option("--to", "probe this peer only (repeatable)", "PEER", is_repeatable=True),
    Option("--far-end", "what answers UDP (default: the best)", choices=("kernel", "perl", "python")),
    PACKETS,
    Option("--whole", "length after which it ends in any case (default and most {default})", "TIME", "15m", seconds_of),
)


def _add_shared(parser: argparse.ArgumentParser) -> None:
    add_consent_options(parser, "probe")
    declare(parser.add_argument_group("probes"), _PROBES)
    output = parser.add_argument_group("output")
    add_document_options(output)
    add_quiet_option(output)
    add_check_options(parser)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Print the plan, or hold the drill and print the result, and return the exit code. Raises UsageError."""
    from checks.measure.drill.drill import Drill, prepare_drill
    from checks.measure.load_limits import limits_of
    from checks.measure.measure_error import MeasureError
    from checks.measure.preparing import WantedPaths
    from tui.cli.status_line import StatusLine

    refuse_check_options(args)
    if args.drill_command is None:
        raise UsageError("name the drill: link or node; see `racwire drill --help`.")
    line = StatusLine(quiet=args.quiet)

    def say(word: Call) -> None:
        (line.announce if word.is_loud else line.print)(word.text)

    try:
        limits = limits_of(packets_per_s=args.packets, whole_s=args.whole)
        drill = Drill(
            _subject(args),
            interval_s=_INTERVALS[args.pace],
            seconds=args.for_time,
            say=say,
        )
    except MeasureError as error:
        raise UsageError(str(error)) from None
    wanted = WantedPaths(peers=tuple(args.to), far_end=args.far_end or "", with_instances=True)
    preparation = partial(prepare_drill, drill, wanted, limits, settings)
    return carry_out(args, drill, preparation, settings, _again(args), line)


def _subject(args: argparse.Namespace) -> DrillSubject:
    """Return what the drill is about. Raises MeasureError."""
    from checks.measure.drill.drill_subject import DrillSubject, link_subject

    if args.drill_command == "node":
        return DrillSubject(node=args.node, transition=args.transition)
    return link_subject(args.link)


def _again(args: argparse.Namespace) -> str:
    from checks.model.shell_command import shell

    if args.drill_command == "node":
        return shell("racwire drill node {node} --as {how}", node=args.node, how=args.transition)
    return shell("racwire drill {words}", words=("link", *args.link))
