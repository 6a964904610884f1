"""A shell on each node: opened once, when it is first needed, and open until the end."""

from __future__ import annotations

import asyncio
import contextlib
import os

from checks.model.journal import Journal
from checks.model.settings import SshSettings
from checks.sources.kernel_files import SSH
from checks.sources.nodes.shell import Shell, ShellError


class Shells:
    """The shells on the nodes. Always call `close`: it takes under a second."""

    def __init__(self, ssh: SshSettings, journal: Journal) -> None:
        self._ssh = ssh
        self.journal = journal
        self.local_node = os.uname().nodename.split(".")[0]
        self._shells: dict[str, asyncio.Task[Shell]] = {}

    async def shell(self, node: str) -> Shell:
        """The shell on a node, opened at the first call.

        Raises ShellError where it cannot be opened. The same error is raised each time: a run tries a peer that refused
        or hung only once, unless `forget` was called for it.
        """
        if node not in self._shells:
            self._shells[node] = asyncio.create_task(self._open(node))
        return await asyncio.shield(self._shells[node])

    async def forget(self, node: str) -> None:
        """End the shell on a node, or the attempt to open it; the next `shell` opens another."""
        if task := self._shells.pop(node, None):
            await _end(task)

    async def _open(self, node: str) -> Shell:
        if node == self.local_node:
            return await Shell.open_local(node)
        with self.journal.entry(node, SSH.topics[0], f"ssh {node} sh") as entry:
            try:
                return await Shell.open_ssh(node, self._ssh)
            except ShellError as error:
                entry.text = error.detail
                raise

    async def close(self) -> None:
        """End all shells, including those that are being opened.

        All end at the same time, so that many that hang take no longer than one.
        """
        shells, self._shells = list(self._shells.values()), {}
        await asyncio.gather(*map(_end, shells), return_exceptions=True)


async def _end(opening: asyncio.Task[Shell]) -> None:
    """End a shell that is open or is being opened. A shell that failed to open needs no end."""
    if not opening.done():
        opening.cancel()
    (outcome,) = await asyncio.gather(opening, return_exceptions=True)
    if isinstance(outcome, Shell):
        with contextlib.suppress(ShellError, OSError):
            await outcome.close()
