"""The live feed behind the screens: it starts when a screen first needs it, and runs until racwire quits."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from textual.app import App
from textual.worker import Worker

from checks.model.facts import Cluster
from checks.model.run_record import RunRecord
from checks.model.settings import Settings
from checks.traffic.samples import Event, InstancesPace
from tui.console.app_state import AppState
from tui.console.messages import FeedFailed, PaceReported, RecordingEnded, SamplesReported
from tui.console.past import Past
from tui.text.home_path import with_path

if TYPE_CHECKING:
    from checks.traffic.feed import Feed
    from checks.traffic.recording import Header
    from checks.traffic.recording_runs import RecordedLine
    from checks.traffic.samples import Event
    from tui.console.background_recorder import BackgroundRecorder


log = logging.getLogger(__name__)

SAMPLED = frozenset({"traffic", "database"})
"""Modes of the screens with samples: the first visit to one starts the feed; after a failure, the next visit does."""

_END_WITHIN_S = 2.0
"""How long stopping a recording waits for the disk; after that the recording finishes by itself."""


class LiveFeed:
    """Runs a feed in a worker that only posts messages to the app, and records it on demand."""

    def __init__(self, app: App[None], new_feed: Callable[[], Feed], past: Past | None = None) -> None:
        """Create the feed; with a `past` it samples nothing."""
        self._app = app
        self._past = past
        self._new_feed = new_feed
        self._feed: Feed | None = None
        self._worker: Worker[None] | None = None
        self._recorder: BackgroundRecorder | None = None
        self._clock_s = 0.0
        """How far the clock had been set when the recording started: its runs count from there."""
        self._known: Cluster | None = None
        """The newest facts, which can have pending nodes."""

    @property
    def is_running(self) -> bool:
        """Whether samples are being taken."""
        return self._worker is not None and not self._worker.is_finished

    def start(self, state: AppState) -> bool:
        """Start to sample, and note that in the state. Return False where sampling runs already, or where a recording
        or saved state is open. A saved state reports its last samples of the database once."""
        if self.is_running:
            return False
        if self._past is not None:
            if self._past.is_saved and self._worker is None:
                self._worker = self._app.run_worker(
                    self._report_last_samples(self._past), group="feed", exit_on_error=False
                )
            return False
        self._feed = self._new_feed()
        self._feed.interval_s = state.feed.interval_s
        cluster = self._known or state.cluster
        if cluster is not None:
            self._feed.follow(cluster)
        self._worker = self._app.run_worker(self._work(self._feed), group="feed", exclusive=True, exit_on_error=False)
        state.feed.is_running, state.feed.trouble = True, ""
        return True

    def follow(self, cluster: Cluster) -> None:
        """Sample the nodes and instances of these facts, and add the facts to the recording."""
        self._known = cluster
        if self._feed is not None and self.is_running:
            self._feed.follow(cluster)
        if self._recorder is not None:
            self._recorder.follow(cluster)

    def add(self, items: Iterable[RunRecord | RecordedLine]) -> None:
        """Add finished runs, verified gates and lines of a change's journal to the recording, if there is one."""
        if self._recorder is not None:
            self._recorder.add(self._since_start(item) if isinstance(item, RunRecord) else item for item in items)

    def _since_start(self, run: RunRecord) -> RunRecord:
        return msgspec.structs.replace(run, clock_s=run.clock_s - self._clock_s) if self._clock_s else run

    def set_interval(self, seconds: float) -> None:
        """Set how many seconds apart the samples of a source are."""
        if self._feed is not None:
            self._feed.interval_s = seconds

    def record(self, path: Path, header: Header, known: Iterable[Event]) -> None:
        """Start to write the samples to a new file too; `known` are events that no source sends again.

        `RecordingEnded` reports a failure; sampling continues.
        """
        from tui.console.background_recorder import BackgroundRecorder

        def broke(reason: str) -> None:
            if self._recorder is recorder:
                self._recorder = None
            self._app.post_message(RecordingEnded(reason))

        recorder = self._recorder = BackgroundRecorder(path, header, broke)
        recorder.put(known)

    async def toggle_recording(
        self, state: AppState, settings: Settings, otherwise: Path, ran: Iterable[RunRecord | RecordedLine] = ()
    ) -> str:
        """Start a recording to a new file in the working directory, or in `otherwise` where that is not writable; or
        stop the current recording. A recording starts with what `ran`: the runs of the session in their order, and the
        lines of the journal of the open change. Return a notice for the operator."""
        if self._recorder is not None:
            state.feed.recording = None
            return await self.stop_recording(_END_WITHIN_S)
        if not self.is_running:
            return "Nothing is sampled, so there is nothing to record."
        if state.cluster is None:
            return "A recording starts with the facts of the cluster: wait until the checks have gathered them."
        from tui.console.background_recorder import header_for, known_at

        now = time.time()
        path = recording_path(now, otherwise)
        header = header_for(state.cluster, settings, state.feed.interval_s, state.feed.instances_pace)
        self.record(path, header, known_at(state.timeline, now))
        self._clock_s = state.events.clock_s
        self.add(ran)
        state.feed.recording = path
        return with_path(path, "Recording to {}; w stops it.", "Recording to {}", "{}")

    async def stop_recording(self, within_s: float) -> str:
        """Stop the recording, if there is one, and complete its file. Return a notice for the operator."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return ""
        if await recorder.end(within_s):
            return with_path(recorder.path, "Recorded to {}", "{}")
        log.warning("%s was still being written after %s s", recorder.path, within_s)
        return with_path(recorder.path, "The disk is slow: the end of {} is still being written.", "Still writing {}")

    async def stop(self, within_s: float) -> None:
        """Stop the feed and the recording; what does not end within that time is abandoned."""
        feed, self._feed = self._feed, None
        async with asyncio.TaskGroup() as group:
            group.create_task(self.stop_recording(within_s))
            if feed is not None:
                group.create_task(_close(feed, within_s))
        if self._worker is not None:
            self._worker.cancel()

    async def _report_last_samples(self, past: Past) -> None:
        from checks.traffic.recording import RecordingError

        with suppress(RecordingError):  # the Traffic screen displays the error
            self._app.post_message(SamplesReported(await asyncio.to_thread(past.last_of_the_database)))

    async def _work(self, feed: Feed) -> None:
        try:
            async for event in feed.events():
                if isinstance(event, InstancesPace):
                    self._app.post_message(PaceReported(event))
                else:
                    self._app.post_message(SamplesReported((event,)))
                if self._recorder is not None:
                    self._recorder.put((event,))
        except Exception as error:
            log.exception("the live feed failed")
            self._app.post_message(FeedFailed(f"The live sampling failed: {error or type(error).__name__}."))


def recording_path(now: float, otherwise: Path) -> Path:
    """Return the path of a new recording, which does not exist yet: in the working directory, or in `otherwise` where
    that is not writable."""
    directory = Path.cwd()
    if not os.access(directory, os.W_OK):
        directory = otherwise
        with suppress(OSError):  # the recording itself reports what is wrong with the directory
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    stem = time.strftime("racwire-%Y%m%d-%H%M%S", time.localtime(now))
    names = chain([f"{stem}.rec"], (f"{stem}-{number}.rec" for number in count(2)))
    return next(path for name in names if not os.path.lexists(path := directory / name))


async def _close(feed: Feed, within_s: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            try:
                await feed.close()
            except Exception:
                log.exception("the live feed could not be closed")
