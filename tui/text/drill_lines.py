"""The result of a drill as lines: the judgement first, then each path, and the timeline."""

from __future__ import annotations

import time
from collections.abc import Iterator

from checks.model.drill_result import DrillOf, PathSilence
from checks.model.facts import Unknown
from checks.model.finding import Status
from checks.model.measurement import MeasuredPath, Measurement
from checks.model.wording import counted, listed
from checks.rules.drill_verdicts import decisive, drill_status, percent_of, silence_status, was_silent
from tui.text.line import Line, hanging

_ROLES = {Status.PASS: "pass", Status.WARN: "warn", Status.FAIL: "fail", Status.UNKNOWN: "unknown"}


def drill_judgement(measurement: Measurement, result: DrillOf, width: int) -> Iterator[Line]:
    """Yield the sentences that say how it went, for `width` columns."""
    yield from hanging([], _judgement(measurement, result), width, _ROLES[drill_status(result)])
    if result.cause and not result.transition:
        yield from hanging([], result.cause, width)


def drill_lines(measurement: Measurement, result: DrillOf, width: int) -> Iterator[Line]:
    """Yield the paths and the timeline of a drill, for `width` columns."""
    yield []
    yield [("Longest silence of each path", "title")]
    for silence in result.silences:
        yield from _path(measurement.paths[silence.path], silence, result, width)
    if result.events:
        yield []
        yield [("Timeline, by this node's clock", "title")]
        for event in sorted(result.events, key=lambda one: one.at):
            begin = result.began_at
            after = "" if begin is None else f"{event.at - begin:+9.3f} s  "
            yield from hanging([(f"  {_clock(event.at)}  {after}", "faint")], f"{event.node}: {event.what}", width)
    for note in result.notes:
        yield from hanging([], note, width, "faint")


def _judgement(measurement: Measurement, result: DrillOf) -> str:
    if result.transition:
        return _transition(result)
    worst = decisive(result.silences)
    if worst is None:
        return f"No path was silent: {_probes(result)} of {result.subject} had their answers in time."
    path = measurement.paths[worst.path]
    percent = percent_of(worst.seconds, result.misscount_s)
    share = (
        "misscount is not known"
        if percent is None or isinstance(result.misscount_s, Unknown)
        else f"{percent:.0f} % of misscount ({result.misscount_s:g} s)"
    )
    verdict = {
        Status.PASS: "fine",
        Status.WARN: "over 10 %",
        Status.FAIL: "a failure: over 50 %",
        Status.UNKNOWN: "not decided",
    }[silence_status(worst, result.misscount_s)]
    return (
        f"{path.source_node} got no answer of {path.target_node} on {path.network} for {_length(worst)}: {share}, "
        f"{verdict}."
    )


def _transition(result: DrillOf) -> str:
    steps = (
        ("CSS noticed", result.css_noticed_s),
        ("the cluster was reconfigured", result.reconfigured_s),
        ("the instances exchanged blocks again", result.first_block_s),
    )
    seen = [f"{what} after {seconds:.2f} s" for what, seconds in steps if seconds is not None]
    unseen = [what for what, seconds in steps if seconds is None]
    went = {"planned": "was stopped as planned", "reboot": "was rebooted", "halt": "was halted or evicted"}
    name = result.subject.removeprefix("node ")
    told = f"{name} {went.get(result.transition, 'left')}: {listed(seen)}." if seen else ""
    missing = f" Not seen was that {listed(unseen, 'or')}." if unseen else ""
    return (told + missing).strip()


def _probes(result: DrillOf) -> str:
    return counted(sum(one.sent for one in result.silences), "probe")


def _path(path: MeasuredPath, silence: PathSilence, result: DrillOf, width: int) -> Iterator[Line]:
    name = f"  {path.source_node} -> {path.target_node} on {path.network}, {silence.protocol.upper()}: "
    lost = silence.sent + silence.unsent - silence.answered
    counts = f"{silence.sent:,} sent, {silence.answered:,} answered"
    if silence.unsent:
        counts += f", {silence.unsent:,} not sent by this node"
    if not was_silent(silence):
        yield from hanging([(name, "")], f"never silent; {counts}.", width, "pass", indent=4)
        return
    percent = percent_of(silence.seconds, result.misscount_s)
    share = "" if percent is None else f", {percent:.1f} % of misscount"
    began = f" from {_clock(silence.began_at)}" if silence.began_at is not None else ""
    late = f"; this node sent up to {silence.late_s * 1000:.0f} ms late" if silence.late_s > 0.005 else ""
    more = f"; silent {silence.number} times" if silence.number > 1 else ""
    yield from hanging(
        [(name, "")],
        f"{_length(silence)}{began}{share}{late}{more}; {counts}.",
        width,
        _ROLES[silence_status(silence, result.misscount_s)] if lost or not silence.is_over else "",
        indent=4,
    )
    if silence.cause and silence.cause != result.cause:
        yield from hanging([("    ", "")], silence.cause, width, "faint")


def _length(silence: PathSilence) -> str:
    seconds = f"{silence.seconds:.3f} s" if silence.seconds < 100 else f"{silence.seconds:.1f} s"
    return seconds if silence.is_over else f"at least {seconds}"


def _clock(at: float | None) -> str:
    if at is None:
        return ""
    return f"{time.strftime('%H:%M:%S', time.localtime(at))}.{int(at % 1 * 1000):03d}"
