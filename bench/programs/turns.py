"""An experiment of racwire with another instrument's turn after each of its orders: `python -m ... JSON`.

Runs on a node. Prints JSON: the result of the measurement, and what both instruments found in each turn.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import msgspec

from checks.measure.load_limits import HARD, LoadLimits
from checks.measure.load_plan import agree
from checks.measure.measuring import measure
from checks.measure.preparing import WantedPaths, prepare
from checks.measure.rate import Rate
from checks.measure.sizes import Sizes
from checks.measure.testbed import Experiment, Testbed
from checks.model.percentiles import percentile
from checks.run.settings_file import load_settings

Order = dict[str, Any]
_CLUSTER = "practice"
_CPU = str(min(os.sched_getaffinity(0)))
"""Where racwire's sender and the other instrument run."""


class Turns:
    """The bench of an experiment: after each order, it lets the other instrument run."""

    def __init__(self, bench: Any, turn: Callable[[Order, Order], Awaitable[None]]) -> None:
        self._bench, self._turn = bench, turn

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bench, name)

    async def order(self, order: Order, seconds: float) -> Order:
        """Carry out an order of racwire, and then the other instrument's turn."""
        found: Order = await self._bench.order(order, seconds)
        if not found["stopped"]:
            await self._turn(order, found)
        return found


class SizesInTurns(Sizes):
    """Each size one at a time, by racwire and by sockperf ping-pong."""

    turns: list[Order]

    async def run(self, bench: Any) -> None:
        """Measure until done."""
        self.turns = []
        _leave_the_cpu()
        await super().run(cast(Testbed, Turns(bench, self._turn)))

    async def _turn(self, order: Order, found: Order) -> None:
        if order["order"] != "exchange" or order["rate"]:
            return
        options = ("-i", order["target"], "--client_ip", order["source"], "-m", str(order["size"]), "-t", "1")
        text = await _output("sockperf", "ping-pong", *options, "--full-rtt")
        p50, p99 = (float(re.search(rf"percentile {one}\.000\s*=\s*([0-9.]+)", text)[1]) for one in (50, 99))  # type: ignore[index]
        times = found["times_us"]
        if (own_p99 := percentile(times, 0.99)) is None:
            return
        self.turns.append(
            {
                "size": order["size"],
                "p50_us": percentile(times, 0.5),
                "p99_us": own_p99,
                "answers": len(times),
                "sockperf_p50_us": p50,
                "sockperf_p99_us": p99,
            }
        )


class RateInTurns(Rate):
    """One TCP stream each way, by racwire and by iperf3."""

    turns: list[Order]

    async def run(self, bench: Any) -> None:
        """Measure until done."""
        self.turns = []
        _leave_the_cpu()
        await super().run(cast(Testbed, Turns(bench, self._turn)))

    async def _measure(self, testbed: Any, step: Any, number: int) -> None:
        if step.protocol == "tcp":
            await super()._measure(testbed, step, number)

    async def _turn(self, order: Order, found: Order) -> None:
        back = order["order"] == "tcp_from"
        options = ("-c", order["target"], "-B", order["source"], "-t", "1", "-J", *(("-R",) if back else ()))
        text = await _output("iperf3", *options)
        end = json.loads(text)["end"]
        received = found["received_bytes"] if back else found["sent_bytes"]
        self.turns.append(
            {
                "is_towards_here": back,
                "bps": received * 8 / found["seconds"],
                "cap_bps": order["bits_per_s"],
                "iperf3_bps": end["sum_received"]["bits_per_second"],
                "stopped": found["stopped"],
            }
        )


def _leave_the_cpu() -> None:
    """Let racwire itself, which samples this node, run on any CPU: only what sends stays on that of the start."""
    os.sched_setaffinity(0, range(os.cpu_count() or 1))


async def _output(*command: str) -> str:
    """Run the other instrument on the CPU of racwire's sender, and return what it prints."""
    process = await asyncio.create_subprocess_exec(
        "taskset", "-c", _CPU, *command,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    return (await process.communicate())[0].decode(errors="replace")


async def carry_out(experiment: Experiment, limits: LoadLimits, far_end: str) -> Order:
    """Measure on the first path, and return the measurement as JSON has it."""
    settings = load_settings(None)
    wanted = WantedPaths(is_one_path=True, far_end=far_end)
    prepared = await prepare(experiment, wanted, limits, settings)
    measured = await measure(
        agree(prepared.plan, _CLUSTER),
        prepared,
        experiment,
        settings,
        progress=lambda *_: None,
        stop=asyncio.Event(),
        although_loaded="the bench",
    )
    return dict(msgspec.to_builtins(measured))


def limits_for(**changes: Any) -> LoadLimits:
    """Return the hard limits, for a practice cluster, with one message in flight and these changes."""
    return replace(HARD, **{"in_flight": 1, **changes})


def main(arguments: Sequence[str]) -> None:
    """Run the experiment that the options name."""
    options = json.loads(arguments[0])
    kind, far_end = options.pop("kind"), options.pop("far_end", "")
    limits = limits_for(**options.pop("limits", {}))
    experiment: Any = SizesInTurns(**options) if kind == "sizes" else RateInTurns(**options)
    measured = asyncio.run(carry_out(experiment, limits, far_end))
    measured["result"] = None
    print(json.dumps({"measurement": measured, "turns": experiment.turns}))


if __name__ == "__main__":
    main(sys.argv[1:])
