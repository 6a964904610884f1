"""Writes samples to one SQLite file. The file is complete after every write, even if racwire is killed, and other
processes can read it meanwhile."""

from __future__ import annotations

import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self

import msgspec

from checks.model.facts import Cluster
from checks.model.run_record import RunRecord
from checks.run.stored_measurements import ResultsMeanwhile
from checks.traffic.json_text import as_json
from checks.traffic.recording import Header
from checks.traffic.recording_codec import LARGEST_EVENT, LATEST, Packed, key_of, pack, rows_of
from checks.traffic.recording_file import LONGEST, SCHEMA, RecordingError, create_file, sqlite_reason
from checks.traffic.recording_runs import (
    JOURNAL_BYTES,
    LARGEST_LINE,
    LARGEST_RUN,
    MOST_LINES,
    MOST_RUNS,
    RUNS_BYTES,
    RecordedLine,
    run_as_bytes,
)
from checks.traffic.recording_shapes import Shape, UnpackableError, shape_as_text, shape_of
from checks.traffic.samples import Event, Gap, InstancesPace, Links

_LAST_RESULT_S = 0.3
"""Seconds that the end of a recording waits for a result that was kept just before."""
_MOST_REMOVED = 50
"""Most rows that one write removes: a clock that jumps ahead for a moment must not delete the whole recording."""


class _KeptRun(NamedTuple):
    """A run in the file."""

    number: int
    ended: float
    is_whole: bool
    """Whether it ran all checks."""
    size: int
    """Bytes before compression."""


class Recorder:
    """Writes a recording. Each `write` is one transaction; calls may come from any thread."""

    def __init__(self, path: Path, file: sqlite3.Connection, header: Header, keep_s: float | None) -> None:
        self._path = path
        self._file = file
        self._header = header
        self._keep_s = keep_s
        self._shapes: dict[Shape, int] = {}
        self._results: ResultsMeanwhile | None = None
        self._runs: tuple[_KeptRun, ...] = ()
        self._journal_lines, self._journal_bytes = 0, 0
        self._one_at_a_time = threading.Lock()

    @classmethod
    def create(
        cls, path: Path, header: Header, *, keep_s: float | None = None, replace: bool = False, schema: int = SCHEMA
    ) -> Self:
        """Create a new file of mode 0600. `replace`: an existing recording may be replaced. `keep_s`: samples that are
        older than this are removed as new ones arrive; the file then keeps its size, as new samples use the space of
        old ones. `schema`: the version of the layout, for a copy of an older file, which takes no runs. Raises
        RecordingError where the file exists (unless replaced) or cannot be written."""
        recorder = cls(path, create_file(path, replace=replace, schema=schema), header, keep_s)
        with recorder._transaction() as file:
            file.execute("INSERT INTO header (body) VALUES (?)", (as_json(header),))
        return recorder

    def write(self, events: Iterable[Event]) -> None:
        """Add events. Blocking. Raises RecordingError where the file cannot be written, for example on a full disk;
        earlier samples stay readable."""
        with self._transaction() as file:
            samples: list[Packed] = []
            for event in events:
                if not abs(event.at) < LATEST:
                    continue  # no number, or none that is a time
                if isinstance(event, Links):
                    self._shape_id(event)
                    self._write_links(file, event)
                else:
                    samples.append(self._packed(event))
            samples.sort(key=lambda sample: sample.at)
            for until, body in rows_of(samples):
                file.execute("INSERT INTO samples (until, body) VALUES (?, ?)", (self._free(until), body))
            if self._keep_s is not None and samples:
                old = "SELECT until FROM samples WHERE until < ? ORDER BY until LIMIT ?"
                before = key_of(samples[-1].at - self._keep_s)
                file.execute(f"DELETE FROM samples WHERE until IN ({old})", (before, _MOST_REMOVED))  # noqa: S608

    def add_run(self, record: RunRecord) -> bool:
        """Add a finished run, or the verified gates of a change. Return False where it is too large to be added.

        The outputs in its journal are left out where they make it too large. The file keeps the newest
        `recording_runs.RUNS_BYTES` of runs; with `keep_s`, the last run of all checks before the oldest sample and the
        later runs. Raises RecordingError where the file cannot be written.
        """
        data = run_as_bytes(record)
        body = zlib.compress(data)
        if len(data) > LARGEST_RUN or len(body) > LONGEST // 2 or not abs(record.ended) < LATEST:
            return False
        with self._transaction() as file:
            added = file.execute("INSERT INTO runs (ended, body) VALUES (?, ?)", (float(record.ended), body))
            assert added.lastrowid is not None
            runs = (*self._runs, _KeptRun(added.lastrowid, record.ended, record.is_whole, len(data)))
            kept = _within_limits(runs, None if self._keep_s is None else record.ended - self._keep_s)
            file.execute("DELETE FROM runs WHERE id < ?", (kept[0].number,))
        self._runs = kept
        return True

    def add_journal(self, lines: Iterable[RecordedLine]) -> bool:
        """Add lines of the journal of a change. Return False where it is larger than any journal: a journal without
        some of its lines means nothing, so that no later line is added either. Raises RecordingError where the file
        cannot be written."""
        with self._transaction() as file:
            for line in lines:
                size = len(line.text.encode())
                self._journal_lines += 1
                self._journal_bytes += size if size <= LARGEST_LINE else JOURNAL_BYTES
                if self._journal_lines > MOST_LINES or self._journal_bytes > JOURNAL_BYTES:
                    return False
                file.execute("INSERT INTO journal (at, line) VALUES (?, ?)", (float(line.at), line.text))
        return True

    def follow(self, cluster: Cluster) -> None:
        """Replace the cluster in the header by a newer one. Raises RecordingError where the file cannot be written."""
        self._update_header(msgspec.structs.replace(self._header, cluster=cluster))

    def follow_pace(self, pace: InstancesPace) -> None:
        """Replace the pace in the header by a newer one. Raises RecordingError where the file cannot be written."""
        self._update_header(msgspec.structs.replace(self._header, instances_pace=pace))

    def follow_results(self, within_s: float = 0.0) -> None:
        """Add the kept results of measurements that are new to the header, once the name of the cluster is known: those
        that belong to the start of the recording, and those that end while it runs.

        It waits at most `within_s` seconds for them. Raises RecordingError where the file cannot be written.
        """
        if self._results is None:
            self._results = ResultsMeanwhile(_moment(self._header.started_at))
        if (found := self._results.look(self._header.cluster, within_s)) is not None:
            self._update_header(msgspec.structs.replace(self._header, measurements=found))

    def _update_header(self, header: Header) -> None:
        with self._transaction() as file:
            self._header = header
            file.execute("UPDATE header SET body = ?", (as_json(header),))

    def close(self) -> None:
        """End the recording. Can be called twice."""
        if self._results is not None:
            with suppress(RecordingError):
                self.follow_results(_LAST_RESULT_S)
            self._results = None
        with self._one_at_a_time, suppress(sqlite3.Error):
            self._file.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._one_at_a_time:
            try:
                self._file.execute("BEGIN IMMEDIATE")
                yield self._file
                self._file.execute("COMMIT")
            except BaseException as error:
                self._shapes.clear()  # those of this transaction are gone with it
                with suppress(sqlite3.Error):
                    self._file.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise RecordingError(self._why_no_more(error)) from None
                raise

    def _why_no_more(self, error: sqlite3.Error) -> str:
        if not self._path.exists():
            return (
                f"{self._path} was removed during the recording, and its samples are lost; start the recording again."
            )
        return f"{self._path} takes no more samples: {sqlite_reason(error)}; the earlier samples can still be read."

    def _packed(self, event: Event) -> Packed:
        """An event with its time and the number of its shape. An event with an impossible number becomes a gap, so that
        the recording continues."""
        try:
            body = pack(event)
            if len(body) > LARGEST_EVENT:
                raise UnpackableError("it is too large")
        except UnpackableError as error:
            event = Gap(event.source, event.at, f"A sample of {event.source} was not recorded: {error}.")
            body = pack(event)
        return Packed(self._shape_id(event), event.at, msgspec.Raw(body))

    def _free(self, until: int) -> int:
        """The first free key from `until` on: two writes can end at the same time, and a clock can be set back."""
        while self._file.execute("SELECT 1 FROM samples WHERE until = ?", (until,)).fetchone():
            until += 1
        return until

    def _shape_id(self, event: Event) -> int:
        shape = shape_of(event)
        if shape not in self._shapes:
            text = shape_as_text(shape)
            self._file.execute(
                "INSERT OR IGNORE INTO shapes (source, body) VALUES (?, ?)", (as_json(event.source), text)
            )
            (self._shapes[shape],) = self._file.execute("SELECT id FROM shapes WHERE body = ?", (text,)).fetchone()
        return self._shapes[shape]

    def _write_links(self, file: sqlite3.Connection, links: Links) -> None:
        node = as_json(links.node)
        file.execute("INSERT INTO links (node, at, body) VALUES (?, ?, ?)", (node, links.at, as_json(links)))
        if self._keep_s is not None:  # the last links before the oldest sample still apply to it
            file.execute(
                "DELETE FROM links WHERE node = ?1 AND at < (SELECT max(at) FROM links WHERE node = ?1 AND at <= ?2)",
                (node, links.at - self._keep_s),
            )


def _within_limits(runs: tuple[_KeptRun, ...], before: float | None) -> tuple[_KeptRun, ...]:
    """Return the newest runs that fit into a recording, in their order, from the last run of all checks that ended by
    the time `before` on."""
    kept: list[_KeptRun] = []
    size = 0
    for run in reversed(runs):
        size += run.size
        if size > RUNS_BYTES or len(kept) >= MOST_RUNS:
            break
        kept.append(run)
        if before is not None and run.is_whole and run.ended <= before:
            break
    return tuple(reversed(kept))


def _moment(started_at: str) -> datetime:
    """Return the start of a recording; now, where the text is no time."""
    try:
        return datetime.fromisoformat(started_at).astimezone(UTC)
    except (ValueError, OverflowError):
        return datetime.now(UTC)
