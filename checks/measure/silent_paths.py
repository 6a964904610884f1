"""Watch private paths for silence while racwire sends: a small ping goes along each five times a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from checks.measure.harm_signs import EVERY_S, QuietPath
from checks.model.measurement import MeasuredPath
from checks.sources.probes.icmp_socket import EchoSocket
from checks.sources.probes.pinger import CannotPingError

_SMALL_PING = bytes(56)


async def watch_for_silence(paths: Sequence[MeasuredPath], most_s: float, report: Callable[[str], None]) -> None:
    """Ping the paths until one is silent for too long, and report that as a sentence. Runs until it is cancelled.

    A datagram that goes one way has no answer, and TCP waits for seconds before it gives up: so a small ping goes along
    five times a second. A path that does not answer at all, and one that this user may not ping, is not watched.
    """
    sockets: list[tuple[MeasuredPath, EchoSocket, QuietPath]] = []
    for path in dict.fromkeys(paths):
        with suppress(CannotPingError):
            one = EchoSocket(path.source, path.target, path.interface, dont_fragment=False)
            sockets.append((path, one, QuietPath(most_s)))
    sequence = 0
    try:
        while sockets:
            sequence = (sequence + 1) % 65_536
            for path, one, silence in sockets:
                now = time.monotonic()
                if any(echo.identifier == one.identifier for echo in one.answers()):
                    silence.answered(now)
                if (silent_s := silence.too_long_s(now)) is not None:
                    report(
                        f"{path.target_node} has not answered on {path.network} for {silent_s:.1f} s, more than a "
                        "tenth of misscount."
                    )
                    return
                with suppress(OSError):
                    one.send(sequence, _SMALL_PING)
            await asyncio.sleep(EVERY_S)
    finally:
        for _, one, _ in sockets:
            one.close()
