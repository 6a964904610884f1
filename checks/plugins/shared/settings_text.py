"""The remedies of kernel settings, which lead to a guided change."""

from __future__ import annotations

from checks.model.finding import NextStep
from checks.model.shell_command import shell


def plan_of(kind: str) -> NextStep:
    """Return the remedy that plans a guided change of this kind."""
    return NextStep(
        "Plan the change: one node after the other, now and for the next boot. racwire verifies each step.",
        (shell("racwire change new {kind}", kind=kind),),
    )
