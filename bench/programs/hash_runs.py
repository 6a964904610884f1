"""Run `measure hashes` many times on one path, with one far end: `python -m bench.programs.hash_runs JSON`.

Runs on a node. Prints JSON: the verdict of each direction in each run.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import Any

from bench.programs.turns import carry_out, limits_for
from checks.measure.hashes import Hashes
from checks.measure.testbed import Testbed


class HashesAgain(Hashes):
    """The experiment, so many times."""

    def __init__(self, runs: int) -> None:
        super().__init__()
        self._number_of_runs = runs
        self.runs: list[list[dict[str, Any]]] = []

    async def run(self, bench: Testbed) -> None:
        """Measure until done."""
        for _ in range(self._number_of_runs):
            before = len(self.result().directions)
            await super().run(bench)
            directions = self.result().directions[before:]
            self.runs.append([{"verdict": one.verdict, "reason": one.reason} for one in directions])


def main(arguments: Sequence[str]) -> None:
    """Run the experiments, and print."""
    options = json.loads(arguments[0])
    experiment = HashesAgain(options["runs"])
    limits = limits_for(link_share=0.10, packets_per_s=2000, most_bps=1e9)
    measured = asyncio.run(carry_out(experiment, limits, "perl"))
    print(json.dumps({"runs": experiment.runs, "stopped": measured["stopped"]}))


if __name__ == "__main__":
    main(sys.argv[1:])
