"""The help screen: the keys, from the table that also makes them work, and what the letters mean."""

from __future__ import annotations

from collections.abc import Iterator

from checks.facts import Verdict
from checks.finding import Status
from tui.actions import CHECKS, READER, Action
from tui.widgets.finding_text import role_of
from tui.widgets.line import Line, hanging

_STATUSES = {
    Status.FAIL: "something is wrong and hurts, or will when it is leaned on",
    Status.UNKNOWN: "it could not be told; neither a pass nor a fail",
    Status.WARN: "not wrong yet, or not as Oracle supports it",
    Status.INFO: "worth knowing",
    Status.PASS: "looked at, and well",
    Status.SKIPPED: "does not apply to this cluster",
}


def help_lines(width: int) -> Iterator[Line]:
    """The whole page."""
    yield from _keys("Checks", CHECKS, width)
    yield []
    yield from _keys("Evidence and help", READER, width)
    yield []
    yield [("Statuses, worst first", "title")]
    for status in sorted(_STATUSES, key=lambda s: s.gravity):
        start: Line = [(f" {status.letter} ", role_of(status)), (f"{status:<9}", "")]
        yield from hanging(start, _STATUSES[status], width)
    yield []
    yield [("Paths in a table", "title")]
    for verdict in Verdict:
        yield [(f" {verdict.letter}  ", "accent"), (verdict.value, "")]
    yield []
    yield [("Marks", "title")]
    for sign, meaning in (
        ("*", "the node that racwire runs on"),
        ("!", "a node that has a problem or could not be read"),
        ("·", "a check that has not concluded yet"),
        ("+", "a problem that the run before did not have"),
        ("-", "a problem that only the run before had: it is gone"),
        ("~", "a problem of the run before that could not be looked at again"),
        ("CHANGE", "a step that changes something: only under the safe-change procedure"),
    ):
        yield from hanging([(f" {sign:<8}", "accent")], meaning, width)
    yield []
    yield from hanging([], "racwire changes nothing on any node, switch or database. You run the commands.", width)


def _keys(title: str, actions: tuple[Action, ...], width: int) -> Iterator[Line]:
    yield [(title, "title")]
    for action in actions:
        yield from hanging([(f" {action.key:<12}", "accent")], action.help, width)
