"""Diagnose a run: each cause that was found at its place, with what ends when no other is fixed, and all others.

The order in which checks ended has no influence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from checks.diagnosis.account import loss_accounts
from checks.diagnosis.bad_links import bad_links
from checks.diagnosis.candidate import Candidate
from checks.diagnosis.catalogue import CATALOGUE
from checks.diagnosis.cause import Cause
from checks.diagnosis.cover import Covering, cover
from checks.diagnosis.exclusion import not_found
from checks.diagnosis.predict import LostPaths, inferred, stated
from checks.diagnosis.seen import Loss, Seen
from checks.diagnosis.sign_words import SIGN_WORDS
from checks.model.facts import Cluster
from checks.model.finding import FAULTS, PROBLEMS, Finding, Key, Status, by_place
from checks.model.hypothesis import Certainty, Diagnosis, Footprint, How, Hypothesis, LossAccount, Together
from checks.model.observation import Fate
from checks.model.wording import listed

_ORDER = list(Certainty)
_SENT = frozenset({Fate.PASSED, Fate.LOST})


@dataclass(eq=False)
class _Entry:
    """An entry of the diagnosis, with the findings that it explains."""

    covering: Covering
    shown: tuple[Finding, ...]
    explains: list[Finding] = field(default_factory=list)
    in_part: list[Finding] = field(default_factory=list)
    together: dict[int, tuple[Finding, set[str]]] = field(default_factory=dict)
    hides: list[str] = field(default_factory=list)

    @property
    def has_fault(self) -> bool:
        """Whether one of its findings is a fault; else it is about remarks alone."""
        of_several = [finding for finding, _ in self.together.values()]
        return any(f.status in FAULTS for f in (*self.shown, *self.explains, *self.in_part, *of_several))

    @property
    def lead(self) -> Candidate:
        return self.covering.first


def diagnose(cluster: Cluster, findings: Iterable[Finding], causes: Sequence[Cause] = CATALOGUE) -> Diagnosis:
    """Return what was found, the worst and largest first, then the standing of each other cause.

    A cause is reported where a finding states it, and where losses that no such cause covers fit one of its patterns.
    Waived findings count: a waiver accepts a finding and does not make it untrue.
    """
    seen = Seen(cluster, findings)
    lost = LostPaths(seen)
    found = cover(
        seen,
        [one for cause in causes for one in stated(cause, seen)],
        [one for cause in causes if cause.patterns for one in _offered(cause, lost)],
    )
    entries = [_Entry(one, _shown_by(one, seen)) for one in found]
    _attribute(seen, entries)
    entries = [entry for entry in entries if entry.has_fault]
    found = [entry.covering for entry in entries]
    accounts = loss_accounts(seen, found)
    entries.sort(key=lambda entry: _rank(entry, accounts))
    of_entries = {one.cause.code for entry in entries for one in entry.covering.alternatives}
    others = []
    for cause in causes:
        if cause.code not in of_entries:
            other, hidden_by = not_found(cause, seen, [entry.covering for entry in entries])
            others.append(other)
            for entry in entries:
                if entry.covering is hidden_by:
                    entry.hides.append(cause.code)
    said = [_hypotheses(seen, number, entries, accounts) for number in range(1, len(entries) + 1)]
    covered = frozenset[int]().union(*(entry.covering.losses for entry in entries))
    left = {loss.key: None for loss in seen.losses if loss.finding.status in FAULTS and loss.number not in covered}
    partly = {seen.key(f) for entry in entries for f in (*entry.shown, *entry.in_part, *entry.explains)}
    return Diagnosis(
        hypotheses=(
            *(one for every in said for one in every),
            *sorted(others, key=lambda h: (_ORDER.index(h.standing), h.cause)),
        ),
        unexplained=tuple(key for key in left if key not in partly),
        accounts=accounts,
        not_compared=_without_observations(seen),
    )


def _offered(cause: Cause, lost: LostPaths) -> Iterable[Candidate]:
    return bad_links(cause, lost) if cause.is_link_of_aggregation else inferred(cause, lost)


def _without_observations(seen: Seen) -> tuple[str, ...]:
    return tuple(sorted({f.check for f in seen.findings if not f.observed and f.status in (*FAULTS, Status.PASS)}))


def _shown_by(covering: Covering, seen: Seen) -> tuple[Finding, ...]:
    """Return the findings that show an entry: those that state it; else those of its losses that its causes are known
    by, or else those of racwire's own packets."""
    if covering.first.is_stated:
        return covering.first.shown
    own = dict.fromkeys(loss.finding.code for loss in seen.losses if loss.number in covering.losses)
    codes = [c for one in covering.alternatives for c in one.cause.shown_by if c in own]
    codes = codes or [loss.finding.code for loss, _ in seen.placed_losses() if loss.number in covering.losses]
    shown = {id(loss.finding): loss.finding for loss in seen.losses if loss.number in covering.losses}
    found = [f for code in dict.fromkeys(codes) for f in shown.values() if f.code == code]
    return tuple(sorted(found, key=lambda f: f.status not in FAULTS))


def _attribute(seen: Seen, entries: Sequence[_Entry]) -> None:
    """Attribute each finding to the entries: what ends when one alone is fixed, and what when several are."""
    by_finding: dict[int, list[int]] = {}
    finding_of: dict[int, Finding] = {}
    for loss in seen.losses:
        by_finding.setdefault(id(loss.finding), []).append(loss.number)
        finding_of[id(loss.finding)] = loss.finding
    for of, numbers in by_finding.items():
        finding = finding_of[of]
        if finding.status not in PROBLEMS:
            continue
        symptom = next((e for e in entries if e.lead.cause.is_symptom and finding in e.shown), None)
        if symptom is not None:
            continue  # it has an entry of its own since no other cause explains it
        holders = {n: [e for e in entries if _may_lose(e, seen.losses[n])] for n in numbers}
        is_proof = any(finding in e.shown and e.lead.standing is Certainty.PROVED for e in entries)
        for entry in entries:
            mine = [n for n in numbers if n in entry.covering.losses]
            if not mine or finding in entry.shown:
                continue
            alone = [n for n in mine if holders[n] == [entry] and entry.lead.is_enough(seen.losses[n], seen)]
            if is_proof and alone:
                continue  # what proves a cause is no effect of another one
            if len(alone) == len(numbers) and not _is_bound(entry, seen, alone):
                entry.explains.append(finding)
            elif alone or any(holders[n] == [entry] for n in mine):
                entry.in_part.append(finding)
            else:
                others = {e.lead.cause.code for n in mine for e in holders[n] if e is not entry}
                entry.together[of] = (finding, others)
    covered = frozenset[int]().union(*(entry.covering.losses for entry in entries))
    for finding in seen.not_passed:
        if finding.status in PROBLEMS and covered.isdisjoint(by_finding.get(id(finding), ())):
            leading = [e for e in entries if e.covering.implies(finding) and finding not in e.shown]
            if len(leading) == 1:
                leading[0].explains.append(finding)
            for entry in leading if len(leading) > 1 else ():
                entry.together[id(finding)] = (finding, {e.lead.cause.code for e in leading if e is not entry})


def _may_lose(entry: _Entry, loss: Loss) -> bool:
    """Return whether an entry has a part in a loss. Of what is lost whole, a cause that loses a share loses that share
    once the other cause is fixed."""
    is_whole = loss.observation.is_total and loss.number not in entry.covering.losses
    return loss.number in entry.covering.may_lose or (is_whole and entry.lead.touches(loss))


def _is_bound(entry: _Entry, seen: Seen, numbers: Sequence[int]) -> bool:
    """Return whether the counter that proves a cause allows fewer losses than a finding has."""
    counted = [o.number for f in entry.shown for o in f.observed if o.fate is Fate.COUNTED and o.number]
    lost = sum(loss.observation.number for loss in seen.losses if loss.number in numbers)
    return bool(counted) and entry.lead.cause.is_bound and lost > sum(counted)


def _rank(entry: _Entry, accounts: Sequence[LossAccount]) -> tuple[object, ...]:
    """Worst and largest first; then what needs no outage; what the logs alone report comes last."""
    problems = [f for f in (*entry.shown, *entry.explains) if f.status in FAULTS]
    return (
        entry.lead.cause.is_symptom and (entry.lead.cause.is_late or entry.lead.standing is Certainty.SUPPORTED),
        min((f.status.gravity for f in problems), default=99),
        -(_lost_blocks(entry.lead, accounts) or 0),
        _ORDER.index(entry.lead.standing),
        -len(entry.explains) - len(entry.in_part),
        min((step.effect.rank for f in entry.shown for step in f.next if step.is_change), default=0),
        len(entry.lead.place.nodes) or 99,
        entry.lead.cause.code,
        entry.lead.at,
    )


def _lost_blocks(one: Candidate, accounts: Sequence[LossAccount]) -> int | None:
    """Return the lost blocks that a cause alone explains; None where it is in no account. What a receiver's counter
    bounds is lost at its place."""
    code, at = one.cause.code, set(one.place.nodes) if one.cause.is_bound else set[str]()
    shares = [a.explained[code] for a in accounts if code in a.explained and (not at or a.node in at)]
    return sum(shares) if shares else None


# --- what is said -----------------------------------------------------------------------------------------------------


def _hypotheses(
    seen: Seen, number: int, entries: Sequence[_Entry], accounts: Sequence[LossAccount]
) -> list[Hypothesis]:
    entry = entries[number - 1]
    problems = [f for f in (*entry.shown, *entry.explains) if f.status in FAULTS]
    keys = [seen.key(f) for f in entry.shown]
    headline = _headline(seen, entry, entries)
    return [
        Hypothesis(
            cause=one.cause.code,
            name=one.cause.name,
            sources=one.cause.sources,
            standing=one.standing,
            entry=number,
            headline=headline,
            place=one.place,
            footprint=one.effects,
            shown_by=tuple(keys),
            explains=_keys(seen, entry.explains),
            in_part=_keys(seen, entry.in_part),
            together=tuple(
                Together(finding=seen.key(f), causes=tuple(sorted(causes))) for f, causes in entry.together.values()
            ),
            because=tuple(f.title for f in entry.shown),
            tells_apart=_tells_apart(entry.covering.alternatives),
            hides=tuple(entry.hides),
            data=entry.shown[0].data if entry.shown else {},
            lost_blocks=_lost_blocks(one, accounts),
            costs_nothing=one.standing is Certainty.PROVED and _costs_nothing(seen, entry),
            is_waived=bool(problems) and all(f.waived for f in problems),
            next=() if one.standing is Certainty.PROVED else one.cause.look,
        )
        for one in entry.covering.alternatives
    ]


def _costs_nothing(seen: Seen, entry: _Entry) -> bool:
    """Return whether nothing is lost or late by an entry, where packets that it touches were sent."""
    counted = any(one.fate is Fate.COUNTED and one.number for f in entry.shown for one in f.observed)
    if entry.covering.losses or counted:
        return False
    touched = [effect.traffic for effect in entry.lead.effects]
    sent = (leg for f in seen.findings for one in f.observed if one.fate in _SENT for leg in one.legs)
    return not touched or any(leg.meets(traffic) for leg in sent for traffic in touched)


def _keys(seen: Seen, findings: Iterable[Finding]) -> tuple[Key, ...]:
    return tuple(seen.key(f) for f in sorted(findings, key=by_place))


def _headline(seen: Seen, entry: _Entry, entries: Sequence[_Entry]) -> str:
    """Return the title of the finding that shows the entry, where that finding is about this entry alone; else what
    is lost, and where."""
    if not entry.shown:
        return f"{entry.lead.cause.name} {entry.lead.place.text}."
    strongest = entry.shown[0]
    own = {loss.number for loss in seen.losses if loss.finding is strongest}
    is_shared = sum(strongest in other.shown for other in entries) > 1
    if not is_shared and (entry.lead.is_stated or own <= entry.covering.losses):
        return strongest.title
    if not entry.lead.effects:
        return f"{entry.lead.cause.name} {entry.lead.place.text}."
    effect = entry.lead.effects[0]
    return f"{_lost_packets(effect)} {entry.lead.place.text}."


def _lost_packets(effect: Footprint) -> str:
    bare = msgspec.structs.replace(effect.traffic, networks=None, senders=None, receivers=None)
    verb = "vanish" if effect.how is How.STOPS else "are lost in part"
    return f"{bare.text[:1].upper()}{bare.text[1:]} {verb}"


def _tells_apart(alternatives: Sequence[Candidate]) -> str:
    shown = {one.cause.code: listed(_shown_as(one), "or") for one in alternatives}
    signs = [f"{text} ({code})" for code, text in shown.items() if text]
    return f"These tell them apart: {'; '.join(signs)}." if len(signs) > 1 else ""


def _shown_as(one: Candidate) -> tuple[str, ...]:
    """Return how the forms of a cause that can be at its place show there, each in a few words."""
    kinds = [kind for kind in one.cause.kinds if one.width in {at.width for at in kind.at or one.cause.at}]
    signs = [sign for kind in kinds for sign in kind.signs] or [sign for kind in kinds for sign in kind.may_show]
    return tuple(dict.fromkeys(SIGN_WORDS[sign] for sign in signs))
