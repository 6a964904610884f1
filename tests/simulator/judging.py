"""What racwire says of the facts of a simulated cluster: its findings, and the whole report."""

from __future__ import annotations

import asyncio
from typing import Any

from checks.model.facts import Cluster
from checks.model.finding import Finding
from checks.model.report import Report
from checks.model.settings import Settings
from checks.run.check_discovery import discover
from checks.run.engine import Engine
from checks.run.replay import ReplayedFacts

CHECKS = tuple(discover().checks)


def findings_of(cluster: Cluster) -> tuple[Finding, ...]:
    """Return the findings of all checks, as the checks make them."""
    return tuple(finding for check in CHECKS for finding in check.run(cluster))


def report_of(cluster: Cluster) -> Report:
    """Return the report of a run of all checks on these facts. Raises the error of an engine that breaks."""
    return report_by(ReplayedFacts(cluster, CHECKS, Settings()))


def report_by(engine: Engine) -> Report:
    """Return the report of an engine. Raises the error of one that breaks."""
    broken: list[BaseException] = []

    async def judged() -> Report:
        own = asyncio.current_task()
        assert own is not None

        def stop(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            # The engine makes its last report in a callback: nobody would hear of an error there.
            broken.append(context.get("exception") or RuntimeError(context["message"]))
            own.cancel()

        asyncio.get_running_loop().set_exception_handler(stop)
        return await engine.run()

    try:
        return asyncio.run(judged())
    except asyncio.CancelledError:
        raise broken[0] from None
