"""Reads what an open recording or saved state has, in threads: its events, and its runs with its journal."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from textual.app import App

from tui.console.messages import EventsFound, RunsJudged
from tui.console.past_moments import PastMoments

if TYPE_CHECKING:
    from tui.console.past import Past

log = logging.getLogger(__name__)


async def read_events(app: App[None], past: Past) -> None:
    """Find the events of a recording, and post them."""
    if past.recording is None:
        return
    from checks.situation.events.watching import EventWatch
    from checks.traffic.recording import RecordingError

    recording, trouble, end = past.recording, "", 0.0
    watch = EventWatch(recording.header.cluster)

    def read() -> None:
        for item in recording.events():
            watch.see(item)

    try:
        span = await asyncio.to_thread(recording.span)
        end = span[1] if span else 0.0
        await asyncio.to_thread(read)
    except RecordingError as error:
        trouble = str(error)
    except Exception:
        log.exception("the events of the recording could not be found")
        trouble = "The events of this recording could not be found; the details are in the log."
    app.post_message(EventsFound(watch, end, trouble))


async def read_runs(app: App[None], past: Past, prepare: Callable[[], Awaitable[None]]) -> None:
    """Read the runs of a recording, and judge them one after the other; post each step. `prepare` loads the modules."""
    from checks.run.check_discovery import discover
    from checks.traffic.recording import RecordingError

    moments, trouble = PastMoments(()), ""
    try:
        await prepare()
        moments = await asyncio.to_thread(lambda: PastMoments(past.runs(), past.journal()))
        steps = moments.judge({check.id: check for check in discover().checks})
        for _ in moments.records:
            app.post_message(RunsJudged(moments, is_done=False))
            await asyncio.to_thread(next, steps)
    except RecordingError as error:
        trouble = str(error)
    except Exception:
        log.exception("the runs of the recording could not be read")
        trouble = "The runs of this recording could not be read; the details are in the log."
    app.post_message(RunsJudged(moments, is_done=True, trouble=trouble))
