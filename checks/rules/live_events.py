"""Rules for live events: when counts, a silence or a clock are an event, and when an event is over.

Whether counts are a fault, and how grave it is, says the rule of the check that judges the same counts: a live event
applies it to the last `WINDOW_S` seconds, which is the interval of a check. The rules here only add how much of a fault
must be seen before it is an event, so that one stray block or packet in an hour is none. All of them are ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.finding import Status

WINDOW_S = 30.0
"""The seconds that counts are judged over: those between the two samples of a check (`sampling.interval_s`)."""
CALM_S = 30.0
"""Seconds without a further sign after which an event is over. The kernel gives up a packet with a missing fragment
after 30 s (net.ipv4.ipfrag_time), so that shorter pauses say nothing."""
_LONGEST_CALM_S = 600.0
_RECURS_S = 900.0
TOGETHER_S = 10.0
"""What starts at several places within this time is one event: a switch that fails, a node that dies."""

_GOES_ON_S, _GOES_ON = 5.0, 3.0
_FEW, _MANY = 3, 10
_REPEATED = 2
_MISSED = 2
"""Samples in a row that are missing before a source is silent."""
_SILENT, _DELAYS, _STATEMENT_S = 2.25, 4.0, 5.0
_CLOCK_JUMP_S = 1.0
_STOOD_STILL, _STOOD_STILL_S = 3.0, 5.0


def starts(counts: Sequence[int]) -> bool:
    """Return whether the counts of one window, a sample each, are more than strays: many, or a few repeatedly."""
    growing = [count for count in counts if count > 0]
    return sum(growing) >= _MANY or (sum(growing) >= _FEW and len(growing) >= _REPEATED)


def calm_s(previous_s: float | None, since_end_s: float) -> float:
    """Return the seconds without a sign after which an event is over.

    `previous_s`: those of the last event of this kind at this place, which ended `since_end_s` seconds ago. Trouble
    that returns needs twice as long each time, so that it does not fill the list.
    """
    if previous_s is None or since_end_s > _RECURS_S:
        return CALM_S
    return min(2 * previous_s, _LONGEST_CALM_S)


def goes_on(since_sign_s: float, sample_s: float) -> bool:
    """Return whether trouble that is counted goes on, so many seconds after its last sign, which a sample of that
    length has. Else it pauses, or it is over."""
    return since_sign_s <= max(_GOES_ON_S, _GOES_ON * sample_s)


def is_silent(waited_s: float, interval_s: float, missed: int) -> bool:
    """Return whether a source that delivered nothing for some seconds has stopped answering.

    `missed`: the samples of racwire's own node in that time, so that no source is silent where racwire itself stood
    still.
    """
    return missed >= _MISSED and waited_s >= _SILENT * interval_s


def allowed_delay_s(usual_s: float, is_query: bool) -> float:
    """Return the seconds that a source may be late, from how late it usually is. A query of GV$ waits for the slowest
    instance, up to the limit of a statement, which then is the reason."""
    return _DELAYS * usual_s + (_STATEMENT_S if is_query else 0.0)


def silence_status(is_down: bool = False) -> Status:
    """Return the status of a node or an instance that does not answer: nothing is known, unless it is down."""
    return Status.WARN if is_down else Status.UNKNOWN


def restart_status() -> Status:
    """Return the status of a node or an instance that was restarted, which no step of a change explains."""
    return Status.WARN


def link_losses(changes: int) -> int:
    """Return how often a link was lost that is up as before, from the changes that the kernel counted since: each loss
    is two."""
    return changes // 2


def clock_jumped(by_s: float) -> bool:
    """Return whether a clock that moved that much more than the time that passed was set."""
    return abs(by_s) >= _CLOCK_JUMP_S


def clock_status() -> Status:
    """Return the status of a clock that was set: times before and after it cannot be compared."""
    return Status.WARN


def stood_still(seconds: float, interval_s: float) -> bool:
    """Return whether racwire took no samples: so long that a slow reading is no explanation."""
    return seconds > max(_STOOD_STILL_S, _STOOD_STILL * interval_s)


RUN_EVERY_S = 300.0
"""The least seconds between two runs of checks that racwire starts by itself."""
_HOUR_S = 3600.0


def may_run(since_last_s: float | None) -> bool:
    """Return whether racwire may start checks by itself, so many seconds after it last did; None where it never did."""
    return since_last_s is None or since_last_s >= RUN_EVERY_S


def has_probes_left(sent: Sequence[tuple[float, int]], expected: int, per_hour: int) -> bool:
    """Return whether a run that sends `expected` probes stays within the budget of an hour.

    `sent` has each earlier run that sent probes: how many seconds ago, and how many."""
    return sum(number for ago_s, number in sent if ago_s < _HOUR_S) + expected <= per_hour
