"""`racwire check --deep`: the automatic steps of guided troubleshooting, after the checks."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tui.cli.interrupts import graceful_loop_stop
from tui.cli.own_loop import run_in_own_loop
from tui.cli.streams import print_message

if TYPE_CHECKING:
    from checks.measure.deep_check import Deepened
    from checks.model.report import Report
    from checks.model.settings import Settings
    from tui.cli.password import Secret
    from tui.cli.progress import Progress


def deepened_report(report: Report, settings: Settings, password: Secret | None, progress: Progress) -> Report:
    """Return the report with the session that racwire made, and print why where it made none.

    The first signal (INT, TERM, HUP) ends the step that is made, and the session.
    """
    from checks.measure.deep_check import deepened

    async def deep() -> Deepened:
        stop = asyncio.Event()
        with graceful_loop_stop(stop.set):
            return await deepened(report, settings, password, progress.alongside, stop)

    made = run_in_own_loop(deep())
    progress.clear()
    if made.why_not:
        print_message(f"--deep: {made.why_not}")
    return made.report
