"""The measurements of one run: from a recording of racwire, or from the result of another tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from checks.rules.measured_moment import Moment


class Better(Enum):
    """The direction in which a metric is better."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"
    """The metric only measures an amount: a load, a number of packets."""


@dataclass(frozen=True)
class Measured:
    """One metric of one run."""

    name: str
    """The same name in every run: `rac1 packets per block received`."""
    unit: str
    values: tuple[float, ...]
    """The values in order of time, one for each stretch of the run; one value where the tool reports no more."""
    better: Better = Better.NEITHER
    is_control: bool = False
    """Whether the change cannot be the cause of a difference: the MTU does not affect a ping of 64 bytes."""
    group: str = ""
    """The heading of the metric: `Network`, `Kernel`, `CPU`, `Database`, `Latency`, `Swingbench`."""
    note: str = ""
    """One sentence that explains the metric."""
    part_of: str = ""
    """The name of the whole that this metric is a part of: `private in` for `rac1 private in`."""
    curve: str = ""
    """The curve over message sizes that this metric is a point of: `round trip`; empty for none."""
    size: int = 0
    """The message size in bytes, for a point of a curve."""
    noise: str = ""
    """The name of the metric that the change cannot affect, and whose difference shows how much this one may differ
    without a cause: the round trip of 64 B; empty for none."""


@dataclass(frozen=True)
class ComparedRun:
    """One run."""

    kind: str
    """`recording`, `measure sizes` and its like, `drill`, `Swingbench`, `HammerDB`, `iperf3`, `sadf`."""
    name: str
    """The file, or the label of the recording."""
    begun_at: str = ""
    """The start time in ISO 8601; empty where the tool does not report it."""
    seconds: float | None = None
    measured: tuple[Measured, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    """The facts that should be equal in two compared runs, by name: `rac1 kernel`, `users`, `think time`."""
    warnings: tuple[str, ...] = ()
    """Reasons not to trust the run: gaps, failed transactions, a ramp-up."""
    moment: Moment = field(default_factory=Moment)
    """Of a recording: what its private paths were in the compared part, to which measurements belong."""
    sampled: Mapping[str, float] = field(default_factory=dict)
    """Of a recording: the share of its time, from 0 to 1, in which each node and each instance was sampled."""
    are_values_independent: bool = False
    """Whether each value is a sample for itself: a round in random order, or a stretch that was chosen for that."""


class ImportProblem(Exception):  # noqa: N818 - what is wrong is with the file
    """A result could not be read. The message is one sentence with the file and the reason."""
