"""The options of `racwire record`, `watch` and `open`, apart from what carries them out: read at every start."""

from __future__ import annotations

import argparse

_RECORD = """\
Every second the counters of this node, of its peers and of the instances go into FILE: one SQLite file, whole after
every second, also when racwire is killed. It needs 10 to 60 MB a day. Ctrl-C ends it; so does the end of the terminal,
unless it was started with nohup. Nothing is sent over the private networks, except with --probe.

examples:
  racwire record before.rec                                  until Ctrl-C
  racwire record --for 30m --label mtu1500 before.rec        before a change; then the same after it, and compare
  racwire record --for 30m --probe before.rec                with pings on each private path: how long they take
  nohup racwire record --keep 24h night.rec &                goes on after logout; the last 24 hours are kept
  racwire record --connect rac-scan:1521/prod --user racwire with-database.rec

then:
  racwire open before.rec          look at it, scroll back
  racwire compare before.rec after.rec
  racwire watch before.rec | jq .  what is in it, as JSON lines

exit codes: 0 recorded, also when you end it; 3 nothing could be recorded, or the disk took no more; 64 usage."""

_WATCH = """\
One JSON object a line. `fact` says what it is:
  Header           first: racwire_version, started_at, interval_s, label
  Cluster          once it is found: nodes, private networks, database
  Links            the interfaces of a node: mtu, speed_mbps, private network; again when one changes
  NodeSample       what a node's kernel counted in `seconds` until `at`: interfaces, counters, cpu, load
  InstanceSample   what an instance counted: statistics (GV$SYSSTAT), messages (GV$DLM_MISC)
  PairsSample      who lost whose blocks, and the instances' pings
  LatencySample    pings of one path and size (--probe)
  Gap              from now on nothing is known of a source, and why
Counts are differences, not rates; a field that is 0 or empty is left out.

examples:
  racwire watch | jq -c 'select(.fact == "NodeSample") | [.node, .counters."Ip.ReasmFails"]'
  racwire watch --every 10 --for 1h > hour.jsonl
  racwire watch night.rec | jq -c 'select(.fact == "Gap")'

exit codes: 0 the time of --for is over, the recording at its end, or the reader gone; 3 nothing could be sampled or
read; 64 usage; 130 interrupted."""

_OPEN = """\
examples:
  racwire open night.racwire        a saved file: all screens, as they were then
  racwire open incident.json        a report as JSON: without samples
  racwire open before.rec           a recording, also while it is being written: the Traffic screen, to scroll back

exit codes: of a saved file or a report those of `racwire check`; of a recording 0, and 3 where it is damaged; 64 usage,
and where FILE cannot be read."""


def add_record_parser(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], common: argparse.ArgumentParser
) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "record",
        parents=[common],
        help="record the traffic of all nodes and instances into a file",
        description="Records what the Traffic screen shows, to be looked at later and compared.",
        epilog=_RECORD,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="the recording; it must not be there yet")
    _add_sampling_options(parser)
    parser.add_argument("--label", metavar="TEXT", default="", help="what this recording is of, such as mtu1500")
    parser.add_argument("--keep", metavar="TIME", help="keep the last 24h (30m, 7d) and drop what is older")
    parser.add_argument("--force", action="store_true", help="replace FILE if it is a recording")


def add_watch_parser(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], common: argparse.ArgumentParser
) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "watch",
        parents=[common],
        help="print the traffic of all nodes and instances as JSON lines",
        description="Prints the samples of every node and instance as JSON lines, as they come.",
        epilog=_WATCH,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", nargs="?", help="a recording to print instead")
    _add_sampling_options(parser)


def add_open_parser(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], common: argparse.ArgumentParser
) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "open",
        parents=[common],
        help="look at what was saved, or recorded, in the console",
        description="Opens a saved file, a report as JSON or a recording in the console, with no cluster: nothing is\n"
        "read, sent or logged in to. Without a terminal, prints the report, or what is in the recording.",
        epilog=_OPEN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="what `racwire save`, `report` (JSON) or `record` wrote")


def _add_sampling_options(parser: argparse.ArgumentParser) -> None:
    """Those that `record` and `watch` share."""
    parser.add_argument("--for", metavar="TIME", dest="for_time", help="end after 90s, 30m, 2h or 1d (else: Ctrl-C)")
    parser.add_argument("--every", metavar="S", help="seconds between two samples: 1 to 60 (default 1)")
    # The checks' option, which who samples may take for this one: it gets an answer of its own.
    parser.add_argument("--interval", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    parser.add_argument(
        "--probe", action="store_true", help="also ping each private path at a fixed rate; it says what it will send"
    )
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="on stderr nothing but errors, and what --probe sends"
    )
