"""Diagnose a run: the standing of each cause, from the findings. The order in which checks ended has no influence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from checks.diagnosis.catalogue import CATALOGUE
from checks.diagnosis.cause import Cause
from checks.diagnosis.effects import explains, is_effect, is_of_logs
from checks.diagnosis.loss_accounts import FoundCause, loss_accounts
from checks.diagnosis.own_footprint import may_be_own
from checks.model.facts import Cluster
from checks.model.finding import FAULTS, Finding, Status
from checks.model.hypothesis import Diagnosis, Hypothesis, LossAccount, Standing

_ORDER = list(Standing)
_FRAGMENTS_LOST, _PATHS = "IC-REASM-002", "IC-PATH-"


@dataclass(frozen=True)
class _Found:
    """A cause that some findings prove or support."""

    cause: Cause
    standing: Standing
    shown: tuple[Finding, ...]
    explained: tuple[Finding, ...]
    """The faults that are its effects."""

    @property
    def exactness(self) -> int:
        """The rank of the place, the smallest first: a node on a network, a node, a pair, more nodes, the cluster."""
        nodes = {node for f in self.shown for node in f.nodes}
        networks = {f.network for f in self.shown if f.network}
        return {0: 4, 1: 0 if len(networks) == 1 else 1, 2: 2}.get(len(nodes), 3)


def diagnose(cluster: Cluster, findings: Iterable[Finding], causes: Sequence[Cause] = CATALOGUE) -> Diagnosis:
    """Return the standing of every cause, the most certain first, and the effects that none of them explains.

    Among causes of one standing, the one that explains most lost blocks comes first, then the one that explains most
    findings, then the one whose own findings are the worst, then the one with the most exact place. A cause that
    another one leads to at the same place is no cause by itself: it is possible, and an effect of the other. Waived
    findings count: a waiver accepts a finding and does not make it untrue.
    """
    known = sorted(findings, key=lambda f: (f.status.gravity, f.code, f.title))
    faults = [f for f in known if f.status in FAULTS]
    not_passed = [f for f in known if f.status not in (Status.PASS, Status.SKIPPED)]
    candidates = [found for cause in causes if (found := _found(cause, cluster, not_passed, faults))]
    roots, enough = _roots(candidates)
    accounts = loss_accounts(cluster, [_for_account(f) for f in _by_share(roots, ())])
    roots = _by_share(roots, accounts)
    judged = [_shown(found, accounts) for found in roots]
    of_roots = {found.cause.code for found in roots}
    others = [
        _of(
            cause,
            Standing.POSSIBLE,
            (f"{enough[cause.code].name} ({enough[cause.code].code}) is enough to explain it.",),
        )
        if cause.code in enough
        else _other(cause, cluster, known, not_passed)
        for cause in causes
        if cause.code not in of_roots
    ]
    explained = {f.title for found in roots for f in found.explained}
    return Diagnosis(
        hypotheses=(*judged, *sorted(others, key=lambda h: (_ORDER.index(h.standing), h.cause))),
        unexplained=tuple(f.title for f in known if is_effect(f) and f.title not in explained),
        accounts=accounts,
    )


def _found(cause: Cause, cluster: Cluster, not_passed: Sequence[Finding], faults: Sequence[Finding]) -> _Found | None:
    for standing, codes in ((Standing.PROVED, cause.proved_by), (Standing.SUPPORTED, cause.supported_by)):
        if shown := tuple(f for f in faults if f.code in codes):
            if all(may_be_own(f) for f in shown):
                standing = Standing.SUPPORTED  # racwire's own load may have moved these counters
            also = tuple(f for f in faults if f.code in cause.supported_by and f not in shown)
            effects = [f for f in not_passed if f.status in (*FAULTS, Status.UNKNOWN)]
            leads_to = (*cause.leads_to, *(cause.proof_leads_to if standing is Standing.PROVED else ()))
            explained = tuple(f for f in effects if explains(cluster, leads_to, shown, f))
            return _Found(cause, standing, shown, (*explained, *(f for f in also if f not in explained)))
    return None


def _roots(candidates: Sequence[_Found]) -> tuple[list[_Found], dict[str, Cause]]:
    """Return the candidates that are no effect of another, and for each of the rest the cause that is enough.

    Only a candidate that is itself no effect is enough for another: where A leads to B and B to C, and A does not lead
    to C, A and C remain. In a circle the first in rank remains. Two candidates that lead to each other stay both,
    unless one of them has the better standing.
    """
    roots: list[_Found] = []
    enough: dict[str, Cause] = {}
    left = _by_share(candidates, ())
    while left:
        free = [one for one in left if not any(_is_below(one, other) for other in left if other is not one)] or left[:1]
        for one in (one for one in left if one not in free):
            if root := next((root for root in free if _is_below(one, root)), None):
                enough[one.cause.code] = root.cause
        roots += free
        left = [one for one in left if one not in free and one.cause.code not in enough]
    return roots, enough


def _is_below(one: _Found, other: _Found) -> bool:
    """Return whether one candidate is an effect of another, and not as much the other's cause."""
    if not _is_effect_of(one, other):
        return False
    return not _is_effect_of(other, one) or _ORDER.index(other.standing) < _ORDER.index(one.standing)


def _is_effect_of(one: _Found, other: _Found) -> bool:
    """Return whether another cause produces all that shows a cause; a proof is enough for what supports another."""
    enough = other.explained
    if _ORDER.index(other.standing) < _ORDER.index(one.standing):
        enough = (*enough, *other.shown)
    elif len(other.shown) > len(one.shown):
        enough = (*enough, *other.shown)  # the fewest causes that explain all
    return all(finding in enough for finding in one.shown)


def _by_share(found: Iterable[_Found], accounts: Sequence[LossAccount]) -> list[_Found]:
    def rank(one: _Found) -> tuple[int, bool, int, int, int, int, str]:
        share = _lost_blocks(one.cause, accounts) or 0
        is_late = is_of_logs(one.shown)  # what was suffered never stands before what may have caused it
        worst = min(finding.status.gravity for finding in one.shown)
        return _ORDER.index(one.standing), is_late, -share, -len(one.explained), worst, one.exactness, one.cause.code

    return sorted(found, key=rank)


def _for_account(found: _Found) -> FoundCause:
    codes = {f.code for f in (*found.shown, *found.explained)}
    leads = found.cause.leads_to
    loses_fragments = _FRAGMENTS_LOST in codes and _FRAGMENTS_LOST.startswith(leads or ("-",))
    spoils_paths = any(code.startswith(_PATHS) for code in leads)
    return FoundCause(found.cause.code, found.shown, loses_fragments, spoils_paths)


def _lost_blocks(cause: Cause, accounts: Sequence[LossAccount]) -> int | None:
    """Return the lost blocks that a cause explains; None where it is in no account."""
    shares = [account.explained[cause.code] for account in accounts if cause.code in account.explained]
    return sum(shares) if shares else None


def _shown(found: _Found, accounts: Sequence[LossAccount]) -> Hypothesis:
    shown, explained = found.shown, found.explained
    problems = [f for f in (*shown, *explained) if f.status in FAULTS]
    return msgspec.structs.replace(
        _of(found.cause, found.standing, tuple(f.title for f in shown)),
        headline=shown[0].title,
        data=shown[0].data,
        places=tuple(dict.fromkeys(f.subject for f in shown if f.subject)),
        nodes=tuple(dict.fromkeys(node for f in shown for node in f.nodes)),
        networks=tuple(dict.fromkeys(f.network for f in shown if f.network)),
        explains=tuple(f.title for f in explained),
        lost_blocks=_lost_blocks(found.cause, accounts),
        is_waived=all(f.waived for f in problems),
    )


# --- causes that no finding shows -------------------------------------------------------------------------------------


def _other(cause: Cause, cluster: Cluster, findings: Sequence[Finding], not_passed: Sequence[Finding]) -> Hypothesis:
    """Return the standing of a cause that no finding proves or supports."""
    passed = [f for code in cause.excluded_by for f in findings if f.code == code and f.status is Status.PASS]
    hints = [f for f in not_passed if f.code in cause.hinted_by]
    if hints:
        against = tuple(f.title for f in passed)
        possible = _of(cause, Standing.POSSIBLE, tuple(f.title for f in hints))
        return msgspec.structs.replace(possible, against=against)
    if cause.ruled_out and (reason := cause.ruled_out(cluster)):
        return _of(cause, Standing.EXCLUDED, (reason,))
    if cause.other_platform:
        reason = f"It is a cause on {cause.other_platform}; the nodes that were read run Linux."
        standing = Standing.EXCLUDED if cluster.read_nodes() else Standing.NOT_EXAMINED
        return _of(cause, standing, (reason,) if standing is Standing.EXCLUDED else ())
    if cause.cleared_by:
        return _cleared(cause, findings)
    has_each = {f.code for f in passed} == set(cause.excluded_by)
    if cause.excluded_by and has_each:
        checks = {f.check for f in passed}
        doubts = [f for f in findings if f.check in checks and f.status in (Status.UNKNOWN, *FAULTS)]
        if not doubts:
            scope = f" ({cause.covers})" if cause.covers else ""
            return _of(cause, Standing.EXCLUDED, tuple(f"{f.title.rstrip('.')}{scope}." for f in passed))
        return _of(cause, Standing.POSSIBLE, tuple(f.title for f in doubts))
    return _of(cause, Standing.NOT_EXAMINED)


def _cleared(cause: Cause, findings: Sequence[Finding]) -> Hypothesis:
    """Return the standing of a cause that none of its checks shows."""
    own = [f for f in findings if f.check in cause.cleared_by]
    if {f.check for f in own if f.status is not Status.SKIPPED} != set(cause.cleared_by):
        return _of(cause, Standing.NOT_EXAMINED)
    if doubts := [f for f in own if f.status is Status.UNKNOWN]:
        return _of(cause, Standing.POSSIBLE, tuple(f.title for f in doubts))
    checks = " and ".join(cause.cleared_by)
    return _of(cause, Standing.EXCLUDED, (f"No finding of {checks} shows it, {cause.covers}.",))


def _of(cause: Cause, standing: Standing, because: tuple[str, ...] = ()) -> Hypothesis:
    examine = () if standing in (Standing.PROVED, Standing.EXCLUDED) else cause.look
    return Hypothesis(
        cause=cause.code, name=cause.name, sources=cause.sources, standing=standing, because=because, next=examine
    )
