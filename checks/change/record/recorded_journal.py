"""The journal of a change in a recording: its lines as the recording has them, and the change at a time from them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec

from checks.change.plan.change_plan import SCHEMA
from checks.change.progress.change_events import JournalLine, Opened
from checks.change.progress.state import Change, ChangeError, fold
from checks.change.record.change_journal import ChangeJournalError
from checks.change.record.plans_of_0_2_0 import decoded
from checks.traffic.recording_runs import RecordedLine


def as_recorded(lines: Iterable[JournalLine]) -> tuple[RecordedLine, ...]:
    """Return lines of a journal for a recording."""
    return tuple(
        RecordedLine(datetime.fromisoformat(line.at).timestamp(), msgspec.json.encode(line).decode()) for line in lines
    )


def change_at(recorded: Iterable[RecordedLine], at: float) -> Change | None:
    """Return the last change of a recording as its journal had it at a time, in seconds since 1970, open or closed;
    None where none had been opened by then. The recorded text of a line can differ from that in the journal, so that
    digests are not compared. Raises ChangeJournalError where the lines are of no valid change."""
    lines: list[JournalLine] = []
    try:
        for one in recorded:
            if one.at > at:
                continue
            line = decoded(one.text)
            if line.number == 1:  # the next change
                lines.clear()
            if isinstance(line.event, Opened) and line.event.plan.schema != SCHEMA:
                raise ChangeError(f"it has the format {line.event.plan.schema}, but this racwire reads {SCHEMA}.")
            lines.append(line)
        return fold(lines) if lines else None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise ChangeJournalError("The journal in this recording is damaged, or of a newer racwire.") from None
    except ChangeError as error:
        raise ChangeJournalError(f"The journal in this recording is of no valid change: {error}") from None
