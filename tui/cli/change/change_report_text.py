"""The report of a change as text that is also Markdown, to read or to paste into a ticket."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from checks.change.change_events import GateResult
from checks.change.change_report import ChangeReport, ReportedOverride, ReportedStep
from checks.change.change_text import GATE_SIGNS, STEP_SIGNS, gate_word, minute
from checks.model.facts import Unknown
from checks.model.finding import Status
from tui.text.gate_lines import texts_by_check
from tui.text.line import Line, command_lines, hanging, sanitize_line

_SIGNS = {str(standing): sign for standing, sign in STEP_SIGNS.items()} | {"left": "·"}


def report_lines(report: ChangeReport, width: int) -> Iterator[Line]:
    """The lines of the whole report, wrapped at `width` except for tables."""
    yield [
        (
            f"# Change {sanitize_line(report.id)} of {sanitize_line(report.cluster)}: {sanitize_line(report.headline)}",
            "title",
        )
    ]
    yield []
    yield from _facts(report, width)
    yield from _section("Before and after")
    yield from _before_and_after(report, width)
    yield from _section("Overrides")
    yield from _overrides(report.overrides, width)
    yield from _section("Accepted at the start")
    yield from _points(
        (f"{a.code} {a.title}".strip() + f": {a.reason}" for a in report.accepted),
        width,
        none="Nothing: the cluster had no problem when the change was opened.",
    )
    yield from _section("Unexpected changes")
    yield from _points(
        (f"{minute(s.at)} {'DANGER: ' if s.dangerous else ''}{s.sentence}" for s in report.surprises),
        width,
        none="racwire found no change that the steps did not make.",
    )
    yield from _section("Steps")
    yield from _steps(report.steps, width)
    yield from _section("Notes")
    yield from _points((f"{minute(n.at)} {n.who}, at {n.step}: {n.text}" for n in report.notes), width, none="None.")
    yield from _section("Journal")
    yield from _journal(report, width)
    yield from _section("Log")
    for line in report.log:
        yield from hanging(
            [(f"{line.number:>3}. {minute(line.at)} {sanitize_line(line.who)}  ", "")], line.sentence, width
        )


def _facts(report: ChangeReport, width: int) -> Iterator[Line]:
    closed = f", by {report.closed_by}, {minute(report.closed_at)}" if report.closed_at else ""
    yield from _fact("Outcome", f"{report.outcome}{closed}", width)
    yield from _fact("Reason", report.reason, width)
    yield from _fact("Opened", f"{minute(report.opened_at)}, {report.opened_by}", width)
    yield from _fact("Nodes", ", ".join(report.nodes), width)
    yield from _fact("racwire", ", ".join(report.versions), width)
    for remark in report.remarks:
        yield from hanging([("- ", "")], remark, width)


def _fact(label: str, text: str, width: int) -> Iterator[Line]:
    if text:
        yield from hanging([(f"- {label + ':':<9} ", "")], text, width)


def _before_and_after(report: ChangeReport, width: int) -> Iterator[Line]:
    yield from _table(
        ("MTU", "before", "after"),
        [
            (f"{a.node} {a.interface}" + (f" ({a.role})" if a.role != "port" else ""), str(a.before), _known(a.after))
            for a in report.layers
        ],
    )
    yield from _table(
        ("Packets for a block", "before", "after"),
        [
            (
                f"{b.block_bytes // 1024} KB on {b.network}" + (f" ({b.database})" if b.database else ", assumed"),
                str(b.before),
                _known(b.after),
            )
            for b in report.blocks
        ],
    )
    yield from _table(
        ("Measured", "before", "after"), [(f.name, f.before or "-", f.after or "-") for f in report.figures]
    )
    unknown = dict.fromkeys(
        known.reason for known in (*(a.after for a in report.layers), *(b.after for b in report.blocks))
        if isinstance(known, Unknown)
    )  # fmt: skip
    for reason in unknown:
        yield from hanging([("", "")], f"?: {reason}.", width)
    if report.comparison:
        yield [("Comparison of the two recordings:", "")]
        for sentence in report.comparison:
            yield from hanging([("- ", "")], sentence, width)


def _journal(report: ChangeReport, width: int) -> Iterator[Line]:
    if report.journal is not None:
        yield [(f"- {report.journal.lines} lines; each holds the SHA-256 of the line before. That of the last:", "")]
        yield [(f"  {report.journal.sha256}", "")]
    for remark in report.journal_remarks:
        yield from hanging([("- ", "warn")], remark, width, "warn")
    if report.store_hash:
        text = "racwire does not write on other nodes. To keep the hash there, so that a missing end is noticed:"
        yield from hanging([("- ", "")], text, width)
        for command in report.store_hash:
            yield from command_lines(command, 4, width)


def _known(value: int | Unknown) -> str:
    return "?" if isinstance(value, Unknown) else str(value)


def _overrides(overrides: Sequence[ReportedOverride], width: int) -> Iterator[Line]:
    if not overrides:
        yield [("None: no gate was overridden.", "")]
    for override in overrides:
        decision = override.said
        text = f"{decision.step}, by {decision.by} ({decision.who}, {minute(decision.at)}): {decision.text}"
        yield from hanging([("- ", "change")], text, width, "change")
        if override.verified_at and override.not_held:
            yield [(f"    What did not pass, checked {minute(override.verified_at)}:", "")]
        for result in override.not_held:
            subject = " ".join(part for part in (result.node, result.text) if part)
            text = f"{GATE_SIGNS[result.status]} {result.check} {subject}"
            yield from hanging([("    - ", "")], f"{text}: {result.sentence}" if result.sentence else text, width)


def _steps(steps: Iterable[ReportedStep], width: int) -> Iterator[Line]:
    in_rollback = False
    for step in steps:
        if step.way_back and not in_rollback:
            in_rollback = True
            yield []
            yield [("Rollback:", "")]
        sign = _SIGNS.get(step.standing, "·")
        yield [(f"- {sign} {step.number}. {sanitize_line(step.title)} ({step.standing})", "title")]
        if step.verified_at:
            checks = "" if step.looks == 1 else f", checked {step.looks} times"
            word = gate_word(step.results, step.passed)
            yield from hanging([("    - ", "")], f"gate {word}, {minute(step.verified_at)}{checks}", width)
            yield from _results(step.results, width)
        for by in step.attested_for or filter(None, (step.attested,)):
            note = f": {by.text}" if by.text else ""
            host = f" for {by.host}" if by.host else ""
            yield from hanging([("    - ", "")], f"attested{host} by {by.by} ({by.who}, {minute(by.at)}){note}", width)
        if step.attested is not None:
            yield from hanging([("        - ", "")], step.attestation, width, "faint")


def _results(results: Sequence[GateResult], width: int) -> Iterator[Line]:
    """The results of a gate: failed ones first."""
    for status in sorted(Status, key=lambda s: s.gravity):
        for check, said in texts_by_check(result for result in results if result.status is status).items():
            yield from hanging([(f"        - {GATE_SIGNS[status]} ", "")], f"{check}: {', '.join(said)}", width)


def _section(title: str) -> Iterator[Line]:
    yield []
    yield [(f"## {title}", "title")]
    yield []


def _points(texts: Iterable[str], width: int, *, none: str) -> Iterator[Line]:
    has_texts = False
    for text in texts:
        has_texts = True
        yield from hanging([("- ", "")], text, width)
    if not has_texts:
        yield [(none, "")]


def _table(head: tuple[str, str, str], rows: Sequence[tuple[str, str, str]]) -> Iterator[Line]:
    if not rows:
        return
    grid = [tuple(sanitize_line(cell).replace("|", "/") for cell in row) for row in (head, *rows)]
    wide = [max(len(row[column]) for row in grid) for column in range(3)]
    for number, row in enumerate(grid):
        yield [(f"| {row[0]:<{wide[0]}} | {row[1]:>{wide[1]}} | {row[2]:>{wide[2]}} |", "")]
        if not number:
            yield [(f"|{'-' * (wide[0] + 2)}|{'-' * (wide[1] + 1)}:|{'-' * (wide[2] + 1)}:|", "")]
    yield []
