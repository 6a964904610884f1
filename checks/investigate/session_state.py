"""Where a session is after its answers: the next question, what ended, and what that settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checks.diagnosis.cause import Cause
from checks.investigate.choice import OTHER, Left, Offer, StepChoice
from checks.investigate.placing_step import placing_step
from checks.investigate.step_predictions import Known, Other, is_contradicted, naming
from checks.investigate.steps import Offered, offered_for
from checks.investigate.steps.scene import scenes
from checks.investigate.steps.sending import BUDGET, PACE, PLACE_RARE_LOSS, carrying
from checks.investigate.suspects import Run, Settled, SuspectEntry
from checks.model.facts import Cluster
from checks.model.finding import Finding, Key
from checks.model.investigation import (
    By,
    End,
    EntryEnding,
    Fared,
    NotOffered,
    SessionStep,
    StepAnswer,
    StepSaid,
    Suspect,
    SuspectStanding,
)
from checks.model.signs import SOLE, SignAt
from checks.rules.placed_loss import placed_losses

_MOST_ENDS = 40
"""Entries that are examined one after the other, at most."""
_MOST_CONFIRMING_PEERS = 2
_OF_ALL_KINDS = ("udp-against-pings", "private-against-haip", "fragments-against-whole")
"""The steps that compare kinds of packets: what is left over without a sign must fare as it says in all of them."""
_MOST_OF_ALL_KINDS = 400
"""Datagrams of such a step; of a rarer loss it would cost the budget."""


@dataclass(frozen=True, eq=False)
class Question:
    """The next question."""

    number: int
    entry: SuspectEntry
    standing: tuple[tuple[Suspect, SuspectStanding], ...]
    """Each cause at a place that can have lost it, once."""
    best: Offer
    others: tuple[Offer, ...] = ()
    not_offered: tuple[tuple[SessionStep, NotOffered], ...] = ()
    confirms: Suspect | None = None
    """The suspect that its sign names, where the step only shows whether both directions fare as it says."""


class Memory:
    """A run, and what was computed for its sessions: that follows from the run and the answers."""

    def __init__(self, cluster: Cluster, findings: tuple[Finding, ...], causes: Sequence[Cause]) -> None:
        self.cluster, self.findings, self._causes = cluster, findings, causes
        self.known = Known()
        self._runs: dict[int, Run] = {}
        self._entries: dict[tuple[Settled, int], tuple[SuspectEntry, ...]] = {}
        self._states: dict[tuple[object, ...], SessionState] = {}
        self.choices: dict[tuple[SuspectEntry, tuple[tuple[int, ...], ...]], StepChoice] = {}

    def state(self, answers: Sequence[StepAnswer]) -> SessionState:
        """Return where a session is after these answers."""
        found, key = self._at((), None, ()), tuple[object, ...]()
        for number, one in enumerate(answers, 1):
            key = (*key, (one.step.key, one.said, one.fared, one.seen, one.looked, one.placing))
            found = self._at(key, found, answers[:number])
        return found

    def _at(self, key: tuple[object, ...], before: SessionState | None, answers: Sequence[StepAnswer]) -> SessionState:
        if key not in self._states:
            self._states[key] = SessionState(self, answers, before)
        return self._states[key]

    def suspect(self, key: str) -> Suspect:
        """Return a suspect of the run by its key."""
        return next(run.suspects[key] for run in self._runs.values() if key in run.suspects)

    def entries(self, settled: Settled, placed: Sequence[Finding]) -> tuple[SuspectEntry, ...]:
        """Return what is left open; `placed`: what the placing of a rare loss found."""
        key, number = (settled, len(placed)), len(placed)
        if number not in self._runs:
            self._runs[number] = Run(self.cluster, (*self.findings, *placed), self._causes)
        if key not in self._entries:
            self._entries[key] = tuple(self._runs[number].entries(settled))
        return self._entries[key]


@dataclass(frozen=True)
class _Closed:
    """An entry that was examined to its end."""

    ending: EntryEnding
    losses: tuple[Key, ...]


class SessionState:
    """Where a session is after its answers. What ended before the last answer stays so."""

    def __init__(self, memory: Memory, answers: Sequence[StepAnswer], before: SessionState | None) -> None:
        self._memory = memory
        self._answers = tuple(answers)
        self._done = [a for a in self._answers if a.said is StepSaid.DONE]
        self._used = frozenset(a.step.key for a in self._answers)
        self.settled: Settled = before.settled if before else Settled()
        self.question: Question | None = None
        self._closed: dict[tuple[str, ...], _Closed] = dict(before._closed) if before else {}
        self._only_signs: set[str] = set(before._only_signs) if before else set()
        """The networks on which a "none of these" came: there, only a sign names a cause then."""
        self._gone_with_none: set[str] = set(before._gone_with_none) if before else set()
        placed = placed_losses(self._done)
        for _ in range(_MOST_ENDS):
            self.entries = memory.entries(self.settled, placed)
            entry = next((e for e in self.entries if e.is_open and e.keys not in self._closed), None)
            if entry is None:
                break
            self.question = self._examine(entry)
            if self.question is not None:
                break

    @property
    def endings(self) -> list[EntryEnding]:
        """How the entries ended. A "none of these" remains for what is still not explained."""
        # What is proved since can explain what was left over, or could not be told apart.
        still = {id(self._closed[e.keys]) for e in self.entries if e.is_open and e.keys in self._closed}
        known = [one for one in self._closed.values() if one.ending.end is not End.NONE]
        said = [one for one in known if one.ending.end is End.PROVED or id(one) in still]
        open_ = {key for e in self.entries if e.is_open and not e.alternatives for key in e.shown_by}
        none = [one for one in self._closed.values() if one.ending.end is End.NONE and open_ & set(one.losses)]
        ended = {(one.ending.end, tuple(s.named for s in one.ending.suspects)): one.ending for one in said}
        return [*ended.values(), *(one.ending for one in none[:1])]

    # --- one entry ----------------------------------------------------------------------------------------------------

    def _alive(self, entry: SuspectEntry) -> tuple[int, ...]:
        """Return the alternatives of another entry that no answer contradicts by itself."""
        known = self._memory.known

        def is_alive(one: int) -> bool:
            key, suspect = entry.keys[one], entry.alternatives[one]
            return not any(is_contradicted(a.step, a, known.impact(a.step, key, suspect)) for a in self._done)

        return tuple(one for one in range(len(entry.alternatives)) if is_alive(one))

    def _choice(self, entry: SuspectEntry, offered: Offered) -> StepChoice:
        memory = self._memory
        others = [Other(e, self._alive(e)) for e in self.entries if e is not entry and e.is_placed]
        key = entry, tuple(one.alive for one in others)
        if key not in memory.choices:
            every = (*offered.steps, *(step for step, _ in offered.withheld))
            memory.choices[key] = StepChoice(entry, others, every, memory.known)
        return memory.choices[key]

    def _examine(self, entry: SuspectEntry) -> Question | None:
        """Return the question about an entry; None where it has ended, which is noted."""
        if not entry.is_placed:
            return self._place(entry)
        offered = offered_for(entry, self._memory.cluster, self._answers)
        choice = self._choice(entry, offered)
        choice.damage = tuple(sign for answer in self._done for sign in answer.seen if sign.sign not in SOLE)
        left = choice.every
        for answer in self._done:
            left = choice.after(left, answer)
        used = self._used | {step.key for step, _ in offered.withheld}
        ranked = [one for one in choice.ranked(left, used) if not self._lacks_proof(entry, one.step)]
        if ranked:
            return self._ask(entry, choice, left, ranked, offered)
        return self._end(entry, choice, left, offered)

    def _ask(
        self, entry: SuspectEntry, choice: StepChoice, left: Left, ranked: Sequence[Offer], offered: Offered,
        confirms: Suspect | None = None,
    ) -> Question | None:  # fmt: skip
        offers: dict[str, Offer] = {}
        for offer in ranked:
            first = self._before_hands(entry, offer)
            offers.setdefault(first.step.key, first)
        best, *others = offers.values()
        return Question(
            number=len(self._answers) + 1,
            entry=entry,
            standing=_standing(choice, left),
            best=best,
            others=tuple(others),
            not_offered=offered.withheld,
            confirms=confirms,
        )

    def _before_hands(self, entry: SuspectEntry, offer: Offer) -> Offer:
        """Return the step that proves that another network carries the nodes that hands shall touch, unless it was
        answered just now; any other step as it is."""
        made = self._carrying(entry, offer.step) if offer.step.by is By.HANDS else None
        if made is None:
            return offer
        last = self._answers[-1] if self._answers else None
        is_fresh = (
            last is not None
            and last.step.key == made.key
            and last.said is StepSaid.DONE
            and all(one is Fared.NONE_LOST for one in last.fared)
        )
        return offer if is_fresh else Offer(made, 0.0, opens=offer.step)

    def _carrying(self, entry: SuspectEntry, step: SessionStep) -> SessionStep | None:
        found = scenes(entry, self._memory.cluster, self._answers)
        scene = next((one for one in found if one.network in step.place.networks), None)
        return None if scene is None or scene.is_stopped(step.place.nodes) else carrying(scene, step)

    def _lacks_proof(self, entry: SuspectEntry, step: SessionStep) -> bool:
        """Return whether hands shall touch nodes which no other network was proved to carry."""
        made = self._carrying(entry, step) if step.by is By.HANDS else None
        last = next((a for a in reversed(self._answers) if made and a.step.key == made.key), None)
        return last is not None and last.said is not StepSaid.DONE

    def _end(self, entry: SuspectEntry, choice: StepChoice, left: Left, offered: Offered) -> Question | None:
        real = frozenset(one for one in left if one != OTHER)
        networks = {name for one in entry.alternatives for name in one.place.networks}
        needs_sign = not self._only_signs.isdisjoint(networks)
        if choice.names(real) == 1:
            sign = next((s for one in sorted(real) if (s := choice.sign_of(one, self._done))), None)
            # No name is given before packets at its place were seen to fare as it says.
            tests = self._tests(choice, real, offered, is_named=sign is not None) if sign or not needs_sign else []
            if due := [step for step in tests if step.key not in self._used]:
                named = choice.suspects(real)
                return self._ask(
                    entry, choice, left, [Offer(step, 0.0, (named, ())) for step in due], offered, named[0]
                )
            done = {answer.step.key for answer in self._done}
            if sign is not None:
                is_seen = all(step.key in done for step in tests)
                rivals = self._rivals(sign, choice.suspects(real)[0])
                end = End.APART if rivals else End.PROVED if is_seen else End.LEFT_OVER
                self._close(entry, choice, real, end, sign, rivals)
                return None
        if real and not needs_sign and not self._shows_nothing(choice.suspects(real)):
            end = End.LEFT_OVER if choice.names(real) == 1 else End.APART
            self._close(entry, choice, real, end)
            return None
        # What is left over after "none of these" is no name: only a sign is.
        self._close(entry, choice, frozenset(), End.NONE)
        return None

    def _looking(self, left: Suspect, offered: Offered) -> list[SessionStep]:
        """Return the cheapest step by command for each sign that what is left may show, and for which no one looked."""
        looked = [at for answer in self._done for at in answer.looked]
        found = dict[str, SessionStep]()
        for sign in (*left.signs, *left.may_show):
            steps = [s for s in offered.steps if s.by is By.COMMAND and any(sign.shows(at) for at in s.reads)]
            if steps and not any(sign.shows(at) for at in looked):
                step = min(steps, key=lambda s: (s.price.number, s.key))
                found[step.key] = step
        return list(found.values())

    def _shows_nothing(self, left: tuple[Suspect, ...]) -> bool:
        """Return whether what is left is on a path, and nothing that it may show there was seen where it was looked
        for: no name is given then."""
        looked = [at for answer in self._done for at in answer.looked]
        return all(
            bool(one.place.to and one.may_show) and all(any(s.shows(at) for at in looked) for s in one.may_show)
            for one in left
        ) and not any(s.shows(mine) for a in self._done for s in a.seen for one in left for mine in one.may_show)

    def _rivals(self, sign: SignAt, named: Suspect) -> tuple[Suspect, ...]:
        """Return the suspects that a sign names as well, and that went only with an entry of which none fitted: another
        cause may have hidden what they lose."""
        found = (self._memory.suspect(key) for key in sorted(self._gone_with_none))
        others = [one for one in found if one.named != named.named and naming((sign,), one)]
        known = self._memory.known
        return tuple(
            {
                one.named: one
                for one in others
                if not any(is_contradicted(a.step, a, known.impact(a.step, one.key, one)) for a in self._done)
            }.values()
        )

    def _close(
        self, entry: SuspectEntry, choice: StepChoice, real: Left, end: End, sign: SignAt | None = None,
        rivals: tuple[Suspect, ...] = (),
    ) -> None:  # fmt: skip
        keys = entry.keys
        gone = tuple(key for n, key in enumerate(keys) if n not in real)
        ending = EntryEnding(
            end=end,
            suspects=(*choice.suspects(real), *rivals),
            excluded=gone,
            sign=sign,
            at=self._done[-1].at if self._done else 0.0,
        )
        closed = _Closed(ending, entry.shown_by)
        self._closed[keys] = closed
        proved = self.settled.proved
        if end is End.PROVED:
            proved |= {keys[min(real)]}
        else:
            self._closed.setdefault(tuple(key for n, key in enumerate(keys) if n in real), closed)
        if end is End.NONE:
            self._gone_with_none |= set(gone)
            self._only_signs |= {name for one in entry.alternatives for name in one.place.networks}
        self.settled = Settled(proved, self.settled.excluded | frozenset(gone))

    def _tests(self, choice: StepChoice, real: Left, offered: Offered, *, is_named: bool) -> list[SessionStep]:
        """Return the steps that show whether both directions at the place of the one suspect that is left fare as it
        says; where these look at none of the packets that it touches, also the cheapest one that does; and where no
        sign names it, packets of all kinds between one pair of nodes there."""
        named = choice.suspects(real)[0]
        sent = [s for s in offered.steps if s.probes and s.by is By.ITSELF and _is_at(s, named)]
        found = [s for s in sent if s.declared == "each-direction"]
        chosen = list(dict.fromkeys(map(_ends, found)))[:_MOST_CONFIRMING_PEERS]
        found = [s for s in found if _ends(s) in chosen]
        if not is_named:
            found += [s for s in sent if s.declared in _OF_ALL_KINDS and _ends(s) in chosen[:1] and _is_short(s)]
            found += self._looking(named, offered)
        known, entry = self._memory.known, choice.entry

        def touches(step: SessionStep) -> bool:
            return any(any(known.impact(step, entry.keys[n], entry.alternatives[n]).fates) for n in sorted(real))

        if any(map(touches, found)):
            return found
        return [*found, *sorted(filter(touches, sent), key=lambda s: (s.price.number, s.key))[:1]]

    # --- a loss without a place ---------------------------------------------------------------------------------------

    def _place(self, entry: SuspectEntry) -> Question | None:
        """Return the step that places a loss of which only the database knows; where it was made, the entry ends."""
        step = placing_step(self._memory.cluster, datagrams=BUDGET, seconds=BUDGET / PACE)
        if step is not None and step.key not in self._used:
            return Question(len(self._answers) + 1, entry, (), Offer(step, 0.0))
        last = next((a for a in reversed(self._answers) if a.step.declared == PLACE_RARE_LOSS), None)
        at = self._done[-1].at if self._done else 0.0
        ending = EntryEnding(end=End.NOT_PLACED, suspects=(), placing=last.placing if last else None, at=at)
        self._closed[entry.keys] = _Closed(ending, entry.shown_by)
        return None


def _standing(choice: StepChoice, left: Left) -> tuple[tuple[Suspect, SuspectStanding], ...]:
    names = {one.named for one in choice.suspects(left)}
    return tuple(
        (one, SuspectStanding.LEFT if one.named in names else SuspectStanding.EXCLUDED)
        for one in choice.suspects(choice.every)
    )


def _ends(step: SessionStep) -> frozenset[str]:
    return frozenset((*step.place.nodes, *step.place.to))


def _is_at(step: SessionStep, suspect: Suspect) -> bool:
    """Return whether a step sends at the place of a suspect: on its path, to or from its node, or on its network."""
    place = suspect.place
    if not set(place.networks) & set(step.place.networks):
        return False
    if place.to:
        return _ends(step) == {*place.nodes, *place.to}
    return len(place.nodes) != 1 or not _ends(step).isdisjoint(place.nodes)


def _is_short(step: SessionStep) -> bool:
    return step.price.packets <= _MOST_OF_ALL_KINDS
