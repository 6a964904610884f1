"""What was measured in one run, whatever measured it: a recording of racwire's, or another tool's result."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Better(Enum):
    """Which way a metric gets better."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"
    """It only tells what was done: a load, a number of packets."""


@dataclass(frozen=True)
class Measured:
    """One metric of one run."""

    name: str
    """The same words in every run: `rac1 packets per block received`."""
    unit: str
    values: tuple[float, ...]
    """In order of time, one for each stretch of the run; a single one where the tool gives no more."""
    better: Better = Better.NEITHER
    is_control: bool = False
    """Whether the change cannot have caused a difference: MTU does nothing to a ping of 64 bytes."""
    group: str = ""
    """Under which heading it is shown: `Network`, `Kernel`, `CPU`, `Database`, `Latency`, `Swingbench`."""
    note: str = ""
    """What has to be known to read it, in one sentence."""
    part_of: str = ""
    """The name of the metric that this is a part of: `private in`, of `rac1 private in`."""


@dataclass(frozen=True)
class ComparedRun:
    """One run."""

    kind: str
    """`recording`, `Swingbench`, `HammerDB`, `iperf3`, `sadf`."""
    name: str
    """The file, or its label."""
    begun_at: str = ""
    """ISO 8601; empty where the tool does not say."""
    seconds: float | None = None
    measured: tuple[Measured, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    """What should be alike in two runs that are compared, in words: `rac1 kernel`, `users`, `think time`."""
    warnings: tuple[str, ...] = ()
    """What speaks against trusting it: gaps, failed transactions, a ramp-up within."""


class ImportProblem(Exception):  # noqa: N818 - what is wrong is with the file
    """A result could not be read: one sentence with what is wrong with it."""
