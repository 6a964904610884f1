"""Runs the sender of this node as a process of its own, and keeps it alive with heartbeats."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import checks
from checks.measure.near_end.control import HEARTBEAT_S
from checks.model.system_limits import limit_reached
from checks.sources.nodes.niceness import QuickProcess

_START_S = 10.0
_MODULE = "checks.measure.near_end.sender"


class SenderError(Exception):
    """The sender could not be started, has ended, or could not carry out an order. The message is one sentence."""


class SenderHangsError(SenderError):
    """The sender did not finish an order in time."""


class NearProcess:
    """The sender. Always `close` it; it also ends by itself within a second where this process dies."""

    def __init__(self) -> None:
        self._process = QuickProcess(on_stdout=self._receive, on_stderr=self._note, on_exit=self._exited)
        self._buffer = b""
        self._messages = b""
        self._results: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._heart: asyncio.Task[None] | None = None
        self._news: Callable[[dict[str, Any]], None] | None = None

    @classmethod
    async def open(cls, **limits: Any) -> Self:
        """Start the sender with the limits of `near_end.control.Budget`. Raises SenderError."""
        sender = cls()
        try:
            await sender._start()
        except BaseException:
            await sender.close()
            raise
        sender._send({"order": "limits", **limits})
        return sender

    async def _start(self) -> None:
        # First the directory of racwire's own packages, in whatever way they were installed: others have their names.
        path = [str(Path(checks.__file__).parents[1]), *filter(None, sys.path)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
        try:
            await self._process.start([sys.executable, "-P", "-s", "-m", _MODULE], environment)
            self._heart = asyncio.create_task(self._beat())
            async with asyncio.timeout(_START_S):
                await self._result()
        except TimeoutError:
            raise SenderError(f"The sender on this node did not start within {_START_S:.0f} s.") from None
        except OSError as error:
            reason = limit_reached(error) or error.strerror or str(error)
            raise SenderError(f"The sender on this node could not be started: {reason}.") from None

    async def order(
        self, order: dict[str, Any], limit_s: float, news: Callable[[dict[str, Any]], None] | None = None
    ) -> dict[str, Any]:
        """Carry out an order, and return its result: a field `stopped` has the reason where it ended early.

        `news` receives what the sender says meanwhile, where the order is one that says something. Raises SenderError
        where the sender ended, could not send, or takes longer than `limit_s`.
        """
        self._news = news
        self._send(order)
        try:
            async with asyncio.timeout(limit_s):
                result = await self._result()
        except TimeoutError:
            raise SenderHangsError(f"The sender on this node did not finish within {limit_s:.0f} s.") from None
        finally:
            self._news = None
        if "failed" in result:
            raise SenderError(f"This node could not send: {result['failed']}.")
        return result

    def stop(self) -> None:
        """End the order that runs: it returns what it has measured."""
        self._process.write(b"stop\n")

    async def close(self) -> None:
        """End the sender, in under 0.5 s."""
        if self._heart is not None:
            self._heart.cancel()
        await self._process.close()

    async def _beat(self) -> None:
        while True:
            self._process.write(b"\n")
            await asyncio.sleep(HEARTBEAT_S)

    def _send(self, order: dict[str, Any]) -> None:
        self._process.write(json.dumps(order).encode() + b"\n")

    async def _result(self) -> dict[str, Any]:
        result = await self._results.get()
        if result is None:
            last = self._messages.decode("utf-8", errors="replace").strip().rpartition("\n")[2]
            raise SenderError(f"The sender on this node has ended{f' ({last})' if last else ''}.")
        return result

    def _receive(self, data: bytes) -> None:
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            said = json.loads(line)
            if "news" not in said:
                self._results.put_nowait(said)
            elif self._news is not None:
                self._news(said["news"])

    def _note(self, data: bytes) -> None:
        self._messages = (self._messages + data)[-4096:]

    def _exited(self, exit_status: int) -> None:
        self._results.put_nowait(None)
