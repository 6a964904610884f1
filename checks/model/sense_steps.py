"""The names of the steps that read what no run reads; the steps, what makes them, and their words agree on them."""

from __future__ import annotations

DROPS_STEP = "kernel-drops"
OPTICS_STEP = "read-optics"
PAUSES_STEP = "pauses-by-class"
ALL = frozenset({DROPS_STEP, OPTICS_STEP, PAUSES_STEP})
