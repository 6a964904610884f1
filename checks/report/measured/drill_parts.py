"""The parts of a drill: the judgement first, then the silence of each path with what made it last, and the timeline."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from checks.model.drill_result import DrillOf, PathSilence
from checks.model.facts import Unknown
from checks.model.finding import Status
from checks.model.measurement import MeasuredPath
from checks.model.wording import continued, counted, listed
from checks.report.measured.parts import Heading, Look, Part, Prose, grid
from checks.report.measurement_headline import silence_text
from checks.rules.drill_verdicts import (
    FAILURE_PERCENT,
    FINE_PERCENT,
    decisive,
    drill_status,
    percent_of,
    silence_status,
    was_silent,
)

_LOOKS: dict[Status, Look] = {
    Status.PASS: "pass",
    Status.WARN: "warn",
    Status.FAIL: "fail",
    Status.UNKNOWN: "unknown",
}
_VERDICTS = {
    Status.PASS: "fine",
    Status.WARN: f"where fine is under {FINE_PERCENT:.0f} %",
    Status.FAIL: f"a failure: over {FAILURE_PERCENT:.0f} %",
    Status.UNKNOWN: "not decided",
}
_LATE_S = 0.005
"""Lateness of this node from which a silence is named with it."""


def judgement_parts(result: DrillOf, paths: Sequence[MeasuredPath]) -> Iterator[Prose]:
    """Yield the sentences that say how the drill went."""
    look = _LOOKS[drill_status(result)]
    worst = decisive(result.silences)
    if result.transition:
        yield Prose(_transition(result), look, is_of_all=True)
    elif worst is None:
        sent = sum(one.sent + one.unsent for one in result.silences)
        answered = sum(one.answered for one in result.silences)
        text = f"{answered:,} of {counted(sent, 'probe')} {'was' if answered == 1 else 'were'} answered"
        yield Prose(f"No path was silent in the drill of {result.subject}: {text}.", look, is_of_all=True)
    else:
        yield Prose(_judgement(worst, paths[worst.path], result), look, is_of_all=True)
        if result.cause:
            yield Prose(result.cause, is_of_all=True)
    if isinstance(result.misscount_s, Unknown):
        text = f"How much of the misscount a silence takes is not known: {continued(result.misscount_s.reason)}"
        yield Prose(text, "unknown", is_of_all=True)


def drill_parts(result: DrillOf, paths: Sequence[MeasuredPath]) -> Iterator[Part]:
    """Yield the silence of each path, the timeline, and what was not read."""
    rows = [_row(one, paths[one.path], result) for one in result.silences]
    heads = ("from", "to", "network", "by", "silence", "misscount", "answered")
    yield Heading(f"Drill of {result.subject}")
    if rows:
        yield grid("the longest time without an answer", heads, rows, words=4)
    for one in result.silences:
        yield from _about(one, paths[one.path], result)
    if result.events:
        start = begin_of(result)
        events = [
            (clock_text(event.at), f"{event.at - start:+.3f} s", event.node, event.what)
            for event in sorted(result.events, key=lambda each: each.at)
        ]
        yield Heading("Timeline")
        yield grid("by the clock of this node", ("time", "after", "node", "what"), events, words=4)
    for note in result.notes:
        yield Prose(note, "faint", is_of_all=True)


def begin_of(result: DrillOf) -> float:
    """Return the moment from which times count: the first silence, else the first event, in seconds since 1970."""
    if result.began_at is not None:
        return result.began_at
    known = [one.began_at for one in result.silences if one.began_at is not None]
    return min(known or [one.at for one in result.events], default=0.0)


def share_of_misscount(one: PathSilence, result: DrillOf) -> str:
    """Return the length of a silence in percent of the misscount; `-` where that is not known."""
    percent = percent_of(one.seconds, result.misscount_s)
    return "-" if percent is None else f"{percent:,.3g} %"


def clock_text(at: float) -> str:
    """Return a time of day with milliseconds, in the zone of this node."""
    try:
        return f"{time.strftime('%H:%M:%S', time.localtime(at))}.{int(at % 1 * 1000):03d}"
    except (ValueError, OverflowError, OSError):
        return "?"


def _judgement(worst: PathSilence, path: MeasuredPath, result: DrillOf) -> str:
    length = _length(worst)
    who = f"{path.source_node} got no answer of {path.target_node} on {path.network} for {length}"
    percent = percent_of(worst.seconds, result.misscount_s)
    verdict = _VERDICTS[silence_status(worst, result.misscount_s)]
    if percent is None:
        return f"{who}, in the drill of {result.subject}."
    return f"{who}: {percent:.0f} % of misscount ({result.misscount_s:g} s), {verdict}."


def _transition(result: DrillOf) -> str:
    steps = (
        ("CSS noticed", result.css_noticed_s),
        ("the cluster was reconfigured", result.reconfigured_s),
        ("the instances exchanged blocks again", result.first_block_s),
    )
    went = {"planned": "was stopped as planned", "reboot": "was rebooted", "halt": "was halted or evicted"}
    name = f"{result.subject.removeprefix('node ')} {went.get(result.transition, 'left')}"
    seen = [f"{what} after {silence_text(seconds)}" for what, seconds in steps if seconds is not None]
    unseen = [what for what, seconds in steps if seconds is None]
    text = f"{name}: {listed(seen)}." if seen else f"The drill was to see how {name}."
    return f"{text} Not seen was that {listed(unseen, 'or')}." if unseen else text


def _row(one: PathSilence, path: MeasuredPath, result: DrillOf) -> tuple[str, ...]:
    is_silent = was_silent(one)
    return (
        path.source_node,
        path.target_node,
        path.network,
        one.protocol.upper(),
        _length(one) if is_silent else "none",
        share_of_misscount(one, result) if is_silent else "-",
        f"{one.answered:,} of {one.sent + one.unsent:,}",
    )


def _about(one: PathSilence, path: MeasuredPath, result: DrillOf) -> Iterator[Prose]:
    """Yield what made the silence of a path last, and what to know about its figure."""
    name = f"{path.network}, {one.protocol.upper()}"
    if not was_silent(one):
        return
    if one.cause and one.cause != result.cause:
        look: Look = "faint" if one.timer == "link" else _LOOKS[silence_status(one, result.misscount_s)]
        yield Prose(f"{name}: {one.cause}", look)
    if one.unsent:
        yield Prose(f"{name}: this node itself could not send {counted(one.unsent, 'probe')}.", "faint")
    if one.late_s > max(_LATE_S, one.seconds / 100):
        yield Prose(
            f"{name}: this node sent up to {one.late_s * 1000:.0f} ms late, so it may be that much shorter.", "faint"
        )


def _length(one: PathSilence) -> str:
    return f"{'' if one.is_over else 'at least '}{silence_text(one.seconds)}"
