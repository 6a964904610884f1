"""Run the sender of UDP datagrams: on this node in a thread, on a peer by its Python."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from threading import Event

from checks.sources.nodes.read_only.allow_list import SENDER_TEXT
from checks.sources.nodes.shell import Shell, ShellError
from checks.sources.probes import udp_sender
from checks.sources.probes.probe_hosts import ProbeSession
from checks.sources.registry import UDP_DATAGRAMS

RUN_S = 160.0
"""Seconds for one sender with all of its datagrams; the longest plan takes 70, and the wait for others 60."""


async def sent(
    session: ProbeSession, shell: Shell, node: str, python: str, words: Sequence[str], *, run_s: float = RUN_S
) -> tuple[str, str]:
    """Send the datagrams of these words from a node, and return the lines of its sender, and why it failed."""
    text, failure = "", ""
    with session.journal.entry(node, "udp datagrams", UDP_DATAGRAMS.action("udp datagrams")) as entry:
        try:
            async with asyncio.timeout(run_s):
                if node == session.local_node:
                    text = await _sent_here(words)
                else:
                    text = await _sent_there(shell, python, words, run_s)
            entry.text = "\n".join([*words, text])
        except TimeoutError:
            failure = f"the datagrams of {node} were not sent within {run_s:g} s"
        except (ShellError, OSError) as error:
            failure = f"{node}: {error}"
        if failure:
            entry.outcome = failure
    return text, failure


async def _sent_here(words: Sequence[str]) -> str:
    """Send from this node, in a thread: the sender waits for times and answers."""
    lines: list[str] = []
    stopped = Event()
    try:
        await asyncio.to_thread(udp_sender.run, words, lines.append, stopped.is_set)
    finally:
        stopped.set()
    return "\n".join(lines)


async def _sent_there(shell: Shell, python: str, words: Sequence[str], run_s: float) -> str:
    command = ["timeout", "-s", "INT", f"{run_s:g}", python, "-E", "-s", "-S", "-c", SENDER_TEXT, *words]
    return (await shell.start(command)).text
