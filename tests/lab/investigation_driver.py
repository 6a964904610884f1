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

import racwire_lab
from checks.diagnosis.catalogue import CATALOGUE
from checks.diagnosis.cause import Cause
from checks.investigate.session import Question, Session
from checks.investigate.steps import offered
from checks.model.investigation import Answer, By, Ending, Said, SessionRecord, Step
from checks.model.report import Report
from checks.model.signs import SignAt
from checks.report.json_report import to_json
from tests.lab.lab_support import run
from tests.lab.person_at_the_switch import Person, by_hand, is_lossy, number_of, switch_of
from tests.lab.practice_command import Practice

MOST_STEPS = 40
_PROGRAM = Path(__file__).with_name("steps_in_node.py")


class Maker:
    """Makes automatic steps on the first node, in one process."""

    def __init__(self, practice: Practice, report: Report) -> None:
        self._file = practice.cluster.directory.with_name("report.json")
        self._file.write_bytes(to_json(report))
        node = practice.cluster.nodes[0]
        environment = {**practice.environment, **practice.cluster.environment(node), "PYTHONPATH": os.getcwd()}
        self._process = subprocess.Popen(
            practice.cluster.enter(node, [sys.executable, "-P", str(_PROGRAM), str(self._file)]),
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def make(self, step: Step) -> Answer:
        """Make a step."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(msgspec.json.encode(step).decode() + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the process on the node ended"
        return msgspec.json.decode(line, type=Answer)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(timeout=20)


@dataclass
class Driven:
    """A session at its end."""

    endings: tuple[Ending, ...]
    answers: tuple[Answer, ...]
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
        self.session = Session(cluster, self.report.findings, record, causes=self.causes)
        self.maker = Maker(self.practice, self.report)
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
        return Driven(
            self.session.endings, self.session.record.answers, first, time.monotonic() - started, self.log
        )

    def _note(self, question: Question, answer: Answer) -> None:
        left = sum(1 for _, standing in question.standing if standing.name == "LEFT")
        seen = ", ".join(f"{s.sign.name} {s.node}" for s in answer.seen)
        fared = " ".join(one.value for one in answer.fared)
        self.log.append(
            f"{left:3} left  {answer.step.key}: {answer.said.value} {fared} {seen} "
            f"[{answer.packets} packets, {answer.seconds:.1f} s] {answer.reason}"
        )

    def _answer(self, question: Question) -> Answer:
        step = question.best.step
        match step.by:
            case By.ITSELF:
                return self.maker.make(step)
            case By.HANDS:
                return self._by_hand(step)
            case _ if "switch" in step.where:
                return self._at_switch(step)
            case _:
                return self._on_node(step)

    def _at_switch(self, step: Step) -> Answer:
        (network,) = step.place.networks
        cluster = self.report.cluster
        before = switch_of(cluster, network)
        packets = self._around(step)
        person = Person(cluster, before, switch_of(cluster, network))
        looked = tuple(sign for sign in step.reads if person.sees(sign) is not None)
        seen = tuple(sign for sign in looked if person.sees(sign))
        return Answer(step=step, said=Said.DONE, at=time.time(), seen=seen, looked=looked, packets=packets)

    def _around(self, step: Step) -> int:
        """Send to and from the places of a step, between its two readings; return how much."""
        return sum(self.maker.make(one).packets for one in self._sending(step)) if step.is_twice else 0

    def _sending(self, step: Step) -> list[Step]:
        every = offered(self.session.entries, self.report.cluster)
        here = [
            one for one in every
            if one.declared == "each-direction" and set(one.place.networks) & set(step.place.networks)
        ]  # fmt: skip
        if step.place.nodes:
            here = [one for one in here if set(step.place.nodes[:1]) & {*one.place.nodes, *one.place.to}]
        return here[:4]

    def _on_node(self, step: Step) -> Answer:
        """A person on a node: reads the packet filter and the counters of the NIC."""
        read = {
            "node-filter": _filter_drops,
            "node-queues": lambda *_: False,
            "ethtool-optics": _is_dark,
            "ethtool-counters": _none_but_crc,
        }.get(step.declared)
        if read is None:
            return Answer(step=step, said=Said.NOT_POSSIBLE, at=time.time())
        packets = self._around(step)
        looked = tuple(sign for sign in step.reads if _is_known(step, sign))
        seen = tuple(sign for sign in looked if read(self.practice.cluster, self.report, sign))
        return Answer(step=step, said=Said.DONE, at=time.time(), seen=seen, looked=looked, packets=packets)

    def _by_hand(self, step: Step) -> Answer:
        (network,) = step.place.networks
        sent = [0]

        def lost(node: str) -> bool:
            place = msgspec.structs.replace(step.place, nodes=(node,))
            answers = [self.maker.make(one) for one in self._sending(msgspec.structs.replace(step, place=place))]
            sent[0] += sum(answer.packets for answer in answers)
            return any(is_lossy(answer.fared) for answer in answers)

        shown = set(by_hand(step, number_of(self.report.cluster, network), lost))
        seen = tuple(sign for sign in step.reads if sign.sign in shown)
        return Answer(
            step=step, said=Said.DONE, at=time.time(), seen=seen, looked=step.reads, packets=sent[0]
        )


def _is_known(step: Step, sign: SignAt) -> bool:
    return step.declared != "ethtool-counters" or sign.sign.name == "NIC_CRC"


def _nic(report: Report, sign: SignAt) -> str:
    network = report.cluster.network(sign.network)
    port = network.port(sign.node) if network else None
    assert port
    return port.interface


def _filter_drops(lab: racwire_lab.Lab, report: Report, sign: SignAt) -> bool:
    rules = run(lab, sign.node, "sh", "-c", "nft list table inet racwire 2>/dev/null").stdout
    of = sign.packets.protocols or ("udp", "icmp")
    return any(
        ("udp" in line and "udp" in of) or ("icmp" in line and "icmp" in of)
        for line in rules.splitlines()
        if " jump " in line
    )


def _is_dark(lab: racwire_lab.Lab, report: Report, sign: SignAt) -> bool:
    printed = run(lab, sign.node, "ethtool", "-m", _nic(report, sign)).stdout
    return "Laser rx power low alarm                  : On" in printed


def _none_but_crc(lab: racwire_lab.Lab, report: Report, sign: SignAt) -> bool:
    path = f"/sys/class/net/{_nic(report, sign)}/statistics/rx_crc_errors"
    return int(run(lab, sign.node, "cat", path).stdout) > 0
