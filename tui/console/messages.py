"""What the workers report to the app, and what the screens want of it. A run's messages carry its number: those of a
former run are dropped."""

from __future__ import annotations

from textual.message import Message

from checks.model.report import Report
from checks.run.events import Event, GatherProgress
from checks.traffic.samples import Event as Sample
from tui.console import export_state
from tui.console.change_state import ChangeNews, ChangeRequest, WorkGoesOn


class EngineReported(Message):
    """The engine reported an event; `report` is all that was known then."""

    def __init__(self, run: int, event: Event, report: Report) -> None:
        super().__init__()
        self.run = run
        self.event = event
        self.report = report

    def can_replace(self, message: Message) -> bool:
        """Of several progress events in a row only the last need be shown."""
        return (
            isinstance(self.event, GatherProgress)
            and isinstance(message, EngineReported)
            and isinstance(message.event, GatherProgress)
            and message.run == self.run
        )


class RunFailed(Message):
    """The engine itself broke down; what it had found stays."""

    def __init__(self, run: int, reason: str) -> None:
        super().__init__()
        self.run = run
        self.reason = reason


class SamplesReported(Message):
    """The live feed took samples."""

    def __init__(self, events: tuple[Sample, ...]) -> None:
        super().__init__()
        self.events = events


class FeedFailed(Message):
    """The live feed itself broke down; its samples stay."""

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


class ChangeReported(Message):
    """The work on a change has news."""

    def __init__(self, news: ChangeNews) -> None:
        super().__init__()
        self.news = news

    def can_replace(self, message: Message) -> bool:
        """Of several progress events in a row only the last need be shown."""
        return _is_progress(self) and _is_progress(message)


def _is_progress(message: Message) -> bool:
    return (
        isinstance(message, ChangeReported)
        and isinstance(message.news, WorkGoesOn)
        and isinstance(message.news.event, GatherProgress)
    )


class ChangeWanted(Message):
    """The operator wants something of a change."""

    def __init__(self, want: ChangeRequest) -> None:
        super().__init__()
        self.want = want


class ExportReported(Message):
    """The work on a file of the report has news."""

    def __init__(self, news: export_state.ExportNews) -> None:
        super().__init__()
        self.news = news


class ExportWanted(Message):
    """The operator wants something of the report."""

    def __init__(self, want: export_state.ExportRequest) -> None:
        super().__init__()
        self.want = want
