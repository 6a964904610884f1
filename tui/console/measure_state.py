"""The state of the Measure screen: the experiments, their plans and last results, and what is being sent."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import msgspec

from checks.model.measurement import Measurement, Result
from tui.cli.measure.measure_options import KINDS

if TYPE_CHECKING:
    from checks.measure.load_plan import LoadPlan
    from checks.measure.load_refusals import LoadRefusal
    from checks.measure.preparing import Prepared


class MeasureEntry(msgspec.Struct, frozen=True):
    """An experiment in the list."""

    kind: str
    """The kind of its results, as `Measurement.kind` has it."""
    about: str
    """What it measures: a clause without capital and full stop."""
    commands: tuple[str, ...]
    """The scripts of what to type on the command line, without `racwire`."""
    on_path: tuple[str, ...] = ()
    """The same where a path is chosen."""
    is_sent_here: bool = True
    """Whether this screen plans and sends it; otherwise only the command line does."""
    elsewhere: str = ""
    """Why only the command line does it; a sentence."""


ENTRIES = (
    *(
        MeasureEntry(
            name,
            KINDS[name].help,
            (f"measure {name} --go {{cluster}}",),
            (f"measure {name} --on {{network}} --to {{peer}} --go {{cluster}}",),
        )
        for name in ("sizes", "rate", "mix", "hashes")
    ),
    MeasureEntry(
        "storage",
        "writing and reading one file of a directory, past the page cache",
        ("measure storage DIR --go {cluster}",),
        is_sent_here=False,
        elsewhere="It needs the directory, which you name on the command line.",
    ),
    MeasureEntry(
        "drill",
        "how long each path is silent while a person pulls a cable, or halts a node",
        ("drill link --go {cluster}", "drill node NODE --as halt --go {cluster}"),
        is_sent_here=False,
        elsewhere="A person pulls the cable or halts the node, and racwire holds the clock: on the command line.",
    ),
)
"""The experiments, in the order of the list."""


class PathChoice(msgspec.Struct, frozen=True):
    """The path on which an experiment is to send. Without names: the paths that it has without options."""

    network: str = ""
    peer: str = ""


class SendingPhase(Enum):
    """How far a measurement that was agreed to is: the word for it."""

    PREPARING = "PREPARING"
    """Nothing is sent yet: racwire looks for reasons not to send."""
    SENDING = "SENDING"
    STOPPING = "STOPPING"
    """The operator stopped it; what was measured is being put together."""


class Sending(msgspec.Struct, frozen=True):
    """A measurement that was agreed to, and how far it is."""

    kind: str
    plan: LoadPlan
    phase: SendingPhase = SendingPhase.PREPARING
    text: str = "reading the cluster again"
    """What is being done, as a clause."""
    done: int = 0
    total: int = 0
    sent_bps: float = 0.0
    """Bits a second on the wire that this node sent in the last step."""
    result: Result | None = None
    """What was measured so far."""


# --- reports of the worker --------------------------------------------------------------------------------------------


class ResultsFound(msgspec.Struct, frozen=True):
    """The newest kept result of each kind."""

    results: tuple[Measurement, ...]


class PlanStarted(msgspec.Struct, frozen=True):
    """The plan of an experiment is being made."""

    kind: str


class PlanFound(msgspec.Struct, frozen=True):
    """What an experiment would send now."""

    kind: str
    prepared: Prepared
    choice: PathChoice
    choices: tuple[PathChoice, ...]
    """All paths that can be chosen, the usual ones first."""


class PlanFailed(msgspec.Struct, frozen=True):
    """No plan is possible; `reason` is a sentence, empty where another plan is wanted instead."""

    kind: str
    reason: str


class SendingStarted(msgspec.Struct, frozen=True):
    """A measurement was agreed to."""

    kind: str
    plan: LoadPlan


class SendingProgressed(msgspec.Struct, frozen=True):
    """A measurement goes on with its next step."""

    text: str
    done: int
    total: int
    sent_bps: float
    result: Result | None


class SendingStopped(msgspec.Struct, frozen=True):
    """The operator stopped the measurement."""


class SendingEnded(msgspec.Struct, frozen=True):
    """A measurement has ended, and nothing is sent any more."""

    kind: str
    sentence: str
    """How it ended."""
    measurement: Measurement | None = None
    """What was measured; None where nothing was sent."""
    kept: str = ""
    """Where the result is, or why it was not kept; a sentence."""
    refusals: tuple[LoadRefusal, ...] = ()
    """Why nothing was sent."""
    is_by_quitting: bool = False
    """Whether it ended because racwire quits."""


MeasureNews = (
    ResultsFound
    | PlanStarted
    | PlanFound
    | PlanFailed
    | SendingStarted
    | SendingProgressed
    | SendingStopped
    | SendingEnded
)


# --- requests of the operator -----------------------------------------------------------------------------------------


class FindResults(msgspec.Struct, frozen=True):
    """Find the last results: other processes measure too."""


class FindPlan(msgspec.Struct, frozen=True):
    """Find out what an experiment would send."""

    kind: str
    choice: PathChoice = PathChoice()
    is_fresh: bool = False
    """Whether to read the cluster again, although its facts are known."""


class Send(msgspec.Struct, frozen=True):
    """Measure: the plan was read, and the name of the cluster typed."""

    kind: str
    choice: PathChoice
    plan: LoadPlan
    typed: str
    although_loaded: str = ""
    """Why the cluster is measured although it is loaded."""


class StopSending(msgspec.Struct, frozen=True):
    """Stop the measurement; what was measured is kept."""


MeasureRequest = FindResults | FindPlan | Send | StopSending


class MeasureState:
    """The known state of measurements: `apply` updates it, the screens only read it."""

    def __init__(self) -> None:
        self.results: dict[str, Measurement] = {}
        """The newest result of each kind."""
        self.plans: dict[str, Prepared] = {}
        self.chosen: dict[str, PathChoice] = {}
        """By kind: the path of its plan."""
        self.choices: dict[str, tuple[PathChoice, ...]] = {}
        """By kind: the paths that can be chosen."""
        self.problems: dict[str, str] = {}
        """By kind: why no plan is possible; a sentence."""
        self.reading = ""
        """The kind whose plan is being made; empty where none is."""
        self.sending: Sending | None = None
        self.ended: SendingEnded | None = None
        """How the last measurement of this console ended."""

    @property
    def cluster_name(self) -> str:
        """The name of the cluster, from any plan; empty where it is not known."""
        return next((prepared.plan.cluster for prepared in self.plans.values()), "")

    def refusals(self, kind: str) -> tuple[LoadRefusal, ...]:
        """Return why the experiment is not sent now: by its plan, and by the last attempt to send it."""
        planned = self.plans[kind].refusals if kind in self.plans else ()
        tried = self.ended.refusals if self.ended is not None and self.ended.kind == kind else ()
        return tuple({one.code: one for one in (*planned, *tried)}.values())

    def next_choice(self, kind: str, choice: PathChoice) -> PathChoice:
        """Return the path after this one; after the last come the usual ones."""
        known = self.choices.get(kind, (PathChoice(),))
        return known[(known.index(choice) + 1) % len(known)] if choice in known else known[0]

    def farewell(self) -> str:
        """Return the sentence for an operator who quit while a measurement ran; empty where none ran."""
        if self.sending is not None:
            return f"The measurement {self.sending.kind} was stopped; what it had measured was not kept."
        if self.ended is not None and self.ended.is_by_quitting:
            return f"{self.ended.sentence} {self.ended.kept}".rstrip()
        return ""

    def apply(self, news: MeasureNews) -> str:
        """Apply news. Return a notice for the operator; empty where there is none."""
        match news:
            case ResultsFound(results=results):
                own = self.ended.measurement if self.ended is not None else None
                self.results = {one.kind: one for one in results}
                if own is not None and not self._is_kept(own):
                    self.results[own.kind] = own
            case PlanStarted(kind=kind):
                self.reading = kind
                self.problems.pop(kind, None)
            case PlanFound(kind=kind, prepared=prepared):
                self.reading = ""
                self.plans[kind], self.chosen[kind], self.choices[kind] = prepared, news.choice, news.choices
                self.problems.pop(kind, None)
            case PlanFailed(kind=kind, reason=reason):
                self.reading = ""
                if reason:
                    self.plans.pop(kind, None)
                    self.problems[kind] = reason
            case SendingStarted(kind=kind, plan=plan):
                self.sending, self.ended = Sending(kind, plan), None
            case SendingProgressed() if self.sending is not None:
                is_stopping = self.sending.phase is SendingPhase.STOPPING
                running = SendingPhase.SENDING if news.total else SendingPhase.PREPARING
                self.sending = msgspec.structs.replace(
                    self.sending,
                    phase=SendingPhase.STOPPING if is_stopping else running,
                    text=news.text,
                    done=news.done,
                    total=news.total,
                    sent_bps=news.sent_bps,
                    result=news.result,
                )
            case SendingStopped() if self.sending is not None:
                self.sending = msgspec.structs.replace(self.sending, phase=SendingPhase.STOPPING)
            case SendingEnded():
                self.sending, self.ended = None, news
                if news.measurement is not None:
                    self.results = {**self.results, news.kind: news.measurement}
                return news.sentence
        return ""

    def _is_kept(self, own: Measurement) -> bool:
        """Whether the files have a result of this console, or a later one."""
        found = self.results.get(own.kind)
        return found is not None and found.started_at >= own.started_at
