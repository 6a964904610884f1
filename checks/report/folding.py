"""Findings that do not know for one and the same reason, told once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from checks.model.finding import Finding, Status
from checks.run.engine import NOT_GATHERED


def told_together(findings: Iterable[Finding]) -> Iterator[tuple[Finding, tuple[Finding, ...]]]:
    """Each finding in the order given, with those that could not tell for the very same reason.

    Where facts could not be gathered at all, one finding speaks for all checks that lack them.
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


def left_out_together(findings: Iterable[Finding]) -> Iterator[tuple[Finding, tuple[str, ...]]]:
    """The findings that are SKIPPED: each reason once, with the names of the checks that were left out for it."""
    alike: dict[object, list[Finding]] = {}
    for finding in findings:
        if finding.status is Status.SKIPPED:
            alike.setdefault((finding.code, finding.title), []).append(finding)
    for same in alike.values():
        yield same[0], tuple(dict.fromkeys(finding.check for finding in same))


def _reason(finding: Finding) -> object:
    """What two findings have in common that lack the same; one of its own for each that lacks nothing."""
    if finding.code == NOT_GATHERED.code:
        return finding.title.removeprefix(finding.check), finding.seen, finding.waived
    if finding.status is Status.UNKNOWN and finding.seen and finding.table is None:
        return finding.seen, finding.nodes, finding.next, finding.waived
    return id(finding)
