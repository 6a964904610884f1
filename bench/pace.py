"""How often and how long each measurement runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """The repetitions and durations of the measurements."""

    starts: int = 15
    """Starts of each program, for the first paint."""
    seconds: float = 30
    """Seconds for each screen, for bytes and CPU."""
    samples: int = 200
    """Samples of a node, for their cost."""
    checks: int = 5
    """Checks of a small cluster, for their CPU time."""
    keys: int = 200
    """Key presses, for the time to their answer."""
    memory_s: float = 240
    """Seconds for the memory at an accelerated rate."""
    turns: int = 10
    """Turns of each step of a measurement, with another instrument's in between."""
    finds: int = 5
    """Runs with a fault that a measurement must find."""
    healthy: int = 100
    """Runs of a measurement that must find nothing."""
    hour: bool = False
    """Whether to measure the memory over a real hour instead."""


QUICK = Pace(starts=7, seconds=10, samples=80, checks=3, keys=60, memory_s=60, turns=4, finds=1, healthy=20)
