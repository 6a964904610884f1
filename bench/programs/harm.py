"""Hold racwire against its first promise: the cluster loses no more blocks with it than without it.

    python -m bench.programs.harm FILE --background
    python -m bench.programs.harm --table FILE

On practice clusters, healthy and with faults, under load, it counts the blocks that the instances lose in windows with
racwire and without it, in turns. Each window is a line of JSON in FILE. A run with the same FILE carries on where the
last one stopped; two at a time can use the same FILE for different situations. `none more` means that a rank test at
1 % does not show more loss with racwire. All takes about 75 minutes on two idle CPUs, `--runs 3` half of that.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from bench.home import RACWIRE, new_user
from bench.live import states_of
from bench.practice import inside, practice_cluster, start_racwire
from bench.receivers import FRAG_BYTES, LOST_HERE, Receivers
from bench.terminal import LARGE, Terminal
from racwire_lab import Lab
from racwire_lab.cluster.networks import PRIVATE

WITHOUT = "without"
LEVEL = 0.01
FRAG_TIME_S = 30
"""net.ipv4.ipfrag_time of a real node, in seconds: the kernel's own default."""
_RUNS, _RARE_RUNS, _SECONDS = 10, 3, 6.0
_SLACK_BYTES = 210_000
"""By so much the memory of incomplete datagrams may differ without racwire: 5 % of the kernel's limit."""
_SETTLE_S = 1.0
"""Seconds after racwire has ended: an instance counts a block as lost 0.5 s after it asked for it."""
_NEAR, _OTHER, _PEER = "rac1", "rac3", "rac2"
_SENDS = ("--on", f"{PRIVATE[0].subnet}/24", "--to", _PEER, "--go", "practice", "--although-loaded", "bench")
_ROOT = Path(__file__).parents[2]
Line = dict[str, Any]


@dataclass(frozen=True)
class Situation:
    """A practice cluster, its fault, and a load at which the fault loses some blocks, but few."""

    mtu: int
    fault: str
    blocks_per_s: int
    place: tuple[str | None, int | None] = (None, None)
    """The node and the network of the fault."""


SITUATIONS = {
    "healthy-9000": Situation(9000, "", 300),
    "udp-policed": Situation(9000, "udp-policed", 12, (None, 1)),
    "small-receive-buffer": Situation(9000, "small-receive-buffer", 9, (_PEER, None)),
    "slow-port": Situation(9000, "slow-port", 100, (_PEER, 1)),
    "healthy-1500": Situation(1500, "", 300),
    "drop-fragments": Situation(1500, "drop-fragments", 60, (None, 1)),
    "fragments-filtered": Situation(1500, "fragments-filtered", 4, (None, 1)),
}


@dataclass(frozen=True)
class Kind:
    """A use of racwire: its command lines, each with its node; no words for the console."""

    starts: Callable[[int], Sequence[tuple[str, tuple[str, ...]]]]
    is_frequent: bool = True


_CHECK = ("check", "--interval", "2", "-q")
KINDS = {
    "check": Kind(lambda run: [(_NEAR, _CHECK)]),
    # On the same node and on two nodes, in turns.
    "check beside check": Kind(lambda run: [(_NEAR, _CHECK), ((_NEAR, _OTHER)[run % 2], _CHECK)]),
    "measure rate": Kind(lambda run: [(_NEAR, ("measure", "rate", *_SENDS))]),
    "watch": Kind(lambda run: [(_NEAR, ("watch", "-q", "--for", "5s"))], is_frequent=False),
    "console": Kind(lambda run: [(_NEAR, ())], is_frequent=False),
    "measure sizes": Kind(
        lambda run: [(_NEAR, ("measure", "sizes", "--sizes", "64,8k", "--rounds", "2", *_SENDS))], is_frequent=False
    ),
    "measure mix": Kind(
        lambda run: [(_NEAR, ("measure", "mix", "--classes", "message,block,small", "--rounds", "1", *_SENDS))],
        is_frequent=False,
    ),
}


def windows(runs: int) -> Iterator[tuple[str, int]]:
    """Yield the windows of a situation: uses of racwire, and one without it between each two of them."""
    rare = {number * runs // min(runs, _RARE_RUNS): number for number in range(min(runs, _RARE_RUNS))}
    withs: list[tuple[str, int]] = []
    for number in range(runs):
        withs += [(name, number) for name, kind in KINDS.items() if kind.is_frequent]
        withs += [(name, rare[number]) for name, kind in KINDS.items() if not kind.is_frequent and number in rare]
    for place, one in enumerate(withs):
        yield one
        if place % 2 == 0:
            yield WITHOUT, place // 2


def chance_of_more(with_it: Sequence[float], without: Sequence[float]) -> float:
    """Return the chance of ranks as high as those of `with_it`, or higher, if racwire made no difference.

    The exact one-sided rank test of Wilcoxon, Mann and Whitney; equal values share their ranks.
    """
    values = sorted((*with_it, *without))
    ranks = {value: 2 * values.index(value) + values.count(value) + 1 for value in values}  # twice the mean rank
    ways: dict[tuple[int, int], int] = {(0, 0): 1}
    for value in values:
        for (count, total), number in list(ways.items()):
            if count < len(with_it):
                one_more = count + 1, total + ranks[value]
                ways[one_more] = ways.get(one_more, 0) + number
    return _share_from(ways, len(with_it), sum(ranks[value] for value in with_it))


def _share_from(ways: dict[tuple[int, int], int], count: int, least: int) -> float:
    of_all = {total: number for (chosen, total), number in ways.items() if chosen == count}
    return sum(number for total, number in of_all.items() if total >= least) / sum(of_all.values())


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, or print the table. Return 1 where a table shows more loss with racwire than without."""
    args = _parser().parse_args(arguments)
    if args.table:
        text, is_worse = table(lines_of(args.file))
        print(text)
        return int(is_worse)
    if args.background:
        words = [word for word in (arguments if arguments is not None else sys.argv[1:]) if word != "--background"]
        with Path(f"{args.file}.log").open("ab") as log:
            process = subprocess.Popen(
                ["nice", sys.executable, "-m", "bench.programs.harm", *words],
                cwd=_ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        print(f"Process {process.pid} measures, and writes to {args.file}: `kill {process.pid}` stops it.")
        return 0
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    try:
        for name in args.only or SITUATIONS:
            _measure(name, args)
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.programs.harm", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("file", type=lambda text: Path(text).absolute(), metavar="FILE", help="a line of JSON a window")
    parser.add_argument("--table", action="store_true", help="print what FILE has so far")
    parser.add_argument("--background", action="store_true", help="measure in the background; FILE.log has the errors")
    parser.add_argument("--only", action="append", choices=tuple(SITUATIONS), help="this situation only (repeatable)")
    parser.add_argument("--runs", type=int, default=_RUNS, help=f"runs of each frequent use (default {_RUNS})")
    parser.add_argument(
        "--seconds", type=float, default=_SECONDS, help=f"least length of a window (default {_SECONDS:g})"
    )
    return parser


def _end(number: int, frame: FrameType | None) -> None:
    """Act as Ctrl-C, so that the cluster is removed."""
    raise KeyboardInterrupt


def lines_of(file: Path) -> list[Line]:
    """Return the windows so far. A line that a kill cut short is no window."""
    if not file.exists():
        return []
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        with contextlib.suppress(ValueError):
            found.append(json.loads(line))
    return found


def _measure(name: str, args: argparse.Namespace) -> None:
    done = {(line["situation"], line["kind"], line["run"]) for line in lines_of(args.file)}
    todo = [(kind, run) for kind, run in windows(args.runs) if (name, kind, run) not in done]
    if not todo:
        return
    situation, version = SITUATIONS[name], _version()
    with new_user() as environment, practice_cluster(3, mtu=situation.mtu) as lab:
        for node in lab.nodes:
            command = ["sh", "-c", f"echo {FRAG_TIME_S} >/proc/sys/net/ipv4/ipfrag_time"]
            subprocess.run(lab.enter(node, command), check=True, stdin=subprocess.DEVNULL)
        lab = lab.set_load(situation.blocks_per_s)
        if situation.fault:
            lab = lab.break_(situation.fault, *situation.place)
        time.sleep(_SETTLE_S)
        for kind, run in todo:
            found = {"situation": name, "kind": kind, "run": run, **_window(lab, kind, run, args.seconds, environment)}
            append_line(args.file, {**found, "racwire": version})


def append_line(file: Path, line: Line) -> None:
    """Add a window to the file, whole, and wait until the disk has it."""
    text = json.dumps(line) + "\n"
    with file.open("a+b") as out:
        if out.tell() and out.seek(-1, os.SEEK_END) and out.read() != b"\n":
            text = f"\n{text}"  # ends the line that a kill cut short
        out.write(text.encode())
        out.flush()
        os.fsync(out.fileno())


def _version() -> str:
    """Return the commit of racwire, whatever the bench's own is."""
    git = functools.partial(subprocess.run, cwd=_ROOT, capture_output=True, text=True, check=False)
    commit = git(("git", "log", "-1", "--format=%h", "--", "checks", "tui")).stdout.strip() or "unknown"
    return commit + ("-changed" if git(("git", "diff", "--quiet", "HEAD", "--", "checks", "tui")).returncode else "")


def _window(lab: Lab, kind: str, run: int, seconds: float, environment: dict[str, str]) -> Line:
    """Return what the instances lost, and what the receivers held, from before racwire starts until after it has ended.

    The window also has the time in which the receivers keep what racwire left incomplete.
    """
    ended: list[Line] = []
    with Receivers(lab) as receivers:
        before, at, began = states_of(lab), time.time(), time.monotonic()
        held = receivers.held()
        if kind != WITHOUT:
            ended = _use(lab, KINDS[kind].starts(run), seconds, environment)
        took_s = time.monotonic() - began
        time.sleep(max(seconds - took_s, _SETTLE_S))
        until = time.monotonic() + FRAG_TIME_S + _SETTLE_S
        while kind != WITHOUT and time.monotonic() < until and _holds_more(receivers.held(), held):
            time.sleep(0.1)
        after, lasted_s = states_of(lab), time.monotonic() - began
    lost = sum(state.statistics["gc blocks lost"] for state in after)
    lost -= sum(state.statistics["gc blocks lost"] for state in before)
    return {
        "at": round(at, 1),
        "seconds": round(lasted_s, 2),
        "lost": lost,
        "received": _received(after) - _received(before),
        "frag_peak": receivers.peak(FRAG_BYTES),
        **{name: receivers.grown(name) for name in LOST_HERE},
        "no_ports": round(receivers.fullest("Udp.NoPorts")),
        "echos": round(receivers.fullest("Icmp.InEchos")),
        "took": round(took_s, 1),
        "ended": ended,
        "load": round(os.getloadavg()[0], 1),
    }


def _received(states: Iterable[Any]) -> int:
    names = "gc cr blocks received", "gc current blocks received"
    return sum(state.statistics[name] for state in states for name in names)


def _holds_more(now: dict[str, int], before: dict[str, int]) -> bool:
    return any(size > before[node] * 1.5 + _SLACK_BYTES for node, size in now.items())


def _use(
    lab: Lab, starts: Sequence[tuple[str, tuple[str, ...]]], seconds: float, environment: dict[str, str]
) -> list[Line]:
    """Use racwire until it ends, and return its exit codes and its last lines."""
    processes = [start_racwire(lab, node, environment, words) for node, words in starts if words]
    for node, words in starts:
        if not words:
            with Terminal(lab.enter(node, [RACWIRE]), inside(lab, environment, node), LARGE) as terminal:
                terminal.read_until("1 Checks", 60)
                terminal.read_for(seconds)
    found: list[Line] = []
    for process in processes:
        _, told = process.communicate()
        found.append({"exit": process.returncode, "said": "".join(told.strip().splitlines()[-1:])[:300]})
    return found


def table(lines: Iterable[Line]) -> tuple[str, bool]:
    """Return the windows as a table, and whether any use of racwire loses more blocks than its absence."""
    found: defaultdict[str, defaultdict[str, list[Line]]] = defaultdict(lambda: defaultdict(list))
    versions = set()
    for line in lines:
        found[line["situation"]][line["kind"]].append(line)
        versions.add(line["racwire"])
    rows: list[tuple[str, ...]] = [_COLUMNS]
    is_worse = False
    for situation, kinds in found.items():
        without = kinds.get(WITHOUT, [])
        for kind in (WITHOUT, *KINDS):
            if not (own := kinds.get(kind)):
                continue
            chance = chance_of_more(_rates(own), _rates(without)) if kind != WITHOUT and without else None
            is_worse = is_worse or (chance is not None and chance < LEVEL)
            rows.append((*_row(situation, kind, own), *_verdict(chance, len(own), len(without))))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    told = {
        (situation, kind, one["exit"], one["said"]): None
        for situation, kinds in found.items()
        for kind, own in kinds.items()
        for line in own
        for one in line["ended"]
        if one["exit"] not in (0, 1, 2, 3)
    }
    text += [f"{situation}, {kind}: exit {code}, {said}" for situation, kind, code, said in told]
    tests = sum(bool(row[-2]) for row in rows) - 1
    text.append(
        f"racwire {', '.join(sorted(versions))}. {tests} tests at 1 %: about {tests / 100:.1g} show MORE by chance."
    )
    return "\n".join(text), is_worse


_COLUMNS = (
    "situation", "use", "runs", "s each", "lost/s", "most", "FRAG MB", "reasm. failed", "buffer full", "no port/s",
    "pings/s", "exits", "p", "verdict",
)  # fmt: skip


def _rates(lines: Iterable[Line]) -> list[float]:
    return [line["lost"] / line["seconds"] for line in lines]


def _verdict(chance: float | None, runs: int, without: int) -> tuple[str, str]:
    if chance is None:
        return "", ""
    if 1 / math.comb(runs + without, runs) >= LEVEL:
        return f"{chance:.3f}", "too few runs to tell"
    return f"{chance:.3f}", "MORE" if chance < LEVEL else "none more"


def _row(situation: str, kind: str, own: Sequence[Line]) -> tuple[str, ...]:
    total = functools.partial(_mean, own)
    exits = sorted({one["exit"] for line in own for one in line["ended"]})
    return (
        situation,
        kind,
        str(len(own)),
        f"{total('seconds'):.1f}",
        f"{sum(line['lost'] for line in own) / sum(line['seconds'] for line in own):.2f}",
        f"{max(_rates(own)):.2f}",
        f"{max(line['frag_peak'] for line in own) / 1e6:.2f}",
        f"{total('Ip.ReasmFails'):.1f}",
        f"{total('Udp.RcvbufErrors') + total('Udp.MemErrors'):.1f}",
        str(max(line["no_ports"] for line in own)),
        str(max(line["echos"] for line in own)),
        " ".join(map(str, exits)),
    )


def _mean(lines: Sequence[Line], name: str) -> float:
    return float(sum(line[name] for line in lines) / len(lines))


if __name__ == "__main__":
    sys.exit(main())
