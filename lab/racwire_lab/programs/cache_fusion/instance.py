"""One instance from its start to its end: its requests, answers, counters and state."""

from __future__ import annotations

import itertools
import os
import random
import socket
import time
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from .addresses import addresses, device
from .counters import Counters
from .messages import (
    BLOCK_BYTES,
    BLOCK_PORT,
    LARGE_PING_BYTES,
    SMALL_PING_BYTES,
    Block,
    Message,
    Type,
    encode,
)
from .parallel import ParallelQueries
from .requests import BlockRequest, Requests
from .settings import InstanceSettings
from .sockets import FusionNetwork

_PATTERN = (
    (Block.CURRENT, 1),
    (Block.CR, 4),
    (Block.CURRENT, 1),
    (Block.CR, 1),
    (Block.CR, 6),
    (Block.CR, 1),
)
"""The repeated sequence of requests: single blocks, and several blocks at once as in a table scan."""
_THREE_WAY = 0.25
"""The share of single blocks that are requested through a third instance, where there is one."""
_BLOCKS_PER_S, _BLOCKS_OF_ALL_PER_S = 200, 480
_AT_ONCE = 10.0
"""Blocks that are due at once at the usual load; at a higher one the requests come more often."""
_LONGEST_PAUSE_S, _SHORTEST_PAUSE_S = 0.05, 0.001
_SAVED_S, _SAVED = 0.05, 24.0
"""The requests that are made up for later: those of so many seconds, or so many."""
_PING_TIMEOUT_S = 2.0
_REMEMBERED = 4096
_FALSE_LOSSES_PER_S = 5


class CacheFusionInstance:
    """An instance; each start makes a new object."""

    def __init__(self, settings: InstanceSettings) -> None:
        self.settings = settings
        self.counters = Counters(settings.parameters.get("db_unique_name", ""))
        self.requests = Requests(self.counters, int.from_bytes(os.urandom(5), "big") << 20)
        self.queries = ParallelQueries(settings, self.counters, int.from_bytes(os.urandom(5), "big") << 20)
        self.startup_time = time.time()
        self._pattern = itertools.cycle(_PATTERN)
        self._wanted = next(self._pattern)
        self._paths: Iterator[tuple[int, int]] = iter(())
        self._served: OrderedDict[tuple[int, int], int] = OrderedDict()
        self._pings: dict[int, tuple[int, bool, int, float]] = {}
        self._ping_number = 0
        self._next_ping = time.monotonic()
        self._allowed = 0.0
        self._at = time.monotonic()
        self._false_losses = 0.0

    def change(self, settings: InstanceSettings) -> None:
        """Adopt other settings while the instance runs."""
        if settings.peers != self.settings.peers:
            self.requests.silent.clear()
        self.settings = self.queries.settings = settings

    def received(self, network: FusionNetwork, message: Message, received_ns: int) -> None:
        """Process a message from a network."""
        if message.type in (Type.ROWS_REQUEST, Type.ROWS):
            self.queries.received(network, message)
            return
        if message.type is Type.BLOCK:
            self.requests.answer_from(message.holder, network.number)
            self.requests.arrived(message.number, message.blocks, received_ns, message.waited_ns)
            return
        started_ns = time.time_ns()
        waited_ns = message.waited_ns + max(0, started_ns - received_ns)
        if message.type is Type.REQUEST:
            self.counters.gcs_received += 1
            if message.holder != self.settings.number:
                self._pass_on(network, message._replace(waited_ns=waited_ns))
            else:
                self._serve(network, message._replace(waited_ns=waited_ns), started_ns)
            self.counters.processing_us += (time.time_ns() - started_ns) // 1000
            return
        self.counters.ges_received += 1
        if message.type is Type.QUERY:
            sent = self._served.get((message.origin, message.number), 0)
            self._answer(network, message._replace(type=Type.STATUS, blocks=sent))
        elif message.type is Type.STATUS:
            self.requests.answer_from(message.holder, network.number)
            self.requests.answered(message.number, message.blocks, time.monotonic())
        elif message.type is Type.PING:
            self._answer(network, message._replace(type=Type.PONG, waited_ns=waited_ns))
        elif message.type is Type.PONG:
            self._ping_came_back(network, message, received_ns)

    def act(self, networks: dict[int, FusionNetwork]) -> None:
        """Send the requests and pings that are due. Call it after all arrived packets were read."""
        now = time.monotonic()
        passed_s, self._at = now - self._at, now
        if self.settings.counts_false_losses:
            self._false_losses += passed_s * _FALSE_LOSSES_PER_S
            self.counters.false_losses = int(self._false_losses)
        self.queries.act(networks, now)
        for request in self.requests.queries(now, time.time_ns()):
            self._query_holder(networks, request)
        if self.settings.peers and networks:
            rate = self._blocks_per_s()
            self._allowed = min(self._allowed + passed_s * rate, max(_SAVED, rate * _SAVED_S))
            while self._allowed >= 1 and self._send_request(networks):
                pass
            if now >= self._next_ping:
                self._ping(networks, now)

    def pause_s(self) -> float:
        """Return the seconds after which the next requests are due."""
        rate = self._blocks_per_s()
        return min(_LONGEST_PAUSE_S, max(_SHORTEST_PAUSE_S, _AT_ONCE / rate)) if rate else _LONGEST_PAUSE_S

    def _blocks_per_s(self) -> float:
        """The blocks that this instance requests in a second: its share of those of all instances."""
        size = len(self.settings.peers) + 1
        if self.settings.blocks_per_s is not None:
            return self.settings.blocks_per_s / size
        return min(_BLOCKS_PER_S, _BLOCKS_OF_ALL_PER_S / size)

    def state(self, networks: dict[int, FusionNetwork]) -> dict[str, Any]:
        """Return the state as `racwire_lab.database.live.InstanceState`."""
        settings, here = self.settings, addresses()
        used = [(i, here[i.ip]) for i in settings.interconnects if i.ip in here and i.network in networks]
        return {
            "instance": settings.number,
            "name": settings.name,
            "host": settings.host,
            "startup_time": self.startup_time,
            "taken_at": time.time(),
            "version": settings.version,
            "status": "OPEN",
            "peers": sorted(settings.peers),
            "interconnects": [
                {"name": address.label, "ip_address": i.ip, "is_public": i.is_public, "source": i.source}
                for i, address in used
            ],
            "devices": [found for _, address in used if (found := device(address, here))],
            "parameters": settings.parameters,
            "nfs_server": settings.nfs_server,
            "asm": settings.asm,
            **self.counters.as_document(),
        }

    def _send_request(self, networks: dict[int, FusionNetwork]) -> bool:
        """Send one request. Return False when no network has room for a request."""
        again = self.requests.again
        for _ in range(len(again)):
            holder, block, count = again.popleft()
            for network in networks.values():
                room = self.requests.room(network.number, holder)
                if room and self._request(network, holder, block, min(room, count)):
                    if count > room:
                        again.appendleft((holder, block, count - room))
                    return True
            if holder in self.settings.peers:
                again.append((holder, block, count))
        block, count = self._wanted
        for _ in range(len(self.settings.peers) * len(networks)):
            holder, number = self._next_path(networks)
            if self.requests.room(number, holder) >= count and self._request(networks[number], holder, block, count):
                self._wanted = next(self._pattern)
                return True
        return False

    def _next_path(self, networks: dict[int, FusionNetwork]) -> tuple[int, int]:
        """The next instance and network to request from: all in turn, in a new order each round."""
        while True:
            for holder, network in self._paths:
                if holder in self.settings.peers and network in networks:
                    return holder, network
            paths = [(holder, number) for holder in self.settings.peers for number in networks]
            random.shuffle(paths)
            self._paths = iter(paths)

    def _request(self, network: FusionNetwork, holder: int, block: Block, count: int) -> bool:
        address = self._address(holder, network)
        if address is None:
            return False
        hops = 2
        others = [peer for peer in self.settings.peers if peer != holder and self.settings.asks_by_way_of_others]
        if count == 1 and others and random.random() < _THREE_WAY:  # noqa: S311 - a workload, no secret
            by_way_of = self._address(random.choice(others), network)  # noqa: S311
            address, hops = (by_way_of, 3) if by_way_of else (address, 2)
        request = self.requests.open(network.number, holder, block, count, hops, time.time_ns(), time.monotonic())
        message = Message(
            Type.REQUEST, self.settings.number, holder, request.number, block, request.missing, hops,
            answer_to=network.packed_ip,
        )  # fmt: skip
        if not network.send(encode(message), address):
            self.requests.forget(request)
            return False
        self.counters.gcs_sent += 1
        self._allowed -= count
        return True

    def _pass_on(self, network: FusionNetwork, message: Message) -> None:
        address = self._address(message.holder, network)
        if address and network.send(encode(message), address):
            self.counters.gcs_sent += 1
            self.counters.passed_on += 1

    def _serve(self, network: FusionNetwork, message: Message, started_ns: int) -> None:
        if message.origin not in self.settings.peers:
            return
        target = socket.inet_ntoa(message.answer_to)
        bits = [1 << i for i in range(message.blocks.bit_length()) if message.blocks >> i & 1]
        blocks = [(bit, encode(message._replace(type=Type.BLOCK, blocks=bit), BLOCK_BYTES)) for bit in bits]
        prepared_ns = time.time_ns()
        sent = [bit for bit, datagram in blocks if network.send(datagram, target, BLOCK_PORT)]
        sent_ns = time.time_ns()
        self._served[message.origin, message.number] = sum(sent)
        if len(self._served) > _REMEMBERED:
            self._served.popitem(last=False)
        self.counters.served(
            message.block, len(sent), (prepared_ns - started_ns) // 1000, (sent_ns - prepared_ns) // 1000
        )

    def _answer(self, network: FusionNetwork, message: Message) -> None:
        size = _ping_bytes(message.large) if message.type is Type.PONG else 0
        answer = message._replace(answer_to=network.packed_ip)
        if network.send(encode(answer, size), socket.inet_ntoa(message.answer_to)):
            self.counters.ges_sent += 1

    def _query_holder(self, networks: dict[int, FusionNetwork], request: BlockRequest) -> None:
        """Query the holder about a request: over its own network first, then over the other networks in turn."""
        numbers = sorted(networks, key=lambda number: number != request.network)
        network = networks[numbers[(request.queries - 1) % len(numbers)]] if numbers else None
        if network is None or (address := self._address(request.holder, network)) is None:
            return
        message = Message(Type.QUERY, self.settings.number, request.holder, request.number, answer_to=network.packed_ip)
        if network.send(encode(message), address):
            self.counters.ges_sent += 1

    def _ping(self, networks: dict[int, FusionNetwork], now: float) -> None:
        """Send the next ping: all instances in turn, then with the other size, then over the next network."""
        peers = sorted(self.settings.peers)
        self._next_ping = max(now, self._next_ping + self.settings.ping_every_s / len(peers) / 2)
        self._pings = {number: ping for number, ping in self._pings.items() if ping[3] > now}
        self._ping_number += 1
        turn, place = divmod(self._ping_number, len(peers))
        target = peers[place]
        shared = [(networks[n], address) for n in sorted(networks) if (address := self._address(target, networks[n]))]
        if not shared:
            return
        network, address = shared[turn // 2 % len(shared)]
        large = bool(turn % 2)
        message = Message(
            Type.PING, self.settings.number, target, self._ping_number, large=large, answer_to=network.packed_ip
        )
        datagram = encode(message, _ping_bytes(large))
        self._pings[self._ping_number] = (target, large, time.time_ns(), now + _PING_TIMEOUT_S)
        if network.send(datagram, address):
            self.counters.ges_sent += 1

    def _ping_came_back(self, network: FusionNetwork, message: Message, received_ns: int) -> None:
        self.requests.answer_from(message.holder, network.number)
        ping = self._pings.pop(message.number, None)
        if ping is not None:
            target, large, sent_ns, _ = ping
            self.counters.ping(target, large, max(1, (received_ns - sent_ns - message.waited_ns) // 1000))

    def _address(self, peer: int, network: FusionNetwork) -> str | None:
        return self.settings.peers.get(peer, {}).get(network.number)


def _ping_bytes(large: bool) -> int:
    return LARGE_PING_BYTES if large else SMALL_PING_BYTES
