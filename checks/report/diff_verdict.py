"""What a comparison of two reports comes to, in the sentence that stands first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from checks.model.finding import PROBLEMS, Finding, Status
from checks.model.wording import counted, listed
from checks.report.diff_findings import Change, FindingChange

_NOUNS = {Status.FAIL: "failure", Status.UNKNOWN: "open question", Status.WARN: "warning"}
_GONE = (Change.GONE, Change.MILDER, Change.TOLD)
_EASED = (Change.LESS, Change.NARROWER)
_NEW = (Change.NEW, Change.TOLD)


def verdict(changes: Collection[FindingChange]) -> str:
    """`Better: 2 failures are gone, 1 warning is left.` What is waived counts neither as worse nor as left."""
    worse, better = list(_worse(changes)), list(_better(changes))
    left = [f for f in (c.after for c in changes if c.change is not Change.FIRST_LOOK) if f and _counts(f)]
    if worse:
        told = f"Worse: {'; '.join(filter(None, (', '.join(worse), ', '.join(better))))}."
    elif better:
        told = f"Better: {', '.join([*better, _all(left, 'left') or 'no problem is left'])}."
    else:
        told = f"Nothing is worse or better{_as_before(left)}."
    return " ".join([told, *_not_compared(changes)])


def _worse(changes: Iterable[FindingChange]) -> Iterator[str]:
    worse = [(c, c.worse) for c in changes if c.worse]
    yield from _each(((s for c, s in worse if c.change in _NEW)), "is new", "are new")
    rest = [(c, s) for c, s in worse if c.change not in (*_NEW, Change.LIFTED, Change.UNTOLD)]
    yield from _each((s for _, s in rest), "got worse", "got worse")
    yield from _each((s for c, s in worse if c.change is Change.LIFTED), "is no longer waived", "are no longer waived")
    if untold := sum(c.change is Change.UNTOLD for c, _ in worse):
        yield f"{counted(untold, 'finding')} cannot be told any more"


def _better(changes: Iterable[FindingChange]) -> Iterator[str]:
    had = [(c, c.before.status) for c in changes if c.before and c.before.status in PROBLEMS and not c.worse]
    gone = (s for c, s in had if c.change in _GONE and (c.after is None or c.after.status is not s))
    yield from _each(gone, "is gone", "are gone")
    yield from _each((s for c, s in had if c.change in _EASED), "is milder", "are milder")
    yield from _each((s for c, s in had if c.change is Change.WAIVED), "is waived now", "are waived now")


def _not_compared(changes: Iterable[FindingChange]) -> Iterator[str]:
    found = Counter(c.change for c in changes if c.is_problem)
    for change, when in ((Change.LEFT_OUT, "again"), (Change.FIRST_LOOK, "before")):
        if number := found[change]:
            yield f"{counted(number, 'problem')} {'was' if number == 1 else 'were'} not looked at {when}."


def _counts(finding: Finding) -> bool:
    return finding.status in PROBLEMS and not finding.waived


def _each(statuses: Iterable[Status], one: str, several: str) -> Iterator[str]:
    """`2 failures are gone`, `1 warning is gone`: the gravest first."""
    found = Counter(statuses)
    for status, noun in _NOUNS.items():
        if number := found[status]:
            yield f"{counted(number, noun)} {one if number == 1 else several}"


def _all(findings: Collection[Finding], what: str) -> str:
    """`1 failure and 2 warnings are left`; empty where there is none."""
    found = Counter(f.status for f in findings)
    told = listed(counted(found[status], noun) for status, noun in _NOUNS.items() if found[status])
    return f"{told} {'is' if len(findings) == 1 else 'are'} {what}" if told else ""


def _as_before(left: Collection[Finding]) -> str:
    told = _all(left, "as it was" if len(left) == 1 else "as they were")
    return f"; {told}" if told else ""
