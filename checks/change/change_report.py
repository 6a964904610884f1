"""The report of a change, made of its journal: who did what when, what was seen, and what is so before and after.

Data only. Text, JSON and whatever else is shown are views of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from checks.change.change_events import (
    Closed,
    GateResult,
    JournalLine,
    Noted,
    Overridden,
    Reopened,
    RolledBack,
    Surprised,
    Verified,
)
from checks.change.change_plan import Accepted, Plan, Step
from checks.change.change_text import headline, sentence_of
from checks.change.packets import USUAL_BLOCK
from checks.change.state import Change, StepRecord, StepStatus
from checks.model.facts import BeforeAfter, Unknown
from checks.model.packet_sizes import fragments_of

SCHEMA = "racwire-change-report/1"
_NOT_LOOKED_AT = Unknown("it was not looked at after the change was opened")


class ReportedLayer(msgspec.Struct, frozen=True, kw_only=True):
    """The MTU of one interface, before and as it was seen last."""

    node: str
    interface: str
    role: str
    before: int
    after: int | Unknown


class ReportedBlocks(msgspec.Struct, frozen=True, kw_only=True):
    """Into how many packets a block is cut on a network."""

    network: str
    database: str
    """Empty where no database told its block size, and 8 KB are taken for it."""
    block_bytes: int
    before: int
    after: int | Unknown


class ReportedFigure(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured before and after; empty where it was measured at only one of these times."""

    name: str
    before: str
    after: str


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What a person said: an attestation, a reason, a note."""

    step: str
    at: str
    who: str
    """Who was at the keyboard, as the system knows them."""
    by: str = ""
    """Who says it, by the name that was typed."""
    text: str = ""


class ReportedOverride(msgspec.Struct, frozen=True, kw_only=True):
    """A gate that was gone past, and what it had said."""

    said: Said
    not_held: tuple[GateResult, ...]


class ReportedStep(msgspec.Struct, frozen=True, kw_only=True):
    """How one step went."""

    number: int
    id: str
    title: str
    way_back: bool
    """Whether it belongs to the way back, and not to the plan that the change began with."""
    standing: str
    """`done`, `overridden`, `current`, `ahead`; `left` where the way back was taken before it was done."""
    looks: int
    """How many times its gates were looked at."""
    verified_at: str
    passed: bool
    results: tuple[GateResult, ...]
    attested: Said | None
    attestation: str
    """What was attested."""


class ReportedSurprise(msgspec.Struct, frozen=True, kw_only=True):
    """Where the cluster changed under the change, or a step had to be done again for it."""

    at: str
    sentence: str
    dangerous: bool


class ReportedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the log."""

    number: int
    at: str
    who: str
    sentence: str


class ChangeReport(msgspec.Struct, frozen=True, kw_only=True):
    """The whole report."""

    schema: str = SCHEMA
    id: str
    cluster: str
    headline: str
    nodes: tuple[str, ...]
    opened_at: str
    opened_by: str
    outcome: str
    """`signed off`, `rolled back`, `abandoned`, or `still open`."""
    closed_at: str
    closed_by: str
    reason: str
    """Why it was given up or went back; empty else."""
    versions: tuple[str, ...]
    """The versions of racwire that wrote its journal."""
    remarks: tuple[str, ...]
    layers: tuple[ReportedLayer, ...]
    blocks: tuple[ReportedBlocks, ...]
    figures: tuple[ReportedFigure, ...]
    comparison: tuple[str, ...]
    """What the comparison of the two recordings says, a sentence each."""
    steps: tuple[ReportedStep, ...]
    overrides: tuple[ReportedOverride, ...]
    accepted: tuple[Accepted, ...]
    surprises: tuple[ReportedSurprise, ...]
    notes: tuple[Said, ...]
    log: tuple[ReportedLine, ...]


def report_of(change: Change) -> ChangeReport:
    """The report of a change, also of one that still goes on."""
    plan = change.opened
    last = change.lines[-1]
    closed = last.event if isinstance(last.event, Closed) else None
    went_back = next((line.event for line in change.lines if isinstance(line.event, RolledBack)), None)
    return ChangeReport(
        id=plan.id,
        cluster=plan.cluster,
        headline=headline(plan),
        nodes=plan.nodes,
        opened_at=change.lines[0].at,
        opened_by=plan.made_by,
        outcome=change.outcome or "still open",
        closed_at=last.at if closed else "",
        closed_by=closed.by if closed else "",
        reason=(closed.reason if closed else "") or (went_back.reason if went_back else ""),
        versions=tuple(dict.fromkeys(line.racwire for line in change.lines)),
        remarks=plan.remarks,
        layers=tuple(_layers(change)),
        blocks=tuple(_blocks(change)),
        figures=_figures(change),
        comparison=_comparison(change),
        steps=tuple(_steps(change)),
        overrides=tuple(_overrides(change)),
        accepted=plan.accepted,
        surprises=tuple(_surprises(change)),
        notes=tuple(
            Said(step=line.event.step, at=line.at, who=line.who, text=line.event.text)
            for line in change.lines
            if isinstance(line.event, Noted)
        ),
        log=tuple(
            ReportedLine(number=line.number, at=line.at, who=line.who, sentence=sentence_of(line.event))
            for line in change.lines
        ),
    )


def to_json(report: ChangeReport) -> bytes:
    """The report as JSON, UTF-8, two spaces of indentation, a line feed at the end."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"


def _last_seen(change: Change) -> dict[tuple[str, str], int]:
    """The MTU of each node's interfaces, as the last look saw it that reached the node."""
    return {
        (node, interface): mtu
        for line in change.lines
        if isinstance(line.event, Verified)
        for node, mtus in line.event.look.mtus.items()
        for interface, mtu in mtus.items()
    }


def _layers(change: Change) -> Iterator[ReportedLayer]:
    found = _last_seen(change)
    for layer in change.opened.layers:
        seen = found.get((layer.node, layer.interface))
        yield ReportedLayer(
            node=layer.node,
            interface=layer.interface,
            role=layer.role,
            before=layer.mtu_before,
            after=_NOT_LOOKED_AT if seen is None else seen,
        )


def _blocks(change: Change) -> Iterator[ReportedBlocks]:
    plan = change.opened
    known = [(db.name, db.block_bytes) for db in plan.databases if db.block_bytes is not None]
    for network in plan.networks:
        version = 6 if ":" in network.subnet else 4
        after = _seen_on(change, network.name)
        for name, block in dict.fromkeys(known) or [("", USUAL_BLOCK)]:
            yield ReportedBlocks(
                network=network.name,
                database=name,
                block_bytes=block,
                before=fragments_of(block, network.mtu_before, version),
                after=after if isinstance(after, Unknown) else fragments_of(block, after, version),
            )


def _seen_on(change: Change, network: str) -> int | Unknown:
    """The smallest MTU that was last seen of the ports of a network; of all of them, or it is not known."""
    ports = [layer for layer in change.opened.layers if layer.role == "port" and network in layer.networks]
    found = _last_seen(change)
    seen = [found.get((port.node, port.interface)) for port in ports]
    known = [mtu for mtu in seen if mtu is not None]
    return min(known) if known and len(known) == len(seen) else _NOT_LOOKED_AT


def _figures(change: Change) -> tuple[ReportedFigure, ...]:
    """Those of the baseline beside the last that were measured after it."""
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


def _comparison(change: Change) -> tuple[str, ...]:
    """What the gate of that name said when it was looked at last."""
    for line in reversed(change.lines):
        if isinstance(line.event, Verified):
            said = [r.sentence or r.text for r in line.event.results if r.check == "comparison"]
            if said:
                return tuple(said)
    return ()


def _steps(change: Change) -> Iterator[ReportedStep]:
    begins = [line.number for line in change.lines if isinstance(line.event, RolledBack)]
    for place, (plan, marks) in enumerate((*change.behind, (change.plan, change.marks))):
        left = place < len(change.behind)
        first = begins[place - 1] if place else 0
        lines = [n for n in change.lines if n.number > first and (not left or n.number < begins[place])]
        for number, step in enumerate(plan.steps, 1):
            standing = _left_standing(step, marks) if left else change.standing(step).value
            yield _step(plan, number, step, marks.get(step.id, StepRecord()), standing, lines)


def _left_standing(step: Step, marks: dict[str, StepRecord]) -> str:
    """How a step stood when the way back was taken: there it counts for nothing which of them came next."""
    mark = marks.get(step.id, StepRecord())
    if mark.overridden is not None:
        return StepStatus.OVERRIDDEN.value
    return StepStatus.DONE.value if mark.does(step) else "left"


def _step(
    plan: Plan, number: int, step: Step, mark: StepRecord, standing: str, lines: list[JournalLine]
) -> ReportedStep:
    attested = mark.attested.event if mark.attested else None
    return ReportedStep(
        number=number,
        id=step.id,
        title=step.title,
        way_back=plan.kind == "rollback",
        standing=standing,
        looks=sum(isinstance(line.event, Verified) and line.event.step == step.id for line in lines),
        verified_at=mark.verified.at if mark.verified else "",
        passed=mark.passed,
        results=mark.results,
        attested=Said(
            step=step.id,
            at=mark.attested.at,
            who=mark.attested.who,
            by=getattr(attested, "by", ""),
            text=getattr(attested, "note", ""),
        )
        if mark.attested
        else None,
        attestation=step.attest,
    )


def _overrides(change: Change) -> Iterator[ReportedOverride]:
    """Every one that there was, also of a step that was then done again."""
    seen: dict[str, tuple[GateResult, ...]] = {}
    for line in change.lines:
        match line.event:
            case Verified(step=step, results=results):
                seen[step] = tuple(result for result in results if not result.holds)
            case Overridden(step=step, by=by, reason=reason):
                said = Said(step=step, at=line.at, who=line.who, by=by, text=reason)
                yield ReportedOverride(said=said, not_held=seen.get(step, ()))


def _surprises(change: Change) -> Iterator[ReportedSurprise]:
    for line in change.lines:
        match line.event:
            case Surprised(sentence=sentence, dangerous=dangerous):
                yield ReportedSurprise(at=line.at, sentence=sentence, dangerous=dangerous)
            case Reopened():
                yield ReportedSurprise(at=line.at, sentence=sentence_of(line.event), dangerous=False)
