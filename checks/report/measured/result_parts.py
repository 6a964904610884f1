"""The parts of a result: what it was and how it ended, then the figures of each path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from checks.model.measured_rate import MeasuredRate
from checks.model.measurement import (
    DrillOf,
    MeasuredHashes,
    MeasuredMix,
    MeasuredPath,
    MeasuredSizes,
    MeasuredStorage,
    Measurement,
    Result,
    SizeSummary,
    StorageRound,
)
from checks.model.wording import counted, lasting
from checks.report.age import time_text
from checks.report.measured.drill_parts import drill_parts, judgement_parts
from checks.report.measured.mix_parts import mix_of_all_paths, mix_parts
from checks.report.measured.parts import Grid, Heading, Part, Prose, figure, grid
from checks.report.measured.rate_parts import buffer_parts, hash_parts, public_parts, rate_parts
from checks.report.measurement_headline import size_text


def title_of(measurement: Measurement) -> str:
    """Return the title: `sizes on practice, from rac1`."""
    return f"{measurement.kind} on {measurement.cluster or 'this cluster'}, from {measurement.node}"


def parts_of(measurement: Measurement) -> Iterator[Part]:
    """Yield the parts of a result after its title."""
    if isinstance(measurement.result, DrillOf):
        yield from judgement_parts(measurement.result, measurement.paths)
    yield from state_of(measurement)
    yield from figures_of(measurement.result, measurement.paths)


def figures_of(result: Result, paths: Sequence[MeasuredPath]) -> Iterator[Part]:
    """Yield the parts with the figures of a result, also of one that is not complete yet."""
    match result:
        case MeasuredStorage():
            yield from _storage(result)
        case DrillOf():
            yield from drill_parts(result, paths)
        case MeasuredRate():
            yield from public_parts(result, paths)
        case MeasuredMix():
            yield from mix_of_all_paths(result)
    of_path = _OF_PATH.get(type(result))
    for number, path in enumerate(paths if of_path else ()):
        assert of_path is not None
        yield Heading(_path(path))
        yield from of_path(result, number)
    if isinstance(result, MeasuredRate):
        yield from buffer_parts(result)


def state_of(measurement: Measurement) -> Iterator[Prose]:
    """Yield when it was, how it ended, and what to know before reading its figures."""
    yield Prose(
        f"Started {time_text(measurement.started_at)}, took {lasting(measurement.seconds)}.", "faint", is_of_all=True
    )
    if measurement.stopped and isinstance(measurement.result, DrillOf) and not measurement.is_harm:
        yield Prose(measurement.stopped, "faint", is_of_all=True)
    elif measurement.stopped:
        look = "fail" if measurement.is_harm else "warn"
        yield Prose(f"It ended early. {measurement.stopped}", look, is_of_all=True)  # type: ignore[arg-type]
    if measurement.disturbed:
        yield Prose(f"Disturbed: {measurement.disturbed}", "unknown", is_of_all=True)
    if measurement.although_loaded:
        reason = measurement.although_loaded
        yield Prose(f"Sent although the cluster was loaded: {reason}", "warn", is_of_all=True)
    if isinstance(measurement.blocks_lost, int):
        lost = measurement.blocks_lost
        blocks = counted(lost, "block")
        yield Prose(f"The instances lost {blocks} meanwhile.", "fail" if lost else "faint", is_of_all=True)


def provenance_of(measurement: Measurement) -> Iterator[str]:
    """Yield what a reader needs to repeat or to audit it: the version, the seed, the far end's text, the plan."""
    yield f"Measured by racwire {measurement.racwire_version}, with the seed {measurement.seed}."
    for language, digest in measurement.sha256.items():
        yield f"SHA-256 of the far end's {language.capitalize()} text: {digest}."
    yield from measurement.plan


def _path(path: MeasuredPath) -> str:
    answered = "answered by its kernel (pings)" if path.far_end == "kernel" else f"answered by {path.program}"
    return f"{path.source_node} -> {path.target_node} on {path.network}, MTU {path.mtu}, {answered}"


def _sizes(result: MeasuredSizes, path: int) -> Iterator[Part]:
    own = [one for one in result.summaries if one.path == path]
    for title, rows in (
        ("one at a time", [s for s in own if not s.rate]),
        ("at a fixed rate, whether or not answers came", [s for s in own if s.rate]),
    ):
        if rows:
            yield _size_grid(title, rows)


def _size_grid(title: str, rows: list[SizeSummary]) -> Grid:
    heads = ("bytes", "frames", "p50 us", "p99 us", "p99.9 us", "msg/s", "MB/s", "lost", "us here", "there", "node")
    return grid(
        title,
        heads,
        (
            (
                f"{s.train} x {s.size:,}" if s.train > 1 else f"{s.size:,}",
                f"{s.frames}",
                figure(s.p50_us),
                figure(s.p99_us if s.answers else None),
                figure(s.p999_us if s.answers else None),
                figure(s.messages_per_s),
                figure(s.megabytes_per_s, 1),
                f"{s.lost:,}" if s.sent else "-",
                figure(s.cpu_here_us),
                figure(s.cpu_there_us),
                figure(s.cpu_node_us),
            )
            for s in rows
        ),
        minor=("node", "there", "us here", "p99.9 us", "frames", "msg/s"),
    )


def _storage(result: MeasuredStorage) -> Iterator[Part]:
    server = f" of {result.server}" if result.server else ""
    yield Heading(f"{result.directory} on {result.file_system}{server}")
    yield Prose(f"Requests of {size_text(result.request_bytes)}, by {result.method}.")
    for what, is_write in (("write", True), ("read", False)):
        rounds = [one for one in result.rounds if one.is_write is is_write]
        if rounds:
            yield grid(what, ("round", "MB/s", "p50 us", "p99 us", "MB"), map(_storage_row, rounds))


def _storage_row(one: StorageRound) -> tuple[str, ...]:
    rate = one.transferred / one.seconds / 1e6 if one.seconds > 0 else None
    return (
        f"{one.round + 1}",
        figure(rate, 1),
        figure(one.p50_us),
        figure(one.p99_us),
        figure(one.transferred / 1e6),
    )


_OF_PATH: dict[type, Callable[[Any, int], Iterator[Part]]] = {
    MeasuredSizes: _sizes,
    MeasuredMix: mix_parts,
    MeasuredRate: rate_parts,
    MeasuredHashes: hash_parts,
}
"""The parts of one path, of each kind of result that has paths."""
