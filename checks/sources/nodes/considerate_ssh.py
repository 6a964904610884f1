"""What racwire does before it starts ssh, so that the sessions and the logins of others do not suffer.

It reads the configuration for the host, takes turns with every other racwire of this node, and counts the sessions
that it opens through the user's own connection. A place is an abstract socket: the kernel frees it when racwire ends,
however that happens.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import socket
from collections.abc import Mapping
from contextlib import suppress

from checks.model.settings import SshSettings
from checks.sources.nodes.framing import FLOOD_LIMIT_BYTES
from checks.sources.nodes.process import TalkingProcess
from checks.sources.nodes.ssh import configuration_command, configuration_of, harmless, hop_host, jump, own_proxy

LOGINS_AT_ONCE = 3
"""Logins in progress on a peer of every racwire of this node. sshd refuses some from 10 on (MaxStartups 10:30:100), and
racwires on other nodes log in too."""
TURN_LIMIT_S = 30.0
"""Seconds that a login waits for its turn at most: who keeps the places without need delays racwire only so long. Eight
consoles that log in twice at one moment need as long where a login takes 5 s (DNS). Ours."""
GUEST_SESSIONS = 5
"""Sessions through the user's own connection to a peer. sshd permits 10 on one connection (MaxSessions)."""
_MOST_HOPS = 5
_WAIT_S = 0.05


async def overrides(
    node: str, settings: SshSettings, environment: Mapping[str, str], hops: int = _MOST_HOPS
) -> dict[str, str]:
    """The options of ssh that undo what the user's configuration says of a host and racwire must not do: run another
    command, leave its process group, or make a connection of others to a host on the way. Empty where `ssh -G` does not
    answer: ssh itself then says why."""
    configuration = configuration_of(await _printed(configuration_command(node, settings, environment), settings))
    options = harmless(configuration)
    way = [hop for hop in configuration.get("proxyjump", "none").split(",") if hop != "none"]
    if way and hops and all(map(hop_host, way)):
        through = (await overrides(hop_host(way[0]), settings, environment, hops - 1)).get("ProxyCommand", "")
        for hop in way:
            through = jump(hop, through, settings, environment)
        options["ProxyCommand"] = through
    elif command := own_proxy(configuration.get("proxycommand", ""), settings):
        options["ProxyCommand"] = command
    return options


async def _printed(argv: list[str], settings: SshSettings) -> str:
    """The output of a command; empty where it fails or takes as long as a connection may."""
    text = bytearray()
    ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def note(status: int) -> None:
        if not ended.done():
            ended.set_result(status)

    def take(data: bytes) -> None:
        text.extend(data)
        if len(text) > FLOOD_LIMIT_BYTES:
            process.kill()
            note(-1)

    process = TalkingProcess(on_stdout=take, on_stderr=lambda _: None, on_exit=note)
    try:
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(settings.connect_timeout_s):
                await process.start(argv, {**os.environ, "LC_ALL": "C"})
                if await ended == 0:
                    return text.decode("utf-8", errors="replace")
    finally:
        await process.close()
    return ""


async def login_turn(node: str, limit_s: float = TURN_LIMIT_S) -> socket.socket:
    """Wait until fewer than `LOGINS_AT_ONCE` logins on a peer are in progress, at most `limit_s`. Close the socket once
    sshd has accepted the user. Raises OSError."""
    loop = asyncio.get_running_loop()
    until_s = loop.time() + limit_s
    while (turn := _place(f"login-{node}", LOGINS_AT_ONCE)) is None:
        if loop.time() >= until_s:
            return socket.socket(socket.AF_UNIX)
        await asyncio.sleep(_WAIT_S)
    return turn


def guest_place(node: str) -> socket.socket | None:
    """A place for a session through the user's own connection, to close at its end; None where all are taken. Raises
    OSError."""
    return _place(f"guest-{os.getuid()}-{node}", GUEST_SESSIONS)


def _place(name: str, most: int) -> socket.socket | None:
    for number in range(most):
        place = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            place.bind(f"\0racwire-{hashlib.sha256(name.encode()).hexdigest()[:32]}-{number}")
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                place.close()
                continue
            # A kernel that gives no such name: racwire logs in without turns.
        return place
    return None
