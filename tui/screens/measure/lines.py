"""The text of the Measure screen: the list, the plan, the figures so far, and the line about what is being sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from checks.model.measurement import MeasuredPath, Measurement, Result
from checks.model.wording import lasting, listed
from checks.report.measured.fit import short_difference
from checks.report.measurement_headline import headline, remark
from checks.report.quantities import bits
from checks.rules.measured_moment import Misfit
from checks.run.stored_measurements import age_of
from tui.console.app_state import FeedState
from tui.console.measure_state import MeasureEntry, MeasureState, Sending, SendingPhase
from tui.text.line import Line, cell_len, fitted, hanging, sanitize_line
from tui.text.measurement_lines import figure_lines, measurement_lines

if TYPE_CHECKING:
    from checks.measure.load_plan import LoadPlan
    from checks.measure.load_refusals import LoadRefusal
    from checks.measure.preparing import Prepared

_NAME, _AGE = 7, 6
_STOPS = "s stops"
CHECKS_DISTURB = "g waits for the end of the checks: both would disturb each other."
_IN_TABLE = 30
"""Lines of the page from which the last result has room below the plan."""


def entry_line(
    entry: MeasureEntry,
    found: Measurement | None,
    other: Misfit | None,
    sending: Sending | None,
    now: datetime,
    width: int,
) -> Line:
    """Return the line of an experiment: its name, the age of its last result, and that result in a few words; of one
    that does not belong to the cluster as it is (`other`), what was different."""
    name = f" {entry.kind:<{_NAME}} "
    room = max(width - len(name), 0)
    if sending is not None and sending.kind == entry.kind:
        return [(name, "title"), (fitted(f"{sending.phase.value.lower()} now", room), "accent")]
    if found is None:
        return [(name, "title"), (fitted("no result", room), "faint")]
    age = f"{_short_age(found, now):>{_AGE}} "
    note = remark(found)
    sign, role = ("F", "fail") if found.is_harm else ("!", "warn") if note or other else (" ", "")
    words = short_difference(other) if other else f"{headline(found)}{f', {note}' if note else ''}"
    rest = fitted(sanitize_line(words), max(room - len(age) - 2, 0))
    return [(name, "title"), (age, "faint"), (f"{sign} ", role), (rest, role)]


def _short_age(measurement: Measurement, now: datetime) -> str:
    """Return the age in its largest unit: `12 min`, `3 d`; `?` where it is not known."""
    age = age_of(measurement, now)
    if age is None:
        return "?"
    return " ".join(lasting(max(age, 0)).split()[:2])


def plan_lines(
    entry: MeasureEntry,
    state: MeasureState,
    other: Misfit | None,
    commands: Sequence[str],
    now: datetime,
    width: int,
    height: int,
) -> Iterator[Line]:
    """Yield the page of an experiment while it is not being sent: why it is refused, its last result, its plan."""
    yield from hanging([(entry.kind, "title"), ("  ", "")], f"{entry.about}.", width, indent=0)
    found = state.results.get(entry.kind)
    yield from _last(found, other, now, width)
    prepared = state.plans.get(entry.kind)
    if problem := state.problems.get(entry.kind):
        yield from _paragraph([("? ", "unknown")], problem, width)
    for refusal in state.refusals(entry.kind):
        yield []
        yield from _refusal(refusal, width)
        if refusal.is_load:
            yield from hanging([("  ", "")], "g asks for the reason to measure nevertheless.", width, "warn")
    if not entry.is_sent_here:
        yield from _paragraph([], entry.elsewhere, width)
    elif prepared is not None:
        for sentence in prepared.plan.lines():
            yield from _paragraph([], sentence, width)
    elif state.reading == entry.kind:
        yield from _paragraph([], "Reading the cluster, to make the plan. Nothing is sent.", width, "faint")
    is_named = prepared is not None or not entry.is_sent_here
    yield []
    for number, command in enumerate(commands if is_named else ()):
        label = "Command  " if number == 0 else " " * 9
        yield from hanging([(label, "label")], command, width, "command")
    if found is not None and other is None and height >= _IN_TABLE:
        yield []
        yield from measurement_lines(found, width)


def results_lines(
    state: MeasureState, others: Mapping[str, Misfit], entries: Sequence[MeasureEntry], now: datetime, width: int
) -> Iterator[Line]:
    """Yield what every experiment measures, and its last result."""
    for number, entry in enumerate(entries):
        if number:
            yield []
        yield from hanging([(entry.kind, "title"), ("  ", "")], f"{entry.about}.", width, indent=0)
        yield from _last(state.results.get(entry.kind), others.get(entry.kind), now, width)


def _last(found: Measurement | None, other: Misfit | None, now: datetime, width: int) -> Iterator[Line]:
    if found is None:
        yield from hanging([("Last  ", "label")], "no result is kept here", width, "faint")
        return
    ago = f", {_short_age(found, now)} ago" if age_of(found, now) is not None else ""
    note = remark(found)
    figure = short_difference(other) if other else f"{headline(found)}{f', {note}' if note else ''}"
    role = "fail" if found.is_harm else "warn" if note or other else ""
    yield from hanging([("Last  ", "label")], f"{figure}{ago}. Enter opens it.", width, role)


def _refusal(refusal: LoadRefusal, width: int) -> Iterator[Line]:
    yield [("F ", "fail"), (sanitize_line(refusal.code), "title")]
    yield from hanging([("  ", "")], refusal.sentence, width)


def _paragraph(start: Line, text: str, width: int, role: str = "") -> Iterator[Line]:
    yield []
    yield from hanging(start, text, width, role)


def sending_lines(sending: Sending, width: int) -> Iterator[Line]:
    """Yield the page of an experiment while it is being sent: what it does now, and the figures so far."""
    yield [(fitted(f"{sending.kind}: {sanitize_line(sending.text)}", width).rstrip(), "title")]
    if sending.result is not None:
        yield from _figures(sending.result, sending.plan.paths, width)
        return
    for sentence in sending.plan.lines():
        yield from _paragraph([], sentence, width, "faint")


def ended_lines(found: Measurement, sentence: str, width: int) -> Iterator[Line]:
    """Yield the page of a measurement that has just ended: its figures, below a `sentence` if there is one."""
    if sentence:
        yield from hanging([], sentence, width, "fail" if found.is_harm else "warn")
        yield []
    yield from _figures(found.result, found.paths, width)


def _figures(result: Result, paths: Sequence[MeasuredPath], width: int) -> list[Line]:
    """Return the figures, without the empty line above them."""
    lines = list(figure_lines(result, paths, width))
    return lines[1:] if lines and not lines[0] else lines


def past_lines(
    entry: MeasureEntry, found: Measurement | None, other: Misfit | None, feed: FeedState, width: int
) -> Iterator[Line]:
    """Yield the page of an experiment of a saved state or a recording: its result, where it belongs to the cluster, and
    why nothing can be sent."""
    yield from hanging([(entry.kind, "title"), ("  ", "")], f"{entry.about}.", width, indent=0)
    yield []
    if found is not None:
        yield from measurement_lines(found, width) if other is None else ()
    else:
        yield from hanging([], f"{feed.held_by} has no result of this experiment.", width, "faint")
    yield []
    text = f"{feed.held_by} is open, so nothing can be sent: measure on a node of the cluster itself."
    yield from hanging([], text, width, "faint")


def sending_line(sending: Sending, width: int) -> Line:
    """Return the line about what is being sent, over the whole width, with as much as fits."""
    text = next((one for one in _texts(sending) if cell_len(one) + 2 <= width), f"{sending.phase.value}  {_STOPS}")
    return [(fitted(f" {text}", width), "sending")]


def _texts(sending: Sending) -> Iterator[str]:
    """Yield what is being sent, the longest text first."""
    word, plan = sending.phase.value, sending.plan
    if sending.phase is SendingPhase.STOPPING:
        yield f"{word} {sending.kind}: what was measured is kept"
        return
    if sending.phase is SendingPhase.PREPARING:
        yield f"{word} {sending.kind}: {sending.text}   {_STOPS}"
        yield f"{word} {sending.kind}   {_STOPS}"
        return
    start = f"{word} {bits(sending.sent_bps)}" if sending.sent_bps else word
    peers, networks = _named(plan)
    done = f"{sending.done} of {sending.total}"
    yield f"{start} to {peers} on {networks}   {done} steps of {sending.kind}   {_STOPS}"
    yield f"{start} to {peers} on {networks}   {done}   {_STOPS}"
    yield f"{start} to {peers}   {done}   {_STOPS}"
    yield f"{start}   {done}   {_STOPS}"


def _named(plan: LoadPlan) -> tuple[str, str]:
    peers = dict.fromkeys(sanitize_line(path.target_node) for path in plan.paths)
    return listed(peers), listed(dict.fromkeys(sanitize_line(path.network) for path in plan.paths))


def rest_line(state: MeasureState, entry: MeasureEntry, width: int, *, is_checking: bool) -> Line:
    """Return the line about what is being sent while nothing is: how the last measurement ended, or what `g` does."""
    if (ended := state.ended) is not None:
        role = "warn" if ended.measurement is None or ended.measurement.stopped else "accent"
        role = "fail" if ended.measurement is not None and ended.measurement.is_harm else role
        return [(fitted(f" {sanitize_line(ended.sentence)}", width), role)]
    if is_checking and entry.is_sent_here:
        return [(fitted(f" {CHECKS_DISTURB}", width), "faint")]
    text = "Nothing is sent before the cluster's name is typed"
    return [(fitted(f" {text}: g." if entry.is_sent_here else f" {text}.", width), "faint")]


def question_lines(prepared: Prepared, state: MeasureState, kind: str, width: int) -> Iterator[Line]:
    """Yield the page above the question for the name of the cluster: what is agreed to."""
    for refusal in state.refusals(kind):
        yield from _refusal(refusal, width)
        yield []
    for number, sentence in enumerate(prepared.plan.lines()):
        if number:
            yield []
        yield from hanging([], sentence, width)
    text = (
        "Before it sends, racwire reads the cluster again, checks these paths, and looks for load for 3 s. It sends "
        "nothing where one of them speaks against it, or where the plan is another one by then."
    )
    yield from _paragraph([], text, width, "faint")
