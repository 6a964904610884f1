"""The result of a measurement as lines: what it was, how it ended, and its figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from checks.model.facts import Unknown
from checks.model.measurement import (
    DrillOf,
    MeasuredHashes,
    MeasuredMix,
    MeasuredPath,
    MeasuredRate,
    MeasuredSizes,
    Measurement,
    SizeSummary,
)
from checks.model.wording import lasting
from tui.text.drill_lines import drill_judgement, drill_lines
from tui.text.line import Line, hanging
from tui.text.mix_lines import mix_lines
from tui.text.rate_lines import hash_lines, rate_lines


def measurement_lines(measurement: Measurement, width: int) -> Iterator[Line]:
    """Yield the lines of a measurement, for `width` columns."""
    title = f"{measurement.kind} on {measurement.cluster or 'this cluster'}, from {measurement.node}"
    yield from hanging([], title, width, "title")
    if isinstance(measurement.result, DrillOf):
        yield from drill_judgement(measurement, measurement.result, width)
    yield from hanging(
        [],
        f"Started {measurement.started_at[:19].replace('T', ' ')}, took {lasting(measurement.seconds)}.",
        width,
        "faint",
    )
    if measurement.stopped:
        yield from hanging(
            [], f"It ended early. {measurement.stopped}", width, "fail" if measurement.is_harm else "warn"
        )
    if measurement.disturbed:
        yield from hanging([], f"Disturbed: {measurement.disturbed}", width, "unknown")
    if measurement.although_loaded:
        yield from hanging([], f"Sent although the cluster was loaded: {measurement.although_loaded}", width, "warn")
    if isinstance(measurement.blocks_lost, int):
        lost = measurement.blocks_lost
        yield from hanging([], f"The instances lost {lost:,} blocks meanwhile.", width, "fail" if lost else "faint")
    if isinstance(measurement.result, DrillOf):
        yield from drill_lines(measurement, measurement.result, width)
        return
    for number, path in enumerate(measurement.paths):
        yield []
        yield from hanging([], _path(path), width, "title")
        yield from _RESULTS[type(measurement.result)](measurement.result, number, width)


def _path(path: MeasuredPath) -> str:
    answered = "answered by its kernel (pings)" if path.far_end == "kernel" else f"answered by {path.program}"
    return f"{path.source_node} -> {path.target_node} on {path.network}, MTU {path.mtu}, {answered}"


def _sizes(result: MeasuredSizes, path: int, width: int) -> Iterator[Line]:
    own = [one for one in result.summaries if one.path == path]
    for title, rows in (
        ("one at a time", [s for s in own if not s.rate]),
        ("at a fixed rate, from the moment at which each message was due", [s for s in own if s.rate]),
    ):
        if rows:
            yield [(f"  {title}", "")]
            yield from _table(rows)


def _table(rows: list[SizeSummary]) -> Iterator[Line]:
    heads = ("bytes", "frames", "p50 us", "p99 us", "p99.9 us", "msg/s", "MB/s", "lost", "us here", "there", "node")
    cells = [
        (
            f"{s.train} x {s.size:,}" if s.train > 1 else f"{s.size:,}",
            f"{s.frames}",
            _figure(s.p50_us),
            _figure(s.p99_us),
            _figure(s.p999_us),
            _figure(s.messages_per_s),
            _figure(s.megabytes_per_s, 1),
            f"{s.lost:,}",
            _figure(s.cpu_here_us),
            _figure(s.cpu_there_us),
            _figure(s.cpu_node_us),
        )
        for s in rows
    ]
    widths = [max(len(head), *(len(row[place]) for row in cells)) for place, head in enumerate(heads)]
    yield [("  " + "  ".join(f"{head:>{width}}" for head, width in zip(heads, widths, strict=True)), "faint")]
    for row in cells:
        yield [("  " + "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)), "")]


def _figure(value: float | Unknown | None, places: int = 0) -> str:
    if isinstance(value, Unknown):
        return "too few"
    return "-" if value is None else f"{value:,.{places}f}"


_RESULTS: dict[type, Callable[[Any, int, int], Iterator[Line]]] = {
    MeasuredSizes: _sizes,
    MeasuredMix: mix_lines,
    MeasuredRate: rate_lines,
    MeasuredHashes: hash_lines,
}
"""The lines of each kind of result, for one path."""
