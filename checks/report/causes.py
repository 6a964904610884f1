"""The entries at the start of a report: each cause that was found, then each problem that belongs to none.

Text, screen, HTML and Markdown are views of these entries. The texts are not sanitized.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cache

import msgspec

from checks.model.finding import FAULTS, PROBLEMS, Finding, Remedy, Status, worst_first
from checks.model.hypothesis import Diagnosis, Hypothesis, Standing
from checks.model.report import Report
from checks.model.wording import counted
from checks.report.folding import grouped_by_reason, is_rerun

FOUND = (Standing.PROVED, Standing.SUPPORTED)
_REASONS, _SEEN = 3, 2
"""The most reasons of an entry, and the most of these that are observations of its strongest finding."""
_MOST_CODES = 24
"""The most codes in a line; a run of a few checks leaves more causes unexamined."""
_SUFFERED = ("IC-LOST-", "IC-TIME-", "IC-PING-", "IC-LOG-")
"""The codes of what the database and Clusterware suffered, of the past too: they name who noticed."""
_OVER = frozenset({"IC-LOST-009"})
"""The codes of losses that are over: no node is at fault now."""
_SHORTEST = 24
"""The fewest characters of a shortened sentence, which ends at a comma, a semicolon or a colon."""


class ReportEntry(msgspec.Struct, frozen=True):
    """A cause with all findings that it explains, or one problem without a known cause."""

    headline: str
    """The entry in one sentence that can be read aloud, with its place."""
    status: Status
    """The worst status of the findings of the entry."""
    findings: tuple[Finding, ...]
    """The findings that show the cause, the strongest first; at least one."""
    causes: tuple[Hypothesis, ...] = ()
    """Several where the same findings support them equally; empty where no cause is known."""
    effects: tuple[Finding, ...] = ()
    """The further findings that the cause explains, the worst first."""
    because: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    likewise: tuple[Finding, ...] = ()
    """The other findings that are UNKNOWN for the same reason."""
    next: tuple[Remedy, ...] = ()

    @property
    def standing(self) -> str:
        """The causes with their standing, for a line: `CAUSE-12 Jumbo frames misconfigured on a switch: supported`."""
        if not self.causes:
            return ""
        names = "; ".join(f"{cause.cause} {cause.name}" for cause in self.causes)
        return f"{'one of ' if len(self.causes) > 1 else ''}{names}: {self.causes[0].standing}"

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources of the causes."""
        return tuple(dict.fromkeys(source for cause in self.causes for source in cause.sources))

    @property
    def codes(self) -> str:
        """The code and the check of each finding that shows the cause: `df-ping (IC-PATH-003)`."""
        return ", ".join(dict.fromkeys(f"{f.check} ({f.code})" for f in self.findings))

    @property
    def explained(self) -> tuple[Finding, ...]:
        """The findings below the headline: those that show the cause, except its own sentence, and the effects."""
        shown = tuple(f for f in self.findings if f.title != self.headline and f.title not in self.because)
        return (*shown, *self.effects)

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """All findings that the entry stands for."""
        return (*self.findings, *self.effects, *self.likewise)


def cause_entries(report: Report) -> tuple[ReportEntry, ...]:
    """Return one entry for each cause that was found and is not waived, in the order of the diagnosis.

    A finding belongs to the first cause that it shows, or that explains it.
    """
    entries: list[ReportEntry] = []
    taken: set[int] = set()
    for alike in _alike(report):
        shown = _unless(taken, _showing(report, alike[0]))
        effects = _unless({*taken, *map(id, shown)}, _explained(report, alike))
        if not shown:  # a cause that follows from its effects and from facts
            shown, effects = effects, []
        if alike[0].is_waived or all(f.waived for f in (*shown, *effects)):
            continue
        taken |= {id(f) for f in (*shown, *effects)}
        entries.append(_entry(report, alike, shown, effects))
    return tuple(entries)


def further_entries(report: Report, causes: Sequence[ReportEntry]) -> tuple[ReportEntry, ...]:
    """Return one entry for each open problem that belongs to none of the causes, the worst first.

    Findings that are UNKNOWN for one reason, such as a node that could not be read, are one entry.
    """
    taken = {id(f) for entry in causes for f in entry.all_findings}
    left = [f for f in report.findings if f.status in PROBLEMS and not f.waived and id(f) not in taken]
    return tuple(
        ReportEntry(
            headline=finding.title,
            status=finding.status,
            findings=(finding,),
            likewise=likewise,
            because=_reasons_of(report, finding),
            next=tuple(step for step in finding.next if not is_rerun(step)) or finding.next,
        )
        for finding, likewise in grouped_by_reason(left)
    )


def _reasons_of(report: Report, finding: Finding) -> tuple[str, ...]:
    """Return the accounts of lost blocks that no cause explains; of an UNKNOWN the reason, where its title lacks it."""
    if finding.title in report.diagnosis.unexplained:
        return _accounts(report.diagnosis, None)
    is_said = any(line.rstrip(".").casefold() in finding.title.casefold() for line in finding.seen[:1])
    return () if finding.status is not Status.UNKNOWN or is_said else finding.seen[:1]


def nodes_at_fault(report: Report) -> dict[str, Status]:
    """Return the nodes at fault with the worst status of each: of a cause that was found its own places, and not the
    nodes that noticed its effects; of any other fault its nodes. Where a cause was found, what the database suffered
    marks a node only if no cause explains it; losses that are over mark none."""
    entries = cause_entries(report)
    explained = {id(f) for entry in entries for f in entry.all_findings}
    found = [
        (node, min((f.status for f in entry.findings), key=lambda status: status.gravity, default=Status.FAIL))
        for entry in entries
        for node in _places_of(entry)
    ]
    left = [f for f in report.findings if f.status in FAULTS and not f.waived and id(f) not in explained]
    left = [f for f in left if f.code not in _OVER]
    if entries:
        unexplained = report.diagnosis.unexplained
        left = [f for f in left if not f.code.startswith(_SUFFERED) or f.title in unexplained]
    found += [(node, f.status) for f in left for node in f.nodes]
    return dict(sorted(found, key=lambda one: one[1].gravity, reverse=True))  # the worst is the last of a node


def _places_of(entry: ReportEntry) -> set[str]:
    """Return the nodes at fault: those of the cause; where its findings disagree, those that most of them name."""
    named = Counter(node for finding in entry.findings for node in dict.fromkeys(finding.nodes))
    if not named:
        return {node for finding in entry.effects for node in finding.nodes}
    most = max(named.values())
    return {node for node, count in named.items() if count == most}


def other_causes(report: Report) -> Iterator[tuple[str, str]]:
    """Yield (label, sentence) about the causes that were not found: possible, excluded, and not examined."""
    diagnosis = report.diagnosis
    listed = {cause.cause for entry in cause_entries(report) for cause in entry.causes}
    for standing in FOUND:  # found, and waived, or without an open finding of its own
        if further := [c for c in diagnosis.with_standing(standing) if c.cause not in listed]:
            yield f"Also {standing}", f"{_codes(further, len(diagnosis.hypotheses))}."
    is_open = bool(diagnosis.with_standing(*FOUND) or diagnosis.unexplained)
    if is_open and (possible := diagnosis.with_standing(Standing.POSSIBLE)):
        yield "Also possible", f"{_codes(possible, len(diagnosis.hypotheses))}."
    if is_open and (excluded := diagnosis.with_standing(Standing.EXCLUDED)):
        yield "Excluded", f"{_codes(excluded, len(diagnosis.hypotheses))}."
    if unexamined := diagnosis.with_standing(Standing.NOT_EXAMINED):
        of = len(diagnosis.hypotheses)
        yield "Not examined", f"{len(unexamined)} of {counted(of, 'cause')}: `racwire explain causes`."


def passed_checks(report: Report) -> tuple[str, ...]:
    """Return the checks of which every finding that is neither skipped nor INFO is a PASS."""
    calm = (Status.PASS, Status.SKIPPED, Status.INFO)
    passed = dict.fromkeys(f.check for f in report.findings if f.status is Status.PASS)
    other = {f.check for f in report.findings if f.status not in calm}
    return tuple(check for check in sorted(passed) if check not in other)


def causes_of(finding: Finding, diagnosis: Diagnosis) -> list[str]:
    """Return the causes that were found and that this finding shows, or that explain it, each with its standing."""
    return [
        f"{cause.cause} {cause.name}: {cause.standing}"
        for cause in diagnosis.with_standing(*FOUND)
        if finding.title in (*cause.because, *cause.explains)
    ]


def shortened(sentence: str, most: int) -> str:
    """Return a sentence in at most that many characters: it ends before a comma, semicolon or colon, else between
    words with `…`, and not within parentheses."""
    text = " ".join(sentence.split())
    if len(text) <= most:
        return text
    ends = [at for at in range(_SHORTEST, most) if text[at] in ",;:" and text[at + 1] == " "]
    if ends:
        return text[: ends[-1]]
    kept = text[: most - 1].rpartition(" ")[0] or text[: most - 2]
    if kept.count("(") > kept.count(")"):
        kept = kept[: kept.rindex("(")].rstrip() or kept
    return f"{kept} …"


def _alike(report: Report) -> Iterator[list[Hypothesis]]:
    """Yield the causes that were found, those that the same findings support equally together."""
    groups: dict[object, list[Hypothesis]] = {}
    for number, cause in enumerate(report.diagnosis.with_standing(*FOUND)):
        key = (cause.because, cause.headline) if cause.standing is Standing.SUPPORTED else number
        groups.setdefault(key, []).append(cause)
    yield from groups.values()


def _showing(report: Report, cause: Hypothesis) -> list[Finding]:
    """Return the findings that show a cause, the worst first: by their titles, else by the codes of the catalogue."""
    faults = [f for f in report.findings if f.status in FAULTS]
    titles = {*cause.because, cause.headline}
    return worst_first([f for f in faults if f.title in titles] or _at_its_place(cause, faults))


def _explained(report: Report, alike: Sequence[Hypothesis]) -> list[Finding]:
    """Return the effects, and the further problems at the same place that the catalogue has under the same cause.

    Among the effects are paths that are UNKNOWN because of the cause.
    """
    faults = [f for f in report.findings if f.status in PROBLEMS and not f.waived]
    effects = {title for cause in alike for title in cause.explains}
    kin = [f for cause in alike for f in _at_its_place(cause, faults) if f.status in FAULTS]
    return worst_first([f for f in faults if f.title in effects or any(f is other for other in kin)])


def _at_its_place(cause: Hypothesis, faults: Sequence[Finding]) -> list[Finding]:
    codes = _codes_of_causes().get(cause.cause, frozenset())
    return [f for f in faults if f.code in codes and _is_near(cause, f)]


@cache
def _codes_of_causes() -> dict[str, frozenset[str]]:
    # The console has no cause before its first screen, which the catalogue would delay.
    from checks.diagnosis.catalogue import CATALOGUE

    return {cause.code: frozenset((*cause.proved_by, *cause.supported_by, *cause.hinted_by)) for cause in CATALOGUE}


def _is_near(cause: Hypothesis, finding: Finding) -> bool:
    if finding.network and cause.networks:
        return finding.network in cause.networks
    return not (finding.nodes and cause.nodes) or not set(finding.nodes).isdisjoint(cause.nodes)


def _unless(taken: Collection[int], findings: Sequence[Finding]) -> list[Finding]:
    return [f for f in findings if id(f) not in taken]


def _entry(
    report: Report, alike: Sequence[Hypothesis], shown: Sequence[Finding], effects: Sequence[Finding]
) -> ReportEntry:
    first, strongest = alike[0], shown[0]
    headline = first.headline or strongest.title
    titles = {f.title for f in report.findings}
    reasons = [text for text in first.because if text != headline]
    reasons = sorted(reasons, key=lambda text: text in titles)  # an observation of its own says more than a title
    accounts = _accounts(report.diagnosis, {cause.cause for cause in alike})
    because = dict.fromkeys((*reasons[:_REASONS], *accounts, *strongest.seen[:_SEEN]))
    steps = next((f.next for f in shown if f.next), ()) or tuple(step for cause in alike for step in cause.next)
    open_ = [f for f in (*shown, *effects) if not f.waived]
    return ReportEntry(
        headline=headline,
        status=min((f.status for f in open_), key=lambda status: status.gravity),
        findings=tuple(shown),
        causes=tuple(alike),
        effects=tuple(effects),
        because=tuple(because)[:_REASONS],
        against=tuple(dict.fromkeys(text for cause in alike for text in cause.against)),
        next=steps,
    )


def _accounts(diagnosis: Diagnosis, causes: Collection[str] | None) -> tuple[str, ...]:
    """Return the accounts of lost blocks in which one of the causes has a share; with None, those in which none has."""
    return tuple(
        account.text
        for account in diagnosis.accounts
        if account.text and (not account.explained if causes is None else not set(causes).isdisjoint(account.explained))
    )


def _codes(causes: Sequence[Hypothesis], total: int) -> str:
    """Return `CAUSE-01, 08 and 16`, or their number."""
    if len(causes) > _MOST_CODES:
        return f"{len(causes)} of {total} causes"
    first, *others = sorted(cause.cause for cause in causes)
    numbers = [code.rpartition("-")[2] for code in others]
    return ", ".join((first, *numbers[:-1])) + (f" and {numbers[-1]}" if numbers else "")
