"""Open requests, and the rule by which a block counts as lost. Nothing here sends or receives.

A block is lost when its holder says that it sent it, and it has still not come a while after that was said. A request
that the holder knows nothing of was itself lost, and a holder who does not answer is unreachable: neither counts as
anything. In every case what is missing is asked for again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from .counters import Counters
from .messages import MAX_BLOCKS, Block

ASK_AFTER_S = 0.1
"""So long is waited for blocks before their holder is asked."""
PATIENCE_S = 0.3
"""After so long the holder is asked again; and so long is a block waited for that the holder says it sent."""
QUESTIONS = 5
"""Unanswered questions after which the holder counts as unreachable."""
WINDOW_BLOCKS = 8
"""Blocks that may be on their way over one network: so many fit into the socket's buffer while nobody reads it."""


@dataclass
class BlockRequest:
    """Blocks asked for at one time."""

    number: int
    network: int
    holder: int
    block: Block
    count: int
    hops: int
    asked_ns: int
    """By the clock that stamps packets."""
    missing: int
    """The bits of the blocks that have not come."""
    due: float
    questions: int = 0
    sent: int | None = None
    """The bits of those that the holder says it sent; None while it has not said."""
    longest_us: int = 0


class Requests:
    """The requests of one instance that are not settled."""

    def __init__(self, counters: Counters, first_number: int) -> None:
        self.counters = counters
        self.again: deque[tuple[int, Block, int]] = deque(maxlen=1000)
        """Holder, kind and number of blocks to be asked for once more."""
        self.silent: set[tuple[int, int]] = set()
        """Holder and network over which questions were left without an answer."""
        self._next = first_number
        self._open: dict[int, BlockRequest] = {}
        self._busy: set[tuple[int, int]] = set()
        self._on_their_way: dict[int, int] = {}

    def room(self, network: int, holder: int) -> int:
        """The number of blocks that can be requested from that holder over that network now."""
        if (holder, network) in self._busy or (holder, network) in self.silent:
            return 0
        return min(MAX_BLOCKS, WINDOW_BLOCKS - self._on_their_way.get(network, 0))

    def begin(
        self, network: int, holder: int, block: Block, count: int, hops: int, asked_ns: int, now: float
    ) -> BlockRequest:
        """Note a request that is about to be sent."""
        request = BlockRequest(
            self._next, network, holder, block, count, hops, asked_ns, (1 << count) - 1, now + ASK_AFTER_S
        )
        self._next += 1
        self._open[request.number] = request
        self._busy.add((holder, network))
        self._on_their_way[network] = self._on_their_way.get(network, 0) + count
        return request

    def forget(self, request: BlockRequest) -> None:
        """It could not be sent, or its network is gone."""
        self._settle(request)

    def arrived(self, number: int, bit: int, received_ns: int, waited_ns: int) -> None:
        """A block has come. One that nobody waits for any more counts as nothing."""
        request = self._open.get(number)
        if request is None or not request.missing & bit:
            return
        us = max(1, (received_ns - request.asked_ns - waited_ns) // 1000)
        request.missing &= ~bit
        request.longest_us = max(request.longest_us, us)
        self.counters.received(request.holder, request.block, us)
        if not request.missing:
            self.counters.waited(request.block, request.count, request.hops, request.longest_us)
            self._settle(request)

    def answered(self, number: int, sent: int, now: float) -> None:
        """The holder says which blocks it sent."""
        request = self._open.get(number)
        if request is None or request.sent is not None:
            return
        if request.missing & sent:
            request.sent = sent
            request.due = now + PATIENCE_S
        else:
            self._give_up(request)

    def questions(self, now: float, now_ns: int) -> Iterator[BlockRequest]:
        """Settle what is due, and give the requests whose holders must be asked.

        To be called when all that has come was read.
        """
        for request in [r for r in self._open.values() if r.due <= now]:
            if request.sent is not None:
                for _ in range((request.missing & request.sent).bit_count()):
                    self.counters.lost(request.holder, request.block, (now_ns - request.asked_ns) // 1000)
                self._give_up(request)
            elif request.questions == QUESTIONS:
                self.silent.add((request.holder, request.network))
                self._settle(request)
            else:
                request.questions += 1
                request.due = now + PATIENCE_S
                yield request

    def heard(self, holder: int, network: int) -> None:
        """Something came from there, so it may be asked again."""
        self.silent.discard((holder, network))

    def drop_networks(self, gone: set[int]) -> None:
        """Forget what was asked for over networks that are no longer there."""
        for request in [r for r in self._open.values() if r.network in gone]:
            self._settle(request)

    def _give_up(self, request: BlockRequest) -> None:
        self.again.append((request.holder, request.block, request.missing.bit_count()))
        self._settle(request)

    def _settle(self, request: BlockRequest) -> None:
        del self._open[request.number]
        self._busy.discard((request.holder, request.network))
        self._on_their_way[request.network] -= request.count
