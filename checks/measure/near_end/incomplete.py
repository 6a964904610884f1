"""How much of a receiver's memory for reassembly racwire may fill: what has no answer counts as incomplete.

A kernel keeps the fragments of an incomplete datagram for net.ipv4.ipfrag_time, in memory that it shares with the
blocks of the database (net.ipv4.ipfrag_high_thresh).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from checks.measure.load_limits import FEW_LOST, LOOK_S, FragmentRoom, loses_too_much
from checks.measure.near_end.stopped import StoppedError

Holds = Mapping[str, int]
"""Bytes that an incomplete message holds at each node that receives it in fragments; empty for a message in
one packet."""
LOST_S = 0.5
"""Seconds after which a message without an answer counts as lost."""
SILENT_S, _OVERTAKEN_S = 1.0, 0.1
"""The same in a stream, which is at a standstill by then, and where one that left later has its answer: both ends run
then, and no network reorders over so long."""
Key = tuple[int, ...]
"""Names a datagram among those of a stream; its first number is that of its far end."""


class Incomplete:
    """The messages in fragments that may be incomplete, by the node that receives them.

    It lives as long as the sender, so that what one order leaves behind counts in the next.
    """

    def __init__(self, rooms: Mapping[str, FragmentRoom], stop_bytes: int) -> None:
        """`stop_bytes`: the memory in use at this node, by all senders, above which sending stops; 0 for no limit."""
        self._rooms, self._stop_bytes, self._looked_s = rooms, stop_bytes, 0.0
        self._kept: dict[str, dict[int, tuple[float, int]]] = {node: {} for node in rooms}
        """By node, and the number of the message: when the kernel gives it up, and its bytes."""
        self._number = 0

    def has_room(self, holds: Holds, now: float) -> bool:
        """Return whether a message may go."""
        return all(
            sum(own for _, own in self._at(node, now).values()) + size <= self._rooms[node].most_bytes
            for node, size in holds.items()
        )

    def hold(self, holds: Holds, now: float) -> int:
        """Count a message that goes now, and return its number."""
        self._number += 1
        for node, size in holds.items():
            self._kept[node][self._number] = now + self._rooms[node].seconds, size
        return self._number

    def complete(self, number: int) -> None:
        """A message has its answer, or did not go."""
        for kept in self._kept.values():
            kept.pop(number, None)

    def demand_few(self, holds: Holds, under_way: int, now: float) -> None:
        """Raise StoppedError where more than a few are lost, or too much of this node's memory is in use.

        `under_way`: the messages that may still be answered.
        """
        for node in holds:
            if (lost := len(self._at(node, now)) - under_way) > FEW_LOST:
                raise StoppedError(
                    f"{lost} datagrams in fragments, which {node} should have received, had no answer", is_harm=True
                )
        if holds and self._stop_bytes and now - self._looked_s >= LOOK_S:
            self._looked_s = now
            if (used := memory_in_use()) > self._stop_bytes:
                raise StoppedError(
                    f"incomplete datagrams hold {used:,} bytes of this node's memory for reassembly", is_harm=True
                )

    def _at(self, node: str, now: float) -> dict[int, tuple[float, int]]:
        kept = self._kept[node]
        for number in [number for number, (until, _) in kept.items() if until <= now]:
            del kept[number]
        return kept


def memory_in_use() -> int:
    """Return the bytes of this node's memory for reassembly that are in use; 0 where the kernel does not tell."""
    for line in Path("/proc/net/sockstat").read_text(encoding="ascii").splitlines():
        name, _, rest = line.partition(" memory ")
        if name.startswith("FRAG:") and rest:
            return int(rest)
    return 0


class Unanswered:
    """The datagrams of one stream that have no answer yet, and those that are lost."""

    def __init__(self, incomplete: Incomplete, holds: Holds, most: int) -> None:
        """`most`: the datagrams that may be without an answer at the same time."""
        self._incomplete, self._holds, self._most = incomplete, holds, most
        self._waiting: dict[Key, tuple[float, int]] = {}
        """When each datagram left, and its number among the incomplete ones."""
        self._given_up: dict[Key, int] = {}
        self._answered_s: dict[int, float] = {}
        """For each far end, when the newest datagram left that has its answer."""
        self.sent = 0
        self._before = 0.0, 0, 0
        """A moment of the last second, and what was sent and lost until then."""

    def __bool__(self) -> bool:
        return bool(self._waiting)

    @property
    def lost(self) -> int:
        """The datagrams that no answer is expected for any more."""
        return len(self._given_up)

    def has_room(self, number: int, now: float) -> bool:
        """Return whether so many datagrams may go now. Read the clock before the answers: this node may be late.

        Raises StoppedError where too many are lost.
        """
        self._give_up(now)
        if self._waiting and len(self._waiting) + number > self._most:
            return False
        if self._incomplete.has_room({node: size * number for node, size in self._holds.items()}, now):
            return True
        if not self._waiting:
            raise StoppedError("datagrams without an answer fill what racwire may use for fragments", is_harm=True)
        return False

    def went(self, key: Key, now: float) -> None:
        """A datagram goes."""
        self._waiting[key] = now, self._incomplete.hold(self._holds, now)
        self.sent += 1

    def did_not_go(self, key: Key) -> None:
        """The kernel did not take a datagram."""
        self._incomplete.complete(self._waiting.pop(key)[1])
        self.sent -= 1

    def answered(self, key: Key) -> None:
        """A datagram has its answer, perhaps a late one."""
        sent_s, number = self._waiting.pop(key, (0.0, 0))
        self._answered_s[key[0]] = max(self._answered_s.get(key[0], 0.0), sent_s)
        self._incomplete.complete(number or self._given_up.pop(key, 0))

    def _give_up(self, now: float) -> None:
        while self._waiting:
            key, (sent_s, number) = next(iter(self._waiting.items()))
            if now - sent_s <= (_OVERTAKEN_S if sent_s < self._answered_s.get(key[0], 0.0) else SILENT_S):
                break
            del self._waiting[key]
            self._given_up[key] = number
        self._incomplete.demand_few(self._holds, len(self._waiting), now)
        if self._holds:
            return
        before_s, sent, lost = self._before
        # Also those of the last second by themselves: a loss that begins late in a step is small in all of it.
        if loses_too_much(self.lost, self.sent) or loses_too_much(self.lost - lost, self.sent - sent):
            raise StoppedError(f"{self.lost:,} of {self.sent:,} datagrams had no answer", is_harm=True)
        if now - before_s >= 1.0:
            self._before = now, self.sent, self.lost
