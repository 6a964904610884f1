"""The report of a change for the change board, as data that each format writes: the result first, internals last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.change.board.change_report import ChangeReport, ReportedStep, Said
from checks.change.progress.change_events import GateResult
from checks.change.progress.change_text import GATE_SIGNS, STEP_SIGNS, gate_word, texts_by_check
from checks.change.progress.outages import ReportedOutage
from checks.model.facts import Unknown
from checks.model.finding import Status
from checks.model.wording import counted, listed
from checks.report.age import time_text

_SIGNS = {str(standing): sign for standing, sign in STEP_SIGNS.items()} | {"left": "·"}
_AGREE = "agree"
"""The id of the step whose attestation is the agreement."""


@dataclass(frozen=True)
class Facts:
    """Labels with their texts."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Point:
    """An entry of a list, with entries below it."""

    text: str
    tone: str = ""
    """`danger`, `warn`, or empty."""
    below: tuple[str, ...] = ()


@dataclass(frozen=True)
class Points:
    """A list."""

    points: tuple[Point, ...]
    is_numbered: bool = False


@dataclass(frozen=True)
class Figures:
    """A table of names with a value before and after."""

    columns: tuple[str, str, str]
    rows: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class ToCopy:
    """Lines to copy, unchanged."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class DoneStep:
    """A step, with who did what and when, and what was seen."""

    number: int
    title: str
    standing: str
    """`done`, `overridden`, `current`, `ahead`, `left`."""
    sign: str
    who: tuple[str, ...]
    seen: tuple[str, ...]


@dataclass(frozen=True)
class DoneSteps:
    """The steps of a plan."""

    steps: tuple[DoneStep, ...]


@dataclass(frozen=True)
class Signatures:
    """Empty lines to sign on, each for a role."""

    roles: tuple[str, ...]


Block = Facts | Points | Figures | Paragraph | ToCopy | DoneSteps | Signatures


@dataclass(frozen=True)
class PageSection:
    """A heading with what is below it."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class BoardPage:
    """The whole report. A section without blocks is left out."""

    title: str
    sections: tuple[PageSection, ...]


def page_of(report: ChangeReport) -> BoardPage:
    """Return the report in sections."""
    there = tuple(step for step in report.steps if not step.way_back)
    back = tuple(step for step in report.steps if step.way_back)
    sections = (
        PageSection("Result", (Facts(tuple(_result(report))),)),
        PageSection("Overrides", tuple(_points(_overrides(report)))),
        PageSection("DANGERs and other events", tuple(_points(_surprises(report)))),
        PageSection("Accepted at the start", tuple(_points(_accepted(report)))),
        PageSection("Before and after", tuple(_before_and_after(report))),
        PageSection("Steps", (DoneSteps(tuple(map(_done, there))),)),
        PageSection("Rollback", (DoneSteps(tuple(map(_done, back))),) if back else ()),
        PageSection("Notes", tuple(_points(_notes(report)))),
        PageSection("Signatures", (Signatures(tuple(_roles(report))),)),
        PageSection("Remarks of the plan", tuple(_points(map(Point, report.remarks)))),
        PageSection("Journal", tuple(_journal(report))),
        PageSection("Log", tuple(_points(_log(report), is_numbered=True))),
    )
    return BoardPage(
        f"{report.noun.capitalize()} {report.id} of {report.cluster}: {report.headline}",
        tuple(each for each in sections if each.blocks),
    )


def _points(points: Iterator[Point] | map[Point], *, is_numbered: bool = False) -> Iterator[Points]:
    if found := tuple(points):
        yield Points(found, is_numbered)


def _by(said: Said) -> str:
    """Return the person with the login and the time: `Ann Lee (oracle@rac1), 2026-11-20 18:02:31 +01:00`."""
    return f"{said.by} ({said.who}), {time_text(said.at)}"


def _with(text: str) -> str:
    return f": {text}" if text else ""


# --- the result -------------------------------------------------------------------------------------------------------


def _result(report: ChangeReport) -> Iterator[tuple[str, str]]:
    yield "Result", _outcome(report)
    if report.made_for:
        yield f"Reason of the {report.noun}", report.made_for
    if report.reason:
        yield f"{report.outcome[:1].upper()}{report.outcome[1:]} because", report.reason
    yield "Nodes", listed(report.nodes)
    yield "Opened", f"{time_text(report.opened_at)}, by {report.opened_by}"
    if planned := report.planned_outage:
        estimate = f"{planned.least} to {planned.most} minutes"
        yield "Planned outage", f"{estimate}, as estimated for the steps {planned.depends_on} of the plan."
    for outage in report.outages:
        yield "Outage", _outage(report, outage)
    if not report.outages and report.noun == "change":
        yield "Outage", "No verification saw every node or every database stopped."
    yield from (("Agreement", text) for text in _agreement(report))
    overridden = list(dict.fromkeys(override.said.step for override in report.overrides))
    yield "Overrides", f"{len(report.overrides)}, at {listed(overridden)}." if overridden else "None."
    dangers = sum(surprise.dangerous for surprise in report.surprises)
    yield "DANGERs", f"{counted(dangers, 'DANGER')}, listed below." if dangers else "None was reported."
    others = len(report.surprises) - dangers
    yield "Other events", f"{others}, listed below." if others else "None was reported."


def _outcome(report: ChangeReport) -> str:
    if report.closed_at:
        outcome = f"{report.outcome[:1].upper()}{report.outcome[1:]}"
        return f"{outcome} by {report.closed_by}, {time_text(report.closed_at)}."
    way_back = any(step.way_back for step in report.steps)
    plan = [step for step in report.steps if step.way_back is way_back]
    current = next((step for step in plan if step.standing == "current"), None)
    kind = "of the rollback " if way_back else ""
    where = f"at step {current.number} of {len(plan)} {kind}({current.title})" if current else "with every step done"
    return f"Still open, {where}."


def _outage(report: ChangeReport, outage: ReportedOutage) -> str:
    start, end = time_text(outage.stopped_at), time_text(outage.running_at)
    with_databases = any(result.check == "instances-up" for step in report.steps for result in step.results)
    what, running = ("database", "every instance") if with_databases else ("node", "everything")
    until = (
        f"to {end}, when {running} was seen running again"
        if end
        else f"on; {running} was seen running again in no verification yet"
    )
    at_once = outage.stopped_at == outage.all_stopped_at
    began = f"every {what}" if at_once else "the first node or instance"
    later = "" if at_once else f" Every {what} was seen stopped at {time_text(outage.all_stopped_at)}."
    least, most = outage.least_minutes, outage.most_minutes
    if least is None:
        lasted = ""
    elif most is None:
        lasted = f" It lasted at least {counted(least, 'minute')}."
    else:
        lasted = f" It lasted between {least} and {counted(most, 'minute')}."
    before = f" (all last seen running {time_text(outage.running_until)})" if outage.running_until else ""
    return f"From {start}, when {began} was seen stopped{before}, {until}.{later}{lasted}"


def _agreement(report: ChangeReport) -> Iterator[str]:
    for step in report.steps:
        if step.id == _AGREE and step.attested:
            said = step.attested
            yield (
                f"{_by(said)}{_with(said.text)}. {step.attestation}"
                if said.text
                else (f"{_by(said)}. {step.attestation}")
            )
        elif step.id == _AGREE:
            yield "Not attested."


def _overrides(report: ChangeReport) -> Iterator[Point]:
    for override in report.overrides:
        said = override.said
        yield Point(
            f"{said.step}, by {_by(said)}{_with(said.text)}",
            "warn",
            (
                *((f"What did not pass, checked {time_text(override.verified_at)}:",) if override.verified_at else ()),
                *map(_not_held, override.not_held),
            ),
        )


def _not_held(result: GateResult) -> str:
    subject = " ".join(part for part in (result.node, result.text) if part)
    return f"{GATE_SIGNS[result.status]} {result.check} {subject}{_with(result.sentence)}"


def _surprises(report: ChangeReport) -> Iterator[Point]:
    for surprise in sorted(report.surprises, key=lambda each: not each.dangerous):
        danger = "DANGER: " if surprise.dangerous else ""
        yield Point(f"{time_text(surprise.at)}: {danger}{surprise.sentence}", "danger" if danger else "")


def _accepted(report: ChangeReport) -> Iterator[Point]:
    for one in report.accepted:
        yield Point(f"{one.code} {one.title}".strip() + _with(one.reason), "warn")


# --- before and after -------------------------------------------------------------------------------------------------


def _before_and_after(report: ChangeReport) -> Iterator[Block]:
    if report.comparison:
        yield Paragraph("Comparison of the two recordings, before and after:")
        yield Points(tuple(map(Point, report.comparison)))
    if report.predicted:
        loads = {one.at_load for one in report.predicted if one.at_load}
        yield Paragraph(
            "Predicted from the recording before the change, for the load of that time, and measured after the change"
            + (f" at {listed(sorted(loads))} received before." if loads else ".")
        )
        rows = tuple((one.name, one.predicted, one.measured) for one in report.predicted)
        yield Figures(("Prediction", "predicted", "measured"), rows)
    layers = tuple(
        (f"{a.node} {a.interface}" + (f" ({a.role})" if a.role != "port" else ""), str(a.before), _known(a.after))
        for a in report.layers
    )
    blocks = tuple(
        (
            f"{b.block_bytes // 1024} KB on {b.network}" + (f" ({b.database})" if b.database else ", assumed"),
            str(b.before),
            _known(b.after),
        )
        for b in report.blocks
    )
    values = tuple((f"{v.node} {v.key}", v.before, _known(v.after)) for v in report.values)
    if values and all(row[1] == row[2] for row in (*layers, *blocks)):
        layers, blocks = (), ()  # a change of settings leaves the MTU as it is
    figures = tuple((f.name, f.before or "-", f.after or "-") for f in report.figures)
    registry = tuple(_registry(report))
    for title, rows in (
        ("Networks in oifcfg", registry),
        ("Kernel setting", values),
        ("Measured", figures),
        ("MTU", layers),
        ("Packets for a block", blocks),
    ):
        if rows:
            yield Figures((title, "before", "after"), rows)
    after = (*(v.after for v in report.values), *(a.after for a in report.layers), *(b.after for b in report.blocks))
    unread = dict.fromkeys(known.reason for known in after if isinstance(known, Unknown))
    yield from (Paragraph(f"?: {reason}.") for reason in unread)


def _registry(report: ChangeReport) -> Iterator[tuple[str, str, str]]:
    """Yield the lines of oifcfg, with whether each was there before and after."""
    known = report.registry
    if known is None:
        return
    for line in sorted({*known.before, *known.after}):
        before, after = ("there" if line in lines else "-" for lines in (known.before, known.after))
        yield " ".join(line.split()), before, after


def _known(value: int | str | Unknown) -> str:
    return "?" if isinstance(value, Unknown) else str(value)


# --- the steps --------------------------------------------------------------------------------------------------------


def _done(step: ReportedStep) -> DoneStep:
    return DoneStep(
        number=step.number,
        title=step.title,
        standing=step.standing,
        sign=_SIGNS.get(step.standing, "·"),
        who=tuple(_who(step)),
        seen=tuple(_seen(step.results)),
    )


def _who(step: ReportedStep) -> Iterator[str]:
    for start in step.started:
        yield f"started {time_text(start.at)}, by {start.who}; read right before: {start.text or 'no node'}"
    if step.verified_at:
        checks = "" if step.looks == 1 else f", checked {step.looks} times"
        by = f", by {step.verified_by}" if step.verified_by else ""
        yield f"gate {gate_word(step.results, step.passed)}, {time_text(step.verified_at)}{by}{checks}"
    if step.overridden:
        yield f"gate overridden by {_by(step.overridden)}{_with(step.overridden.text)}"
    for said in step.attested_for or filter(None, (step.attested,)):
        yield f"attested{f' for {said.host}' if said.host else ''} by {_by(said)}{_with(said.text)}"
    if step.attested is not None:
        yield f"“{step.attestation}”"


def _seen(results: Sequence[GateResult]) -> Iterator[str]:
    """Yield the results of a gate by check: those that did not pass first."""
    for status in sorted(Status, key=lambda s: s.gravity):
        for check, said in texts_by_check(result for result in results if result.status is status).items():
            yield f"{GATE_SIGNS[status]} {check}: {', '.join(said)}"


def _notes(report: ChangeReport) -> Iterator[Point]:
    for note in report.notes:
        yield Point(f"{time_text(note.at)}, {note.who}, at {note.step}: {note.text}")


# --- the end ----------------------------------------------------------------------------------------------------------


def _roles(report: ChangeReport) -> Iterator[str]:
    """Yield who signs: those whose agreement the step `agree` asks for."""
    yield from ("Change manager", "DBA", "Owner of the applications", "Network team")
    if any(step.id == "hypervisor" for step in report.steps):
        yield "Operators of the hypervisor"


def _journal(report: ChangeReport) -> Iterator[Block]:
    yield Paragraph(f"Written by racwire {', '.join(report.versions)}.")
    if report.journal is not None:
        yield Paragraph(f"{report.journal.lines} lines; each holds the SHA-256 of the line before. That of the last:")
        yield ToCopy((report.journal.sha256,))
    yield from _points(Point(remark, "warn") for remark in report.journal_remarks)
    if report.store_hash:
        yield Paragraph(
            "racwire does not write on other nodes. To keep the hash there, so that a missing end is noticed:"
        )
        yield ToCopy(report.store_hash)


def _log(report: ChangeReport) -> Iterator[Point]:
    for line in report.log:
        yield Point(f"{time_text(line.at)} {line.who}: {line.sentence}")
