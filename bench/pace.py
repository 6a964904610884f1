"""How thoroughly everything is measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """How often, and for how long."""

    starts: int = 15
    """Of each program, for the first paint."""
    seconds: float = 30
    """Of each screen, for bytes and CPU."""
    samples: int = 200
    """Of a node, for what they cost."""
    keys: int = 200
    """That are pressed, for how soon they are answered."""
    memory_s: float = 240
    """For the memory at an accelerated pace."""
    hour: bool = False
    """Watch the memory for a real hour instead."""


QUICK = Pace(starts=7, seconds=10, samples=80, keys=60, memory_s=60)
