"""Remarks on the journal of a change, for its report: incomplete lines, and clocks that were changed. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from checks.change.progress.change_events import JournalLine, JournalSeal
from checks.model.wording import counted

_CLOCKS_APART = timedelta(minutes=1)
"""The accepted difference between the clocks of two nodes, and of one clock between two lines. Chosen by racwire."""


def journal_remarks(lines: Sequence[JournalLine], seal: JournalSeal | None = None) -> Iterator[str]:
    """Yield a sentence for each incomplete line and each jump of a clock between two lines, oldest first.

    While a node is up, its clock must go on as its time since the boot does. Between two nodes, only a clock that goes
    back is noticed.
    """
    for one, other in pairwise(lines):
        if other.cut:
            yield (
                f"Before line {other.number} racwire removed {counted(other.cut, 'byte')} of an incomplete line: a "
                "process or its node went down while it wrote an event, which was not reported as written."
            )
        if jump := _jump(one, other):
            yield jump
    if seal is not None and seal.incomplete_bytes:
        yield (
            f"After its last line the journal has {counted(seal.incomplete_bytes, 'byte')} of an incomplete line: a "
            "process or its node went down while it wrote an event, which was not reported as written."
        )


def _jump(one: JournalLine, other: JournalLine) -> str:
    """Return a sentence if the clock jumped between two lines; empty if it did not, or if a time cannot be read."""
    try:
        passed = datetime.fromisoformat(other.at) - datetime.fromisoformat(one.at)
    except (ValueError, TypeError):
        return ""
    between = f"between line {one.number} ({_second(one)}) and line {other.number} ({_second(other)})"
    nodes = [_node(one), _node(other)]
    if nodes[0] == nodes[1] and one.boot and one.boot == other.boot:
        jump = passed - timedelta(seconds=other.up_s - one.up_s)
        if abs(jump) > _CLOCKS_APART:
            where = "forward" if jump > timedelta() else "back"
            return f"The clock of {nodes[0]} was set {where} by {_length(jump)} {between}."
    elif passed < -_CLOCKS_APART:
        if nodes[0] == nodes[1]:
            return f"The clock of {nodes[0]} went back by {_length(passed)} {between}."
        return f"The clock of {nodes[1]} is behind that of {nodes[0]} by {_length(passed)} or more, {between}."
    return ""


def _node(line: JournalLine) -> str:
    return line.who.rpartition("@")[2]


def _second(line: JournalLine) -> str:
    return line.at[:19].replace("T", " ")


def _length(span: timedelta) -> str:
    """Return a length of time as text: `3 d 02:10:05`, `00:05:00`."""
    seconds = int(abs(span).total_seconds())
    hours, rest = divmod(seconds % 86_400, 3600)
    days = f"{seconds // 86_400} d " if seconds >= 86_400 else ""
    return f"{days}{hours:02}:{rest // 60:02}:{rest % 60:02}"
