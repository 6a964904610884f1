"""The keys of findings in a diagnosis and a situation, after the names in all were replaced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from checks.model.finding import Key, keyed
from checks.model.hypothesis import Diagnosis, Hypothesis
from checks.model.report import Report
from checks.model.situation import Situation


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
    return msgspec.structs.replace(report, diagnosis=diagnosis, situation=_situation(report, original, now))


def _situation(report: Report, original: Report, now: Mapping[Key, Key]) -> Situation | None:
    situation, before = report.situation, original.situation
    if situation is None or before is None:
        return None
    stated = zip(situation.findings, before.findings, strict=True)
    gone = zip(situation.former, before.former, strict=True)
    return msgspec.structs.replace(
        situation,
        findings=tuple(msgspec.structs.replace(of, key=now[was.key]) for of, was in stated if was.key in now),
        former=tuple(
            # The report has no such finding any more.
            msgspec.structs.replace(of, key=(*was.key[:2], of.finding.network, of.finding.nodes, was.key[4]))
            for of, was in gone
        ),
    )
