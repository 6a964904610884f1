"""Messages of one size for a part of a second: one at a time, or at a fixed rate whether or not answers come.

One at a time hides a queue: a slow answer delays the next request, so few slow answers are counted. At a fixed rate
messages leave whether or not answers came. A time runs from the moment at which the message left: how late this node
sent it is counted apart, and is none of the network's time.
"""

from __future__ import annotations

import select
import time
from dataclasses import dataclass, field
from pathlib import Path

from checks.measure.near_end.control import Budget, StoppedError
from checks.measure.near_end.messages import Messages

LOST_S = 0.5
"""Seconds after which a message without an answer counts as lost."""
MOST_UNANSWERED = 3
"""Messages in a row without an answer that end the run: a sign of harm."""


@dataclass
class Exchanged:
    """The messages of one round. Times are in microseconds."""

    times_us: list[float] = field(default_factory=list)
    sent: int = 0
    lost: int = 0
    refused: int = 0
    """Messages that this node's kernel did not take: they were not sent."""
    withheld: int = 0
    """Messages that were due while as many as allowed were unanswered: they were not sent."""
    lateness_us: list[float] = field(default_factory=list)
    """How late each message was sent, at a fixed rate."""
    seconds: float = 0.0
    cpu_s: float = 0.0
    """CPU time of this process."""
    busy_s: float = 0.0
    """CPU time of the whole node that was not idle."""
    stopped: str = ""


def busy_s() -> float:
    """Return the CPU time that this node was not idle, in s, from /proc/stat (hundredths of a second).

    What a hypervisor took (steal) is not counted: it is the work of others.
    """
    words = Path("/proc/stat").read_text(encoding="ascii").partition("\n")[0].split()[1:8]
    total, idle, waiting = sum(map(int, words)), int(words[3]), int(words[4])
    return (total - idle - waiting) / 100


def one_at_a_time(messages: Messages, budget: Budget, packets: int, wire_bytes: int, seconds: float) -> Exchanged:
    """Send a message, wait for its answer, send the next. `packets` and `wire_bytes` are of both ways."""
    found = Exchanged()
    started, cpu, busy = time.monotonic(), time.process_time(), busy_s()
    unanswered = sequence = 0
    try:
        while time.monotonic() - started < seconds:
            budget.take_of_a_run(packets, wire_bytes)
            sequence += 1
            try:
                sent_ns = messages.send(sequence)
            except OSError:
                found.refused += 1
                budget.orders.wait(0.05)
                continue
            found.sent += 1
            came_ns = _answer_to(messages, sequence, sent_ns, budget)
            if came_ns is None:
                found.lost += 1
                unanswered += 1
                if unanswered >= MOST_UNANSWERED:
                    raise StoppedError(f"{MOST_UNANSWERED} messages in a row had no answer")
            else:
                unanswered = 0
                found.times_us.append((came_ns - sent_ns) / 1000)
    except StoppedError as error:
        found.stopped = str(error)
    found.seconds, found.cpu_s, found.busy_s = time.monotonic() - started, time.process_time() - cpu, busy_s() - busy
    return found


def _answer_to(messages: Messages, sequence: int, sent_ns: int, budget: Budget) -> int | None:
    while True:
        try:
            one = messages.answer()
        except OSError:  # an ICMP error: the far end is gone; silence follows
            one = None
        if one is not None and one[0] == sequence % (1 << 32):
            return one[1]
        budget.orders.look()
        if time.monotonic_ns() - sent_ns > LOST_S * 1e9:
            return None


def at_a_rate(
    messages: Messages, budget: Budget, packets: int, wire_bytes: int, rate: float, seconds: float, in_flight: int
) -> Exchanged:
    """Send `rate` messages a second, with at most `in_flight` unanswered."""
    found = Exchanged()
    waiting: dict[int, int] = {}
    """When each message without an answer left, in ns."""
    started, cpu, busy = time.monotonic(), time.process_time(), busy_s()
    planned, sequence = int(rate * seconds), 0
    unanswered = 0
    try:
        while True:
            now = time.monotonic()
            for late in [one for one, sent_ns in waiting.items() if now - sent_ns / 1e9 > LOST_S]:
                del waiting[late]
                found.lost += 1
                unanswered += 1
            if unanswered >= MOST_UNANSWERED:
                raise StoppedError(f"{MOST_UNANSWERED} messages in a row had no answer")
            if sequence >= planned and not waiting:
                break
            due = started + sequence / rate
            if sequence < planned and now >= due:
                sequence += 1
                if len(waiting) >= in_flight:
                    found.withheld += 1
                    continue
                budget.take(packets, wire_bytes)
                try:
                    waiting[sequence] = messages.send(sequence)
                except OSError:
                    found.refused += 1
                    continue
                found.sent += 1
                found.lateness_us.append(waiting[sequence] / 1000 - due * 1e6)
            budget.orders.look()
            until = started + sequence / rate if sequence < planned else now + 0.02
            select.select([messages], [], [], max(0.0, min(until - time.monotonic(), 0.02)))
            try:
                answers = list(messages.waiting())
            except OSError:
                continue
            for one, came_ns in answers:
                if (sent_ns := waiting.pop(one, None)) is not None:
                    unanswered = 0
                    found.times_us.append((came_ns - sent_ns) / 1000)
    except StoppedError as error:
        found.stopped = str(error)
    found.seconds, found.cpu_s, found.busy_s = time.monotonic() - started, time.process_time() - cpu, busy_s() - busy
    return found
