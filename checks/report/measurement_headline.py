"""The result of a measurement in a few words, the same in lists, on the screen and in reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime
from statistics import median
from typing import Any

from checks.model.measured_rate import MeasuredRate
from checks.model.measurement import (
    DrillOf,
    FlowSummary,
    MeasuredHashes,
    MeasuredMix,
    MeasuredSizes,
    MeasuredStorage,
    Measurement,
    Result,
)
from checks.model.packet_sizes import USUAL_BLOCK_BYTES
from checks.model.wording import counted, lasting
from checks.report.age import time_text
from checks.rules.drill_verdicts import decisive
from checks.rules.flow_verdicts import FlowVerdict

_KB = 1024
_SOON_S = 60.0
"""Seconds before a run within which a result has no age of its own."""
NO_FIGURES = "no figures"


def headline(measurement: Measurement) -> str:
    """Return the leading figure of a result: `8 KB 57 us p50`, `32 of 32 source ports`, `longest silence 1.00 s`.

    It has no name of a node, so it needs no redaction. `NO_FIGURES` where it ended before it had any.
    """
    return _TEXTS[type(measurement.result)](measurement.result) or NO_FIGURES


def remark(measurement: Measurement) -> str:
    """Return what to know before reading the figures, in a few words: how it ended; empty where nothing is to say."""
    if measurement.is_harm:
        return "stopped by a sign of harm"
    if measurement.stopped:
        return "stopped early"
    return "disturbed" if measurement.disturbed else ""


def brief(measurement: Measurement, run_at: str = "") -> str:
    """Return a result on one line: `sizes, 2026-11-24 18:39:02 +01:00, 20 min before: 8 KB 57 us p50 (disturbed)`.

    `run_at` is the time of the run whose report it is in, ISO 8601 with a zone; without one, the line has no age.
    """
    doubt = remark(measurement)
    when = f"{time_text(measurement.started_at)}{_age(measurement, run_at)}"
    return f"{measurement.kind}, {when}: {headline(measurement)}{f' ({doubt})' if doubt else ''}"


def _age(measurement: Measurement, run_at: str) -> str:
    try:
        age_s = datetime.fromisoformat(run_at).timestamp() - (measurement.times or (math.nan,))[0]
    except (ValueError, OverflowError, OSError):
        return ""
    return f", {' '.join(lasting(age_s).split()[:2])} before" if age_s >= _SOON_S else ""


def size_text(size: int) -> str:
    """Return a size in bytes as the field names it: `64 B`, `1,472 B`, `8 KB`, `32 MB`."""
    if size >= _KB * _KB and size % (_KB * _KB) == 0:
        return f"{size // (_KB * _KB):,} MB"
    return f"{size // _KB:,} KB" if size >= _KB and size % _KB == 0 else f"{size:,} B"


def ms_text(ms: float | None) -> str:
    """Return a completion time with three digits: `0.41 ms`, `13.6 ms`, `1,281 ms`; `?` where it is not known."""
    return "?" if ms is None else f"{ms:,.0f} ms" if ms >= 99.95 else f"{ms:.3g} ms"


def silence_text(seconds: float) -> str:
    """Return the length of a silence: `57 ms`, `1.02 s`, `1 min 4 s`."""
    if not math.isfinite(seconds):
        return "?"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s" if seconds < 59.95 else lasting(seconds)


def _sizes(result: MeasuredSizes) -> str:
    known = [one for one in result.summaries if one.train == 1 and not one.rate and one.p50_us is not None and one.size]
    if not known:
        return ""
    size = min({one.size for one in known}, key=lambda own: abs(math.log(own / USUAL_BLOCK_BYTES)))
    times = [one.p50_us for one in known if one.size == size and one.p50_us is not None]
    slowest = f", slowest of {len(times)} paths" if len(times) > 1 else ""
    sent, lost = sum(one.sent for one in result.summaries), sum(one.lost for one in result.summaries)
    return f"{size_text(size)} {max(times):,.0f} us p50{slowest}{_lost(lost, sent, 'messages')}"


def _rate(result: MeasuredRate) -> str:
    best = {
        name: max(rates)
        for name, protocol in (("TCP", "tcp"), ("8 KB", "udp"))
        if (rates := [one.received_bps for one in result.steps if one.protocol == protocol and one.received_bytes > 0])
    }
    if not best:
        return ""
    sent, lost = sum(one.sent for one in result.steps), sum(one.lost for one in result.steps)
    text = ", ".join(f"{name} {rate / 1e6:,.1f} Mb/s" for name, rate in best.items())
    unknown = sum(one.unknown for one in result.steps)
    return f"{text}{_lost(lost, sent, 'datagrams')}{f', {unknown:,} not known whose' if unknown else ''}"


def _lost(lost: int, sent: int, noun: str) -> str:
    return f", {lost:,} of {sent:,} {noun} lost" if lost else ""


def _mix(result: MeasuredMix) -> str:
    if result.effects:
        one = next((one for one in result.effects if one.flow_class == "small"), result.effects[0])
        return (
            f"{one.flow_class} {ms_text(one.without_ms)} without priorities, {ms_text(one.with_ms)} with them"
            if one.without_ms is not None
            else ""
        )
    known = [one for one in result.summaries if one.mean_ms is not None]
    names = [one.flow_class for one in known]
    chosen = "small" if "small" in names else min(known, key=lambda one: one.size).flow_class if known else ""
    own = [one for one in known if one.flow_class == chosen]
    return f"{chosen} {', '.join(map(_mean, _ends(own)))}" if own else ""


def _ends(own: Sequence[FlowSummary]) -> list[FlowSummary]:
    """Return the summary without company, and the one with most: alone and together, or quiet and busy."""
    ordered = sorted(own, key=lambda one: one.company != "alone")
    return [ordered[0]] if len(ordered) == 1 else [ordered[0], ordered[-1]]


def _mean(one: FlowSummary) -> str:
    return f"{ms_text(one.mean_ms)} {one.fullness or one.company}"


def _hashes(result: MeasuredHashes) -> str:
    if not result.directions:
        of, fine = len(result.ports), sum(one.answered > 0 for one in result.ports)
        return f"{fine} of {counted(of, 'source port')}" if of else ""
    worst = min(result.directions, key=lambda one: (one.of - one.dead) / one.of if one.of else 1.0)
    undecided = sum(one.verdict == FlowVerdict.UNDECIDED for one in result.directions)
    several = f", the worst of {len(result.directions)} directions" if worst.dead and len(result.directions) > 1 else ""
    unknown = f", {counted(undecided, 'direction')} not decided" if undecided else ""
    return f"{worst.of - worst.dead} of {counted(worst.of, 'source port')}{several}{unknown}"


def _storage(result: MeasuredStorage) -> str:
    parts = []
    for name, is_write in (("write", True), ("read", False)):
        own = [one.transferred / one.seconds for one in result.rounds if one.is_write is is_write and one.seconds > 0]
        if own:
            parts.append(f"{name} {median(own) / 1e6:,.0f} MB/s")
    return ", ".join(parts)


def _drill(result: DrillOf) -> str:
    if not result.silences:
        return ""
    longest = decisive(result.silences)
    if longest is None:
        return "no silence"
    least = "" if longest.is_over else "at least "
    return f"longest silence {least}{silence_text(longest.seconds)}"


_TEXTS: dict[type[Result], Callable[[Any], str]] = {
    MeasuredSizes: _sizes,
    MeasuredRate: _rate,
    MeasuredMix: _mix,
    MeasuredHashes: _hashes,
    MeasuredStorage: _storage,
    DrillOf: _drill,
}
