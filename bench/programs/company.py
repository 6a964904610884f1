"""Hold racwire in company against its promise: eight consoles and two checks at once, and each names the fault.

    python -m bench.programs.company [--spread two] [--by event]

On a practice cluster of four nodes one of two links of an aggregation carries no jumbo frames. It prints after how many
seconds each console and each check names it, and the most that they took together of what receivers, sshd and the
database share with them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import psutil

from bench.home import RACWIRE, new_user
from bench.instruments import demand
from bench.live import states_of, use_of
from bench.practice import inside, practice_cluster, start_racwire
from bench.receivers import FRAG_BYTES, LOST_HERE, Receivers
from bench.rows import Row, not_measured, table
from bench.terminal import TerminalError
from racwire_lab import Lab

CAUSE, CHECK = "CAUSE-70", "udp-path"
"""The cause that a check must name, and the check whose failure a console must show."""
FAULT, NODES, CONSOLES = "lag-member-mtu", 4, 8
WITHIN_S = 60.0
_LONGEST_S = 240.0
_NAMED = re.compile(rf"^\W*F {CHECK}\b|\b{CAUSE}\b", re.MULTILINE)
_SSHD, _ESTABLISHED = 22, "01"
_SLOWLY_S = 1.0
"""Seconds between two looks at processes and instances, which cost more than a look at a kernel."""


class Company:
    """What all racwires use of each node: for `Receivers`, in whose thread it reads."""

    def __init__(self, lab: Lab) -> None:
        self._lab, self._seen = lab, 0.0
        self._own = {process.pid for process in psutil.process_iter()}
        self._cpu: defaultdict[str, dict[int, float]] = defaultdict(dict)
        self._slow: dict[str, dict[str, int]] = {}
        self.nice: defaultdict[str, set[int]] = defaultdict(set)
        """The nice values of processes, by their name."""

    def __call__(self, node: str) -> Mapping[str, int]:
        """Return what is used of a node: connections, sessions, statements, slaves, CPU time and memory."""
        now = time.monotonic()
        if now - self._seen >= _SLOWLY_S:
            self._seen = now
            self._slow = self._look()
        holder = self._lab.state.nodes[node].pid
        statements, sessions = use_of(self._lab, node)
        own = {"ssh": _connections(holder, _SSHD), "statements": statements, "sessions": sessions}
        return {**self._slow.get(node, {}), **own}

    def _look(self) -> dict[str, dict[str, int]]:
        found = {state.host: {"px": state.px_slaves} for state in states_of(self._lab)}
        spaces = {os.readlink(f"/proc/{self._lab.state.nodes[node].pid}/ns/net"): node for node in self._lab.nodes}
        memory: defaultdict[str, int] = defaultdict(int)
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if process.pid in self._own or not (node := spaces.get(os.readlink(f"/proc/{process.pid}/ns/net"))):
                    continue
                times = process.cpu_times()
                self._cpu[node][process.pid] = times.user + times.system
                memory[node] += process.memory_info().rss
                self.nice[process.name()].add(process.nice())
        for node in self._lab.nodes:
            found.setdefault(node, {"px": 0})
            found[node] |= {"cpu_ms": round(1000 * sum(self._cpu[node].values())), "rss": memory[node]}
        return found


def _connections(holder: int, port: int) -> int:
    """Return the established connections of a node to a port of its own."""
    lines = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/{holder}/net/{name}").read_text(encoding="ascii").splitlines()[1:]
    ]
    return sum(words[1].endswith(f":{port:04X}") and words[3] == _ESTABLISHED for words in lines)


class Consoles:
    """Consoles in terminals of 120 columns and 40 rows, of one tmux that ends with the block."""

    def __init__(self, lab: Lab, environment: Mapping[str, str], settings: Path, nodes: list[str]) -> None:
        self._socket = str(settings.with_name("tmux"))
        self._environment = dict(environment)
        self.nodes = nodes
        for number, node in enumerate(nodes):
            variables = [
                f"{name}={value}" for name, value in inside(lab, self._environment, node).items() if name != "TERM"
            ]
            command = lab.enter(node, [RACWIRE, "--settings", str(settings)])
            size = ("-x", "120", "-y", "40")
            self._tmux("-f", "/dev/null", "new-session", "-d", "-s", str(number), *size, "env", *variables, *command)

    def screen(self, number: int) -> str:
        """Return the text of a console's screen."""
        return self._tmux("capture-pane", "-p", "-t", str(number))

    def press(self, number: int, key: str) -> None:
        """Press a key in a console."""
        self._tmux("send-keys", "-t", str(number), key)

    def close(self) -> None:
        """End all consoles."""
        self._tmux("kill-server")

    def _tmux(self, *words: str) -> str:
        command = ("tmux", "-S", self._socket, *words)
        return subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False).stdout


def main(arguments: list[str] | None = None) -> int:
    """Measure, and print the table. Return 0 whatever the figures are."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.programs.company", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--spread", choices=("one", "two"), default="one", help="consoles all on one node, or two a node"
    )
    parser.add_argument(
        "--by", choices=("key", "event"), default="key", help="consoles check by key r, or by themselves"
    )
    parser.add_argument("--consoles", type=int, default=CONSOLES, help=f"how many (default {CONSOLES})")
    parser.add_argument("--checks", type=int, default=2, help="how many (default 2)")
    parser.add_argument("--screens", type=Path, metavar="DIR", help="keep the last screens and the reports there")
    args = parser.parse_args(arguments)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    demand("tmux")
    try:
        with new_user() as environment, practice_cluster(NODES) as lab:
            rows = list(_rows(lab, environment, args))
    except KeyboardInterrupt:
        return 130
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the end\n\n{table(rows)}")
    return 0


def _end(number: int, frame: FrameType | None) -> None:
    """Act as Ctrl-C, so that the cluster is removed."""
    raise KeyboardInterrupt


def _rows(lab: Lab, environment: dict[str, str], args: argparse.Namespace) -> Iterator[Row]:
    settings = Path(environment["HOME"]) / "settings.toml"
    own = lab.settings_file.read_text(encoding="utf-8")
    settings.write_text(
        f'{own}\n[console]\non_event = "{"check" if args.by == "event" else "off"}"\n', encoding="utf-8"
    )
    company = Company(lab)
    places = [lab.nodes[number // 2 % NODES if args.spread == "two" else 0] for number in range(args.consoles)]
    consoles = Consoles(lab, environment, settings, places)
    try:
        _until_concluded(consoles)
        lab.break_(FAULT, network=1)
        began = time.monotonic()
        with Receivers(lab, company) as receivers:
            found = _named(lab, consoles, environment, args, began)
        took_s = time.monotonic() - began
        if args.screens:
            args.screens.mkdir(parents=True, exist_ok=True)
            for number in range(args.consoles):
                (args.screens / f"console-{number}.txt").write_text(consoles.screen(number), encoding="utf-8")
    finally:
        consoles.close()
    for title, seconds in found.items():
        if seconds is None:
            yield not_measured(title, f"it does not name the fault within {_LONGEST_S:g} s")
        else:
            yield Row(title, "s", seconds, WITHIN_S)
    yield from _peaks(receivers, company, took_s)


def _until_concluded(consoles: Consoles) -> None:
    """Wait until each console has finished its first run, on the healthy cluster: until its run gets no longer."""
    until = time.monotonic() + _LONGEST_S
    for number in range(len(consoles.nodes)):
        before = ""
        while (now := _run_of(consoles.screen(number))) != before or not now:
            before = now
            if time.monotonic() > until:
                raise TerminalError(f"console {number + 1} does not finish its first run within {_LONGEST_S:g} s")
            time.sleep(_SLOWLY_S * 2)


def _run_of(screen: str) -> str:
    """Return when a console's run began and how long it took so far; empty while the screen lists checks that run."""
    found = re.search(r"run [0-9:]{8}, [0-9.]+ s", screen)
    return found[0] if found and not re.search(r"^ ?(Running|Waiting)\b", screen, re.MULTILINE) else ""


def _named(
    lab: Lab, consoles: Consoles, environment: dict[str, str], args: argparse.Namespace, began: float
) -> dict[str, float | None]:
    """Return after how many seconds each console and each check names the fault; None for one that does not."""
    titles = {number: f"console {number + 1}, on {node}: names the fault" for number, node in enumerate(consoles.nodes)}
    found: dict[str, float | None] = dict.fromkeys(titles.values())
    checks = {}
    for number in range(args.checks):
        node = lab.nodes[number % NODES if args.spread == "two" else 0]
        title = f"check {number + 1}, on {node}: names the fault"
        found[title] = None
        checks[title] = start_racwire(lab, node, environment, ("check", "-q", "--format", "json"))
    if args.by == "key":
        for number in titles:
            consoles.press(number, "r")
    while (missing := [number for number, title in titles.items() if found[title] is None]) or checks:
        if time.monotonic() - began > _LONGEST_S:
            break
        for number in missing:
            if _NAMED.search(consoles.screen(number)):
                found[titles[number]] = time.monotonic() - began
        for title, process in list(checks.items()):
            with contextlib.suppress(subprocess.TimeoutExpired):
                report, _ = process.communicate(timeout=0.1)
                del checks[title]
                if args.screens:
                    args.screens.mkdir(parents=True, exist_ok=True)
                    (args.screens / f"{title.partition(',')[0]}.json").write_text(report, encoding="utf-8")
                if _names(report):
                    found[title] = time.monotonic() - began
        time.sleep(0.3)
    return found


def _names(report: str) -> bool:
    """Whether a report names the fault as its cause, proved or supported."""
    causes: list[dict[str, Any]] = (json.loads(report)["diagnosis"] or {}).get("hypotheses", []) if report else []
    return any(one["cause"] == CAUSE and one["standing"] in ("proved", "supported") for one in causes)


def _peaks(receivers: Receivers, company: Company, took_s: float) -> Iterator[Row]:
    for title, name in (
        ("datagrams to no port at one receiver, fullest second", "Udp.NoPorts"),
        ("pings at one receiver, fullest second", "Icmp.InEchos"),
        ("statements at one instance, fullest second", "statements"),
        ("PX slaves at one instance, fullest second", "px"),
    ):
        yield Row(title, "/s", receivers.fullest(name))
    for title, name in (
        ("ssh connections to one node, at once", "ssh"),
        ("sessions at one instance, at once", "sessions"),
    ):
        yield Row(title, "", receivers.peak(name))
    yield Row("memory of incomplete datagrams at one receiver", "MB", receivers.peak(FRAG_BYTES) / 1e6)
    for name in LOST_HERE:
        yield Row(f"{name} of all nodes", "", receivers.grown(name))
    for node, samples in receivers.samples.items():
        busy = (samples[-1][1]["cpu_ms"] - samples[0][1]["cpu_ms"]) / 10 / took_s
        yield Row(f"CPU of racwire's processes on {node}", "% of a core", busy)
        yield Row(f"memory of racwire's processes on {node}", "MB", max(v["rss"] for _, v in samples) / 1e6)
    nice = ", ".join(f"{name} {'/'.join(map(str, sorted(values)))}" for name, values in sorted(company.nice.items()))
    yield Row("nice values", why_not=nice)


if __name__ == "__main__":
    sys.exit(main())
