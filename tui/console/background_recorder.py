"""A recording that is written beside the console, by a thread of its own, since a disk can be slow, or hang."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from checks.model.facts import Cluster
from checks.model.settings import Settings
from checks.run.engine import racwire_version
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Header, RecordingError
from checks.traffic.samples import Event, Gap
from checks.traffic.timeline import Timeline
from tui.console.batch_writer import BatchWriter, Item, record

log = logging.getLogger(__name__)

BATCH_S = 0.8
"""How long events are gathered for one write: at most that much is lost when racwire is killed."""

STUCK_S = 30.0
"""A disk that has taken nothing for so long hangs, and the recording has ended whether that is said or not: what waits
for it is in memory only, and would grow."""


class BackgroundRecorder:
    """Writes what it is given, in order. The file is begun by the thread too."""

    def __init__(self, path: Path, header: Header, broke: Callable[[str], None]) -> None:
        """`broke` is called in the loop, with one sentence, when nothing more can be written."""
        self.path = path
        self._header = header
        self._broke = broke
        self._recorder: Recorder | None = None
        self._in_hand_since: float | None = None
        """When the disk was given what it has not taken yet; None while there is no such thing."""
        self._has_ended = False
        self._delivery = BatchWriter(self._write, BATCH_S, at_end=self._close)
        self._delivery.put(header.cluster)  # the file is begun at once
        self._task = asyncio.create_task(self._run(), name="racwire recording")

    def put(self, events: Iterable[Event]) -> None:
        """Write these, soon. Where the disk hangs the recording ends."""
        if self._has_ended:
            return
        for event in events:
            self._delivery.put(event)
        since = self._in_hand_since
        if since is not None and time.monotonic() - since > STUCK_S:
            self._break_off(
                f"The disk hangs: the recording {self.path.name} ended {time.monotonic() - since:.0f} s ago."
            )

    def follow(self, cluster: Cluster) -> None:
        """Write what is known of the cluster now."""
        self._delivery.put(cluster)

    async def end(self, within_s: float) -> bool:
        """Write what there still is and close the file; False where that takes longer, and goes on by itself."""
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

    def _write(self, items: list[Item]) -> None:
        self._in_hand_since = time.monotonic()
        try:
            if self._recorder is None:
                self._recorder = Recorder.create(self.path, self._header)
            record(self._recorder, items)
        except BaseException:
            self._close()
            raise
        if self._has_ended:  # the disk goes on, and nobody waits for it any more
            self._close()
        self._in_hand_since = None

    def _close(self) -> None:
        if self._recorder is not None:
            self._recorder.close()


def header_for(cluster: Cluster, settings: Settings, interval_s: float) -> Header:
    """What a recording that begins now is of."""
    return Header(
        racwire_version=racwire_version(),
        started_at=datetime.now().astimezone().isoformat(timespec="milliseconds"),
        interval_s=interval_s,
        cluster=cluster,
        settings=msgspec.to_builtins(settings),
    )


def known_at(timeline: Timeline, now: float) -> Iterator[Event]:
    """What a recording that begins now is told at once, since no source will tell it again: the interfaces, and of
    which sources nothing can be told, and why."""
    sources = timeline.sources()
    for source in sources:
        if source.startswith("node ") and (links := timeline.links(source.removeprefix("node "), now)):
            yield links
    newest = {source: event for source in sources if (event := timeline.newest(source)) is not None}
    answered = max((e.at for s, e in newest.items() if s.startswith("instance ") and not isinstance(e, Gap)), default=0)
    for source, event in newest.items():
        # A database tells no samples of its own: it is there again with the first one of an instance.
        if isinstance(event, Gap) and not (source == "database" and event.at < answered):
            yield msgspec.structs.replace(event, at=now)
