"""The keys of findings in a diagnosis and in a situation, after the names in them were replaced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from checks.model.finding import Key, keyed
from checks.model.hypothesis import Diagnosis, Hypothesis
from checks.model.report import Report
from checks.model.situation import Former, Situation


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
    situation = _situation(report.situation, original.situation, now)
    return msgspec.structs.replace(report, diagnosis=diagnosis, situation=situation)


def _situation(of: Situation | None, was: Situation | None, now: Mapping[Key, Key]) -> Situation | None:
    if of is None or was is None:
        return of
    statements = tuple(
        msgspec.structs.replace(one, key=now[former.key])
        for one, former in zip(of.findings, was.findings, strict=True)
        if former.key in now
    )
    return msgspec.structs.replace(of, findings=statements, former=tuple(map(_former, of.former, was.former)))


def _former(of: Former, was: Former) -> Former:
    """Return a problem that the report does not have any more with the key of its finding."""
    finding = of.finding
    return msgspec.structs.replace(of, key=(finding.check, finding.code, finding.network, finding.nodes, was.key[-1]))
