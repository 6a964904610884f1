"""The work of `racwire compare --last-week`: find the recordings of an hour and of the weeks before."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from datetime import datetime
from pathlib import Path

from checks.traffic.compare.comparison import Comparison
from checks.traffic.compare.last_week import compare_weeks
from checks.traffic.hour import HOUR_S, Hour, last_whole_hour, weeks_before
from checks.traffic.recording import Recording, RecordingError
from tui.cli.errors import UsageError
from tui.cli.streams import print_message


def comparison_with_weeks(place: Path, hour: str | None, stretch_s: float | None) -> Comparison:
    """Compare an hour of the recordings at a place with the weeks before. Raises UsageError where there are none, or
    one of those hours cannot be read."""
    begin = _time_of(hour) if hour else last_whole_hour(time.time())
    wanted = sorted([begin, *weeks_before(begin)])
    hours: dict[float, Hour] = {}
    with ExitStack() as files:
        recordings = _recordings(place, wanted, files)
        for at in wanted:
            if own := [recording for span, recording in recordings if _has(span, at)]:
                hours[at] = Hour(at, own)
        try:
            return compare_weeks(begin, hours, stretch_s)
        except RecordingError as error:
            raise UsageError(str(error)) from None


def _time_of(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise UsageError(f"--hour: {text!r} is not a time; use one such as 2026-11-29T13.") from None


def _recordings(place: Path, wanted: Sequence[float], files: ExitStack) -> list[tuple[tuple[float, float], Recording]]:
    """Open the recordings with samples of the wanted hours, the oldest first, each with the times of its first and last
    sample. `files` closes them. Raises UsageError where there are no recordings."""
    paths = sorted(place.glob("*.rec")) if place.is_dir() else [place]
    if not paths:
        raise UsageError(f"{place} has no recordings (*.rec): name the directory that `racwire record` writes to.")
    found = []
    for path in paths:
        with ExitStack() as opened:
            try:
                recording = opened.enter_context(closing(Recording.open(path)))
                span = recording.span()
            except RecordingError as error:
                if path == place:
                    raise UsageError(str(error)) from None
                print_message(f"{error} Not used.")
                continue
            if span and any(_has(span, at) for at in wanted):
                found.append((span, recording))
                files.push(opened.pop_all())
    return sorted(found, key=lambda one: one[0])


def _has(span: tuple[float, float], at: float) -> bool:
    return span[0] < at + HOUR_S and span[1] > at
