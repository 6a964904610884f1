"""Open requests, and the rule by which a block counts as lost. Nothing here sends or receives.

A block is lost when its holder reports that it sent the block, and the block has not arrived some time after the
report. If the holder does not know the request, the request itself was lost. A holder that does not answer is
unreachable. These two cases change no counter. In every case the missing blocks are requested again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from .counters import Counters
from .messages import MAX_BLOCKS, Block

QUERY_AFTER_S = 0.1
"""Seconds to wait for blocks before a query to their holder."""
STATUS_TIMEOUT_S = 0.3
"""Seconds between two queries; also seconds to wait for a block after the holder has reported that it sent it."""
MAX_QUERIES = 5
"""Unanswered queries after which the holder counts as unreachable."""
WINDOW_BLOCKS = 8
"""Blocks in flight over one network: so many fit into the socket's buffer while no process reads it."""


@dataclass
class BlockRequest:
    """A request for some blocks at one time."""

    number: int
    network: int
    holder: int
    block: Block
    count: int
    hops: int
    requested_ns: int
    """Time by the clock that stamps packets."""
    missing: int
    """The bits of the blocks that have not arrived."""
    due: float
    queries: int = 0
    sent: int | None = None
    """The bits of the blocks that the holder reported as sent; None before its report."""
    longest_us: int = 0


class Requests:
    """The open requests of one instance."""

    def __init__(self, counters: Counters, first_number: int) -> None:
        self.counters = counters
        self.again: deque[tuple[int, Block, int]] = deque(maxlen=1000)
        """Holder, kind and number of blocks to be requested again."""
        self._lost: list[tuple[BlockRequest, int]] = []
        self.silent: set[tuple[int, int]] = set()
        """Holder and network whose queries were not answered."""
        self._next = first_number
        self._open: dict[int, BlockRequest] = {}
        self._busy: set[tuple[int, int]] = set()
        self._on_their_way: dict[int, int] = {}

    def room(self, network: int, holder: int) -> int:
        """Return the number of blocks that can be requested from that holder over that network."""
        if (holder, network) in self._busy or (holder, network) in self.silent:
            return 0
        return min(MAX_BLOCKS, WINDOW_BLOCKS - self._on_their_way.get(network, 0))

    def open(
        self, network: int, holder: int, block: Block, count: int, hops: int, requested_ns: int, now: float
    ) -> BlockRequest:
        """Add a request that is about to be sent."""
        request = BlockRequest(
            self._next, network, holder, block, count, hops, requested_ns, (1 << count) - 1, now + QUERY_AFTER_S
        )
        self._next += 1
        self._open[request.number] = request
        self._busy.add((holder, network))
        self._on_their_way[network] = self._on_their_way.get(network, 0) + count
        return request

    def forget(self, request: BlockRequest) -> None:
        """Remove a request that could not be sent, or whose network has gone."""
        self._settle(request)

    def arrived(self, number: int, bit: int, received_ns: int, waited_ns: int) -> None:
        """Count a block that has arrived. A block without an open request changes no counter."""
        request = self._open.get(number)
        if request is None or not request.missing & bit:
            return
        us = max(1, (received_ns - request.requested_ns - waited_ns) // 1000)
        request.missing &= ~bit
        request.longest_us = max(request.longest_us, us)
        self.counters.received(request.holder, request.block, us)
        if not request.missing:
            self.counters.waited(request.block, request.count, request.hops, request.longest_us)
            self._settle(request)

    def answered(self, number: int, sent: int, now: float) -> None:
        """Process the holder's report of the blocks that it sent."""
        request = self._open.get(number)
        if request is None or request.sent is not None:
            return
        if request.missing & sent:
            request.sent = sent
            request.due = now + STATUS_TIMEOUT_S
        else:
            self._give_up(request)

    def queries(self, now: float, now_ns: int) -> Iterator[BlockRequest]:
        """Close the requests that are due, and yield those whose holders must be queried.

        Call it after all arrived packets were read.
        """
        for request in [r for r in self._open.values() if r.due <= now]:
            if request.sent is not None:
                bits = request.missing & request.sent
                for _ in range(bits.bit_count()):
                    self.counters.lost(request.holder, request.block, (now_ns - request.requested_ns) // 1000)
                self._lost.append((request, bits))
                self._give_up(request)
            elif request.queries == MAX_QUERIES:
                self.silent.add((request.holder, request.network))
                self._settle(request)
            else:
                request.queries += 1
                request.due = now + STATUS_TIMEOUT_S
                yield request

    def take_lost(self) -> list[tuple[BlockRequest, int]]:
        """Return the requests with lost blocks since the last call, each with the bits of these blocks."""
        lost, self._lost = self._lost, []
        return lost

    def answer_from(self, holder: int, network: int) -> None:
        """Record an answer of the holder over this network: it may receive requests again."""
        self.silent.discard((holder, network))

    def drop_networks(self, gone: set[int]) -> None:
        """Remove the requests over networks that have gone."""
        for request in [r for r in self._open.values() if r.network in gone]:
            self._settle(request)

    def _give_up(self, request: BlockRequest) -> None:
        self.again.append((request.holder, request.block, request.missing.bit_count()))
        self._settle(request)

    def _settle(self, request: BlockRequest) -> None:
        del self._open[request.number]
        self._busy.discard((request.holder, request.network))
        self._on_their_way[request.network] -= request.count
