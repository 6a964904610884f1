"""`racwire unit`: print the systemd units that run a check each hour, record, or watch; racwire installs nothing."""

from __future__ import annotations

import argparse
import getpass
import os
import re
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli.durations import seconds_of
from tui.cli.errors import UsageError

if TYPE_CHECKING:
    from checks.model.settings import Settings

_EPILOG = """\
One node of a cluster runs the units: it reads all of them. ConditionHost names
it, so the same files may be on each node. Of a unit that you write yourself,
racwire needs what the comments at its end list.

examples:
  racwire unit check > racwire-check.txt     a service, and its timer
  racwire unit check --every 15m --directory /var/lib/node_exporter
  racwire unit record --systemd 239          directives of a newer systemd
  racwire unit record --keep 15d             what the next one needs
  racwire unit compare                       each hour against that of last week
  racwire unit watch --user                  events in the journal, as yourself

exit codes: 0 printed; 64 usage."""

OLDEST = 219
"""The systemd of Oracle Linux 7; that of 8 is 239, that of 9 is 252."""
_ABOUT = {
    "check": "one check of the private interconnect",
    "compare": "the last hour and the same hour of last week",
    "record": "the traffic of the private interconnect",
    "watch": "events of the private interconnect",
}
_TIMED = ("check", "compare")
_NEEDED = """\
# Not set, since racwire needs on an Oracle node what they take away:
#   PrivateTmp                Clusterware and local logins use sockets in /var/tmp/.oracle
#   NoNewPrivileges           sudo -n, and the setuid programs of Oracle; ProtectKernelModules, ProtectKernelLogs,
#                             SystemCallFilter and their like imply it for a user without CAP_SYS_ADMIN
#   ProtectHome=yes           the keys in ~/.ssh
#   PrivateNetwork            the interconnect itself
#   PrivateDevices            the tools of Clusterware open the disks of ASM
#   RestrictAddressFamilies   AF_NETLINK (ip), AF_PACKET (ARP), AF_UNIX (the database), AF_INET and AF_INET6"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Print systemd units: a check or a comparison on a timer, a recording, a watch."
    parser.epilog = _EPILOG
    parser.add_argument("kind", metavar="KIND", choices=tuple(_ABOUT), help=", ".join(_ABOUT))
    parser.add_argument("--every", default="1h", metavar="TIME", help="of check: 15m, 1h, 1d (default 1h)")
    parser.add_argument("--keep", default="24h", metavar="TIME", help="of record: the last 24h (default), 7d")
    parser.add_argument("--host", default="", metavar="NODE", help="the node that runs it (default: this node)")
    parser.add_argument("--account", default="", metavar="NAME", help="the user that runs it (default: yourself)")
    parser.add_argument("--directory", default="", metavar="DIR", help="of its files (default: racwire's own)")
    parser.add_argument(
        "--systemd", type=int, default=OLDEST, metavar="N", help=f"use directives up to version N (default {OLDEST})"
    )
    parser.add_argument(
        "--user", action="store_true", dest="of_user", help="units of your own systemd; not on Oracle Linux 7"
    )


def run(args: argparse.Namespace, _: Settings | None = None) -> int:
    """Print the units. Raises UsageError for a wrong option."""
    if args.systemd < OLDEST:
        raise UsageError(f"--systemd {args.systemd}: the oldest that racwire writes for is {OLDEST}.")
    if args.of_user and args.account:
        raise UsageError("--user prints units of your own systemd: leave --account or --user out.")
    sys.stdout.write("\n".join(_units(args)) + "\n")
    return 0


def _units(args: argparse.Namespace) -> Iterator[str]:
    name = f"racwire-{args.kind}"
    where = "~/.config/systemd/user" if args.of_user else "/etc/systemd/system"
    timer = args.kind in _TIMED
    yield from (f"# {line}" for line in _install(name, where, args, timer=timer))
    yield from ("", f"# --- {where}/{name}.service", *_service(args))
    if timer:
        yield from ("", f"# --- {where}/{name}.timer", *_timer(args))


def _install(name: str, where: str, args: argparse.Namespace, *, timer: bool) -> Iterator[str]:
    scope = " --user" if args.of_user else ""
    yield f"Write each part to its file in {where}, then:"
    if args.of_user:
        yield "  loginctl enable-linger       else they end when you log out"
    else:
        # node_exporter, another user, reads the metrics there; the files have modes of their own.
        yield f"  install -d -m 0755 -o {args.account or getpass.getuser()} {_directory(args)}"
    yield f"  systemd-analyze verify {name}.service"
    yield f"  systemctl{scope} daemon-reload"
    yield f"  systemctl{scope} enable --now {name}.{'timer' if timer else 'service'}"


def _service(args: argparse.Namespace) -> Iterator[str]:
    yield from ("[Unit]", f"Description=racwire: {_ABOUT[args.kind]}")
    yield from _one_node(args)
    if not args.of_user:
        yield from ("Wants=network-online.target", "After=network-online.target")
    yield from ("", "[Service]", f"Type={'oneshot' if args.kind in _TIMED else 'simple'}")
    if not args.of_user:
        yield f"User={args.account or getpass.getuser()}"
    yield from _commands(args)
    # It ends as Ctrl-C ends it: whole files, and what was gathered so far.
    yield from ("KillSignal=SIGINT", "UMask=0077", "Nice=10", "IOSchedulingClass=idle", "CPUQuota=50%")
    yield "MemoryMax=1G" if args.systemd >= 231 else "MemoryLimit=1G"
    if not args.of_user:
        yield from _protection(args)
    yield from (
        *_NEEDED.splitlines(),
        *(("", "[Install]", f"WantedBy={_target(args)}") if args.kind not in _TIMED else ()),
    )


def _protection(args: argparse.Namespace) -> Iterator[str]:
    yield "ProtectSystem=full"
    if args.systemd >= 232:
        yield "ProtectControlGroups=yes"


def _commands(args: argparse.Namespace) -> Iterator[str]:
    racwire, directory = _program(), _directory(args)
    if args.kind == "check":
        saved = f"{directory}/check.racwire"
        yield f"ExecStart={_quoted(racwire, 'save', '--quiet', '--force', '--mode', '0640', saved)}"
        metrics = ("--format", "openmetrics", "--mode", "0644", "--force", "-o", f"{directory}/racwire.prom")
        yield f"ExecStartPost=-{_quoted(racwire, 'report', '--quiet', '--from', saved, *metrics)}"
        yield from ("# Results: warnings, failures, could not tell, stopped.", "SuccessExitStatus=1 2 3 130")
        yield "TimeoutStartSec=15min"
        return
    if args.kind == "compare":
        yield f"ExecStart={_quoted(racwire, 'compare', '--last-week', directory, '--format', 'nagios')}"
        yield "# 1, worse, fails the unit: that is the alarm (OnFailure=). 3: could not tell, as in the first week."
        yield from ("SuccessExitStatus=3 130", "TimeoutStartSec=15min")
        return
    if args.kind == "record":
        minutes = f"+{seconds_of(args.keep, '--keep') / 60:.0f}"
        # Each start begins a file: those of earlier starts go when all that they have is older.
        old = ("-maxdepth", "1", "-name", "traffic-*.rec", "-mmin", minutes, "-delete")
        yield f"ExecStartPre=-{_quoted('/usr/bin/find', directory, *old)}"
        words = f'exec "$0" record --quiet --keep {args.keep} "$1/traffic-$(date +%Y%m%d-%H%M%S).rec"'
        yield f"ExecStart={_quoted('/bin/sh', '-c', words, racwire, directory)}"
    else:
        yield f"ExecStart={_quoted(racwire, 'watch', '--quiet', '--events', '--format', 'json')}"
    # 64: a wrong setting, which no restart mends.
    yield from ("SuccessExitStatus=130", "Restart=on-failure", "RestartSec=60", "RestartPreventExitStatus=64")


def _timer(args: argparse.Namespace) -> Iterator[str]:
    seconds = 3600.0 if args.kind == "compare" else seconds_of(args.every, "--every")
    every = ("OnBootSec=10min", f"OnUnitActiveSec={seconds:.0f}s") if args.kind == "check" else ("OnCalendar=*:05",)
    yield from ("[Unit]", f"Description=racwire: {_ABOUT[args.kind]}, on a timer")
    yield from _one_node(args)
    yield from ("", "[Timer]", *every, "AccuracySec=1min")
    if args.systemd >= 229:
        yield f"RandomizedDelaySec={min(seconds / 10, 300):.0f}s"
    yield from ("", "[Install]", "WantedBy=timers.target")


def _one_node(args: argparse.Namespace) -> Iterator[str]:
    """Yield the conditions of which one must hold: a node's host name is short, or has its domain."""
    name = str(args.host or socket.gethostname()).partition(".")[0]
    if not re.fullmatch(r"(?!\d+$)[A-Za-z0-9_-]+", name):
        raise UsageError(f"--host {args.host}: write the name of one node, such as rac1.")
    yield from (f"ConditionHost=|{name}", f"ConditionHost=|{name}.*")


def _target(args: argparse.Namespace) -> str:
    return "default.target" if args.of_user else "multi-user.target"


def _program() -> str:
    """Return the path of the racwire command that runs now: of a bundle, of the file that unpacks itself."""
    if (bundle := Path(os.environ.get("RACWIRE_BUNDLE", ""))).is_file():
        return str(bundle)
    own = Path(sys.argv[0])
    found = str(own.absolute()) if own.name == "racwire" and own.exists() else shutil.which("racwire")
    return found or str(Path(sys.executable).with_name("racwire"))


def _directory(args: argparse.Namespace) -> str:
    if args.directory:
        if not args.directory.startswith("/"):
            raise UsageError(f"--directory {args.directory}: write the whole path, from / on.")
        return str(args.directory)
    if args.of_user:
        from checks.run.directories import state_directory

        return str(state_directory())
    return "/var/lib/racwire"


def _quoted(*words: str) -> str:
    """Return words for a line of a unit: in quotes where that is needed, with `%` and `$` as themselves."""
    return " ".join(_word(word.replace("\\", "\\\\").replace("%", "%%").replace("$", "$$")) for word in words)


def _word(word: str) -> str:
    return '"' + word.replace('"', '\\"') + '"' if not word or set(word) & set(" \t\"'\\;") else word
