"""Diagnose simulated clusters: `python -m bench.programs.diagnosis [NODES ...]`.

Prints a table: the milliseconds of CPU for a diagnosis, for a healthy cluster and for one with two faults, by nodes.
Making the facts and the findings is not counted.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from checks.diagnosis.diagnose import diagnose
from tests.simulator.facts import facts_of
from tests.simulator.faults import Fault
from tests.simulator.judging import report_of

_ROUNDS = 3
_CASES: dict[str, tuple[Fault, ...]] = {
    "healthy": (),
    "switch-mtu, small-receive-buffer": (Fault("switch-mtu", 1), Fault("small-receive-buffer", 0, "rac2")),
    "loss, icmp-policed": (Fault("loss", 1, "rac2"), Fault("icmp-policed", 2)),
}


def milliseconds(nodes: int, faults: Sequence[Fault]) -> float:
    """Return the least CPU time of a diagnosis."""
    cluster = facts_of(faults, nodes=nodes)
    findings = report_of(cluster).findings
    taken = []
    for _ in range(_ROUNDS):
        started = time.process_time()
        diagnose(cluster, findings)
        taken.append(1000 * (time.process_time() - started))
    return min(taken)


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    sizes = [int(word) for word in arguments] or [2, 8, 16]
    print(f"{'milliseconds of CPU':<34}" + "".join(f"{f'{nodes} nodes':>10}" for nodes in sizes))
    for name, faults in _CASES.items():
        print(f"{name:<34}" + "".join(f"{milliseconds(nodes, faults):>10.1f}" for nodes in sizes), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
