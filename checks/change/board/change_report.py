"""The report of a change, from its journal: the actions with author and time, the gates, the state before and after.

Data only: the text and JSON forms are views of this data.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from checks.change.board.journal_remarks import journal_remarks
from checks.change.board.reported_state import (
    ReportedBlocks,
    ReportedLayer,
    ReportedValue,
    reported_blocks,
    reported_layers,
    reported_values,
)
from checks.change.plan.change_plan import Accepted, Minutes, Plan, Step
from checks.change.plan.network_change import ReportedRegistry, registry_of
from checks.change.progress.change_events import (
    Attested,
    Begun,
    Closed,
    GateResult,
    JournalLine,
    JournalSeal,
    Noted,
    Overridden,
    Reopened,
    RolledBack,
    Surprised,
    Verified,
)
from checks.change.progress.change_text import headline, read_nodes, sentence_of
from checks.change.progress.journal_names import store_commands
from checks.change.progress.outages import ReportedOutage, outages_of
from checks.change.progress.own_commands import OwnCommands
from checks.change.progress.state import Change, StepRecord, StepStatus
from checks.change.steps.expected_minutes import planned_outage
from checks.model.facts import BeforeAfter, PredictedFigure
from checks.model.own_command import written

SCHEMA = "racwire-change-report/1"


class ReportedFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure before and after the change; empty if it was not measured at that time."""

    name: str
    before: str
    after: str


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A statement of a person: an attestation, a reason, a note."""

    step: str
    at: str
    who: str
    """The login and node, as the system reports them."""
    by: str = ""
    """The typed name of the person."""
    text: str = ""
    host: str = ""
    """The host, for a step that is attested for each host."""


class ReportedOverride(msgspec.Struct, frozen=True, kw_only=True):
    """An overridden gate, with its results that did not pass at that moment."""

    said: Said
    not_held: tuple[GateResult, ...]
    verified_at: str = ""
    """The time of the verification that has these results; empty if there is none."""


class ReportedStep(msgspec.Struct, frozen=True, kw_only=True):
    """The course of one step."""

    number: int
    id: str
    title: str
    way_back: bool
    """Whether the step belongs to the rollback, not to the opened plan."""
    standing: str
    """`done`, `overridden`, `current`, `ahead`; `left` if the rollback started before the step was done."""
    looks: int
    """The number of verifications of its gates."""
    verified_at: str
    verified_by: str = ""
    """The login and node of the last verification."""
    passed: bool
    results: tuple[GateResult, ...]
    attested: Said | None
    attestation: str
    """The statement that was attested."""
    overridden: Said | None = None
    attested_for: tuple[Said, ...] = ()
    """The attestations of a step that is attested for each host."""
    started: tuple[Said, ...] = ()
    """The starts of the step, each with the nodes that were read right before."""


class ReportedSurprise(msgspec.Struct, frozen=True, kw_only=True):
    """An unexpected change of the cluster, or a step that had to be done again."""

    at: str
    sentence: str
    dangerous: bool


class ReportedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the log."""

    number: int
    at: str
    who: str
    sentence: str


class ReportedFile(NamedTuple):
    """The file of the journal."""

    path: Path
    seal: JournalSeal
    peers: tuple[str, ...]
    """The nodes where its hash can be stored."""


class ChangeReport(msgspec.Struct, frozen=True, kw_only=True):
    """The whole report."""

    schema: str = SCHEMA
    id: str
    cluster: str
    headline: str
    noun: str = "change"
    """`change` or `experiment`."""
    nodes: tuple[str, ...]
    opened_at: str
    opened_by: str
    outcome: str
    """`signed off`, `rolled back`, `abandoned`, or `still open`."""
    closed_at: str
    closed_by: str
    made_for: str = ""
    """The reason that was typed when the change was opened, such as the number of its ticket; else empty."""
    reason: str
    """The reason why the change was abandoned or rolled back; else empty."""
    planned_outage: Minutes | None = None
    """The outage as the plan estimated it, without a rollback; None if the plan stops nothing."""
    outages: tuple[ReportedOutage, ...] = ()
    versions: tuple[str, ...]
    """The versions of racwire that wrote the journal."""
    remarks: tuple[str, ...]
    layers: tuple[ReportedLayer, ...]
    values: tuple[ReportedValue, ...] = ()
    """The kernel settings that the plan changes."""
    blocks: tuple[ReportedBlocks, ...]
    registry: ReportedRegistry | None = None
    """The networks in oifcfg; None for a change that leaves them as they are, or if they were not read."""
    figures: tuple[ReportedFigure, ...]
    comparison: tuple[str, ...]
    """The results of the comparison of the two recordings, a sentence each."""
    predicted: tuple[PredictedFigure, ...] = ()
    """What the recording before the change predicted, and what was measured after it."""
    steps: tuple[ReportedStep, ...]
    overrides: tuple[ReportedOverride, ...]
    accepted: tuple[Accepted, ...]
    surprises: tuple[ReportedSurprise, ...]
    notes: tuple[Said, ...]
    journal: JournalSeal | None = None
    """The number of lines of the journal and the hash of the last: fewer lines, or another hash, show that its end is
    missing or was changed. None without a file."""
    journal_remarks: tuple[str, ...] = ()
    """Incomplete lines, and jumps of the clocks, a sentence each."""
    store_hash: tuple[str, ...] = ()
    """The commands that store the hash on the other nodes; racwire does not run them."""
    log: tuple[ReportedLine, ...]


def report_of(change: Change, file: ReportedFile | None = None) -> ChangeReport:
    """Return the report of a change, open or closed, with the hash of its journal's file."""
    seal = file.seal if file else None
    plan = change.opened
    last = change.lines[-1]
    closed = last.event if isinstance(last.event, Closed) else None
    went_back = next((line.event for line in change.lines if isinstance(line.event, RolledBack)), None)
    return ChangeReport(
        id=plan.id,
        cluster=plan.cluster,
        headline=headline(plan),
        noun=plan.noun,
        nodes=plan.nodes,
        opened_at=change.lines[0].at,
        opened_by=plan.made_by,
        outcome=change.outcome or "still open",
        closed_at=last.at if closed else "",
        closed_by=closed.by if closed else "",
        made_for=plan.reason,
        planned_outage=planned_outage(plan.steps),
        outages=outages_of(change),
        reason=(closed.reason if closed else "") or (went_back.reason if went_back else ""),
        versions=tuple(dict.fromkeys(line.racwire for line in change.lines)),
        remarks=tuple(map(written, plan.remarks)),
        layers=tuple(reported_layers(change)),
        values=tuple(reported_values(change)),
        blocks=tuple(reported_blocks(change)),
        registry=registry_of(change),
        figures=_figures(change),
        comparison=_comparison(change),
        predicted=_predicted(change),
        steps=tuple(_steps(change)),
        overrides=tuple(_overrides(change)),
        accepted=plan.accepted,
        surprises=tuple(_surprises(change)),
        notes=tuple(
            Said(step=line.event.step, at=line.at, who=line.who, text=line.event.text)
            for line in change.lines
            if isinstance(line.event, Noted)
        ),
        journal=seal,
        journal_remarks=tuple(journal_remarks(change.lines, seal)),
        store_hash=tuple(store_commands(file.path.parent, plan, file.seal, file.peers)) if file else (),
        log=tuple(
            ReportedLine(number=line.number, at=line.at, who=line.who, sentence=sentence_of(line.event))
            for line in change.lines
        ),
    )


def to_json(report: ChangeReport) -> bytes:
    """Return the report as UTF-8 JSON, indented by two spaces, with a line feed at the end."""
    own, document = OwnCommands(program=report.noun), msgspec.to_builtins(report)
    for step, kept in zip(report.steps, document["steps"], strict=True):
        kept["results"] = list(map(own.document, step.results))
    for override, kept in zip(report.overrides, document["overrides"], strict=True):
        kept["not_held"] = list(map(own.document, override.not_held))
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _figures(change: Change) -> tuple[ReportedFigure, ...]:
    """Return the figures in pairs: at the baseline, and at the last measurement after it."""
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for line in change.lines:
        if isinstance(line.event, Verified):
            for name, figure in line.event.figures.items():
                if isinstance(figure, BeforeAfter):
                    before[name], after[name] = figure.before, figure.after
                else:
                    (before if line.event.step == "baseline" else after)[name] = figure
    return tuple(
        ReportedFigure(name=name, before=before.get(name, ""), after=after.get(name, ""))
        for name in dict.fromkeys((*before, *after))
    )


def _predicted(change: Change) -> tuple[PredictedFigure, ...]:
    """Return the predictions with the measurements of the last verification that compared them."""
    found = (line.event.predicted for line in reversed(change.lines) if isinstance(line.event, Verified))
    return next((predicted for predicted in found if predicted), ())


_COMPARING = ("comparison", "experiment-result")


def _comparison(change: Change) -> tuple[str, ...]:
    """Return the results of the gate that compares the recordings, in its last verification."""
    for line in reversed(change.lines):
        if isinstance(line.event, Verified):
            sentences = [r.sentence or r.text for r in line.event.results if r.check in _COMPARING]
            if sentences:
                return tuple(sentences)
    return ()


def _steps(change: Change) -> Iterator[ReportedStep]:
    starts = [line.number for line in change.lines if isinstance(line.event, RolledBack)]
    for place, (plan, marks) in enumerate((*change.behind, (change.plan, change.marks))):
        left = place < len(change.behind)
        first = starts[place - 1] if place else 0
        lines = [n for n in change.lines if n.number > first and (not left or n.number < starts[place])]
        for number, step in enumerate(plan.steps, 1):
            standing = _left_standing(step, marks) if left else change.standing(step).value
            yield _step(plan, number, step, marks.get(step.id, StepRecord()), standing, lines)


def _left_standing(step: Step, marks: dict[str, StepRecord]) -> str:
    """Return the status of a step when the rollback started: `done`, `overridden` or `left`."""
    mark = marks.get(step.id, StepRecord())
    if mark.overridden is not None:
        return StepStatus.OVERRIDDEN.value
    return StepStatus.DONE.value if mark.does(step) else "left"


def _step(
    plan: Plan, number: int, step: Step, mark: StepRecord, standing: str, lines: list[JournalLine]
) -> ReportedStep:
    return ReportedStep(
        number=number,
        id=step.id,
        title=step.title,
        way_back=plan.kind == "rollback",
        standing=standing,
        looks=sum(isinstance(line.event, Verified) and line.event.step == step.id for line in lines),
        verified_at=mark.verified.at if mark.verified else "",
        verified_by=mark.verified.who if mark.verified else "",
        passed=mark.passed,
        results=mark.results,
        attested=_attested(mark.attested) if mark.attested else None,
        attestation=step.attest,
        overridden=_overridden(mark.overridden) if mark.overridden else None,
        attested_for=tuple(map(_attested, mark.attested_for.values())),
        started=tuple(
            Said(step=step.id, at=line.at, who=line.who, text=", ".join(read_nodes(line.event.look)))
            for line in lines
            if isinstance(line.event, Begun) and line.event.step == step.id
        ),
    )


def _attested(line: JournalLine) -> Said:
    match line.event:
        case Attested(step=step, by=by, note=note, host=host):
            return Said(step=step, at=line.at, who=line.who, by=by, text=note, host=host)
    raise TypeError(f"{type(line.event).__name__} is no attestation")


def _overridden(line: JournalLine) -> Said:
    match line.event:
        case Overridden(step=step, by=by, reason=reason):
            return Said(step=step, at=line.at, who=line.who, by=by, text=reason)
    raise TypeError(f"{type(line.event).__name__} is no override")


def _overrides(change: Change) -> Iterator[ReportedOverride]:
    """Yield every override, also of a step that was done again later."""
    for line in change.lines:
        if isinstance(line.event, Overridden):
            not_held, at = line.event.not_held, line.event.verified_at
            yield ReportedOverride(said=_overridden(line), not_held=not_held, verified_at=at)


def _surprises(change: Change) -> Iterator[ReportedSurprise]:
    for line in change.lines:
        match line.event:
            case Surprised(sentence=sentence, dangerous=dangerous):
                yield ReportedSurprise(at=line.at, sentence=sentence, dangerous=dangerous)
            case Reopened():
                yield ReportedSurprise(at=line.at, sentence=sentence_of(line.event), dangerous=False)
