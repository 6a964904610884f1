"""The status of a gate's finding: whether the next step of a change is allowed."""

from __future__ import annotations

from checks.model.finding import Status


def gate_status(holds: bool | None) -> Status:
    """Return the status of a gate that holds, does not hold, or is not decided (None)."""
    if holds is None:
        return Status.UNKNOWN
    return Status.PASS if holds else Status.FAIL
