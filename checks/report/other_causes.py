"""The lines of a report about the causes that were not found: possible, excluded, and not examined.

The texts are not sanitized.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from checks.model.facts import Unknown
from checks.model.hypothesis import Certainty, Hypothesis
from checks.model.report import Report
from checks.model.wording import counted, few, listed
from checks.report.causes import FOUND, cause_entries

_NAMED = 3
"""The most possible causes that are named."""
_CHECKS = 4
"""The most checks that are named."""
_MOST_CODES = 24
"""The most codes in a line; a run of a few checks leaves more causes unexamined."""


def other_causes(report: Report) -> Iterator[tuple[str, str]]:
    """Yield (label, sentence) about the causes that were not found, and the checks that the diagnosis did not use."""
    diagnosis = report.diagnosis
    total = len({cause.cause for cause in diagnosis.hypotheses})
    in_entries = {id(cause) for entry in cause_entries(report) for cause in entry.causes}
    for standing in FOUND:  # found, and waived, or without an open finding of its own
        if further := [c for c in diagnosis.with_standing(standing) if id(c) not in in_entries]:
            yield f"Also {standing}", f"{_codes(further, total)}."
    is_open = bool(diagnosis.with_standing(*FOUND) or diagnosis.unexplained)
    if is_open and (possible := _whole(diagnosis.with_standing(Certainty.POSSIBLE))):
        yield "Also possible", f"{_named(possible)}."
    in_part = [c for c in diagnosis.with_standing(*_NOT_FOUND) if c.excluded_on]
    excluded = _whole(diagnosis.with_standing(Certainty.EXCLUDED))
    if is_open and (excluded or in_part):
        parts = ([_codes(excluded, total)] if excluded else []) + list(_in_part(in_part, report))
        yield "Excluded", f"{'; '.join(parts)}."
    if unexamined := _whole(diagnosis.with_standing(Certainty.NOT_EXAMINED)):
        number = len({cause.cause for cause in unexamined})
        yield "Not examined", f"{number} of {counted(total, 'cause')}: `racwire explain causes`."
    if without := diagnosis.not_compared:
        findings = f"the findings of {few(without, _CHECKS)} are from a saved file without observations"
        yield "Not compared", f"{findings}: they have no part in the diagnosis."


_NOT_FOUND = (Certainty.POSSIBLE, Certainty.EXCLUDED, Certainty.NOT_EXAMINED)


def _whole(causes: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Return the causes whose standing is the same on all networks."""
    return [cause for cause in causes if not cause.excluded_on]


def _named(causes: Sequence[Hypothesis]) -> str:
    """Return `CAUSE-01 Faulty cable, CAUSE-16 Network card and 3 more`."""
    return few((f"{cause.cause} {cause.name}" for cause in causes), _NAMED)


def _codes(causes: Sequence[Hypothesis], total: int) -> str:
    """Return `CAUSE-01, 08 and 16`, or their number."""
    codes = {cause.cause for cause in causes}
    return f"{len(codes)} of {total} causes" if len(codes) > _MOST_CODES else short_codes(codes)


def short_codes(codes: Iterable[str]) -> str:
    """Return `CAUSE-01, 08 and 16`."""
    first, *others = sorted(codes)
    return listed((first, *(code.rpartition("-")[2] for code in others)))


def _in_part(causes: Iterable[Hypothesis], report: Report) -> Iterator[str]:
    """Yield `CAUSE-70 and 71 (on 192.168.10.0/24; not examined on 192.168.11.0/24: UDP was skipped)`."""
    networks = report.cluster.networks
    every = [network.name for network in networks] if not isinstance(networks, Unknown) else []
    alike: dict[tuple[object, ...], list[Hypothesis]] = {}
    for cause in causes:
        alike.setdefault((cause.excluded_on, cause.standing, cause.because), []).append(cause)
    for same in alike.values():
        one = same[0]
        rest = [name for name in every if name not in one.excluded_on]
        standing = Certainty.POSSIBLE if one.standing is Certainty.POSSIBLE else Certainty.NOT_EXAMINED
        where = f" on {listed(rest)}" if rest else " elsewhere"
        why = f": {one.because[0].rstrip('.')}" if one.because else ""
        yield f"{_codes(same, len(same))} (on {listed(one.excluded_on)}; {standing}{where}{why})"
