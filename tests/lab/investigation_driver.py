"""Drives a session of guided troubleshooting on the practice cluster to its end: racwire makes its steps on a node, and
a person with the practice switch makes the others."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from checks.diagnosis.catalogue import CATALOGUE
from checks.diagnosis.cause import Cause
from checks.investigate.around import around
from checks.investigate.by_hand import hands_showed
from checks.investigate.guided_session import GuidedSession, Question
from checks.investigate.paste_reader import PasteReader
from checks.model.investigation import By, EntryEnding, SessionRecord, SessionStep, StepAnswer, StepSaid
from checks.model.report import Report
from checks.report.json_report import to_json
from tests.lab.person_at_the_switch import lab, number_of, port_of, put_back, touch, typed
from tests.lab.practice_command import Practice

MOST_STEPS = 40
_PROGRAM = Path(__file__).with_name("maker_in_node.py")


class Maker:
    """Makes automatic steps on the first node, in one process."""

    def __init__(self, practice: Practice, report: Report) -> None:
        self._file = practice.cluster.directory.with_name(f"{practice.cluster.directory.name}-report.json")
        self._file.write_bytes(to_json(report))
        node = practice.cluster.nodes[0]
        environment = {**practice.environment, **practice.cluster.environment(node), "PYTHONPATH": os.getcwd()}
        self._process = subprocess.Popen(
            practice.cluster.enter(node, [sys.executable, "-P", str(_PROGRAM), str(self._file)]),
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def make(self, step: SessionStep) -> StepAnswer:
        """Make a step."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(msgspec.json.encode(step).decode() + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the process on the node ended"
        return msgspec.json.decode(line, type=StepAnswer)

    def close(self) -> None:
        """End the process."""
        with self._process as process:
            assert process.stdin
            process.stdin.close()
            process.wait(timeout=20)


@dataclass
class Driven:
    """A session at its end."""

    endings: tuple[EntryEnding, ...]
    answers: tuple[StepAnswer, ...]
    first_left: int
    """How many causes the first question left."""
    seconds: float
    log: list[str] = field(default_factory=list)

    @property
    def packets(self) -> int:
        """What racwire sent."""
        return sum(answer.packets for answer in self.answers)


@dataclass
class Driver:
    """One session."""

    practice: Practice
    report: Report
    causes: Sequence[Cause] = CATALOGUE
    log: list[str] = field(default_factory=list)

    def drive(self) -> Driven:
        """Answer each question until the session ends."""
        started = time.monotonic()
        cluster = self.report.cluster
        record = SessionRecord(started_at=time.time(), cluster="practice", run_at=time.time())
        self.session = GuidedSession(cluster, self.report.findings, record, causes=self.causes)
        self.maker = Maker(self.practice, self.report)
        self.reader = PasteReader(cluster)
        first = 0
        try:
            for _ in range(MOST_STEPS):
                question = self.session.question()
                if question is None:
                    break
                first = first or len(question.standing)
                answer = self._answer(question)
                self._note(question, answer)
                self.session = self.session.answered(answer)
        finally:
            self.maker.close()
        assert self.session.question() is None, "\n".join(self.log)
        return Driven(self.session.endings, self.session.record.answers, first, time.monotonic() - started, self.log)

    def _note(self, question: Question, answer: StepAnswer) -> None:
        left = sum(1 for _, standing in question.standing if standing.name == "LEFT")
        seen = ", ".join(f"{s.sign.name} {s.node}" for s in answer.seen)
        fared = " ".join(one.value for one in answer.fared)
        self.log.append(
            f"{left:3} left  {answer.step.key}: {answer.said.value} {fared} {seen} "
            f"[{answer.packets} packets, {answer.seconds:.1f} s] {answer.reason}"
        )

    def _answer(self, question: Question) -> StepAnswer:
        step = question.best.step
        match step.by:
            case By.ITSELF:
                return self.maker.make(step)
            case By.HANDS:
                return self._by_hand(step)
            case _ if step.declared == "capture":
                return StepAnswer(step=step, said=StepSaid.NOT_POSSIBLE, at=time.time())
            case _ if not step.commands:
                # The operators of what is below the nodes: nothing there filters, and there is no tunnel.
                return StepAnswer(step=step, said=StepSaid.DONE, at=time.time(), looked=step.reads)
            case _:
                return self._pasted(step)

    def _pasted(self, step: SessionStep) -> StepAnswer:
        """Paste what the commands print, twice around datagrams where a counter counts."""
        cluster = self.report.cluster
        before = typed(cluster, step) if step.is_twice else ""
        sent = self.maker.make(around(step, cluster)) if step.is_twice else None
        after = typed(cluster, step)
        if self.reader.unknown_port(step, after):
            (network,) = step.place.networks
            view = lab().read_switch(number_of(cluster, network))
            self.reader.name_port(step, port_of(view, step.place.nodes[0]))
        found = self.reader(step, before, after)
        seen, looked = found or ((), ())
        if sent is not None and sent.said is not StepSaid.DONE:
            looked = seen
        return StepAnswer(
            step=step,
            said=StepSaid.NOT_UNDERSTOOD if found is None else StepSaid.DONE,
            at=time.time(),
            seen=seen,
            looked=looked,
            packets=sent.packets if sent else 0,
            seconds=sent.seconds if sent else 0.0,
            pasted=(before, after) if before else (after,),
        )

    def _by_hand(self, step: SessionStep) -> StepAnswer:
        cluster = self.report.cluster
        sent = around(step, cluster)
        before = self.maker.make(sent)
        touch(step, cluster)
        try:
            after = self.maker.make(sent)
        finally:
            put_back()
        seen, looked = hands_showed(step, before, after)
        return StepAnswer(
            step=step, said=StepSaid.DONE, at=time.time(), seen=seen, looked=looked,
            packets=before.packets + after.packets, seconds=before.seconds + after.seconds,
        )  # fmt: skip
