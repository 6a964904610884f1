"""Runs the program `drops` on a node, through a connection of its own, and reads what it prints.

The program ends by itself after its seconds, where its reader is gone, and where there are too many events; a process
in a session of its own switches it off and removes its instance should the program be killed.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from secrets import token_hex

from checks.model.facts import KernelDrops, MissingRight, UnreadNode
from checks.model.journal import Journal
from checks.sources.kernel_trace.trace_entry import (
    BUFFER_KB,
    KERNEL_TRACE,
    MOST_EVENTS_A_SECOND,
    MOST_S,
    program_text,
    watchdog_text,
)
from checks.sources.kernel_trace.trace_text import Trace
from checks.sources.nodes.shell import Shell

_TOPIC = KERNEL_TRACE.topics[0]
_ALL_PACKETS = "protocol == 2048 || protocol == 2054 || protocol == 34525"
"""IPv4, ARP and IPv6, by their EtherTypes: the event has no NIC."""
_MAC_HEADER = 14
"""Bytes by which a packet that leaves is longer than the IP packet in it."""
_NIC = re.compile(r"[A-Za-z0-9_.-]{1,15}", re.ASCII)
_LATE_S = 10.0
_MOST_BYTES = 16_000_000
"""Output after which the connection is closed; the limit of events is below it."""
_WHY_NONE = {
    "tracefs": "its kernel has no tracefs at /sys/kernel/tracing",
    "another": "another trace of racwire runs there",
    "instance": "the kernel refused a tracing instance",
    "filter": "the kernel refused the filter of the event",
}


def command_line(seconds: int, nics: Sequence[str], size: int | None, token: str) -> str:
    """Return the line that replaces an open shell by the program, every word quoted.

    `size` is that of the IP packets that are followed through the NICs; None follows none.
    """
    names = [nic for nic in nics if _NIC.fullmatch(nic)]
    marks = ""
    if size is not None and names:
        private = " || ".join(f'name == "{nic}"' for nic in names)
        marks = f"(len == {size} || len == {size + _MAC_HEADER}) && ({private})"
    words = (
        "sh", "-c", program_text(), "racwire-drops", str(max(1, min(seconds, MOST_S))), _ALL_PACKETS, marks,
        f"racwire-{token}", watchdog_text(), str(MOST_EVENTS_A_SECOND), str(BUFFER_KB),
    )  # fmt: skip
    return f"exec {shlex.join(words)}"


async def trace_drops(
    shell: Shell,
    journal: Journal,
    nics: Sequence[str],
    seconds: int,
    *,
    size: int | None = None,
    during: Callable[[], Awaitable[None]] | None = None,
) -> KernelDrops | UnreadNode:
    """Watch what a node's kernel drops, and close the shell, which must be one that nothing else uses.

    `during` runs while it is watched: it sends packets of `size` bytes. Raises ShellError where the connection is lost
    before the end.
    """
    trace, over = Trace(), asyncio.Event()
    on, kept = asyncio.Event(), bytearray()
    received = 0

    def receive(data: bytes) -> None:
        nonlocal received
        received += len(data)
        kept.extend(data)
        *lines, rest = bytes(kept).split(b"\n")
        kept[:] = rest[-4096:]
        for line in lines:
            trace.feed(line.decode("utf-8", errors="replace"))
        if trace.is_on or trace.is_over:
            on.set()
        if trace.is_over or received > _MOST_BYTES:
            over.set()

    with journal.entry(shell.node, _TOPIC, KERNEL_TRACE.action(_TOPIC)) as entry:
        try:
            shell.hand_over(command_line(seconds, nics, size, token_hex(6)), receive)
            async with asyncio.timeout(seconds + _LATE_S):
                await _either(on, shell)
                if during is not None and trace.is_on and not trace.is_over:
                    await during()
                await _either(over, shell)
        except TimeoutError:
            return UnreadNode(shell.node, f"The trace on {shell.node} did not end in time; its watchdog removes it.")
        finally:
            with suppress(OSError):
                await shell.close()
            entry.text = trace.text
        if trace.none:
            return _not_traced(shell.node, trace.none)
        if not trace.is_over and (error := shell.ended) is not None:
            raise error
        return trace.facts(shell.node)


async def _either(event: asyncio.Event, shell: Shell) -> None:
    """Wait for the event, or the end of the shell."""
    while not event.is_set() and shell.ended is None:
        with suppress(TimeoutError):
            async with asyncio.timeout(0.1):
                await event.wait()


def _not_traced(node: str, why: str) -> UnreadNode:
    if why == "root":
        right = MissingRight(f"root on {node}, to read the events of the kernel", (), f"root on {node}")
        return UnreadNode(node, f"What the kernel of {node} drops is shown to root alone.", right)
    reason = _WHY_NONE.get(why, f"it has no command {why}")
    return UnreadNode(node, f"The kernel of {node} was not watched: {reason}.")
