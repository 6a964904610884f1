"""The keys of findings in a diagnosis, after the names in both were replaced."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from checks.model.finding import Key, keyed
from checks.model.hypothesis import Diagnosis, Hypothesis
from checks.model.report import Report


def with_keys_of(report: Report, original: Report) -> Report:
    """Return the report with the keys that its findings have now, in place of those in the original report: pseudonyms
    change the keys, and the order of the titles by which findings of one kind and place are numbered."""
    pairs = zip(keyed(original.findings), keyed(report.findings), strict=True)
    now = {old: new for (old, _), (new, _) in pairs}

    def renewed(keys: Iterable[Key]) -> tuple[Key, ...]:
        return tuple(now[key] for key in keys if key in now)

    def cause(of: Hypothesis, was: Hypothesis) -> Hypothesis:
        together = zip(of.together, was.together, strict=True)
        return msgspec.structs.replace(
            of,
            shown_by=renewed(was.shown_by),
            explains=renewed(was.explains),
            in_part=renewed(was.in_part),
            together=tuple(
                msgspec.structs.replace(one, finding=now[former.finding])
                for one, former in together
                if former.finding in now
            ),
        )

    before: Diagnosis = original.diagnosis
    hypotheses = map(cause, report.diagnosis.hypotheses, before.hypotheses)
    diagnosis = msgspec.structs.replace(
        report.diagnosis, hypotheses=tuple(hypotheses), unexplained=renewed(before.unexplained)
    )
    return msgspec.structs.replace(report, diagnosis=diagnosis)
