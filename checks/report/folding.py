"""Groups findings that are UNKNOWN or SKIPPED for the same reason, so that a report prints the reason once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from checks.model.finding import Finding, Remedy, Status
from checks.run.engine_findings import NOT_GATHERED

_FIX = "Fix the cause named above"


def grouped_by_reason(findings: Iterable[Finding]) -> Iterator[tuple[Finding, tuple[Finding, ...]]]:
    """Yield each finding in the order of `findings`, with the others that are UNKNOWN for exactly the same reason.

    The finding has the next steps of all of them. Where facts could not be gathered at all, one finding stands for all
    checks that need these facts.
    """
    all_findings = list(findings)
    by_text = {f.seen[0]: _reason(f) for f in all_findings if _is_unknown(f) and len(f.seen) == 1}
    alike: dict[object, list[Finding]] = {}
    for finding in all_findings:
        reason = _reason(finding)
        if finding.code == NOT_GATHERED.code and (same := by_text.get(_whole_reason(finding))) in alike:
            reason = same
        alike.setdefault(reason, []).append(finding)
    for first, *others in alike.values():
        if others and first.code == NOT_GATHERED.code:
            names = ", ".join(dict.fromkeys(finding.check for finding in (first, *others)))
            title = f"{1 + len(others)} checks{first.title.removeprefix(first.check)}"
            yield msgspec.structs.replace(first, check=names, title=title), ()
        elif others:
            yield msgspec.structs.replace(first, next=_next_of_all((first, *others))), tuple(others)
        else:
            yield first, ()


def grouped_skipped(findings: Iterable[Finding]) -> Iterator[tuple[Finding, tuple[str, ...]]]:
    """Yield one SKIPPED finding for each reason, with the names of the checks that were skipped for that reason."""
    alike: dict[object, list[Finding]] = {}
    for finding in findings:
        if finding.status is Status.SKIPPED:
            alike.setdefault((finding.code, finding.title), []).append(finding)
    for same in alike.values():
        yield same[0], tuple(dict.fromkeys(finding.check for finding in same))


def _reason(finding: Finding) -> object:
    """A key that two findings share if they are UNKNOWN for the same reason; unique for any other finding."""
    if finding.code == NOT_GATHERED.code:
        return finding.title.removeprefix(finding.check), finding.seen, finding.waived
    if _is_unknown(finding):
        return finding.seen, finding.nodes, finding.waived
    return id(finding)


def _is_unknown(finding: Finding) -> bool:
    """Whether the finding is UNKNOWN for a reason that other findings can have."""
    has_reason = bool(finding.seen) and finding.table is None
    return finding.status is Status.UNKNOWN and finding.code != NOT_GATHERED.code and has_reason


def _whole_reason(finding: Finding) -> str:
    """The reason of a finding whose facts could not be gathered, from its title and from what was seen."""
    return " ".join((finding.title.removeprefix(f"{finding.check} could not tell: "), *finding.seen))


def _next_of_all(findings: Sequence[Finding]) -> tuple[Remedy, ...]:
    """The next steps of findings with one reason, each once; one command runs all their checks again."""
    steps: dict[Remedy, None] = {}
    is_again = False
    for finding in findings:
        for step in finding.next:
            if step.commands == (f"racwire check {finding.check}",) or step.text.startswith(_FIX):
                is_again = True
            else:
                steps[step] = None
    if is_again:
        checks = dict.fromkeys(finding.check for finding in findings)
        steps[Remedy(f"{_FIX}, then run these checks again.", (f"racwire check {' '.join(checks)}",))] = None
    return tuple(steps)
