"""Investigate simulated clusters: each step is made in the cluster whose truth is known, packet by packet."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from msgspec import structs

from checks.diagnosis.catalogue import CATALOGUE
from checks.diagnosis.cause import Cause
from checks.diagnosis.seen import pair_of
from checks.investigate.guided_session import GuidedSession, Question
from checks.investigate.placing import NextBatch, is_clear, next_batch
from checks.investigate.step_predictions import fared
from checks.investigate.steps.sending import PLACE_RARE_LOSS
from checks.investigate.suspects import entries
from checks.model.investigation import (
    By,
    End,
    EntryEnding,
    Fared,
    Probe,
    SessionRecord,
    SessionStep,
    StepAnswer,
    StepSaid,
    Suspect,
)
from checks.model.signs import Sign, SignAt
from checks.model.traffic import Traffic
from tests.simulator.facts import gathered
from tests.simulator.faults import Fault, faults
from tests.simulator.judging import findings_of
from tests.simulator.mended import NAMES, Draw, is_at
from tests.simulator.packets import Packet
from tests.simulator.shown import TRUTHS, shown
from tests.simulator.world import World

BESIDE = ("link-down", "node-mtu", "small-receive-buffer", "udp-filtered")
"""Faults that a first report states; one of a pair can be such a one."""
_LEAST_PORT = 40_000
_MOST_STEPS = 60
_JUMBO_SHARE = 0.75


class Hands:
    """Makes steps in a simulated cluster."""

    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._rng = random.Random(seed)
        self._signs = [one for fault in world.faults for one in shown(fault)]
        self.now = 0.0

    def make(self, step: SessionStep) -> StepAnswer:
        """Make a step, and return what came of it."""
        self.now += step.price.seconds + 60 * step.price.minutes
        if step.declared == PLACE_RARE_LOSS:
            return self._place(step)
        found = [self._send(step, probe) for probe in step.probes]
        return StepAnswer(
            step=step,
            said=StepSaid.DONE,
            at=self.now,
            fared=tuple(fared(p, by_port) for p, by_port in zip(step.probes, found, strict=True)),
            lost=tuple((sum(n for n, _ in by), sum(of for _, of in by)) for by in found),
            seen=tuple(sign for at in step.reads for sign in self._seen(at)),
            looked=step.reads,
            packets=step.price.packets,
            seconds=step.price.seconds,
        )

    def _place(self, step: SessionStep) -> StepAnswer:
        """Sample the paths as racwire does; note those of which something is known."""
        packets = {way: _packet(p.legs[0], _LEAST_PORT) for p in step.probes if (way := pair_of(p.legs[0]))}
        counts, left = dict.fromkeys(packets, (0, 0)), step.price.packets
        while isinstance(turn := next_batch(counts, (), left), NextBatch):
            lost = sum(not self._passes(packets[turn.way], is_at_nic=False) for _ in range(turn.datagrams))
            counts[turn.way] = counts[turn.way][0] + lost, counts[turn.way][1] + turn.datagrams
            left -= turn.datagrams
        known = [p for p in step.probes if (w := pair_of(p.legs[0])) and (w == turn.path or is_clear(*counts[w]))]
        ways = [pair_of(probe.legs[0]) for probe in known]
        return StepAnswer(
            step=structs.replace(step, probes=tuple(known)),
            said=StepSaid.DONE,
            at=self.now,
            fared=tuple(Fared.SOME_LOST if way == turn.path else Fared.NONE_LOST for way in ways),
            lost=tuple(counts[way] for way in ways if way),
            packets=step.price.packets - left,
            placing=turn,
        )

    def _seen(self, at: SignAt) -> Iterator[SignAt]:
        for one in self._signs:
            is_it = (one.sign, NAMES[one.network - 1], one.node) == (at.sign.name, at.network, at.node)
            if is_it and (at.sign is not Sign.WITH_PORT or self._ends_elsewhere(one.network, one.node)):
                packets = Traffic(
                    protocols=(one.protocol,) if one.protocol else None,  # type: ignore[arg-type]
                    addresses=(one.address,) if one.address else None,  # type: ignore[arg-type]
                )
                yield SignAt(sign=Sign[one.sign], network=at.network, node=at.node, packets=packets)

    def _ends_elsewhere(self, network: int, node: str) -> bool:
        """Return whether all losses of a node end at another port: none of another fault stays."""
        here = [f for f in self._world.faults if f.network in (0, network) and f.node in ("", node)]
        return all(any(one.sign == Sign.WITH_PORT.name for one in shown(fault)) for fault in here)

    def _send(self, step: SessionStep, probe: Probe) -> list[tuple[int, int]]:
        ports = [_LEAST_PORT + self._rng.randrange(20_000) for _ in range(probe.ports)]
        by_port = []
        for port in ports:
            packets = [_packet(leg, port) for leg in probe.legs]
            lost = sum(not self._pass(packets, is_at_nic=probe.is_at_nic) for _ in range(probe.sent))
            by_port.append((lost, probe.sent))
        return by_port

    def _pass(self, packets: Sequence[Packet], *, is_at_nic: bool) -> bool:
        return all(self._passes(packet, is_at_nic=is_at_nic) for packet in packets)

    def _passes(self, packet: Packet, *, is_at_nic: bool) -> bool:
        """Return whether a packet reaches its receiver, or, in a capture, the NIC of the receiver."""
        every = self._world.effects(packet)
        return not any(self._rng.random() < e.share for _, e in every if not (is_at_nic and e.arrived))


def _packet(leg: Traffic, port: int) -> Packet:
    assert leg.networks
    assert leg.senders
    assert leg.receivers
    assert leg.addresses
    assert leg.protocols
    form = leg.forms[0] if leg.forms else "whole"
    return Packet(
        network=NAMES.index(leg.networks[0]) + 1,
        sender=leg.senders[0],
        receiver=leg.receivers[0],
        address=leg.addresses[0],
        protocol=leg.protocols[0],
        size=leg.sizes[1],
        form=form,
        port=port if leg.protocols[0] == "udp" and form == "whole" else 0,
        in_a_row=True,
    )


# --- one draw ---------------------------------------------------------------------------------------------------------


@dataclass
class Trial:
    """One investigation, and what its ends are worth."""

    draw: Draw
    answers: tuple[StepAnswer, ...] = ()
    endings: tuple[EntryEnding, ...] = ()
    count: Counter[str] = field(default_factory=Counter)
    cpu_s: float = 0.0

    @property
    def note(self) -> str:
        """The draw with how it ended."""
        ends = "; ".join(f"{e.end}: {', '.join(map(_named, e.suspects)) or '-'}" for e in self.endings)
        return f"{self.draw} -> {ends or 'nothing'} {dict(self.count)} {[a.step.key for a in self.answers]}"


def _named(one: Suspect) -> str:
    return f"{one.cause} {one.kind} {one.place.text}".replace("  ", " ")


Policy = Callable[[Question, random.Random], SessionStep]


def best(question: Question, rng: random.Random) -> SessionStep:
    """Return the step that the session recommends."""
    return question.best.step


def trial(
    draw: Draw,
    *,
    without: Iterable[str] = (),
    policy: Policy = best,
    refuses: Callable[[SessionStep], bool] | None = None,
) -> Trial:
    """Investigate one draw to its end. `without`: causes that are taken out of the catalogue."""
    began = time.process_time()
    world = World(draw.faults, nodes=draw.nodes, mtu=draw.mtu, seed=draw.seed)
    cluster = gathered(world)
    found = findings_of(cluster)
    causes = _without(without)
    result, rng = Trial(draw), random.Random(draw.seed)
    session = GuidedSession(cluster, found, SessionRecord(started_at=0.0, cluster="", run_at=0.0), causes=causes)
    hands = Hands(World(draw.faults, nodes=draw.nodes, mtu=draw.mtu, seed=draw.seed + 1), draw.seed)
    result.count["sessions"] = session.question() is not None
    for _ in range(_MOST_STEPS):
        question = session.question()
        if question is None:
            break
        step = policy(question, rng)
        if refuses is not None and refuses(step):
            session = session.answered(StepAnswer(step=step, said=StepSaid.NOT_POSSIBLE, at=hands.now))
        else:
            session = session.answered(hands.make(step))
    else:
        result.count["without an end"] = 1
    result.answers, result.endings = session.record.answers, session.endings
    _judge(result, session)
    result.cpu_s = time.process_time() - began
    return result


def _without(codes: Iterable[str]) -> tuple[Cause, ...]:
    gone = set(codes)
    return tuple(cause for cause in CATALOGUE if cause.code not in gone)


def is_right(suspect: Suspect, fault: Fault, draw: Draw) -> bool:
    """Return whether a suspect is the fault: its cause in its form at its place."""
    truth = TRUTHS.get(fault.kind)
    return truth is not None and (suspect.cause, suspect.kind) in truth.forms and is_at(suspect.place, fault, draw)


def _judge(result: Trial, session: GuidedSession) -> None:
    draw, count = result.draw, result.count
    named = set[Fault]()
    for ending in result.endings:
        right = [f for f in draw.faults if any(is_right(s, f, draw) for s in ending.suspects)]
        named |= set(right)
        if ending.end in (End.NONE, End.NOT_PLACED):
            count[str(ending.end)] += 1
        elif ending.end is End.APART:
            count["apart, with it" if right else "apart, without it"] += 1
        else:
            count[f"{ending.end}, {'right' if right else 'WRONG'}"] += 1
    stated = [one for entry in session.entries if not entry.is_open for one in entry.alternatives]
    named |= {f for f in draw.faults for one in stated if one.cause in f.of.causes and is_at(one.place, f, draw)}
    count["faults named"] = len(named)
    count["faults"] = len(draw.faults)


# --- many draws -------------------------------------------------------------------------------------------------------


def draws(count: int, many: int, seed: int, kinds: Iterable[str] = ()) -> list[Draw]:
    """Return so many draws of which a first report leaves something open; each fault alone is seen by it."""
    rng, found = random.Random(seed), list[Draw]()
    pool = sorted(kinds) or sorted({*TRUTHS, *(BESIDE if many > 1 else ())})
    while len(found) < count:
        mtu = 9000 if rng.random() < _JUMBO_SHARE else 1500
        chosen = rng.sample(pool, many)
        places = [faults([kind], 3, mtu) for kind in chosen]
        if not all(places) or not set(chosen) & set(TRUTHS):
            continue
        draw = Draw(tuple(rng.choice(place) for place in places), mtu, seed * 100_000 + len(found))
        if all(_is_seen(f, mtu) for f in draw.faults):
            found.append(draw)
    return found


@cache
def _is_seen(fault: Fault, mtu: int) -> bool:
    alone = gathered(World([fault], nodes=3, mtu=mtu, seed=1))
    found = entries(alone, findings_of(alone))
    return any(e.is_open for e in found) if fault.kind in TRUTHS else bool(found)


@dataclass
class Investigated:
    """The sums of many investigations."""

    trials: list[Trial]

    def __getitem__(self, what: str) -> int:
        return sum(t.count[what] for t in self.trials)

    @property
    def wrong(self) -> int:
        """Ends that name what is not there."""
        return sum(n for t in self.trials for what, n in t.count.items() if what.endswith("WRONG"))

    def notes(self, *, every: bool = False) -> list[str]:
        """A line for each draw that did not end with all of its faults named."""
        return [t.note for t in self.trials if every or t.count["faults named"] < t.count["faults"] or _is_odd(t)]

    def table(self, title: str) -> list[str]:
        """Return the sums."""
        total = Counter[str]()
        for t in self.trials:
            total += t.count
        steps = [a.step for t in self.trials for a in t.answers]
        number = max(1, len(self.trials))

        def mean(values: Iterable[float]) -> float:
            return round(sum(values) / number, 2)

        return [
            f"{title}: {dict(sorted(total.items()))}",
            f"  a draw: steps {mean(1 for _ in steps)}, by a person {mean(s.by is By.COMMAND for s in steps)}, "
            f"by hands {mean(s.by is By.HANDS for s in steps)}, minutes {mean(s.price.minutes for s in steps)}, "
            f"seconds {mean(s.price.seconds for s in steps)}, datagrams {mean(s.price.packets for s in steps)}, price "
            f"{mean(s.price.number for s in steps)}, CPU {1000 * sum(t.cpu_s for t in self.trials) / number:.0f} ms",
        ]


def _is_odd(one: Trial) -> bool:
    return any(what.endswith(("WRONG", "without it")) or what == "without an end" for what in one.count)


def investigated(drawn: Sequence[Draw], *, is_unknown: bool = False) -> Investigated:
    """Return the sums; `is_unknown`: without the causes of the faults in the catalogue."""
    return Investigated(
        [trial(d, without={c for f in d.faults for c in f.of.causes} if is_unknown else ()) for d in drawn]
    )
