"""One sampler a node: racwires of one user that want the same samples take them once.

The first one publishes its events on an abstract unix socket of this node. The others read them there: they open no ssh
stream and no database session for samples, and occupy no PX slave. Each line is a JSON object, as `racwire watch`
prints it. Both ends ask the kernel for the other's user (SO_PEERCRED), and turn away another user. From the list
of these sockets each racwire of the node knows how many sample the instances.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import socket
import struct
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, cast

import msgspec

from checks.model.facts import Fact
from checks.model.settings import Settings
from checks.run.engine import racwire_version
from checks.sources.kernel_files import OTHER_SAMPLERS, SOCKETS_FILE
from checks.traffic.json_text import to_json_text
from checks.traffic.recording_shapes import from_json
from checks.traffic.samples import Event, FeedEvent, InstancesPace

BEAT_S = 1.0
"""Seconds from one line about the sampler to the next."""
_SILENT_S, _AGAIN_S = 5.0, 0.5
"""A sampler without a line for that long is left: it is stopped, or hangs. The second wait is for a racwire that was
itself stopped: what arrived meanwhile is read first."""
_ANSWER_S = 2.0
"""The longest wait for the connection, and for the first line."""
_BEHIND_BYTES = 4_000_000
"""A follower that has not taken so many bytes is disconnected: a minute or more of a big cluster."""
_LONGEST_LINE = 4_000_000
_SLOTS = 4
_MOST = 16
"""More samplers than these are not believed: any user can make sockets with such names."""
_OF_INSTANCES, _OF_NODES = "racwire-sample-gv", "racwire-sample-os"
"""How the names of sockets start: of samplers that query instances, and of others."""
_LISTENS = "00010000"
"""The flags of a listening socket in /proc/net/unix."""
_ENVIRONMENT = ("GRID_HOME", "ORACLE_HOME", "ORACLE_SID", "RACWIRE_RSH", "RACWIRE_SSH_CONFIG", "TNS_ADMIN")
"""Variables that decide what is sampled."""


class Sampler(Fact, frozen=True):
    """What a racwire samples that others can follow."""

    sources: tuple[str, ...] = ()
    """`node rac2`, `database`."""


_Line = Event | InstancesPace | Sampler


def socket_names(settings: Settings, interval_s: float) -> Iterator[str]:
    """Yield the names of the sockets for these samples, in the order in which they are tried; the last one is for this
    process alone. Equal names mean equal samples: the digest is of all settings that decide them. It has no secret."""
    database = msgspec.structs.replace(settings.database, diagnostics_pack=False, history_days=1)
    traffic = msgspec.structs.replace(settings.traffic, interval_s=interval_s, probes_per_second=1)
    variables = [os.environ.get(name, "") for name in _ENVIRONMENT]
    wanted = (racwire_version(), settings.cluster, settings.ssh, database, traffic, variables)
    digest = hashlib.sha256(repr(wanted).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    start = f"{_OF_INSTANCES if settings.database.is_set else _OF_NODES}-{os.geteuid()}-{digest}"
    yield from (f"{start}-{slot}" for slot in range(_SLOTS))
    yield f"{start}-p{os.getpid()}"


class SamplerCount:
    """How many samplers of this node query instances, of all users; read from time to time."""

    def __init__(self, *, is_listed: bool, path: str = SOCKETS_FILE) -> None:
        """`is_listed`: whether this racwire has such a socket itself."""
        self._unlisted = 0 if is_listed else 1
        self._path = path
        self._read_s = float("-inf")
        self._count = 1

    def __call__(self) -> int:
        """Return the number, this racwire included."""
        if time.monotonic() - self._read_s >= (OTHER_SAMPLERS.every_s or 0):
            self._read_s, self._count = time.monotonic(), 1
            with suppress(OSError), open(self._path, encoding="utf-8", errors="replace") as lines:
                self._count = min(max(samplers_in(lines) + self._unlisted, 1), _MOST)
        return self._count


def samplers_in(lines: Iterable[str]) -> int:
    """Return the number of listening sockets of samplers of instances in the lines of /proc/net/unix."""
    fields = (line.split() for line in lines if _OF_INSTANCES in line)
    return len({f[7] for f in fields if len(f) == 8 and f[3] == _LISTENS and f[7].startswith(f"@{_OF_INSTANCES}")})


class Publisher:
    """The samples of this racwire for others of the same user. It never waits for one of them."""

    def __init__(self, current: Callable[[], Iterable[FeedEvent]], sources: Callable[[], Iterable[str]]) -> None:
        """`current`: the events that a newcomer needs first; `sources`: what is sampled."""
        self._current, self._sources = current, sources
        self._server: asyncio.Server | None = None
        self._followers: set[asyncio.StreamWriter] = set()

    async def open(self, name: str) -> bool:
        """Publish under a name. Return False where another process has it. Raises OSError where the node has no such
        sockets."""
        try:
            self._server = await asyncio.start_unix_server(self._welcome, path=f"\0{name}")
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise
        return True

    def publish(self, event: FeedEvent | Sampler) -> None:
        """Give an event to all followers."""
        if self._followers:
            line = to_json_text(event) + b"\n"
            for follower in tuple(self._followers):
                follower.write(line)
                if follower.transport.get_write_buffer_size() > _BEHIND_BYTES:
                    self._drop(follower)

    def beat(self) -> None:
        """Tell all followers that this sampler works, and what it samples."""
        self.publish(Sampler(tuple(self._sources())))

    def close(self) -> None:
        """Drop all followers, and free the name."""
        if self._server is not None:
            self._server.close()
        for follower in tuple(self._followers):
            self._drop(follower)

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if _peer_of(writer)[1] != os.geteuid():
            writer.transport.abort()
            return
        for event in (Sampler(tuple(self._sources())), *self._current()):
            writer.write(to_json_text(event) + b"\n")
        self._followers.add(writer)
        with suppress(OSError):
            await reader.read(1)  # a follower writes nothing: this is its end
        self._drop(writer)

    def _drop(self, follower: asyncio.StreamWriter) -> None:
        self._followers.discard(follower)
        follower.transport.abort()


class Left(Exception):  # noqa: N818 - the usual end of following, not an error
    """The sampler is followed no more. `is_gone`: its process has ended, so that its name is free."""

    def __init__(self, is_gone: bool) -> None:
        super().__init__()
        self.is_gone = is_gone


class Followed:
    """The sampler of another racwire of the same user."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.pid, self._uid = _peer_of(writer)
        self._patience_s = _ANSWER_S

    @classmethod
    async def join(cls, name: str) -> Followed:
        """Join the sampler with this name. Raises ConnectionRefusedError where there is none, and OSError where it is
        of another user or does not answer."""
        async with asyncio.timeout(_ANSWER_S):
            found = cls(*await asyncio.open_unix_connection(f"\0{name}", limit=_LONGEST_LINE))
        if found._uid == os.geteuid():
            return found
        found.close()
        raise OSError(errno.EACCES, "another user has this name")

    async def next(self) -> FeedEvent | Sampler:
        """Wait for the next event, or the next sign of the sampler. Raises Left where it ended, hangs or is broken."""
        try:
            line = await self._line()
            self._patience_s = _SILENT_S
            if not line.endswith(b"\n"):
                raise Left(is_gone=True)
            return cast(FeedEvent | Sampler, from_json(line.decode("utf-8"), cast(type[Any], _Line)))
        except (TimeoutError, ValueError) as error:
            raise Left(is_gone=False) from error
        except OSError as error:
            raise Left(is_gone=True) from error

    async def _line(self) -> bytes:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience_s):
                return await self._reader.readline()
        async with asyncio.timeout(_AGAIN_S):
            return await self._reader.readline()

    def close(self) -> None:
        """Leave the sampler."""
        self._writer.transport.abort()


def _peer_of(writer: asyncio.StreamWriter) -> tuple[int, int]:
    """The process and the user at the other end."""
    end: socket.socket = writer.get_extra_info("socket")
    pid, uid, _ = struct.unpack("3i", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return pid, uid
