"""Probe one path: the packets sent, their answers, the verdict, and the entry in the journal."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec

from checks.model.facts import Leg, PathProbe, PingSeries, Unknown, Verdict
from checks.model.journal import Entry, Journal
from checks.model.packet_sizes import SMALL_PAYLOAD, packet_of, payload_for
from checks.sources.probes.limits import PathLimits
from checks.sources.probes.path import Path
from checks.sources.probes.path_budget import PathPlan
from checks.sources.probes.path_mtu import Batch, Found, NotFound, Outcome, search_path_mtu
from checks.sources.probes.pinger import Pinger, Request
from checks.sources.probes.verdict import Ends, Judgement, hops_from, judge, note_on_one_over


@dataclass(frozen=True, slots=True)
class ProbeText:
    """Lines of text about one path."""

    path: Path

    def series(self, series: PingSeries) -> str:
        """`packets of 9000 bytes (payload 8972): 20 sent, 20 answered, 0.028/0.031/0.052 ms min/median/max, ttl 64`."""
        packet = packet_of(series.payload, self.path.version)
        parts = [f"{series.sent} sent", f"{series.received} answered"]
        if series.rtt_ms_median is not None:
            times = f"{series.rtt_ms_min}/{series.rtt_ms_median}/{series.rtt_ms_max}"
            parts.append(f"{times} ms min/median/max")
        if series.ttl is not None:
            parts.append(f"ttl {series.ttl}")
        if series.refused_locally:
            parts.append(
                f"{series.refused_locally} refused by {self.path.source.node}'s own kernel"
                + (f" (MTU {series.local_mtu})" if series.local_mtu else "")
            )
        if series.too_big_mtu is not None:
            parts.append(f"fragmentation needed (MTU {series.too_big_mtu}) says {series.too_big_from}")
        if series.unreachable_from:
            parts.append(f"unreachable says {series.unreachable_from}")
        parts += [f"error: {error}" for error in series.errors]
        return f"packets of {packet} bytes (payload {series.payload}): " + ", ".join(parts)

    def batch(self, outcomes: Sequence[Outcome], timeout_s: float) -> str:
        """One batch of the search: answered and lost packet sizes; `x6` where several copies were sent."""
        answered = [_copies(o.packet, o.answered) for o in outcomes if o.answered]
        lost = [_copies(o.packet, o.sent - o.answered) for o in outcomes if o.answered < o.sent]
        return (
            f"search, time-out {timeout_s * 1000:.0f} ms: answered {' '.join(answered) or 'none'}; "
            f"lost {' '.join(lost) or 'none'}"
        )

    def answer(self, outcome: Found | NotFound) -> str:
        """The result of the search."""
        if isinstance(outcome, NotFound):
            return f"path MTU unknown: {outcome.reason}"
        below, above = outcome.below, outcome.above
        return (
            f"path MTU {outcome.mtu}: packets of {below.packet} bytes answered {below.answered} of {below.sent}, "
            f"of {above.packet} bytes {above.answered} of {above.sent}"
        )

    def verdict(self, verdict: Verdict, reason: str) -> str:
        """The verdict and its reason."""
        return f"verdict: {verdict}" + (f" ({reason})" if reason else "")


def _copies(packet: int, count: int) -> str:
    return str(packet) if count == 1 else f"{packet}x{count}"


QUICKEST_TIMEOUT_S = 0.05
RTTS_PER_TIMEOUT = 20
UNFINISHED = "not finished"

FEW = 3
"""Packets that suffice to see that a silent peer answers after all."""

ARP_ANSWER_S = 1.5
"""Seconds within which the kernel repeats an ARP request: it does so after one second."""


class PathWork:
    """Gather a PathProbe step by step; `probe()` returns the result so far."""

    def __init__(self, path: Path, plan: PathPlan, limits: PathLimits, entry: Entry) -> None:
        self.path = path
        self.plan = plan
        self.limits = limits
        self.entry = entry
        self.pinger: Pinger | None = None
        self.judgement = Judgement(Verdict.UNKNOWN, UNFINISHED)
        self.ends = Ends()
        self.small: PingSeries | None = None
        self.full: PingSeries | None = None
        self.path_mtu: int | Unknown | None = None
        self.lost_leg = Leg.UNKNOWN
        self._over: PingSeries | None = None
        self._boundary: tuple[PingSeries, ...] = ()
        self._elapsed_s = 0.0
        self._beside_pid = 0
        self._lines = ProbeText(path)

    @property
    def verdict(self) -> Verdict:
        """The verdict so far."""
        return self.judgement.verdict

    def fail(self, reason: str) -> None:
        """Record that the path could not be measured, or only in part. A verdict that was reached remains."""
        if self.verdict is Verdict.UNKNOWN:
            self.judgement = Judgement(Verdict.UNKNOWN, reason)
            self.entry.outcome = reason
        elif self._lacks_path_mtu:
            self.path_mtu = Unknown(reason)
        self._say(f"not finished: {reason}")

    def out_of_time(self, reason: str) -> None:
        """Record the end of the run for a path whose measurement is not complete."""
        if (self.verdict is Verdict.UNKNOWN and self.judgement.reason == UNFINISHED) or self._lacks_path_mtu:
            self.fail(reason)

    @property
    def _lacks_path_mtu(self) -> bool:
        full_size_fails = self.verdict in (Verdict.BLACK_HOLE, Verdict.TOO_BIG, Verdict.LOCAL_MTU)
        return full_size_fails and self.path_mtu is None

    async def measure(self, pinger: Pinger, ends: Ends) -> None:
        """Send the three sizes and judge the path. Raises the errors of Pinger.ping."""
        self.pinger = pinger
        plan = self.plan
        with self._clock():
            (self.small,) = await self._ping(pinger, plan.timeout_s, plan.small)
            if self.small.received:
                await self._measure_full_size(pinger)
            else:
                self._say("no packet was answered, so no full-size packets were sent")
        self.conclude(ends)

    async def _measure_full_size(self, pinger: Pinger) -> None:
        self._over, self.full = await self._ping(pinger, self._round_timeout_s(), self.plan.over, self.plan.full)
        if note := note_on_one_over(self.path, self._over):
            self._say(note)

    async def ask_again(self, ends: Ends) -> None:
        """Ping once more where no packet was answered.

        One lost ARP request or answer delays all packets of a burst for a second. That is one lost packet, and the peer
        is not silent.
        """
        plan, first = self.plan, self.small
        few = Request(plan.small.payload, min(FEW, plan.small.count))
        needed = few.count + plan.small.count + plan.full.count + plan.over.count
        if self.pinger is None or first is None or not first.sent or self.limits.packets_left < needed:
            return
        with self._clock():
            # In a hurry: all such paths at the same time, because most stay silent until their time-out.
            (again,) = await self.pinger.ping([few], timeout_s=max(plan.timeout_s, ARP_ANSWER_S), hurry=True)
            self._say(self._lines.series(again))
            self.small = _together(first, again)
            if again.received:
                (self.small,) = await self._ping(self.pinger, plan.timeout_s, plan.small)
                await self._measure_full_size(self.pinger)
        self.conclude(ends)
        if self.verdict is Verdict.PASSES:
            reason = (
                f"the first {first.sent} packets got no answer, all later packets did: typical of a lost ARP answer"
            )
            self.judgement = Judgement(Verdict.PASSES, reason)
            self._say(self._lines.verdict(self.verdict, reason))

    async def repeat_alone(self) -> None:
        """Ping once more without other probes at the same time, to see if racwire's own traffic caused the loss."""
        if self.pinger is None or self.small is None or self.full is None:
            return
        plan, before = self.plan, (self.small, self.full)
        with self._clock():
            again = await self._ping(self.pinger, plan.timeout_s, plan.small, plan.full)
        if all(series.received == series.sent for series in again):
            lost = sum(series.sent - series.received for series in before)
            sent = sum(series.sent for series in (*before, *again))
            reason = (
                f"{lost} of {sent} packets got no answer while racwire probed all paths at the same time; all were "
                "answered when it probed this path alone and slowly"
            )
            self.judgement = Judgement(Verdict.PASSES, reason)
            self._say(self._lines.verdict(self.verdict, reason))
        self.small, self.full = (_together(*pair) for pair in zip(before, again, strict=True))

    def conclude(self, ends: Ends) -> None:
        """Judge the measurements, with the known facts about both ends."""
        if self.small is None:
            return
        self.ends = ends
        self.judgement = judge(self.path, self.small, self.full, ends)
        self._say(self._lines.verdict(self.judgement.verdict, self.judgement.reason))

    async def search(self, hint: int | None) -> None:
        """Find the largest packet that passes. Without a sharp limit, a black hole becomes LOSS."""
        if self.pinger is None or self.small is None:
            return
        with self._clock():
            outcome = await self._search(self.pinger, hint)
        if isinstance(outcome, Found):
            self.path_mtu = self._usable(outcome.mtu)
            self._boundary = tuple(
                PingSeries(payload=self._payload(o.packet), sent=o.sent, received=o.answered)
                for o in (outcome.below, outcome.above)
                if o.packet != self.path.mtu
            )
        else:
            self.path_mtu = Unknown(outcome.reason)
            if outcome.no_sharp_limit and self.verdict is Verdict.BLACK_HOLE:
                self.judgement = Judgement(Verdict.LOSS, outcome.reason)
        self._say(self._lines.answer(outcome))

    def _usable(self, mtu: int) -> int:
        """The size that passes and whose answer is not fragmented: a peer may receive a few bytes more than it sends.

        Many drivers accept frames some bytes above the interface's MTU (room for a VLAN tag). The answers to such
        packets come back in fragments, which ping does not report.
        """
        peer_mtu = self.ends.peer_mtu
        if peer_mtu is None or mtu <= peer_mtu:
            return mtu
        self._say(
            f"{self.path.destination.node} accepts packets of up to {mtu} bytes, but the MTU of its "
            f"{self.path.destination.interface} is {peer_mtu}: answers to larger packets are fragmented"
        )
        return peer_mtu

    async def _search(self, pinger: Pinger, hint: int | None) -> Found | NotFound:
        local = self.full.local_mtu if self.full and self.verdict is Verdict.LOCAL_MTU else None
        search = search_path_mtu(
            passes=packet_of(SMALL_PAYLOAD, self.path.version),
            fails=self.path.mtu if local is None else local + 1,
            max_bytes_in_flight=self.limits.max_bytes_in_flight,
            max_packets=max(0, self.limits.packets_left - self.plan.reserve),
            hint=hint if local is None else local,
        )
        timeout_s = self._round_timeout_s()
        try:
            batch = next(search)
            while True:
                batch = search.send(await self._try(pinger, batch, timeout_s))
        except StopIteration as end:
            answer: Found | NotFound = end.value
            return answer

    async def _try(self, pinger: Pinger, batch: Batch, timeout_s: float) -> list[Outcome]:
        requests = [Request(self._payload(t.packet), t.copies) for t in batch]
        answers = await pinger.ping(requests, timeout_s=timeout_s, hurry=True)
        outcomes = [Outcome(t.packet, a.sent, a.received) for t, a in zip(batch, answers, strict=True)]
        self._say(self._lines.batch(outcomes, timeout_s))
        return outcomes

    async def send_to_be_counted(self) -> int:
        """Send full-size pings whose arrival the target counts; return how many left this node."""
        if self.pinger is None:
            return 0
        with self._clock():
            series = await self.pinger.ping([self.plan.counted], timeout_s=self._round_timeout_s(), hurry=True)
        return series[0].sent - series[0].refused_locally

    def beside(self, pid: int) -> None:
        """Record the process that may have pinged from this node at the same time."""
        self._beside_pid = pid
        self._say(f"pid {pid} held the lock of racwire's pings on this node, so both ping at the same time")

    def note_leg(self, leg: Leg, how: str) -> None:
        """Record the direction that loses full-size packets, and how it was found."""
        self.lost_leg = leg
        self._say(f"direction: {how}")

    def probe(self) -> PathProbe:
        """The result so far."""
        path = self.path
        answered = self.full if self.full and self.full.ttl is not None else self.small
        return PathProbe(
            network=path.network.name,
            from_node=path.source.node,
            to_node=path.destination.node,
            source_ip=path.source.ip,
            destination_ip=path.destination.ip,
            expected_mtu=path.mtu,
            verdict=self.verdict,
            series=(*(s for s in (self.small, self.full, self._over) if s is not None), *self._boundary),
            path_mtu=self.path_mtu,
            lost_leg=self.lost_leg,
            hops=hops_from(answered.ttl if answered else None),
            reason=self.judgement.reason,
            neighbour_mac=self.ends.neighbour_mac,
            neighbour_is_new=self.ends.neighbour_is_new,
            sent_by=self.pinger.sent_by if self.pinger else "",
            packets_sent=self.limits.packets_sent,
            bytes_sent=self.limits.bytes_sent,
            elapsed_ms=round(self._elapsed_s * 1000, 1),
            beside_pid=self._beside_pid,
        )

    def _payload(self, packet: int) -> int:
        return payload_for(packet, self.path.version)

    def _round_timeout_s(self) -> float:
        """max(50 ms, 20 x the median round trip of small packets), never above the setting."""
        median_ms = self.small.rtt_ms_median if self.small else None
        wanted = RTTS_PER_TIMEOUT * median_ms / 1000 if median_ms is not None else self.plan.timeout_s
        return min(max(QUICKEST_TIMEOUT_S, wanted), self.plan.timeout_s)

    async def _ping(self, pinger: Pinger, timeout_s: float, *requests: Request) -> list[PingSeries]:
        answers = await pinger.ping(requests, timeout_s=timeout_s)
        for series in answers:
            self._say(self._lines.series(series))
            # A peer from which nothing returns may be down: then no large packets follow.
            self.limits.receiver.has_lost |= 0 < series.received < series.sent - series.refused_locally
        return answers

    def _say(self, line: str) -> None:
        self.entry.text += line + "\n"

    @contextmanager
    def _clock(self) -> Iterator[None]:
        started_s = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - started_s
            self._elapsed_s += spent
            self.entry.duration_ms = round(self._elapsed_s * 1000, 3)


def _together(first: PingSeries, second: PingSeries) -> PingSeries:
    """Two series of one size as one, with the round trips of the second."""
    return msgspec.structs.replace(second, sent=first.sent + second.sent, received=first.received + second.received)


def start_entry(journal: Journal, path: Path, plan: PathPlan) -> Entry:
    """The path's one entry in the journal; its text and duration grow as the path is worked on."""
    return journal.start(path.source.node, path.name, plan.as_commands(path))
