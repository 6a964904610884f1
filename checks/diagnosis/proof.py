"""Whether a repaired cause is gone: the checks that would show it, and what they say. Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from checks.diagnosis.catalogue import CATALOGUE
from checks.model.finding import FAULTS, PROBLEMS, Finding, Status, could_not_look
from checks.model.wording import counted, few, listed

_NAMED = 3


def checks_that_prove(causes: Collection[str], found: Iterable[Finding], makers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the checks that would prove that these causes are gone: those that found them or their effects, then those
    that can show or exclude the causes according to the catalogue. `makers` has the check of each code."""
    own = [check for finding in found for check in finding.check.split(", ")]
    for cause in CATALOGUE:
        if cause.code in causes:
            codes = (*cause.proved_by, *cause.supported_by, *cause.excluded_by)
            own += [makers[code] for code in codes if code in makers]
            own += cause.cleared_by
    known = set(makers.values())
    return tuple(check for check in dict.fromkeys(own) if check in known)


def outcome_of(
    causes: Collection[str],
    shown: Sequence[Finding],
    before: Sequence[Finding],
    after: Sequence[Finding],
    checks: Sequence[str],
) -> str:
    """Return what became of causes after a run of `checks`: a sentence that starts with `Verified`, `Not fixed`,
    `The cause is gone` or `Not verified`. `shown` are the findings that showed the causes, `before` those with their
    effects, `after` all findings of the report now. Without causes it is about the findings in `before`."""
    ran = [finding for finding in after if finding.check in checks]
    codes = {code for cause in CATALOGUE if cause.code in causes for code in (*cause.proved_by, *cause.supported_by)}
    codes |= {finding.code for finding in shown}
    near = [finding for finding in ran if any(_is_near(finding, one) for one in before)]
    causing = [finding for finding in near if finding.status in FAULTS and finding.code in codes]
    if causing:
        return f"Not fixed: {_titles(causing)}"
    blind = [one for one in before if could_not_look(ran, one)]
    unknown = [f for f in ran if f.status is Status.UNKNOWN and any(f.check == one.check for one in blind)]
    unknown += [f for f in near if f.status is Status.UNKNOWN and f.code in codes and f not in unknown]
    if unknown:
        return f"Not verified: {_titles(unknown)}"
    effects = {finding.code for finding in before}
    left = [finding for finding in near if finding.status in PROBLEMS and finding.code in effects]
    said = _said({finding.check for finding in shown}, checks, ran)
    if left:
        return f"The cause is gone: {said}. Still there: {_titles(left)}"
    others = sorted({f.check for f in before} - {f.check for f in shown})
    effects_gone = (
        f", and {few(others, _NAMED)} no longer {'finds' if len(others) == 1 else 'find'} its effects" if others else ""
    )
    return f"Verified: {said}{effects_gone}."


def _said(shown_by: Collection[str], checks: Sequence[str], ran: Sequence[Finding]) -> str:
    """Return what the checks that showed the cause say now: `mtu-consistency now passes`."""
    own = [check for check in checks if check in shown_by]
    passing = [check for check in own if all(f.status not in PROBLEMS for f in ran if f.check == check)]
    parts = [f"{listed(passing)} now {'passes' if len(passing) == 1 else 'pass'}"] if passing else []
    if rest := [check for check in own if check not in passing]:
        parts.append(f"{listed(rest)} no longer {'finds' if len(rest) == 1 else 'find'} it")
    return " and ".join(parts)


def _is_near(one: Finding, other: Finding) -> bool:
    if one.network and other.network and one.network != other.network:
        return False
    return not (one.nodes and other.nodes) or not set(one.nodes).isdisjoint(other.nodes)


def _titles(findings: Sequence[Finding]) -> str:
    left = len(findings) - 1
    more = f" And {counted(left, 'more finding')}." if left else ""
    return f"{findings[0].title}{more}"
