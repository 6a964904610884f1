"""The listener of one instance, and its sessions."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

from racwire_lab.database.backend import Backend, Caller
from racwire_lab.oracle_net.connecting import ConnectRequest, accept, refuse
from racwire_lab.oracle_net.listener import Listener
from racwire_lab.oracle_net.packets import Channel
from racwire_lab.oracle_net.releases import RELEASES, ServerRelease
from racwire_lab.oracle_net.services import refusal
from racwire_lab.oracle_net.session import OracleNetSession
from racwire_lab.oracle_net.verifier import Verifier

Users = Mapping[str, Verifier] | Callable[[str], Verifier | None]

_FAREWELL_S = 5.0


class OracleServer(Listener):
    """Serves sessions of one instance on a backend.

    `users` is a dict of verifiers by upper-case name, or a function that finds one. `profile` is the release to
    imitate. These attributes may change while the server runs: `faults`, `services`, `users`, `sysdba`, `profile`.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        users: Users,
        services: Collection[str] = ("ORCL",),
        sysdba: Collection[str] = ("SYS",),
        instance_name: str = "orcl1",
        instance_number: int = 1,
        db_unique_name: str = "orcl",
        db_domain: str = "",
        profile: ServerRelease = RELEASES["19c"],
        logon_timeout_s: float = 60.0,
    ) -> None:
        super().__init__(logon_timeout_s=logon_timeout_s)
        self.backend = backend
        self.users = users
        self.services = services
        self.sysdba = sysdba
        """The users who may connect AS SYSDBA."""
        self.instance_name = instance_name
        self.instance_number = instance_number
        self.db_unique_name = db_unique_name
        self.db_domain = db_domain
        self.profile = profile
        self.max_open_cursors = 300
        self.statements = 0
        """The executions so far, of all sessions."""
        self._numbers = itertools.count(1)
        self._sessions: set[OracleNetSession] = set()
        self._farewells: set[Future[None]] = set()

    @property
    def dsn(self) -> str:
        """The connect string of the server's first service."""
        return f"{self.host}:{self.port}/{next(iter(self.services))}"

    @property
    def callers(self) -> tuple[Caller, ...]:
        """The users who are logged on, one for each session."""
        return tuple(session.caller for session in tuple(self._sessions) if session.caller)

    async def close(self) -> None:
        """Stop listening, end all sessions, and wait a short time until the backend has released them."""
        await super().close()
        farewells = [asyncio.wrap_future(farewell) for farewell in tuple(self._farewells)]
        if farewells:
            await asyncio.wait(farewells, timeout=_FAREWELL_S)

    async def serve(self, channel: Channel, request: ConnectRequest) -> None:
        """Refuse the request, or serve the session."""
        if code := self.faults.refuse or refusal(request, self.services, self.instance_name):
            refuse(channel, code)
            return
        marks_ends = accept(channel, request, self.profile, requires_encryption=self.faults.requires_encryption)
        session = OracleNetSession(self, channel, next(self._numbers), request, marks_ends=marks_ends)
        self._sessions.add(session)
        try:
            await session.run()
        finally:
            self._sessions.discard(session)
            if farewell := session.end():
                self._farewells.add(farewell)
                farewell.add_done_callback(self._farewells.discard)

    def verifier(self, user: str) -> Verifier | None:
        """Return the verifier of a user; None when there is no such user. May raise OracleError (28000: locked)."""
        return self.users(user) if callable(self.users) else self.users.get(user)


L = TypeVar("L", bound=Listener)

_START_S = 10.0


@contextmanager
def hosted(listener: L, host: str = "127.0.0.1", port: int = 0) -> Iterator[L]:
    """Run the listener in an event loop in a thread of its own while the context lasts.

    Raises OSError when it cannot listen.
    """
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
    """Serve a backend while the context lasts. The options are those of OracleServer."""
    with hosted(OracleServer(backend, **options), host, port) as server:
        yield server
