"""Next steps that fit a run: it has not just executed them, and they look on the node where packets vanished."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from checks.model.finding import FAULTS, Finding, NextStep, Status
from checks.model.observation import OF_RACWIRE, Fate, Observation
from checks.model.report import Report
from checks.model.wording import listed

_VANISHED = "IC-FILTER-002"
_CHECK = ("racwire", "check")
_OPTIONS: Mapping[str, tuple[str, str]] = {
    "--interval": ("sampling", "interval_s"),
    "--source-ports": ("probe", "source_ports"),
}
"""Options of which a smaller value was perhaps used, with the section and the name of their setting."""


def with_fitting_steps(report: Report) -> Report:
    """Return the report with the next steps that are left to take."""
    vanished = [f for f in report.findings if f.code == _VANISHED and f.status in FAULTS]
    run = _Run(report)
    diagnosis = report.diagnosis
    return replace(
        report,
        findings=tuple(_fitting(finding, vanished, run) for finding in report.findings),
        diagnosis=replace(
            diagnosis,
            hypotheses=tuple(replace(h, next=run.left(h.next)) if h.next else h for h in diagnosis.hypotheses),
        ),
    )


def _fitting(finding: Finding, vanished: Iterable[Finding], run: _Run) -> Finding:
    steps = next((where.next for where in vanished if _vanishes_at(finding, where)), finding.next)
    left = run.left(steps, of_check=finding.check)
    if steps and not left:
        left = (NextStep(f"Read what {listed(run.checks_in(steps))} found in this run."),)
    return finding if left == finding.next else replace(finding, next=left)


def _vanishes_at(finding: Finding, at: Finding) -> bool:
    """Return whether all that a finding lost on the way to some nodes can be among the packets that arrived at these
    nodes and vanished there."""
    counted = {o.nodes: o.number for o in at.observed if o.fate is Fate.COUNTED}
    lost = [o for o in finding.observed if o.is_loss]
    if finding.code == at.code or not lost or not all(o.is_total and o.what in OF_RACWIRE for o in lost):
        return False
    ends = [next((end for end in _receivers(o) if end in counted), None) for o in lost]
    return None not in ends and all(
        sum(o.number for o, there in zip(lost, ends, strict=True) if there == end) <= number
        for end, number in counted.items()
    )


def _receivers(one: Observation) -> Iterator[tuple[str, ...]]:
    yield from (leg.receivers for leg in one.legs if leg.receivers)


class _Run:
    """What a run executed."""

    def __init__(self, report: Report) -> None:
        self._settings: Mapping[str, Any] = report.settings
        doubtful = {f.check for f in report.findings if f.status in (Status.UNKNOWN, Status.SKIPPED)}
        self._ran = {f.check for f in report.findings} - doubtful

    def left(self, steps: Iterable[NextStep], *, of_check: str = "") -> tuple[NextStep, ...]:
        """Return the steps without what was executed. A check can ask to be run again."""
        return tuple(kept for step in steps if (kept := self._left_of(step, of_check)) is not None)

    def _left_of(self, step: NextStep, of_check: str) -> NextStep | None:
        commands = tuple(c for c in step.commands if not self._is_executed(c, of_check))
        if commands == step.commands:
            return step
        return replace(step, commands=commands) if commands else None

    def _is_executed(self, command: str, of_check: str) -> bool:
        checks, values = _parts(command)
        if not (checks or values) or of_check in checks or not self._ran.issuperset(checks):
            return False
        return all(name in _OPTIONS and self._value(name) >= value for name, value in values.items())

    def _value(self, option: str) -> float:
        section, name = _OPTIONS[option]
        value = self._settings.get(section, {}).get(name, 0)
        return float(value) if isinstance(value, int | float) else 0.0

    @staticmethod
    def checks_in(steps: Iterable[NextStep]) -> tuple[str, ...]:
        """Return the checks that steps run."""
        return tuple(dict.fromkeys(check for step in steps for c in step.commands for check in _parts(c)[0]))


def _parts(command: str) -> tuple[tuple[str, ...], dict[str, float]]:
    """Return the checks and the options with a number of a command; nothing of any other command."""
    words = command.split()
    if tuple(words[:2]) != _CHECK:
        return (), {}
    names = [word for word in words[2:] if not word.startswith("--")]
    options = [word for word in words[2:] if word.startswith("--")]
    numbers = [name for name in names if name.isdigit()]
    if len(numbers) != len(options):
        return (), {}
    return tuple(n for n in names if not n.isdigit()), {o: float(n) for o, n in zip(options, numbers, strict=True)}
