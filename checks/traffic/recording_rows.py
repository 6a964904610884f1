"""The rows of a recording: the events of one write together, under the time of the last of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from checks.traffic.recording_bytes import Packer, Unpacker

SPAN_S = 11.0
"""Seconds: an event is in a row with a key at most so much later. A row covers ten; the eleventh is for keys that were
taken, and rows that got the next one."""
LATEST = 9e12
"""The largest time that SQLite can keep in microseconds; it is in the year 287,000."""
_COVERED_S = 10.0
_ROW_BYTES = 64_000


class Packed(NamedTuple):
    """An event as it goes into a row."""

    at: float
    shape: int
    data: bytes


def rows_of(samples: list[Packed]) -> Iterator[tuple[int, bytes]]:
    """Packed events, which are in order of time, as rows of the table."""
    row, first, last = Packer(), 0.0, 0.0
    for at, shape, packed in samples:
        if row.data and (at - first > _COVERED_S or len(row.data) > _ROW_BYTES):
            yield key_of(last), bytes(row.data)
            row = Packer()
        if not row.data:
            first = at
        last = at
        row.number(shape)
        row.blob(packed)
    if row.data:
        yield key_of(last), bytes(row.data)


def key_of(at: float) -> int:
    """The key of a row that ends then, or the next one: rounded up, so that it is after the event."""
    return math.ceil(max(-LATEST, min(at, LATEST)) * 1e6)


def events_in(body: bytes) -> Iterator[tuple[int, bytes]]:
    """The number of the shape and the bytes of each event in a row. Raises Damaged."""
    of = Unpacker(body)
    while not of.at_end:
        yield of.number(), of.blob()
