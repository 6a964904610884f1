"""Messages: reports of the workers to the app, and requests of the screens.

The messages of a run carry its number, so that the app can drop those of an earlier run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from checks.model.report import Report
from checks.model.run_record import RunRecord
from checks.run.events import Event, GatherProgress
from checks.traffic.samples import Event as Sample
from checks.traffic.samples import InstancesPace
from tui.console import export_state
from tui.console.change_state import ChangeNews, ChangeRequest, WorkProgressed
from tui.console.investigation_state import InvestigationNews, InvestigationRequest, StepProgressed
from tui.console.measure_state import MeasureNews, MeasureRequest, SendingProgressed

if TYPE_CHECKING:
    from checks.model.cluster_event import ClusterEvent
    from checks.situation.events.watching import EventWatch
    from tui.console.past_moments import PastMoments


class EngineReported(Message):
    """The engine reported an event; `report` holds all facts and findings at that moment."""

    def __init__(self, run: int, event: Event, report: Report) -> None:
        super().__init__()
        self.run = run
        self.event = event
        self.report = report

    def can_replace(self, message: Message) -> bool:
        """Return whether only the later of two progress events needs to be drawn."""
        return (
            isinstance(self.event, GatherProgress)
            and isinstance(message, EngineReported)
            and isinstance(message.event, GatherProgress)
            and message.run == self.run
        )


class HistoryGrown(Message):
    """A finished run, or the gates of a change, were added to what is known."""

    def __init__(self, record: RunRecord, run: int, trouble: str) -> None:
        super().__init__()
        self.record = record
        self.run = run
        """The number of the run; 0 for gates."""
        self.trouble = trouble
        """Why it could not be added, a sentence; empty where it was."""


class RunFailed(Message):
    """The engine itself failed; its findings up to then stay."""

    def __init__(self, run: int, reason: str) -> None:
        super().__init__()
        self.run = run
        self.reason = reason


class SamplesReported(Message):
    """The live feed took samples."""

    def __init__(self, events: tuple[Sample, ...]) -> None:
        super().__init__()
        self.events = events


class PaceReported(Message):
    """The pace of the instances' samples changed."""

    def __init__(self, pace: InstancesPace) -> None:
        super().__init__()
        self.pace = pace


class EventsFound(Message):
    """The events of a recording are known."""

    def __init__(self, watch: EventWatch, end: float, trouble: str) -> None:
        super().__init__()
        self.watch = watch
        """The watch that has seen the recording."""
        self.end = end
        """The end of the recording, in seconds since 1970."""
        self.trouble = trouble
        """Why the later ones are not known; empty where all are."""


class RunsJudged(Message):
    """The runs of a recording were read, or further ones were judged."""

    def __init__(self, moments: PastMoments, *, is_done: bool, trouble: str = "") -> None:
        super().__init__()
        self.moments = moments
        self.is_done = is_done
        """Whether no further ones follow."""
        self.trouble = trouble
        """Why they could not be read, a sentence; empty where they were."""

    def can_replace(self, message: Message) -> bool:
        """Return whether only the later of two reports needs to be drawn."""
        return isinstance(message, RunsJudged)


class PlayheadMoved(Message):
    """The Traffic screen shows another moment of a recording."""

    def __init__(self, at: float | None) -> None:
        super().__init__()
        self.at = at
        """The moment in seconds since 1970; None for the end."""


class EventWanted(Message):
    """The operator wants to see the moment of an event on the Traffic screen."""

    def __init__(self, event: ClusterEvent) -> None:
        super().__init__()
        self.event = event


class FeedFailed(Message):
    """The live feed itself failed; its samples stay."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


class RecordingEnded(Message):
    """The recording of the live samples ended by itself; its file is complete up to then."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


class IntervalWanted(Message):
    """The operator wants a sample of each source every so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class RecordWanted(Message):
    """The operator wants to start or stop the recording of the live samples."""


class PresetChosen(Message):
    """The operator chose how the console looks, which it remembers: attributes of `Presets`."""

    def __init__(self, **chosen: object) -> None:
        super().__init__()
        self.chosen = chosen


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
        """Return whether only the later of two progress events needs to be drawn."""
        return _is_progress(self) and _is_progress(message)


def _is_progress(message: Message) -> bool:
    return (
        isinstance(message, ChangeReported)
        and isinstance(message.news, WorkProgressed)
        and isinstance(message.news.event, GatherProgress)
    )


class ChangeWanted(Message):
    """The operator has a request about a change."""

    def __init__(self, want: ChangeRequest) -> None:
        super().__init__()
        self.want = want


class ExportReported(Message):
    """The work on a file of the report has news."""

    def __init__(self, news: export_state.ExportNews) -> None:
        super().__init__()
        self.news = news


class ExportWanted(Message):
    """The operator has a request about the report."""

    def __init__(self, want: export_state.ExportRequest) -> None:
        super().__init__()
        self.want = want


class MeasureReported(Message):
    """The work on a measurement has news."""

    def __init__(self, news: MeasureNews) -> None:
        super().__init__()
        self.news = news

    def can_replace(self, message: Message) -> bool:
        """Return whether only the later of two steps needs to be drawn."""
        return (
            isinstance(self.news, SendingProgressed)
            and isinstance(message, MeasureReported)
            and isinstance(message.news, SendingProgressed)
        )


class MeasureWanted(Message):
    """The operator has a request about a measurement."""

    def __init__(self, want: MeasureRequest) -> None:
        super().__init__()
        self.want = want


class InvestigationReported(Message):
    """The work on a session of guided troubleshooting has news."""

    def __init__(self, news: InvestigationNews) -> None:
        super().__init__()
        self.news = news

    def can_replace(self, message: Message) -> bool:
        """Return whether only the later of two progress reports needs to be drawn."""
        return (
            isinstance(self.news, StepProgressed)
            and isinstance(message, InvestigationReported)
            and isinstance(message.news, StepProgressed)
        )


class InvestigationWanted(Message):
    """The operator has a request about a session of guided troubleshooting."""

    def __init__(self, want: InvestigationRequest) -> None:
        super().__init__()
        self.want = want


class InvestigateWanted(Message):
    """The operator wants the page of guided troubleshooting."""
