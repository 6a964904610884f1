"""The next steps of findings while a change is open on this node: for the command line and the console alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checks.model.finding import Finding
    from checks.model.settings import Settings


def adviser(settings: Settings) -> Callable[[tuple[Finding, ...]], tuple[Finding, ...]]:
    """Return the function by which the engine rewrites findings: see `checks.change.session.open_here.advised`."""

    def advise(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        from checks.change.session.open_here import advised  # late: a start does not wait for the modules of a change

        return advised(findings, settings)

    return advise
