"""Reads a recording: samples in one SQLite file, which a `checks.traffic.recorder` may write at the same time."""

from __future__ import annotations

import heapq
import math
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Annotated, NamedTuple, Self

import msgspec

from checks.model.facts import Cluster
from checks.model.impossible_values import without_impossible
from checks.model.measurement import Measurement
from checks.model.run_record import RunRecord
from checks.traffic.json_text import as_json
from checks.traffic.recording_codec import SPAN_S, Packed, events_in, key_of, row_until, unpack
from checks.traffic.recording_file import (
    APPLICATION_ID,
    BEGINNING,
    END,
    LAYOUTS,
    RecordingError,
    Row,
    add_row,
    connect,
    has_traffic,
    lay_out,
    open_file,
    rows_in,
    unreadable,
)
from checks.traffic.recording_runs import (
    JOURNAL_BYTES,
    LARGEST_LINE,
    LARGEST_RUN,
    MOST_LINES,
    MOST_RUNS,
    RUNS_BYTES,
    RecordedLine,
    inflated,
    run_from_bytes,
)
from checks.traffic.recording_shapes import (
    DamagedError,
    GapShape,
    LinksShape,
    Shape,
    from_json,
    shape_from_text,
    source_of,
)
from checks.traffic.samples import Event, Gap, InstancesPace, Links
from checks.traffic.source_id import SourceId, SourceKind
from checks.traffic.timeline import Track

__all__ = ["Header", "Recording", "RecordingError", "SourceTally", "all_events"]

_MOST_SHAPES, _SHAPES_BYTES = 20_000, 64_000_000
"""A source has one, and a further one when its interfaces, statistics or pairs become others: some hundreds, in weeks.
That of all pairs of 255 instances has some 600 kB."""
_FURTHER = 8
"""The factor by which the search for the newest sample of a source goes further back in each step."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The cluster, time and settings of a recording."""

    racwire_version: str
    started_at: str
    label: str = ""
    interval_s: Annotated[float, msgspec.Meta(gt=0, le=86_400)]
    """Seconds between two samples at the start of the recording; the operator may have changed it later."""
    cluster: Cluster
    """The last known state of the cluster, including `Unknown` groups."""
    settings: dict[str, object] = msgspec.field(default_factory=dict)
    """The settings in use, by section, without passwords."""
    instances_pace: InstancesPace | None = None
    """The last known pace of the instances' samples; None where no instance was sampled, and in recordings of 0.1.0."""
    measurements: tuple[Measurement, ...] = ()
    """Of the hour before the start, the newest kept result of each kind that belongs to it (`measured_moment`), and
    those of measurements that ended during the recording. In recordings of 0.2.0, those before are of any age."""
    lacks_journal: bool = False
    """Whether the journal of a change was left out: racwire replaces no names in it."""


class SourceTally(NamedTuple):
    """The number of samples and gaps of a source in a recording."""

    samples: int
    gaps: int
    last_gap: Gap | None


def _believable(header: Header) -> Header:
    """Return the header with impossible facts Unknown. It does not tell whether its names are pseudonyms."""
    cluster = without_impossible(header.cluster, is_redacted=True)
    return header if cluster is header.cluster else msgspec.structs.replace(header, cluster=cluster)


class Recording:
    """A recording opened for reading; a `checks.traffic.timeline.Track`. Another process may write it at the same time.
    Every method raises RecordingError where the file is damaged."""

    header: Header
    schema: int
    """The version of the file's layout."""

    def __init__(self, path: Path, file: sqlite3.Connection) -> None:
        self.path = path
        """The path of the file, so that it can be opened again."""
        self._file = file
        self._shapes: dict[int, tuple[SourceId, Shape] | None] = {}
        """None for a kind of event that this racwire does not know."""
        self._shapes_bytes = 0
        with self._readable():
            (self.schema,) = file.execute("PRAGMA user_version").fetchone()
            row = file.execute("SELECT body FROM header LIMIT 1").fetchone()
            self.header = _believable(from_json(row[0] if row else "", Header))

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a recording, or the recording in a saved file. Raises RecordingError where the file is missing, is no
        recording, is damaged, or was written by a newer racwire."""
        file = open_file(path, saved_too=True)
        try:
            if not has_traffic(file):
                raise RecordingError(f"{path} contains no recording: it was saved without one.")
            return cls(path, file)
        except RecordingError:
            file.close()
            raise

    def sources(self) -> tuple[SourceId, ...]:
        """Return all sources, in the order of their first events."""
        with self._readable():
            self._read_shapes()
            return tuple(dict.fromkeys(known[0] for known in self._shapes.values() if known is not None))

    def window(self, source: SourceId, begin: float, end: float) -> list[Event]:
        """Return the samples and gaps of a source that ended after `begin` and not after `end`, in order of time."""
        with self._readable():
            found = [
                unpack(shape, packed)
                for its_source, shape, packed in self._packed(key_of(begin) - 1, key_of(end + SPAN_S))
                if its_source == source and begin < packed.at <= end
            ]
        return sorted(found, key=lambda event: event.at)

    def newest(self, source: SourceId) -> Event | None:
        """Return the last sample or gap of a source; None where there is none. The search goes back from the end in
        growing steps, so that it reads only a row or two for a source with samples up to the end."""
        span = self.span()
        if span is None or source not in self.sources():
            return None
        first, end = span
        step_s = SPAN_S
        while end >= first:
            if found := self.window(source, end - step_s, end):
                return found[-1]
            end, step_s = end - step_s, _FURTHER * step_s
        return None

    def links(self, node: str, at: float) -> Links | None:
        """Return the interfaces of a node at the time `at`; None where they are not known."""
        with self._readable():
            row = self._file.execute(
                "SELECT body FROM links WHERE node = ? AND at <= ? ORDER BY at DESC, id DESC LIMIT 1",
                (as_json(node), at),
            ).fetchone()
            return from_json(row[0], Links) if row else None

    def span(self) -> tuple[float, float] | None:
        """Return the time of the first and of the last event; None while there is no event."""
        with self._readable():
            first, last = self._file.execute("SELECT min(until), max(until) FROM samples").fetchone()
            if first is None:
                return None
            begin = self._packed(BEGINNING, _time(first) + key_of(SPAN_S))
            end = self._packed(_time(last) - 1)
            return (
                min((packed.at for _, _, packed in begin), default=first / 1e6),
                max((packed.at for _, _, packed in end), default=last / 1e6),
            )

    def events(self, begin: float = -math.inf, end: float = math.inf) -> Iterator[Event]:
        """Yield the events after `begin` and up to `end` in order of time, without holding all of them in memory."""
        return heapq.merge(self._all_links(begin, end), self._all_samples(begin, end), key=lambda event: event.at)

    def tallies(self) -> dict[SourceId, SourceTally]:
        """Return the numbers of samples and gaps by source, without decoding the samples."""
        found = {source: SourceTally(0, 0, None) for source in self.sources()}
        with self._readable():
            for source, shape, packed in self._packed():
                samples, gaps, last = found.get(source, SourceTally(0, 0, None))
                if isinstance(shape, GapShape):
                    gap = unpack(shape, packed)
                    found[source] = SourceTally(samples, gaps + 1, gap if isinstance(gap, Gap) else last)
                else:
                    found[source] = SourceTally(samples + 1, gaps, last)
        return found

    def gap_begins(self) -> list[Gap]:
        """Return the gap with which each source stopped answering after a sample, in order of time. No sample is
        decoded for that."""
        found: list[Gap] = []
        answering: set[SourceId] = set()
        with self._readable():
            for source, shape, packed in self._packed():
                if not isinstance(shape, GapShape):
                    answering.add(source)
                elif source in answering:
                    answering.remove(source)
                    gap = unpack(shape, packed)
                    found += [gap] if isinstance(gap, Gap) else []
        return sorted(found, key=lambda gap: gap.at)

    @property
    def has_runs(self) -> bool:
        """Whether runs of the checks and the journal of a change would be in it; not in recordings of 0.2.0."""
        return "runs" in LAYOUTS[self.schema]

    def runs(self) -> tuple[RunRecord, ...]:
        """Return the runs of the checks and the verified gates, in the order in which they ended. Reads all of them."""
        found: list[RunRecord] = []
        size = 0
        with self._readable():
            for ended, body in self._rows_of_runs("runs"):
                data = inflated(body, min(LARGEST_RUN, RUNS_BYTES - size))
                size += len(data)
                found.append(run_from_bytes(data))
                if len(found) > MOST_RUNS or found[-1].ended != ended:
                    raise DamagedError("a run has another time, or there are more than in any recording")
        return tuple(found)

    def journal(self) -> tuple[RecordedLine, ...]:
        """Return the lines of the journals of changes, in the order in which they were recorded."""
        found: list[RecordedLine] = []
        size = 0
        with self._readable():
            for at, text in self._rows_of_runs("journal"):
                if not isinstance(text, str) or len(text) > LARGEST_LINE:
                    raise DamagedError("a line of the journal is none")
                size += len(text)
                found.append(RecordedLine(at, text))
                if len(found) > MOST_LINES or size > JOURNAL_BYTES:
                    raise DamagedError("its journal is larger than any")
        return tuple(found)

    def _rows_of_runs(self, table: str) -> Iterator[tuple[float, object]]:
        if self.has_runs:
            for _, (_, at, content) in rows_in(self._file, (table,)):
                if not isinstance(at, float) or not math.isfinite(at):
                    raise DamagedError("a time is none")
                yield at, content

    def rows(self, until: float = math.inf) -> Iterator[Row]:
        """Yield all rows of the tables, unchanged but for what is later than `until`, which is left out."""
        with self._readable():
            for row in rows_in(self._file, LAYOUTS[self.schema]):
                if (kept := _until(row, until)) is not None:
                    yield kept

    def copy_to(self, path: Path) -> None:
        """Write the present contents to a new file of mode 0600. Can be called from any thread. Raises OSError where
        the new file cannot be created."""
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
        with self._readable(), closing(connect(path, "rw")) as copy:
            copy.execute("BEGIN")
            lay_out(copy, APPLICATION_ID, self.schema, LAYOUTS[self.schema])
            for row in self.rows():
                add_row(copy, row)
            copy.execute("COMMIT")

    def close(self) -> None:
        """Close the file. Can be called twice."""
        with suppress(sqlite3.Error):
            self._file.close()

    def _all_samples(self, begin: float, end: float) -> Iterator[Event]:
        """Yield the samples in the order of their times. They are stored in the order of the rows' last events."""
        waiting: list[tuple[float, int, Event]] = []
        keys = () if begin == -math.inf else (key_of(begin) - 1, key_of(end + SPAN_S))
        with self._readable():
            for number, (_, shape, packed) in enumerate(self._packed(*keys)):
                if not begin < packed.at <= end:
                    continue
                event = unpack(shape, packed)
                heapq.heappush(waiting, (event.at, number, event))
                while waiting[0][0] < event.at - SPAN_S:
                    yield heapq.heappop(waiting)[2]
        while waiting:
            yield heapq.heappop(waiting)[2]

    def _all_links(self, begin: float, end: float) -> Iterator[Event]:
        after = (begin, math.inf)
        while True:
            with self._readable():
                row = self._file.execute(
                    "SELECT at, id, body FROM links WHERE (at, id) > (?, ?) ORDER BY at, id LIMIT 1", after
                ).fetchone()
                if row is None or row[0] > end:
                    return
                after = (row[0], row[1])
                links = from_json(row[2], Links)
            yield links

    def _packed(self, after: int = BEGINNING, until: int = END) -> Iterator[tuple[SourceId, Shape, Packed]]:
        """Yield the packed events of all known kinds in the rows with keys in this range, with source and shape."""
        for _, (_, row) in rows_in(self._file, ("samples",), after, until):
            if not isinstance(row, bytes):
                raise DamagedError("a row is none")
            for packed in events_in(row):
                known = self._shape(packed.shape)
                if known is not None and not isinstance(known[1], LinksShape):
                    yield *known, packed

    def _shape(self, shape_id: int) -> tuple[SourceId, Shape] | None:
        if shape_id not in self._shapes:
            self._read_shapes()  # a new one, where the recording goes on
        try:
            return self._shapes[shape_id]
        except KeyError:
            raise DamagedError("a sample has no shape") from None

    def _read_shapes(self) -> None:
        newest = max(self._shapes, default=0)
        for shape_id, body in self._file.execute("SELECT id, body FROM shapes WHERE id > ? ORDER BY id", (newest,)):
            shape = shape_from_text(body)
            self._shapes_bytes += len(body)
            if len(self._shapes) >= _MOST_SHAPES or self._shapes_bytes > _SHAPES_BYTES:
                raise DamagedError("it has more shapes than any recording")
            self._shapes[shape_id] = None if shape is None else (source_of(shape), shape)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Convert errors of SQLite and of the decoders to RecordingError."""
        try:
            yield
        except (sqlite3.Error, ValueError, TypeError, RecursionError, OverflowError) as error:
            raise unreadable(self.path, error) from None


def all_events(track: Track) -> Iterator[Event]:
    """Yield every sample, gap and change of the interfaces: of a recording in one pass, from memory source by source.

    Raises RecordingError.
    """
    if isinstance(track, Recording):
        yield from track.events()
        return
    for source in track.sources():
        if source.kind is SourceKind.NODE and (links := track.links(source.name, float("inf"))):
            yield links
        yield from track.window(source, float("-inf"), float("inf"))


_TIME_AT = {"links": 2, "runs": 1, "journal": 1}
"""The column with the time of a row."""


def _until(row: Row, until: float) -> Row | None:
    """Return a row without what is later than `until`; None where nothing is left. Raises DamagedError, TypeError where
    no Recorder wrote it."""
    table, values = row
    if table in _TIME_AT:
        at = values[_TIME_AT[table]]
        if not isinstance(at, float):
            raise DamagedError("a time is none")
        return row if at <= until else None
    if table != "samples" or _time(values[0]) <= key_of(until):
        return row
    if not isinstance(values[1], bytes):
        raise DamagedError("a row is none")
    body = row_until(values[1], until)
    return None if body is None else (table, (values[0], body))


def _time(value: object) -> int:
    if not isinstance(value, int):
        raise DamagedError("a time is none")
    return value
