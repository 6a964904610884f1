"""`measure mix --beside`: small flows on a cluster in use, sorted by how full the link was in the second of each.

It makes no load of its own to speak of: the load that is there answers whether small flows wait behind large ones.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from checks.measure.flow_figures import BESIDE, figures_of, summaries_of
from checks.measure.flow_plan import FLOW_BYTES
from checks.measure.load_limits import LoadLimits
from checks.measure.load_plan import PlannedLoad
from checks.measure.measure_error import MeasureError
from checks.measure.near_end.tcp_flows import completed, needed_s, packets_of_flow, wire_bytes_of_flow
from checks.measure.testbed import Experiment, Testbed
from checks.model.measurement import FlowRound, MeasuredMix, MeasuredPath
from checks.model.wording import counted

SMALL = ("message", "block", "small")
_ORDER_S = 5.0
"""Seconds of one order of the sender."""
_PART = 0.25
"""The part of the limits for each class: flows come in gaps of random length, of 0.8 to 1.2 times the mean."""
_SPARE = 1.3
"""The mean gap is so much longer than the limit of flows a second asks for, so that no second has more."""


class MixBeside(Experiment):
    """The experiment. `result` has what was measured so far at any time."""

    kind = "mix"
    needs_program = True

    def __init__(self, *, seconds: float = 60.0, seed: int = 0) -> None:
        """Raises MeasureError."""
        if not 10 <= seconds <= 900:
            raise MeasureError("Flows next to the load are sent for 10 s to 15 minutes.")
        self._seconds = seconds
        self.seed = seed
        self._found: list[FlowRound] = []

    def plan(self, paths: Sequence[MeasuredPath], limits: LoadLimits) -> PlannedLoad:
        """Return what will be sent at most. Raises MeasureError where the limits are too small for these flows."""
        gaps = [(name, path, self._gap_s(name, path, limits)) for path in paths for name in SMALL]
        flows = {(name, path): self._seconds / gap_s / 0.8 + 1 for name, path, gap_s in gaps}
        packets = sum(number * packets_of_flow(FLOW_BYTES[name], path.mtu) for (name, path), number in flows.items())
        sent = sum(number * wire_bytes_of_flow(FLOW_BYTES[name], path.mtu) for (name, path), number in flows.items())
        return PlannedLoad(
            title="small flows of 200 B, 8 KB and 64 KB next to the load of the cluster, on "
            f"{counted(len(paths), 'path')}, at most {limits.flows_per_s or 0:.0f} flows/s",
            seconds=self._seconds * len(paths) + 1,
            packets=round(packets * 1.5),
            wire_bytes=round(sent + packets * 0.5 * 90),
            peak_packets_per_s=limits.packets_per_s,
            peak_bps=min(limits.bits_per_s(path.speed_mbps) for path in paths),
            notes=(
                "No large flows are sent: the load that is there is what small flows meet. The seconds are sorted by "
                "how full the link was, into a quiet, a middle and a busy third.",
            ),
        )

    async def run(self, testbed: Testbed) -> None:
        """Measure until done. Raises HaltedError; `result` then has the seconds so far."""
        chance = random.Random(self.seed)  # noqa: S311 - gaps, no secret
        orders = max(1, math.ceil(self._seconds / _ORDER_S))
        for number in range(orders * len(testbed.paths)):
            place = number // orders
            path = testbed.paths[place]
            testbed.progress(
                f"small flows to {path.target_node} on {path.network}", number, orders * len(testbed.paths)
            )
            await self._measure(testbed, place, number, chance.randrange(1 << 30))
        testbed.demand_running()

    def result(self) -> MeasuredMix:
        """Return the seconds so far, and the summaries of their thirds."""
        rounds = sorted(self._found, key=lambda r: (r.path, SMALL.index(r.flow_class), r.round))
        return MeasuredMix(tuple(rounds), tuple(summaries_of(rounds)))

    async def _measure(self, testbed: Testbed, place: int, number: int, seed: int) -> None:
        path = testbed.paths[place]
        lanes = [
            {
                **testbed.address(place),
                "name": name,
                "size": FLOW_BYTES[name],
                "burst": FLOW_BYTES[name],
                "gap_s": self._gap_s(name, path, testbed.limits),
                "pause_s": 0.0,
                "flows": -1,
                "mtu": path.mtu,
                "is_from_far_end": False,
            }
            for name in SMALL
        ]
        found = await testbed.order(
            {
                "order": "flows",
                "lanes": lanes,
                "seconds": _ORDER_S,
                "longest_s": _ORDER_S,
                "bits_per_s": testbed.limits.bits_per_s(path.speed_mbps),
                "seed": seed,
            },
            _ORDER_S * 2,
        )
        testbed.lateness_us += found["lateness_us"]
        at: float = found["at"]
        # The samples of the peers come every second: those of the last second come later than its flows.
        if not found["stopped"]:
            await testbed.pause(1.0)
        for lane in found["lanes"]:
            for second in range(math.ceil(found["seconds"])):
                times = [took for begin, took in completed(found, lane["name"]) if int(begin) == second]
                broken = lane["broken"] if second == 0 else 0
                if not times and not broken:
                    continue
                self._found.append(
                    FlowRound(
                        path=place,
                        flow_class=lane["name"],
                        size=FLOW_BYTES[lane["name"]],
                        company=BESIDE,
                        concurrency=1,
                        round=number * int(_ORDER_S) + second,
                        at=at + second,
                        seconds=1.0,
                        broken=broken,
                        link_share=testbed.link_use.between(place, at + second, at + second + 1),
                        **figures_of(times),
                    )
                )

    def _gap_s(self, name: str, path: MeasuredPath, limits: LoadLimits) -> float:
        flow_s = needed_s(FLOW_BYTES[name], path.mtu, limits.bits_per_s(path.speed_mbps), limits.packets_per_s)
        if flow_s > 1:
            raise MeasureError("These limits are too small for small flows: choose more with --packets or --share.")
        return max(len(SMALL) / (limits.flows_per_s or 1.0) * _SPARE, flow_s / _PART)
