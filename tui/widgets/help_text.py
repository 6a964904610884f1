"""The text of the help screen: the keys, from the tables that also bind them, and the meanings of letters and signs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from checks.model.facts import Verdict
from checks.model.finding import Status
from tui.console.actions import EVERYWHERE, Action
from tui.text.finding_lines import role_of
from tui.text.line import Line, hanging

_KEYS = 12


class LegendEntry(NamedTuple):
    """A letter or sign on the screen, and what it means."""

    text: str
    meaning: str
    role: str = "accent"


class Legend(NamedTuple):
    """Signs that belong together, under a heading."""

    heading: str
    signs: Sequence[LegendEntry]


_MEANINGS = {
    Status.FAIL: "something is wrong and causes trouble, now or under load",
    Status.UNKNOWN: "could not be determined; neither a pass nor a fail",
    Status.WARN: "not wrong yet, or not as Oracle supports it",
    Status.INFO: "worth knowing",
    Status.PASS: "checked, and passed",
    Status.SKIPPED: "does not apply to this cluster",
}

STATUSES = Legend(
    "Statuses, worst first",
    [
        LegendEntry(f"{status.letter} {status}", _MEANINGS[status], role_of(status))
        for status in sorted(_MEANINGS, key=lambda s: s.gravity)
    ],
)
PATHS = Legend("Paths in a table", [LegendEntry(verdict.letter, verdict.value) for verdict in Verdict])
MARKS = Legend(
    "Marks of findings",
    [
        LegendEntry("·", "a check that has not concluded yet"),
        LegendEntry("+", "a problem that the run before did not have"),
        LegendEntry("↑", "a problem that has become worse since the run before"),
        LegendEntry("↓", "a problem that has become less since the run before"),
        LegendEntry("-", "a problem that is over; what a run has proved, d removes from the list"),
        LegendEntry("~", "a problem that is not known any more: an event has touched it, or it could not be read"),
        LegendEntry("p", "what a started step of a change has stopped"),
        LegendEntry("w", "a waived problem: known, and accepted until a date"),
        LegendEntry("CHANGE", "a step that changes something: only under the safe-change procedure"),
    ],
)
_HEADER = Legend(
    "The first line",
    [
        LegendEntry("*", "the node that racwire runs on"),
        LegendEntry("!", "a node at fault; a node that only noticed the effects of a cause has no mark"),
        LegendEntry("?", "a node that does not answer or could not be read, or an MTU or a fault that is not known"),
        LegendEntry("~", "a node that a started step of a change has stopped"),
        LegendEntry("change 6/15", "a change is open, at this step"),
        LegendEntry("live", "the sampling interval; live! means that sampling failed"),
        LegendEntry("SENDING", "a measurement sends packets: s on the Measure screen stops it"),
    ],
)


def help_lines(title: str, actions: Sequence[Action], signs: Iterable[Legend], width: int) -> Iterator[Line]:
    """Yield the help page of a screen: its keys, the keys of every screen, and the signs."""
    own = [action for action in actions if action not in EVERYWHERE]
    if own:
        yield from _keys(title, own, width)
        yield []
    yield from _keys("Everywhere", EVERYWHERE, width)
    for group in (*signs, _HEADER):
        yield []
        yield from _signs(group, width)
    yield []
    yield from hanging([], "racwire changes nothing on any node, switch or database. You run the commands.", width)


def _keys(title: str, actions: Sequence[Action], width: int) -> Iterator[Line]:
    yield [(title, "title")]
    for action in actions:
        yield from hanging([(f" {action.key:<{_KEYS}}", "accent")], action.help, width)


def _signs(group: Legend, width: int) -> Iterator[Line]:
    yield [(group.heading, "title")]
    room = max((len(sign.text) for sign in group.signs), default=0) + 2
    for text, meaning, role in group.signs:
        yield from hanging([(f" {text:<{room}}", role)], meaning, width)
