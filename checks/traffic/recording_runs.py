"""The rows of a recording with runs of the checks, and with the lines of a change's journal.

A run is JSON, deflated. A line of a journal is the text that the journal has; `checks.change` reads it.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

import msgspec

from checks.model.impossible_values import without_impossible
from checks.model.journal import Entry
from checks.model.report import Report
from checks.model.report_limits import settings_fit, too_long_list
from checks.model.run_record import RunRecord
from checks.model.sanitize import has_a_number_without_end
from checks.traffic.json_text import as_json
from checks.traffic.recording_shapes import DamagedError, from_json

LARGEST_RUN = 32_000_000
"""Most bytes of a run before compression: one of 16 nodes has some 2 MB."""
RUNS_BYTES, MOST_RUNS = 128_000_000, 5_000
"""Most bytes of all runs before compression, and most runs, in a recording: they are read into memory."""
LARGEST_LINE = 8_000_000
"""Most bytes of a line of a journal: the line with the plan of 255 nodes has some 1 MB."""
JOURNAL_BYTES, MOST_LINES = 32_000_000, 50_000
"""Most bytes of all lines of journals, and most lines, in a recording."""


class RecordedLine(NamedTuple):
    """A line of the journal of a change, and when it was written, in seconds since 1970."""

    at: float
    text: str


def run_as_bytes(record: RunRecord) -> bytes:
    """Return a run as JSON; one that is larger than `LARGEST_RUN` without the outputs in its journal, its largest
    part."""
    data = as_json(record).encode()
    return data if len(data) <= LARGEST_RUN else as_json(_without_outputs(record)).encode()


def _without_outputs(record: RunRecord) -> RunRecord:
    entries = tuple(
        Entry(entry.node, entry.topic, entry.action, entry.started_at, entry.duration_ms, entry.outcome)
        for entry in record.report.journal
    )
    return msgspec.structs.replace(record, report=msgspec.structs.replace(record.report, journal=entries))


def inflated(body: object, most: int) -> bytes:
    """Return the bytes of a run from its row. Raises DamagedError where there are more than `most`, or where no
    Recorder wrote the row."""
    if not isinstance(body, bytes):
        raise DamagedError("a run is none")
    inflating = zlib.decompressobj()
    try:
        data = inflating.decompress(body, most + 1)
    except zlib.error as error:
        raise DamagedError("a run is not what was recorded") from error
    if len(data) > most or not inflating.eof or inflating.unused_data:
        raise DamagedError("a run is larger than any, or ends too early")
    return data


def run_from_bytes(data: bytes) -> RunRecord:
    """Return a run from its bytes, with impossible facts Unknown. Raises DamagedError where no Recorder wrote them."""
    if has_a_number_without_end(data):
        raise DamagedError("a number in a run has no end")
    try:
        record = from_json(data.decode(), RunRecord)
        is_possible = too_long_list(record.report) is None and settings_fit(as_json(record.report.settings).encode())
    except (UnicodeDecodeError, RecursionError) as error:
        raise DamagedError("a run is not what was recorded") from error
    if not is_possible:
        raise DamagedError("a list of a run, or its settings, are larger than any")
    return msgspec.structs.replace(record, report=_believable(record.report))


def _believable(report: Report) -> Report:
    cluster = without_impossible(report.cluster, is_redacted=report.is_redacted)
    return report if cluster is report.cluster else msgspec.structs.replace(report, cluster=cluster)
