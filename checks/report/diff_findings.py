"""Matches the findings of two reports, and finds the kind of change of each pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from checks.model.finding import PROBLEMS, Finding, Key, Status, keyed
from checks.report.coverage import Coverage, covers_alike
from checks.report.diff_facts import differ
from checks.report.diff_kind import DiffKind

_MOST_PAIRS = 50_000
"""Most pairs of findings of one kind that are compared for shared nodes. Where there are more pairs, which takes
hundreds of changed findings, each finding is listed separately."""


_WORSE = frozenset(
    {
        DiffKind.MORE_SEVERE,
        DiffKind.HIGHER,
        DiffKind.MORE_NODES,
        DiffKind.OTHER_NODES,
        DiffKind.WAIVER_ENDED,
        DiffKind.NEW,
        DiffKind.BECAME_KNOWN,
    }
)


_HARDER = (DiffKind.MORE_SEVERE, DiffKind.HIGHER, DiffKind.MORE_NODES)
_MILDER = (DiffKind.LESS_SEVERE, DiffKind.LOWER, DiffKind.FEWER_NODES)
_NOT_KNOWN = (Status.UNKNOWN, Status.SKIPPED)


class FindingChange(msgspec.Struct, frozen=True, kw_only=True):
    """A finding that one report or both have, and how it changed."""

    change: DiffKind
    before: Finding | None = None
    after: Finding | None = None

    @property
    def finding(self) -> Finding:
        """The finding of the later report, or of the earlier one where the later has none."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def is_problem(self) -> bool:
        """Whether the finding is or was a problem, waived or not."""
        return any(f is not None and f.status in PROBLEMS for f in (self.before, self.after))

    @property
    def worse(self) -> Status | None:
        """The status of a finding that got worse; None where it did not, or where a waiver covers it."""
        if self.change is DiffKind.BECAME_UNKNOWN:
            return None if self.after and self.after.waived else Status.UNKNOWN
        if self.change not in _WORSE or not self.after or self.after.waived:
            return None
        return self.after.status if self.after.status in PROBLEMS else None


def finding_changes(
    before: Sequence[Finding],
    after: Sequence[Finding],
    *,
    by_name: bool = True,
    coverage: tuple[Coverage, Coverage] | None = None,
) -> tuple[FindingChange, ...]:
    """Return every finding of both reports once, those that got worse first. Where names do not mean the same in both
    reports (`by_name` is false), findings are matched only by their codes. `coverage` is what each run examined."""
    coverage = coverage or (Coverage(before), Coverage(after))
    pairs = same_findings(_known(before, by_name), _known(after, by_name), by_name=by_name)
    changes = [_finding_change(one, other, *coverage, by_name) for one, other in pairs]
    return tuple(sorted(changes, key=_worst_first))


def _worst_first(change: FindingChange) -> tuple[int, int, int]:
    gravity = change.worse.gravity if change.worse else len(Status)
    return gravity, list(DiffKind).index(change.change), change.finding.status.gravity


def _known(findings: Iterable[Finding], by_name: bool) -> dict[Key, Finding]:
    if by_name:
        return dict(keyed(findings))
    nameless = ((f, msgspec.structs.replace(f, network="", nodes=())) for f in findings)
    originals, bare = zip(*nameless, strict=True) if findings else ((), ())
    return {key: original for (key, _), original in zip(keyed(bare), originals, strict=True)}


def same_findings(
    before: dict[Key, Finding], after: dict[Key, Finding], *, by_name: bool = True
) -> Iterator[tuple[Finding | None, Finding | None]]:
    """Yield pairs of findings: the same ones first. Then findings of one kind that share nodes: a fault that spreads
    to more nodes is not a new fault. Then a failure and a warning of one check about the same nodes, whatever their
    codes: the warning is the rest of the failure and not new."""
    yield from ((finding, after[key]) for key, finding in before.items() if key in after)
    old = {key: finding for key, finding in before.items() if key not in after}
    new = {key: finding for key, finding in after.items() if key not in before}
    if by_name:
        yield from _nearest(old, new, lambda key: key[:3], lambda one, other: bool({*one.nodes} & {*other.nodes}))
        yield from _nearest(old, new, lambda key: (key[0], key[2]), _is_left_of)
    yield from ((finding, None) for finding in old.values())
    yield from ((None, finding) for finding in new.values())


def _nearest(
    old: dict[Key, Finding],
    new: dict[Key, Finding],
    kind: Callable[[Key], tuple[str, ...]],
    fits: Callable[[Finding, Finding], bool],
) -> Iterator[tuple[Finding, Finding]]:
    """Remove matching findings of one kind from both sides and yield them, those that share most nodes first."""
    kinds: dict[tuple[str, ...], tuple[list[Key], list[Key]]] = {}
    for side, keys in enumerate((old, new)):
        for key in keys:
            kinds.setdefault(kind(key), ([], []))[side].append(key)
    for ours, theirs in kinds.values():
        if len(ours) * len(theirs) > _MOST_PAIRS:
            continue
        fitting = [
            (-len({*one[3]} & {*other[3]}), sorted((one, other)), one, other)
            for one in ours
            for other in theirs
            if fits(old[one], new[other])
        ]
        for _, _, one, other in sorted(fitting):
            if one in old and other in new:
                yield old.pop(one), new.pop(other)


def _is_left_of(one: Finding, other: Finding) -> bool:
    """Whether one finding is a failure and the other a warning about a part of the failure's nodes. Neither may be
    waived, since a waiver is for one code."""
    if {one.status, other.status} != {Status.FAIL, Status.WARN} or one.waived or other.waived:
        return False
    failure, warning = (one, other) if one.status is Status.FAIL else (other, one)
    return {*warning.nodes} <= {*failure.nodes} and bool(warning.nodes) is bool(failure.nodes)


def _finding_change(
    one: Finding | None, other: Finding | None, before: Coverage, after: Coverage, by_name: bool
) -> FindingChange:
    if one and other:
        change = change_between(one, other, by_name=by_name) if {one.status, other.status} & PROBLEMS else DiffKind.SAME
        if by_name:
            change = _of_nodes_in_both(change, one, other, before, after)
    elif one:
        change = _only_before(one, before, after)
    else:
        assert other is not None
        change = _only_after(other, before, after)
    return FindingChange(change=change, before=one, after=other)


def _only_before(finding: Finding, before: Coverage, after: Coverage) -> DiffKind:
    if finding.status not in PROBLEMS:
        return DiffKind.NO_PROBLEM
    if not after.ran(finding.check):
        return DiffKind.NOT_RERUN
    if finding.status is Status.UNKNOWN:
        return DiffKind.BECAME_KNOWN
    return DiffKind.GONE if after.sees(finding, before) else DiffKind.BECAME_UNKNOWN


def _only_after(finding: Finding, before: Coverage, after: Coverage) -> DiffKind:
    if finding.status not in PROBLEMS:
        return DiffKind.NO_PROBLEM
    if not before.ran(finding.check):
        return DiffKind.FIRST_RUN
    if finding.status is Status.UNKNOWN:
        return DiffKind.BECAME_UNKNOWN
    # New is what was healthy on one of its nodes, where gone is what is healthy on each of them.
    return DiffKind.NEW if before.sees(finding, after, every_node=False) else DiffKind.BECAME_KNOWN


def _of_nodes_in_both(change: DiffKind, one: Finding, other: Finding, before: Coverage, after: Coverage) -> DiffKind:
    """Return the kind of change, where nodes that only one finding has count only if both runs read them."""
    if change is DiffKind.FEWER_NODES or (change is DiffKind.LESS_SEVERE and {*other.nodes} < {*one.nodes}):
        left = {*one.nodes} - {*other.nodes}
        return change if all(map(after.sees_node, left)) else DiffKind.BECAME_UNKNOWN
    if change is DiffKind.MORE_NODES or (change is DiffKind.MORE_SEVERE and {*one.nodes} < {*other.nodes}):
        more = {*other.nodes} - {*one.nodes}
        return change if any(map(before.sees_node, more)) else DiffKind.BECAME_KNOWN
    return change


def change_between(one: Finding, other: Finding, *, by_name: bool = True) -> DiffKind:
    """Return the kind of change of a finding that both reports have. Where it is milder, and the later run did not read
    all instances or nodes that the earlier one read, it is not known; nor is it known to be worse in the reverse case.
    """
    change = _change_between(one, other, by_name)
    if not by_name or covers_alike(one, other):
        return change
    if change in _MILDER and not {*one.covers} <= {*other.covers}:
        return DiffKind.BECAME_UNKNOWN
    return DiffKind.BECAME_KNOWN if change in _HARDER and not {*other.covers} <= {*one.covers} else change


def _change_between(one: Finding, other: Finding, by_name: bool) -> DiffKind:
    if (one.status in _NOT_KNOWN) is not (other.status in _NOT_KNOWN):
        return DiffKind.BECAME_UNKNOWN if other.status in _NOT_KNOWN else DiffKind.BECAME_KNOWN
    if one.status is not other.status:
        return DiffKind.MORE_SEVERE if other.status.gravity < one.status.gravity else DiffKind.LESS_SEVERE
    if bool(one.waived) is not bool(other.waived):
        return DiffKind.WAIVED if other.waived else DiffKind.WAIVER_ENDED
    if by_name and set(one.nodes) != set(other.nodes):
        more = len(set(other.nodes)) - len(set(one.nodes))
        return DiffKind.MORE_NODES if more > 0 else DiffKind.FEWER_NODES if more < 0 else DiffKind.OTHER_NODES
    return _by_extent(one, other)


def _by_extent(one: Finding, other: Finding) -> DiffKind:
    if one.extent is None or other.extent is None or one.extent.unit != other.extent.unit:
        return DiffKind.SAME
    left, right = one.extent.value, other.extent.value
    if left == right or (one.extent.is_measured and not differ(left, right)):
        return DiffKind.SAME
    return DiffKind.HIGHER if right > left else DiffKind.LOWER
