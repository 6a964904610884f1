"""Print what one check costs a cluster: seconds, CPU here and on the nodes, frames, and commands on peers.

    python -m bench.programs.run_cost --nodes 2 4 8
    python -m bench.programs.run_cost --nodes 2 4 8 --racwire OTHER/.venv/bin/racwire

On a healthy practice cluster whose instances exchange no blocks. The last two columns are entries of the journal: one
for each command, file or statement that was read. `--racwire` measures that of another version on the
same cluster, which is made by this one. Frames are those that the kernels of all nodes sent on private NICs during the
run, less those that the cluster alone sends in such a time: they hold whatever racwire sent, answers included.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bench.home import RACWIRE
from bench.practice import outside, practice_cluster
from racwire_lab import Lab

_SETTLE_S = 2.0
"""Until the last ssh sessions have ended: a server knows the CPU time only of sessions that it has waited for."""
_IDLE_S = 10.0
"""In which the frames of the cluster alone are counted."""
_READ = """cat /sys/class/net/eth[12]/statistics/tx_packets; echo; cat /proc/[0-9]*/stat 2>/dev/null"""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class _Totals:
    """What all nodes have sent and used so far."""

    frames: int
    cpu_s: float
    """CPU time of ended ssh sessions."""


def main() -> None:
    """Print a line for each number of nodes."""
    parser = argparse.ArgumentParser(prog="python -m bench.programs.run_cost", description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--interval", type=int, default=8, help="seconds of the interval")
    parser.add_argument("--racwire", default=RACWIRE, help="the racwire that is measured")
    options = parser.parse_args()
    # The practice cluster ends with this program, whatever ends it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print("| nodes | s | CPU here s | CPU on nodes s | frames | pings | datagrams | ARP | on peers | on this node |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for nodes in options.nodes:
        with practice_cluster(nodes, mtu=9000) as lab:
            subprocess.run([RACWIRE, "lab", "load", "off"], env=outside(lab, dict(os.environ)), check=True,
                           stdout=subprocess.DEVNULL)  # fmt: skip
            print(_row(lab, options.racwire, options.interval), flush=True)


def _row(lab: Lab, racwire: str, interval_s: int) -> str:
    command = [racwire, "check", "--lab", "--interval", str(interval_s), "--format", "json"]
    before, children, began = _totals(lab), os.times(), time.monotonic()
    done = subprocess.run(command, env=outside(lab, dict(os.environ)), stdout=subprocess.PIPE, check=False)
    seconds, used = time.monotonic() - began, os.times()
    time.sleep(_SETTLE_S)
    after = _totals(lab)
    time.sleep(_IDLE_S)
    end = _totals(lab)
    idle = (end.frames - after.frames) / _IDLE_S
    idle_cpu = (end.cpu_s - after.cpu_s) / _IDLE_S
    on_nodes_s = after.cpu_s - before.cpu_s - idle_cpu * (seconds + _SETTLE_S)
    cpu_s = used.children_user + used.children_system - children.children_user - children.children_system
    frames = after.frames - before.frames - round(idle * (seconds + _SETTLE_S))
    report = json.loads(done.stdout)
    sent = _sent(report["cluster"])
    peers = Counter(entry["node"] != lab.nodes[0] for entry in report["journal"])
    cells = [len(lab.nodes), f"{seconds:.1f}", f"{cpu_s:.2f}", f"{on_nodes_s:.2f}", frames]
    return f"| {' | '.join(map(str, [*cells, *sent, peers[True], peers[False]]))} |"


def _totals(lab: Lab) -> _Totals:
    frames, cpu = 0, 0.0
    for node in lab.nodes:
        read = subprocess.run(lab.enter(node, ["sh", "-c", _READ]), stdout=subprocess.PIPE, text=True, check=True)
        counters, _, processes = read.stdout.partition("\n\n")
        frames += sum(map(int, counters.split()))
        cpu += _of_sessions(processes.splitlines())
    return _Totals(frames, cpu)


def _of_sessions(lines: Iterable[str]) -> float:
    """Return the CPU seconds of the ended children of a node's ssh servers, and of its first process: that waits for
    the shell of a session which outlives the connection."""
    ticks = 0
    for line in lines:
        name, _, rest = line.rpartition(") ")
        fields = rest.split()
        if name.startswith("1 (") or name.endswith("(sshd"):
            ticks += int(fields[13]) + int(fields[14])  # cutime and cstime: proc_pid_stat(5), less the first two fields
    return ticks / _TICKS


def _sent(cluster: dict[str, Any]) -> tuple[int, int, int]:
    """Return the pings, datagrams and ARP probes that the facts of a report name."""
    haip = (cluster.get("haip_paths") or {}).get("paths", ())
    pings = sum(path.get("packets_sent", 0) for path in cluster["paths"])
    pings += sum(path.get("small_sent", 0) + path.get("full_sent", 0) for path in haip)
    ports = [port for probe in cluster["flows"].get("probes", ()) for port in probe.get("ports", ())]
    datagrams = sum(port.get("sent", 1) + port.get("small_sent", 0) + port.get("full_sent", 0) for port in ports)
    datagrams += sum(turn["sent"] for probe in cluster["flows"].get("probes", ()) for turn in probe.get("turns", ()))
    owners = cluster["owners"]
    probes = [p for part in ("probes", "across") for p in owners.get(part) or ()]
    return pings, datagrams, sum(p.get("sent", 0) for p in probes if isinstance(p, dict))


if __name__ == "__main__":
    main()
