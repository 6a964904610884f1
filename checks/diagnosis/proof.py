"""Whether a repaired cause is gone: the checks that would show it, and what they say. Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from checks.diagnosis.catalogue import CATALOGUE
from checks.model.finding import FAULTS, PROBLEMS, Finding, Key, Status, could_not_look
from checks.model.hypothesis import Certainty, Hypothesis
from checks.model.report import Report
from checks.model.wording import counted, few, listed

_NAMED = 3
_FOUND = (Certainty.PROVED, Certainty.SUPPORTED)


def checks_that_prove(
    causes: Sequence[Hypothesis], found: Iterable[Finding], makers: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the checks that would prove that these causes are gone: first those that look at what the causes had
    hidden, then those that found the causes or their effects, then those that can show or exclude the causes according
    to the catalogue. `makers` has the check of each code."""
    known = set(makers.values())
    hidden = _checks_of({code for cause in causes for code in cause.hides}, makers)
    own = (finding.check for finding in found)
    every = (*hidden, *own, *_checks_of({cause.cause for cause in causes}, makers))
    return tuple(check for check in dict.fromkeys(every) if check in known)


def _checks_of(codes: Collection[str], makers: Mapping[str, str]) -> Iterator[str]:
    """Yield the checks that can show or exclude these causes."""
    for cause in CATALOGUE:
        if cause.code in codes:
            shown_by = (*cause.proved_by, *cause.supported_by, *cause.excluded_by)
            yield from (makers[code] for code in shown_by if code in makers)
            yield from cause.cleared_by


def outcome_of(
    causes: Sequence[Hypothesis],
    shown: Sequence[Finding],
    before: Sequence[Finding],
    after: Report,
    checks: Sequence[str],
) -> str:
    """Return what became of causes after a run of `checks`: a sentence that starts with `Verified`, `Not fixed`,
    `The cause is gone` or `Not verified`, and what is behind the causes. `shown` are the findings that showed the
    causes, `before` those with their effects, `after` is the report now. Without causes it is about `before`."""
    ran = [finding for finding in after.findings if finding.check in checks]
    left = [one for one in after.diagnosis.with_standing(*_FOUND) if any(_is_same(one, cause) for cause in causes)]
    if still := _those_of(after, left, checks) or _again(shown, ran, FAULTS):
        return f"Not fixed: {_titles(still)}"
    if unknown := _not_known(shown, before, ran):
        return f"Not verified: {_titles(unknown)}"
    effects = _again(before, ran, PROBLEMS)
    said = _said({finding.check for finding in shown}, checks, ran)
    behind = _behind(causes, after)
    if effects:
        return f"The cause is gone: {said}. Still there: {_titles(effects)}{behind}"
    others = sorted({f.check for f in before} - {f.check for f in shown})
    effects_gone = (
        f", and {few(others, _NAMED)} no longer {'finds' if len(others) == 1 else 'find'} its effects" if others else ""
    )
    return f"Verified: {said}{effects_gone}.{behind}"


def _is_same(one: Hypothesis, cause: Hypothesis) -> bool:
    """Return whether two causes have the same code, and places that can be one."""
    return one.cause == cause.cause and _meet(one.networks, cause.networks) and _meet(one.nodes, cause.nodes)


def _meet(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether two lists of places have one in common; an empty list is any place."""
    return not (one and other) or not {*one}.isdisjoint(other)


def _those_of(report: Report, causes: Iterable[Hypothesis], checks: Collection[str]) -> list[Finding]:
    """Return the faults that show these causes, or that they explain, and that these checks found."""
    keys: dict[Key, None] = dict.fromkeys(
        key for cause in causes for key in (*cause.shown_by, *cause.explains, *cause.in_part)
    )
    return [f for f in report.findings_of(keys) if f.check in checks and f.status in FAULTS]


def _again(before: Iterable[Finding], ran: Iterable[Finding], statuses: Collection[Status]) -> list[Finding]:
    """Return the findings of a later run that are of a kind and a place of the earlier ones."""
    known = list(before)
    return [
        finding
        for finding in ran
        if finding.status in statuses and any(finding.code == one.code and _is_near(finding, one) for one in known)
    ]


def _not_known(shown: Sequence[Finding], before: Sequence[Finding], ran: Sequence[Finding]) -> list[Finding]:
    """Return the UNKNOWN findings of checks that could not look at the place of an earlier finding."""
    blind = {one.check for one in before if could_not_look(ran, one)}
    return [f for f in ran if f.status is Status.UNKNOWN and f.check in blind] or _again(shown, ran, (Status.UNKNOWN,))


def _behind(causes: Sequence[Hypothesis], after: Report) -> str:
    """Return what was found where a cause had stopped every packet; empty where it had hidden nothing."""
    hidden = {code for cause in causes for code in cause.hides}
    if not hidden:
        return ""
    found = [
        one.headline or f"{one.cause} {one.name}"
        for one in after.diagnosis.with_standing(*_FOUND)
        if one.cause in hidden and any(_meet(one.networks, cause.networks) for cause in causes)
    ]
    if found:
        more = f" And {counted(len(found) - 1, 'more cause')}." if len(found) > 1 else ""
        return f" Behind it: {found[0].rstrip('.')}.{more}"
    unseen = sorted({one.cause for one in after.diagnosis.with_standing(Certainty.NOT_EXAMINED)} & hidden)
    if unseen:
        return f" Behind it: not examined: {few(unseen, _NAMED)}."
    return " Behind it: no other cause was found."


def _said(shown_by: Collection[str], checks: Sequence[str], ran: Sequence[Finding]) -> str:
    """Return what the checks that showed the cause say now: `mtu-consistency now passes`."""
    own = [check for check in checks if check in shown_by]
    passing = [check for check in own if all(f.status not in PROBLEMS for f in ran if f.check == check)]
    parts = [f"{listed(passing)} now {'passes' if len(passing) == 1 else 'pass'}"] if passing else []
    if rest := [check for check in own if check not in passing]:
        parts.append(f"{listed(rest)} no longer {'finds' if len(rest) == 1 else 'find'} it")
    return " and ".join(parts)


def _is_near(one: Finding, other: Finding) -> bool:
    is_on_another = bool(one.network and other.network) and one.network != other.network
    return not is_on_another and _meet(one.nodes, other.nodes)


def _titles(findings: Sequence[Finding]) -> str:
    left = len(findings) - 1
    more = f" And {counted(left, 'more finding')}." if left else ""
    return f"{findings[0].title}{more}"
