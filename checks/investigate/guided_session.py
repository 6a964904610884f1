"""The session: from a run, its findings and the answers so far to the next question, and to how it ends. Pure.

After each end the diagnosis runs again: what was confirmed is proved there, what went is excluded, and what another
entry hid comes to light.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from checks.diagnosis.catalogue import CATALOGUE
from checks.diagnosis.cause import Cause
from checks.investigate.choice import Offer
from checks.investigate.session_state import Memory, Question
from checks.investigate.suspects import Settled, SuspectEntry
from checks.model.facts import Cluster
from checks.model.finding import Finding, Key
from checks.model.investigation import EntryEnding, SessionRecord, StepAnswer

__all__ = ["GuidedSession", "Offer", "Question"]


class GuidedSession:
    """One session. It never changes: an answer makes a new one, with a new record."""

    def __init__(
        self,
        cluster: Cluster,
        findings: Iterable[Finding],
        record: SessionRecord,
        *,
        causes: Sequence[Cause] = CATALOGUE,
        memory: Memory | None = None,
    ) -> None:
        """`memory` is that of a session of the same run."""
        self.memory = memory or Memory(cluster, tuple(findings), causes)
        self._state = self.memory.state(record.answers)
        ends = tuple(self._state.endings)
        self.record = replace(record, endings=ends, is_ended=self._state.question is None)

    @property
    def cluster(self) -> Cluster:
        """The facts of the run."""
        return self.memory.cluster

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of the run."""
        return self.memory.findings

    def question(self) -> Question | None:
        """Return the next question; None where the session has ended."""
        return self._state.question

    def answered(self, answer: StepAnswer) -> GuidedSession:
        """Return the session with one more answer."""
        return self.with_record(replace(self.record, answers=(*self.record.answers, answer)))

    def undone(self) -> GuidedSession:
        """Return the session without its last answer."""
        return self.with_record(replace(self.record, answers=self.record.answers[:-1]))

    def with_record(self, record: SessionRecord) -> GuidedSession:
        """Return the session of the same run with another record."""
        return GuidedSession(self.cluster, self.findings, record, memory=self.memory)

    @property
    def endings(self) -> tuple[EntryEnding, ...]:
        """How the examined entries ended so far, in their order."""
        return self.record.endings

    @property
    def entries(self) -> tuple[SuspectEntry, ...]:
        """What the findings leave open now, after what the session settled."""
        return self._state.entries

    @property
    def settled(self) -> Settled:
        """What the session found out."""
        return self._state.settled

    @property
    def verify(self) -> tuple[Key, ...]:
        """The findings to look at again, once what was named is fixed."""
        return tuple(dict.fromkeys(key for entry in self._state.entries for key in entry.shown_by))
