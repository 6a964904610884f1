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

from checks.measure.load_limits import FEW_LOST
from checks.measure.near_end.control import Budget
from checks.measure.near_end.incomplete import LOST_S, Holds
from checks.measure.near_end.messages import Messages
from checks.measure.near_end.stopped import StoppedError


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
    is_harm: bool = False


def busy_s() -> float:
    """Return the CPU time that this node was not idle, in s, from /proc/stat (hundredths of a second).

    What a hypervisor took (steal) is not counted: it is the work of others.
    """
    words = Path("/proc/stat").read_text(encoding="ascii").partition("\n")[0].split()[1:8]
    total, idle, waiting = sum(map(int, words)), int(words[3]), int(words[4])
    return (total - idle - waiting) / 100


def one_at_a_time(
    messages: Messages, budget: Budget, packets: int, wire_bytes: int, holds: Holds, seconds: float, most: int = 0
) -> Exchanged:
    """Send a message, wait for its answer, send the next, for so many seconds.

    `packets` and `wire_bytes` are of both ways. With `most` it ends after so many messages, and after the first without
    an answer.
    """
    found = Exchanged()
    started, cpu, busy = time.monotonic(), time.process_time(), busy_s()
    unanswered = sequence = 0
    try:
        while time.monotonic() - started < seconds and not (most and (found.sent >= most or found.lost)):
            budget.take_of_a_run(packets, wire_bytes)
            sequence += 1
            number = _hold(budget, holds, 0)
            try:
                sent_ns = messages.send(sequence)
            except OSError:
                budget.incomplete.complete(number)
                found.refused += 1
                budget.orders.wait(0.05)
                continue
            found.sent += 1
            came_ns = _answer_to(messages, sequence, sent_ns, budget)
            if came_ns is None:
                found.lost += 1
                unanswered += 1
                _demand_answers(unanswered)
            else:
                budget.incomplete.complete(number)
                unanswered = 0
                found.times_us.append((came_ns - sent_ns) / 1000)
    except StoppedError as error:
        found.stopped, found.is_harm = str(error), error.is_harm
    found.seconds, found.cpu_s, found.busy_s = time.monotonic() - started, time.process_time() - cpu, busy_s() - busy
    return found


def _hold(budget: Budget, holds: Holds, under_way: int) -> int:
    """Count a message that goes now as incomplete, and return its number. Raises StoppedError where too many are."""
    now = time.monotonic()
    budget.incomplete.demand_few(holds, under_way, now)
    if not budget.incomplete.has_room(holds, now):
        raise StoppedError("messages without an answer fill what racwire may use for fragments", is_harm=True)
    return budget.incomplete.hold(holds, now)


def _demand_answers(unanswered: int) -> None:
    if unanswered >= FEW_LOST:
        raise StoppedError(f"{FEW_LOST} messages in a row had no answer", is_harm=True)


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
    messages: Messages,
    budget: Budget,
    packets: int,
    wire_bytes: int,
    holds: Holds,
    rate: float,
    seconds: float,
    in_flight: int,
) -> Exchanged:
    """Send `rate` messages a second, with at most `in_flight` unanswered."""
    found = Exchanged()
    waiting: dict[int, tuple[int, int]] = {}
    """When each message without an answer left, in ns, and its number among the incomplete ones."""
    started, cpu, busy = time.monotonic(), time.process_time(), busy_s()
    planned, sequence = int(rate * seconds), 0
    unanswered = 0
    try:
        while True:
            now = time.monotonic()
            for late in [one for one, (sent_ns, _) in waiting.items() if now - sent_ns / 1e9 > LOST_S]:
                del waiting[late]
                found.lost += 1
                unanswered += 1
            _demand_answers(unanswered)
            if sequence >= planned and not waiting:
                break
            due = started + sequence / rate
            if sequence < planned and now >= due:
                sequence += 1
                if len(waiting) >= in_flight or (waiting and not budget.incomplete.has_room(holds, now)):
                    found.withheld += 1
                    continue
                budget.take(packets, wire_bytes)
                number = _hold(budget, holds, len(waiting))
                try:
                    waiting[sequence] = messages.send(sequence), number
                except OSError:
                    budget.incomplete.complete(number)
                    found.refused += 1
                    continue
                found.sent += 1
                found.lateness_us.append(waiting[sequence][0] / 1000 - due * 1e6)
            budget.orders.look()
            until = started + sequence / rate if sequence < planned else now + 0.02
            select.select([messages], [], [], max(0.0, min(until - time.monotonic(), 0.02)))
            try:
                answers = list(messages.waiting())
            except OSError:
                continue
            for one, came_ns in answers:
                if (sent := waiting.pop(one, None)) is not None:
                    sent_ns, number = sent
                    budget.incomplete.complete(number)
                    unanswered = 0
                    found.times_us.append((came_ns - sent_ns) / 1000)
    except StoppedError as error:
        found.stopped, found.is_harm = str(error), error.is_harm
    found.seconds, found.cpu_s, found.busy_s = time.monotonic() - started, time.process_time() - cpu, busy_s() - busy
    return found
