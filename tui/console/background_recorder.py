"""A recording that a thread of its own writes, because a disk can be slow or hang."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from checks.model.facts import Cluster
from checks.model.run_record import RunRecord
from checks.model.settings import Settings
from checks.run.engine import racwire_version
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Header, RecordingError
from checks.traffic.recording_runs import RecordedLine
from checks.traffic.samples import Event, FeedEvent, Gap, InstanceSample, InstancesPace
from checks.traffic.source_id import DATABASE, SourceKind
from checks.traffic.timeline import Timeline
from tui.console.batch_writer import BatchWriter, Recordable, record

log = logging.getLogger(__name__)

BATCH_S = 0.8
"""How many seconds of events one write contains: a kill of racwire loses at most these."""

STUCK_S = 30.0
"""Seconds after which a disk that accepts no data counts as hung. The recording ends then: the waiting events would
fill the memory."""


class BackgroundRecorder:
    """Writes events to a recording, in order. The thread creates the file too."""

    def __init__(self, path: Path, header: Header, broke: Callable[[str], None]) -> None:
        """Create the recorder and start its thread. The event loop calls `broke` with one sentence when writing
        fails."""
        self.path = path
        self._header = header
        self._broke = broke
        self._recorder: Recorder | None = None
        self._writing_since: float | None = None
        """When the pending write started; None while no write is pending."""
        self._has_ended = False
        self._delivery = BatchWriter(self._write, BATCH_S, at_end=self._close)
        self._delivery.put(header.cluster)  # the file is created at once
        self._task = asyncio.create_task(self._run(), name="racwire recording")

    def put(self, events: Iterable[FeedEvent]) -> None:
        """Queue events for the file. Where the disk hangs, end the recording."""
        if self._has_ended:
            return
        for event in events:
            self._delivery.put(event)
        since = self._writing_since
        if since is not None and time.monotonic() - since > STUCK_S:
            self._break_off(
                f"The disk hangs: the recording {self.path.name} ended {time.monotonic() - since:.0f} s ago."
            )

    def follow(self, cluster: Cluster) -> None:
        """Queue the facts of the cluster for the file."""
        self._delivery.put(cluster)

    def add(self, items: Iterable[RunRecord | RecordedLine]) -> None:
        """Queue finished runs, verified gates and lines of a change's journal for the file."""
        for item in items:
            self._delivery.put(item)

    async def end(self, within_s: float) -> bool:
        """Write the queued events and close the file. Return False where that takes longer than `within_s` seconds; the
        thread then finishes by itself."""
        self._task.cancel()
        try:
            return await self._delivery.end(within_s) == 0
        except Exception as error:
            self._broke(self._why(error))
            return True
        finally:
            self._delivery.close()

    async def _run(self) -> None:
        try:
            await self._delivery.run()
        except Exception as error:
            self._break_off(self._why(error))

    def _break_off(self, reason: str) -> None:
        self._has_ended = True
        self._task.cancel()
        self._delivery.close()
        self._broke(reason)

    def _why(self, error: Exception) -> str:
        if isinstance(error, RecordingError):
            return str(error)
        log.error("the recording failed", exc_info=error)
        return f"The recording to {self.path.name} failed: {error or type(error).__name__}."

    def _write(self, items: list[Recordable]) -> None:
        self._writing_since = time.monotonic()
        try:
            if self._recorder is None:
                self._recorder = Recorder.create(self.path, self._header)
            record(self._recorder, items)
        except BaseException:
            self._close()
            raise
        if self._has_ended:  # the disk works again after the recording was given up
            self._close()
        self._writing_since = None

    def _close(self) -> None:
        if self._recorder is not None:
            self._recorder.close()


def header_for(
    cluster: Cluster, settings: Settings, interval_s: float, instances_pace: InstancesPace | None = None
) -> Header:
    """Return the header of a recording that starts now."""
    return Header(
        racwire_version=racwire_version(),
        started_at=datetime.now().astimezone().isoformat(timespec="milliseconds"),
        interval_s=interval_s,
        cluster=cluster,
        settings=msgspec.to_builtins(settings),
        instances_pace=instances_pace,
    )


def known_at(timeline: Timeline, now: float) -> Iterator[Event]:
    """Yield the events that a new recording needs first, because no source sends them again: the interfaces of each
    node, and the current gaps with their reasons."""
    sources = timeline.sources()
    for source in sources:
        if source.kind is SourceKind.NODE and (links := timeline.links(source.name, now)):
            yield links
    newest = {source: event for source in sources if (event := timeline.newest(source)) is not None}
    answered = max((e.at for e in newest.values() if isinstance(e, InstanceSample)), default=0)
    for source, event in newest.items():
        # A database has no samples of its own: a later sample of an instance ends its gap.
        if isinstance(event, Gap) and not (source == DATABASE and event.at < answered):
            yield msgspec.structs.replace(event, at=now)
