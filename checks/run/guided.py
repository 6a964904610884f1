"""A session of guided troubleshooting on its way: it makes and takes answers, and keeps each before it asks again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from checks.investigate.answering import Advance, advanced, begun
from checks.investigate.around import around
from checks.investigate.by_hand import hands_showed
from checks.investigate.guided_session import GuidedSession, Question
from checks.investigate.step_predictions import fared
from checks.model.facts import Clusterware
from checks.model.investigation import By, SessionRecord, SessionStep, StepAnswer, StepSaid
from checks.model.report import Report
from checks.model.signs import SignAt


class StepMaker(Protocol):
    """Makes the automatic part of a step, within the budget of the session."""

    async def make(self, step: SessionStep, progress: Callable[[str], None]) -> StepAnswer:
        """Make a step, and return its answer. A cancelled one sends nothing more."""

    async def close(self) -> None:
        """Close its connections."""


class OutputReader(Protocol):
    """Understands what people paste."""

    def __call__(
        self, step: SessionStep, before: str, after: str
    ) -> tuple[tuple[SignAt, ...], tuple[SignAt, ...]] | None:
        """Return the signs that the outputs show and those that they would show; None: not understood. `before` is
        empty where the step is read once."""

    def fares(
        self, step: SessionStep, output: str, sent: Sequence[tuple[int, int]]
    ) -> tuple[tuple[int, int], ...] | None:
        """Return lost and sent of each probe by a capture at the receiver's NIC; None where it does not show that."""

    def unknown_port(self, step: SessionStep, output: str) -> tuple[str, ...]:
        """Return the ports of an output, where it is not known which of them leads to the node of the step."""

    def name_port(self, step: SessionStep, port: str) -> None:
        """Take from a person which port leads to the node of the step."""


class Guided:
    """One session, its journal, and what makes its steps: each answer is in the journal before the next question."""

    def __init__(
        self,
        session: GuidedSession,
        keep: Callable[[SessionRecord], None],
        read: OutputReader,
        maker: StepMaker | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`keep` writes the record, and blocks. Without a `maker`, as for a saved file, only people make steps."""
        is_new = not session.record.answers and not session.record.suspects
        self.session = begun(session) if is_new else session
        self.maker = maker
        self.reader = read
        self._keep, self._clock = keep, clock
        self._keep(self.session.record)

    @property
    def question(self) -> Question | None:
        """The next question; None where the session has ended. Without the live cluster it has only steps of people."""
        while (question := self.session.question()) is not None and self.maker is None:
            offers = [one for one in (question.best, *question.others) if one.step.by is not By.ITSELF]
            if offers:
                return replace(question, best=offers[0], others=tuple(offers[1:]))
            self.take(self._without_cluster(question.best.step))
        return question

    def _without_cluster(self, step: SessionStep) -> StepAnswer:
        reason = "It needs the live cluster."
        return StepAnswer(step=step, said=StepSaid.NOT_POSSIBLE, at=self._clock(), reason=reason)

    @property
    def record(self) -> SessionRecord:
        """The record of the session."""
        return self.session.record

    def take(self, answer: StepAnswer) -> Advance:
        """Take an answer, and keep it."""
        advance = advanced(self.session, answer)
        self.session = advance.session
        self._keep(self.session.record)
        return advance

    def skip(self, step: SessionStep) -> Advance:
        """Leave a step for later."""
        return self.take(StepAnswer(step=step, said=StepSaid.SKIPPED, at=self._clock()))

    def rule_out(self, step: SessionStep) -> Advance:
        """Never offer a step again: it is not possible here."""
        return self.take(StepAnswer(step=step, said=StepSaid.NOT_POSSIBLE, at=self._clock()))

    def undo(self) -> bool:
        """Take the last answer back; return False where there is none."""
        if not self.session.record.answers:
            return False
        self.session = self.session.undone()
        self._keep(self.session.record)
        return True

    async def make(self, step: SessionStep, progress: Callable[[str], None]) -> Advance:
        """Make an automatic step. A cancelled one is no answer."""
        return self.take(await self.send(step, progress))

    async def send(self, step: SessionStep, progress: Callable[[str], None]) -> StepAnswer:
        """Make the automatic part of a step: what racwire reads, its probes, or the datagrams that move the counters
        which a person reads."""
        assert self.maker is not None, "people make the steps of a saved file"
        is_whole = step.by is By.ITSELF or step.probes
        return await self.maker.make(step if is_whole else around(step, self.session.cluster), progress)

    def hands(self, step: SessionStep, before: StepAnswer, after: StepAnswer) -> Advance:
        """Take what became of datagrams before and after a person's step by hand."""
        seen, looked = hands_showed(step, before, after)
        return self.take(
            StepAnswer(
                step=step,
                said=StepSaid.DONE if looked else StepSaid.SKIPPED,
                at=self._clock(),
                seen=seen,
                looked=looked,
                packets=before.packets + after.packets,
                seconds=before.seconds + after.seconds,
                reason="" if looked else "Nothing was lost before it, so it shows nothing now.",
            )
        )

    def paste(self, step: SessionStep, outputs: Sequence[str], sent: StepAnswer | None = None) -> Advance:
        """Take what a person pasted: one output, or two around datagrams of racwire, with what was sent meanwhile."""
        if step.probes:
            return self.take(self._captured(step, outputs[-1], sent))
        found = self.reader(step, outputs[0] if len(outputs) > 1 else "", outputs[-1])
        seen, looked = found or ((), ())
        if sent is not None and sent.said is not StepSaid.DONE:
            looked = seen  # what was not sent moves no counter
        return self.take(
            StepAnswer(
                step=step,
                said=StepSaid.NOT_UNDERSTOOD if found is None else StepSaid.DONE,
                at=self._clock(),
                seen=seen,
                looked=looked,
                packets=sent.packets if sent else 0,
                seconds=sent.seconds if sent else 0.0,
                pasted=tuple(outputs),
            )
        )

    def _captured(self, step: SessionStep, output: str, sent: StepAnswer | None) -> StepAnswer:
        """Return what became of the packets of a step until the receiver's NIC, by a capture there."""
        counts = self.reader.fares(step, output, sent.lost) if sent and len(sent.lost) == len(step.probes) else None
        return StepAnswer(
            step=step,
            said=StepSaid.NOT_UNDERSTOOD if counts is None else StepSaid.DONE,
            at=self._clock(),
            fared=tuple(fared(probe, (one,)) for probe, one in zip(step.probes, counts or (), strict=False)),
            lost=counts or (),
            packets=sent.packets if sent else 0,
            seconds=sent.seconds if sent else 0.0,
            pasted=(output,),
        )

    def state(self, step: SessionStep, seen: Sequence[SignAt], looked: Sequence[SignAt], note: str = "") -> Advance:
        """Take what a person states to have seen of the signs of a step."""
        return self.take(
            StepAnswer(
                step=step, said=StepSaid.DONE, at=self._clock(), seen=tuple(seen), looked=tuple(looked), reason=note
            )
        )


def sends(step: SessionStep) -> bool:
    """Return whether racwire sends packets for the step, before or while a person works."""
    return bool(step.probes) or step.price.packets > 0


def run_time(report: Report) -> float:
    """Return the time of a run, in seconds since 1970; 0 where its report has none."""
    try:
        return datetime.fromisoformat(report.started_at).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def resumed_session(report: Report, record: SessionRecord) -> GuidedSession:
    """Return the session of a record about the run with which it started."""
    return GuidedSession(report.cluster, report.findings, record)


def new_session(report: Report, now: float, *, is_of_file: bool = False) -> GuidedSession:
    """Return a session about what a report leaves open; `is_of_file`: of a saved file."""
    clusterware = report.cluster.clusterware
    name = clusterware.cluster_name if isinstance(clusterware, Clusterware) else ""
    record = SessionRecord(
        started_at=now,
        cluster=name if isinstance(name, str) else "",
        run_at=run_time(report),
        is_of_file=is_of_file,
    )
    return GuidedSession(report.cluster, report.findings, record)
