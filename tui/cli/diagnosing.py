"""Reads what `racwire doctor` judges, until all is read or a signal arrives."""

from __future__ import annotations

import asyncio

from checks.model.facts import Unknown
from checks.model.report import Report
from checks.readiness.reading import Account, account
from checks.run.engine import Engine
from checks.run.events import CheckConcluded, Event
from tui.cli.checking import check
from tui.cli.progress import Progress


async def diagnose(engine: Engine, progress: Progress) -> tuple[Report, Account | Unknown]:
    """Read everything at the same time, and return the report and the user. The first signal ends the reading."""
    user = asyncio.create_task(account())
    try:
        report = await check(engine, _Gathering(progress))
        if report.interrupted and not user.done():
            return report, Unknown("The user was not read before racwire was stopped.")
        return report, await user
    finally:
        user.cancel()


class _Gathering(Progress):
    """The progress of reading. The checks run, too, but the operator does not wait for them."""

    def __init__(self, line: Progress) -> None:
        super().__init__(False)
        self._line = line

    def __call__(self, event: Event) -> None:
        """Show an event of the reading."""
        if not isinstance(event, CheckConcluded):
            self._line(event)
