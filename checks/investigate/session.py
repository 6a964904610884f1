"""The session: from a run, its findings and the answers so far to the next question, and to how it ends. Pure.

After each end the diagnosis runs again: what was confirmed is proved there, what went is excluded, and what another
entry hid comes to light.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from checks.diagnosis.catalogue import CATALOGUE
from checks.diagnosis.cause import Cause
from checks.investigate.choice import OTHER, Choice, Left, Offer
from checks.investigate.predicting import Known
from checks.investigate.steps import Offered, offered_for
from checks.investigate.steps.scene import Scene, scenes
from checks.investigate.steps.sending import carrying, placing
from checks.investigate.suspects import Entry, Settled, entries
from checks.model.facts import Cluster
from checks.model.finding import Finding, Key
from checks.model.investigation import (
    Answer,
    By,
    End,
    Ending,
    Fared,
    NotOffered,
    Said,
    SessionRecord,
    Standing,
    Step,
    Suspect,
)

_MOST_ENDS = 40
"""Entries that are examined one after the other, at most."""
_TAKES_PART = (Said.DONE,)
_MOST_CONFIRMING_PEERS = 2


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked next."""

    number: int
    entry: Entry
    standing: tuple[tuple[Suspect, Standing], ...]
    """Each cause at a place that can have lost it, once."""
    best: Offer
    others: tuple[Offer, ...] = ()
    not_offered: tuple[tuple[Step, NotOffered], ...] = ()
    confirms: Suspect | None = None
    """The suspect that its sign names, where the step only shows whether both directions fare as it says."""


class Session:
    """One session. It never changes: an answer makes a new one, with a new record."""

    def __init__(
        self,
        cluster: Cluster,
        findings: Iterable[Finding],
        record: SessionRecord,
        *,
        causes: Sequence[Cause] = CATALOGUE,
        known: Known | None = None,
    ) -> None:
        self.cluster, self.findings, self.causes = cluster, tuple(findings), causes
        self._known = known or Known()
        self._state = _State(self, record.answers)
        ends = tuple(self._state.endings)
        self.record = replace(record, endings=ends, is_ended=self._state.question is None)

    def question(self) -> Question | None:
        """Return what is asked next; None where the session has ended."""
        return self._state.question

    def answered(self, answer: Answer) -> Session:
        """Return the session with one more answer."""
        return self._with((*self.record.answers, answer))

    def undone(self) -> Session:
        """Return the session without its last answer."""
        return self._with(self.record.answers[:-1])

    def _with(self, answers: tuple[Answer, ...]) -> Session:
        record = replace(self.record, answers=answers, endings=(), is_ended=False)
        return Session(self.cluster, self.findings, record, causes=self.causes, known=self._known)

    @property
    def endings(self) -> tuple[Ending, ...]:
        """How the examined entries ended so far, in their order."""
        return self.record.endings

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What the findings leave open now, after what the session settled."""
        return tuple(self._state.entries)

    @property
    def settled(self) -> Settled:
        """What the session found out."""
        return self._state.settled

    @property
    def verify(self) -> tuple[Key, ...]:
        """The findings to look at again, once what was named is fixed."""
        return tuple(dict.fromkeys(key for entry in self._state.entries for key in entry.shown_by))


@dataclass
class _Closed:
    """An entry that was examined to its end."""

    ending: Ending
    losses: tuple[Key, ...]


class _State:
    """Where a session is after its answers."""

    def __init__(self, session: Session, answers: Sequence[Answer]) -> None:
        self._session = session
        self._answers = tuple(answers)
        self._done = [a for a in self._answers if a.said in _TAKES_PART]
        self._used = frozenset(a.step.key for a in self._answers)
        self.settled = Settled()
        self.entries: list[Entry] = []
        self.question: Question | None = None
        self._closed: dict[tuple[str, ...], _Closed] = {}
        self._only_signs = False
        """Whether a "none of these" came: then only a sign names a cause."""
        for _ in range(_MOST_ENDS):
            self.entries = entries(session.cluster, session.findings, self.settled, session.causes)
            entry = next((e for e in self.entries if e.is_open and e.keys not in self._closed), None)
            if entry is None:
                break
            self.question = self._examine(entry)
            if self.question is not None:
                break

    @property
    def endings(self) -> list[Ending]:
        """How the entries ended. A "none of these" is said of what is still not explained."""
        said = [one for one in self._closed.values() if one.ending.end is not End.NONE]
        open_ = {key for e in self.entries if e.is_open and not e.alternatives for key in e.shown_by}
        none = [one for one in self._closed.values() if one.ending.end is End.NONE and open_ & set(one.losses)]
        return [one.ending for one in (*said, *none[:1])]

    # --- one entry ----------------------------------------------------------------------------------------------------

    def _examine(self, entry: Entry) -> Question | None:
        """Return what is asked of an entry; None where it has ended, which is noted."""
        if not entry.is_placed:
            return self._place(entry)
        session = self._session
        others = [e for e in self.entries if e is not entry and e.is_placed]
        offered = offered_for(entry, session.cluster, self._answers)
        choice = Choice(entry, others, offered.steps, session._known)
        left = choice.every
        for answer in self._done:
            left = choice.after(left, answer)
        used = self._used
        if choice.names(left) > 1:
            ranked = choice.ranked(left, used)
            if ranked:
                return self._ask(entry, choice, left, ranked, offered)
        return self._end(entry, choice, left, others, offered)

    def _ask(
        self, entry: Entry, choice: Choice, left: Left, ranked: Sequence[Offer], offered: Offered,
        confirms: Suspect | None = None,
    ) -> Question | None:  # fmt: skip
        best = ranked[0]
        if best.step.by is By.HANDS and (proof := self._proof(entry, best.step)):
            best = Offer(proof, 0.0, best.separates)
        return Question(
            number=len(self._answers) + 1,
            entry=entry,
            standing=_standing(choice, left),
            best=best,
            others=tuple(ranked[1:]),
            not_offered=offered.withheld,
            confirms=confirms,
        )

    def _proof(self, entry: Entry, step: Step) -> Step | None:
        """Return the step that proves that another network carries the nodes that hands shall touch, unless it was
        answered just now."""
        scene = self._scene(entry, step)
        made = carrying(scene, step) if scene else None
        if made is None:
            return None
        last = self._answers[-1] if self._answers else None
        is_fresh = (
            last is not None
            and last.step.key == made.key
            and last.said is Said.DONE
            and all(one is Fared.NONE_LOST for one in last.fared)
        )
        return None if is_fresh else made

    def _scene(self, entry: Entry, step: Step) -> Scene | None:
        found = scenes(entry, self._session.cluster, self._answers)
        return next((one for one in found if one.network in step.place.networks), None)

    def _end(
        self, entry: Entry, choice: Choice, left: Left, others: Sequence[Entry], offered: Offered
    ) -> Question | None:
        real = frozenset(one for one in left if one != OTHER)
        is_named = bool(real) and OTHER not in left and choice.names(left) == 1
        if is_named:
            confirming = self._confirming(entry, choice, real, offered)
            if confirming:
                ranked = [Offer(step, 0.0, (choice.suspects(real), ())) for step in confirming]
                return self._ask(entry, choice, left, ranked, offered, choice.suspects(real)[0])
            sign = next((s for one in sorted(real) if (s := choice.sign_of(one, self._done))), None)
            self._close(entry, choice, real, End.PROVED, sign_at=sign)
            return None
        if real and not self._only_signs:
            end = End.LEFT_OVER if choice.names(real) == 1 else End.APART
            self._close(entry, choice, real, end)
            return None
        # What is left over after "none of these" is no name: only a sign is.
        self._close(entry, choice, frozenset(), End.NONE)
        return None

    def _close(self, entry: Entry, choice: Choice, real: Left, end: End, sign_at: object = None) -> None:
        keys = entry.keys
        gone = tuple(key for n, key in enumerate(keys) if n not in real)
        ending = Ending(
            end=end,
            suspects=choice.suspects(real),
            excluded=gone,
            sign=sign_at,  # type: ignore[arg-type]
            at=self._done[-1].at if self._done else 0.0,
        )
        closed = _Closed(ending, entry.shown_by)
        self._closed[keys] = closed
        proved = self.settled.proved
        if end is End.PROVED:
            proved |= {keys[min(real)]}
        else:
            self._closed.setdefault(tuple(key for n, key in enumerate(keys) if n in real), closed)
        self._only_signs |= end is End.NONE
        self.settled = Settled(proved, self.settled.excluded | frozenset(gone))

    def _confirming(self, entry: Entry, choice: Choice, real: Left, offered: Offered) -> list[Step]:
        """Return the steps that show whether both directions at the place of a named suspect fare as it says, of those
        that were not made."""
        place = choice.suspects(real)[0].place
        here = [
            s for s in offered.steps if s.declared == "each-direction" and set(place.networks) & set(s.place.networks)
        ]
        ends = {*place.nodes, *place.to}
        if place.to:
            here = [s for s in here if {*s.place.nodes, *s.place.to} == ends]
        elif len(place.nodes) == 1:
            here = [s for s in here if ends & {*s.place.nodes, *s.place.to}]
        peers = dict.fromkeys((s.place.nodes, s.place.to) for s in here)
        chosen = list(peers)[:_MOST_CONFIRMING_PEERS]
        return [s for s in here if (s.place.nodes, s.place.to) in chosen and s.key not in self._used]

    # --- a loss without a place ---------------------------------------------------------------------------------------

    def _place(self, entry: Entry) -> Question | None:
        session = self._session
        steps = [placing(scene) for scene in scenes(entry, session.cluster, self._answers)]
        left = [step for step in steps if step.key not in self._used]
        if left:
            offers = [Offer(step, 0.0) for step in left]
            return Question(len(self._answers) + 1, entry, (), offers[0], tuple(offers[1:]))
        ending = Ending(end=End.NONE, suspects=(), at=self._done[-1].at if self._done else 0.0)
        self._closed[entry.keys] = _Closed(ending, entry.shown_by)
        return None


def _standing(choice: Choice, left: Left) -> tuple[tuple[Suspect, Standing], ...]:
    names = {one.named for one in choice.suspects(left)}
    return tuple(
        (one, Standing.LEFT if one.named in names else Standing.EXCLUDED) for one in choice.suspects(choice.every)
    )
