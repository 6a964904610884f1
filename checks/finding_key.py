"""What makes a finding the same one in another run: its kind and what it is about, not what was measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from checks.finding import Finding, Status

Key = tuple[str, str, str, tuple[str, ...], int]
"""Check, code, network, nodes, and a number where a run has several of them."""


def keyed(findings: Iterable[Finding]) -> Iterator[tuple[Key, Finding]]:
    """Each finding with its key; further ones of the same kind about the same thing are numbered."""
    seen: Counter[tuple[str, str, str, tuple[str, ...]]] = Counter()
    for finding in findings:
        what = (finding.check, finding.code, finding.network, finding.nodes)
        yield (*what, seen[what]), finding
        seen[what] += 1


def could_not_look(findings: Iterable[Finding], at: Finding) -> bool:
    """Whether a run with these findings does not know about what that finding of another run is about."""
    return any(
        other.status is Status.UNKNOWN
        and other.check == at.check
        and (not (other.network or other.nodes) or _same_place(other, at))
        for other in findings
    )


def _same_place(one: Finding, other: Finding) -> bool:
    return (bool(one.network) and one.network == other.network) or bool(set(one.nodes) & set(other.nodes))
