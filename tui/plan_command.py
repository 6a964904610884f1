"""`racwire plan`: every file, command and packet that checks would use, without using it."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterator

from checks.engine import needed_groups
from checks.facts import GridHome
from checks.nodes.clusterware import planned_commands
from checks.nodes.grid_home import find_grid_home
from checks.nodes.local import planned_reads
from checks.nodes.remote import COMMANDS
from checks.nodes.ssh import ssh_command
from checks.plugin import discover
from checks.probes.plan import describe_budget
from checks.settings import Settings
from tui.check_command import choose
from tui.errors import UsageError
from tui.printable import for_encoding, printable

_SHOWN_MTU = 9000


def run_plan(args: argparse.Namespace, settings: Settings) -> int:
    """Print the plan. Raises UsageError for an unknown check, or where peers cannot be reached as set."""
    chosen = choose(discover(), args.ids, [])
    groups = needed_groups(chosen)
    try:
        lines = [printable(line) for line in _lines(", ".join(c.id for c in chosen), groups, settings)]
    except ValueError as error:
        raise UsageError(str(error)) from None
    print(for_encoding("\n".join(lines), getattr(sys.stdout, "encoding", None)))
    return 0


def _lines(checks: str, groups: tuple[str, ...], settings: Settings) -> Iterator[str]:
    yield f"For {checks}: nothing was asked, read or sent to find this out, but where the Grid home is."
    if "clusterware" in groups:
        yield from ("", "Clusterware tools, on this node, each once, reading only:")
        home = find_grid_home(settings.cluster.grid_home, os.environ)
        path = home.path if isinstance(home, GridHome) else "$GRID_HOME"
        if not isinstance(home, GridHome):
            yield f"  ({home.reason})"
        for topic, command in planned_commands(path):
            yield f"  {topic:<33}{shlex.join(command)}"
    if "nodes" in groups:
        yield from ("", "Files and netlink queries, on this node:")
        for topic, action in planned_reads():
            yield f"  {topic:<14}{action}"
        peer = settings.cluster.peers[0] if settings.cluster.peers else "PEER"
        yield from ("", "On each peer, through one connection held for the run:")
        yield f"  {shlex.join(ssh_command(peer, settings.ssh, os.environ))}"
        yield from ("", "and in that one shell, once:")
        for topic, section in COMMANDS.items():
            yield f"  {topic:<14}{section}"
    if "paths" in groups:
        yield from ("", "Packets, for each ordered pair of nodes on each private network, never on a public one")
        yield f"(shown for MTU {_SHOWN_MTU}; from this node by ICMP socket, from peers by their ping):"
        for line in describe_budget(settings.probe, _SHOWN_MTU):
            yield f"  {line}"
