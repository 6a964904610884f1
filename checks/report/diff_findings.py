"""Which findings of two reports are the same, and what became of each: the words of `racwire diff`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum

import msgspec

from checks.model.finding import PROBLEMS, Finding, Key, Status, could_not_look, keyed
from checks.report.diff_facts import differ

_MOST_PAIRS = 50_000
"""Pairs of findings of one kind that are looked at for shared nodes. Where there are more, which takes hundreds that
changed, each is told by itself."""


class DiffKind(StrEnum):
    """What became of a finding. Each has its counterpart, which it is when the reports are taken the other way."""

    GRAVER = "graver"
    """A higher status: of the same finding, or a failure where its check had a warning about the same nodes."""
    MILDER = "milder"
    MORE = "more"
    """A higher extent; what is measured has to differ by half (`diff_noise.MUCH`)."""
    LESS = "less"
    WIDER = "on more nodes"
    NARROWER = "on fewer nodes"
    ELSEWHERE = "on other nodes"
    """On as many, some of them others."""
    LIFTED = "no longer waived"
    WAIVED = "waived"
    NEW = "new"
    GONE = "gone"
    UNTOLD = "cannot be told any more"
    """It is not known now, and was; or it was found, and its place could not be looked at again."""
    TOLD = "could not be told before"
    LEFT_OUT = "not looked at now"
    """Its check was not run."""
    FIRST_LOOK = "not looked at before"
    CALM = "calm"
    """No problem, and only one of the two reports has it."""
    SAME = "same"


_WORSE = frozenset(
    {
        DiffKind.GRAVER,
        DiffKind.MORE,
        DiffKind.WIDER,
        DiffKind.ELSEWHERE,
        DiffKind.LIFTED,
        DiffKind.NEW,
        DiffKind.TOLD,
    }
)


class FindingChange(msgspec.Struct, frozen=True, kw_only=True):
    """A finding of one of the two reports, or of both."""

    change: DiffKind
    before: Finding | None = None
    after: Finding | None = None

    @property
    def finding(self) -> Finding:
        """As it is known last."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def is_problem(self) -> bool:
        """Whether it is or was one, waived or not."""
        return any(f is not None and f.status in PROBLEMS for f in (self.before, self.after))

    @property
    def worse(self) -> Status | None:
        """How grave it is that it got worse; None where it did not, or is waived now."""
        if self.change is DiffKind.UNTOLD:
            return None if self.after and self.after.waived else Status.UNKNOWN
        if self.change not in _WORSE or not self.after or self.after.waived:
            return None
        return self.after.status if self.after.status in PROBLEMS else None


def finding_changes(
    before: Sequence[Finding], after: Sequence[Finding], *, by_name: bool = True
) -> tuple[FindingChange, ...]:
    """Every finding of both, each once, those that got worse first. Where names do not mean the same in both, findings
    are the same by their codes alone."""
    looked = _Looked(before), _Looked(after)
    pairs = _pairs(_known(before, by_name), _known(after, by_name), by_name)
    changes = [_told(one, other, *looked, by_name) for one, other in pairs]
    return tuple(sorted(changes, key=_worst_first))


class _Looked:
    """Where the run of a report looked."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._ran: set[str] = set()
        self._unknown: dict[str, list[Finding]] = {}
        for finding in findings:
            if finding.status is not Status.SKIPPED:
                self._ran.add(finding.check)
            if finding.status is Status.UNKNOWN:
                self._unknown.setdefault(finding.check, []).append(finding)

    def ran(self, check: str) -> bool:
        """Whether that check was run, and was not left out."""
        return check in self._ran

    def sees(self, finding: Finding) -> bool:
        """Whether the run knows of the place that a finding of the other report is about."""
        return not could_not_look(self._unknown.get(finding.check, ()), finding)


def _worst_first(change: FindingChange) -> tuple[int, int, int]:
    gravity = change.worse.gravity if change.worse else len(Status)
    return gravity, list(DiffKind).index(change.change), change.finding.status.gravity


def _known(findings: Iterable[Finding], by_name: bool) -> dict[Key, Finding]:
    if by_name:
        return dict(keyed(findings))
    nameless = ((f, msgspec.structs.replace(f, network="", nodes=())) for f in findings)
    originals, bare = zip(*nameless, strict=True) if findings else ((), ())
    return {key: original for (key, _), original in zip(keyed(bare), originals, strict=True)}


def _pairs(
    before: dict[Key, Finding], after: dict[Key, Finding], by_name: bool
) -> Iterator[tuple[Finding | None, Finding | None]]:
    """The same findings first. Then those of one kind that share nodes: a fault that spreads is told together with the
    nodes that it spread to, and is not another one. Then a failure and a warning of one check about the same nodes,
    whatever their codes: what is left of a failure is milder, and not new."""
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
    """Take from both what fits together of one kind, those first that share most nodes."""
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
    """Whether one is a failure and the other a warning about no more than its nodes, and neither is waived: a waiver
    is of one code."""
    if {one.status, other.status} != {Status.FAIL, Status.WARN} or one.waived or other.waived:
        return False
    failure, warning = (one, other) if one.status is Status.FAIL else (other, one)
    return {*warning.nodes} <= {*failure.nodes} and bool(warning.nodes) is bool(failure.nodes)


def _told(one: Finding | None, other: Finding | None, before: _Looked, after: _Looked, by_name: bool) -> FindingChange:
    if one and other:
        change = _between(one, other, by_name) if {one.status, other.status} & PROBLEMS else DiffKind.SAME
    elif one:
        change = _alone(
            one,
            after,
            unknown=DiffKind.TOLD,
            unseen=DiffKind.UNTOLD,
            rest=DiffKind.GONE,
            left=DiffKind.LEFT_OUT,
        )
    else:
        assert other is not None
        change = _alone(
            other,
            before,
            unknown=DiffKind.UNTOLD,
            unseen=DiffKind.TOLD,
            rest=DiffKind.NEW,
            left=DiffKind.FIRST_LOOK,
        )
    return FindingChange(change=change, before=one, after=other)


def _alone(
    finding: Finding,
    elsewhere: _Looked,
    *,
    unknown: DiffKind,
    unseen: DiffKind,
    rest: DiffKind,
    left: DiffKind,
) -> DiffKind:
    """What became of a finding that the other report, which looked there, does not have."""
    if finding.status not in PROBLEMS:
        return DiffKind.CALM
    if not elsewhere.ran(finding.check):
        return left
    if finding.status is Status.UNKNOWN:
        return unknown
    return rest if elsewhere.sees(finding) else unseen


def _between(one: Finding, other: Finding, by_name: bool) -> DiffKind:
    """What became of a finding that both reports have."""
    if (one.status is Status.UNKNOWN) is not (other.status is Status.UNKNOWN):
        return DiffKind.UNTOLD if other.status is Status.UNKNOWN else DiffKind.TOLD
    if one.status is not other.status:
        return DiffKind.GRAVER if other.status.gravity < one.status.gravity else DiffKind.MILDER
    if bool(one.waived) is not bool(other.waived):
        return DiffKind.WAIVED if other.waived else DiffKind.LIFTED
    if by_name and set(one.nodes) != set(other.nodes):
        more = len(set(other.nodes)) - len(set(one.nodes))
        return DiffKind.WIDER if more > 0 else DiffKind.NARROWER if more < 0 else DiffKind.ELSEWHERE
    return _by_extent(one, other)


def _by_extent(one: Finding, other: Finding) -> DiffKind:
    if one.extent is None or other.extent is None or one.extent.unit != other.extent.unit:
        return DiffKind.SAME
    left, right = one.extent.value, other.extent.value
    if left == right or (one.extent.is_measured and not differ(left, right)):
        return DiffKind.SAME
    return DiffKind.MORE if right > left else DiffKind.LESS
