"""Groups findings that are UNKNOWN or SKIPPED for the same reason, so that a report prints the reason once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from checks.model.finding import Finding, NextStep, Status, check_again
from checks.model.wording import few

_NAMED = 2
"""The most checks that are named with a short reason."""


class Alike(msgspec.Struct, frozen=True):
    """A finding, with the others that are UNKNOWN for exactly the same reason."""

    finding: Finding
    others: tuple[Finding, ...]
    title: str
    """The title of the finding; where facts could not be gathered at all, with the number of checks that need them."""
    next: tuple[NextStep, ...]
    """The next steps of all of them."""

    @property
    def is_not_gathered(self) -> bool:
        """Whether each of several checks says only that the facts that it needs could not be gathered."""
        return bool(self.others) and _is_not_gathered(self.finding)

    @property
    def checks(self) -> tuple[str, ...]:
        """The checks of all of them."""
        return tuple(dict.fromkeys(finding.check for finding in (self.finding, *self.others)))

    @property
    def found_by(self) -> tuple[str, ...]:
        """The check of the finding; where facts could not be gathered at all, every check that needs them."""
        findings = (self.finding, *self.others) if self.is_not_gathered else (self.finding,)
        return tuple(dict.fromkeys(finding.check for finding in findings))

    @property
    def likewise(self) -> tuple[Finding, ...]:
        """The others that say more than that facts could not be gathered for several checks."""
        return () if self.is_not_gathered else self.others


def alone(finding: Finding) -> Alike:
    """Return a finding as a group of its own."""
    return Alike(finding, (), finding.title, finding.next)


def grouped_by_reason(findings: Iterable[Finding]) -> Iterator[Alike]:
    """Yield each finding in the order of `findings`, with the others that are UNKNOWN for exactly the same reason.

    Where facts could not be gathered at all, one finding stands for all checks that need these facts.
    """
    for first, *others in groups_by_reason(findings):
        if not others:
            yield alone(first)
        elif _is_not_gathered(first):
            yield Alike(first, tuple(others), _of_several(1 + len(others), first), first.next)
        else:
            yield Alike(first, tuple(others), first.title, _next_of_all((first, *others)))


def groups_by_reason(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Return the findings in groups that are UNKNOWN for exactly the same reason; every other finding is alone.
    The groups are in the order of their first findings."""
    all_findings = list(findings)
    of_checks = {_lacked(f): _reason(f) for f in reversed(all_findings) if f.lacks and not _is_not_gathered(f)}
    alike: dict[object, list[Finding]] = {}
    for finding in all_findings:
        is_engines = _is_not_gathered(finding) and bool(finding.lacks)
        reason = of_checks.get(_lacked(finding), _lacked(finding)) if is_engines else _reason(finding)
        alike.setdefault(reason, []).append(finding)
    # A check's own finding has more to show than that of the engine, and comes first.
    return [sorted(same, key=_is_not_gathered) for same in alike.values()]


def grouped_skipped(findings: Iterable[Finding]) -> Iterator[tuple[Finding, tuple[str, ...]]]:
    """Yield one SKIPPED finding for each reason, with the names of the checks that were skipped for that reason."""
    alike: dict[object, list[Finding]] = {}
    for finding in findings:
        if finding.status is Status.SKIPPED:
            alike.setdefault((finding.code, finding.title), []).append(finding)
    for same in alike.values():
        yield same[0], tuple(dict.fromkeys(finding.check for finding in same))


def skipped_in_short(skipped: Iterable[tuple[Finding, Sequence[str]]]) -> dict[str, int]:
    """Return `bonding (no bond)` for each short reason, with the number of checks that it stands for."""
    of_reason: dict[str, list[str]] = {}
    for finding, checks in skipped:
        of_reason.setdefault(finding.subject or finding.title.rstrip("."), []).extend(checks)
    return {f"{few(checks, _NAMED)} ({reason})": len(checks) for reason, checks in of_reason.items()}


def is_rerun(step: NextStep, *checks: str) -> bool:
    """Return whether a step runs these checks again."""
    return step.commands == check_again(*checks).commands


def _lacked(finding: Finding) -> object:
    return frozenset(fact.reason for fact in finding.lacks), finding.waived


def _reason(finding: Finding) -> object:
    """A key that two findings share if they are UNKNOWN for the same reason; unique for any other finding."""
    if finding.status is not Status.UNKNOWN or finding.table is not None:
        return id(finding)
    if finding.lacks:
        return _lacked(finding), finding.nodes
    # A check of a third party may print its reason without the fact that it lacks.
    return (finding.seen, finding.nodes, finding.waived) if finding.seen else id(finding)


def _next_of_all(findings: Sequence[Finding]) -> tuple[NextStep, ...]:
    """The next steps of findings with one reason: of those with the same commands at the same place the one that says
    most; one command runs all their checks again."""
    steps: dict[object, NextStep] = {}
    is_again = False
    for finding in findings:
        for step in finding.next:
            if is_rerun(step, finding.check):
                is_again = True
            else:
                what = (step.commands, step.where) if step.commands else step
                steps[what] = max(step, steps.get(what, step), key=lambda one: len(one.text))
    again = (check_again(*dict.fromkeys(finding.check for finding in findings)),) if is_again else ()
    return (*steps.values(), *again)


def _of_several(number: int, finding: Finding) -> str:
    from checks.run.engine_findings import could_not_tell

    return could_not_tell(f"{number} checks", finding.lacks[0]) if finding.lacks else finding.title


def _is_not_gathered(finding: Finding) -> bool:
    # The console has no finding before its first screen, which the engine's modules would delay.
    from checks.run.engine_findings import is_not_gathered

    return is_not_gathered(finding)
