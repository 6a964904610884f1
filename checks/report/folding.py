"""Groups findings that are UNKNOWN or SKIPPED for the same reason, so that a report prints the reason once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from checks.model.finding import Finding, Status
from checks.run.engine_findings import NOT_GATHERED


def grouped_by_reason(findings: Iterable[Finding]) -> Iterator[tuple[Finding, tuple[Finding, ...]]]:
    """Yield each finding in the order of `findings`, with the others that are UNKNOWN for exactly the same reason.

    Where facts could not be gathered at all, one finding stands for all checks that need these facts.
    """
    alike: dict[object, list[Finding]] = {}
    for finding in findings:
        alike.setdefault(_reason(finding), []).append(finding)
    for first, *others in alike.values():
        if others and first.code == NOT_GATHERED.code:
            names = ", ".join(dict.fromkeys(finding.check for finding in (first, *others)))
            title = f"{1 + len(others)} checks{first.title.removeprefix(first.check)}"
            yield msgspec.structs.replace(first, check=names, title=title), ()
        else:
            yield first, tuple(others)


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
    if finding.status is Status.UNKNOWN and finding.seen and finding.table is None:
        return finding.seen, finding.nodes, finding.next, finding.waived
    return id(finding)
