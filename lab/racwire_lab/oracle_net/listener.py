"""A listener on a port: accept connections, run the tasks that serve them, and end them."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from racwire_lab.oracle_net.connecting import ConnectRequest, receive_request
from racwire_lab.oracle_net.listener_faults import Faults
from racwire_lab.oracle_net.packets import Channel
from racwire_lab.oracle_net.wire import ProtocolError

T = TypeVar("T")
log = logging.getLogger(__name__)

_BACKLOG = 128
_OTHER_THREAD_S = 10.0


class Listener(ABC):
    """Listens on one address, in the event loop that started it.

    Any thread may call `listen`, `stop_listening` and `drop_sessions`.
    """

    def __init__(self, *, logon_timeout_s: float = 60.0) -> None:
        self.faults = Faults()
        self.logon_timeout_s = logon_timeout_s
        """Seconds until a client must be logged on, as INBOUND_CONNECT_TIMEOUT."""
        self.host = ""
        self.port = 0
        self._socket: socket.socket | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._connections: dict[asyncio.Task[None], Channel | None] = {}

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen on this address; port 0 selects a free one. Raises OSError when the port is in use."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self.host, self.port = host, port
        self.listen()

    async def close(self) -> None:
        """Stop listening, and end all connections."""
        self.stop_listening()
        self.drop_sessions()
        tasks = list(self._connections)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # The event loop closes dropped connections in its next iteration.
        await asyncio.sleep(0)

    def listen(self) -> None:
        """Listen on the same address; do nothing when the listener listens already."""
        self._in_loop(self._listen)

    def stop_listening(self) -> None:
        """Accept no new connections: the kernel refuses them. Existing sessions continue."""
        self._in_loop(self._stop_listening)

    def drop_sessions(self) -> None:
        """Drop all connections at once, as a crash would."""
        self._in_loop(self._drop)

    @abstractmethod
    async def serve(self, channel: Channel, request: ConnectRequest) -> None:
        """Answer a client's request, and serve the connection until it ends."""

    def _listen(self) -> None:
        if self._socket is None and self._loop is not None:
            self._socket = socket.create_server((self.host, self.port), backlog=_BACKLOG)
            self._socket.setblocking(False)
            self.port = self._socket.getsockname()[1]
            self._loop.add_reader(self._socket, self._take, self._socket)

    def _stop_listening(self) -> None:
        if self._socket is not None and self._loop is not None:
            self._loop.remove_reader(self._socket)
            self._socket.close()
            self._socket = None

    def _drop(self) -> None:
        for channel in self._connections.values():
            if channel is not None:
                channel.abort()

    def _take(self, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            connection, _ = listening.accept()
            connection.setblocking(False)
            task = asyncio.ensure_future(self._serve(connection))
            self._connections[task] = None
            task.add_done_callback(self._connections.pop)

    async def _serve(self, connection: socket.socket) -> None:
        """Serve one connection. An error ends this connection only."""
        try:
            channel = Channel(*await asyncio.open_connection(sock=connection))
        except OSError:
            connection.close()
            return
        task = asyncio.current_task()
        if task is not None:
            self._connections[task] = channel
        try:
            await self._serve_request(channel)
        except TimeoutError:
            log.info("%s was dropped: it sent no request in time", channel.peer)
        except (EOFError, OSError):
            log.info("%s went away", channel.peer)
        except ProtocolError as error:
            log.info("%s was dropped: %s", channel.peer, error)
        except Exception as error:
            # Do not log the text: it might contain data that the client sent.
            log.error("%s was dropped: unexpected %s", channel.peer, type(error).__name__)
        finally:
            channel.close()

    async def _serve_request(self, channel: Channel) -> None:
        if self.faults.hang_at_connect:
            await hang(channel)
        request = await receive_request(channel, self.logon_timeout_s)
        await self.serve(channel, request)
        await channel.drain()

    def _in_loop(self, action: Callable[[], T]) -> T:
        """Run the action in the thread of the event loop."""
        if self._loop is None or self._thread == threading.get_ident():
            return action()
        done: concurrent.futures.Future[T] = concurrent.futures.Future()

        def act() -> None:
            try:
                done.set_result(action())
            except BaseException as error:  # raised in the calling thread
                done.set_exception(error)

        self._loop.call_soon_threadsafe(act)
        return done.result(_OTHER_THREAD_S)


async def hang(channel: Channel) -> None:
    """Read without an answer until the client goes away. Raises EOFError or OSError then."""
    while True:
        await channel.receive()
