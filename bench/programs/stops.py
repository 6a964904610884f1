"""Stop a measurement by a made sign of harm: `python -m bench.programs.stops JSON`.

Runs on a node. Prints JSON: when racwire read the sign, in seconds since 1970, and why it stopped.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections.abc import Sequence
from typing import Any

from bench.programs.turns import carry_out, limits_for
from checks.measure import measuring
from checks.measure.harm_signs import HarmSigns
from checks.measure.mix import Mix
from checks.measure.rate import Rate
from checks.measure.sizes import Sizes

_SIGN = "The bench made a sign."
_FIRST_S, _LAST_S = 2.0, 5.0
"""`sizes` sends nothing in its first second."""
EXPERIMENTS: dict[str, Any] = {
    "sizes": lambda: Sizes((64, 8192), (), rounds=30),
    "rate": lambda: Rate((0.02, 0.1), step_s=3.0, rounds=5),
    "mix": lambda: Mix(rounds=5),
}


class MadeSign(HarmSigns):
    """Shows a sign some seconds after the first look."""

    read_at = 0.0
    _due_s = 0.0

    def see(self, event: object) -> str:
        """Return the sign once it is due."""
        now = time.time()
        self._due_s = self._due_s or now + random.uniform(_FIRST_S, _LAST_S)  # noqa: S311 - no secret
        if now >= self._due_s:
            MadeSign.read_at = MadeSign.read_at or now
            return _SIGN
        return ""


def main(arguments: Sequence[str]) -> None:
    """Measure until the sign, and print."""
    vars(measuring)["HarmSigns"] = MadeSign
    experiment = EXPERIMENTS[json.loads(arguments[0])["kind"]]()
    limits = limits_for(link_share=0.10, packets_per_s=2000, most_bps=1e9, cpu_share=0.5)
    measured = asyncio.run(carry_out(experiment, limits, "perl"))
    print(json.dumps({"read_at": MadeSign.read_at, "stopped": measured["stopped"]}))


if __name__ == "__main__":
    main(sys.argv[1:])
