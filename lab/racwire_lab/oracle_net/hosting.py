"""Servers in a thread of their own, for code that is not asynchronous."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from racwire_lab.database.backend import Backend
from racwire_lab.oracle_net.listener import Listener
from racwire_lab.oracle_net.server import OracleServer

L = TypeVar("L", bound=Listener)

_START_S = 10.0


@contextmanager
def hosted(listener: L, host: str = "127.0.0.1", port: int = 0) -> Iterator[L]:
    """Run it in an event loop in a thread of its own while the context lasts. OSError when it cannot listen."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name=f"{type(listener).__name__}", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(listener.start(host, port), loop).result(_START_S)
        try:
            yield listener
        finally:
            asyncio.run_coroutine_threadsafe(listener.close(), loop).result(_START_S)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_START_S)
        loop.close()


@contextmanager
def serving(backend: Backend, *, host: str = "127.0.0.1", port: int = 0, **options: Any) -> Iterator[OracleServer]:
    """Serve a backend while the context lasts; options are those of OracleServer."""
    with hosted(OracleServer(backend, **options), host, port) as server:
        yield server
