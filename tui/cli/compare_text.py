"""A comparison as text, in the style of benchstat: before, after, change, p-value and verdict of each metric."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TextIO

from checks.traffic.compare.comparison import (
    Compared,
    Comparison,
    ComparisonVerdict,
    EnvironmentDifference,
    Pair,
    RunFacts,
    Side,
    folded,
)
from checks.traffic.compare.comparison_text import change_of, number
from checks.traffic.compare.metrics import CPU, DATABASE, KERNEL, LATENCY, LOAD, NETWORK
from tui.cli.output import columns_of, render
from tui.text.line import Line, hanging, sanitize_line, wrapped

_GROUPS = (NETWORK, DATABASE, LATENCY, CPU, KERNEL, LOAD)
_ROLES = {ComparisonVerdict.WORSE: "fail", ComparisonVerdict.BETTER: "pass", ComparisonVerdict.DIFFERS: "info"}
_MOVED = "unknown"
_SHORT = {ComparisonVerdict.ENVIRONMENT_SHIFTED: "env. shifted", ComparisonVerdict.TOO_FEW_SAMPLES: "too few"}
_NARROWEST, _WIDE, _WIDEST = 80, 118, 120
_PERCENT, _UNPARTED = re.compile(r"(?<=\d) %"), "\ue000%"
_MOST_DIFFERENCES = 12
_MOST_CHARACTERS = 30
"""Maximum characters of the value of a fact."""


def comparison_text(comparison: Comparison, stream: TextIO, *, every: bool = False) -> str:
    """The whole comparison for that stream: coloured for a terminal (unless NO_COLOR), plain for a pipe or a file.

    Metrics with the same verdict as the total that contains them are left out, unless `every` is true.
    """
    columns = columns_of(stream, narrowest=_NARROWEST, widest=_WIDEST)
    return render(lines_of(comparison, columns, every=every), stream)


def lines_of(comparison: Comparison, width: int, *, every: bool = False) -> Iterator[Line]:
    """The lines of the comparison, for `width` columns."""
    for number_of, pair in enumerate(comparison.pairs):
        if number_of:
            yield []
        yield from _head(pair, width)
        yield from _tables(pair, width, every)
    if comparison.pairs:
        yield []
    for sentence in comparison.shifted:
        yield from _paragraph("Shifted  ", sentence, width, _MOVED)
    for sentence in comparison.summary:
        yield from _paragraph("", sentence, width)


def _head(pair: Pair, width: int) -> Iterator[Line]:
    """The compared runs, other differences between them, and doubts about the comparison."""
    runs = [("BEFORE", pair.before), ("AFTER", pair.after), *([("SAME", pair.same)] if pair.same else [])]
    for word, run in runs:
        yield from _paragraph(f"{word:<9}", _named(run), width, "title")
    if pair.stretch_s and pair.metrics:
        stretches = max((len(m.before.values) for m in pair.metrics), default=0)
        after = max((len(m.after.values) for m in pair.metrics), default=0)
        yield from _paragraph(
            "Values   ", f"medians of {stretches} and {after} stretches of {pair.stretch_s:g} s", width
        )
    for difference in _merged([d for d in pair.differences if d.is_change]):
        yield from _paragraph("Change   ", difference, width)
    others = _merged([d for d in pair.differences if not d.is_change])
    for label, difference in zip(["Differs  ", *["         "] * len(others)], others[:_MOST_DIFFERENCES], strict=False):
        yield from _paragraph(label, difference, width, "warn")
    if len(others) > _MOST_DIFFERENCES:
        yield from _paragraph("         ", f"and {len(others) - _MOST_DIFFERENCES} more (--format json)", width)
    for label, warning in zip(["Doubt    ", *["         "] * len(pair.warnings)], pair.warnings, strict=False):
        yield from _paragraph(label, warning, width, "warn")


def _named(run: RunFacts) -> str:
    lasted = "" if run.seconds is None else f"{run.seconds:,.0f} s"
    when = run.begun_at[:19].replace("T", " ")
    return ", ".join(sanitize_line(part) for part in (run.name, run.kind, when, lasted) if part)


def _merged(differences: Sequence[EnvironmentDifference]) -> list[str]:
    """One line for facts that differ in the same way on several nodes."""
    of_values: dict[tuple[str, str], list[str]] = {}
    for difference in differences:
        of_values.setdefault((difference.before, difference.after), []).append(difference.name)
    return [f"{', '.join(names)}: {_cut(before)} → {_cut(after)}" for (before, after), names in of_values.items()]


def _cut(value: str) -> str:
    value = sanitize_line(value)
    return value if len(value) <= _MOST_CHARACTERS else f"{value[: _MOST_CHARACTERS - 1]}…"


def _tables(pair: Pair, width: int, every: bool) -> Iterator[Line]:
    displayed = list(pair.metrics) if every else folded(pair.metrics)
    still = [] if every else [m for m in displayed if m.is_still and m.before.centre == 0]
    displayed = [m for m in displayed if m not in still]
    columns = _Columns(width)
    controls = [m for m in displayed if m.is_control]
    groups = [
        *(("Controls: must not move", controls),),
        *((name, list(found)) for name, found in groupby(_in_groups(displayed), key=lambda m: m.group)),
    ]
    for title, metrics in groups:
        if metrics:
            yield []
            yield columns.heading(sanitize_line(title))
            for metric in sorted(metrics, key=_by_verdict):
                yield from columns.rows(metric)
    if still:
        yield []
        names = ", ".join(dict.fromkeys(m.name for m in still))
        yield from _paragraph("0 in both: ", names, width)


def _in_groups(displayed: Sequence[Compared]) -> list[Compared]:
    """The metrics without controls, in the order of their groups; groups of other tools come last."""
    others = sorted({m.group for m in displayed} - {*_GROUPS})
    order = [*_GROUPS, *others]
    return sorted((m for m in displayed if not m.is_control), key=lambda m: order.index(m.group))


def _by_verdict(metric: Compared) -> tuple[int, float]:
    """Sort key: by verdict, then the largest change first."""
    percent = metric.change_percent
    size = abs(percent) if percent is not None else (float("inf") if metric.change else 0.0)
    return list(ComparisonVerdict).index(metric.verdict), -size


class _Columns:
    """The columns of a table of `width` characters."""

    def __init__(self, width: int) -> None:
        self._wide = width >= _WIDE
        self._value = 23 if self._wide else 12
        self._verdict = 19 if self._wide else 13
        self._name = width - 2 * self._value - 9 - 6 - 1 - self._verdict

    def heading(self, title: str) -> Line:
        """The heading of a table."""
        cells = f"{'before':>{self._value}}{'after':>{self._value}}{'change':>9}{'p':>6} {'verdict'}"
        if len(title) > self._name:
            title, cells = title, ""
        return [(f"{title:<{self._name}}{cells}", "title")]

    def rows(self, metric: Compared) -> Iterator[Line]:
        """The lines of a metric; a long name continues below."""
        first, *rest = wrapped(_title(metric), self._name - 1)
        figures = f"{self._value_of(metric.before):>{self._value}}{self._value_of(metric.after):>{self._value}}"
        figures += f"{change_of(metric):>9}{_p(metric.p_adjusted):>6} "
        verdict = metric.verdict if self._wide else _SHORT.get(metric.verdict, metric.verdict)
        moved = metric.is_control and metric.verdict is ComparisonVerdict.ENVIRONMENT_SHIFTED
        role = _MOVED if moved else _ROLES.get(metric.verdict, "faint")
        yield [(f"{first:<{self._name}}", ""), (figures, ""), (str(verdict), role)]
        yield from ([(f"  {more}", "")] for more in rest)

    def _value_of(self, side: Side) -> str:
        if side.low is None or side.high is None:
            return number(side.centre)
        if self._wide:
            return f"{number(side.centre)} [{number(side.low)} {number(side.high)}]"
        if not side.centre:
            return number(side.centre)
        off = max(side.high - side.centre, side.centre - side.low) / abs(side.centre)
        return f"{number(side.centre)} ±{100 * off:.0f}%" if off < 10 else number(side.centre)


def _title(metric: Compared) -> str:
    unit = f", {metric.unit}" if metric.unit else ""
    return sanitize_line(f"{metric.name}{unit}{' (mean)' if metric.is_mean else ''}")


def _p(p: float | None) -> str:
    if p is None:
        return "-"
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0") if p < 0.9995 else "1"


def _paragraph(label: str, text: str, width: int, role: str = "") -> Iterator[Line]:
    """A paragraph after its label. No line breaks between a number and its percent sign."""
    for line in hanging([(label, role)], _PERCENT.sub(_UNPARTED, sanitize_line(text)), width, role):
        yield [(part.replace(_UNPARTED, " %"), of) for part, of in line]
