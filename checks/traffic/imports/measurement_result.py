"""Turns a result of `racwire measure` or `racwire drill` into a run for a comparison. The rounds are its samples.

A message of 64 bytes is one packet at any MTU: its times are the control.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from checks.model.measured_rate import MeasuredRate, RateStep
from checks.model.measurement import (
    CONTROL_BYTES,
    DrillOf,
    FlowRound,
    MeasuredHashes,
    MeasuredMix,
    MeasuredPath,
    MeasuredSizes,
    MeasuredStorage,
    Measurement,
    SizeRound,
    StorageRound,
)
from checks.run.stored_measurements import MeasurementFileError, measurement_in
from checks.traffic.compare.run import Better, ComparedRun, ImportProblem, Measured
from checks.traffic.imports.result_text import plain

ONE_AT_A_TIME, AT_A_RATE = "round trip", "round trip at a fixed rate"
"""The curves of a message size that a picture draws."""
_CPU = (
    ("CPU of the sender", "cpu_here_us", "That of racwire's own process, the kernel's work for it included."),
    ("CPU of the far end", "cpu_there_us", "That of racwire's own process there."),
    ("CPU of this node", "cpu_node_us", "The whole node's, less that of an idle second before."),
)
_SCATTER = 2_654_435_761
"""Knuth's multiplier: the products of neighbouring numbers lie far apart."""
_CONTROL_NOTE = "One packet at any MTU: its time must not differ."
_AT_A_RATE_NOTE = "Sent whether or not answers came; the rate falls with the packets of a message."


def looks_like_measurement(text: str) -> bool:
    """Return whether a JSON text can be a result of `racwire measure`."""
    return '"Measurement"' in text and '"result"' in text


def parse_measurement(text: str, name: str) -> ComparedRun:
    """Return the run of a result. Raises ImportProblem where it cannot be read."""
    try:
        found = measurement_in(text.encode(errors="replace"), name)
    except MeasurementFileError as error:
        raise ImportProblem(str(error)) from None
    return run_of(found, name)


def run_of(found: Measurement, name: str) -> ComparedRun:
    """Return a result as a run called `name`."""
    return ComparedRun(
        kind=f"measure {found.kind}" if found.kind != "drill" else "drill",
        name=name,
        begun_at=found.started_at,
        seconds=found.seconds,
        measured=tuple(
            one for one in _metrics(found) if one.values and not (found.disturbed and _is_of_a_busy_node(one))
        ),
        environment=dict(_environment(found)),
        warnings=tuple(_warnings(found)),
        are_values_independent=True,
    )


def _metrics(measurement: Measurement) -> Iterator[Measured]:
    paths, result = _Names(measurement.paths), measurement.result
    match result:
        case MeasuredSizes():
            yield from _sizes(result, paths)
        case MeasuredRate():
            yield from _rate(result, paths)
        case MeasuredMix():
            yield from _mix(result, paths)
        case MeasuredHashes():
            yield from _hashes(result, paths)
        case MeasuredStorage():
            yield from _storage(result)
        case DrillOf():
            yield from _drill(result, paths)


def _is_of_a_busy_node(one: Measured) -> bool:
    """Return whether a busy node changes a figure itself: a time from when a message was due, and any CPU time.

    On a busy machine the CPU time of one process differed by up to 42 % between runs without a change.
    """
    return one.name.endswith((AT_A_RATE, *(where for where, _, _ in _CPU)))


class _Names:
    """The beginning of a metric's name: empty for the only path, which the environment names."""

    def __init__(self, paths: Sequence[MeasuredPath]) -> None:
        self._paths = paths

    def of(self, path: int) -> str:
        """Return the beginning for a path."""
        return "" if len(self._paths) == 1 else f"{_named(self._paths[path])} "

    def of_several(self, paths: Sequence[int]) -> str:
        """Return the beginning for paths that were used at the same time."""
        return f"{len(paths)} paths together " if len(paths) > 1 else self.of(paths[0]) if paths else ""


def _named(path: MeasuredPath) -> str:
    return f"{path.source_node} -> {path.target_node} on {path.network}"


def _sizes(result: MeasuredSizes, paths: _Names) -> Iterator[Measured]:
    series: dict[tuple[int, bool, int, int], list[SizeRound]] = defaultdict(list)
    for one in result.rounds:
        series[one.path, one.rate > 0, one.train, one.size].append(one)
    for (path, has_rate, train, size), rounds in sorted(series.items()):
        what = f"{train} x {size:,} B" if train > 1 else f"{size:,} B"
        curve = AT_A_RATE if has_rate else ONE_AT_A_TIME
        is_control = size == CONTROL_BYTES and train == 1
        note = " ".join([_CONTROL_NOTE] * is_control + [_AT_A_RATE_NOTE] * has_rate)
        begin = f"{paths.of(path)}{what}"
        yield Measured(
            f"{begin} {curve}",
            "us",
            _known(rounds, "p50_us"),
            Better.LOWER,
            is_control,
            f"{curve.capitalize()}, medians of rounds",
            note,
            curve=f"{paths.of(path)}{curve}" if train == 1 else "",
            size=size if train == 1 else 0,
            noise="" if is_control else f"{paths.of(path)}{CONTROL_BYTES:,} B {curve}",
        )
        # 64 B sets the noise, its own included: other programs of the node work while it is sent, too.
        for where, field, note in () if has_rate else _CPU:
            yield Measured(
                f"{begin} {where}",
                "us",
                _known(rounds, field),
                Better.LOWER,
                group="CPU time for a message",
                note=note,
                noise=f"{paths.of(path)}{CONTROL_BYTES:,} B {where}",
            )
    by_round: dict[tuple[int, int], list[SizeRound]] = defaultdict(list)
    for one in result.rounds:
        by_round[one.path, one.round].append(one)
    for path in dict.fromkeys(path for path, _ in by_round):
        each = [rounds for (own, _), rounds in sorted(by_round.items()) if own == path]
        lost = tuple(100 * sum(r.lost for r in rounds) / (sum(r.sent for r in rounds) or 1) for rounds in each)
        yield Measured(f"{paths.of(path)}messages lost, all sizes", "%", lost, Better.LOWER, group="Losses")


def _rate(result: MeasuredRate, paths: _Names) -> Iterator[Measured]:
    series: dict[tuple[str, tuple[int, ...], bool, float], list[RateStep]] = defaultdict(list)
    for one in result.steps:
        series[one.protocol, one.paths, one.is_towards_here, one.cap_bps or 0.0].append(one)
    for (protocol, used, is_here, cap), steps in sorted(series.items()):
        at = f"at {plain(cap / 1e6)} Mb/s" if cap else "without a cap"
        begin = f"{paths.of_several(used)}{protocol} {'to here' if is_here else 'from here'} {at}"
        received = tuple(8e-6 * one.received_bytes / one.seconds for one in steps if one.seconds > 0)
        yield Measured(f"{begin} received", "Mb/s", received, Better.HIGHER, group="Payload")
        for what, field in (
            ("lost in between", "lost"),
            ("dropped by the receiver's socket", "dropped"),
            ("refused by the sender's queue", "refused"),
        ):
            yield Measured(f"{begin} {what}", "%", _shares(steps, field, "sent"), Better.LOWER, group="Losses")
        for where, field in (("here", "cpu_here_s"), ("there", "cpu_there_s")):
            each = tuple(
                1e9 * seconds / (8 * one.received_bytes)
                for one in steps
                if one.received_bytes > 0 and (seconds := getattr(one, field)) is not None
            )
            yield Measured(f"{begin} CPU {where} for each gigabit", "s", each, Better.LOWER, group="CPU time")


def _mix(result: MeasuredMix, paths: _Names) -> Iterator[Measured]:
    series: dict[tuple[int, str, int, int, str, bool, str], list[FlowRound]] = defaultdict(list)
    for one in result.rounds:
        is_here = getattr(one, "is_towards_here", False)
        state = {None: "", False: " without priorities", True: " with priorities"}[one.prioritised]
        series[one.path, one.company, one.concurrency, one.size, one.flow_class, is_here, state].append(one)
    for (path, company, concurrency, _, flow_class, is_here, state), rounds in sorted(series.items()):
        way = " to here" if is_here else ""
        begin = f"{paths.of(path)}{flow_class} {company}{state}{way}, {concurrency} at a time"
        group = f"Flow completion time, {company}"
        for what in ("mean", "p95", "p99"):
            yield Measured(f"{begin}, {what}", "ms", _known(rounds, f"{what}_ms"), Better.LOWER, group=group)
        broken = tuple(
            100 * one.broken / (one.completed + one.broken) for one in rounds if one.completed + one.broken > 0
        )
        yield Measured(f"{begin}, broken", "%", broken, Better.LOWER, group="Losses")


def _hashes(result: MeasuredHashes, paths: _Names) -> Iterator[Measured]:
    by_path: dict[int, list[Any]] = defaultdict(list)
    for port in result.ports:
        by_path[port.path].append(port)
    for path, ports in sorted(by_path.items()):
        begin = paths.of(path)
        # Neighbouring values that are alike count as dependent. Neighbouring ports are not: any order will do.
        ports.sort(key=lambda port: port.source_port * _SCATTER % 2**32)
        note = "One value for each UDP source port."
        answered = _shares(ports, "answered", "sent")
        yield Measured(f"{begin}answered", "%", answered, Better.HIGHER, group="Source ports", note=note)


def _storage(result: MeasuredStorage) -> Iterator[Measured]:
    for is_write, what in ((True, "write"), (False, "read")):
        rounds: list[StorageRound] = [one for one in result.rounds if one.is_write is is_write]
        rates = tuple(one.transferred / one.seconds / 1e6 for one in rounds if one.seconds > 0)
        yield Measured(f"{what} rate", "MB/s", rates, Better.HIGHER, group="Storage")
        for part in ("p50", "p99"):
            yield Measured(f"{what} {part}", "us", _known(rounds, f"{part}_us"), Better.LOWER, group="Storage")


def _drill(result: DrillOf, paths: _Names) -> Iterator[Measured]:
    for one in result.silences:
        name = f"{paths.of(one.path)}longest silence ({one.protocol})"
        yield Measured(name, "s", (one.seconds,), Better.LOWER, group="Silence")


def _known(rounds: Iterable[Any], field: str) -> tuple[float, ...]:
    return tuple(value for one in rounds if (value := getattr(one, field)) is not None)


def _shares(rounds: Iterable[Any], part: str, whole: str) -> tuple[float, ...]:
    """Return a count as percent of another one, where that is not 0."""
    return tuple(100 * getattr(one, part) / count for one in rounds if (count := getattr(one, whole)) > 0)


def _environment(measurement: Measurement) -> Iterator[tuple[str, str]]:
    """Yield the facts that should be equal in two compared results; MTUs are the change itself."""
    yield "cluster", measurement.cluster
    yield "racwire", measurement.racwire_version
    if len(measurement.paths) == 1:
        yield "path", _named(measurement.paths[0])
    for path in measurement.paths:
        yield f"{path.source_node} {path.interface} {path.network} MTU", str(path.mtu)
        far_end = f"{path.far_end} {path.program}".strip()
        yield f"far end on {path.target_node}", far_end
        if path.speed_mbps is not None:
            yield f"{path.source_node} {path.interface} speed", f"{path.speed_mbps} Mb/s"
    result = measurement.result
    facts: dict[str, object] = {}
    match result:
        case MeasuredHashes():
            facts = {"bytes of a datagram": result.size}
        case MeasuredStorage():
            facts = {
                "directory": result.directory,
                "file system": result.file_system,
                "server": result.server,
                "method": result.method,
                "bytes of a request": result.request_bytes,
            }
        case DrillOf():
            facts = {"subject": result.subject, "transition": result.transition}
    yield from ((name, str(value)) for name, value in facts.items() if value)


def _warnings(measurement: Measurement) -> Iterator[str]:
    if measurement.stopped:
        yield f"it ended early: {measurement.stopped}"
    if measurement.disturbed:
        left_out = " Times at a fixed rate and CPU times are left out." if measurement.kind == "sizes" else ""
        yield f"it was disturbed: {measurement.disturbed}{left_out}"
    if measurement.although_loaded:
        yield f"it was sent on a loaded cluster: {measurement.although_loaded}"
    if isinstance(measurement.blocks_lost, int) and measurement.blocks_lost:
        yield f"the instances lost {measurement.blocks_lost:,} blocks meanwhile."
