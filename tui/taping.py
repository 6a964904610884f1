"""A recording that is written beside the console: in a thread of its own, since a disk can be slow, or hang."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue

import msgspec

from checks.engine import racwire_version
from checks.facts import Cluster
from checks.settings import Settings
from checks.traffic.recording import Header, Recorder, RecordingError
from checks.traffic.samples import Event

log = logging.getLogger(__name__)

BATCH_S = 0.8
"""How long events are gathered for one write: at most that much is lost when racwire is killed."""


class Taping:
    """Writes what it is given, in order. The file is begun by the thread too."""

    def __init__(self, path: Path, header: Header, broke: Callable[[str], None]) -> None:
        """`broke` is called in the loop, with one sentence, when nothing more can be written."""
        self.path = path
        self._header = header
        self._broke = broke
        self._queue: SimpleQueue[Event | Cluster | None] = SimpleQueue()
        self._done = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._run, name="recording", daemon=True).start()

    def put(self, events: Iterable[Event]) -> None:
        """Write these, soon."""
        for event in events:
            self._queue.put(event)

    def follow(self, cluster: Cluster) -> None:
        """Write what is known of the cluster now."""
        self._queue.put(cluster)

    async def end(self, within_s: float) -> bool:
        """Write what there still is and close the file; False where that takes longer, and goes on by itself."""
        self._queue.put(None)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._done.wait(), within_s)
        return self._done.is_set()

    def _run(self) -> None:
        try:
            recorder = Recorder.create(self.path, self._header)
            try:
                while self._write(recorder):
                    pass
            finally:
                recorder.close()
        except RecordingError as error:
            reason = str(error)
            self._in_loop(lambda: self._broke(reason))
        except Exception as error:
            log.exception("the recording broke down")
            reason = f"The recording to {self.path.name} broke down: {error or type(error).__name__}."
            self._in_loop(lambda: self._broke(reason))
        finally:
            self._in_loop(self._done.set)

    def _in_loop(self, do: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(do)

    def _write(self, recorder: Recorder) -> bool:
        """Write what came in a while; False when that was the last."""
        batch = self._batch()
        for cluster in [item for item in batch if isinstance(item, Cluster)][-1:]:
            recorder.follow(cluster)
        events = [item for item in batch if item is not None and not isinstance(item, Cluster)]
        if events:
            recorder.write(events)
        return batch[-1] is not None

    def _batch(self) -> list[Event | Cluster | None]:
        batch = [self._queue.get()]
        until = time.monotonic() + BATCH_S
        while batch[-1] is not None and (left := until - time.monotonic()) > 0:
            try:
                batch.append(self._queue.get(timeout=left))
            except Empty:
                break
        return batch


def header_for(cluster: Cluster, settings: Settings, interval_s: float) -> Header:
    """What a recording that begins now is of."""
    return Header(
        racwire_version=racwire_version(),
        started_at=datetime.now().astimezone().isoformat(timespec="milliseconds"),
        interval_s=interval_s,
        cluster=cluster,
        settings=msgspec.to_builtins(settings),
    )
