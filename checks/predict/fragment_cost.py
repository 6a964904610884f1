"""What one packet costs a node's CPU, from a result of `racwire measure sizes` on that node. No I/O.

The CPU time of a message grows with its packets and with its bytes. A slope over sizes has both, so the cost of the
bytes, which another MTU does not change, is taken off: it is the slope over the sizes that fit one packet. Slopes are
medians over pairs of sizes (Theil and Sen), one for each round; the rounds are the samples of the interval.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

from checks.model.facts import Unknown
from checks.model.measurement import MeasuredSizes, Measurement, SizeRound
from checks.model.packet_sizes import IP_HEADER, fragments_of
from checks.model.sound_measurement import sound
from checks.report.measured.fit import difference_text
from checks.rules.measured_moment import Moment, misfit
from checks.traffic.compare.statistics import median_interval

COST = "CPU time of a packet"
"""The name of the input."""
_NOT_USED = "not used."
_WAYS = 2
"""A message and its answer have the same size, so a node handles each packet twice: once sent, once received."""


@dataclass(frozen=True)
class FragmentCost:
    """The CPU time of a node for one packet, without that of its bytes, in microseconds."""

    node: str
    likely_us: float
    low_us: float
    """The limits with 95 % confidence."""
    high_us: float
    mtu: int
    rounds: int
    measured_at: str

    @property
    def text(self) -> str:
        """The cost with its source."""
        when = self.measured_at[:16].replace("T", " ")
        return (
            f"{self.likely_us:.2g} us ({self.low_us:.2g} to {self.high_us:.2g}), in {self.rounds} rounds of "
            f"`racwire measure sizes` at MTU {self.mtu}, {when}"
        )


def fragment_costs(measurements: Iterable[Measurement], moment: Moment) -> Mapping[str, FragmentCost | Unknown]:
    """Return the cost by node, for the nodes that a result of sizes was measured on: the newest that belongs to the
    moment of the load; Unknown where none does, or it cannot say."""
    found: dict[str, FragmentCost | Unknown] = {}
    for one in sorted(sound(measurements), key=lambda each: each.started_at):
        if isinstance(one.result, MeasuredSizes):
            if why := misfit(one, moment):
                why_not = f"It does not belong to the recording: {difference_text(why, 'in it')}."
                found.setdefault(one.node, Unknown(why_not))
            else:
                found[one.node] = _cost(one, one.result)
    return found


def fitting(cost: FragmentCost | Unknown | None, percent: float, packets: float) -> FragmentCost | Unknown | None:
    """Return the cost; Unknown where so many packets a second would need more than `percent` of a CPU, which is what
    soft interrupts took, even at the lower limit of the cost: then one of both is not what it seems."""
    if isinstance(cost, FragmentCost) and (needed := packets * cost.low_us / 1e4) > percent:
        return Unknown(
            f"By it, {packets:,.0f} packets a second need {needed:.2g} % of a CPU or more, and soft interrupts took "
            f"{percent:.2g} %."
        )
    return cost


def percent_after(
    percent: float, now: float, after: float, cost: FragmentCost | Unknown | None
) -> tuple[float, float, float]:
    """Return the CPU time in percent of a CPU with `after` packets a second, and its limits; it is `percent` with
    `now`. Without a measured cost, it lies between no change and a change in proportion to the packets."""
    changed = percent * after / now if now else percent
    least, most = min(percent, changed), max(percent, changed)
    if not isinstance(cost, FragmentCost):
        return changed, least, most
    each = [percent - (now - after) * us / 1e4 for us in (cost.likely_us, cost.low_us, cost.high_us)]
    likely, low, high = (min(max(value, least), most) for value in (each[0], min(each), max(each)))
    return likely, low, high


def formula_of(cost: FragmentCost | Unknown | None) -> str:
    """Return the formula of `percent_after`."""
    if isinstance(cost, FragmentCost):
        return "CPU time - packets less x CPU time of a packet, at best in proportion to the packets"
    return "CPU time x packets after / now, if private packets need all of that time; else it changes less"


def inputs_of(cost: FragmentCost | Unknown | None) -> dict[str, str]:
    """Return the input with its source; none where nothing was measured."""
    if cost is None:
        return {}
    return {COST: cost.text if isinstance(cost, FragmentCost) else f"{_NOT_USED} {cost.reason}"}


def is_measured(inputs: Mapping[str, str]) -> bool:
    """Return whether an estimate with these inputs uses a measured cost."""
    return not inputs.get(COST, _NOT_USED).startswith(_NOT_USED)


def _cost(measurement: Measurement, result: MeasuredSizes) -> FragmentCost | Unknown:
    if measurement.disturbed:
        return Unknown("Its own node was busy when it was measured.")
    mtus = {path.mtu for path in measurement.paths}
    if len(mtus) != 1 or any(":" in path.source for path in measurement.paths):
        return Unknown("It was measured on paths of different MTUs, or over IPv6.")
    (mtu,) = mtus
    rounds: dict[tuple[int, int], list[SizeRound]] = defaultdict(list)
    for one in result.rounds:
        if one.train == 1 and not one.rate and one.cpu_node_us is not None:
            rounds[one.path, one.round].append(one)
    packets = [s for own in rounds.values() if (s := _slope([(_packets(o, mtu), _us(o)) for o in own])) is not None]
    single = [[one for one in own if fragments_of(one.size, mtu) == 1] for own in rounds.values()]
    bytes_ = [s for own in single if (s := _slope([(_WAYS * o.size, _us(o)) for o in own])) is not None]
    spread = median_interval(packets), median_interval(bytes_)
    if spread[0] is None or spread[1] is None:
        return Unknown("It has too few rounds of sizes with one packet and with several.")
    carried = (mtu - IP_HEADER[4]) // 8 * 8
    of_bytes = [max(0.0, value) * carried for value in (median(bytes_), spread[1][1])]
    likely, low, high = median(packets) - of_bytes[0], spread[0][0] - of_bytes[1], spread[0][1]
    if low <= 0 or likely <= 0:
        return Unknown("It does not show that a packet costs CPU time at all: other programs needed more.")
    return FragmentCost(measurement.node, likely, low, high, mtu, len(packets), measurement.started_at)


def _packets(one: SizeRound, mtu: int) -> int:
    return _WAYS * fragments_of(one.size, mtu)


def _us(one: SizeRound) -> float:
    return one.cpu_node_us or 0.0


def _slope(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the median slope over all pairs of points; None where none has two different places."""
    slopes = [(y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in combinations(points, 2) if x1 != x2]
    return median(slopes) if slopes else None
