"""The entries at the start of a report: each cause that was found, then each problem that belongs to none.

Text, screen, HTML and Markdown are views of these entries. The texts are not sanitized.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from checks.model.finding import PROBLEMS, Finding, Key, NextStep, Status, keyed, worst_first
from checks.model.hypothesis import Certainty, Diagnosis, Hypothesis, LossAccount
from checks.model.report import Report
from checks.model.situation import URGENT, Standing, Statement, status_now
from checks.model.wording import listed
from checks.report.folding import grouped_by_reason, is_rerun
from checks.report.standings import Standings

FOUND = (Certainty.PROVED, Certainty.SUPPORTED)
_EXPLAINED = (Standing.PLANNED, Standing.WAS, Standing.VERIFIED)
_WAY_ON = "`racwire investigate` separates them, step by step (key i in the console)."
_REASONS, _SEEN = 3, 2
"""The most reasons of an entry, and the most of these that are observations of its strongest finding."""


class Explained(msgspec.Struct, frozen=True):
    """Findings that end with a cause, in full or in part, alone or with others."""

    label: str
    """`Explains`, `Explains in part`, `Ends when both are fixed (this and CAUSE-73)`."""
    findings: tuple[Finding, ...]
    is_shared: bool = True
    """Whether they do not end with this cause alone."""


class ReportEntry(msgspec.Struct, frozen=True):
    """A cause at its place with the findings that it explains, or one problem without a known cause."""

    headline: str
    """The entry in one sentence that can be read aloud, with its place."""
    status: Status
    """The worst status of the findings of the entry."""
    findings: tuple[Finding, ...]
    """The findings that show the cause, the strongest first; at least one."""
    causes: tuple[Hypothesis, ...] = ()
    """Several where the evidence cannot tell them apart; empty where no cause is known."""
    effects: tuple[Finding, ...] = ()
    """The further findings that end with the cause, the worst first."""
    in_part: tuple[Finding, ...] = ()
    together: tuple[Explained, ...] = ()
    because: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    likewise: tuple[Finding, ...] = ()
    """The other findings that are UNKNOWN for the same reason."""
    next: tuple[NextStep, ...] = ()
    said: Statement | None = None
    """The statement about the entry; None where the report has no situation."""

    @property
    def holds(self) -> bool:
        """Whether it is so at the moment of the report, as far as known."""
        return self.said is None or self.said.is_alarm or self.findings[0].status is Status.UNKNOWN

    @property
    def standing(self) -> str:
        """The causes with their standing, for a line: `CAUSE-12 Jumbo frames misconfigured on a switch: supported`."""
        if not self.causes:
            return ""
        names = "; ".join(dict.fromkeys(f"{cause.cause} {cause.name}" for cause in self.causes))
        is_free = all(cause.costs_nothing for cause in self.causes)
        return f"{'one of ' if '; ' in names else ''}{names}: {self.causes[0].standing}" + (
            ", costs nothing now" if is_free else ""
        )

    @property
    def cause_codes(self) -> str:
        """The codes of the causes: `CAUSE-12`, `CAUSE-02 or CAUSE-73`; empty where no cause is known."""
        return " or ".join(dict.fromkeys(cause.cause for cause in self.causes))

    @property
    def tells_apart(self) -> str:
        """What would tell the causes of the entry apart, and the way on; empty where there is one cause."""
        if len({cause.cause for cause in self.causes}) < 2:
            return ""
        return " ".join(filter(None, (self.causes[0].tells_apart, _WAY_ON)))

    @property
    def hides(self) -> tuple[str, ...]:
        """The codes of the causes that were not examined behind this one."""
        return tuple(sorted({code for cause in self.causes for code in cause.hides}))

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources of the causes."""
        return tuple(dict.fromkeys(source for cause in self.causes for source in cause.sources))

    @property
    def codes(self) -> str:
        """The code and the check of each finding that shows the cause: `df-ping (IC-PATH-003)`."""
        return ", ".join(dict.fromkeys(f"{f.check} ({f.code})" for f in self.findings))

    @property
    def explained(self) -> tuple[Explained, ...]:
        """The findings below the headline: those that show the cause, except sentences that are printed above, and the
        effects; then what the cause explains in part, and what ends with several causes."""
        shown = tuple(f for f in self.findings if f.title not in (self.headline, *self.because))
        parts = (
            Explained("Explains", (*shown, *self.effects), is_shared=False),
            Explained("Explains in part", self.in_part),
            *self.together,
        )
        return tuple(part for part in parts if part.findings)

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """All findings that the entry stands for, each once."""
        shared = (f for part in self.together for f in part.findings)
        every = (*self.findings, *self.effects, *self.in_part, *shared, *self.likewise)
        return tuple({id(f): f for f in every}.values())


def cause_entries(report: Report) -> tuple[ReportEntry, ...]:
    """Return one entry for each cause at each place that was found and is not waived, in the order of the diagnosis.

    A finding of several places, or one that several causes share, is in several entries. By the situation of the report
    a cause that is over or planned has no entry, and those that are not known any more come last.
    """
    standings = Standings(report, report.situation) if report.situation else None
    now = (entry for _, entry in stated_entries(report, standings))
    held = [entry for entry in now if entry.said is None or entry.said.standing not in _EXPLAINED]
    return tuple(sorted(held, key=lambda entry: not entry.holds))


def stated_entries(report: Report, standings: Standings | None) -> Iterator[tuple[ReportEntry, ReportEntry]]:
    """Yield the entry of each cause that was found and is not waived, in the order of the diagnosis: with all of its
    findings, and as it stands. Without standings both are the same."""
    by_key = dict(keyed(report.findings))
    for alike in _alike(report.diagnosis.with_standing(*FOUND)):
        whole = _entry(report.diagnosis, alike, by_key)
        said = standings.of_cause(whole) if whole and standings else None
        if whole is None:
            continue
        if standings is None or said is None:
            yield whole, whole
            continue
        left = _left(whole, said, standings)
        over = {f.title for f in whole.findings if id(f) not in left}
        now = _entry(report.diagnosis, alike, {key: f for key, f in by_key.items() if id(f) in left}, over)
        yield whole, msgspec.structs.replace(now or whole, said=said)


def _left(entry: ReportEntry, said: Statement, standings: Standings) -> set[int]:
    """Return the ids of the findings of an entry that stand no better than it does; where each of those that show it
    does, all of these."""

    def rank(one: Statement | None) -> int:
        return 0 if one is None or one.standing in (Standing.NEW, Standing.HOLDS) else URGENT.index(one.standing)

    def is_left(finding: Finding) -> bool:
        return finding.status is Status.UNKNOWN or rank(standings.of(finding)) <= rank(said)

    shown = [f for f in entry.findings if is_left(f)] or entry.findings
    return {id(f) for f in (*shown, *filter(is_left, entry.all_findings))}


def further_entries(report: Report, causes: Sequence[ReportEntry]) -> tuple[ReportEntry, ...]:
    """Return one entry for each open problem that belongs to none of the causes, the worst first; by the situation of
    the report none for what is over or planned, and faults that are not known any more come last.

    Findings that are UNKNOWN for one reason, such as a node that could not be read, are one entry.
    """
    taken = {id(f) for entry in causes for f in entry.all_findings}
    left = [f for f in open_problems(report) if id(f) not in taken]
    said = {id(f): one for f, one in report.stated()}
    unexplained = {id(f) for f in report.findings_of(report.diagnosis.unexplained)}
    return tuple(
        ReportEntry(
            headline=alike.title,
            status=alike.finding.status,
            findings=(alike.finding,),
            likewise=alike.others,
            because=_reasons_of(report.diagnosis, alike.finding, is_unexplained=id(alike.finding) in unexplained),
            next=tuple(step for step in alike.next if not is_rerun(step, *alike.checks)) or alike.next,
            said=said[id(alike.finding)],
        )
        for alike in grouped_by_reason(left)
    )


def open_problems(report: Report) -> tuple[Finding, ...]:
    """Return the problems that are not waived, over or planned, worst first; faults that are not known any more are the
    last."""
    stated = [(f, status_now(f, said)) for f, said in report.stated() if f.status in PROBLEMS and not f.waived]
    is_lost = {id(f): now is not f.status for f, now in stated}
    return tuple(sorted(worst_first([f for f, now in stated if now is not None]), key=lambda f: is_lost[id(f)]))


def _reasons_of(diagnosis: Diagnosis, finding: Finding, *, is_unexplained: bool) -> tuple[str, ...]:
    """Return the accounts of lost blocks that no cause explains; of an UNKNOWN the reason, where its title lacks it."""
    if is_unexplained:
        return tuple(account.text for account in diagnosis.accounts if account.text and not account.explained)
    is_said = any(line.rstrip(".").casefold() in finding.title.casefold() for line in finding.seen[:1])
    return () if finding.status is not Status.UNKNOWN or is_said else finding.seen[:1]


def passed_checks(report: Report) -> tuple[str, ...]:
    """Return the checks of which every finding that is neither skipped nor INFO is a PASS."""
    calm = (Status.PASS, Status.SKIPPED, Status.INFO)
    passed = dict.fromkeys(f.check for f in report.holding(Status.PASS))
    other = {f.check for f, said in report.stated() if f.status not in calm or status_now(f, said) is not f.status}
    return tuple(check for check in sorted(passed) if check not in other)


def ends_with(others: Sequence[str]) -> str:
    """Return `Ends when both are fixed (this and CAUSE-73)`."""
    return f"Ends when {'both' if len(others) == 1 else 'all'} are fixed ({listed(('this', *others))})"


def causes_of(finding: Finding, report: Report) -> list[str]:
    """Return the causes that a finding of a report shows, or that explain it, each with its standing:
    `CAUSE-05 MTU of a node: proved`, and `in part`, or the causes that must be fixed with it."""
    found = report.diagnosis.with_standing(*FOUND)
    key = next((key for key, one in keyed(report.findings) if one is finding), None) if found else None
    said: dict[str, None] = {}
    for cause in found:
        text = f"{cause.cause} {cause.name}: {cause.standing}"
        if key in (*cause.shown_by, *cause.explains):
            said[text] = None
        elif key in cause.in_part:
            said[f"{text}, in part"] = None
        for one in cause.together:
            if one.finding == key:
                said[f"{text}, together with {listed(one.causes)}"] = None
    return list(said)


# --- the entry of a cause ---------------------------------------------------------------------------------------------


def _alike(found: Iterable[Hypothesis]) -> Iterable[list[Hypothesis]]:
    """Return the causes that were found, those that the evidence cannot tell apart together."""
    groups: dict[tuple[int, int], list[Hypothesis]] = {}
    for number, cause in enumerate(found):
        groups.setdefault((cause.entry, 0 if cause.entry else number), []).append(cause)
    return groups.values()


def _entry(
    diagnosis: Diagnosis, alike: Sequence[Hypothesis], by_key: Mapping[Key, Finding], over: Collection[str] = ()
) -> ReportEntry | None:
    """Return the entry of a cause and its alternatives; None where it is waived, or the report has none of its
    findings. `over` has the sentences of those that are over."""

    def findings(keys: Iterable[Key]) -> tuple[Finding, ...]:
        return tuple(by_key[key] for key in dict.fromkeys(keys) if key in by_key)

    first = alike[0]
    shown = findings(key for cause in alike for key in cause.shown_by)
    effects = tuple(worst_first(list(_open(findings(key for cause in alike for key in cause.explains), shown))))
    in_part = tuple(_open(findings(key for cause in alike for key in cause.in_part), (*shown, *effects)))
    if not shown:  # a cause that follows from its effects and from facts
        shown, effects, in_part = (effects, (), in_part) if effects else (in_part, (), ())
    counted = [f for f in (*shown, *effects, *in_part) if not f.waived]
    if first.is_waived or not counted:
        return None
    strongest = shown[0]
    headline = strongest.title if first.headline in ("", *over) else first.headline
    own = (text for text in first.because if text not in (headline, *over))
    because = dict.fromkeys((*own, *_accounts(diagnosis.accounts, alike), *strongest.seen[:_SEEN]))
    return ReportEntry(
        headline=headline,
        status=min((f.status for f in counted), key=lambda status: status.gravity),
        findings=shown,
        causes=tuple(alike),
        effects=effects,
        in_part=in_part,
        together=tuple(_together(alike, by_key)),
        because=tuple(because)[:_REASONS],
        against=tuple(dict.fromkeys(text for cause in alike for text in cause.against)),
        next=next((f.next for f in shown if f.next), ()) or tuple(step for cause in alike for step in cause.next),
    )


def _open(findings: Iterable[Finding], listed_above: Sequence[Finding]) -> Iterator[Finding]:
    above = {id(f) for f in listed_above}
    yield from (f for f in findings if not f.waived and id(f) not in above)


def _together(alike: Sequence[Hypothesis], by_key: Mapping[Key, Finding]) -> Iterator[Explained]:
    by_causes: dict[tuple[str, ...], dict[Key, Finding]] = {}
    for one in (one for cause in alike for one in cause.together):
        if one.finding in by_key and not by_key[one.finding].waived:
            by_causes.setdefault(one.causes, {})[one.finding] = by_key[one.finding]
    for others, findings in by_causes.items():
        yield Explained(ends_with(others), tuple(findings.values()))


def _accounts(accounts: Iterable[LossAccount], alike: Sequence[Hypothesis]) -> Iterator[str]:
    """Yield the accounts of lost blocks in which one of the causes has a share: those of its nodes, else all."""
    codes = {cause.cause for cause in alike}
    nodes = {node for cause in alike for node in cause.nodes}
    shares = [one for one in accounts if one.text and any(codes & {*code.split(" or ")} for code in one.explained)]
    near = [one for one in shares if one.node in nodes]
    yield from (one.text for one in near or shares)
