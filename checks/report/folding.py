"""Groups findings that are UNKNOWN or SKIPPED for the same reason, so that a report prints the reason once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from checks.model.finding import Finding, NextStep, Status, fix_first
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


def is_rerun(step: NextStep, findings: Iterable[Finding]) -> bool:
    """Return whether a step only runs the checks of some findings again after a repair."""
    checks = dict.fromkeys(finding.check for finding in findings)
    return step in (fix_first(), fix_first(*checks), *map(fix_first, checks))


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
    """The next steps of findings with one reason, each once; one command runs all their checks again."""
    steps: dict[NextStep, None] = {}
    is_again = False
    for finding in findings:
        for step in finding.next:
            if step.commands == (f"racwire check {finding.check}",) or is_rerun(step, findings):
                is_again = True
            elif not any(_is_part_of(step, other) for other in steps):
                steps = {other: None for other in steps if not _is_part_of(other, step)} | {step: None}
    if is_again:
        steps[fix_first(*dict.fromkeys(finding.check for finding in findings))] = None
    return tuple(steps)


def _is_part_of(step: NextStep, other: NextStep) -> bool:
    """Whether the other step has the same commands at the same place, and a text that starts with this one's text."""
    is_same = (step.commands, step.where) == (other.commands, other.where)
    return bool(step.commands) and is_same and other.text.startswith(step.text)


def _of_several(number: int, finding: Finding) -> str:
    from checks.run.engine_findings import could_not_tell

    return could_not_tell(f"{number} checks", finding.lacks[0]) if finding.lacks else finding.title


def _is_not_gathered(finding: Finding) -> bool:
    # The console has no finding before its first screen, which the engine's modules would delay.
    from checks.run.engine_findings import NOT_GATHERED

    return finding.code == NOT_GATHERED.code
