"""The parallel part of GV$ statements: a slave on each instance, whose rows cross the private networks.

The server of the instance reads the rows itself. For each statement its daemon first occupies a slave on each instance,
and then requests as many bytes from each slave as its rows have. The statement waits until all have arrived. Lost
messages are requested again, so a statement takes longer on a network that loses packets. A real statement waits for
minutes when nothing passes; this one gives up.
"""

from __future__ import annotations

import contextlib
import json
import math
import socket
from collections import OrderedDict
from dataclasses import dataclass

from .counters import Counters
from .messages import Message, Type, encode
from .settings import InstanceSettings
from .sockets import FusionNetwork

_ROWS_BYTES = 1400
"""The rows of one message: they fit into a packet at MTU 1500. Real messages have up to 16 KB."""
_MOST_PARTS = 255
_AGAIN_S = 0.25
"""Seconds after which missing rows are requested again."""
_GIVE_UP_S = 1.5
_SILENT_S = 10.0
"""Seconds for which no rows are requested from an instance that returned none."""
_REMEMBERED = 4096


@dataclass
class _Statement:
    """A statement that waits for rows of other instances."""

    client: socket.socket
    slaves: int
    """Slaves on each instance: one for each view."""
    sizes: dict[int, int]
    """The bytes of the rows by instance."""
    missing: dict[int, set[int]]
    """The parts that have not arrived, by instance."""
    again: float
    until: float
    tries: int = 0


class ParallelQueries:
    """The statements that this instance coordinates, and the slaves that it runs for those of other instances."""

    def __init__(self, settings: InstanceSettings, counters: Counters, first_number: int) -> None:
        self.settings = settings
        self._counters = counters
        self._next = first_number
        self._statements: dict[int, _Statement] = {}
        self._served: OrderedDict[tuple[int, int], None] = OrderedDict()
        self._silent_until: dict[int, float] = {}

    def start(self, client: socket.socket, request: bytes, networks: dict[int, FusionNetwork], now: float) -> None:
        """Start the next step of a statement. The request is JSON: the `slaves` to occupy on each instance, 0 after the
        first step; and the bytes of `rows` by instance. The client's connection is closed when all have answered."""
        document = json.loads(request)
        slaves: int = document["slaves"]
        if slaves:
            self._counters.px_statements += 1
            self._counters.px_slaves += slaves
        wanted = {int(peer): size for peer, size in document["rows"].items()} or dict.fromkeys(self.settings.peers, 0)
        sizes = {
            peer: size
            for peer, size in wanted.items()
            if peer in self.settings.peers and self._silent_until.get(peer, 0.0) <= now
        }
        missing = {peer: set(range(_parts(size))) for peer, size in sizes.items()}
        self._next += 1
        self._statements[self._next] = _Statement(client, slaves, sizes, missing, now, now + _GIVE_UP_S)
        self.act(networks, now)

    def act(self, networks: dict[int, FusionNetwork], now: float) -> None:
        """Request missing rows, and end the statements that have all rows, or have waited long enough."""
        for number, statement in list(self._statements.items()):
            if statement.missing and now >= statement.until:
                self._silent_until |= dict.fromkeys(statement.missing, now + _SILENT_S)
                statement.missing = {}
            if not statement.missing:
                statement.client.close()
                del self._statements[number]
            elif now >= statement.again:
                statement.again = now + _AGAIN_S
                for peer in statement.missing:
                    self._request(number, statement, peer, networks)
                statement.tries += 1

    def received(self, network: FusionNetwork, message: Message) -> None:
        """Process a request for rows, or rows."""
        if message.type is Type.ROWS_REQUEST:
            self._serve(network, message)
            return
        self._counters.px_messages_received += 1
        statement = self._statements.get(message.number)
        if statement is None or message.blocks not in statement.missing.get(message.holder, ()):
            return
        statement.missing[message.holder].discard(message.blocks)
        self._counters.px_bytes_received += _bytes_of(statement.sizes[message.holder], message.blocks)
        if not statement.missing[message.holder]:
            del statement.missing[message.holder]

    def end(self) -> None:
        """End all statements: their instance has ended."""
        for statement in self._statements.values():
            statement.client.close()
        self._statements.clear()

    def _request(self, number: int, statement: _Statement, peer: int, networks: dict[int, FusionNetwork]) -> None:
        shared = [(networks[n], ip) for n, ip in sorted(self.settings.peers.get(peer, {}).items()) if n in networks]
        if not shared:
            return
        network, address = shared[(number + statement.tries) % len(shared)]
        message = Message(
            Type.ROWS_REQUEST, self.settings.number, peer, number,
            blocks=statement.slaves, waited_ns=statement.sizes[peer], answer_to=network.packed_ip,
        )  # fmt: skip
        if network.send(encode(message), address):
            self._counters.px_messages_sent += 1

    def _serve(self, network: FusionNetwork, message: Message) -> None:
        if message.holder != self.settings.number or message.origin not in self.settings.peers:
            return
        if (message.origin, message.number) not in self._served:
            self._served[message.origin, message.number] = None
            self._counters.px_slaves += message.blocks
            if len(self._served) > _REMEMBERED:
                self._served.popitem(last=False)
        size = message.waited_ns  # a request has the bytes of the rows in this field
        for part in range(_parts(size)):
            rows = _bytes_of(size, part)
            answer = message._replace(type=Type.ROWS, blocks=part, waited_ns=0)
            if network.send(encode(answer, rows), socket.inet_ntoa(message.answer_to)):
                self._counters.px_messages_sent += 1
                self._counters.px_bytes_sent += rows


def _parts(size: int) -> int:
    return min(max(1, math.ceil(size / _ROWS_BYTES)), _MOST_PARTS)


def _bytes_of(size: int, part: int) -> int:
    return max(0, min(size - part * _ROWS_BYTES, _ROWS_BYTES))


class StatementSocket:
    """The socket at which the server of the instance starts statements."""

    def __init__(self, path: str) -> None:
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        self.listener.bind(path)
        self.listener.listen(128)
        self._clients: list[socket.socket] = []

    def requests(self) -> list[tuple[socket.socket, bytes]]:
        """Return the requests that have arrived, each with its connection."""
        with contextlib.suppress(BlockingIOError):
            while True:
                client, _ = self.listener.accept()
                client.setblocking(False)
                self._clients.append(client)
        found: list[tuple[socket.socket, bytes]] = []
        waiting: list[socket.socket] = []
        for client in self._clients:
            try:
                request = client.recv(65536)
            except BlockingIOError:
                waiting.append(client)
                continue
            except OSError:
                request = b""
            if request.endswith(b"\n"):
                found.append((client, request))
            else:
                client.close()
        self._clients = waiting
        return found
