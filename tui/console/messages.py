"""What the workers tell the app, and what the screens want of it. A run's messages name it: a late one is not taken."""

from __future__ import annotations

from textual.message import Message

from checks.model.report import Report
from checks.run.events import Event, GatherProgress
from checks.traffic.samples import Event as Sample
from tui.console import export_state
from tui.console.change_state import Told, Want, WorkGoesOn


class EngineTold(Message):
    """The engine told an event; `report` is all that was known then."""

    def __init__(self, run: int, event: Event, report: Report) -> None:
        super().__init__()
        self.run = run
        self.event = event
        self.report = report

    def can_replace(self, message: Message) -> bool:
        """Of several progress events in a row only the last need be shown."""
        return (
            isinstance(self.event, GatherProgress)
            and isinstance(message, EngineTold)
            and isinstance(message.event, GatherProgress)
            and message.run == self.run
        )


class RunFailed(Message):
    """The engine itself broke down; what it had found stays."""

    def __init__(self, run: int, reason: str) -> None:
        super().__init__()
        self.run = run
        self.reason = reason


class SamplesTold(Message):
    """The live feed told samples."""

    def __init__(self, events: tuple[Sample, ...]) -> None:
        super().__init__()
        self.events = events


class FeedFailed(Message):
    """The live feed itself broke down; what it had told stays."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


class RecordingEnded(Message):
    """The recording of the live samples ended by itself; what was written before is whole."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


class IntervalWanted(Message):
    """The operator wants a sample of each source every so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class RecordWanted(Message):
    """The operator wants the live samples to be recorded; or no longer, where they are."""


class CopyWanted(Message):
    """The operator wants a text in the terminal's clipboard."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class ChangeTold(Message):
    """The work on a change told something."""

    def __init__(self, told: Told) -> None:
        super().__init__()
        self.told = told

    def can_replace(self, message: Message) -> bool:
        """Of several progress events in a row only the last need be shown."""
        return _is_progress(self) and _is_progress(message)


def _is_progress(message: Message) -> bool:
    return (
        isinstance(message, ChangeTold)
        and isinstance(message.told, WorkGoesOn)
        and isinstance(message.told.event, GatherProgress)
    )


class ChangeWanted(Message):
    """The operator wants something of a change."""

    def __init__(self, want: Want) -> None:
        super().__init__()
        self.want = want


class ReportTold(Message):
    """The work on a file of the report told something."""

    def __init__(self, told: export_state.Told) -> None:
        super().__init__()
        self.told = told


class ReportWanted(Message):
    """The operator wants something of the report."""

    def __init__(self, want: export_state.Want) -> None:
        super().__init__()
        self.want = want
