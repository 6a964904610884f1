"""The causes of a report in brief, for texts and pages: what was proved or supported, and what became of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.finding import Finding
from checks.model.hypothesis import Diagnosis, Hypothesis, Standing

_OTHERS = {
    Standing.POSSIBLE: "Possible",
    Standing.EXCLUDED: "Excluded",
    Standing.NOT_EXAMINED: "Not examined",
}
_MOST_CODES = 24
"""The most codes in a line; a run of a few checks leaves more causes unexamined."""
HOW = "`racwire explain causes` has how to examine each."


def is_worth_showing(diagnosis: Diagnosis) -> bool:
    """Return whether a cause was found, or something is lost or slow without a known cause."""
    return bool(diagnosis.with_standing(Standing.PROVED, Standing.SUPPORTED) or diagnosis.unexplained)


def cause_entries(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    """Yield (label, sentence): each cause that was found, what none of them explains, and the codes of the others."""
    if not is_worth_showing(diagnosis):
        return
    for cause in diagnosis.with_standing(Standing.PROVED):
        yield "Cause", _found([cause])
    alike: dict[object, list[Hypothesis]] = {}
    for cause in diagnosis.with_standing(Standing.SUPPORTED):
        alike.setdefault(cause.because, []).append(cause)
    for same in alike.values():
        yield "Cause", _found(same)
    for effect in diagnosis.unexplained:
        yield "Unexplained", effect
    for standing, label in _OTHERS.items():
        if others := diagnosis.with_standing(standing):
            total = len(diagnosis.hypotheses)
            codes = _codes(others) if len(others) <= _MOST_CODES else f"{len(others)} of {total} causes"
            how = f" {HOW}" if standing is Standing.NOT_EXAMINED else ""
            yield label, f"{codes}.{how}"


def causes_of(finding: Finding, diagnosis: Diagnosis) -> list[str]:
    """Return the causes that were found and that this finding shows, or that explain it, each with its standing."""
    return [
        f"{cause.cause} {cause.name}: {cause.standing}"
        for cause in diagnosis.with_standing(Standing.PROVED, Standing.SUPPORTED)
        if finding.title in (*cause.because, *cause.explains)
    ]


def _found(same: Sequence[Hypothesis]) -> str:
    """The sentence about a cause, or about several that the same findings support equally."""
    first = same[0]
    names = "; ".join(f"{cause.cause} {cause.name}{_sources(cause)}" for cause in same)
    places = f" at {'; '.join(first.places)}" if first.places else ""
    explains = f" It explains: {' '.join(first.explains)}" if first.explains else ""
    lead = "one of " if len(same) > 1 else ""
    return f"{lead}{names}: {first.standing}{places}.{explains}"


def _sources(cause: Hypothesis) -> str:
    return f" ({', '.join(cause.sources)})" if cause.sources else ""


def _codes(causes: Sequence[Hypothesis]) -> str:
    """Return `CAUSE-01, 08 and 16`."""
    first, *others = sorted(cause.cause for cause in causes)
    numbers = [code.rpartition("-")[2] for code in others]
    return ", ".join((first, *numbers[:-1])) + (f" and {numbers[-1]}" if numbers else "")
