"""Runs the checks without the console and records the traffic meanwhile, until both are done or a signal arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack

from checks.model.report import Report
from checks.run.engine import Engine
from checks.run.events import Gathered, NodesSoFar, RunFinished
from tui.cli.interrupts import graceful_loop_stop
from tui.cli.progress import Progress
from tui.cli.short_recording import ShortRecording

_FOLLOWED = ("clusterware", "nodes", "networks", "database")
"""The groups of facts that name the nodes and instances to sample."""
_TICK_S = 0.5


async def check(engine: Engine, progress: Progress, recording: ShortRecording | None = None) -> Report:
    """Run the checks and return the report.

    The first signal (INT, TERM, HUP) ends the run early, with a partial report; after the checks it ends the recording
    only.
    """
    stop = asyncio.Event()
    with graceful_loop_stop(stop.set):
        async with AsyncExitStack() as stack:
            if recording is not None:
                await stack.enter_async_context(recording)
                ticking = asyncio.create_task(_tick(progress, recording))
                stack.callback(ticking.cancel)
            report = await _report(engine, progress, recording, stop)
            if recording is not None:
                recording.follow(report.cluster)
                await _first(recording.complete(), stop.wait())
    return report


async def _first(*waits: Coroutine[None, None, object]) -> None:
    """Wait until one of these has ended, and cancel the others."""
    tasks = [asyncio.create_task(each) for each in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


async def _report(engine: Engine, progress: Progress, recording: ShortRecording | None, stop: asyncio.Event) -> Report:
    concluded: list[Report] = []
    running = asyncio.create_task(_run(engine, progress, recording, concluded))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait((running, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if running.done() or concluded:
        await running
        return concluded[0]
    report = engine.report(interrupted=True)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return report


async def _run(engine: Engine, progress: Progress, recording: ShortRecording | None, concluded: list[Report]) -> None:
    events = engine.events()
    try:
        async for event in events:
            progress(event)
            if recording is not None and isinstance(event, Gathered) and event.group in _FOLLOWED:
                recording.follow(engine.report().cluster)
            if recording is not None and isinstance(event, NodesSoFar):
                recording.follow(event.cluster)
            if isinstance(event, RunFinished):
                concluded.append(event.report)
                break
    finally:
        await events.aclose()
    assert concluded, "the engine ended without a report"


async def _tick(progress: Progress, recording: ShortRecording) -> None:
    while True:
        progress.alongside(recording.progress)
        await asyncio.sleep(_TICK_S)
