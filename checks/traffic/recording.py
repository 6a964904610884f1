"""Samples in one SQLite file: whole after every second, also when racwire is killed; readable while it is written."""

from __future__ import annotations

import heapq
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Self

import msgspec

from checks.facts import Cluster
from checks.traffic.recording_bytes import Damaged, Unpackable
from checks.traffic.recording_events import (
    GapShape,
    LinksShape,
    Shape,
    as_json,
    from_json,
    pack,
    shape_as_text,
    shape_from_text,
    shape_of,
    time_of,
    unpack,
)
from checks.traffic.recording_file import SCHEMA, RecordingError, create_file, in_words, open_file, unreadable
from checks.traffic.recording_rows import LATEST, SPAN_S, Packed, events_in, key_of, rows_of
from checks.traffic.samples import Event, Gap, Links

__all__ = ["SCHEMA", "Header", "Recorder", "Recording", "RecordingError", "Tally"]

_LARGEST_EVENT = 1_000_000
_BEGINNING, _END = -(2**63), 2**63 - 1
_ROWS_AT_ONCE = 500
_BYTES_AT_ONCE = 4_000_000
_MOST_REMOVED = 50
"""Rows that one write removes: the clock that jumps ahead for a moment must not cost the recording."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What a recording is of."""

    racwire_version: str
    started_at: str
    label: str = ""
    interval_s: float
    cluster: Cluster
    """As it was when it was last looked at; `Unknown` groups included."""
    settings: dict[str, object] = msgspec.field(default_factory=dict)
    """Those in use, by section; they never hold a password."""


class Tally(NamedTuple):
    """How much of a source is in a recording."""

    samples: int
    gaps: int
    last_gap: Gap | None


class Recorder:
    """Writes a recording. Each `write` is one transaction; calls may come from any thread."""

    def __init__(self, path: Path, file: sqlite3.Connection, header: Header, keep_s: float | None) -> None:
        self._path = path
        self._file = file
        self._header = header
        self._keep_s = keep_s
        self._shapes: dict[Shape, int] = {}
        self._one_at_a_time = threading.Lock()

    @classmethod
    def create(cls, path: Path, header: Header, *, keep_s: float | None = None, replace: bool = False) -> Self:
        """Begin a new file of mode 0600; one that is there already is refused, unless it is a recording and is to be
        replaced. `keep_s`: samples older than that are removed as new ones come; the file keeps its size then, as new
        samples go where old ones were. Raises RecordingError."""
        recorder = cls(path, create_file(path, replace=replace), header, keep_s)
        with recorder._transaction() as file:
            file.execute("INSERT INTO header (body) VALUES (?)", (as_json(header),))
        return recorder

    def write(self, events: Iterable[Event]) -> None:
        """Add events. Blocking. Raises RecordingError, for a full disk too; what was written before stays readable."""
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

    def follow(self, cluster: Cluster) -> None:
        """Replace what is known of the cluster by what is known now. Raises RecordingError."""
        with self._transaction() as file:
            self._header = msgspec.structs.replace(self._header, cluster=cluster)
            file.execute("UPDATE header SET body = ?", (as_json(self._header),))

    def close(self) -> None:
        """End the recording. Can be called twice."""
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
            return f"{self._path} was removed while it was recorded to, and the samples are gone with it; begin anew."
        return f"{self._path} takes no more samples: {in_words(error)}; those before can still be read."

    def _packed(self, event: Event) -> Packed:
        """An event with its time and the number of its shape. One that holds what cannot have been counted becomes a
        gap: nothing can be told of it, and the rest goes on."""
        try:
            packed = pack(event)
            if len(packed) > _LARGEST_EVENT:
                raise Unpackable("it is too large")
        except Unpackable as error:
            event = Gap(event.source, event.at, f"A sample of {event.source} was not recorded: {error}.")
            packed = pack(event)
        return Packed(event.at, self._shape_id(event), packed)

    def _free(self, until: int) -> int:
        """The first key from there on that no row has: writes may end at the same time, and clocks are set back."""
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
        if self._keep_s is not None:  # the last ones before what is kept still hold at its beginning
            file.execute(
                "DELETE FROM links WHERE node = ?1 AND at < (SELECT max(at) FROM links WHERE node = ?1 AND at <= ?2)",
                (node, links.at - self._keep_s),
            )


class Recording:
    """A recording opened for reading; a `checks.traffic.timeline.Track`. It may be written at the same time. Every
    method raises RecordingError where the file turns out to be damaged."""

    header: Header

    def __init__(self, path: Path, file: sqlite3.Connection) -> None:
        self._path = path
        self._file = file
        self._shapes: dict[int, tuple[str, Shape | None]] = {}
        with self._readable():
            row = file.execute("SELECT body FROM header LIMIT 1").fetchone()
            self.header = from_json(row[0] if row else "", Header)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Raises RecordingError: not there, no recording, damaged, or of a newer racwire."""
        file = open_file(path)
        try:
            return cls(path, file)
        except RecordingError:
            file.close()
            raise

    def sources(self) -> tuple[str, ...]:
        """All sources, in the order in which they were first heard of."""
        with self._readable():
            self._read_shapes()
            return tuple(dict.fromkeys(source for source, shape in self._shapes.values() if shape is not None))

    def window(self, source: str, begin: float, end: float) -> list[Event]:
        """The samples and gaps of a source that ended after `begin` and not after `end`, in order of time."""
        with self._readable():
            found = [
                unpack(shape, packed)
                for its_source, shape, packed in self._packed(key_of(begin) - 1, key_of(end + SPAN_S))
                if its_source == source and begin < time_of(packed) <= end
            ]
        return sorted(found, key=lambda event: event.at)

    def links(self, node: str, at: float) -> Links | None:
        """The interfaces of a node as they were then; None where that is not known."""
        with self._readable():
            row = self._file.execute(
                "SELECT body FROM links WHERE node = ? AND at <= ? ORDER BY at DESC, id DESC LIMIT 1",
                (as_json(node), at),
            ).fetchone()
            return from_json(row[0], Links) if row else None

    def span(self) -> tuple[float, float] | None:
        """The time of the first and of the last event; None while there is none."""
        with self._readable():
            first, last = self._file.execute("SELECT min(until), max(until) FROM samples").fetchone()
            if first is None:
                return None
            begin = self._packed(_BEGINNING, _time(first) + key_of(SPAN_S))
            end = self._packed(_time(last) - 1)
            return (
                min((time_of(packed) for _, _, packed in begin), default=first / 1e6),
                max((time_of(packed) for _, _, packed in end), default=last / 1e6),
            )

    def events(self) -> Iterator[Event]:
        """All of it, in order of time, without holding it in memory."""
        return heapq.merge(self._all_links(), self._all_samples(), key=lambda event: event.at)

    def tallies(self) -> dict[str, Tally]:
        """How much there is of each source, without taking its samples apart."""
        found = {source: Tally(0, 0, None) for source in self.sources()}
        with self._readable():
            for source, shape, packed in self._packed():
                samples, gaps, last = found.get(source, Tally(0, 0, None))
                if isinstance(shape, GapShape):
                    gap = unpack(shape, packed)
                    found[source] = Tally(samples, gaps + 1, gap if isinstance(gap, Gap) else last)
                else:
                    found[source] = Tally(samples + 1, gaps, last)
        return found

    def close(self) -> None:
        """Can be called twice."""
        with suppress(sqlite3.Error):
            self._file.close()

    def _all_samples(self) -> Iterator[Event]:
        """What comes in order of the rows' last events, in order of its own time."""
        waiting: list[tuple[float, int, Event]] = []
        with self._readable():
            for number, (_, shape, packed) in enumerate(self._packed()):
                event = unpack(shape, packed)
                heapq.heappush(waiting, (event.at, number, event))
                while waiting[0][0] < event.at - SPAN_S:
                    yield heapq.heappop(waiting)[2]
        while waiting:
            yield heapq.heappop(waiting)[2]

    def _all_links(self) -> Iterator[Event]:
        after = (float("-inf"), 0)
        while True:
            with self._readable():
                row = self._file.execute(
                    "SELECT at, id, body FROM links WHERE (at, id) > (?, ?) ORDER BY at, id LIMIT 1", after
                ).fetchone()
                if row is None:
                    return
                after = (row[0], row[1])
                links = from_json(row[2], Links)
            yield links

    def _packed(self, after: int = _BEGINNING, until: int = _END) -> Iterator[tuple[str, Shape, bytes]]:
        """The events of the rows with keys between, of all kinds that are known: of which source, and how packed."""
        for rows in self._pages(after, until):
            for body in rows:
                for shape_id, packed in events_in(body):
                    source, shape = self._shape(shape_id)
                    if shape is not None and not isinstance(shape, LinksShape):
                        yield source, shape, packed

    def _pages(self, after: int, until: int) -> Iterator[list[bytes]]:
        """The bodies of the rows, some at a time: while one reads on, the file is free for who writes it."""
        while True:
            page: list[bytes] = []
            size = 0
            rows = self._file.execute(
                "SELECT until, body FROM samples WHERE until > ? AND until <= ? ORDER BY until LIMIT ?",
                (after, until, _ROWS_AT_ONCE),
            )
            for key, body in rows:
                if _time(key) <= after or not isinstance(body, bytes):
                    raise Damaged("its rows are in no order")
                after = key
                page.append(body)
                size += len(body)
                if size > _BYTES_AT_ONCE:
                    break
            rows.close()
            if not page:
                return
            yield page

    def _shape(self, shape_id: int) -> tuple[str, Shape | None]:
        if shape_id not in self._shapes:
            self._read_shapes()  # a new one, where the recording goes on
        try:
            return self._shapes[shape_id]
        except KeyError:
            raise Damaged("a sample has no shape") from None

    def _read_shapes(self) -> None:
        newest = max(self._shapes, default=0)
        for shape_id, source, body in self._file.execute(
            "SELECT id, source, body FROM shapes WHERE id > ? ORDER BY id", (newest,)
        ):
            shape = shape_from_text(body)
            self._shapes[shape_id] = (from_json(source, str), shape)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """What is wrong with the file, in a sentence."""
        try:
            yield
        except (sqlite3.Error, ValueError, TypeError, RecursionError, OverflowError) as error:
            raise unreadable(self._path, error) from None


def _time(value: object) -> int:
    if not isinstance(value, int):
        raise Damaged("a time is none")
    return value
