"""The checks that prove that a repaired cause is gone. Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from checks.diagnosis.catalogue import CATALOGUE
from checks.model.finding import Finding
from checks.model.hypothesis import Hypothesis


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
