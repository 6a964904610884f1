"""What became of a case: the right cause first, partly, or missed; false sentences; alarms of healthy clusters.

Each test of a case records its outcome as a property of its report, so the table is complete under xdist too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from checks.model.finding import FAULTS
from checks.model.hypothesis import Certainty, Hypothesis
from checks.model.report import Report, exit_code
from checks.report.markdown import to_markdown
from tests.cases.loading import Case

PROPERTY = "outcome"
"""The name of the property of a test's report."""

FALSE_SENTENCES = (
    "network looks clean",
    "network is clean",
    "threw nothing away",
    "What is left is",
    "[Pp]ings (are|were|get) (filtered|dropped by a firewall)",
    "pings filtered",
    "Cache Fusion stands still",
    "is no path between two nodes",
    "The switch is (fine|innocent)",
    "must be the (switch|network|database)",
    "could not tell: no packet was sent",
)
"""Patterns that no report may contain: each was said in a trial, and was false in at least one case."""


class Result(StrEnum):
    """The result of a case."""

    RIGHT = "right first"
    PARTLY = "partly"
    MISSED = "missed"
    QUIET = "no alarm"
    ALARM = "alarm"
    BOTH = "both causes"
    ONE = "one cause"
    NEITHER = "neither cause"


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one case."""

    name: str
    group: str
    """`facts`, `practice cluster`, `pairs` or `healthy`."""
    wanted: str = ""
    found: str = ""
    """The proved and the supported causes of the report, in its order."""
    result: Result
    false: tuple[str, ...] = ()
    """The false sentences of the report."""

    @property
    def is_right(self) -> bool:
        """Whether nothing is to be improved."""
        return _is_well(self) and not self.false


def outcome_of(case: Case, report: Report) -> Outcome:
    """Return the outcome of a case with one fault, or of a healthy variant."""
    is_healthy = case.is_healthy
    group = "healthy" if is_healthy else "facts" if case.make.lab is None else "practice cluster"
    return Outcome(
        name=case.name,
        group=group,
        wanted="" if is_healthy else " ".join("/".join(wanted.causes) for wanted in case.expect.first) or "none",
        found=_found(report),
        result=_alarm(report) if is_healthy else _result(case, report),
        false=false_sentences(report, case.must_not.phrases),
    )


def outcome_of_pair(name: str, first: Case, second: Case, report: Report) -> Outcome:
    """Return the outcome of two faults at once: each must be among the first entries of the diagnosis."""
    shown = first_entries(report)
    named = [any(wanted.fits(h, report) for h in shown for wanted in case.expect.first[:1]) for case in (first, second)]
    return Outcome(
        name=name,
        group="pairs",
        wanted=" + ".join("/".join(case.expect.first[0].causes) for case in (first, second)),
        found=_found(report),
        result=Result.BOTH if all(named) else Result.ONE if any(named) else Result.NEITHER,
        false=false_sentences(report),
    )


def false_sentences(report: Report, phrases: Iterable[str] = ()) -> tuple[str, ...]:
    """Return what the report must not say: the patterns for all cases, and the phrases of one case."""
    whole = " ".join(to_markdown(report).decode().split())
    everywhere = (m[0] for pattern in FALSE_SENTENCES if (m := re.search(pattern, whole)))
    return (*everywhere, *(phrase for phrase in phrases if phrase in whole))


def first_entries(report: Report) -> tuple[Hypothesis, ...]:
    """Return the causes with which the report begins."""
    return report.diagnosis.with_standing(Certainty.PROVED, Certainty.SUPPORTED)


def _entries(shown: Iterable[Hypothesis]) -> list[list[Hypothesis]]:
    """Return the causes in their order, those that the evidence cannot tell apart together."""
    entries: dict[int, list[Hypothesis]] = {}
    for hypothesis in shown:
        entries.setdefault(hypothesis.entry, []).append(hypothesis)
    return list(entries.values())


def _found(report: Report) -> str:
    return " ".join(f"{h.cause}{'' if h.standing is Certainty.PROVED else '?'}" for h in first_entries(report))


def _alarm(report: Report) -> Result:
    faults = [f for f in report.findings if f.status in FAULTS]
    return Result.ALARM if faults or first_entries(report) or exit_code(report) else Result.QUIET


def _result(case: Case, report: Report) -> Result:
    shown, wanted = first_entries(report), case.expect.first
    if not wanted:
        # A fault for which no cause can be known from the evidence: every cause would be an invention.
        return Result.MISSED if any(h.standing is Certainty.PROVED for h in shown) else Result.RIGHT
    entries = _entries(shown)
    in_order = len(entries) >= len(wanted) and all(
        any(w.is_met_by(h, report) for h in entry) for w, entry in zip(wanted, entries, strict=False)
    )
    standings = {h.cause: h.standing for h in report.diagnosis.hypotheses}
    excluded = all(standings.get(cause) is Certainty.EXCLUDED for cause in case.expect.excluded)
    if in_order and excluded:
        return Result.RIGHT
    return (
        Result.PARTLY if any(w.fits(h, report) for w in wanted for h in report.diagnosis.hypotheses) else Result.MISSED
    )


# --- the table --------------------------------------------------------------------------------------------------------

GOALS = {"facts": 95, "practice cluster": 95, "pairs": 80, "healthy": 100}
"""The goals in percent of right cases."""


def table(outcomes: Sequence[Outcome], *, every_case: bool) -> list[str]:
    """Return the lines of the table: a line for each case, or for those to be improved, and the totals in percent."""
    chosen = [o for o in outcomes if every_case or not o.is_right]
    lines = [
        f"{o.group:<17}{o.name[:58]:<59}{o.result:<14}{_short(o.wanted):<12}{_short(o.found)}".rstrip()
        + "".join(f'\n{"":<17}FALSE: "{sentence}"' for sentence in o.false)
        for o in sorted(chosen, key=lambda o: (list(GOALS).index(o.group), o.name))
    ]
    for group, goal in GOALS.items():
        own = [o for o in outcomes if o.group == group]
        if own:
            counts = {result: sum(o.result is result for o in own) for result in Result}
            shares = ", ".join(f"{n} {result}" for result, n in counts.items() if n)
            right = sum(map(_is_well, own))
            false = sum(bool(o.false) for o in own)
            share = 100 * right / len(own)
            lines.append(
                f"{group:<17}{counted_cases(len(own))}: {share:.0f} % right (goal {goal} %): {shares}; {false} with a "
                "false sentence"
            )
    return lines


def missed_goals(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the groups that miss their goal, or have a false sentence."""
    return [
        group
        for group, goal in GOALS.items()
        if (own := [o for o in outcomes if o.group == group])
        and (100 * sum(_is_well(o) for o in own) < goal * len(own) or any(o.false for o in own))
    ]


def _is_well(outcome: Outcome) -> bool:
    return outcome.result in (Result.RIGHT, Result.QUIET, Result.BOTH)


def counted_cases(number: int) -> str:
    """Return `1 case`, `12 cases`."""
    return f"{number} case" if number == 1 else f"{number} cases"


def _short(causes: str) -> str:
    return causes.replace("CAUSE-", "")
